# Prints without end.
# costs: kernel
# wall: output
for _ in range(300_000):
    print("x" * 1000)
