"""Digests of the inputs of generated files and verdicts, which show when one of them is stale.

| what | is made anew when one of these changes |
|---|---|
| released and executed notebooks | the source of the session |
| outputs of an executed notebook | the code of its cells. Not the helper modules: a run takes minutes, and most edits of a helper change no output. `autograder release --execute` runs all cells again |
| self-checks | source, checks, faults, variants; conventions of the checks in `course.toml`; code of the helper modules that the given cells, exercises, checks and faults import; version of the engine |
| verdicts | source, checks, faults, variants, conventions; every file of every helper, because a student may import any; version and modules of the engine; names and versions of the installed packages |

Self-checks do not depend on the engine's modules: they are data in a form that belongs to its version, and recording
them anew takes minutes. A verdict does, so that a corrected engine never keeps a wrong one: judging again takes seconds.
"""  # noqa: E501 (a table)

import hashlib
import site
from collections.abc import Iterable
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from .. import __version__
from . import dependencies
from .source import Source

ENGINE = Path(__file__).parent.parent
# The parts of the engine that a verdict follows from.
JUDGING = ("__init__.py", "course.py", "text.py", "runtime", "model", "judging", "sandbox")


def of_source(source: Source) -> str:
    """Return the digest of the source alone, as it stands now."""
    return _of_files([source.path])


def of_session(source: Source) -> str:
    """Return the digest of source, checks, faults and variants, and of the conventions of all checks."""
    return of_texts([_of_files([source.path, *source.check_files]), repr(source.course.conventions)])


def of_selfchecks(source: Source) -> str:
    """Return the digest of what the recorded self-checks depend on."""
    session, helpers = of_session(source), dependencies.helper_modules(source)
    return of_texts([session, *map(dependencies.essential_of_module, helpers), __version__])


def of_verdicts(source: Source) -> str:
    """Return the digest of what verdicts depend on, except the engine."""
    files = source.course.helper_files
    names = [str(path.relative_to(source.course.released)) for path in files]
    contents = (hashlib.sha256(path.read_bytes()).hexdigest() for path in files)
    return of_texts([of_session(source), *names, *contents])


@cache
def of_engine(engine: Path = ENGINE) -> str:
    """Return the engine's version with the digest of the modules that a verdict follows from.

    An engine that is being developed changes without its version.
    """
    modules = sorted(path for path in engine.rglob("*.py") if path.relative_to(engine).parts[0] in JUDGING)
    names = [str(path.relative_to(engine)) for path in modules]
    return f"{__version__}+{of_texts([*names, _of_files(modules)])}"


@cache
def of_packages() -> str:
    """Return the digest of the names and versions of the installed packages, which a student may import."""
    folders = site.getsitepackages()  # whatever the path of this process is
    if site.ENABLE_USER_SITE:
        folders = [*folders, site.getusersitepackages()]
    return of_texts(sorted({f"{package.name} {package.version}" for package in distributions(path=folders)}))


def of_texts(texts: Iterable[str]) -> str:
    """Return the digest of some texts in this order."""
    return hashlib.sha256("\0".join(texts).encode("utf-8")).hexdigest()[:16]


def _of_files(paths: Iterable[Path]) -> str:
    return of_texts(path.read_text(encoding="utf-8") for path in paths)
