# Leaves files in memory that is shared.
import mmap, os

for f in ("/dev/shm/x", "/tmp/x"):
    try:
        open(f, "w").write("x")
    except OSError:
        pass
