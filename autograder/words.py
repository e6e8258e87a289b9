"""English where it bends: one file, two files."""


def counted(number: int, noun: str) -> str:
    """The number with its noun, which takes an s where there are none or several."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
