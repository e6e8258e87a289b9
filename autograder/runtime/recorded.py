"""Recorded checks and replies to them, as plain data and as trees for `wire`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

from . import operations, values
from .operations import Op, Output
from .text import printable
from .values import Value

ErrorKind = Literal["missing-name", "not-written", "unusable", "raised"]
ErrorOrigin = Literal["cell", "check"]
# Metamorphic relations in the order of comparison. `repeated call` comes first: a cached result breaks gradients, too.
Relation = Literal["repeated call", "other inputs", "gradient", "evaluation", "one sequence", "one timestep",
                   "equal sizes"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)

MAX_OUTPUTS = 1_000
MAX_POSITION = 10**6  # of an operation, or of a line
MAX_NAMES = 20
MAX_MESSAGE = 300
GPU_TOLERANCE_FACTOR = 20.0  # times the tolerances: right answers were up to 13 times off


class InvalidReplyError(ValueError):
    """The received tree is no reply."""


@dataclass(frozen=True)
class ErrorLocation:
    """The last line of the student's own code that an exception passed."""

    line: int
    function: str
    text: str


@dataclass(frozen=True)
class CapturedError:
    """Why a replay stopped.

    ``kind`` says what it means: a name that is not there, a stub that is not written yet, definitions that do not
    allow the next call ("unusable"), or an exception. ``at`` is the number of the operation, ``origin`` whose code
    raised the exception: the student's cell, or the check and its stubs.
    """

    kind: ErrorKind
    type: str
    message: str
    where: ErrorLocation | None = None
    at: int = 0
    origin: ErrorOrigin = "cell"


@dataclass(frozen=True)
class Reply:
    """The result of a replay: the named outputs, the error that ended it, the operations that changed their arguments,
    the forbidden functions that were called, and the surroundings that were changed."""

    outputs: dict[str, Value]
    error: CapturedError | None = None
    mutating_ops: tuple[int, ...] = ()
    forbidden_calls: tuple[str, ...] = ()
    changed_state: tuple[str, ...] = ()


@dataclass(frozen=True)
class OutputSpec:
    """What a check says of an output: its axes by letter, tolerances, which axis sums to one, a predicate's source.

    ``atol_of_max`` is the absolute tolerance of an array as a share of its largest number.
    ``relation`` names the relation that asks for it.
    """

    axes: str | None = None
    atol: float | None = None
    rtol: float | None = None
    sums_to_one: str | None = None
    predicate: str | None = None
    relation: Relation | None = None
    atol_of_max: float | None = None
    tolerance_factor: float | None = None  # how many times wider the tolerances are

    @property
    def is_gradient(self) -> bool:
        """Whether the output is a gradient, or a dict of gradients: a sum in which much may cancel."""
        return self.atol_of_max is not None


@dataclass(frozen=True, eq=False)
class RecordedCheck:
    """A check as it was recorded on the solution: the calls to replay, and apart from them what is expected.

    The first ``base`` operations are the check's own, those behind them ask for the relations. ``relation`` is set
    where the whole record asks for one: the check once more, on other sizes. ``needed`` are the names with stubs in
    their place that a right answer uses.
    """

    ops: tuple[Op, ...]
    expected: Reply
    specs: dict[str, OutputSpec]
    base: int
    relation: Relation | None = None
    needed: tuple[str, ...] = ()

    def for_device(self, device: str) -> RecordedCheck:
        """Return the check with the tolerances for a device: a GPU adds in another order."""
        if device == "cpu":
            return self
        return replace(self, specs={name: replace(spec, tolerance_factor=GPU_TOLERANCE_FACTOR)
                                    for name, spec in self.specs.items()})

    @property
    def has_predicate(self) -> bool:
        """Whether right answers may differ in an output."""
        return any(spec.predicate for spec in self.specs.values())

    @cached_property
    def without_relations(self) -> RecordedCheck:
        """The check alone, without the relations."""
        if self.base == len(self.ops):
            return self
        specs = {name: spec for name, spec in self.specs.items() if spec.relation is None}
        outputs = {name: self.expected.outputs[name] for name in specs}
        expected = replace(self.expected, outputs=outputs, mutating_ops=tuple(
            number for number in self.expected.mutating_ops if number < self.base))
        return replace(self, ops=self.ops[: self.base], expected=expected, specs=specs)

    def with_outputs(self, names: Sequence[str]) -> RecordedCheck:
        """Return the check with some of its outputs, and without the last operations, which the others alone need."""
        kept = [i + 1 for i, op in enumerate(self.ops) if isinstance(op, Output) and op.name in names]
        length = max(kept, default=0)
        specs = {name: self.specs[name] for name in names}
        return replace(self, ops=self.ops[:length], specs=specs, base=min(self.base, length))


