# Fills the disk with many files.
# sees: 6000 files are mine
# restriction: disk
for i in range(6000):
    with open(f"f{i}", "w") as f:
        f.write("x" * 4096)
raise RuntimeError("6000 files are mine")
