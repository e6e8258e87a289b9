# Leaves files in memory that is shared.
# leaves: os.path.exists("/dev/shm/x")
# restriction: scratch
import mmap, os

for f in ("/dev/shm/x", "/tmp/x"):
    try:
        open(f, "w").write("x")
    except OSError:
        pass
