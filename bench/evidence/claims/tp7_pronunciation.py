"""What session 7 says of its measurements, and what each sentence rests on."""

from ..ledger import Claim

# rows of the benchmarks that several claims rest on
TEN = ("| network, 2 000 steps | 308 (307 – 319) | 1167274 | 2000 (2000 – 2000) | 32.7 (32.6 – 33.1) | 7.9 "
       "(7.7 – 7.9) | 3 |")
BOTH = (
    "| network, 1 000 steps | 197 (173 – 212) | 1167274 | 1000 (1000 – 1000) | 37.3 (37.0 – 37.6) | 9.1"
    " (8.9 – 9.2) | 3 |",
    "| Transformer, 1 000 steps | 228 (180 – 241) | 1205162 | 1000 (1000 – 1000) | 44.1 (43.5 – 46.1) |"
    " 11.4 (11.2 – 12.1) | 3 |",
)
BY_LENGTH = (
    "| network, 1 000 steps | 26.2 (26.0 – 26.2) | 35.3 (35.1 – 35.7) | 45.1 (44.3 – 45.6) | 59.5 (58.4"
    " – 60.4) |",
    "| Transformer, 1 000 steps | 28.6 (28.5 – 29.8) | 41.3 (40.6 – 43.5) | 55.5 (54.6 – 58.0) | 73.2 "
    "(72.5 – 74.3) |",
)
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
          "On all 12 000 test words we measured (`Speller` of 2 000 steps: three seeds, median, lowest and "
          "highest; the other systems once): | system | weights, millions | CPU seconds of training | WER, % | "
          "|---|---|---|---| | joint n-gram model | – | 139 | 25.9 | | `Speller`, 2 000 steps | 1.17 | 308 (307"
          " – 319) | 32.7 (32.6 – 33.1) | | `Speller`, 18 000 steps | 1.17 | 2744 | 28.3 | | the shipped "
          "`Speller`, 22 000 steps | 2.54 | 5855 | 25.5 | | both long trainings together | 3.70 | – | 25.3 | | "
          "the shipped `Speller` and the n-gram model | – | – | 21.9 | | all three | – | – | 21.8 | The n-gram"
          " model's rate is 6.8 points below that of a `Speller` that was trained for 5 CPU minutes, and 2.4 below "
          "that of one trained for 46. The larger network, trained for 98 minutes once, is 0.4 below the n-gram "
          "model; this is one standard error of a rate of 25 % on 12 000 words. Both long trainings have dropout "
          "0.15 instead of 0.1, and the moving average of the weights is tested (part 7). The networks' seconds were "
          "measured while other programs used the same cores. On the "
          "first 2 000 test words, as in the cells above, the shipped `Speller` has 26.7 %.",
          (
          TEN,
          "| network, 18 000 steps, running mean | 2744 | 1167274 | 18000 | 28.3 | 6.7 | 1 |",
          "| the shipped network | 5855 | 2535082 | 22000 | 25.5 | 5.9 | 1 |",
          "| joint n-gram model, phonetisaurus 0.3.0 | 139 | – | – | 25.9 | 6.2 | 1 |",
          "| the shipped network and that of 18 000 steps together | – | – | – | 25.3 | 5.9 | 1 |",
          "| the shipped network and the n-gram model | – | – | – | 21.9 | 5.1 | 1 |",
          "| both networks and the n-gram model | – | – | – | 21.8 | 5.1 | 1 |",
          "| greedy | 34.4 (34.2 – 34.6) | 29.0 | 26.7 |",
          ),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "| bidirectional LSTM, alignments given (Yao and Zweig 2015) | 23.55 | | several attention models "
          "together (Toshniwal and Livescu 2016) | 20.24 | | `phonetisaurus`, measured for "
          "[g2p-seq2seq](https://github.com/cmusphinx/g2p-seq2seq) | 24.4 | | Transformer, 2 layers, width 256,"
          " of g2p-seq2seq | 20.2 |",
          PUBLISHED,
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "The rates of the two papers are from [a list](https://github.com/lifefeel/Grapheme-to-Phoneme), not "
          "from the papers. [Another list](https://github.com/kr-MATAGI/G2P-Test) gives 22.1 for the "
          "Transformer of Yolchuyeva, Németh and Gyires-Tóth (2019, [arXiv "
          "2004.06338](https://arxiv.org/abs/2004.06338)) and does not name its split. On a newer version of "
          "the dictionary the authors of g2p-seq2seq give 33.89 for `phonetisaurus` and about 31 for the "
          "Transformer.",
          PUBLISHED,
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "We trained session 6's Transformer and a `Speller` alike: the same batches, losses and peak learning"
          " rate, dropout of 0.1, 1 000 steps (less than three passes over the data), 1.21 and 1.17 million "
          "weights, three seeds. On all 12 000 test words, by length (lowest and highest of the seeds):",
          BOTH,
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "| `Speller` | 37.0 – 37.6 | 26.0 – 26.2 | 35.1 – 35.7 | 44.3 – 45.6 | 58.4 – 60.4 | | Transformer | "
          "43.5 – 46.1 | 28.5 – 29.8 | 40.6 – 43.5 | 54.6 – 58.0 | 72.5 – 74.3 |",
          (*BY_LENGTH,
           *BOTH),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "The Transformer is worse at every length, and the gap grows with the length of the word. It is also "
          "worse for each kind of words above.",
          (*BY_LENGTH,
           ("| network, 1 000 steps | 37.3 (37.0 – 37.6) | 42.5 (42.4 – 43.4) | 32.4 (32.0 – 32.5) | 42.1 (41.9"
            " – 43.1) | 38.9 (38.5 – 39.5) | 59.5 (58.4 – 60.4) |"),
           ("| Transformer, 1 000 steps | 44.1 (43.5 – 46.1) | 50.2 (49.8 – 52.0) | 40.5 (39.5 – 43.2) | 49.0 "
            "(48.3 – 49.3) | 45.8 (45.1 – 50.3) | 73.2 (72.5 – 74.3) |"),
           ),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "In the table, the gaps between the nearest seeds are 2 to 12 points, and the three seeds of a model differ "
          "by at most 3.4.",
          BY_LENGTH,
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "In trials of 300 steps (one seed), our Transformer had on 1 000 validation words a PER of 26.1, 20.9, 19.0 "
          "and 24.4 % with peak learning rates of 0.001, 0.002, 0.004 and 0.008, so 0.004, which we used, was the best "
          "of the four.",
          (
          ("PER of the Transformer on 1 000 validation words after 300 steps, by its peak learning rate: 26.1 % "
           "(0.001), 20.9 % (0.002), 19.0 % (0.004), 24.4 % (0.008)."),
          ),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "We searched with networks of 2 000 steps (two seeds), of 18 000 steps and the shipped one (one seed "
          "each). WER on 2 000 test words, %: | how | 2 000 steps | 18 000 steps | shipped | |---|---|---|---| "
          "| greedy decoding | 34.4 (34.2 – 34.6) | 29.0 | 26.7 | | a beam of 4 | 34.0 (33.8 – 34.4) | 29.1 | "
          "26.5 | | a beam of 4 with length normalisation (`alpha` 1 in exercise 8) | 34.0 (33.7 – 34.2) | 29.0"
          " | 26.5 | On all test words the last weights of the networks of 2 000 steps (three seeds) have 32.7 "
          "(32.6 – 33.1) %, an **exponential moving average** of them 33.1 (32.9 – 33.2) %.",
          (
          "| greedy | 34.4 (34.2 – 34.6) | 29.0 | 26.7 |",
          "| beam of 4 | 34.0 (33.8 – 34.4) | 29.1 | 26.5 |",
          "| beam of 4, normalised | 34.0 (33.7 – 34.2) | 29.0 | 26.5 |",
          TEN,
          ("| network, 2 000 steps, running mean | 308 (307 – 319) | 1167274 | 2000 (2000 – 2000) | 33.1 (32.9 –"
           " 33.2) | 8.0 (7.9 – 8.0) | 3 |"),
          ),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "Of the shipped network, the moving average has a WER of 24.4 % on the validation words, the last "
          "weights 24.7 %. So the moving average is shipped.",
          (
          ("On 2000 training words the shipped network has a WER of 12.7 %. On the validation words: mean 24.4 "
           "%, last 24.7 %, in eight bits 24.3 %."),
          ),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "Other choices in short trainings (300 steps, 0.6 of a pass over the data, five seeds each, "
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
          "With each of the five seeds, the WER falls by 1.6 to 2.3 points without dropout and by 0.1 to 0.7 without "
          "label smoothing, and rises by 0.5 to 1.8 without CTC.",
          (
          ("WER minus that of the network of 300 steps with the same seed, points: without dropout -2.2 (-2.3 – "
           "-1.6), without label smoothing -0.2 (-0.7 – -0.1), without CTC +0.9 (+0.5 – +1.8)."),
          ),
          bench="pronunciation"),
    Claim("tp7_pronunciation",
          "The large matrices are stored in eight bits a number: on the validation words the WER is 24.4 % before and "
          "24.3 % after.",
          (
          ("On 2000 training words the shipped network has a WER of 12.7 %. On the validation words: mean 24.4 "
           "%, last 24.7 %, in eight bits 24.3 %."),
          ),
          bench="pronunciation"),
]
