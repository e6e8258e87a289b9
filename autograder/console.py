"""Where the command begins: Ctrl-C ends it in one line also while the rest is being imported."""

import os
import signal
from typing import Any


def main() -> int:
    """Run the command line; return its exit status."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else whoever began us has it ignored
        signal.signal(signal.SIGINT, _stop)
    from . import cli

    signal.signal(signal.SIGINT, before)
    return cli.main()


def _stop(number: int, frame: Any) -> None:
    os.write(2, b"\nautograder: stopped\n")
    os._exit(130)
