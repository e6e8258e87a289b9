# Reads the machine's memory, its disk, and what other programs share in memory.
# sees: the mark
# restriction: devices
import glob

found = []  # several tests may share the machine's memory at the same time
for name in ("/dev/mem", "/dev/sda", *glob.glob("/dev/shm/*")):
    try:
        text = open(name, "rb").read(100)
    except OSError:
        continue
    if b"marked-" in text:
        found.append(text)
if found:
    raise RuntimeError(found)
