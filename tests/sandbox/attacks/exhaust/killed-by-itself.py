# Kills the kernel.
# costs: grade
# wall: together
import os, signal

os.kill(os.getpid(), signal.SIGKILL)
