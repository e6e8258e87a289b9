"""What a test lets worker processes do in the place of judging; they import it by name."""

import json
import os
import signal
from pathlib import Path


def judge_or_die(data, *rest):
    """A verdict from the file that ``CANNED_VERDICT`` names; ``kill me`` in a submission kills the process, as a lack of memory would."""
    if b"kill me" in data:
        os.kill(os.getpid(), signal.SIGKILL)
    return json.loads(Path(os.environ["CANNED_VERDICT"]).read_text())
