# Takes memory in shared mappings, and gives the pages back to nobody.
import mmap

held = []
while True:
    held.append(mmap.mmap(-1, 64 * 2**20))
    held[-1].write(bytes(64 * 2**20))
    held[-1].madvise(mmap.MADV_DONTNEED)
