"""The entry point of the command, which Ctrl-C ends with one line even while modules are imported."""

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
