"""Read from their text which names the definitions of cells use; none of it is run."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

from .operations import names_in
from .recorded import RecordedCheck
from .syntax import changed_names, parse, root, without_magics

DYNAMIC = {"exec", "eval", "globals", "setattr", "getattr", "vars"}  # reach names that do not stand in the text


def unused_stubs(record: RecordedCheck, cells: Sequence[str], are_all: bool = True) -> tuple[str, ...]:
    """Return the names that a check replaces by stubs and right answers use, but not what it calls in these cells.

    Return none if it calls what they do not define, if they ``are_all`` cells that there are; and none if code
    may use names that do not stand in it.
    """
    reads = _reads(tuple(cells)) if record.needed else {}
    called = names_in(record.ops)
    if not reads or are_all and not called <= reads.keys():
        return ()
    used: set[str] = set()
    seen: set[int] = set()
    waiting = list(called - set(record.needed))
    while waiting:
        for names in reads.get(waiting.pop(), ()):
            if id(names) not in seen:
                seen.add(id(names))
                waiting += names - used - set(record.needed)
                used |= names
    return () if "" in used else tuple(sorted(set(record.needed) - used))


@lru_cache(1)  # all checks of a notebook ask for the same cells, which may be large
def _reads(cells: tuple[str, ...]) -> dict[str, list[set[str]]]:
    """Return for each name the names and attributes in each statement of the cells that defines it or changes it.

    An empty name stands for one of `DYNAMIC`. A cell that is no Python is left out.
    """
    reads: dict[str, list[set[str]]] = defaultdict(list)
    for tree in filter(None, map(parse, map(without_magics, cells))):
        for node in tree.body:
            names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            attributes = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
            read = names | attributes | ({""} if names & DYNAMIC else set())
            for name in _defined(node):
                reads[name].append(read)
    return dict(reads)


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a cell defines or changes, also those that it does under a condition."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    inner = list(ast.walk(node))
    names = {one.name for one in inner if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    for one in inner:
        if isinstance(one, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in one.names}
    return names | changed_names(node) | _arguments(node)


def _arguments(node: ast.stmt) -> set[str]:
    """Return the names with which a call that is a statement is made: it may change them."""
    arguments = node.value.args if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else ()
    return {name for name in map(root, arguments) if name}
