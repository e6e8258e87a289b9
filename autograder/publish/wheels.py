"""The student wheel: `tp` and the notebooks as one file for pip, with a command that opens them.

It is called after the course, with `-student` at its end, and needs the engine's wheel, which is made by
`engine_wheel`: the runtime of the self-checks is in it.
"""

import re
from pathlib import Path

import autograder

from ..course import Course, CourseError
from ..runtime.selfcheck_data import SELFCHECKS
from . import kit
from .about import ENGINE, About, about
from .archive import wheel

VERSION = re.compile(r"\d[\da-z.+!]*")


def student_wheel(course: Course, folder: Path) -> Path:
    """Write the wheel into ``folder``; return where it is. The same course gives the same bytes."""
    details = about(course)
    if not VERSION.fullmatch(details.version):
        raise CourseError(f"{course.root / 'course.toml'}: {details.version!r} is no version of a wheel; one is 1.0")
    requires = (f"{ENGINE}>={autograder.__version__}", *details.requirements)
    lines = ["Metadata-Version: 2.1", f"Name: {details.name}-student", f"Version: {details.version}",
             f"Summary: {' '.join(details.title.split())}", f"Requires-Python: >={details.python}",
             *(f"Requires-Dist: {one}" for one in requires), ""]
    command = f"[console_scripts]\n{details.name} = {details.module}.__main__:main\n"
    name = f"{details.module}_student-{details.version}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-py3-none-any.whl"
    about_it = {"METADATA": "\n".join(lines), "entry_points.txt": command}
    path.write_bytes(wheel(name, _files(course, details), about_it, kit.written(course)))
    return path


def _files(course: Course, details: About) -> dict[str, bytes]:
    """Return what notebooks import at the top, and the notebooks inside the command's package."""
    files = {f"{details.module}/__init__.py": f'"""{details.title}"""\n'.encode(),
             f"{details.module}/__main__.py": kit.script_bytes("wheel_main.py"),
             f"{details.module}/files/start.py": kit.script_bytes("start.py")}
    tops = {SELFCHECKS, *(helper.name for helper in course.helpers)}
    for name, data in kit.released(course):
        files[name if name.split("/")[0] in tops else f"{details.module}/files/{name}"] = data
    return files
