"""The hints of an exercise, as they stand above it in the notebook: the next one is offered where a check fails."""

import json
import re
from pathlib import Path

from .handing_in import metadata_of

_HINT = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.S)
# a hint keeps the tags of code and emphasis
_OTHER_TAG = re.compile(r"</?(?!code\b|pre\b|em\b|b\b)[a-zA-Z][^>]*>")


def hints(notebook: Path, exercise: str) -> list[tuple[str, str]]:
    """Return the hints of an exercise, each with its title; none where the notebook or the exercise is not there."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        before = ""
        for cell in cells:
            if metadata_of(cell).get("grade_id") == exercise:
                return [(" ".join(title.split()), _OTHER_TAG.sub("", body).strip())
                        for title, body in _HINT.findall(before)]
            if cell["cell_type"] == "markdown":
                before = "".join(cell["source"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    return []
