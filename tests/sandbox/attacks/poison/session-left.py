# Leaves the session and the parent, overrides the exit, and goes on.
# leaves: processes
# restriction: reaper
import ctypes, os, time

os.setsid()
ctypes.CDLL(None).prctl(1, 0)
os._exit = lambda status: time.sleep(1000)
for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        while True:
            time.sleep(1)
