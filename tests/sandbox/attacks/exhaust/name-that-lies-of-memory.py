# Calls its processes by a line that says how little memory they hold.
# sees: 2400 MiB held
# restriction: process names
import ctypes
import os
import time

reader, writer = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, b"\x0bVmRSS:\t-999999")
        held = bytearray(b"x") * (600 * 2**20)
        os.write(writer, b"x")
        time.sleep(60)
for _ in range(4):
    os.read(reader, 1)
time.sleep(1)
raise RuntimeError("2400 MiB held")
