"""Record a check on the solution: the calls to replay with the expected reply, first its own, then the relations'."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..metadata import CourseMetadata
from ..runtime import arrays
from ..runtime.compare import check_difference, first_difference, output_difference
from ..runtime.operations import Define, Forbid, Op, SetWeights
from ..runtime.recorded import RecordedCheck, Relation, Reply
from ..runtime.replay import refusal, replay
from ..runtime.state import LOOP
from ..runtime.values import ArrayValue, Value, undescribed
from . import relations
from .errors import line_in, one_line, source_error
from .trace import Check, CheckError, InstanceRejected, Trace

MAX_ATTEMPTS = 5000  # some checks take one instance in fifty, and none may be left without one
MAX_SIZED_ATTEMPTS = 100  # on given sizes, which a check need not have
NUDGE = 3e-6  # of a weight's size: some thirty roundings
JUMP: Any = {"predicate": None, "atol": None, "rtol": 0.05, "atol_of_max": 0.05}  # what is no rounding any more
FEW_INSTANCES, MANY_INSTANCES = 6, 24  # on which an answer is constant or not: many where a few do not tell
OTHER: Relation = "other inputs"
EQUAL: Relation = "equal sizes"


class Recorder:
    """Records the checks of one solution. A record follows from the check and the seed, whatever came before."""

    def __init__(self, namespace: dict[str, Any], metadata: CourseMetadata):
        self.namespace, self.metadata, axes = namespace, metadata, metadata.axes
        # relation → the axes that are then of size one, by the first letters of their names
        self._ones: dict[Relation, Sequence[str]] = {"one sequence": axes.batch, "one timestep": axes.time}
        self._constant: dict[Check, bool] = {}

    def record(self, check: Check, seed: int) -> list[RecordedCheck]:
        """Record the check with its relations, then the check alone on sizes of one and on equal sizes."""
        trace = self._traced(check, seed)
        record = self._with_relations(check, trace, seed)
        recorded = [replace(record, needed=self._needed(record))]
        for relation, letters in self._ones.items():
            ones = {name: 1 for name in trace.axes if name[0] in letters}
            if ones and relation not in check.skip_relations:
                recorded += self._on_sizes(check, seed, relation, ones)
        return recorded + self._on_equal_sizes(check, trace, seed)

    def _needed(self, record: RecordedCheck) -> tuple[str, ...]:
        """Return the names with stubs in their place whose own code has other results: right answers use these."""
        own = record.without_relations

        def alone(stub: Define) -> Reply:
            return replay([replace(op, replaces=None) if op is stub else op for op in own.ops], self.namespace)

        stubs = [op for op in own.ops if isinstance(op, Define) and op.replaces]
        return tuple(str(stub.replaces) for stub in stubs if check_difference(own, alone(stub)))

    def _on_equal_sizes(self, check: Check, trace: Trace, seed: int) -> list[RecordedCheck]:
        """Record the check with all axes of one size or, if impossible, with those that course.toml declares."""
        declared = [name for name in trace.axes if name[0] in self.metadata.axes.batch + self.metadata.axes.time]
        for axes in dict.fromkeys([tuple(trace.axes), tuple(declared)]):
            if len(axes) > 1 and EQUAL not in check.skip_relations:
                equal = dict.fromkeys(axes, max(trace.axes[name] for name in axes))
                if records := self._on_sizes(check, seed, EQUAL, equal):
                    return records
        return []

    def _on_sizes(self, check: Check, seed: int, relation: Relation, sizes: Mapping[str, int]) -> list[RecordedCheck]:
        """Record the check on given sizes; return nothing where its inputs or the solution cannot have them."""
        try:
            return [replace(_record_of(self._traced(check, seed, sizes)), relation=relation)]
        except CheckError:
            return []

    def record_without_relations(self, check: Check, seed: int) -> RecordedCheck:
        """Record the check as it stands, without relations."""
        return _record_of(self._traced(check, seed))

    def is_constant(self, check: Check) -> bool:
        """Return whether one and the same answer is right on most instances, so that the check shows little."""
        if check not in self._constant:
            records = [self.record_without_relations(check, 7919 * seed) for seed in range(FEW_INSTANCES)]
            if FEW_INSTANCES // 2 <= _most_alike(records) < FEW_INSTANCES:
                records += [self.record_without_relations(check, 7919 * seed)
                            for seed in range(FEW_INSTANCES, MANY_INSTANCES)]
            self._constant[check] = _most_alike(records) > len(records) // 2
        return self._constant[check]

    def notes(self, check: Check) -> Iterator[str]:
        """Yield what may hide a fault in a check: axes that no relation tests at size one, and names that are not
        forbidden, although the check says so; ``CheckError`` if a predicate refuses the solution.
        """
        trace = self._traced(check, seed=1)
        for name, value in trace.replayer.outputs.items():
            if (predicate := trace.specs[name].predicate) and (reason := _refusal_or_error(predicate, value)):
                raise _wrong(check, f"the predicate of {name} refuses the solution: {reason}", trace.lines[name])
        declared = self.metadata.axes.batch + self.metadata.axes.time
        is_tried = any(name[0] in declared for name in trace.axes) or self._ones.keys() & check.skip_relations.keys()
        if trace.axes and not is_tried:
            yield _located(check, f"no relation tries its axes ({', '.join(trace.axes)}) at size one: if one of them "
                                  "counts examples or timesteps, declare it as such in course.toml (axes, now "
                                  f"{', '.join(declared) or 'none'}); else skip the relation one sequence")
        names = {name for op in trace.ops if isinstance(op, Forbid) for name in op.names}
        unknown = sorted(name for name in names if not self._can_be_forbidden(name))
        if LOOP in unknown:
            unknown.remove(LOOP)
            yield _located(check, "it forbids loops, which are known by calls of torch: here none is seen")
        if unknown:
            function = ", and no function of torch," if self.metadata.arrays == "torch" else ""
            yield _located(check, f"it forbids {', '.join(unknown)}: no package that is installed{function} has this "
                                  "name")
        if names and (used := replay(trace.ops, self.namespace).forbidden_calls):
            yield _located(check, f"it forbids {', '.join(used)}, which the solution or a stub calls: "
                                  "answers may call it, too")

    def _can_be_forbidden(self, name: str) -> bool:
        """Return whether calls of a name are noted: of torch's functions in a course with torch, and of packages."""
        if self.metadata.arrays == "torch" and (name == LOOP or arrays.is_torch_function(name)):
            return True
        with contextlib.suppress(ValueError):  # of a module that is no file
            return name.isidentifier() and importlib.util.find_spec(name) is not None
        return False

    def _other(self, check: Check, trace: Trace, seed: int, same_batch: bool) -> list[Op] | None:
        """Return the same calls with inputs of another instance, and with another batch size unless ``same_batch``."""
        if OTHER in check.skip_relations:
            return None
        fixed_sizes = {name: size for name, size in trace.axes.items()
                       if name[0] not in self.metadata.axes.batch or same_batch}
        try:
            # an instance that was rejected is drawn again from the next seed: these are beyond all of them
            other_trace = self._traced(check, seed + MAX_ATTEMPTS, fixed_sizes)
        except CheckError:
            return None
        return other_trace.ops if [_kind(op) for op in other_trace.ops] == [_kind(op) for op in trace.ops] else None

    def _traced(self, check: Check, seed: int, fixed_sizes: Mapping[str, int] | None = None) -> Trace:
        """Run the check on a trace; draw again if the check rejects an instance."""
        tries = MAX_SIZED_ATTEMPTS if fixed_sizes else MAX_ATTEMPTS
        for attempt in range(tries):
            try:
                trace = Trace(self.namespace, seed + attempt, self.metadata, fixed_sizes)
                with trace.replayer.running():
                    check.program(trace)
            except InstanceRejected:
                continue
            except Exception as error:
                raise _wrong(check, one_line(error), line_in(error, check.where[0])) from error
            _refuse_bad_outputs(check, trace)
            return trace
        raise _wrong(check, f"no clear instance in {tries} tries")

    def _with_relations(self, check: Check, trace: Trace, seed: int, same_batch: bool = False) -> RecordedCheck:
        """Record a check with all relations that the solution fulfils in it."""
        record = _record_of(trace)
        other_ops = self._other(check, trace, seed, same_batch)
        additions = [addition for addition in relations.additions(trace, other_ops)
                     if addition.relation not in check.skip_relations]
        while additions:
            ops = (*record.ops, *(op for addition in additions for op in addition.ops))
            reply = replay(ops, self.namespace)
            if reply.error is None:
                unclear = [addition for addition in additions
                           if addition.relation == OTHER and not self._is_clear(ops, addition, reply)]
                if not unclear:
                    all_specs = (record.specs, *(addition.specs for addition in additions))
                    specs = {name: spec for specs in all_specs for name, spec in specs.items()}
                    return RecordedCheck(ops, reply, specs, record.base)
                additions = [addition for addition in additions if addition not in unclear]
                continue
            by_op = [addition.relation for addition in additions for _ in addition.ops]
            failed = by_op[max(0, reply.error.at - record.base)]
            if failed == OTHER and not same_batch:
                return self._with_relations(check, trace, seed, same_batch=True)  # perhaps with as many sequences
            additions = [addition for addition in additions if addition.relation != failed]
        return record

    def _is_clear(self, ops: Sequence[Op], addition: relations.Addition, reply: Reply) -> bool:
        """Return whether the answers to a relation stay close when all weights change slightly: none is near a tie.

        A check only makes sure of its own instance.
        """
        rng = np.random.default_rng(0)
        if not any(isinstance(op, SetWeights) for op in ops):
            return True
        nudged = replay([_nudged(op, rng) for op in ops], self.namespace).outputs
        return all(output_difference(name, reply.outputs[name], nudged[name], replace(spec, **JUMP)) is None
                   for name, spec in addition.specs.items())


