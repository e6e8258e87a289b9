# Makes namespaces of its own, in which it would have rights.
# sees: mounted 0
# restriction: filter
import ctypes

libc = ctypes.CDLL(None)
libc.unshare(0x10000000 | 0x20000)
raise RuntimeError(f"mounted {libc.mount(b'none', b'/course', b'tmpfs', 0, None)}")
