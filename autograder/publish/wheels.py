"""The student wheel: `tp` and the notebooks as one file for pip, with a command that opens them.

It is called after the course, with `-student` at its end, and needs the engine's wheel, which is built by
`engine_wheel`: the runtime of the self-checks is in it.
"""

import calendar
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from build import BuildBackendException, ProjectBuilder
from pyproject_hooks import quiet_subprocess_runner

import autograder

from ..course import Course, CourseError
from ..runtime.selfcheck_data import SELFCHECKS
from . import kit
from .about import ENGINE, About, about, as_toml


def student_wheel(course: Course, folder: Path) -> Path:
    """Build the wheel into ``folder``, without the network; return where it is.

    The same course gives the same bytes.
    """
    details = about(course)
    dated = {"SOURCE_DATE_EPOCH": str(calendar.timegm(kit.written(course)))}

    def run(cmd: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None) -> None:
        quiet_subprocess_runner(cmd, cwd, {**(extra_environ or {}), **dated})

    with tempfile.TemporaryDirectory() as made:
        _lay_out(course, details, Path(made))
        folder.mkdir(parents=True, exist_ok=True)
        try:
            return Path(ProjectBuilder(made, runner=run).build("wheel", folder))
        except BuildBackendException as error:
            raise CourseError(f"the student wheel cannot be built: {error}") from None


def _lay_out(course: Course, details: About, folder: Path) -> None:
    """Write a project for setuptools: what notebooks import at its top, the notebooks inside the command's package."""
    package, modules = folder / "src" / details.module, []
    for name, data in [*kit.released(course), ("start.py", kit.script_bytes("start.py"))]:
        top = name.split("/")[0]
        if top.endswith(".py") and top != "start.py":
            modules.append(top.removesuffix(".py"))
        imported = top in (f"{module}.py" for module in modules) or (course.released / top / "__init__.py").is_file()
        _write(folder / "src" / name if imported or top == SELFCHECKS else package / "files" / name, data)
    _write(package / "__init__.py", f'"""{details.title}"""\n'.encode())
    _write(package / "__main__.py", kit.script_bytes("wheel_main.py"))
    _write(folder / "pyproject.toml", as_toml({
        "build-system": {"requires": ["setuptools"], "build-backend": "setuptools.build_meta"},
        "project": {"name": f"{details.name}-student", "version": details.version, "description": details.title,
                    "requires-python": f">={details.python}",
                    "dependencies": [f"{ENGINE}>={autograder.__version__}", *details.requirements]},
        "project.scripts": {details.name: f"{details.module}.__main__:main"},
        "tool.setuptools": {"py-modules": modules},
        "tool.setuptools.packages.find": {"where": ["src"], "namespaces": True},  # a folder of notebooks is one, too
        "tool.setuptools.package-dir": {'""': "src"},
        "tool.setuptools.package-data": {'"*"': ["*"]},
    }).encode())


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
