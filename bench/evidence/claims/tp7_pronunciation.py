"""What session 7 says of its measurements, and what each sentence rests on."""

from ..ledger import Claim

CLAIMS = [
    Claim("tp7_pronunciation",
          "On all 12 000 test words we measured a WER of 25.9 % after 139 CPU seconds of training. A `Speller` has "
          "29.9 % after 5 000 steps (689 CPU seconds), the shipped one 28.5 % after 6 600 steps (1027 CPU seconds), "
          "one seed each.",
          ("| joint n-gram model, phonetisaurus 0.3.0 | 139 | – | – | 25.9 | 6.2 |",
           "| network, 5 000 steps | 689 | 1167274 | 5000 | 29.9 | 7.0 |",
           "| the shipped network | 1027 | 1167274 | 6600 | 28.5 | 6.7 |"), bench="pronunciation"),
    Claim("tp7_pronunciation",
          "The two make different errors. If the shipped network chooses among the 20 best pronunciations of the "
          "n-gram model, by the sum of both log-probabilities, 22.6 % of the words are wrong.",
          ("| the shipped network and the n-gram model | – | – | – | 22.6 | 5.3 |",), bench="pronunciation"),
    Claim("tp7_pronunciation",
          "We trained session 6's Transformer and a `Speller` alike: the same batches, losses and peak learning"
          " rate, dropout of 0.1, 1 000 steps (less than three passes over the data), 1.21 and 1.17 million "
          "weights, one seed. On all 12 000 test words, by length (median and range):",
          ("| network, 1 000 steps, last weights | 197 | 1167274 | 1000 | 37.3 | 9.1 | 1 |",
           "| Transformer, 1 000 steps, last weights | 241 | 1205162 | 1000 | 43.5 | 11.2 | 1 |"),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "| `Speller` | 37.3 | 26.0 | 35.3 | 45.1 | 60.4 | | Transformer | 43.5 | 28.6 | 40.6 | 54.6 | 72.5 |",
          ("| network, 1 000 steps, last weights | 26.0 | 35.3 | 45.1 | 60.4 |",
           "| Transformer, 1 000 steps, last weights | 28.6 | 40.6 | 54.6 | 72.5 |",
           "| network, 1 000 steps, last weights | 197 | 1167274 | 1000 | 37.3 | 9.1 | 1 |",
           "| Transformer, 1 000 steps, last weights | 241 | 1205162 | 1000 | 43.5 | 11.2 | 1 |"),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "The Transformer is worse at every length, and the gap grows with the length of the word. The kinds "
          "of words above show the same order.",
          ("| network, 1 000 steps, last weights | 26.0 | 35.3 | 45.1 | 60.4 |",
           "| Transformer, 1 000 steps, last weights | 28.6 | 40.6 | 54.6 | 72.5 |",
           "| network, 1 000 steps, last weights | 37.3 | 42.4 | 32.5 | 41.9 | 38.5 | 60.4 |",
           "| Transformer, 1 000 steps, last weights | 43.5 | 49.8 | 39.5 | 49.0 | 45.1 | 72.5 |"),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "Of three peak learning rates that we tried for ours, the highest was the best, so a higher one might"
          " be better still.",
          ("PER of the Transformer on 1 000 validation words after 300 steps, by its peak learning rate: 26.1 % "
           "(0.001), 20.9 % (0.002), 19.0 % (0.004).",),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "For the network of 5 000 steps, a beam of 4 changes nothing: 30.9 % of 2 000 test words are wrong "
          "with it and without it, and also with length normalisation (one seed). A running mean of its weights"
          " has 29.9 % on all test words, its last weights 29.6 %. After 1 000 steps the running mean has 41.5 "
          "%, the last weights 37.3 % (one seed): the mean still contains weights of early steps.",
          ("| greedy | 30.9 |",
           "| beam of 4 | 30.9 |",
           "| beam of 4, normalised | 30.9 |",
           "| network, 5 000 steps | 689 | 1167274 | 5000 | 29.9 | 7.0 | 1 |",
           "| network, 5 000 steps, last weights | 689 | 1167274 | 5000 | 29.6 | 6.9 | 1 |",
           "| network, 1 000 steps | 197 | 1167274 | 1000 | 41.5 | 10.3 | 1 |",
           "| network, 1 000 steps, last weights | 197 | 1167274 | 1000 | 37.3 | 9.1 | 1 |"),
          bench="pronunciation"),
]
