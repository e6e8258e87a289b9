# Fills the disk with many files.
i = 0
while True:
    i += 1
    open(f"f{i}", "w").write("x" * 4096)
