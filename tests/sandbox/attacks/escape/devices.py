# Reads the machine's memory, its disk, and what other programs share in memory.
# sees: the mark
# wall: devices
import glob

for name in ("/dev/mem", "/dev/sda", *glob.glob("/dev/shm/*")):
    try:
        text = open(name, "rb").read(100)
    except OSError:
        continue
    if b"marked-" in text:
        raise RuntimeError(text)
