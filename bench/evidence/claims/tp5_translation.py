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
          "On the same sixty sentences, in our runs (five seeds), the largest weight was on a gold word for 98.5 to "
          "99.2 % of the French words, and 12.2 to 17.8 % of them were still right without the word with the largest "
          "weight.",
          ("| 60 | 99.0 (98.5 – 99.2) | 16.8 (12.2 – 17.8) |",), run="bottleneck",
          also=(Source(("518 French words: largest weight on a gold word 99.0%; still right without the word of "
                        "largest weight 16.2%",), cell="causal"),)),
    Claim("tp5_translation", "In our run 16.2 % of the words are still right without it",
          ("still right without the word of largest weight 16.2%",), cell="causal"),
    Claim("tp5_translation",
          "in our run one word: *avez*, with the largest weight on *give* and the largest effect from *did* (0.75).",
          ("avez give did 0.75",), cell="causal"),
    Claim("tp5_translation", "about one sentence in a hundred is wrong, so no change can improve it much.",
          ("validation: exact match 98.8%, BLEU 99.56 by sacrebleu BLEU 99.56 by hand",
           "test: exact match 99.1%, BLEU 99.68 by sacrebleu BLEU 99.68 by hand"), cell="validation"),
    Claim("tp5_translation", "For example *du*: nearly all of its weight can be on *of*.", ("du ← of (1.00)",),
          cell="heatmap"),
    Claim("tp5_translation", "The largest weight of *que* may be on neither, but on the word after *Did*.",
          ("que ← the (0.84)",), cell="heatmap",
          also=(Source(("que the 6 qu' a 3",), cell="scored-alignment"),)),
    Claim("tp5_translation",
          "In both tables the model without attention has the lower BLEU at every length, and the gap grows with the "
          "length.", ("with attention 79.9 85.9 85.4 69.1", "without attention 62 48.8 27.8 10.2"),
          cell="train-bottleneck", also=(Source(BY_LENGTH, run="bottleneck"),)),
    Claim("tp5_translation",
          "In the second no ranges overlap, and the gap grows from about 2 points to about 50 points.", BY_LENGTH,
          run="bottleneck"),
    Claim("tp5_translation",
          "This rate had the highest mean BLEU, 33.3 (19.4–40.9) against 19.2 (17.6–20.9) with 0.015, and the largest "
          "spread; the ranges overlap. With 0.0015 no sentence was right.",
          ("0.0015 4.54 (4.46 – 4.63) 0 (0 – 0) 0 (0 – 0)",
           "0.015 1.76 (1.68 – 1.82) 2.47 (1 – 3.6) 19.2 (17.6 – 20.9)",
           "0.15 1.27 (1.06 – 1.59) 10.3 (3.4 – 15.2) 33.3 (19.4 – 40.9)"), cell="experiment-rate"),
    Claim("tp5_translation",
          "With 8 and 32 units no sentence was right; 128 units had 19.2 (17.6–20.9) BLEU, 32 had 1.9 (0–3.1).",
          ("8 4.23 (4.16 – 4.3) 0 (0 – 0) 0 (0 – 0)", "32 3.13 (3.04 – 3.29) 0 (0 – 0) 1.92 (0 – 3.05)",
           "128 1.76 (1.68 – 1.82) 2.47 (1 – 3.6) 19.2 (17.6 – 20.9)"), cell="experiment-hidden"),
    Claim("tp5_translation",
          "Mean BLEU was 5.2 (3.6–7.6) with 0, 9.3 (5.8–11.1) with 0.5 and 19.2 (17.6–20.9) with 1.",
          ("0 2.88 (2.76 – 3.03) 0.0667 (0 – 0.2) 5.22 (3.61 – 7.58)",
           "0.5 2.68 (2.58 – 2.82) 0.267 (0 – 0.8) 9.34 (5.81 – 11.1)",
           "1 1.76 (1.68 – 1.82) 2.47 (1 – 3.6) 19.2 (17.6 – 20.9)"), cell="experiment-ratio"),
    Claim("tp5_translation",
          "Dot had 19.2 (17.6–20.9) BLEU, additive 17.8 (11.9–22.2): the ranges overlap.",
          ("dot 1.76 (1.68 – 1.82) 2.47 (1 – 3.6) 19.2 (17.6 – 20.9)",
           "additive 1.79 (1.63 – 2.01) 3 (1.4 – 4.6) 17.8 (11.9 – 22.2)"), cell="experiment-score"),
]
