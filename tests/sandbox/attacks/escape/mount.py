# Mounts something else over the course.
# sees: mounted 0
# restriction: rights
import ctypes

libc = ctypes.CDLL(None)
raise RuntimeError(f"mounted {libc.mount(b'none', b'/course', b'tmpfs', 0, None)}")
