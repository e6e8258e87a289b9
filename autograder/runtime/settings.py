"""Settings of a course for its notebooks, and the folder in which they lie with the recorded self-checks.

`release` writes both; the settings are those of `course.toml`: the number of torch's threads, and where to hand in.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

SELFCHECKS = "selfchecks"  # a folder beside the notebooks' folders, or beside whatever they import
FILE = "course.json"


def folders() -> Iterator[Path]:
    """Return the folders in which self-checks may lie, nearest first."""
    for parent in (Path.cwd(), Path.cwd().parent, *map(Path, sys.path)):
        yield parent / SELFCHECKS


def find_selfchecks(name: str) -> Path | None:
    """Return the file of a session's self-checks; None when there is none."""
    return next((path for path in (folder / f"{name}.bin" for folder in folders()) if path.is_file()), None)


@dataclass(frozen=True)
class NotebookSettings:
    """Threads that torch takes; where to hand in (a name that `handing_in` knows, or a sentence), and its address."""

    threads: int = 1
    to: str = ""
    address: str = ""


def to_text(settings: NotebookSettings) -> str:
    """Return the text of the file that holds these settings."""
    return json.dumps(asdict(settings), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def load_settings() -> NotebookSettings:
    """Return the settings of the course; the defaults where it has none."""
    for folder in folders():
        try:
            tree = json.loads((folder / FILE).read_text(encoding="utf-8"))
            return NotebookSettings(int(tree["threads"]), str(tree["to"]), str(tree["address"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return NotebookSettings()
