"""Find what may not be published: lines of solutions, model answers, checks and faults, and files of a term.

Every file that is to be published is read, archives and compressed data included, and searched for such lines.
"""

import gzip
import html
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from ..course import Course
from ..model import source

DISTINCTIVE = 24  # characters that a line has which nobody writes by chance
NAMES = re.compile(r"(^|/)(solutions|gradebook|submitted|teacher)(/|$)|\.lent$|\.db$|"
                   r"(^|/)(secret|checks\.py|faults\.py|variants\.py|relations\.py|equivalents\.toml)$")
_TAG = re.compile(r"<[^>]+>")
_ARCHIVES = (".zip", ".whl")


def secrets(course: Course) -> dict[str, str]:
    """Return each line that only an instructor may read, and where it stands.

    A line that some session gives to students, or that a module of the course or of the engine has, is none; nor is a
    line of checks or faults that a page in `docs/` quotes as an example.
    """
    found: dict[str, str] = {}
    quoted = _lines_of((course.root / "docs").glob("*.md"))
    given = _lines_of(path for helper in [*course.helpers, Path(source.__file__).parents[1]]
                      for path in (helper.rglob("*.py") if helper.is_dir() else [helper]))
    for tp in (source.load(course, name) for name in course.assignments):
        for cell in tp.cells:
            hidden = set(distinctive(cell.hidden))
            found |= {line: f"{tp.name}, {cell.name}" for line in hidden}
            given |= set(distinctive(cell.source)) - hidden
        for path in filter(Path.is_file, tp.beside):
            found |= {line: f"{tp.name}, {path.name}" for line in _lines_of([path]) - quoted}
    return {line: where for line, where in found.items() if line not in given}


def distinctive(text: str) -> Iterator[str]:
    """Return the lines of a text that say where they come from."""
    for line in map(str.strip, text.splitlines()):
        if len(line) > DISTINCTIVE and not line.startswith(("#", "import ", "from ")):
            yield line


def _lines_of(paths: Iterable[Path]) -> set[str]:
    return {line for path in paths for line in distinctive(path.read_text(encoding="utf-8"))}


def leaks(course: Course, files: dict[str, bytes]) -> list[str]:
    """Return what may not be published of these files, a line each: the file, and what is in it."""
    kept = secrets(course)
    found = [f"{name}: a file of the instructor's" for name in files if NAMES.search(name)]
    for name, data in files.items():
        there = {line for text in _texts(name, data) for line in distinctive(text) if line in kept}
        found += [f"{name}: {kept[line]}: {line}" for line in sorted(there)]
    return found


def _texts(name: str, data: bytes) -> Iterator[str]:
    """Yield the texts that a file holds, however it is packed."""
    if name.endswith(_ARCHIVES):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for inner in archive.namelist():
                yield from _texts(inner, archive.read(inner))
        return
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            return
    text = data.decode("utf-8", "replace")
    match PurePosixPath(name).suffix:
        case ".ipynb":
            try:
                yield from _strings(json.loads(text))
            except ValueError:
                yield text
        case ".html":
            yield html.unescape(_TAG.sub("", text))
        case _:
            yield text


def _strings(tree: object) -> Iterator[str]:
    """Yield every text in a notebook; lists of lines as one."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list):
        if tree and all(isinstance(one, str) for one in tree):
            yield "".join(tree)
        else:
            for one in tree:
                yield from _strings(one)
    elif isinstance(tree, dict):
        for one in tree.values():
            yield from _strings(one)
