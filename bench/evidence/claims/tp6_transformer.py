"""What session 6 says of its runs, and what each sentence rests on."""

from ..ledger import Claim

# Precision, recall and agreements of the explanations.
EXPLANATIONS = (
    "attention weight | 94.1 (93.5 – 95.5) | 93.8 (93.3 – 94.4) | 86.9 (81.3 – 88.3) | 90.2 (86.3 – 90.8)",
    "weight × norm | 96.3 (95.4 – 96.8) | 94.7 (93.7 – 95.0) | 89.3 (84.6 – 91.2) | 92.7 (89.8 – 93.7)",
    "gradient × input | 42.1 (37.3 – 46.1) | 42.8 (37.9 – 47.1) | 39.3 (34.4 – 42.3) | 39.8 (35.7 – 42.8)",
    "integrated gradients | 94.1 (92.3 – 95.6) | 92.6 (90.7 – 93.5) | 88.6 (82.9 – 88.9) | 90.2 (87.5 – 92.3)",
    "mean ablation | 90.5 (86.3 – 92.3) | 87.6 (83.5 – 89.6) | 100.0 (100.0 – 100.0) | 94.9 (91.8 – 95.6)",
    "resampling again | 94.1 (91.2 – 94.3) | 91.5 (88.6 – 91.7) | 92.8 (91.0 – 94.8) | 97.5 (96.7 – 97.9)",
)

