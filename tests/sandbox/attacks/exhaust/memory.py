# Takes memory without end.
# costs: 2300 MiB
# restriction: memory
rows = []
while True:
    rows.append(b"x" * 50_000_000)
