# Takes memory that no process has mapped.
import os

held = []
while True:
    held.append(os.memfd_create("m"))
    os.write(held[-1], bytes(16 * 2**20))
