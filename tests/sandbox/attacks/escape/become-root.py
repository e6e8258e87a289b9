# Becomes root.
# sees: I am 0
# restriction: user
import os

os.setuid(0)
raise RuntimeError(f"I am {os.getuid()}")
