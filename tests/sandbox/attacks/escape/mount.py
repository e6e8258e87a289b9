# Mounts, and takes mounts away.
import ctypes

libc = ctypes.CDLL(None)
print(
    libc.mount(b"/", b"/scratch", None, 4096, None),
    libc.umount2(b"/scratch", 2),
    libc.mount(b"none", b"/", None, 32 | 4096, None),
    libc.pivot_root if hasattr(libc, "pivot_root") else "",
)
