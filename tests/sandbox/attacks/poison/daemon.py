# Leaves a process behind that belongs to nobody.
# leaves: processes
# restriction: reaper
import os, time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(1)
    os._exit(0)
