# Prints without end.
for _ in range(300_000):
    print("x" * 1000)
