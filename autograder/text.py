"""Parts of messages: nouns with their numbers, and what a program said last."""


def counted(number: int, noun: str, many: str | None = None) -> str:
    """Return the number with its noun.

    ``many`` is the noun where there are none or several, if it is not just one with an s.
    """
    return f"{number} {noun if number == 1 else many or noun + 's'}"


def last_line(output: str) -> str:
    """Return the last line of what a program printed, which mostly says why it failed."""
    return (output.strip().splitlines() or ["no reason given"])[-1]
