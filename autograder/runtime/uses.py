"""Read from their text which names the definitions of cells use; none of it is run."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Sequence

from .operations import names_in
from .recorded import RecordedCheck
from .syntax import changed_names, parse, without_magics


def unused_stubs(record: RecordedCheck, cells: Sequence[str], are_all: bool = True) -> tuple[str, ...]:
    """Return the names that a check replaces by stubs and right answers use, but not what it calls in these cells.

    Return none if it calls what they do not define, if they ``are_all`` cells that there are.
    """
    reads = _reads(cells) if record.needed else {}
    called = names_in(record.ops)
    if not reads or are_all and not called <= reads.keys():
        return ()
    used: set[str] = set()
    waiting = list(called - set(record.needed))
    while waiting:
        new = reads.get(waiting.pop(), set()) - used
        used |= new
        waiting += new - set(record.needed)
    return tuple(sorted(set(record.needed) - used))


def _reads(cells: Iterable[str]) -> dict[str, set[str]]:
    """Return the names and attributes in the definitions of each name; a cell that is no Python is left out."""
    reads: dict[str, set[str]] = defaultdict(set)
    for tree in filter(None, map(parse, map(without_magics, cells))):
        for node in tree.body:
            for name in _defined(node):
                reads[name] |= {str(getattr(one, "id", getattr(one, "attr", ""))) for one in ast.walk(node)}
    return dict(reads)


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a cell defines or changes."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    return changed_names(node)
