# Makes namespaces of its own, in which it would have rights.
import ctypes

ctypes.CDLL(None).unshare(0x10000000 | 0x20000)
open("/course/tp/mine", "w")
