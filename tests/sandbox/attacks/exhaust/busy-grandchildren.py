# Lets sixty children's children compute in sessions of their own, and says that it has done nothing.
# leaves: processes
# restriction: reaper
import os

for _ in range(60):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                pass
        os._exit(0)
    os.wait()
