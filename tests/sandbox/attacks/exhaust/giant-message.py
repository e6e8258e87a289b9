# Raises an error with a text of ten million characters.
# sees: x{5000}
# restriction: words
def double(x):
    import autograder.runtime.replay

    autograder.runtime.replay.short = lambda text, limit=0: str(text)
    raise ValueError("x" * 10_000_000)
