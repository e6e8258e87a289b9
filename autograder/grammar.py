"""Pluralise nouns: 1 file, 2 files."""


def counted(number: int, noun: str, many: str | None = None) -> str:
    """Return the number with its noun.

    ``many`` is the noun where there are none or several, if it is not just one with an s.
    """
    return f"{number} {noun if number == 1 else many or noun + 's'}"
