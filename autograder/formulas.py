"""LaTeX as latex2mathml can read it, for feedback pages and the site."""

import re


def convertible(latex: str) -> str:
    """Return LaTeX in which `aligned`, which the converter does not know, is `align*`, drawn in the same way."""
    return re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", latex)
