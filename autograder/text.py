"""Text for people: nouns with their numbers, what a program said last, and LaTeX for pages."""

import re


def counted(number: int, noun: str, many: str | None = None) -> str:
    """Return the number with its noun.

    ``many`` is the noun where there are none or several, if it is not just one with an s.
    """
    return f"{number} {noun if number == 1 else many or noun + 's'}"


def last_line(output: str) -> str:
    """Return the last line of what a program printed, which mostly says why it failed."""
    return (output.strip().splitlines() or ["no reason given"])[-1]


def latex_for_mathml(latex: str) -> str:
    """Return LaTeX in which `aligned`, which latex2mathml does not know, is `align*`, drawn in the same way."""
    return re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", latex)
