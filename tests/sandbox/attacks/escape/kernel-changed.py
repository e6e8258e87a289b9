# Changes the file that the kernel was started from.
open("/kernel.py", "a").write("x")
