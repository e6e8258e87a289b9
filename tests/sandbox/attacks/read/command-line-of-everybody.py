# Lists all processes and how they were called.
# sees: the mark
# restriction: beneath
import glob

raise RuntimeError([line for line in (open(f).read() for f in glob.glob("/proc/*/cmdline")) if "marked" in line])
