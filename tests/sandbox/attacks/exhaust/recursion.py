# Calls itself without end.
def f():
    return f()


f()
