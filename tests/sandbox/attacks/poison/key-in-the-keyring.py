# Leaves a key in the keyrings of the system's kernel, which no namespace closes in, for a minute.
# leaves: keyctl(10, -3, b"user", b"mine", 0) > 0
# restriction: filter
import ctypes, os

add_key, keyctl = (217, 219) if os.uname().machine == "aarch64" else (248, 250)
for ring in (-1, -2, -3, -4, -5):
    key = ctypes.CDLL(None).syscall(add_key, b"user", b"mine", b"marked", 6, ring)
    ctypes.CDLL(None).syscall(keyctl, 15, key, 60)
