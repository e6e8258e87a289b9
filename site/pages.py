"""Lay out what the site is made from: ``python site/pages.py FOLDER [ADDRESS]``.

Notebooks are as students receive them, with the outputs of the executed solution beneath the cells that are given.
Cells that a student writes or that check have none, and a cell that gives an answer of an earlier session is left out.
ADDRESS is where the notebooks that stand alone lie, for the links to Colab and Binder; else course.toml says it.
"""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from autograder.course import Course, CourseError  # noqa: E402
from autograder.publish.about import about  # noqa: E402
from autograder.publish.address import Address, parsed  # noqa: E402
from autograder.publish.files import start  # noqa: E402

FIRST = ["docs/first-hour", "docs/reference"]  # of the pages for instructors
AUTHORS = ["docs/authoring", "docs/ci", "CONTRIBUTING", "SECURITY", "CHANGELOG"]
TELLING = 24  # characters
EARLIER = "# Here stands, in the notebook, what you wrote in an earlier session."
RUN = "*What you see beneath the cells comes from a run in which every exercise was done.*"


def lay_out(course: Course, folder: Path, address: Address) -> None:
    """Write the sources of the site into ``folder``, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(course.root / "docs", folder / "docs")
    shutil.copytree(course.images, folder / "images", ignore=shutil.ignore_patterns("*.py", "*.md", "__pycache__"))
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "CITATION.cff"):
        shutil.copy(course.root / name, folder / name)
    secrets = _secrets(course)
    for name in course.assignments:
        notebook = with_outputs(_notebook(course.released, name), _notebook(course.solutions, name))
        for cell in notebook["cells"]:
            if secrets & _lines(cell):
                cell["source"] = EARLIER
        _launched(notebook, _links(address, f"{name}.ipynb"))
        (folder / "sessions").mkdir(exist_ok=True)
        (folder / "sessions" / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        shutil.copytree(course.released / name / "figures", folder / "sessions" / "figures", dirs_exist_ok=True)
    pages = sorted(f"docs/{path.stem}" for path in (folder / "docs").glob("*.md"))
    instructors = [*FIRST, *(page for page in pages if page not in (*FIRST, *AUTHORS))]
    _page(folder / "index.md", (course.root / "README.md").read_text(encoding="utf-8"),
          ["sessions/index", "instructors", "authors"], hidden=True)
    _page(folder / "sessions" / "index.md", _sessions(course, address), course.assignments, hidden=True)
    _page(folder / "instructors.md", "# Instructors\n", instructors)
    _page(folder / "authors.md", "# Authors\n", AUTHORS)


def _notebook(folder: Path, name: str) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads((folder / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    return tree


def with_outputs(released: dict[str, Any], executed: dict[str, Any]) -> dict[str, Any]:
    """The released notebook with the executed one's outputs of the cells that a student is given."""
    outputs = {cell["id"]: cell["outputs"] for cell in executed["cells"] if cell["cell_type"] == "code"}
    for cell in released["cells"]:
        if cell["cell_type"] == "code":
            about_it = cell["metadata"].get("nbgrader", {})
            given = not about_it.get("solution") and not about_it.get("grade")
            cell["outputs"] = outputs[cell["id"]] if given else []
    return released


def _secrets(course: Course) -> set[str]:
    """The lines of solutions and model answers that nobody writes by chance, and no student is given beside them."""
    found: set[str] = set()
    for name in course.assignments:
        text = course.script(name).read_text(encoding="utf-8")
        hidden = "".join(re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", text, re.S))
        given = set().union(*map(_lines, _notebook(course.released, name)["cells"]))
        found |= {line for line in map(str.strip, re.sub(r"^# ", "", hidden, flags=re.M).splitlines())
                  if len(line) > TELLING and not line.startswith("#")} - given
    return found


def _lines(cell: dict[str, Any]) -> set[str]:
    return {line.strip() for line in "".join(cell["source"]).splitlines()}


def _launched(notebook: dict[str, Any], links: str) -> None:
    """Put links beneath the title."""
    title, _, text = "".join(notebook["cells"][0]["source"]).partition("\n")
    notebook["cells"][0]["source"] = f"{title}\n\n{links}\n\n{RUN}\n{text}"


def _links(address: Address, name: str) -> str:
    return f"[Open in Colab]({address.colab(name)}) · [Open on Binder]({address.binder(name)})"


def _sessions(course: Course, address: Address) -> str:
    rows = [f"| [{one.title}]({Path(one.path).name}) | {one.time} | {_links(address, Path(one.path).name)} |"
            for one in start.sessions(course.released)]
    return "\n".join(["# Sessions", "", "| session | time | work on it |", "|---|---|---|", *rows, ""])


def _page(path: Path, text: str, below: list[str], hidden: bool = False) -> None:
    """A page, and the pages that lie below it."""
    options = ":hidden:\n" if hidden else ":maxdepth: 1\n"
    path.write_text("\n".join([text, "```{toctree}", options, *below, "```", ""]), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """0 when all is laid out, 2 when that cannot be done."""
    course = Course(ROOT)
    try:
        address = parsed(arguments[1] if arguments[1:] else about(course).address)
        if not address.repository:
            raise CourseError(f"{address.url}: Colab and Binder open what lies on https://github.com")
        lay_out(course, Path(arguments[0]), address)
    except (CourseError, OSError) as error:
        print(f"site: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
