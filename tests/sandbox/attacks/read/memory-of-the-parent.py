# Reads the memory of the process above.
# sees: the mark
# restriction: beneath
import os, re

above = f"/proc/{os.getppid()}"
with open(f"{above}/mem", "rb", buffering=0) as memory:
    for line in open(f"{above}/maps"):
        if "rw-p" in line and "/" not in line:
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            memory.seek(start)
            found = re.search(rb"marked-\w+", memory.read(end - start))
            if found:
                raise RuntimeError(found[0])
