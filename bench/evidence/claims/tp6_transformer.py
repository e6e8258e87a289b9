"""What session 6 says of its runs, and what each sentence rests on."""

from ..ledger import Claim, Source

# Precision, recall and agreements of the explanations, by model.
EXPLANATIONS = (
    "recurrent, session 5: attention weight | 98.8 (98.3 – 98.9) | 95.5 (95.2 – 95.8) | 91.5 (89.3 – 92.6) | 95.4 (93.8"
    " – 96.2) | 0.54 (0.52 – 0.54)",
    "recurrent, session 5: weight × norm | 98.8 (98.3 – 98.9) | 95.5 (95.2 – 95.9) | 91.5 (89.3 – 92.6) | 95.4 (93.8 – "
    "96.2) | 0.54 (0.51 – 0.54)",
    "recurrent, session 5: gradient × input | 90.2 (89.9 – 90.7) | 89.9 (89.5 – 90.1) | 90.4 (90.1 – 90.7) | 89.6 (89.2"
    " – 89.9) | 0.58 (0.55 – 0.59)",
    "recurrent, session 5: integrated gradients | 95.6 (94.4 – 97.4) | 93.2 (92.2 – 94.7) | 93.6 (92.8 – 94.2) | 96.1 "
    "(94.9 – 96.8) | 0.64 (0.63 – 0.66)",
    "recurrent, session 5: mean ablation | 93.2 (92.2 – 93.5) | 90.1 (89.1 – 90.5) | 100.0 (100.0 – 100.0) | 95.2 (94.1"
    " – 95.8) | 0.83 (0.79 – 0.84)",
    "recurrent, session 5: resampling again | 96.6 (95.6 – 97.1) | 93.6 (92.6 – 94.2) | 94.8 (93.9 – 95.6) | 98.4 (97.7"
    " – 98.7) | 0.91 (0.88 – 0.92)",
    "Transformer, session 6: attention weight | 93.8 (92.3 – 96.0) | 93.1 (91.6 – 94.9) | 85.3 (82.0 – 88.2) | 87.5 "
    "(85.5 – 91.3) | 0.55 (0.52 – 0.57)",
    "Transformer, session 6: weight × norm | 96.5 (95.8 – 97.5) | 94.9 (94.3 – 95.3) | 88.5 (86.1 – 91.5) | 91.4 (89.7 "
    "– 94.5) | 0.54 (0.53 – 0.57)",
    "Transformer, session 6: gradient × input | 47.3 (40.0 – 53.2) | 48.5 (41.0 – 54.6) | 42.3 (36.2 – 49.1) | 44.2 "
    "(36.9 – 50.4) | 0.17 (0.13 – 0.25)",
    "Transformer, session 6: integrated gradients | 94.7 (94.3 – 95.0) | 92.9 (92.5 – 93.1) | 87.3 (85.5 – 89.8) | 90.4"
    " (89.1 – 91.9) | 0.42 (0.41 – 0.44)",
    "Transformer, session 6: mean ablation | 90.0 (88.9 – 92.8) | 87.5 (86.2 – 89.8) | 100.0 (100.0 – 100.0) | 93.9 "
    "(92.7 – 95.1) | 0.76 (0.73 – 0.78)",
    "Transformer, session 6: resampling again | 93.9 (92.2 – 95.5) | 91.2 (89.4 – 92.9) | 94.2 (93.2 – 94.8) | 98.7 "
    "(97.9 – 98.7) | 0.90 (0.89 – 0.92)",
)

