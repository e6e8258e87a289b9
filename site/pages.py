"""Lay out what the site is made from: ``python site/pages.py FOLDER [ADDRESS]``.

Notebooks are as students receive them, with the outputs of the executed solution beneath the cells that are given.
Cells that a student writes or that check have none, and a cell that gives an answer of an earlier session is left out.
ADDRESS is where the notebooks that stand alone lie, for the links to Colab and Binder; else course.toml says it.
Without an address there are no such links.
"""

import json
import re
import shutil
import sys
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from autograder.course import Course, CourseError  # noqa: E402
from autograder.publish.address import Address, colab_address  # noqa: E402
from autograder.publish.kit_files import start  # noqa: E402

# The pages below each of the four that lead on: page → its title in the list, and what one finds there.
INSTRUCTORS = {
    "docs/first-hour": ("The first hour", "from a clone to a graded class with feedback"),
    "docs/platforms": ("Platforms, set-up and publication", "own computer, Colab, Moodle, Canvas, publication"),
    "docs/hub": ("On a JupyterHub", "fetch, submit, collect, grade and return feedback in a browser"),
    "docs/gradescope": ("On Gradescope", "the zip, its limits, and its feedback"),
    "docs/sessions": ("What each session asks", "minutes, difficulty and points of every exercise"),
    "docs/guarantees": ("What the judge guarantees", "guarantees, bounds, tests, and limits"),
    "docs/reference": ("Reference", "every command and option, several machines, several graders"),
}
MEASURED = {
    "docs/evidence": ("Evidence", "each empirical sentence of the course, and the run behind it"),
    "docs/benchmarks": ("Benchmarks", "costs of grading, results of the models"),
    "docs/interpretability": ("Beside ARENA", "the interpretability of session 6, and that of ARENA's chapter 1"),
    "docs/thirty-four-points": ("Thirty-four points", "the learning goals of session 5, and the cells that cover them"),
}
AUTHORS = {
    "docs/authoring": ("Writing a session", "a tutorial of half an hour, then the reference"),
    "docs/ci": ("Checks on a server", "tests on GitHub or GitLab at every push"),
    "CONTRIBUTING": ("Contributing", "set-up, tests, conventions"),
    "SECURITY": ("Security", "who is trusted, known channels, how to report a hole"),
    "CHANGELOG": ("Changelog", "changes by version"),
}
FOLDED = 4  # lines: code that is longer opens on a click
# whether code and outputs are folded → MyST-NB's tags
FOLDS = {(False, False): [], (True, False): ["hide-input"], (False, True): ["hide-output"], (True, True): ["hide-cell"]}
STRIP = 3  # times as wide as high
TELLING = 24  # characters
EARLIER = "# In the notebook this cell holds the answer of an earlier session."
RUN = "*The outputs come from a run with all exercises done.*"


def lay_out(course: Course, folder: Path, address: Address) -> None:
    """Write the sources of the site into ``folder``, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(course.root / "docs", folder / "docs")
    shutil.copytree(course.images, folder / "images", ignore=shutil.ignore_patterns("*.py", "*.md", "__pycache__"))
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "CITATION.cff"):
        shutil.copy(course.root / name, folder / name)
    secrets = _secrets(course)
    for name in course.sessions:
        notebook = with_outputs(_notebook(course.released, name), _notebook(course.solutions, name))
        for cell in notebook["cells"]:
            if secrets & _lines(cell):
                cell["source"] = EARLIER
        _launched(notebook, _links(address, f"{name}.ipynb"))
        (folder / "sessions").mkdir(exist_ok=True)
        (folder / "sessions" / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        shutil.copytree(course.released / name / "figures", folder / "sessions" / "figures", dirs_exist_ok=True)
    _page(folder / "index.md", _front(course, address), ["sessions/index", "pronounce", "instructors", "authors"])
    shutil.copy(Path(__file__).parent / "pronounce.md", folder)
    _page(folder / "sessions" / "index.md", _sessions(course, address), course.sessions)
    below = INSTRUCTORS | {"measured": ("Measurements", "evidence, benchmarks, and the goals of session 5")}
    _page(folder / "instructors.md", _list("Instructors", below), list(below))
    _page(folder / "measured.md", _list("Measurements", MEASURED), list(MEASURED))
    _page(folder / "authors.md", _list("Authors", AUTHORS), list(AUTHORS))


def _list(title: str, pages: dict[str, tuple[str, str]]) -> str:
    """Return a page with links to others, and a line about each."""
    lines = [f"- [{name}]({page}.md): {says}" for page, (name, says) in pages.items()]
    return "\n".join([f"# {title}", "", *lines, ""])


def _front(course: Course, address: Address) -> str:
    """The landing page: what the course is, a card for each session, a way in for each reader."""
    told = course.metadata
    return f"""# {told.title}

Lab sessions on sequence-to-sequence learning, as PyTorch notebooks: from an embedding to attention, to a translator, to
a Transformer. Each exercise is checked as you write it, and a sentence tells you what is wrong. Two CPU cores are
enough.

