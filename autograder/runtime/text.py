"""Text for people: nouns and numbers, one line of something longer, and LaTeX for pages."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any


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


def short(text: object, limit: int = 120) -> str:
    """Return a text in one line of at most ``limit`` characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def first_lines(lines: Sequence[str], limit: int) -> list[str]:
    """Return at most ``limit`` of some lines, and behind them how many more there are."""
    return [*lines[:limit], *([f"and {len(lines) - limit} more"] if len(lines) > limit else [])]


def printable(text: Any, limit: int = 120) -> str:
    """Return the printable characters of a text from elsewhere, at most ``limit``; an empty text if it is none."""
    return "".join(c for c in text if c.isprintable())[:limit] if isinstance(text, str) else ""


def with_article(noun: str) -> str:
    """Return the noun with its article."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"


def significant(value: float | complex, digits: int = 4) -> str:
    """Return a number as people write it: 0.9286, 12340, 0.00001.

    Powers of ten only where there would be many zeros.
    """
    text = f"{value:.{digits}g}"
    return f"{Decimal(text):f}" if "e" in text and isinstance(value, float) and 1e-6 < abs(value) < 1e9 else text


def decimals(value: float, digits: int = 2) -> str:
    """Return a number, such as points, with at most so many decimals, one or more: 123.46, 6."""
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def points_text(points: float, maximum: float) -> str:
    """Return points as people read them: 14.33 of 20 points."""
    return f"{decimals(points)} of {decimals(maximum)} points"
