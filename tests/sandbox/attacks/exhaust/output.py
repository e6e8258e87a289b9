# Prints without end.
# costs: kernel
# restriction: output
for _ in range(3_000):
    print("x" * 100_000)
