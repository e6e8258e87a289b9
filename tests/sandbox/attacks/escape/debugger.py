# Attaches to the process above as a debugger.
import ctypes, os

print(ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0))
