"""Probe a solution while its checks run: the kinds of names before each statement, its new values after it.

The log tells the mutation operators where a gradient could be lost, and which names hold values of the same type.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..model.faults import Version
from ..model.oracle import Oracle
from ..model.source import Cell
from ..runtime import arrays
from ..runtime.recorded import RecordedCheck
from ..runtime.replay import replay
from ..runtime.syntax import parse_expression, parse_module

Position = tuple[int, int]  # line and column of a statement in its cell
PROBE = "__probe__"
# Of other types nothing is known, and a gradient may hide in them.
PLAIN = (bool, int, float, str, range, type(None))


class ValueProperties(NamedTuple):
    """The number of axes of an array, whether it is torch's, and whether gradients could flow."""

    axes: int | None  # None: no array
    is_tensor: bool
    is_real: bool


@dataclass
class ProbeLog:
    """The values at each statement that a run reached; at the others any value is possible."""

    has_torch: bool = True  # whether the cell can name it
    reached: set[Position] = field(default_factory=set)
    recording: set[Position] = field(default_factory=set)  # where torch records gradients
    names: dict[Position, dict[str, set[str]]] = field(default_factory=dict)  # kinds of each name's values, before
    values: dict[Position, list[set[ValueProperties]]] = field(default_factory=dict)  # assigned or returned, by part

    def before(self, position: Position, names: dict[str, Any]) -> None:
        """Note the values of all names before a statement."""
        self.reached.add(position)
        if self.has_torch and arrays.records_gradients():
            self.recording.add(position)
        kinds = self.names.setdefault(position, {})
        for name, value in names.items():
            kinds.setdefault(name, set()).add(_kind(value))

    def value(self, position: Position, value: Any) -> Any:
        """Note the value that a statement assigns or returns."""
        parts = value if isinstance(value, tuple) else (value,)
        properties = self.values.setdefault(position, [])
        properties += [set() for _ in parts[len(properties) :]]
        for part, properties_of_part in zip(parts, properties, strict=False):
            is_tensor = arrays.is_tensor(part)
            axes = len(part.shape) if is_tensor or isinstance(part, np.ndarray) else None
            properties_of_part.add(ValueProperties(axes, is_tensor, position in self.recording and _is_real(part)))
        return value

    def parts(self, position: Position) -> int:
        """Return the number of parts of the value."""
        return len(self.values.get(position, [()]))

    def holds(self, name: str, position: Position, part: int | None = None) -> bool:
        """Return whether the value, or this part of it, may have a property that is not false or zero."""
        parts = self.values.get(position)
        return parts is None or any(getattr(value, name) for values in (parts if part is None else [parts[part]])
                                    for value in values)

    def records_gradients(self, position: Position) -> bool:
        """Return whether torch may record gradients there."""
        return position not in self.reached or position in self.recording

    def name_alike(self, position: Position, name: str) -> str | None:
        """Return the next name that holds a thing of the same kind there, if there is one."""
        names = self.names.get(position, {})
        kind = names.get(name)
        alike = [candidate for candidate in names if names[candidate] == kind and candidate != "self"]
        return alike[(alike.index(name) + 1) % len(alike)] if name in alike and len(alike) > 1 else None


def probe(oracle: Oracle, cell: Cell, records: Iterable[RecordedCheck]) -> ProbeLog:
    """Return the values in an exercise's cell while these records are replayed on the solution."""
    log = ProbeLog("torch" in oracle.namespace)
    tree = parse_module(cell.solution)
    _insert_probes(tree, cell.written)
    with oracle.substituted(Version(cell.name, "probed", source=ast.unparse(tree))) as namespace:
        namespace[PROBE] = log
        for record in records:
            replay(record.ops, namespace)
    return log


def position_of(statement: ast.stmt) -> Position:
    """Return the line and column of a statement in its cell."""
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
    return not (isinstance(value, PLAIN) or arrays.is_torch_object(value))


def _insert_probes(tree: ast.Module, written: set[int]) -> None:
    """Put the probe before each written statement of a function, and behind what it assigns or returns."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in {node for function in functions for node in ast.walk(function)}:
        for _, body in ast.iter_fields(node):
            if isinstance(body, list):
                body[:] = [probed for item in body for probed in (
                    _probed(item) if isinstance(item, ast.stmt) and item.lineno in written else [item])]


def _probed(statement: ast.stmt) -> list[ast.stmt]:
    position = position_of(statement)
    statements = [_call(f"{PROBE}.before({position}, locals())"), statement]
    if isinstance(statement, ast.Return) and statement.value:
        where = parse_expression(repr(position))
        statement.value = ast.Call(parse_expression(f"{PROBE}.value"), [where, statement.value], [])
    elif isinstance(statement, ast.Assign):
        statements.append(_call(f"{PROBE}.value({position}, {ast.unparse(statement.targets[0])})"))
    return statements


def _call(text: str) -> ast.stmt:
    return ast.Expr(parse_expression(text))
