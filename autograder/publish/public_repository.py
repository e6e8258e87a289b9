"""Write the public repository of a course, without its solutions.

It is a second repository, because the one in which a course is written holds its solutions.
Binder, Codespaces and the badges for Colab open it. Its file `.published` lists the files that were written.
"""

import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path

from ..course import Course, CourseError
from . import kit, standalone
from .address import COLAB, Address, colab_address
from .kit_files import start
from .kit_files.install import CPU_INDEX
from .leaks import require_no_leaks
from .wheels import engine_wheel, files_in

MANIFEST = ".published"
SITE = "docs"  # where GitHub Pages finds a site


def address_of(course: Course, typed: str) -> Address:
    """Return the address at which readers find the notebooks for Colab: what was typed, else that of `course.toml`."""
    url = typed or course.metadata.address
    if not url:
        raise CourseError(f"{course.toml} has no address: say there, or with --address, where the "
                          "public repository will lie")
    address = colab_address(url)
    if address.repository and address.folder != COLAB:
        raise CourseError(f"{url}: the notebooks for Colab lie in the folder {COLAB} of the public repository")
    return address


def publish(course: Course, folder: Path, typed: str = "", site: Path | None = None) -> list[str]:
    """Write what is public into a folder, which may be a clone; return the names of the files.

    ``CourseError`` where something of the instructor's would go with it, or where the folder holds something else.
    """
    if re.match(r"[\w.+-]+:/|[\w.-]+@[\w.-]+:", str(folder)):
        raise CourseError("an address is no folder: clone the repository with git, and publish into the clone")
    if site and not site.is_dir():
        raise CourseError(f"{site} is no folder: make site writes one")
    files = contents(course, address_of(course, typed), site)
    _write(folder, files)
    return sorted(files)


def contents(course: Course, address: Address, site: Path | None = None) -> dict[str, bytes]:
    """Return what is public: name, with slashes, and bytes; ``CourseError`` where something of the instructor's is."""
    files = kit.contents(course)
    with tempfile.TemporaryDirectory() as temporary:
        standalone.write_standalone(course, Path(temporary) / COLAB, address)
        kit.write_kit(course, Path(temporary) / "student-kit.zip")
        files |= files_in(Path(temporary))
    if site:
        files |= {f"{SITE}/{name}": data for name, data in files_in(site).items()} | {f"{SITE}/.nojekyll": b""}
    for name in ("LICENSE", "CITATION.cff"):
        if (course.root / name).is_file():
            files[name] = (course.root / name).read_bytes()
    files["README.md"] = _readme(course, address, bool(site)).encode()
    files |= {name: text.encode() for name, text in host_files(course).items()}
    require_no_leaks(course, files, "published")
    return files


def host_files(course: Course) -> dict[str, str]:
    """Return what Binder and Codespaces read, by name."""
    python, (wheel, _) = course.metadata.oldest_python, engine_wheel()
    return {**standalone.binder(course, f"./{wheel}"), ".binder/runtime.txt": f"python-{python}\n",
            ".devcontainer/devcontainer.json": _devcontainer(course.metadata.name, python)}


def _readme(course: Course, address: Address, has_site: bool) -> str:
    root = replace(address, folder="")
    lines = [f"# {course.metadata.title}", "",
             "| session | time | on Colab | on Binder |", "|---|---|---|---|"]
    for session in start.sessions(course.released):
        name = Path(session.path).name
        if address.repository:
            colab = f"{standalone.COLAB_BADGE}({address.colab(name)})"
            binder = f"{standalone.BINDER_BADGE}({root.binder(session.path)})"
        else:
            colab, binder = f"[{name}]({COLAB}/{name})", "–"
        lines.append(f"| [{session.title}]({session.path}) | {session.time} | {colab} | {binder} |")
    lines += ["", "## On your own computer", "",
              "Download [student-kit.zip](student-kit.zip), unpack it, and double-click `start.bat` on Windows, or "
              f"type `sh start.sh` elsewhere. You need Python {course.metadata.oldest_python} or newer. In a clone of "
              "this repository, `sh start.sh` does the same.", "",
              "Run the cells of a notebook from the top, and fill those that say TODO. The cell beneath each checks "
              "your work. `tp.hand_in()` writes the file to hand in.", "",
              f"`{COLAB}/` holds the same notebooks in a form that needs no other file."]
    if has_site:
        branch = address.branch or "main"
        lines.append(f"`{SITE}/` holds the course as a site (GitHub Pages: branch {branch}, folder /{SITE}).")
    return "\n".join([*lines, "", "`autograder publish` makes this repository. It holds no solutions.", ""])


def _devcontainer(name: str, python: str) -> str:
    tree = {
        "name": name,
        "image": f"mcr.microsoft.com/devcontainers/python:{python}-bookworm",
        "containerEnv": {"PIP_EXTRA_INDEX_URL": CPU_INDEX},
        "postCreateCommand": "python install.py -r requirements.txt -c constraints.txt",
        "customizations": {"vscode": {"extensions": ["ms-python.python", "ms-toolsai.jupyter"]}},
    }
    return json.dumps(tree, indent=2) + "\n"


def _write(folder: Path, files: dict[str, bytes]) -> None:
    """Write these files into a folder; remove others that were published before, and touch nothing else."""
    for name in _published(folder) - files.keys():
        (folder / name).unlink(missing_ok=True)
    written = files | {MANIFEST: "\n".join([*sorted(files), ""]).encode()}
    for name, data in written.items():
        path = folder / name
        for part in (*reversed(path.parents[:len(Path(name).parents) - 1]), path):  # outermost first: none is followed
            if part.is_symlink():  # a pull request may have added it
                part.unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if name.endswith(".sh"):
            path.chmod(0o755)


def _published(folder: Path) -> set[str]:
    """Return the names of the files that were published before; ``CourseError`` where the folder holds others."""
    if (folder / MANIFEST).is_file():
        names = (folder / MANIFEST).read_text(encoding="utf-8", errors="replace").splitlines()
        return {name for name in names if _is_a_file_of(folder, name)}
    if folder.is_dir() and any(path.name != ".git" for path in folder.iterdir()):
        raise CourseError(f"{folder} holds files that autograder publish did not write: name an empty one")
    return set()


def _is_a_file_of(folder: Path, name: str) -> bool:
    """Return whether this is the name of a file in the folder, and of none of git's own files."""
    try:
        path = (folder / name).resolve().relative_to(folder.resolve())
        return ".git" not in path.as_posix().casefold().split("/") and (folder / name).is_file()
    except (OSError, ValueError):  # no name of a file, or outside
        return False
