# Writes bytes that are no message into every open file, the grader's socket among them.
# costs: grade
# restriction: wire
import os

for fd in range(3, 64):
    try:
        os.write(fd, (5000).to_bytes(4, "big") + os.urandom(5000))
    except OSError:
        pass
