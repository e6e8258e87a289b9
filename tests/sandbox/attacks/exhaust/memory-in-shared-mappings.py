# Takes memory in shared mappings, and gives the pages back to nobody.
# sees: 512 MiB of nobody
# restriction: filter
import mmap

held = []
while len(held) < 8:
    held.append(mmap.mmap(-1, 64 * 2**20))
    held[-1].write(bytes(64 * 2**20))
    held[-1].madvise(mmap.MADV_DONTNEED)
raise RuntimeError("512 MiB of nobody")
