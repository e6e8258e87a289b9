"""The folder in which a student works: a copy of the course in which nothing of theirs is ever overwritten.

Run it from anywhere, as a script and with Python alone: ``python autograder/runtime/workspace.py COURSE FOLDER``. It
copies the course as it is released to FOLDER, or brings a newer release to a folder that is there:

- what the student has not touched is replaced;
- what the student has changed stays as it is, and the new release is put beside it, as
  ``first.new.ipynb``.

``.release.json`` in the folder holds the digest of each file as it was put there: that is how a change is known.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RECORD = ".release.json"
NOT_OURS = {"__pycache__", ".ipynb_checkpoints"}


def main(arguments: list[str]) -> int:
    """Make or update the folder that is named, and say in one line each what has changed."""
    if len(arguments) != 2 or not Path(arguments[0]).is_dir():
        print("usage: workspace.py COURSE FOLDER: a released course that is there, and where its copy is to lie",
              file=sys.stderr)
        return 2
    release, work = map(Path, arguments)
    try:
        for line in update(release, work):
            print(line)
    except OSError as error:
        print(f"The course cannot be copied to {work}: {error}", file=sys.stderr)
        return 2
    return 0


def update(release: Path, work: Path) -> list[str]:
    """Bring the files of a release to ``work``; return a line on each file that was there and differs."""
    if release.resolve() in (work.resolve(), *work.resolve().parents):
        raise OSError("it would lie inside the course itself")
    is_new = not work.exists()
    record = _read(work / RECORD)
    lines = []
    for name in sorted(_files(release)):
        line = _merge(work, name, (release / name).read_bytes(), record)
        if line:
            lines.append(line)
    write_whole(work / RECORD, json.dumps(record, indent=1))
    if is_new:
        return [f"{work}: a copy of the course, for you to work in"]
    return lines or [f"{work}: nothing new in the course"]


def _merge(work: Path, name: str, data: bytes, record: dict[str, str]) -> str | None:
    """Bring one file to ``work`` and record its digest; return a line about what was done, if there is one."""
    path, released_before, released = work / name, record.get(name), _digest(data)
    if name.endswith(".ipynb") and not is_sealed(data):
        released = "worked in"  # in the course itself: somebody's work, which no release may ever replace
    record[name] = released
    if not os.path.lexists(path):
        write_whole(path, data)
        return f"{name}: {'put back, as it was released' if released_before else 'new'}"
    present_data = path.read_bytes()
    present = _digest(present_data)
    if released in (released_before, present, "worked in"):
        return None  # there already, or no newer release than the one that the student has changed
    # opening a notebook may change its metadata
    if present == released_before or (name.endswith(".ipynb") and is_sealed(present_data)):
        write_whole(path, data)
        return f"{name}: replaced by the new release; you had not changed it"
    new_name = _name_beside(work, name, record)
    write_whole(work / new_name, data)
    record[new_name] = released
    return f"{name}: kept as you changed it; the new release is beside it: {new_name}"


def _name_beside(work: Path, name: str, record: dict[str, str]) -> str:
    """Return a name for a new release beside a changed file: a free one, or one whose file was not changed."""
    path, number = Path(name), 1
    while True:
        new_name = path.with_name(f"{path.stem}.new{'' if number == 1 else number}{path.suffix}").as_posix()
        present = work / new_name
        if not os.path.lexists(present) or _digest(present.read_bytes()) == record.get(new_name):
            return new_name
        number += 1


def _files(release: Path) -> Iterator[str]:
    for path in release.rglob("*"):
        name = path.relative_to(release)
        if path.is_file() and not NOT_OURS & set(name.parts):
            yield name.as_posix()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(path: Path) -> dict[str, str]:
    """Read the digests that a file holds; none where it holds anything else, so that every file counts as changed."""
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(name): str(digest) for name, digest in record.items()} if isinstance(record, dict) else {}


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file as a whole, or not at all. A link in its place is replaced, not the file that it leads to."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{threading.get_native_id()}")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)  # half a file, when the disk is full


# The seal of a released notebook


def seal(notebook: Any) -> str:
    """Return a digest of all cells of a notebook (a tree as JSON gives it, or nbformat's)."""
    cells = [[cell.get("cell_type"), _text(cell.get("source")), bool(cell.get("outputs"))]
             for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:16]


def is_sealed(data: bytes) -> bool:
    """Return whether these are the bytes of a notebook as it was released: nobody has filled or run a cell since."""
    try:
        notebook = json.loads(data)
        return bool(notebook["metadata"]["course"]["seal"] == seal(notebook))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def _text(source: Any) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