![The sessions in a row, one box each](images/readme_path.svg)

`````{{container}} reader-ways
````{{container}} reader-way
**Students.** Open a session below on Colab, or [on your own computer](docs/platforms.md#a-computer-of-their-own).
````
````{{container}} reader-way
**Instructors.** Grade a sample class in two minutes: [the first hour](docs/first-hour.md).
````
````{{container}} reader-way
**Authors.** Write a session of your own, in half an hour: [a tutorial](docs/authoring.md).
````
`````

`````{{container}} session-cards
{"".join(_card(course, address, one) for one in start.sessions(course.released))}````{{container}} session-card
![](images/speller.svg)

**[A word read aloud](pronounce.md)**

Type a word, and see which letters the network of session 7 attends to at each sound. It runs in the page.
````
`````
"""


def _card(course: Course, address: Address, one: start.Progress) -> str:
    """Return the card of a session: picture, goal, minutes and a link to Colab."""
    name = Path(one.path).stem
    cells = _notebook(course.released, name)["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    goal = re.search(r"^(?:- |\*\*After this session you can\*\* )(.+?)(?:[;.]$|; |\n\n)", texts[0], re.M | re.S)
    figures = re.findall(r"\]\(figures/([\w.-]+)\)", "\n".join(texts))
    picture = "".join(f"![](images/{one})\n\n" for one in islice(filter(partial(_fits, course), figures), 1))
    says = f"You can {' '.join(goal[1].split()).rstrip(';.')}.\n\n" if goal else ""
    link = f" · [Open in Colab]({address.colab(f'{name}.ipynb')})" if address.repository else ""
    return (f"````{{container}} session-card\n{picture}**[{one.title}](sessions/{name}.ipynb)**\n\n{says}"
            f"{one.time}{link}\n````\n")


def _fits(course: Course, figure: str) -> bool:
    """Whether a figure can be seen on a card: it does not move, and is no strip."""
    text = (course.images / figure).read_text(encoding="utf-8")
    width, height = map(float, re.findall(r'viewBox="0 0 (\S+) (\S+)"', text)[0])
    return "@keyframes" not in text and width < STRIP * height


def _notebook(folder: Path, name: str) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads((folder / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    return tree


def with_outputs(released: dict[str, Any], executed: dict[str, Any]) -> dict[str, Any]:
    """The released notebook with the executed one's outputs of the cells that a student is given.

    Long code and outputs open on a click, but for the first picture of each section. Checks are left out.
    """
    outputs = {cell["id"]: cell["outputs"] for cell in executed["cells"] if cell["cell_type"] == "code"}
    is_first = True
    for cell in released["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] != "code":
            is_first = is_first or bool(re.search(r"^## ", text, re.M))
            continue
        about_it = cell["metadata"].get("nbgrader", {})
        is_given = not about_it.get("solution") and not about_it.get("grade")
        cell["outputs"] = outputs[cell["id"]] if is_given else []
        is_shown = is_first and len(cell["outputs"]) == 1 and _is_picture(cell["outputs"][0])
        is_first = is_first and not is_shown
        folded = (len(text.splitlines()) > FOLDED, bool(cell["outputs"]) and not is_shown)
        cell["metadata"]["tags"] = ["remove-cell"] if about_it.get("grade") else FOLDS[folded]
    return released


def _is_picture(output: dict[str, Any]) -> bool:
    return "image/png" in output.get("data", {})


def _secrets(course: Course) -> set[str]:
    """The lines of solutions and model answers that nobody writes by chance, and no student is given beside them."""
    found: set[str] = set()
    for name in course.sessions:
        text = course.script(name).read_text(encoding="utf-8")
        hidden = "\n".join(re.findall(r"### BEGIN SOLUTION[^\n]*\n(.*?)### END SOLUTION", text, re.S))
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
    if not address.repository:
        return ""
    return f"[Open in Colab]({address.colab(name)}) · [Open on Binder]({address.binder(name)})"


def _sessions(course: Course, address: Address) -> str:
    rows = [f"| [{one.title}]({Path(one.path).name}) | {one.time} | {_links(address, Path(one.path).name)} |"
            for one in start.sessions(course.released)]
    return "\n".join(["# Sessions", "", "| session | time | work on it |", "|---|---|---|", *rows, ""])


def _page(path: Path, text: str, below: list[str]) -> None:
    """A page, and the pages that lie below it."""
    path.write_text("\n".join([text, "```{toctree}", ":hidden:\n", *below, "```", ""]), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """0 when all is laid out, 2 when that cannot be done."""
    course = Course(ROOT)
    try:
        url = arguments[1] if arguments[1:] else course.metadata.address
        address = colab_address(url) if url else Address("")
        if url and not address.repository:
            raise CourseError(f"{url}: Colab and Binder open what lies on https://github.com")
        lay_out(course, Path(arguments[0]), address)
    except (CourseError, OSError) as error:
        print(f"site: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
