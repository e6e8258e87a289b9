"""What session 7 says of its measurements, and what each sentence rests on."""

from ..ledger import Claim

# rows of the benchmarks that several claims rest on
TEN = ("| network, 2 000 steps | 308 (307 – 319) | 1167274 | 2000 (2000 – 2000) | 32.7 (32.6 – 33.1) | 7.9 "
       "(7.7 – 7.9) | 3 |")
BOTH = ("| network, 1 000 steps | 204 (197 – 212) | 1167274 | 1000 (1000 – 1000) | 37.1 (37.0 – 37.3) "
        "| 9.0 (8.9 – 9.1) | 2 |",
        "| Transformer, 1 000 steps | 234 (228 – 241) | 1205162 | 1000 (1000 – 1000) | 43.8 (43.5 – 44.1) "
        "| 11.3 (11.2 – 11.4) | 2 |")
BY_LENGTH = ("| network, 1 000 steps | 26.1 (26.0 – 26.2) | 35.2 (35.1 – 35.3) | 44.7 (44.3 – 45.1) "
             "| 59.4 (58.4 – 60.4) |",
             "| Transformer, 1 000 steps | 28.5 (28.5 – 28.6) | 40.9 (40.6 – 41.3) | 55.1 (54.6 – 55.5) "
             "| 72.9 (72.5 – 73.2) |")
PUBLISHED = (
    ("| bidirectional LSTM, alignments given | Yao and Zweig 2015, arXiv 1506.00196 | CMUdict PRONALSYL "
     "2007: 106 837 training and 12 000 test words | 23.55 | 5.45 |"),
    ("| attention, several models together | Toshniwal and Livescu 2016, arXiv 1610.06540 | CMUdict "
     "PRONALSYL 2007: 106 837 training and 12 000 test words | 20.24 | 4.69 |"),
    ("| Transformer | Yolchuyeva, Németh and Gyires-Tóth 2019, arXiv 2004.06338 | CMUdict; the list of "
     "kr-MATAGI/G2P-Test, from which the rates are, does not name the split | 22.1 | 5.23 |"),
    ("| phonetisaurus | README of cmusphinx/g2p-seq2seq | CMUdict PRONALSYL 2007: 106 837 training and 12 "
     "000 test words | 24.4 | – |"),
    ("| Transformer, 2 layers, width 256 | README of cmusphinx/g2p-seq2seq | CMUdict PRONALSYL 2007: 106 "
     "837 training and 12 000 test words | 20.2 | – |"),
    "| phonetisaurus | README of cmusphinx/g2p-seq2seq | a newer CMUdict, without stress | 33.89 | – |",
    ("| Transformer, 2 layers, width 256 | README of cmusphinx/g2p-seq2seq | a newer CMUdict, without "
     "stress | about 31 | – |"),
)

