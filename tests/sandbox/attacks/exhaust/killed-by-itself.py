# Kills the kernel.
import os, signal

os.kill(os.getpid(), signal.SIGKILL)
