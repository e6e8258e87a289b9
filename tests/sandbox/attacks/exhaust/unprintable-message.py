# Raises an error whose text drives terminals and pages.
def double(x):
    raise ValueError("\x00\x1b[2J\ud800<script>alert(1)</script>")
