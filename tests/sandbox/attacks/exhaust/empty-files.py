# Makes empty files without end, which take no room on the disk and much in the system's memory.
# sees: 20000 files are mine
# restriction: file names
for i in range(20_000):
    open(f"f{i}", "w").close()
raise RuntimeError("20000 files are mine")
