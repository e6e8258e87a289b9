"""What tests let an executor do in the place of judging on worker processes; those import it by name."""

import os
import signal
from concurrent.futures import Future
from pathlib import Path

from autograder.judging.verdict import Verdict, from_json


class Here:
    """An executor that works in this process, with the judge that a test puts there."""

    def submit(self, function, *args):
        """The result, at once, as a future."""
        future = Future()
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future


def judge_or_die(course, handed, seed, terms):
    """The verdict in the file that ``CANNED_VERDICT`` names.

    ``kill me`` in a submission kills the process, as a lack of memory would.
    """
    if b"kill me" in handed.data:
        os.kill(os.getpid(), signal.SIGKILL)
    path = Path(os.environ["CANNED_VERDICT"])
    return from_json(path.read_bytes(), Verdict, str(path))
