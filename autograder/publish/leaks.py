"""Find what may not be published: lines of solutions, model answers, checks and faults, and files of a term.

It reads every file to be published, archives and compressed data included.
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

from .. import ENGINE_FOLDER
from ..course import Course, CourseError
from ..model.source import MARKER, load_source
from ..runtime.text import first_lines

MOST_LINES = 3  # of an error
DISTINCTIVE = 24  # characters that a line has which nobody writes by chance
NAMES = re.compile(r"(^|/)(solutions|gradebook|submitted|instructor)(/|$)|\.(lent|provided)$|\.db$|"
                   r"(^|/)(secret|checks\.py|faults\.py|variants\.py|relations\.py|equivalents\.toml)$")
_TAG = re.compile(r"<[^>]+>")
_ITEM = re.compile(r"(?m)^\s*(?:(?:[-+>]|\d+[.)])\s+)+")  # begins items and quotations, and is not shown either
_MARKS = str.maketrans("", "", "`*$")  # of Markdown, which a page does not show
_ARCHIVES = (".zip", ".whl")


def instructor_lines(course: Course) -> dict[str, str]:
    """Return each line that only an instructor may read, and the session and file that it is from.

    A line that some session gives to students, or that a module of the course or of the engine has, is left out, and so
    is a line of checks or faults that a page in `docs/` quotes as an example.
    """
    hidden: dict[str, str] = {}
    quoted = _lines_of((course.root / "docs").glob("*.md"))
    engine = ENGINE_FOLDER.rglob("*")
    public = _lines_of(path for path in [*course.helper_files, *engine] if path.suffix in (".py", ".txt"))
    for source in (load_source(course, name) for name in course.sessions):
        for cell in source.cells:
            hidden_of_cell = set(distinctive_lines(cell.hidden))
            hidden |= {line: f"{source.name}, {cell.name}" for line in hidden_of_cell}
            public |= set(distinctive_lines(cell.source)) - hidden_of_cell
        for path in source.check_files:
            hidden |= {line: f"{source.name}, {path.name}" for line in _lines_of([path]) - quoted}
    return {line: origin for line, origin in hidden.items() if line not in public}


def distinctive_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text that are long enough to be recognised elsewhere."""
    for line in map(str.strip, text.splitlines()):
        if len(line) > DISTINCTIVE and not re.match(r"#|import |from \S+ import ", line):
            yield line


def _lines_of(paths: Iterable[Path]) -> set[str]:
    return {line for path in paths for line in distinctive_lines(path.read_text(encoding="utf-8", errors="replace"))}


def leaks(course: Course, files: dict[str, bytes]) -> list[str]:
    """Return what may not be published of these files, a line each: the file, and what is in it."""
    hidden = instructor_lines(course)
    without_marks = {shown: origin for line, origin in hidden.items()
                     for shown in distinctive_lines(_ITEM.sub("", line.translate(_MARKS)))}
    leaked = [f"{name}: a file of the instructor's" for name in files if NAMES.search(name)]
    engine = {path.relative_to(ENGINE_FOLDER.parent).as_posix() for path in ENGINE_FOLDER.rglob("*")}  # of its wheel
    for name, data in files.items():
        lines: dict[str, str] = {}
        for inner, text in _texts(name, data):
            if inner != name and NAMES.search(inner) and inner not in engine:
                lines[inner] = "a file of the instructor's"
            if inner.endswith((".py", ".ipynb")):
                lines |= {line.strip(): "a marker of a solution" for line in text.splitlines() if MARKER.match(line)}
            known = without_marks if inner.endswith(".html") else hidden
            lines |= {line: known[line] for line in map(str.strip, text.splitlines()) if line in known}
        leaked += [f"{name}: {origin}: {line}" for line, origin in sorted(lines.items())]
    return leaked


def require_no_leaks(course: Course, files: dict[str, bytes], done: str) -> None:
    """Raise ``CourseError`` where something of the instructor's is in these files; ``done`` says what is not done."""
    if leaked := leaks(course, files):
        raise CourseError(f"nothing is {done}, because this is the instructor's: "
                          + "; ".join(first_lines(leaked, MOST_LINES)))


def _texts(name: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the texts that a file holds, however it is packed, each with the name of its file."""
    if name.endswith(_ARCHIVES) and zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for inner in archive.namelist():
                yield from _texts(inner, archive.read(inner))
        return
    if data[:2] == b"\x1f\x8b":
        try:
            data, name = gzip.decompress(data), name.removesuffix(".gz")
        except (OSError, EOFError, zlib.error):
            return
    text = data.decode("utf-8", "replace")
    match PurePosixPath(name).suffix:
        case ".ipynb":
            try:
                yield from ((name, string) for string in _strings(json.loads(text)))
            except ValueError:
                yield name, text
        case ".html":
            yield name, _ITEM.sub("", html.unescape(_TAG.sub("", text)).translate(_MARKS))
        case _:
            yield name, text


def _strings(tree: object) -> Iterator[str]:
    """Yield every text in a notebook; lists of lines as one."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list):
        if tree and all(isinstance(item, str) for item in tree):
            yield "".join(tree)
        else:
            for item in tree:
                yield from _strings(item)
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from _strings(value)
