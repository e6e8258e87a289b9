"""The command of the student wheel: put the notebooks into a folder, and open JupyterLab on the start page."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

FILES = Path(__file__).resolve().parent / "files"


def copy(folder: Path) -> tuple[int, int]:
    """Copy what is not there yet; how many files came, and how many stay as they are.

    Nothing that a student may have written in is touched.
    """
    came = stay = 0
    for path in sorted(FILES.rglob("*")):
        if path.is_dir() or "__pycache__" in path.parts:
            continue
        target = folder / path.relative_to(FILES)
        if target.exists() and target.name != "start.py":
            stay += 1
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        came += 1
    return came, stay


def main() -> int:
    """Run ``NAME start [FOLDER] [what JupyterLab understands]``."""
    name = Path(sys.argv[0]).stem
    parser = argparse.ArgumentParser(prog=name, description="Open the course in JupyterLab.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    start = commands.add_parser("start", help="copy the notebooks into a folder, once, and open them")
    start.add_argument("folder", nargs="?", type=Path, default=Path(name), help=f"where your work is to lie ({name})")
    known, others = parser.parse_known_args()
    try:
        came, stay = copy(known.folder)
    except OSError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    print(f"{known.folder.resolve()}: files that came: {came}; that were there and are left as they are: {stay}")
    return subprocess.call([sys.executable, "start.py", *others], cwd=known.folder)


if __name__ == "__main__":
    sys.exit(main())