def _nudged(op: Op, rng: np.random.Generator) -> Op:
    """Return the operation with weights changed by some roundings."""
    if not isinstance(op, SetWeights):
        return op
    return replace(op, values={name: (value * (1 + NUDGE * rng.standard_normal(value.shape))).astype(value.dtype)
                               for name, value in op.values.items()})


def _kind(op: Op) -> tuple[Any, ...]:
    """Return what an operation does, without its inputs."""
    return op.kind, *(getattr(op, name, None) for name in ("to", "name", "of", "f"))


def _refuse_bad_outputs(check: Check, trace: Trace) -> None:
    if not trace.specs:
        raise _wrong(check, "it has no output: t.output(…)")
    for name, value in trace.replayer.outputs.items():
        what = None if trace.specs[name].predicate else undescribed(value)
        if what:
            raise _wrong(check, f"{name} has {what} in it on the solution, which nothing is compared with: output "
                         "numbers, strings, arrays, or lists and dicts of them", trace.lines[name])
        axes, summed = (trace.specs[name].axes or "").split(), trace.specs[name].sums_to_one
        if not axes or not isinstance(value, ArrayValue):
            continue
        if len(axes) != value.array.ndim:
            reason = f"{name} has the shape {value.array.shape} on the solution, and axes={' '.join(axes)!r}"
            raise _wrong(check, reason, trace.lines[name])
        if summed and not np.allclose(value.array.sum(axis=axes.index(summed)), 1, atol=1e-3):
            raise _wrong(check, f"{name} does not sum to one over {summed} on the solution", trace.lines[name])


def _refusal_or_error(predicate: str, value: Value) -> str | None:
    try:
        return refusal(predicate, value)
    except Exception as error:  # it names what is not sent with it, for example
        return one_line(error)


def _wrong(check: Check, reason: str, line: int | None = None) -> CheckError:
    return CheckError(_located(check, reason, line))


def _located(check: Check, reason: str, line: int | None = None) -> str:
    path, first = check.where
    return str(source_error(path, line or first, f"{check.exercise}/{check.name}: {reason}"))


def _most_alike(records: Sequence[RecordedCheck]) -> int:
    """Return in how many of these instances the most frequent answer is right."""
    return max(sum(first_difference(record, other.expected) is None for other in records) for record in records)


def _record_of(trace: Trace) -> RecordedCheck:
    return RecordedCheck(tuple(trace.ops), trace.replayer.reply(), trace.specs, len(trace.ops))
