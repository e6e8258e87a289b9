# Changes the file that the kernel was started from.
# changes: kernel
# restriction: kernel file
open("/kernel.py", "a").write("# mine")
