# Makes empty files without end, which take no room on the disk and much in the system's memory.
i = 0
while True:
    i += 1
    open(f"f{i}", "w").close()
