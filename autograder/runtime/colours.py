"""Colours of numbers: orange below zero, white at zero, purple above, which differ for every kind of colour vision."""

from collections.abc import Sequence

DIVERGING = ("#6B2A00", "#B34700", "#F0B98F", "#FFFFFF", "#C79FDB", "#7A2E9D", "#2E0B45")


def diverging(share: float) -> str:
    """Return the colour of a number between −1 and 1, as "#RRGGBB"."""
    position = (max(-1.0, min(1.0, share)) + 1) / 2 * (len(DIVERGING) - 1)
    index = min(int(position), len(DIVERGING) - 2)
    low, high = (parts(colour) for colour in DIVERGING[index : index + 2])
    mixed = (start + (end - start) * (position - index) for start, end in zip(low, high, strict=True))
    return "#" + "".join(f"{round(255 * part):02X}" for part in mixed)


def parts(colour: str) -> list[float]:
    """Return red, green and blue of "#RRGGBB", from 0 to 1."""
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def luminance(colour: Sequence[float]) -> float:
    """Return the luminance, from 0 (black) to 1 (white), of an sRGB colour with parts from 0 to 1 (WCAG 2.2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink_on(colour: Sequence[float]) -> str:
    """Return black or white, whichever reads better on this RGB colour with parts from 0 to 1.

    The contrast, (L₁ + 0.05) / (L₂ + 0.05) of the two luminances (WCAG 2.2), is at least 4.5.
    """
    return "black" if luminance(colour) + 0.05 > (1.05 * 0.05) ** 0.5 else "white"
