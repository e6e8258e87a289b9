"""Commands as a shell runs them: each in a fresh process, forked from one that has imported what most of them need."""

import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

from autograder import cli

WARM = multiprocessing.get_context("forkserver")
WARM.set_forkserver_preload(["autograder.cli", "torch", "autograder.model.oracle", "autograder.publish.release",
                             "nbclient", "nbgrader.preprocessors", "nbgrader.api", "nbgrader.apps"])


def typed(*words, folder):
    """Type a command, of `autograder` or of `nbgrader`, in a folder: (exit status, its output, its errors)."""
    with tempfile.TemporaryDirectory() as place:
        out, err = Path(place, "out"), Path(place, "err")
        process = WARM.Process(target=_run, args=([*map(str, words)], folder, out, err))
        process.start()
        process.join()
        return process.exitcode, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")


def _run(words, folder, out, err):
    os.environ.pop("PYTHONPATH", None)
    multiprocessing.set_start_method("fork", force=True)  # as where a shell starts it, and not as it was started here
    os.chdir(folder)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    sys.argv = words
    if words[0] == "nbgrader":
        from nbgrader.apps.nbgraderapp import main

        sys.exit(main())
    sys.exit(cli.main(words[1:]))
