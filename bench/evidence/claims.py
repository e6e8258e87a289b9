"""The sentences of the course that say what was seen, and what they rest on."""

from .ledger import Claim

RUNS = ["readout", "one_hot"]

CLAIMS = [
    Claim("tp1_recurrence",
          "In our run the GRU then found the long rule with all three seeds: 100 % of the verbs at every distance. "
          "With "
          "one noun in between, the LSTM had between 10 and 100 %, and the plain RNN between 12 and 68 %.",
          ("RNN 1 (1 – 1) 0.432 (0.12 – 0.675)", "GRU 1 (1 – 1) 1 (1 – 1) 1 (1 – 1) 1 (1 – 1)",
           "LSTM 1 (1 – 1) 0.533 (0.1 – 1)"), cell="train-gated"),
    Claim("tp2_attention",
          "In our run it had 27.94 %, and the bound is 27.65 %.",
          ("content only 0.2794", "the best one can do without order 0.2765"), cell="bag-training"),
    Claim("tp3_seq2seq",
          "In the benchmark of this course the classic recipe gets 100 seconds of a core: the middle one of three "
          "runs we "
          "measured has 8.9 % of the sums and 6.3 % of the differences, and next to nothing of the products and "
          "quotients.",
          ("classic GRU, 256 units | 100 | `+` | 8.86", "classic GRU, 256 units | 100 | `-` | 6.28",
           "classic GRU, 256 units | 100 | `*` | 0.10", "classic GRU, 256 units | 100 | `/` | 0.16"), bench="learning"),
    Claim("tp3_seq2seq",
          "In our run `94+8` was a near thing: after the `2` it gave `0` a probability of 0.62, and `9` one of 0.37.",
          ("2 2 0 0.616 9 (0.374)",), cell="explore"),
    Claim("tp3_seq2seq",
          "On numbers of two digits, 1200 steps and three seeds each, we measured: with the embedding 96 % (91 to 96), "
          "with one-hot rows 84 % (79 to 85), with the long one-hot rows 98 % (97 to 99).",
          ("| embedding, 32 numbers | 95.7 (91.3 – 96.4)", "| one-hot | 84.2 (79.5 – 85.1)",
           "| one-hot × √32 | 98.3 (97.4 – 98.7)"), run="one_hot"),
    Claim("tp4_decoder_attention",
          "In one run of these 1200 steps we had (yours will differ a little): | model | sums | differences | "
          "|---|---|---| | no attention, teacher forcing | 98.1 % | 94.5 % | | no attention, free running | 98.5 % | "
          "94.7 % | | context alone, teacher forcing | 9.7 % | 15.2 % | | context alone, free running | 12.6 % | "
          "9.6 % |",
          ("no attention, teacher forcing 94.5% 98.1%", "no attention, free running 94.7% 98.5%",
           "context alone, teacher forcing 15.2% 9.7%", "context alone, free running 9.6% 12.6%"),
          cell="four-compared"),
    Claim("tp4_decoder_attention",
          "In our run the answer to `57+68` was right, and the map was odd: the units looked at `7` and at nothing "
          "else, "
          "although they depend on `8` just as much; then the decoder looked at `5`, then at `+`.",
          ("57+68 → 125. 5 looks most at 7 (1.00); 2 looks most at 5 (1.00); 1 looks most at + (1.00)",), cell="where"),
    Claim("tp4_decoder_attention",
          "In our run, after 400 steps, the model without attention copied 57 % of the strings of 6 letters, 9 % of "
          "those "
          "of 10, none of 13. With each letter more, one more thing must fit into the same vector. Concatenated, it "
          "was "
          "92 to 100 % at *every* length.",
          ("no attention 57.3% 47.9% 26.1% 10.7% 8.6% 3.2% 0.0% 0.0% 0.0%",
           "concatenated 100.0% 100.0% 99.1% 100.0% 98.6% 99.1% 99.0% 98.1% 92.1%"), cell="copies-compared"),
    Claim("tp4_decoder_attention",
          "One more measurement, made apart from this notebook. No decoder of ours says a *product* such as "
          "`487*623` at "
          "once: one answer in a thousand is right. Let it write its working first, each digit beside those that it "
          "comes "
          "from. Without attention, one answer in a hundred is then right. With attention to the question and to "
          "what it "
          "has written itself, practically all are right, after three minutes of training.",
          ("ours, * with working | 180 | `*` | 99.98 (99.98 – 100.00)",
           "every digit beside those it comes from; no attention | 1779 | 0.9"), bench="learning"),
    Claim("tp4_decoder_attention",
          "| state, no attention | 96 (91–96) | | | 12 (9–14) | | | state and context, side by side | 99 (99–99) | "
          "99 (99–99) | 11 (10–41) | 10 (9–10) | 84 (78–95) | | state and context, added | 97 (97–98) | | | | | "
          "| context alone | 3 (2–8) | | | | |",
          ("| GRU | state | none | TP 4 | 0.006 | 95.7 (91.3 – 96.4)",
           "| GRU | state | Tanh 64 | TP 4 | 0.006 | 11.7 (8.8 – 14.4)",
           "| GRU | concatenated | none | TP 4 | 0.006 | 98.9 (98.6 – 99.5)",
           "| GRU | concatenated | linear 64 | TP 4 | 0.006 | 99.2 (98.8 – 99.3)",
           "| GRU | concatenated | ReLU 64 | TP 4 | 0.006 | 11.2 (10.4 – 41.0)",
           "| GRU | concatenated | Tanh 64 | TP 4 | 0.006 | 9.5 (8.5 – 10.4)",
           "| GRU | concatenated | Tanh 256 | TP 4 | 0.006 | 84.2 (77.7 – 95.0)",
           "| GRU | added | none | TP 4 | 0.006 | 97.2 (96.5 – 98.1)",
           "| GRU | context | none | TP 4 | 0.006 | 2.5 (1.5 – 7.5)"), run="readout"),
    Claim("tp4_decoder_attention",
          "When it ends, 86 to 91 % of what goes into the 64 tanh units is beyond ±2",
          ("| GRU | concatenated | Tanh 64 | TP 4 | 0.006 | 9.5 (8.5 – 10.4) | 0.61 (0.60 – 0.62) | 89 (86 – 91) |",),
          run="readout"),
    Claim("tp4_decoder_attention",
          "With an LSTM in the place of the GRU, the same decoder got away from there within the 1200 steps, or not, "
          "as the seed would have it: 20 to 75 %.",
          ("| LSTM | concatenated | Tanh 64 | TP 4 | 0.006 | 59.4 (20.4 – 75.4)",), run="readout"),
    Claim("tp5_inference",
          "In our run all four widths came out alike, with 88 % of the 150 answers right.",
          ("1 -0.4136 0.88", "2 -0.4136 0.88", "3 -0.4136 0.88", "5 -0.4136 0.88"), cell="beam-numbers"),
    Claim("tp5_inference",
          "In our run the three seeds without attention had between 88 and 91 % of the answers, those with the layer "
          "alone between 55 and 93 %, those with attention between 20 and 93 %.",
          ("without attention 0.901 (0.882 – 0.914)", "without attention, with the layer 0.8 (0.55 – 0.929)",
           "with attention 0.477 (0.195 – 0.927)"), cell="train-attention"),
    Claim("tp7_transformer",
          "In a run of ours (600 steps, one seed, operands from 1 on) 99.5 % of 200 products were right with every "
          "digit "
          "beside its parents, 64 % as on paper, and none without a working. A recurrent model without attention "
          "had 1.7 % "
          "with the working on paper.",
          ("99.5 % in 46 CPU seconds with every digit beside those it comes from, 64 % in 34 s as on paper",
           "as one writes them on paper; no attention | 3392 | 1.7"), bench="learning"),
    Claim("tp3_seq2seq",
          "In our run all levers together had 68.6 % of the sums. Without the order of the answer 9.4 % were left, "
          "without the order of the question 1.4 %, without the embedding 1.8 %.",
          ("all levers 68.6%", "answer written forwards 9.4%", "question read forwards 1.4%", "no embedding 1.8%"),
          cell="ablation"),
    Claim("tp6_translation",
          "In our run 99.1 % of the French words of the plain decoder looked at a gold word, and 93.1 % of those of "
          "the "
          "paper's.",
          ("99.1% of the French words", "93.1% of the French words"), cell="scored-alignment"),
    Claim("tp7_transformer",
          "In our runs (250 steps, three seeds) learned rows and rotary were right everywhere on 16 places; on 64, "
          "where "
          "the guess is 10 %, rotary had about 69 %, and the learned rows 35 %",
          ("learned 100 (100–100) 55 (55–55) 35 (34–35)", "rotary 100 (100–100) 100 (100–100) 69 (67–69)"),
          cell="which-positions"),
    Claim("tp7_transformer",
          "How well the best head aligns differs much from run to run: in our run it found 84.6 % of the words, other "
          "seeds found more.",
          ("0 50.6% 78.4% 78.1% 84.6%",), cell="heads-found"),
]