CLAIMS = [
    Claim("tp6_transformer", "the scratchpad as on paper has 34, and 9 to 67 % of the answers right",
          ("| as on paper | 28.0 (9.3 – 67.0) |",), run="workings"),
    Claim("tp6_transformer",
          "In our runs not one of 300 products of four digits was right, with any scratchpad and any seed.",
          ("| none | 0.0 (0.0 – 0.0) | 0.0 (0.0 – 0.0)", "| as on paper | 28.0 (9.3 – 67.0) | 0.0 (0.0 – 0.0)",
           "| each digit beside its parents | 100.0 (100.0 – 100.0) | 0.0 (0.0 – 0.0)"), run="workings"),
    Claim("tp6_transformer",
          "| none | 0 | 0.0 (0.0–0.0) | 0.0 | | as on paper | 34 | 28.0 (9.3–67.0) | 0.0 | | each digit beside its "
          "parents | 50 | 100.0 (100.0–100.0) | 0.0 | So it was in our runs: 600 steps, three seeds each, 300 held-out "
          "products; median and range.",
          ("| none | 0.0 (0.0 – 0.0) | 0.0 (0.0 – 0.0)", "| as on paper | 28.0 (9.3 – 67.0) | 0.0 (0.0 – 0.0)",
           "| each digit beside its parents | 100.0 (100.0 – 100.0) | 0.0 (0.0 – 0.0)"), run="workings"),
    Claim("tp6_transformer",
          "In the run above both have all digits right with two blocks; with eight, post-norm stays at chance level "
          "with all three seeds.",
          ("2 before (pre-norm) 0.00 (0.00–0.00) 100 (100–100)", "2 after (post-norm) 0.01 (0.00–0.01) 100 (100–100)",
           "8 before (pre-norm) 0.01 (0.01–0.01) 100 (100–100)", "8 after (post-norm) 2.30 (2.30–2.31) 9 (9–11)"),
          cell="depth"),
    Claim("tp6_transformer",
          "In our runs learned rows and rotary had all right at the training length. With 64 positions rotary had 69 "
          "%, and the learned rows, which are trained up to 16 only, 35 %.",
          ("learned 100 (100–100) 55 (55–55) 35 (34–35)", "rotary 100 (100–100) 100 (100–100) 69 (67–69)"),
          cell="which-positions"),
    Claim("tp6_transformer", "Why is a model **without** positions better than chance?",
          ("none 31 (30–31) 32 (31–33) 27 (26–27)",), cell="which-positions"),
    Claim("tp6_transformer",
          "We trained five models with five seeds, on a corpus with words of two senses, and asked them for 500 "
          "sentences each: median (smallest–largest). | explanation | precision, % | agreement, % | |---|---|---| | "
          "attention weight | 94.1 (93.5–95.5) | 90.2 (86.3–90.8) | | weight × norm | 96.3 (95.4–96.8) | 92.7 "
          "(89.8–93.7) | | gradient × input | 42.1 (37.3–46.1) | 39.8 (35.7–42.8) | | integrated gradients | 94.1 "
          "(92.3–95.6) | 90.2 (87.5–92.3) | | mean ablation | 90.5 (86.3–92.3) | 94.9 (91.8–95.6) | | resampling, 8 "
          "other words | 94.1 (91.2–94.3) | 97.5 (96.7–97.9) |",
          EXPLANATIONS, run="explanations"),
    Claim("tp6_transformer",
          "For 40 *le, la, un, une* in each of these models, weight × norm had the English article as top link in 100 "
          "% (68–100), resampling in 45 % (28–52); the noun decides on the gender.",
          ("weight × norm | 100 (100 – 100) · 2 (2 – 22) | 100 (68 – 100) ·",
           "resampling | 100 (98 – 100) · 10 (0 – 38) | 45 (28 – 52) ·"), run="explanations"),
    Claim("tp6_transformer",
          "Its largest effect is 0.09 nats (0.01–0.39), that of *est-ce* 10.89 (10.70–13.13), but the weights of both "
          "rows sum to 1",
          ("est-ce | 40 | 0.00 (0.00 – 0.00) | 10.89 (10.70 – 13.13)",
           "que (est-ce que) | 40 | 0.00 (0.00 – 0.00) | 0.09 (0.01 – 0.39)"), run="explanations"),
    Claim("tp6_transformer",
          "in our five runs a precision of 96.3 % (95.4–96.8) and an agreement of 92.7 % (89.8–93.7), gradient × input "
          "42.1 % and 39.8 %. Against attention weight and integrated gradients the ranges of the agreement overlap: "
          "these runs do not decide between them.",
          EXPLANATIONS, run="explanations"),
    Claim("tp6_transformer", "mean ablation differs from it in 4.4 to 8.2 % of the top links.",
          (*EXPLANATIONS, "100.0 (100.0 – 100.0)"), run="explanations"),
    Claim("tp6_transformer",
          "in our five runs it had one of the two largest effects for 10 % (0–38) of the nouns of two senses.",
          ("resampling | 100 (98 – 100) · 10 (0 – 38) |",), run="explanations"),
    Claim("tp6_transformer",
          "in our run the encoder's attention carried 0.76 of the difference to the position of *the*.",
          ("encoder.blocks.0.attention at the (+0.76)",), cell="patched"),
    Claim("tp6_transformer",
          "Over five runs the best aligner cost 0.13 (0.04–0.17), the second 0.15 (0.06–0.33).",
          ("| 92 (90 – 95) | 74 (69 – 81) | 0.13 (0.04 – 0.17) |",
           "| 90 (88 – 92) | 68 (66 – 74) | 0.15 (0.06 – 0.33) |"), run="heads"),
    Claim("tp6_transformer",
          "In our five runs the six cheapest heads together cost 0.91 (0.69–1.44), and the sum of their single costs "
          "was 0.29 (0.26–0.43).",
          ("| 0.91 (0.69 – 1.44) | 2.69 (1.43 – 3.27) | 0.29 (0.26 – 0.43) |",), run="heads"),
    Claim("tp6_transformer",
          "In our five runs all four heads of the second layer had a score of 0.90 or more. Without the one with the "
          "largest score, replaced by its mean, 100 % (100–100) of the next tokens were right; without all four, 3 % "
          "(2–4).",
          ("layer 2: induction | 0.92 (0.91 – 0.92) | 0.91 (0.91 – 0.92) | 0.91 (0.91 – 0.92) | 0.90 (0.90 – 0.91)",
           "the head with the largest induction score | 100 (100 – 100)", "all heads of its layer | 3 (2 – 4)"),
          run="induction"),
    Claim("tp6_transformer",
          "Characters alone do not do it: the scratchpad as on paper has 34, and 9 to 67 % of the answers right.",
          ("| as on paper | 28.0 (9.3 – 67.0) | 0.0 (0.0 – 0.0)",), run="workings"),
]
