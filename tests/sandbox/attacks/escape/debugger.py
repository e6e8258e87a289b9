# Attaches to another process as a debugger.
# sees: attached 0
# restriction: filter
import ctypes, os, time

other = os.fork()
if other == 0:
    time.sleep(2)
    os._exit(0)
raise RuntimeError(f"attached {ctypes.CDLL(None).ptrace(16, other, 0, 0)}")
