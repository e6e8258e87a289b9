"""The GPU memory of kernels, as the driver counts it."""

import shutil
import subprocess
from collections.abc import Collection

CONTEXT = 2**30  # bytes: what CUDA itself takes of the GPU for each process, before anything is computed


def gpu_bytes(pids: Collection[int]) -> int:
    """Return the bytes on the GPU of these processes; 0 where the driver does not tell, as in some containers."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return 0
    command = [program, "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    try:
        table = subprocess.run(command, capture_output=True, text=True, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0
    rows = [line.split(",") for line in table.splitlines() if line.count(",") == 1]
    used = {int(pid): int(mebibytes) for pid, mebibytes in rows
            if pid.strip().isdigit() and mebibytes.strip().isdigit()}
    return sum(max(0, 2**20 * mebibytes - CONTEXT) for pid, mebibytes in used.items() if pid in pids)
