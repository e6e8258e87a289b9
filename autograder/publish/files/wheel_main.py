"""The command of the student wheel: put the notebooks into a folder, and open JupyterLab on the start page."""

import argparse
import subprocess
import sys
from pathlib import Path

from autograder.runtime.workspace import update

FILES = Path(__file__).resolve().parent / "files"


def main() -> int:
    """Run ``NAME start [FOLDER] [what JupyterLab understands]``."""
    name = Path(sys.argv[0]).stem
    parser = argparse.ArgumentParser(prog=name, description="Open the course in JupyterLab.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    start = commands.add_parser("start", help="copy the notebooks into a folder, and open them; your work is kept")
    start.add_argument("folder", nargs="?", type=Path, default=Path(name), help=f"the folder of your work ({name})")
    arguments = sys.argv[1:]
    its_own = (i for i, word in enumerate(arguments) if word.startswith("-") and word not in ("-h", "--help"))
    at = next(its_own, len(arguments))  # the first option of JupyterLab's, which may have a value behind it
    options, for_jupyterlab = parser.parse_args(arguments[:at]), arguments[at:]
    try:
        print(*update(FILES, options.folder), sep="\n", flush=True)
    except OSError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return subprocess.call([sys.executable, "start.py", *for_jupyterlab], cwd=options.folder)


if __name__ == "__main__":
    sys.exit(main())
