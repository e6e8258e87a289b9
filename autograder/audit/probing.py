"""Probe a solution while its checks run: the kinds of names before each statement, its new values after it.

Where no real number can be, no gradient can be lost, and a name is mistaken for another of its kind.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..model.faults import Variant
from ..model.oracle import Oracle
from ..model.source import Cell
from ..runtime import arrays
from ..runtime.recorded import RecordedCheck
from ..runtime.replay import replay

Place = tuple[int, int]  # line and column of a statement in its cell
PROBE = "__probe__"
# Of other types nothing is known, and a gradient may hide in them.
PLAIN = (bool, int, float, str, range, type(None))


class Made(NamedTuple):
    """Properties of a value: the number of axes of an array, whether it is torch's, whether gradients could flow."""

    axes: int | None  # None: no array
    is_tensor: bool
    is_real: bool


@dataclass
class Seen:
    """The values at each statement that was reached; any value is possible at the others."""

    has_torch: bool = True  # whether the cell can name it
    reached: set[Place] = field(default_factory=set)
    recording: set[Place] = field(default_factory=set)  # where torch records gradients
    names: dict[Place, dict[str, set[str]]] = field(default_factory=dict)  # the kinds of what has a name, before
    made: dict[Place, list[set[Made]]] = field(default_factory=dict)  # of each part of what is assigned or returned

    def before(self, place: Place, names: dict[str, Any]) -> None:
        """Note what has a name before a statement."""
        self.reached.add(place)
        if self.has_torch and arrays.records_gradients():
            self.recording.add(place)
        known = self.names.setdefault(place, {})
        for name, value in names.items():
            known.setdefault(name, set()).add(_kind(value))

    def value(self, place: Place, value: Any) -> Any:
        """Note what a statement assigns or returns."""
        parts = value if isinstance(value, tuple) else (value,)
        known = self.made.setdefault(place, [])
        known += [set() for _ in parts[len(known) :]]
        for part, made in zip(parts, known, strict=False):
            is_tensor = arrays.is_tensor(part)
            axes = len(part.shape) if is_tensor or isinstance(part, np.ndarray) else None
            made.add(Made(axes, is_tensor, place in self.recording and _is_real(part)))
        return value

    def parts(self, place: Place) -> int:
        """Return of how many parts the value is."""
        return len(self.made.get(place, [()]))

    def carries_gradient(self, place: Place, part: int | None = None) -> bool:
        """Return whether a gradient may flow through the value, or through this part of it."""
        known = self.made.get(place)
        return known is None or any(one.is_real for made in (known if part is None else known[part : part + 1])
                                    for one in made)

    def is_tensor(self, place: Place, part: int) -> bool:
        """Return whether this part of the value may be a tensor."""
        known = self.made.get(place)
        return known is None or any(one.is_tensor for one in known[part])

    def has_axes(self, place: Place, part: int) -> bool:
        """Return whether this part of the value may be an array with axes, torch's or numpy's."""
        known = self.made.get(place)
        return known is None or any(one.axes for one in known[part])

    def records_gradients(self, place: Place) -> bool:
        """Return whether torch may record gradients there."""
        return place not in self.reached or place in self.recording

    def akin(self, place: Place, name: str) -> str | None:
        """Return the next name that holds a thing of the same kind there, if there is one."""
        names = self.names.get(place, {})
        kind = names.get(name)
        alike = [other for other in names if names[other] == kind and other != "self"]
        return alike[(alike.index(name) + 1) % len(alike)] if name in alike and len(alike) > 1 else None


def probe(truth: Oracle, cell: Cell, records: Iterable[RecordedCheck]) -> Seen:
    """Return what is seen in an exercise's cell while these records are replayed on the solution."""
    seen = Seen("torch" in truth.namespace)
    text = ast.unparse(_Probing(cell.written).visit(ast.parse(cell.solution)))
    with truth.substituted(Variant(str(cell.name), "probed", source=text)) as namespace:
        namespace[PROBE] = seen
        for record in records:
            replay(record.ops, namespace)
    return seen


def place_of(statement: ast.stmt) -> Place:
    """Return where a statement stands in its cell."""
    return statement.lineno, statement.col_offset


def _kind(value: Any) -> str:
    if arrays.is_tensor(value):
        return f"{value.dtype} with {value.dim()} axes"
    return type(value).__name__


def _is_real(value: Any) -> bool:
    """Return whether a value has, or may have, real numbers that autograd could follow."""
    if arrays.is_tensor(value):
        return arrays.is_real(value)
    if isinstance(value, (list, tuple, set)):
        return any(_is_real(item) for item in value)
    if isinstance(value, dict):
        return any(_is_real(item) for item in value.values())
    return not (isinstance(value, PLAIN) or arrays.is_handle(value))


class _Probing(ast.NodeTransformer):
    """Puts the probe before each statement that a student writes, and behind what it assigns or returns."""

    def __init__(self, written: set[int]):
        self.written = written
        self.inside = 0  # so many functions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.inside += 1
        made = self._statement(node, self.inside > 1)
        self.inside -= 1
        return made

    def generic_visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt):
            return self._statement(node, self.inside > 0)
        return super().generic_visit(node)

    def _statement(self, node: ast.stmt, probed: bool) -> Any:
        super().generic_visit(node)
        if not probed or node.lineno not in self.written:
            return node
        place = place_of(node)
        made = [_call(f"{PROBE}.before({place}, locals())"), node]
        if isinstance(node, ast.Return) and node.value:
            node.value = ast.Call(expression(f"{PROBE}.value"), [expression(repr(place)), node.value], [])
        elif isinstance(node, ast.Assign):
            made.append(_call(f"{PROBE}.value({place}, {ast.unparse(node.targets[0])})"))
        return made


def expression(text: str) -> ast.expr:
    """Return the tree of an expression."""
    return ast.parse(text, mode="eval").body


def _call(text: str) -> ast.Expr:
    return ast.Expr(expression(text))
