# Raises an error with a text of ten million characters.
def double(x):
    raise ValueError("x" * 10_000_000)
