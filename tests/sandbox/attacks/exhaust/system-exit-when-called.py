# Leaves as a program does when it is called.
def double(x):
    raise SystemExit(0)
