# Becomes root.
# sees: I am 0
# wall: user
import os

os.setuid(0)
raise RuntimeError(f"I am {os.getuid()}")
