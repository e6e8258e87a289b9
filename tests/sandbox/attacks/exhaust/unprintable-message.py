# Raises an error whose text drives terminals and pages.
# sees: \x1b\[2J
# restriction: words
def double(x):
    import autograder.runtime.replay

    autograder.runtime.replay.short = lambda text, limit=0: str(text)
    raise ValueError("\x00\x1b[2J\ud800<script>alert(1)</script>")
