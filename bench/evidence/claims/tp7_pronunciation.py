"""What session 7 says of its measurements, and what each sentence rests on."""

from ...pronunciation import NEW, OLD
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
          "| bidirectional LSTM, alignments given (Yao and Zweig 2015) | 23.55 | | several attention models together "
          "(Toshniwal and Livescu 2016) | 20.24 | | `phonetisaurus`, measured for "
          "[g2p-seq2seq](https://github.com/cmusphinx/g2p-seq2seq) | 24.4 | | Transformer, 2 layers, width 256, of "
          "g2p-seq2seq | 20.2 | On a newer version of the dictionary the authors of g2p-seq2seq give 33.89 for "
          "`phonetisaurus` and about 31 for the Transformer.",
          (f"| bidirectional LSTM, alignments given | Yao and Zweig 2015, arXiv 1506.00196 | {OLD} | 23.55 | 5.45 |",
           f"| attention, several models together | Toshniwal and Livescu 2016, arXiv 1610.06540 | {OLD} | 20.24 |",
           f"| phonetisaurus | README of cmusphinx/g2p-seq2seq | {OLD} | 24.4 | – |",
           f"| Transformer, 2 layers, width 256 | README of cmusphinx/g2p-seq2seq | {OLD} | 20.2 | – |",
           f"| phonetisaurus | README of cmusphinx/g2p-seq2seq | {NEW} | 33.89 | – |",
           f"| Transformer, 2 layers, width 256 | README of cmusphinx/g2p-seq2seq | {NEW} | about 31 | – |"),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "We trained session 6's Transformer and a `Speller` alike: the same batches, losses and peak learning"
          " rate, dropout of 0.1, 1 000 steps (less than three passes over the data), 1.21 and 1.17 million "
          "weights, two seeds. On all 12 000 test words, by length (both seeds):",
          ("| network, 1 000 steps, last weights | 204 (197 – 212) | 1167274 | 1000 (1000 – 1000) | 37.1 (37.0 –"
           " 37.3) | 9.0 (8.9 – 9.1) | 2 |",
           "| Transformer, 1 000 steps, last weights | 234 (228 – 241) | 1205162 | 1000 (1000 – 1000) | 43.8 "
           "(43.5 – 44.1) | 11.3 (11.2 – 11.4) | 2 |"),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "| `Speller` | 37.0 – 37.3 | 26.0 – 26.2 | 35.1 – 35.3 | 44.3 – 45.1 | 58.4 – 60.4 | | Transformer | "
          "43.5 – 44.1 | 28.5 – 28.6 | 40.6 – 41.3 | 54.6 – 55.5 | 72.5 – 73.2 |",
          ("| network, 1 000 steps, last weights | 26.1 (26.0 – 26.2) | 35.2 (35.1 – 35.3) | 44.7 (44.3 – 45.1) "
           "| 59.4 (58.4 – 60.4) |",
           "| Transformer, 1 000 steps, last weights | 28.5 (28.5 – 28.6) | 40.9 (40.6 – 41.3) | 55.1 (54.6 – "
           "55.5) | 72.9 (72.5 – 73.2) |",
           "| network, 1 000 steps, last weights | 204 (197 – 212) | 1167274 | 1000 (1000 – 1000) | 37.1 (37.0 –"
           " 37.3) | 9.0 (8.9 – 9.1) | 2 |",
           "| Transformer, 1 000 steps, last weights | 234 (228 – 241) | 1205162 | 1000 (1000 – 1000) | 43.8 "
           "(43.5 – 44.1) | 11.3 (11.2 – 11.4) | 2 |"),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "The Transformer is worse at every length, and the gap grows with the length of the word. The kinds "
          "of words above show the same order.",
          ("| network, 1 000 steps, last weights | 26.1 (26.0 – 26.2) | 35.2 (35.1 – 35.3) | 44.7 (44.3 – 45.1) "
           "| 59.4 (58.4 – 60.4) |",
           "| Transformer, 1 000 steps, last weights | 28.5 (28.5 – 28.6) | 40.9 (40.6 – 41.3) | 55.1 (54.6 – "
           "55.5) | 72.9 (72.5 – 73.2) |",
           "| network, 1 000 steps, last weights | 37.1 (37.0 – 37.3) | 42.9 (42.4 – 43.4) | 32.2 (32.0 – 32.5) "
           "| 42.5 (41.9 – 43.1) | 39.0 (38.5 – 39.5) | 59.4 (58.4 – 60.4) |",
           "| Transformer, 1 000 steps, last weights | 43.8 (43.5 – 44.1) | 50.0 (49.8 – 50.2) | 40.0 (39.5 – "
           "40.5) | 48.6 (48.3 – 49.0) | 45.5 (45.1 – 45.8) | 72.9 (72.5 – 73.2) |"),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "In trials of 300 steps the highest of three peak learning rates was the best for ours, so a higher "
          "one might be better still.",
          ("PER of the Transformer on 1 000 validation words after 300 steps, by its peak learning rate: 26.1 % "
           "(0.001), 20.9 % (0.002), 19.0 % (0.004).",),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "For the network of 5 000 steps, a beam of 4 changes nothing: 30.9 % of 2 000 test words are wrong "
          "with it and without it, and also with length normalisation (one seed). A running mean of its weights"
          " has 29.9 % on all test words, its last weights 29.6 %. After 1 000 steps the running mean has 41.3 "
          "(41.2 – 41.5) %, the last weights 37.1 (37.0 – 37.3) % (two seeds): the mean still contains weights "
          "of early steps.",
          ("| greedy | 30.9 |",
           "| beam of 4 | 30.9 |",
           "| beam of 4, normalised | 30.9 |",
           "| network, 5 000 steps | 689 | 1167274 | 5000 | 29.9 | 7.0 | 1 |",
           "| network, 5 000 steps, last weights | 689 | 1167274 | 5000 | 29.6 | 6.9 | 1 |",
           "| network, 1 000 steps | 204 (197 – 212) | 1167274 | 1000 (1000 – 1000) | 41.3 (41.2 – 41.5) | 10.3 "
           "(10.2 – 10.3) | 2 |",
           "| network, 1 000 steps, last weights | 204 (197 – 212) | 1167274 | 1000 (1000 – 1000) | 37.1 (37.0 –"
           " 37.3) | 9.0 (8.9 – 9.1) | 2 |"),
          bench="pronunciation"),
]
