"""Write the student kit: a zip with the notebooks, the modules they import, and scripts that set everything up.

Students are on Windows, macOS and Linux. The modules lie beside the notebooks, but for the runtime of the self-checks,
which the scripts install from the engine's wheel. It holds no solution.
"""

import hashlib
import re
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..course import Course
from .kit_files import start
from .leaks import require_no_leaks
from .release import require_as_released
from .wheels import engine_wheel, files_in, write_zip

FILES = Path(start.__file__).parent
OLDEST = "3.11"  # the Python that the scripts ask for as they stand


def write_kit(course: Course, path: Path) -> None:
    """Write the zip; each kit lies in a folder of its own, so that a newer one replaces no work."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files = contents(course)
    folder = f"{path.stem}-{hashlib.sha256(b''.join(files.values())).hexdigest()[:6]}"
    write_zip(path, ((f"{folder}/{name}", data) for name, data in files.items()))


def contents(course: Course) -> dict[str, bytes]:
    """Return what is in the kit: name, with slashes, and bytes."""
    files = released_files(course)
    files["README.md"] = readme(course).encode()
    name, data = engine_wheel()
    files[name] = data
    files["requirements.txt"] = requirements(course).encode()
    files["constraints.txt"] = constraints(course).encode()
    for script in ("install.py", "start.py", "start.sh", "start.bat"):
        files[script] = script_bytes(script, course.metadata.oldest_python)
    if (course.root / "environment.yml").is_file():
        files["environment.yml"] = (course.root / "environment.yml").read_bytes()
    return files


def released_files(course: Course) -> dict[str, bytes]:
    """Return what `release` has put into the course's folder for students.

    ``WorkedInError`` where a notebook in it was filled, also one that `tp.hand_in` has copied; ``CourseError`` where
    something of the instructor's is in it.
    """
    course.select_sessions([])  # there is one
    require_as_released(course)
    files = files_in(course.released)
    require_no_leaks(course, files, "written")
    return files


def script_bytes(name: str, python: str) -> bytes:
    """Return a script of the kit, which asks for a ``python``, such as 3.11, or a newer one.

    cmd reads no labels in a batch file without its own line ends.
    """
    text = (FILES / name).read_text(encoding="utf-8")
    for separator in (".", ", "):  # as it is called, and as a tuple
        text = text.replace(OLDEST.replace(".", separator), python.replace(".", separator))
    return (text.replace("\n", "\r\n") if name.endswith(".bat") else text).encode()


def requirements(course: Course) -> str:
    """Return the list for pip. It changes with the bytes of the engine's wheel: the scripts then install anew."""
    name, data = engine_wheel()
    return "\n".join(["# pip install -r requirements.txt, in this folder", *course.metadata.needs,
                      f"./{name}  # {hashlib.sha256(data).hexdigest()[:16]}", ""])


def constraints(course: Course) -> str:
    """Return the locked versions of what the course requires, for pip; no line where the course has no lock.

    Its lock pins what grading needs, too, and what only Linux has: a student's system takes those that fit.
    """
    lock = course.root / "requirements.lock"
    versions = lock.read_text(encoding="utf-8").splitlines() if lock.is_file() else []
    required = set(map(_distribution, course.metadata.requirements))
    pinned = [line for line in versions if _distribution(line) in required]
    about = "The versions with which the course was tested" if pinned else "No version is fixed: there is no lock"
    return "\n".join([f"# {about}", *pinned, ""])


def _distribution(requirement: str) -> str:
    """Return the name in a line for pip, as the package index writes it; empty for a comment or an option."""
    name = re.match(r"[A-Za-z0-9][\w.-]*", requirement)
    return re.sub(r"[-_.]+", "-", name[0]).lower() if name else ""


def readme(course: Course) -> str:
    """Return the page that a student reads first, in Markdown."""
    environment = Environment(loader=PackageLoader("autograder.publish", "kit_files"), undefined=StrictUndefined,
                              keep_trailing_newline=True)
    conda = (course.root / "environment.yml").is_file()
    torch = any(requirement.startswith("torch") for requirement in course.metadata.requirements)
    return environment.get_template("README.md.j2").render(
        metadata=course.metadata, torch=torch, sessions=start.sessions(course.released), conda=conda,
        wheel=engine_wheel()[0])
