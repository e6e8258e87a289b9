# Reads the machine's memory and writes to its disk.
open("/dev/mem", "rb").read(1)
open("/dev/sda", "wb")
