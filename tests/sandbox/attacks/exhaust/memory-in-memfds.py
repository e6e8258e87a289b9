# Takes memory that no process has mapped.
# sees: 512 MiB of nobody
# restriction: filter
import os

held = []
while len(held) < 32:
    held.append(os.memfd_create("m"))
    os.write(held[-1], bytes(16 * 2**20))
raise RuntimeError("512 MiB of nobody")
