"""What session 7 says of its measurements, and what each sentence rests on."""

from ..ledger import Claim

CLAIMS = [
    Claim("tp7_pronunciation",
          "On all 12 000 test words we measured a WER of 25.9 % after 267 CPU seconds of training; the shipped network "
          "has 35.7 % after 1145 CPU seconds.",
          ("| joint n-gram model, phonetisaurus 0.3.0 | 267 | – | – | 25.9 |",
           "| the shipped network | 1145 | 1300186 | 4542 | 35.7 |", "the same 12 000 words"), bench="pronunciation"),
]
