# Calls its process by bytes that are no text.
# costs: grade
# restriction: process names
import ctypes
import time

ctypes.CDLL(None).prctl(15, b"\xff\xfe")
until = time.monotonic() + 1
while time.monotonic() < until:
    pass
