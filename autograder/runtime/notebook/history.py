"""The cells that a notebook has run, and which definitions the last of them did not come to."""

import inspect
import linecache
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..rich_output import ipython_shell

DEFINITION = re.compile(r"^(?:async +def|def|class) +(\w+)", re.M)


@dataclass
class _Watch:
    """Watches the cells that a shell runs; its methods are IPython's hooks.

    ``stopped`` has the names that the last cell with their definition did not define, because it stopped before, and
    their values. ``running`` has the same of each cell that is run; a cell may run another.
    """

    shell: Any
    stopped: dict[str, Any] = field(default_factory=dict)
    running: list[dict[str, Any]] = field(default_factory=list)

    def begins(self, info: Any) -> None:
        self.running.append({name: self.shell.user_ns.get(name) for name in DEFINITION.findall(info.raw_cell)})

    def ended(self, result: Any) -> None:
        for name, value in (self.running.pop() if self.running else {}).items():
            if not result.success and self.shell.user_ns.get(name) is value:
                self.stopped[name] = value
            else:
                self.stopped.pop(name, None)

    def is_outdated(self, name: str) -> bool:
        return name in self.stopped and self.shell.user_ns.get(name) is self.stopped[name]


_watch: _Watch | None = None


def watch() -> None:
    """Watch the cells that are run from now on, where there is a shell."""
    global _watch
    shell = ipython_shell()
    if shell and not (_watch and _watch.shell is shell):
        _watch = _Watch(shell)
        shell.events.register("pre_run_cell", _watch.begins)
        shell.events.register("post_run_cell", _watch.ended)


def outdated(names: Iterable[str]) -> list[str]:
    """Return the names that are outdated: the last cell with their definition stopped before it came to that."""
    return [name for name in names if _watch and _watch.is_outdated(name)]


def cells() -> list[str]:
    """Return the cells that were run, whether or not they came to their end; nothing outside of IPython."""
    shell = ipython_shell()
    return list(shell.history_manager.input_hist_raw) if shell and shell.history_manager else []


def cell_of(value: Any) -> str:
    """Return the text of the cell in which a function or the first method of a class was written, or nothing."""
    try:
        members = vars(value).values() if isinstance(value, type) else [value]
        functions = (inspect.unwrap(member) for member in members)
        code = next((function.__code__ for function in functions if hasattr(function, "__code__")), None)
        return "".join(linecache.getlines(code.co_filename)) if code else ""
    except Exception:  # a student's object may answer anything
        return ""
