"""The entry point of the command: Ctrl-C ends it with one line, also while modules are imported."""

import os
import signal
from typing import Any


def main() -> int:
    """Run the command line; return its exit status."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # otherwise the program that started this one ignores it
        signal.signal(signal.SIGINT, _stop)
    from . import cli

    signal.signal(signal.SIGINT, handler)
    return cli.main()


def _stop(number: int, frame: Any) -> None:
    os.write(2, b"\nautograder: stopped\n")
    os._exit(130)
