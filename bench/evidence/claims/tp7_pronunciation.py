"""What session 7 says of its measurements, and what each sentence rests on."""

from ..ledger import Claim

CLAIMS = [
    Claim("tp7_pronunciation",
          "On all 12 000 test words we measured a WER of 25.9 % after 139 CPU seconds of training. A `Speller` has "
          "29.9 % after 5 000 steps (689 CPU seconds), the shipped one 28.5 % after 6600 steps (1027 CPU seconds), "
          "one seed each.",
          ("| joint n-gram model, phonetisaurus 0.3.0 | 139 | – | – | 25.9 | 6.2 |",
           "| network, 5 000 steps | 689 | 1167274 | 5000 | 29.9 | 7.0 |",
           "| the shipped network | 1027 | 1167274 | 6600 | 28.5 | 6.7 |"), bench="pronunciation"),
    Claim("tp7_pronunciation",
          "The two make different errors. If the shipped network chooses among the 20 best pronunciations of the "
          "n-gram model, by the sum of both log-probabilities, 22.6 % of the words are wrong.",
          ("| the shipped network and the n-gram model | – | – | – | 22.6 | 5.3 |",), bench="pronunciation"),
    Claim("tp7_pronunciation",
          "For the network of 5 000 steps, a beam of 4 changes nothing: 30.9 % of 2 000 test words are wrong with "
          "it and without it, and also with length normalisation (one seed). On all test words its last weights "
          "have 29.6 %, the running mean of its weights 29.9 %: the mean also holds weights from before the "
          "learning rate was 0.",
          ("| greedy | 30.9 |",
           "| beam of 4 | 30.9 |",
           "| beam of 4, normalised | 30.9 |",
           "| last weights, not their running mean | 29.6 |",
           "| network, 5 000 steps | 689 | 1167274 | 5000 | 29.9 | 7.0 |"), bench="pronunciation"),
]
