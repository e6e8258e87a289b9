"""What session 5 says of its runs, and what each sentence rests on."""

from ..ledger import Claim, Source

# The table of session 5 on the first corpus, row by row.
BY_LENGTH = (
    "| with attention | 98.6 (98.4 – 99.1) | 99.8 (99.8 – 99.9) | 99.8 (99.4 – 99.9) | 99.7 (99.5 – 99.7) |",
    "| without attention | 96.3 (94.8 – 98.2) | 97.1 (96.4 – 97.4) | 86.4 (83.9 – 86.9) | 50.2 (48.0 – 50.9) |",
)

CLAIMS = [
    Claim("tp5_translation", " ".join(BY_LENGTH).replace(" – ", "–"), BY_LENGTH, run="bottleneck"),
    Claim("tp5_translation",
          "On the same sixty sentences, with five seeds of ours, the largest weight was on a gold word for 98.5 to "
          "99.2 % of the French words, and 12.2 to 17.8 % of them were still right without the word of largest weight.",
          ("| 60 | 99.0 (98.5 – 99.2) | 16.8 (12.2 – 17.8) |",), run="bottleneck"),
    Claim("tp5_translation",
          "In both tables the model without attention has the lower BLEU at every length. On the hard corpus, after "
          "600 steps, the gap is large at every length: your table shows one seed.",
          ("with attention 79 84.4 78.9 69.8", "without attention 14 9.6 6.8 3.5"), cell="train-bottleneck",
          also=(Source(BY_LENGTH, run="bottleneck"),)),
    Claim("tp5_translation",
          "In the second table no ranges overlap, and the gap grows with the length, from about 2 points to about 50 "
          "points.", BY_LENGTH, run="bottleneck"),
    Claim("tp5_translation",
          "with 0.0015 no sentence was right. We expected the largest to jump about. It had the highest mean BLEU, "
          "32.3 (12.2–43.8) against 21.5 (19.4–23.1) with 0.015, and the largest spread; the ranges overlap.",
          ("0.0015 4.54 (4.49 – 4.57) 0 (0 – 0) 0 (0 – 0)",
           "0.015 1.63 (1.5 – 1.75) 3.47 (2.2 – 4.2) 21.5 (19.4 – 23.1)",
           "0.15 1.35 (1.06 – 1.93) 10.6 (1.4 – 17) 32.3 (12.2 – 43.8)"), cell="experiment-rate"),
    Claim("tp5_translation", "8 and 32 units had no sentence right, and 128 the most.",
          ("8 4.22 (4.14 – 4.37) 0 (0 – 0) 0 (0 – 0)", "32 3.07 (3.04 – 3.09) 0 (0 – 0) 1.86 (1.11 – 3.05)",
           "128 1.63 (1.5 – 1.75) 3.47 (2.2 – 4.2) 21.5 (19.4 – 23.1)"), cell="experiment-hidden"),
    Claim("tp5_translation", "BLEU was lowest with 0 and highest with 1.",
          ("0 3.01 (2.99 – 3.04) 0 (0 – 0) 3.76 (3.33 – 4.51)",
           "0.5 2.74 (2.72 – 2.78) 0.133 (0 – 0.2) 7.86 (7.41 – 8.73)",
           "1 1.63 (1.5 – 1.75) 3.47 (2.2 – 4.2) 21.5 (19.4 – 23.1)"), cell="experiment-ratio"),
    Claim("tp5_translation",
          "dot had 21.5 (19.4–23.1) BLEU, additive 12.0 (7.2–15.7): the ranges lie apart",
          ("dot 1.63 (1.5 – 1.75) 3.47 (2.2 – 4.2) 21.5 (19.4 – 23.1)",
           "additive 1.96 (1.81 – 2.18) 1.13 (0.2 – 2) 12 (7.2 – 15.7)"), cell="experiment-score"),
]
