"""What session 4 says of its runs, and what each sentence rests on."""

from ..ledger import Claim, Source

CLAIMS = [
    Claim("tp4_inference",
          "We trained five seeds: all five gave the right answers to `581+495`, `94+8`, `7-512` and `86-8`, two of "
          "them to `999+999`, and none to `340-340`. Of the 2000 questions, 98.5 to 99.4 % of the additions were "
          "right, and 94.9 to 98.8 % of the subtractions.",
          ("| 0 | 98.5 | 94.9 | 1076 | 102 | -505 | 1898 | 10 | 78 |",
           "| 1 | 99.1 | 98.2 | 1076 | 102 | -505 | 1998 | -100 | 78 |",
           "| 2 | 98.5 | 98.7 | 1076 | 102 | -505 | 1898 | -100 | 78 |",
           "| 3 | 99.2 | 98.8 | 1076 | 102 | -505 | 1988 | -10 | 78 |",
           "| 4 | 99.4 | 98.5 | 1076 | 102 | -505 | 1998 | 00 | 78 |"), run="searches",
          also=(Source(("581+495 1076 1076 94+8 102 102 7-512 -505 -505", "86-8 78 78", "trained 0.9854 0.9487"),
                       cell="first-answers"),)),
    Claim("tp4_inference",
          "with five seeds, step 1 of `unfinished` was right in 85.8 to 88.9 % of the answers after a slip at step 0, "
          "and without a slip 94.1 to 96.8 % of the *whole* answers were right (so step 1 at least as often).",
          ("| unfinished | 95.4 (94.1 – 96.8) | 88.1 (85.8 – 88.9) |",), run="searches",
          also=(Source(("unfinished none 0.9825 0.962", "unfinished step 0 0.9825 0.858",
                        "trained step 0 0.9865 0.881"), cell="a-slip"),
                Source(("unfinished 0.941 0.858",), cell="train-sampled"))),
    Claim("tp4_inference",
          "In five runs of ours, whole answers were right in 97.9 % (96.6–98.9) after teacher forcing and in 97.7 % "
          "(96.5–98.8) after scheduled sampling (median, lowest, highest); after a slip, step 1 was right in 89.6 % "
          "(86.9–89.9) and in 89.6 % (87.4–90.3).",
          ("| teacher forcing | 97.9 (96.6 – 98.9) | 89.6 (86.9 – 89.9) |",
           "| scheduled sampling | 97.7 (96.5 – 98.8) | 89.6 (87.4 – 90.3) |"), run="searches",
          also=(Source(("+ teacher forcing 0.966 0.8695", "+ scheduled sampling 0.9645 0.874"),
                       cell="train-sampled"),)),
    Claim("tp4_inference",
          "We compared beams of two, three and five with greedy decoding on the first 150 questions, with five "
          "networks. All three beams had one right answer fewer with one network, two more with another, and as many "
          "with the other three. The 600 further steps with teacher forcing of part 6, in which the learning rate "
          "falls to 0, raised the share of right answers from 95.4 % (94.1–96.8) to 97.9 % (96.6–98.9) of the 2000 "
          "questions, by 1.9 to 2.8 points with each network.",
          (*(f"| beam of {width} minus greedy, answers of 150 | -1 | +0 | +2 | +0 | +0 |" for width in (2, 3, 5)),
           "| unfinished | 95.4 (94.1 – 96.8)", "| teacher forcing | 97.9 (96.6 – 98.9)",
           "| teacher forcing minus unfinished, right, points | +2.50 | +1.90 | +2.75 | +2.15 | +2.60 |"),
          run="searches"),
    Claim("tp4_inference", "At step 0 they are equal, because both read GO.",
          ("the right prefix 0.9825", "its own output 0.9825"), cell="exposure-bias"),
    Claim("tp4_inference", "In the last column, they are equal again:",
          ("unfinished the right prefix 0.9825 0.962 0.9936 1 1 0.941",
           "unfinished its own output 0.9825 0.9615 0.9878 0.9977 1 0.941",
           "trained the right prefix 0.9865 0.98 0.9984 1 1 0.9675",
           "trained its own output 0.9865 0.9795 0.9947 0.9985 1 0.9675"), cell="exposure-bias"),
    Claim("tp4_inference",
          "Width 2 also keeps *we*, and finds *we hope so*. Width 3 also keeps *yes*, which is short and has the best "
          "plain sum. Normalised by length, *we hope so* is first again.",
          ("1 0 it rains -1.889", "2 0 we hope so -1.358", "3 0 yes -1.324", "3 1 we hope so -0.3395"),
          cell="beam-words"),
    Claim("tp4_inference",
          "In a table of ours for 0.4, 0.35, 0.25 it does worse: 0.1 for greedy decoding, 0.0044 for a beam of two.",
          ("a good 1 0.1", "0.004375"), cell="beam-loses"),
    Claim("tp4_inference",
          "Compare your two counts: no better search for the most probable answer can correct a model error.",
          ("2 search errors, 51 model errors", "2 0.947 1 1", "3 0.947 1 1", "5 0.947 1 1"), cell="beam-numbers"),
    Claim("tp4_inference",
          "So in some answers this one wrong digit changes the next one; in most it does not.",
          ("| unfinished | 95.4 (94.1 – 96.8) | 88.1 (85.8 – 88.9) |",), run="searches"),
    Claim("tp4_inference",
          "Seed by seed, scheduled sampling differs by −0.45 to 0.25 points in whole answers, and by −0.15 to 0.45 "
          "points after a slip. Both signs occur: these runs do not show that scheduled sampling helps in this task.",
          ("| scheduled sampling minus teacher forcing, right, points | -0.15 | -0.05 | -0.45 | -0.10 | +0.25 |",
           "| scheduled sampling minus teacher forcing, step 1 right after a slip, points | +0.45 | -0.15 | -0.05 "
           "| -0.05 | +0.45 |"), run="searches"),
]
