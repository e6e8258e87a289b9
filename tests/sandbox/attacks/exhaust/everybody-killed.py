# Kills every process that it may.
import os, signal

os.kill(-1, signal.SIGKILL)
