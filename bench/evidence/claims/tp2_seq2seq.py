"""What session 2 says of its runs, and what each sentence rests on."""

from ..ledger import Claim

EVEN = ("| short numbers as often as long ones | 6000 | 98.6 (97.8 – 99.8) | 96.8 (95.3 – 97.9) "
        "| 100.0 (100.0 – 100.0) |")
ANSWERED = tuple(f"| short numbers as often as long ones, seed {seed} | 102 | 1000 |" for seed in range(5))
ALL = "| all levers | 2500 | 86.2 (86.0 – 86.5) | 78.5 (74.3 – 82.7) |"
FORWARDS = "| answer written forwards | 2500 | 48.3 (48.1 – 48.4) | 47.7 (46.5 – 49.0) |"

CLAIMS = [
    Claim("tp2_seq2seq",
          "We measured five seeds: all five answered 102 to `94+8` and 1000 to `999+1`, and 98 to 100 % of the "
          "held-out sums and 95 to 98 % of the differences were right.", (EVEN, *ANSWERED), run="calculators"),
    Claim("tp2_seq2seq", "all five answered 102 to `94+8` and 1000 to `999+1`", ("94+8 = 102", "999+1 = 1000"),
          cell="your-own"),
    Claim("tp2_seq2seq",
          "With all numbers equally frequent (lever 4 taken away, all else the same), one of the five seeds answered "
          "902 to `94+8`; of the sums in which a number has one digit, 85 to 98 % were right in our runs, with "
          "lever 4 all of them.",
          (EVEN, "| all numbers equally frequent | 6000 | 94.3 (91.8 – 98.6) | 90.1 (88.3 – 97.5) "
           "| 90.4 (84.8 – 97.9) |", "| all numbers equally frequent, seed 0 | 902 | 1000 |",
           *(f"| all numbers equally frequent, seed {seed} | 102 | 1000 |" for seed in range(1, 5))),
          run="calculators"),
    Claim("tp2_seq2seq",
          "On numbers of two digits, with another recipe (1200 steps, five seeds), we measured: with the embedding "
          "95 % (90 to 96), with one-hot rows 80 % (73 to 85), with the long one-hot rows 98 % (96 to 99).",
          ("| embedding, 32 numbers | 95.4 (90.2 – 96.4)", "| one-hot | 79.5 (73.0 – 85.1)",
           "| one-hot × √32 | 98.0 (96.0 – 98.7)"), run="one_hot"),
    Claim("tp2_seq2seq",
          "We measured two of the levers, with two seeds each: the mean, in brackets both runs. | recipe, 2500 steps | "
          "sums, % | differences, % | answers to `999+1` | |---|---|---|---| | all levers | 86 (86, 86) | 79 (74, 83) "
          "| 1000, 1000 | | answer written forwards | 48 (48, 48) | 48 (46, 49) | 1000, 1000 | | question read "
          "forwards | 53 (43, 63) | 49 (46, 53) | 990, 901 |",
          (ALL, FORWARDS, "| question read forwards | 2500 | 53.0 (43.0 – 63.0) | 49.4 (45.8 – 53.1) |",
           "| all levers, 2500 steps | 102, 102 | 1000, 1000 |",
           "| answer written forwards, 2500 steps | 102, 102 | 1000, 1000 |",
           "| question read forwards, 2500 steps | 102, 102 | 990, 901 |"), run="levers"),
    Claim("tp2_seq2seq",
          "exact match rises from 48 to 86 % of the sums and from 48 to 79 % of the differences (means of two seeds).",
          (ALL, FORWARDS), run="levers"),
]
