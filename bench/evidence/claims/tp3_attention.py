"""What session 3 says of its runs, and what each sentence rests on."""

from ..ledger import Claim, Source

# A sentence that rests on the five seeds of a run and on the notebook.
COPIES = ("In our runs (five seeds, and our executed notebook) the model without attention copied 54 to 78 % of "
          "the strings of 6 letters, 3 to 13 % of those of 10, none of 13. The concatenated model copied 97 to 100 % "
          "up to 13 letters, and 89 to 96 % at 14. The context alone had 92 to 100 % up to 13 letters, and 19 to 27 % "
          "at 14.")

CLAIMS = [
    Claim("tp3_attention",
          "In our runs (five seeds, and our executed notebook) it was 1.000 for 2 digits, 0.745 to 0.801 for 4, "
          "0.399 to 0.438 for 8, and 0.213 to 0.226 for 16.",
          ("| last vector | 2 | 400 | 1.000 (1.000 – 1.000) |", "| last vector | 4 | 400 | 0.781 (0.745 – 0.793) |",
           "| last vector | 8 | 400 | 0.421 (0.399 – 0.438) |", "| last vector | 16 | 400 | 0.220 (0.213 – 0.226) |"),
          run="lookups", also=(Source(("2 1 4 0.8005 8 0.4217 16 0.2247",), cell="bottleneck-by-length"),)),
    Claim("tp3_attention",
          "Five seeds of our own, each on 5000 rows: content only 0.275 (0.271–0.281), where the bound for its rows "
          "is 0.273 (0.273–0.276); content and position 1.000 with all five.",
          ("| content only | 10 | 300 | 0.275 (0.271 – 0.281) |", "0.273 (0.273 – 0.276)",
           "| content and position | 10 | 300 | 1.000 (1.000 – 1.000) |"), run="lookups"),
    Claim("tp3_attention",
          "With positions and 200 steps it is also 1.000 with all five seeds for rows of 2, 4, 8 and 16 digits.",
          tuple(f"| content and position | {n} | 200 | 1.000 (1.000 – 1.000) |" for n in (2, 4, 8, 16)),
          run="lookups"),
    Claim("tp3_attention",
          "| no attention, teacher forcing | 98.8 (98.1–99.5) | 95.6 (88.7–96.5) | | no attention, free running | "
          "99.1 (97.1–99.7) | 95.0 (93.6–97.4) | | context alone, teacher forcing | 1.0 (0.7–11.7) | 3.5 (2.6–14.8) "
          "| | context alone, free running | 1.0 (0.3–30.8) | 2.5 (0.8–14.1) |",
          ("| no attention, teacher forcing | 95.6 (88.7 – 96.5) | 98.8 (98.1 – 99.5) |",
           "| no attention, free running | 95.0 (93.6 – 97.4) | 99.1 (97.1 – 99.7) |",
           "| context alone, teacher forcing | 3.5 (2.6 – 14.8) | 1.0 (0.7 – 11.7) |",
           "| context alone, free running | 2.5 (0.8 – 14.1) | 1.0 (0.3 – 30.8) |"), run="races"),
    Claim("tp3_attention", "With the context alone, the model is far worse than without attention, in every run.",
          ("| no attention, teacher forcing | 95.6 (88.7 – 96.5) | 98.8 (98.1 – 99.5) |",
           "| no attention, free running | 95.0 (93.6 – 97.4) | 99.1 (97.1 – 99.7) |",
           "| context alone, teacher forcing | 3.5 (2.6 – 14.8) | 1.0 (0.7 – 11.7) |",
           "| context alone, free running | 2.5 (0.8 – 14.1) | 1.0 (0.3 – 30.8) |"), run="races",
          also=(Source(("no attention, teacher forcing 94.5% 98.1% 85.0% 94.2% 96.8%",
                        "no attention, free running 94.7% 98.5% 80.0% 95.3% 97.0%",
                        "context alone, teacher forcing 15.2% 9.7% 10.0% 19.8% 11.0%",
                        "context alone, free running 11.9% 14.0% 45.0% 20.3% 11.0%",
                        "context added 98.2% 99.4% 100.0% 97.1% 99.1%"), cell="four-compared"),)),
    Claim("tp3_attention", COPIES,
          ("| no attention | 58.6 (53.8 – 78.3) | 39.1 (28.8 – 57.8) | 25.7 (18.6 – 34.3) | 12.9 (7.0 – "
           "20.8) | 6.8 (2.7 – 13.1) | 2.7 (1.8 – 5.2) | 0.8 (0.0 – 2.2) | 0.0 (0.0 – 0.0) | 0.0 (0.0 – 0.4) "
           "|",
           "| concatenated | 99.5 (99.0 – 100.0) | 100.0 (99.5 – 100.0) | 99.6 (99.5 – 100.0) | 100.0 (97.0 – "
           "100.0) | 98.6 (98.4 – 99.6) | 99.5 (98.2 – 99.6) | 98.7 (98.5 – 99.6) | 98.2 (97.4 – 98.5) | "
           "94.4 (89.3 – 96.3) |",
           "| 94.8 (91.8 – 98.1) | 23.2 (20.2 – 26.9) |"), run="races",
          also=(Source(("no attention 57.3% 47.9% 26.1% 10.7% 8.6% 3.2% 0.0% 0.0% 0.0%",
                        "context alone 100.0% 99.1% 100.0% 98.7% 98.2% 99.1% 100.0% 95.7% 18.7%",
                        "concatenated 100.0% 100.0% 99.1% 100.0% 98.6% 99.1% 99.0% 98.1% 92.1%"),
                       cell="copies-compared"),)),
    Claim("tp3_attention", "falls from 57 % at 6 letters to 0 % at 12 and more.",
          ("no attention 57.3% 47.9% 26.1% 10.7% 8.6% 3.2% 0.0% 0.0%",), cell="copies-compared"),
    Claim("tp3_attention", "The concatenated design had 89 to 96 %", ("| 94.4 (89.3 – 96.3) |",), run="races",
          also=(Source(("98.1% 92.1%",), cell="copies-compared"),)),
    Claim("tp3_attention", "one vector of 128 numbers is enough for 88.7 to 99.5 % of the answers",
          ("| no attention, teacher forcing | 95.6 (88.7 – 96.5) | 98.8 (98.1 – 99.5) |",), run="races",
          also=(Source(("no attention, teacher forcing 94.5% 98.1%",), cell="four-compared"),)),
    Claim("tp3_attention",
          "In our run the map is as sharp as it can be: the units have their weight on `7`, the tens on `5`. The "
          "hundreds have it on `+`",
          ("57+68 → 125. 5 ", " 7 (1.00); 2 ", " 5 (1.00); 1 ", " + (1.00); "), cell="where"),
    Claim("tp3_attention",
          "| state, no attention | 58.6 (26.6–81.2) | 95.4 (90.2–96.4) | 96.8 (93.9–98.7) | | state and context, "
          "concatenated, no layer in between | 83.0 (77.5–88.0) | 98.9 (98.6–99.5) | 96.4 (94.2–98.5) | | the same "
          "through the layer of 64 tanh units (exercise 13) | 9.3 (8.8–10.7) | 9.2 (8.5–10.4) | 9.3 (9.0–10.3) | | "
          "state through that layer, no attention | 11.3 (9.5–15.8) | 11.7 (8.8–18.9) | 9.6 (8.8–10.7) |",
          ("| state | none | 58.6 (26.6 – 81.2) | 95.4 (90.2 – 96.4) | 96.8 (93.9 – 98.7) |",
           "| concatenated | none | 83.0 (77.5 – 88.0) | 98.9 (98.6 – 99.5) | 96.4 (94.2 – 98.5) |",
           "| concatenated | Tanh 64 | 9.3 (8.8 – 10.7) | 9.2 (8.5 – 10.4) | 9.3 (9.0 – 10.3) |",
           "| state | Tanh 64 | 11.3 (9.5 – 15.8) | 11.7 (8.8 – 18.9) | 9.6 (8.8 – 10.7) |"), run="rates"),
    Claim("tp3_attention",
          "**At 0.003 and 0.006, state and context had more right answers than the state alone with each seed** (which "
          "fixes the questions), by 5 to 61 and 3 to 8 points. At 0.012 it had between 2 points fewer and 2 more. With "
          "both at their best rates, the ranges overlap: 98.9 (98.6–99.5) and 96.8 (93.9–98.7).",
          ("| peak 0.003 | +23.4 | +31.6 | +61.4 | +18.9 | +5.2 |", "| peak 0.006 | +2.9 | +7.6 | +3.1 | +8.4 | +3.8 |",
           "| peak 0.012 | +0.3 | -2.3 | +1.0 | +1.7 | +0.5 |", "98.9 (98.6 – 99.5) | 96.4 (94.2 – 98.5) |",
           "95.4 (90.2 – 96.4) | 96.8 (93.9 – 98.7) |"), run="rates"),
    Claim("tp3_attention",
          "With an LSTM in place of the GRU, the same layer had 75.4 % (20.4–99.2) at 0.006. With the GRU, a "
          "linear layer of 64 units had 99.2 % (98.8–99.5), and 256 tanh units 89.4 % (77.7–95.9).",
          ("| LSTM | concatenated | Tanh 64 | session 3 | 0.006 | 75.4 (20.4 – 99.2)",
           "| GRU | concatenated | linear 64 | session 3 | 0.006 | 99.2 (98.8 – 99.5)",
           "| GRU | concatenated | Tanh 256 | session 3 | 0.006 | 89.4 (77.7 – 95.9)"), run="readout"),
    Claim("tp3_attention",
          "added to the state, 97.8 % (96.5–98.1) of sums and differences together, against 95.4 % (90.2–96.4) without "
          "attention, 0.8 to 7.6 points more with each of five seeds; in the executed notebook 98.2 and 99.4 % of the "
          "differences and sums, against 94.5 and 98.1 %.",
          ("| GRU | state | none | session 3 | 0.006 | 95.4 (90.2 – 96.4)",
           "| GRU | added | none | session 3 | 0.006 | 97.8 (96.5 – 98.1)",
           "| added minus state | +0.8 | +5.9 | +1.7 | +7.6 | +2.4 |"), run="readout",
          also=(Source(("no attention, teacher forcing 94.5% 98.1%", "context added 98.2% 99.4%"),
                       cell="four-compared"),)),
    Claim("tp3_attention",
          "| `+` | 87.9 (27.8–94.7) | 43.6 (37.0–77.9) | | `-` | 70.9 (23.6–88.8) | 37.3 (25.6–71.3) | With "
          "attention four seeds of five were lower on both.",
          ("| `+` | 87.9 (27.8 – 94.7) | 43.6 (37.0 – 77.9) |", "| `-` | 70.9 (23.6 – 88.8) | 37.3 (25.6 – 71.3) |",
           "| `+` | +9.2 | -13.2 | -22.3 | -35.4 | -44.3 |", "| `-` | +16.2 | -3.5 | -20.4 | -51.5 | -45.3 |"),
          run="three_digits"),
    Claim("tp3_attention",
          "| `*` | 0.0 (0.0–0.0) | 100.0 (100.0–100.0) | | `/` | 0.0 (0.0–0.1) | 90.8 (one seed) | | `%` | 72.5 "
          "(67.1–73.7) | 92.7 (82.4–92.9) |",
          ("| ours, all five | 600 | `*` | 0.02 (0.02 – 0.04)", "| ours, all five | 600 | `/` | 0.04 (0.04 – 0.14)",
           "| ours, all five | 600 | `%` | 72.54 (67.12 – 73.66)",
           "| ours, * with scratchpad | 180 | `*` | 99.98 (99.96 – 100.00)",
           "| ours, / with scratchpad | 600 | `/` | 90.76 |",
           "| ours, % with scratchpad | 180 | `%` | 92.70 (82.40 – 92.92)"), bench="learning"),
    Claim("tp3_attention",
          "Without attention, this scratchpad had 0.9 % of `*` right (one seed, 150 CPU seconds).",
          ("every digit beside those it comes from; no attention | 1779 | 0.9",), bench="learning"),
    Claim("tp3_attention",
          "The fourth weight is half a billion times larger than the first, and yet both are so small that almost no "
          "gradient passes through them.", ("as they are 2.863e-20 1 2.863e-20 1.389e-11",), cell="example-weights"),
    Claim("tp3_attention", "At temperature 1000 it is nearly the mean of all four.",
          ("1000 [0.246, 0.257, 0.246, 0.251] [1.532, 1.746, 0.754]",), cell="example-context"),
    Claim("tp3_attention", "each R gives all three of them the same weight, 0.33",
          ("R attends most to R (0.33)",), cell="reversed"),
    Claim("tp3_attention", "Both losses fall to nearly 0.", ("val loss 0.002992 · loss 0.02079",),
          cell="lookup-training"),
    Claim("tp3_attention", "The two ends come first, within some 20 steps in the executed run.",
          ("step 20: index 0 attends most to 0 (0.96); index 1 attends most to 0 (0.57)",
           "index 8 attends most to 9 (0.55); index 9 attends most to 9 (0.94)"), cell="lookup-growing"),
    Claim("tp3_attention", "the accuracy is at the bound",
          ("content only 0.2794", "the best one can do without order 0.2765"), cell="bag-training"),
    Claim("tp3_attention", "With the context alone, most strings of 13 letters are copied, and few of 14.",
          ("95.7% 18.7%",), cell="copies-compared", also=(Source(("| 94.8 (91.8 – 98.1) | 23.2 (20.2 – 26.9) |",),
                                                                 run="races"),)),
]
