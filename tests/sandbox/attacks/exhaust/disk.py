# Fills the disk with one file.
with open("big", "wb") as f:
    while True:
        f.write(bytes(1_000_000))
