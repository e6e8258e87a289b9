"""Read which names functions and classes use, from their compiled code; none of it is run."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any

WRAPPED = type(functools.lru_cache(len))  # a function with a cache
OF_CLASSES = (type(object.__init__), type(str.join), type(dict.__dict__["fromkeys"]), type(FunctionType.__code__),
              type(FunctionType.__globals__))  # what classes of C hold, and slots


class CodeNotVisible(Exception):
    """Something that can be called does not show the code that it runs."""


def names_used(names: Iterable[str], namespace: dict[str, Any]) -> set[str]:
    """Return the names and attributes that the definitions of ``names`` use, and those that these use in turn.

    Only code of the namespace is read: no other can use its names. ``CodeNotVisible`` where it does not show.
    """
    reader = _Reader(namespace)
    waiting = list(names)
    while waiting:
        before = set(reader.used)
        reader.read(namespace.get(waiting.pop()))
        waiting += reader.used - before
    return reader.used


class _Reader:
    """Collects the names that values use; each value is read once."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace, self.used, self.seen = namespace, set[str](), set[int]()

    def read(self, value: Any) -> None:
        """Add the names that a function, a class, or an object that can be called uses."""
        kind = type(value)
        if not callable(value) and kind not in (staticmethod, classmethod, property, functools.cached_property):
            return
        if id(value) in self.seen or kind in (BuiltinFunctionType, *OF_CLASSES):
            return
        self.seen.add(id(value))
        if kind is FunctionType:
            self._read_function(value)
        elif issubclass(kind, type):
            self._read_class(value)
        elif kind is functools.partial:
            self._read_all([value.func, *value.args, *value.keywords.values()])
        elif kind in (staticmethod, classmethod, WRAPPED):
            self.read(value.__wrapped__)
        elif kind is property:
            self._read_all([value.fget, value.fset])
        elif kind is functools.cached_property:
            self.read(value.func)
        else:
            raise CodeNotVisible

    def _read_all(self, values: Iterable[Any]) -> None:
        for value in values:
            self.read(value)

    def _read_function(self, function: FunctionType) -> None:
        """Read a function, and the functions that it holds: in its closure and its defaults, or as the one it wraps."""
        wrapped = vars(function).get("__wrapped__")
        if wrapped is not None and function.__globals__ is not self.namespace:
            self.read(wrapped)
            return
        if function.__globals__ is self.namespace:
            for code in _with_inner(function.__code__):
                self.used.update(code.co_names)
        for cell in function.__closure__ or ():
            self.read(cell.cell_contents)
        self._read_all([*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), wrapped])

    def _read_class(self, kind: type) -> None:
        for base in type.mro(kind):
            if not self._is_of_a_module(base):
                self.used.add(base.__name__)
                self._read_all(vars(base).values())

    def _is_of_a_module(self, kind: type) -> bool:
        """Return whether a class can be had from a module other than the notebook: it uses no name of this."""
        module = sys.modules.get(str(kind.__module__))
        return module is not None and vars(module) is not self.namespace and vars(module).get(kind.__name__) is kind


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    """Yield code, and that of the functions, classes and comprehensions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)
