# Prints without end.
# costs: kernel
# wall: output
for _ in range(3_000):
    print("x" * 100_000)
