"""Make what students and readers see from the sources: notebooks, figures, self-checks, and the kit.

For a TP this writes `solutions/<tp>/<tp>.ipynb` (executed), `course/<tp>/<tp>.ipynb` (released), the figures beside
both, and `course/tp/selfchecks/<tp>.bin`. Every one carries the digest of what it was made from, so that a
test can say which are stale.
"""

import hashlib
import re
import shutil
import zipfile
from functools import cache
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

from . import selfchecks, source
from .source import COURSE, ROOT, SOLUTIONS

IMAGES = ROOT / "images"
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_PICTURE = re.compile(r"!\[[^\]]*\]\(figures/([\w.-]+)\)")

# How nbgrader makes a release of a solution notebook; nbgrader_config.py says the same to plain nbgrader.
STUBS = Config({"ClearSolutions": {"code_stub": {"python": source.STUB}, "text_stub": source.ANSWER_STUB}})


def digest(name: str) -> str:
    """The digest of all three files of a TP: what verdicts and self-checks depend on."""
    return _digest(SOLUTIONS / name / f"{name}.py", ROOT / f"autograder/checks/{name}.py", ROOT / f"autograder/mistakes/{name}.py")


def source_digest(name: str) -> str:
    """The digest of the source alone: what the notebooks depend on."""
    return _digest(SOLUTIONS / name / f"{name}.py")


def _digest(*paths):
    return hashlib.sha256(b"\0".join(path.read_bytes() if path.exists() else b"" for path in paths)).hexdigest()[:16]


def solution_notebook(name: str) -> nbformat.NotebookNode:
    """The notebook of a source, solutions in it, not executed."""
    tp = source.load(name)
    cells, texts = [], 0
    for cell in tp.cells:
        texts += cell.grade_id is None
        text = re.sub(r"^### ((BEGIN|END) SOLUTION)$", r"<!-- \1 -->", cell.source, flags=re.M) if cell.is_markdown else cell.source
        made = (new_markdown_cell if cell.is_markdown else new_code_cell)(text, id=cell.grade_id or f"text-{texts}")
        if cell.grade_id:
            made.metadata["nbgrader"] = _nbgrader(cell)
        cells.append(made)
    metadata = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}, "course": {"assignment": name, "made_from": source_digest(name)}}
    notebook = new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(notebook)
    return notebook


def _nbgrader(cell):
    metadata = {"schema_version": 3, "grade_id": cell.grade_id, "task": False, "solution": cell.role in ("exercise", "answer"),
                "grade": cell.role in ("check", "answer"), "locked": cell.role in ("given", "check")}
    if metadata["grade"]:
        metadata["points"] = cell.points
    return metadata


@cache
def released_notebook(name: str) -> nbformat.NotebookNode:
    """The notebook a student receives, made by nbgrader's own preprocessors. Do not change it: it is kept."""
    from nbgrader.preprocessors import ClearHiddenTests, ClearOutput, ClearSolutions, ComputeChecksums, LockCells

    notebook, resources = solution_notebook(name), {}
    for preprocessor in (LockCells, ClearSolutions, ClearOutput, ComputeChecksums, ClearHiddenTests, ComputeChecksums):
        notebook, resources = preprocessor(config=STUBS).preprocess(notebook, resources)
    return notebook


def execute(name: str, seconds: int = 900) -> nbformat.NotebookNode:
    """The solution notebook, executed in its folder as a student's Jupyter would."""
    from nbclient import NotebookClient

    notebook = solution_notebook(name)
    NotebookClient(notebook, timeout=seconds, kernel_name="python3", resources={"metadata": {"path": str(SOLUTIONS / name)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata["course"]["executed"] = True
    return notebook


def figures_of(name: str) -> list[str]:
    return sorted(set(_PICTURE.findall((SOLUTIONS / name / f"{name}.py").read_text(encoding="utf-8"))))


def release(name: str, run: bool = True) -> list[str]:
    """Make everything of one TP anew; returns the names of figures that are not drawn yet.

    Without ``run`` the solution notebook is written without outputs, which counts as stale.
    """
    selfchecks.write(name)
    (COURSE / name).mkdir(exist_ok=True)
    missing = []
    for folder in (SOLUTIONS / name, COURSE / name):
        shutil.rmtree(folder / "figures", ignore_errors=True)
        for figure in figures_of(name):
            if not (IMAGES / figure).is_file():
                missing.append(figure)
                continue
            (folder / "figures").mkdir(exist_ok=True)
            shutil.copy(IMAGES / figure, folder / "figures" / figure)
    nbformat.write(released_notebook(name), COURSE / name / f"{name}.ipynb")
    nbformat.write(execute(name) if run else solution_notebook(name), SOLUTIONS / name / f"{name}.ipynb")
    return sorted(set(missing))


def stale(name: str) -> list[str]:
    """The generated files of a TP that were not made from its present sources."""
    found = []
    for path, executed in ((COURSE / name / f"{name}.ipynb", None), (SOLUTIONS / name / f"{name}.ipynb", True)):
        made = nbformat.read(path, 4).metadata.get("course", {}) if path.is_file() else {}
        if made.get("made_from") != source_digest(name) or made.get("executed") != executed:
            found.append(str(path.relative_to(ROOT)))
    if selfchecks.made_from(name) != digest(name):
        found.append(f"course/tp/selfchecks/{name}.bin")
    return found


def kit(path: Path) -> None:
    """The zip that students download: notebooks, figures, helper package, environment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(ROOT / "environment.yml", "seq2seq-course/environment.yml")
        for file in sorted(COURSE.rglob("*")):
            if file.is_file() and not any(part in ("__pycache__", ".ipynb_checkpoints") for part in file.parts):
                archive.write(file, f"seq2seq-course/{file.relative_to(COURSE)}")