CLAIMS = [
    Claim("tp7_pronunciation",
          "On all 12 000 test words we measured a WER of 25.9 % after 139 CPU seconds of training. A `Speller` has"
          " 32.7 (32.6 – 33.1) % after 2 000 steps (308 (307 – 319) CPU seconds, three seeds: median, lowest "
          "and highest), the shipped one (dropout 0.15 instead of 0.1, mean of the weights) 28.4 % after 18 000 "
          "steps (2744 CPU seconds, one seed). "
          "So after five minutes of training the older method is better by 6.8 points, and after 46 minutes by "
          "2.5. The seconds of the networks were measured while other programs used the same cores.",
          (TEN,
           "| the shipped network | 2744 | 1167274 | 18000 | 28.4 | 6.7 | 1 |",
           "| joint n-gram model, phonetisaurus 0.3.0 | 139 | – | – | 25.9 | 6.2 | 1 |",),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "The two make different errors. If the shipped network chooses among the 20 best pronunciations of the "
          "n-gram model, by the sum of both log-probabilities, 22.4 % of the words are wrong. The shipped network "
          "and two of 2 000 steps together, by the mean of their probabilities, have 29.2 %, more than the "
          "shipped one alone. With the n-gram model"
          " they have 22.4 %.",
          ("| the shipped network and the n-gram model | – | – | – | 22.4 | 5.2 | 1 |",
           "| the shipped network and those of 2 000 steps together | – | – | – | 29.2 | 6.9 | 1 |",
           "| all networks and the n-gram model | – | – | – | 22.4 | 5.2 | 1 |",),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "| bidirectional LSTM, alignments given (Yao and Zweig 2015) | 23.55 | | several attention models "
          "together (Toshniwal and Livescu 2016) | 20.24 | | `phonetisaurus`, measured for "
          "[g2p-seq2seq](https://github.com/cmusphinx/g2p-seq2seq) | 24.4 | | Transformer, 2 layers, width 256,"
          " of g2p-seq2seq | 20.2 |",
          PUBLISHED,
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "The rates of the two papers are from a list, not from the papers. Another list gives 22.1 for the "
          "Transformer of Yolchuyeva, Németh and Gyires-Tóth (2019, [arXiv "
          "2004.06338](https://arxiv.org/abs/2004.06338)) and does not name its split. On a newer version of "
          "the dictionary the authors of g2p-seq2seq give 33.89 for `phonetisaurus` and about 31 for the "
          "Transformer.",
          PUBLISHED,
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "We trained session 6's Transformer and a `Speller` alike: the same batches, losses and peak learning"
          " rate, dropout of 0.1, 1 000 steps (less than three passes over the data), 1.21 and 1.17 million "
          "weights, two seeds. On all 12 000 test words, by length (both seeds):",
          BOTH,
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "| `Speller` | 37.0 – 37.3 | 26.0 – 26.2 | 35.1 – 35.3 | 44.3 – 45.1 | 58.4 – 60.4 | | Transformer | "
          "43.5 – 44.1 | 28.5 – 28.6 | 40.6 – 41.3 | 54.6 – 55.5 | 72.5 – 73.2 |",
          (*BY_LENGTH,
           *BOTH),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "The Transformer is worse at every length, and the gap grows with the length of the word. It is also "
          "worse for each kind of words above.",
          (*BY_LENGTH,
           "| network, 1 000 steps | 37.1 (37.0 – 37.3) | 42.9 (42.4 – 43.4) | 32.2 (32.0 – 32.5) "
           "| 42.5 (41.9 – 43.1) | 39.0 (38.5 – 39.5) | 59.4 (58.4 – 60.4) |",
           "| Transformer, 1 000 steps | 43.8 (43.5 – 44.1) | 50.0 (49.8 – 50.2) | 40.0 (39.5 – "
           "40.5) | 48.6 (48.3 – 49.0) | 45.5 (45.1 – 45.8) | 72.9 (72.5 – 73.2) |"),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "Here the gaps are 2 to 12 points, and the two seeds of a model differ by at most 2.",
          BY_LENGTH,
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "In trials of 300 steps (one seed), our Transformer had a PER of 26.1, 20.9, 19.0 and 24.4 % with "
          "peak learning rates of 0.001, 0.002, 0.004 and 0.008, so 0.004, which we used, was the best of the "
          "four.",
          (
          ("PER of the Transformer on 1 000 validation words after 300 steps, by its peak learning rate: 26.1 % "
           "(0.001), 20.9 % (0.002), 19.0 % (0.004), 24.4 % (0.008)."),
          ),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "We searched with the networks of 2 000 steps (two seeds). Of 2 000 test words, 34.4 (34.2 – 34.6) % are"
          " wrong with greedy decoding, 34.0 (33.8 – 34.4) % with a beam of 4, and 34.0 (33.7 – 34.2) % with "
          "length normalisation (`alpha` 1 in exercise 8). On all test words the last weights have 32.7 (32.6 – "
          "33.1) %, an **exponential moving average** of them 33.1 (32.9 – 33.2) %.",
          ("| greedy | 34.4 (34.2 – 34.6) |",
           "| beam of 4 | 34.0 (33.8 – 34.4) |",
           "| beam of 4, normalised | 34.0 (33.7 – 34.2) |",
           TEN,
           "| network, 2 000 steps, running mean | 308 (307 – 319) | 1167274 | 2000 (2000 – 2000) | 33.1 (32.9 – "
           "33.2) | 8.0 (7.9 – 8.0) | 3 |",),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "Other choices in short trainings (300 steps, two thirds of a pass over the data, five seeds each, "
          "WER on all test words): | training | WER, % | |---|---| | dropout 0.1, label smoothing 0.1, CTC | "
          "55.2 (54.9 – 57.1) | | without dropout | 53.4 (52.6 – 54.9) | | without label smoothing | 54.9 (54.6"
          " – 56.3) | | without the second loss (CTC, part 6) | 56.4 (55.9 – 57.5) |",
          (
          ("| network, 300 steps | 46 (41 – 49) | 1167274 | 300 (300 – 300) | 55.2 (54.9 – 57.1) | 15.3 (15.0 – "
           "15.9) | 5 |"),
          ("| network, 300 steps without dropout | 42 (38 – 44) | 1167274 | 300 (300 – 300) | 53.4 (52.6 – 54.9)"
           " | 14.9 (14.3 – 15.2) | 5 |"),
          ("| network, 300 steps without label smoothing | 47 (43 – 49) | 1167274 | 300 (300 – 300) | 54.9 (54.6"
           " – 56.3) | 15.3 (14.9 – 15.8) | 5 |"),
          ("| network, 300 steps without CTC | 45 (42 – 47) | 1167274 | 300 (300 – 300) | 56.4 (55.9 – 57.5) | "
           "15.8 (15.5 – 16.2) | 5 |"),
          ),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "With each of the five seeds, training without dropout is better, by 1.6 to 2.3 points, and training "
          "without CTC is worse, by 0.5 to 1.8.",
          (
          ("WER minus that of the network of 300 steps with the same seed, points: without dropout -2.2 (-2.3 – "
           "-1.6), without label smoothing -0.2 (-0.7 – -0.1), without CTC +0.9 (+0.5 – +1.8)."),
          ),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "They are stored in eight bits: on the validation words the WER is 27.2 % before and 27.2 % after.",
          (
          ("On 2000 training words the shipped network has a WER of 20.7 %. On the validation words: mean 27.2 "
           "%, in eight bits 27.2 %."),
          ),
          bench="pronunciation"),
]
