# Takes memory in many processes, each below the bound.
# costs: 2300 MiB
# restriction: memory
import os

for _ in range(8):
    if os.fork() == 0:
        hog = b"x" * 400_000_000
        while True:
            pass
while True:
    pass
