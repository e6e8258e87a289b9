"""What session 4 says of its runs, and what each sentence rests on."""

from ..ledger import Claim, Source

CLAIMS = [
    Claim("tp4_inference",
          "Of the six answers, five were right in our run: the network wrote 1898 for `999+999`. Of the 2000 "
          "questions, 99.4 % of the additions were right and 97.6 % of the subtractions.",
          ("581+495 1076 1076 94+8 102 102 7-512 -505 -505 999+999 1898 1998 340-340 0 0 86-8 78 78",
           "trained 0.9941 0.9757"), cell="first-answers"),
    Claim("tp4_inference",
          "In the last column, they are equal again: up to its first wrong character, an answer has read the same "
          "prefix in both programs, so both have the same first error.",
          ("unfinished the right prefix 0.989 0.9295 0.998 1 1 0.921",
           "unfinished its own output 0.989 0.9275 0.9864 0.9974 1 0.921",
           "trained the right prefix 0.9975 0.987 1 1 1 0.985",
           "trained its own output 0.9975 0.9875 0.998 1 1 0.985"), cell="exposure-bias"),
    Claim("tp4_inference",
          "In our run, step 2 of `unfinished` was right in 99.8 % of the answers after the right prefix, and in 98.6 % "
          "after its own output.",
          ("unfinished the right prefix 0.989 0.9295 0.998 1 1 0.921",
           "unfinished its own output 0.989 0.9275 0.9864 0.9974 1 0.921"), cell="exposure-bias"),
    Claim("tp4_inference",
          "At the step right after it, the accuracy falls by 5 to 10 points in our run. The steps after that are right "
          "again in more than 99 % of the answers.",
          ("unfinished none 0.989 0.9295 0.998 1 1", "unfinished step 0 0.989 0.884 0.9955 1 1",
           "unfinished step 1 0.989 0.9295 0.8989 0.9984 1", "trained none 0.9975 0.987 1 1 1",
           "trained step 0 0.9975 0.9285 0.9995 1 1", "trained step 1 0.9975 0.987 0.8999 0.9989 1"), cell="a-slip"),
    Claim("tp4_inference",
          "In three runs of ours, whole answers were right in 96.1 % (69.9–97.4) after teacher forcing and in 95.6 % "
          "(69.1–97.5) after scheduled sampling (median, lowest, highest); after a slip, step 1 was right in 90.4 % "
          "(86.8–90.4) and in 90.5 % (87.8–90.6).",
          ("| teacher forcing | 96.1 (69.9 – 97.4) | 90.4 (86.8 – 90.4) |",
           "| scheduled sampling | 95.6 (69.1 – 97.5) | 90.5 (87.8 – 90.6) |"), run="searches",
          also=(Source(("+ teacher forcing 0.972 0.9235", "+ scheduled sampling 0.9685 0.9225"),
                       cell="train-sampled"),)),
    Claim("tp4_inference",
          "In our run 81 of the 1000 greedy answers were wrong: 4 search errors, 77 model errors. A beam of two "
          "rescued four questions and spoilt two, and wider beams changed nothing more. On `46-230` greedy decoding "
          "wrote -186 and the beam -184.",
          ("1 0.919 0 0", "2 0.921 4 2", "3 0.921 4 2", "5 0.921 4 2",
           "81 greedy answers are wrong: 4 search errors, 77 model errors",
           "46-230 = -184; greedy decoding: -186, a beam of three: -184"), cell="beam-numbers"),
    Claim("tp4_inference",
          "With three networks of ours, and the first 150 questions, a beam of two had 86.7 % (56.0–90.0) of the "
          "answers right and greedy decoding 86.7 % (51.3–89.3); beams of three and five had no more than a beam of "
          "two.",
          ("| 1 | 86.7 (51.3 – 89.3) |", "| 2 | 86.7 (56.0 – 90.0) |", "| 3 | 86.7 (56.0 – 90.0) |",
           "| 5 | 86.7 (56.0 – 90.0) |"), run="searches"),
]
