# Fills the disk with one file.
# sees: 32 MB are mine
# restriction: disk
with open("big", "wb") as f:
    while f.tell() < 32_000_000:
        f.write(bytes(1_000_000))
        f.flush()
raise RuntimeError("32 MB are mine")
