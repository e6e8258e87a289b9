"""Write notebooks that stand alone: for Colab, Kaggle, VS Code, or a folder in which only the notebook lies.

The first code cell of each installs the runtime and the helper package: from the wheels beside it, or from an address.
Its figures are inside it. Its graded cells have their usual names, so that it is graded like any other.
"""

import base64
import re
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from ..course import Course, CourseError
from ..model.source import FIGURE, Source, load_source
from ..raster import raster_type
from ..runtime.settings import SELFCHECKS
from . import kit
from .address import Address
from .kit_files.install import CPU_INDEX
from .wheels import engine_wheel, wheel

VERSION = re.compile(r"\d[\da-z.+!]*")
NEEDS_NOTHING = "Each notebook needs no other file."  # stands in every README.md that is written here
COLAB_BADGE = "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
BINDER_BADGE = "[![Launch on Binder](https://mybinder.org/badge_logo.svg)]"


def write_standalone(course: Course, folder: Path, address: Address | None = None) -> list[str]:
    """Write all sessions in this form into ``folder``, two wheels beside them; returns the names of the notebooks.

    ``address`` is where the folder will lie, from which Colab opens them; there are no links without one.
    """
    metadata = course.metadata
    readme = folder / "README.md"
    if readme.is_file() and NEEDS_NOTHING not in readme.read_text(encoding="utf-8", errors="replace"):
        raise CourseError(f"{readme} is not of this command: name another folder with --out")
    sources = [load_source(course, name) for name in course.select_sessions([])]
    for source in sources:
        if not source.released_path.is_file():
            raise CourseError(f"{source.name} is not released: autograder release {source.name}")
    own, engine = course_wheel(course), engine_wheel()  # before anything is written: the first may be refused
    wheels = dict([own, engine])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in wheels.items():
        (folder / name).write_bytes(data)
    first = _first_cell(course, engine[0], own[0], address)
    written = {}
    for source in sources:
        notebook = _alone(source)
        at = next(i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
        notebook.cells.insert(at, new_code_cell(first, id="helper-package"))
        nbformat.validate(notebook)
        written[f"{source.name}.ipynb"] = nbformat.writes(notebook)
    for old in folder.glob("*.whl") if readme.is_file() else ():  # of this command
        if old.name not in wheels and old.name.startswith(tuple(f"{name.split('-')[0]}-" for name in wheels)):
            old.unlink()
    for name, text in written.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
    titles = {f"{source.name}.ipynb": source.title for source in sources}
    readme.write_text(_readme(metadata.title, titles, address), encoding="utf-8")
    (folder / ".binder").mkdir(exist_ok=True)
    for name, text in binder(course, f"./{engine[0]}").items():
        (folder / name).write_text(text, encoding="utf-8")
    return list(titles)


def course_wheel(course: Course) -> tuple[str, bytes]:
    """Return the name and the bytes of a wheel with what the notebooks import; the same course gives the same bytes."""
    version = course.metadata.version
    if not VERSION.fullmatch(version):
        raise CourseError(f"{course.toml}: {version!r} is no version of a wheel; one is 1.0")
    imported = {SELFCHECKS, *(helper.name for helper in course.helpers)}
    files = {name: data for name, data in kit.released_files(course).items() if name.split("/")[0] in imported}
    about = f"Metadata-Version: 2.1\nName: {course.metadata.name}\nVersion: {version}\n"
    name = f"{course.metadata.name.replace('-', '_')}-{version}"
    return f"{name}-py3-none-any.whl", wheel(name, files, {"METADATA": about})


def binder(course: Course, engine: str) -> dict[str, str]:
    """Return what Binder reads, by name, with the engine's wheel or folder; its machines have no GPU.

    The path has a slash in it: by that Binder knows that the repository's files are needed. A list of requirements
    cannot ask for a package without what it requires; `postBuild` is run when the list is installed.
    """
    metadata = course.metadata
    files = {"requirements.txt": [f"--extra-index-url {CPU_INDEX}", *metadata.requirements, engine]}
    if metadata.no_deps:
        files["postBuild"] = ["#!/bin/sh", *(f"pip install --no-deps {name} || true" for name in metadata.no_deps)]
    return {f".binder/{name}": "\n".join([*lines, ""]) for name, lines in files.items()}


def _alone(source: Source) -> NotebookNode:
    """Return the released notebook with its figures in the text: Colab shows no attachments."""
    notebook: NotebookNode = nbformat.read(source.released_path, 4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for name in dict.fromkeys(FIGURE.findall(cell.source)):
                path = source.course.images / name
                if not path.is_file():
                    raise CourseError(f"{path} is not drawn yet")
                data, mime = _pixels(path)
                embedded = f"data:{mime};base64,{base64.b64encode(data).decode()}"
                cell.source = cell.source.replace(f"](figures/{name})", f"]({embedded})")
    return notebook


@cache
def _pixels(path: Path) -> tuple[bytes, str]:
    """Return a figure as pixels, and their type: neither Colab nor JupyterLab shows SVG inside a notebook."""
    if path.suffix == ".svg":
        from resvg_py import svg_to_bytes

        return bytes(svg_to_bytes(svg_path=str(path), background="white")), "image/png"
    data = path.read_bytes()
    if not (kind := raster_type(data)):
        raise CourseError(f"{path} is no SVG, PNG, JPEG, GIF or WebP, which a notebook can hold")
    return data, kind


def _first_cell(course: Course, engine: str, own: str, address: Address | None) -> str:
    """Return the cell that installs what is missing; in the sandbox it does nothing."""
    helpers = tuple(f"{path.name}/" if path.is_dir() else path.name for path in course.helpers)
    wheels = [("autograder", engine, ("autograder/__init__.py", "autograder/runtime/")),
              (SELFCHECKS, own, (*helpers, f"{SELFCHECKS}/"))]
    rows = "".join(f"    {row!r},\n" for row in wheels)
    text = (kit.FILES / "first_cell.txt").read_text(encoding="utf-8").rstrip("\n")
    return text.replace("@ADDRESS@", address.file("") if address else "").replace("@WHEELS@", f"[\n{rows}]")


def _readme(title: str, titles: dict[str, str], address: Address | None) -> str:
    """Return a page with a row for each notebook, and a badge for each place where it can be opened."""
    lines, use = [f"# {title}", ""], []
    if address and address.repository:
        lines += ["| session | on Colab | on Binder |", "|---|---|---|"]
        lines += [f"| {text} | {COLAB_BADGE}({address.colab(name)}) | {BINDER_BADGE}({address.binder(name)}) |"
                  for name, text in titles.items()]
        use = ["- **Colab**: click a badge. `File`, `Save a copy in Drive` keeps your work. To hand in, "
               "`File`, `Download`, `Download .ipynb` gives the file."]
    else:
        lines += [f"- [{text}]({name})" for name, text in titles.items()]
    use += ["- **Jupyter, VS Code**: open a notebook in this folder, both wheels beside it.",
            "- **Kaggle**: `Create`, `New Notebook`, `File`, `Import Notebook`; then add both wheels as a data set.",
            "- **Hand in** from all but Colab: `tp.hand_in()` in a cell writes the file that your teacher grades."]
    lines += ["", f"{NEEDS_NOTHING} Its first cell installs what it imports, "
                  "from the `.whl` files beside it or from the address in the cell.", "", *use]
    return "\n".join(lines) + "\n"