def reply_to_tree(reply: Reply) -> dict[str, Any]:
    """Return the reply as a tree."""
    return {
        "outputs": {name: values.to_tree(value) for name, value in reply.outputs.items()},
        "error": asdict(reply.error) if reply.error else None,
        "mutating_ops": list(reply.mutating_ops),
        "forbidden_calls": list(reply.forbidden_calls),
        "changed_state": list(reply.changed_state),
    }


def reply_from_tree(tree: Any) -> Reply:
    """Read the reply that a tree holds, whoever sent it.

    ``InvalidReplyError`` when it is none. Words are made safe to print.
    """
    if not isinstance(tree, dict) or not isinstance(tree.get("outputs"), dict) or len(tree["outputs"]) > MAX_OUTPUTS:
        raise InvalidReplyError("no outputs")
    mutated = tree.get("mutating_ops")
    if not isinstance(mutated, list) or not all(map(_is_position, mutated[:MAX_OUTPUTS])):
        raise InvalidReplyError("no numbers of operations")
    try:
        reader = values.Reader()
        outputs = {name: reader.read(value) for name, value in tree["outputs"].items()}
    except values.DescriptionError as error:
        raise InvalidReplyError(f"an output is {error}") from None
    return Reply(outputs, None if tree.get("error") is None else error_from_tree(tree["error"]),
                 tuple(mutated[:MAX_OUTPUTS]), _names(tree.get("forbidden_calls")), _names(tree.get("changed_state")))


def _is_position(number: Any) -> bool:
    return type(number) is int and 0 <= number < MAX_POSITION


def _names(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names[:MAX_NAMES]):
        raise InvalidReplyError("no names")
    return tuple(printable(name) for name in names[:MAX_NAMES])


def error_from_tree(tree: Any) -> CapturedError:
    """Read the error that a tree holds, bounded and in the expected form whatever was sent."""
    if not isinstance(tree, dict):
        tree = {}
    where, kind = tree.get("where"), tree.get("kind")
    if isinstance(where, dict) and _is_position(where.get("line")):
        where = ErrorLocation(where["line"], printable(where.get("function")), printable(where.get("text")))
    else:
        where = None
    kinds: dict[Any, ErrorKind] = {name: name for name in get_args(ErrorKind)}
    at, origin = tree.get("at"), tree.get("origin")
    return CapturedError(kinds[kind] if isinstance(kind, str) and kind in kinds else "raised",
                         printable(tree.get("type")) or "Error", printable(tree.get("message"), MAX_MESSAGE), where,
                         at if _is_position(at) else 0,
                         "check" if isinstance(origin, str) and origin == "check" else "cell")


def record_to_tree(record: RecordedCheck) -> dict[str, Any]:
    """Return the record as a tree, as self-checks are shipped."""
    specs = {name: {key: value for key, value in asdict(spec).items() if value is not None}
             for name, spec in record.specs.items()}
    ops = [op.to_tree() for op in record.ops]
    return {"ops": ops, "expected": reply_to_tree(record.expected), "specs": specs, "base": record.base,
            "relation": record.relation, "needed": list(record.needed)}


def record_from_tree(tree: dict[str, Any]) -> RecordedCheck:
    """Read the record that one of our own trees holds."""
    specs = {name: OutputSpec(**spec) for name, spec in tree["specs"].items()}
    return RecordedCheck(tuple(map(operations.from_tree, tree["ops"])), reply_from_tree(tree["expected"]), specs,
                         tree["base"], tree["relation"], tuple(tree["needed"]))
