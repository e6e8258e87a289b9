"""Make what students and readers see from the sources: notebooks, figures and self-checks.

For a session this writes `<session>.ipynb` in `solutions/<session>/` (executed) and in `course/<session>/` (released),
the figures beside both, and the data of its self-checks. Each file holds the digest of its sources, by which a stale
one is known.
"""

import filecmp
import shutil
from pathlib import Path

from ..course import Course, CourseError
from ..model import selfcheck_recording
from ..model.oracle import Oracle
from ..model.source import Source
from ..runtime import settings, workspace
from . import effort, notebooks


class WorkedInError(CourseError):
    """A released notebook was filled in or run; the message says which."""


def not_as_released(folder: Path) -> list[Path]:
    """Return the notebooks below a folder that are not as released: they hold work, and must not be overwritten."""
    paths = (path for path in sorted(folder.rglob("*.ipynb")) if ".ipynb_checkpoints" not in path.parts)
    return [path for path in paths if not workspace.is_sealed(path.read_bytes())]


def figures_of(source: Source) -> list[tuple[Path, Path]]:
    """Return the paths of each figure: as it was drawn, and its copy beside each notebook that shows it."""
    return [(source.course.images / name, folder / "figures" / name)
            for folder, hidden in ((source.released, False), (source.folder, True)) for name in source.figures(hidden)]


def release(oracle: Oracle, execution: notebooks.Execution = "changed") -> list[str]:
    """Make everything of one session anew; returns the names of figures that are not drawn yet.

    The solution notebook is executed if its code has "changed" since it was, "always", or "never": then it may be
    written without outputs, which counts as stale. ``WorkedInError`` when somebody's work would be lost or released;
    nothing is written then.
    """
    source = oracle.source
    require_as_released(source.course)
    selfcheck_recording.write(oracle)
    shutil.rmtree(source.released / "figures", ignore_errors=True)
    missing = set()
    for drawn, copied in figures_of(source):
        if drawn.is_file():
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(drawn, copied)
        else:
            missing.add(drawn.name)
    for path, text in _texts(source).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    notebooks.write_both(source, execution)
    return sorted(missing)


def _texts(source: Source) -> dict[Path, str]:
    """Return the generated texts by path: settings of the notebooks, and the page on the minutes."""
    return {source.course.selfchecks / settings.FILE: settings.to_text(source.course.metadata.for_notebooks),
            **effort.pages(source.course)}


def require_as_released(course: Course, folder: Path | None = None) -> None:
    """Raise ``WorkedInError`` when a notebook of the release (in ``folder`` alone, if named) is not as released."""
    if changed := not_as_released(folder or course.released):
        names = ", ".join(str(path.relative_to(course.root)) for path in changed)
        raise WorkedInError(f"{names}: filled in or run since the release; move it away or, if nobody needs it, delete "
                            "it: autograder release writes it anew")


def left_over(course: Course) -> list[str]:
    """Return what lies in the course's folder of sessions that it has no more."""
    gone = {path.stem for path in course.selfchecks.glob("*.bin")} - set(course.sessions)
    paths = [path for name in sorted(gone) for path in (course.released / name, course.selfchecks / f"{name}.bin")]
    return [str(path.relative_to(course.root)) for path in paths if path.exists()]


def is_outdated(source: Source) -> bool:
    """Return whether the notebook or the self-checks of a released session were made from other sources."""
    return source.released_path.is_file() and (source.released_path in notebooks.stale(source)
                                               or not selfcheck_recording.released_tree(source))


def stale(source: Source) -> list[str]:
    """Return the generated files of a session that were not made from its present sources."""
    changed = [source.released_path] if not_as_released(source.released) else []
    paths = list(dict.fromkeys(changed + notebooks.stale(source)))
    paths += [copied for drawn, copied in figures_of(source)
              if not (copied.is_file() and drawn.is_file() and filecmp.cmp(drawn, copied, shallow=False))]
    if not selfcheck_recording.released_tree(source):
        paths.append(selfcheck_recording.path(source))
    paths += [path for path, text in _texts(source).items()
              if not path.is_file() or path.read_text(encoding="utf-8") != text]
    return [str(path.relative_to(source.course.root)) for path in paths]
