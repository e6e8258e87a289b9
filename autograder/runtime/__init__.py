"""The runtime beside a student's code, in notebook, kernel and judge: replay a check, describe values, compare.

A notebook uses the names below; each brings its module when it is first used.
"""

import importlib
from typing import Any

_COMMANDS = ("borrow", "case", "check", "done", "hand_in", "progress", "start")
_HOMES = {name: "notebook.commands" for name in _COMMANDS} | {"table": "rich_output"}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