CLAIMS = [
    Claim("tp6_transformer", "long multiplication has 34 characters, and 6 to 67 % of the answers right.",
          ("| long multiplication | 9.3 (6.0 – 67.0) |",), run="scratchpads"),
    Claim("tp6_transformer",
          "In our runs not one of 300 multiplications of four digits was right, with any scratchpad and any seed.",
          ("| none | 0.0 (0.0 – 0.3) | 0.0 (0.0 – 0.0)", "| long multiplication | 9.3 (6.0 – 67.0) | 0.0 (0.0 – 0.0)",
           "| local | 100.0 (100.0 – 100.0) | 0.0 (0.0 – 0.0)"), run="scratchpads"),
    Claim("tp6_transformer",
          "| none | 0 | 0.0 (0.0–0.3) | 0.0 | | long multiplication | 34 | 9.3 (6.0–67.0) | 0.0 | | local | 50 | "
          "100.0 (100.0–100.0) | 0.0 | We trained for 600 steps on multiplications of three digits, with five seeds",
          ("| none | 0.0 (0.0 – 0.3) | 0.0 (0.0 – 0.0)", "| long multiplication | 9.3 (6.0 – 67.0) | 0.0 (0.0 – 0.0)",
           "| local | 100.0 (100.0 – 100.0) | 0.0 (0.0 – 0.0)"), run="scratchpads"),
    Claim("tp6_transformer",
          "In the run above both have all digits right with two blocks; with eight, post-norm stays at chance level "
          "with all three seeds.",
          ("2 pre-norm 0.00 (0.00–0.00) 100 (100–100)", "2 post-norm 0.01 (0.00–0.01) 100 (100–100)",
           "8 pre-norm 0.01 (0.01–0.01) 100 (100–100)", "8 post-norm 2.30 (2.30–2.31) 9 (9–11)"),
          cell="depth"),
    Claim("tp6_transformer",
          "In our runs learned and rotary positional encoding had all digits right at the training length. With 64 "
          "positions rotary had 69 % (67–69), and learned 35 % (34–35)",
          ("learned 100 (100–100) 55 (55–55) 35 (34–35)", "rotary 100 (100–100) 100 (100–100) 69 (67–69)"),
          cell="which-positions"),
    Claim("tp6_transformer", "At 32 and 64 positions it has more, so it also uses some order.",
          ("none 31 (30–31) 32 (32–33) 27 (26–27)", "best answer without order 32 26 22"), cell="which-positions"),
    Claim("tp6_transformer",
          "We trained both translators on this corpus with five seeds. Exact match on 500 unseen sentences, median "
          "(smallest–largest): session 5's translator 97.4 % (97.0–97.6) after 1 000 steps, the Transformer 98.2 % "
          "(98.0–98.6) after 1 500.",
          ("recurrent, session 5 97.4 (97.0 – 97.6); Transformer, session 6 98.2 (98.0 – 98.6)",),
          run="explanations",
          also=(Source(("exact match: 97.8 % of 1000 unseen sentences",), cell="how-well"),)),
    Claim("tp6_transformer",
          "We trained both translators with five seeds and applied the explanations to 500 test sentences: median "
          "(smallest–largest).",
          EXPLANATIONS, run="explanations"),
    Claim("tp6_transformer",
          "| attention weight | 98.8 (98.3–98.9) | 95.4 (93.8–96.2) | 93.8 (92.3–96.0) | 87.5 (85.5–91.3) | | weight × "
          "norm | 98.8 (98.3–98.9) | 95.4 (93.8–96.2) | 96.5 (95.8–97.5) | 91.4 (89.7–94.5) | | gradient × input | 90.2"
          " (89.9–90.7) | 89.6 (89.2–89.9) | 47.3 (40.0–53.2) | 44.2 (36.9–50.4) | | integrated gradients | 95.6 "
          "(94.4–97.4) | 96.1 (94.9–96.8) | 94.7 (94.3–95.0) | 90.4 (89.1–91.9) | | mean ablation | 93.2 (92.2–93.5) | "
          "95.2 (94.1–95.8) | 90.0 (88.9–92.8) | 93.9 (92.7–95.1) | | resampling, 8 other words | 96.6 (95.6–97.1) | "
          "98.4 (97.7–98.7) | 93.9 (92.2–95.5) | 98.7 (97.9–98.7) |",
          EXPLANATIONS, run="explanations"),
    Claim("tp6_transformer",
          "in our run, all five of its agreements lay outside these ranges, by 2.5 points at most.",
          ("attention weight 98.6 95.7 91.4", "weight × norm 98.5 95.7 91.3"), cell="leaderboard",
          also=(Source(EXPLANATIONS[:2], run="explanations"),)),
    Claim("tp6_transformer",
          "A map that links each word to its own position, at most the last, would have a precision of 49.9 % with "
          "EOS in the source and 54.7 % without.",
          ("recurrent, session 5: same position | 49.9", "Transformer, session 6: same position | 54.7"),
          run="explanations"),
    Claim("tp6_transformer",
          "The noun had one of the two largest effects by resampling for 55 % (28–82) in the recurrent model and for "
          "68 % (38–85) in the Transformer. The noun had one of the two largest attention weights for 0 % (0–0) "
          "and 25 % (0–50).",
          ("recurrent, session 5: attention weight | 100 (100 – 100) · 5 (0 – 10) | 100 (100 – 100) · 30 (20 – 45) | "
            "100 (100 – 100) · 0 (0 – 2) | 100 (100 – 100) · 0 (0 – 0) | 100 (100 – 100) | 2 (0 – 8)",
           "recurrent, session 5: resampling | 100 (100 – 100) · 20 (15 – 25) | 85 (57 – 90) · 92 (85 – 95) | 100 (98 "
            "– 100) · 57 (30 – 72) | 100 (100 – 100) · 55 (28 – 82) | 100 (100 – 100) | 22 (5 – 32)",
           "Transformer, session 6: attention weight | 100 (100 – 100) · 5 (0 – 8) | 100 (100 – 100) · 55 (45 – 82) | "
            "100 (100 – 100) · 25 (0 – 40) | 100 (100 – 100) · 25 (0 – 50) | 88 (20 – 100) | 28 (0 – 38)",
           "Transformer, session 6: resampling | 100 (100 – 100) · 22 (2 – 55) | 50 (32 – 80) · 95 (90 – 98) | 100 (92"
            " – 100) · 65 (60 – 92) | 100 (98 – 100) · 68 (38 – 85) | 100 (100 – 100) | 8 (0 – 15)"),
          run="explanations"),
    Claim("tp6_transformer",
          "In the Transformer, weight × norm had the English article as top link for 100 % (98–100), resampling for "
          "50 % (32–80).",
          ("Transformer, session 6: weight × norm | 100 (100 – 100) · 8 (0 – 12) | 100 (98 – 100) · 55 (48 – 85) | 100"
            " (100 – 100) · 22 (0 – 55) | 100 (100 – 100) · 35 (0 – 62) | 100 (92 – 100) | 10 (5 – 40)",
           "Transformer, session 6: resampling | 100 (100 – 100) · 22 (2 – 55) | 50 (32 – 80) · 95 (90 – 98) | 100 (92"
            " – 100) · 65 (60 – 92) | 100 (98 – 100) · 68 (38 – 85) | 100 (100 – 100) | 8 (0 – 15)"),
          run="explanations"),
    Claim("tp6_transformer",
          "In the Transformer its largest effect is 1.16 nats (0.98–1.22), that of *est-ce* 13.95 nats (8.81–14.96).",
          ("Transformer, session 6: que (est-ce que) | 40 | 0.00 (0.00 – 0.00) | 1.16 (0.98 – 1.22)",
           "Transformer, session 6: est-ce | 40 | 0.00 (0.00 – 0.00) | 13.95 (8.81 – 14.96)"),
          run="explanations"),
    Claim("tp6_transformer",
          "On the Transformer it had, in our five runs, a precision of 96.5 % (95.8–97.5) and an agreement of 91.4 % "
          "(89.7–94.5); gradient × input had 47.3 % and 44.2 %.",
          EXPLANATIONS, run="explanations"),
    Claim("tp6_transformer",
          "The agreement of weight × norm was higher than that of attention weight and that of integrated gradients in "
          "each of the five runs, although the ranges overlap. Mean ablation agreed more than weight × norm in four of "
          "the five, but mean ablation is itself an intervention.",
          ("weight × norm above attention weight in 5 of 5", "weight × norm above integrated gradients in 5 of 5",
           "mean ablation above weight × norm in 4 of 5"), run="explanations"),
    Claim("tp6_transformer",
          "mean ablation and resampling have different top links for 4.9 to 7.3 % of the French words in the "
          "Transformer.",
          (*EXPLANATIONS, "100.0 (100.0 – 100.0)"), run="explanations"),
    Claim("tp6_transformer",
          "in our five runs it had one of the two largest effects for 22 % (2–55) of 40 objects of two senses.",
          ("Transformer, session 6: resampling | 100 (100 – 100) · 22 (2 – 55)",),
          run="explanations"),
    Claim("tp6_transformer",
          "in our run the encoder's attention carried 0.29 of the difference to the position of *the*, and 0.86 was at "
          "*cow* after the encoder.",
          ("encoder.blocks.0.attention at the (+0.29)", "encoder.norm at cow (+0.86)"), cell="patched"),
    Claim("tp6_transformer",
          "Ablating the head with the highest gold share added 0.16 nats (0.03–0.33), the second 0.10 nats "
          "(0.05–0.27).",
          ("| 92 (91 – 95) | 73 (61 – 80) | 0.16 (0.03 – 0.33) |",
           "| 91 (90 – 94) | 70 (58 – 70) | 0.10 (0.05 – 0.27) |"), run="heads",
          also=(Source(("cross-attention 0 49 28 10 10 91", "cross-attention 1 47 28 11 11 93"),
                       cell="heads-found"),)),
    Claim("tp6_transformer", "in our five runs it added the most loss three times, and the least once.",
          ("adds the most loss in 3 of 5 runs, the least in 1.",), run="heads"),
    Claim("tp6_transformer",
          "In our five runs the six heads that add least alone added 1.33 nats (0.81–2.34) together, and the sum of "
          "their single losses was 0.31 nats (0.30–0.34).",
          ("| 1.33 (0.81 – 2.34) | 3.46 (1.92 – 5.84) | 0.31 (0.30 – 0.34) |",), run="heads",
          also=(Source(("6 cross-attention, 0 1.28 3.31 0.34",), cell="heads-found"),)),
    Claim("tp6_transformer",
          "In our five runs all four heads of block 1 had a score of at least 0.90, rounded. With the highest-scoring "
          "head ablated by its mean, 100 % (100–100) of the next tokens were right; with all four, 3 % (2–4).",
          ("layer 2: induction | 0.92 (0.91 – 0.92) | 0.91 (0.91 – 0.92) | 0.91 (0.91 – 0.92) | 0.90 (0.90 – 0.91)",
           "the head with the largest induction score | 100 (100 – 100)", "all heads of its layer | 3 (2 – 4)"),
          run="induction",
          also=(Source(("1 0 0.91 0.24 100 99", "1 1 0.91 0.22 100 99", "1 2 0.90 0.23 100 100",
                        "1 3 0.91 0.23 100 94", "right if all heads of block 1 are ablated: 4 %"),
                       cell="induction-found"),)),
    Claim("tp6_transformer",
          "In our five runs, for the head of block 0 with the largest previous-token score: - This score was 0.93 "
          "(0.84–0.96) measured, and 1.00 (0.98–1.00) from its weights alone. - In block 1 the query of a token scores "
          "highest with this head's output for the same token: for 100 % (96–100) of the tokens, averaged over the "
          "four heads (chance level 2 %).",
          ("| 1 | 0.93 (0.84 – 0.96) | 1.00 (0.98 – 1.00) | 100 (96 – 100) |",), run="induction"),
    Claim("tp6_transformer",
          "in our run two heads of block 0 with 71 to 92 % are not needed in exercise 14.",
          ("0 0.54 0.69 79 81 75 83", "3 0.52 0.63 85 92 71 90"), cell="circuits-found",
          also=(Source(("0 100 100 100 100", "3 100 100 100 100"), cell="paths-found"),)),
    Claim("tp6_transformer",
          "The head of block 1 with the largest induction score copies 94 % (90–96) of the tokens.",
          ("| 1 | 0.92 (0.91 – 0.92) | 94 (90 – 96) |",), run="induction"),
    Claim("tp6_transformer",
          "In our five runs, for the head of block 0 with the largest previous-token score, the share of right next "
          "tokens if another row's output is read: by the queries 100 % (100–100), by the keys 74 % (16–92), by the "
          "values 100 % (100–100), by all 67 % (12–86). Most of its effect goes through the keys.",
          ("| 100 (96 – 100) | 100 (100 – 100) | 74 (16 – 92) | 100 (100 – 100) | 67 (12 – 86) |",),
          run="induction"),
]
