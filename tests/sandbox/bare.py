"""A kernel whose warm parent imports neither torch nor matplotlib, for tests of walls and bounds alone.

It is the kernel in all else, and starts in an eighth of the CPU time.
"""

from pathlib import Path

from autograder.sandbox import kernel

# A course need not have either.
LIBRARIES = "import torch\n\n        torch.set_num_threads", "import matplotlib\n\n        matplotlib.use"


def text() -> str:
    """Return the source of that kernel."""
    found = Path(kernel.__file__).read_text(encoding="utf-8")
    for lines in LIBRARIES:
        assert found.count(lines) == 1, f"the kernel has changed: {lines!r} stands there {found.count(lines)} times"
        found = found.replace(lines, f"raise ModuleNotFoundError\n        {lines}")
    return found
