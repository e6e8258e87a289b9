"""The cells that the notebook has run, and whether a definition comes from the last cell that should make it."""

import inspect
import linecache
import re
from collections.abc import Iterable
from typing import Any


def outdated(names: Iterable[str], namespace: dict[str, Any]) -> list[str]:
    """Return the names that are outdated: the last cell with their definition stopped before it came to that."""
    return [name for name in names if (last := _last_defining(name)) and (
        name not in namespace or cell_of(namespace[name]).strip() not in ("", last.strip()))]


def _last_defining(name: str) -> str:
    """Return the last cell that contains a definition of a name; an empty text where none does."""
    definition = re.compile(rf"^(async def|def|class) +{re.escape(name)}\b", re.M)
    return next((text for text in reversed(cells()) if definition.search(text)), "")


def cells() -> list[str]:
    """Return the cells that were run, whether or not they came to their end; nothing outside of IPython."""
    try:
        from IPython import get_ipython
    except ImportError:
        return []
    shell = get_ipython()
    return list(shell.history_manager.input_hist_parsed) if shell and shell.history_manager else []


def cell_of(value: Any) -> str:
    """Return the text of the cell in which a function or the first method of a class was written, or nothing."""
    try:
        members = vars(value).values() if isinstance(value, type) else [value]
        functions = (inspect.unwrap(member) for member in members)
        code = next((function.__code__ for function in functions if hasattr(function, "__code__")), None)
        return "".join(linecache.getlines(code.co_filename)) if code else ""
    except Exception:  # a student's object may answer anything
        return ""
