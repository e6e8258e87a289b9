# Gives files lists of who may read them, whose memory no process is charged for.
# sees: 32 MiB of nobody
# restriction: filter
import os
import struct


def entry(kind, who=0xFFFFFFFF):
    return struct.pack("<HHI", kind, 7, who)


everybody = struct.pack("<I", 2) + entry(1) + entry(2, os.getuid()) * 8000 + entry(4) + entry(16) + entry(32)
for i in range(512):
    open(f"{i}", "w").close()
    os.setxattr(f"{i}", "system.posix_acl_access", everybody)
raise RuntimeError("32 MiB of nobody")
