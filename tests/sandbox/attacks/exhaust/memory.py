# Takes memory without end.
rows = []
while True:
    rows.append(bytearray(50_000_000))
