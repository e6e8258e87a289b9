"""Relations: what every answer obeys, whatever the exercise. Each is a few more operations behind those of a check.

They are made on the solution first, as the check itself is, so that what is expected is what the solution answers. A
relation that the solution cannot follow in some check does not apply there; one that should not is switched off by
name and reason, `@check("fit", without={"memory": "training goes on from where it stopped"})`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime import arrays
from ..runtime.operations import (
    Argument,
    Attempt,
    Attribute,
    Call,
    Evaluating,
    Gradients,
    Item,
    Leaf,
    Op,
    Output,
    Unpack,
    Weights,
)
from ..runtime.recorded import Spec
from .trace import OF_LARGEST, Trace

PLAIN = (np.ndarray, np.generic, tuple, list, dict, set, str, int, float, type(None))


@dataclass(frozen=True)
class Addition:
    """The operations of one relation, and what is said of their outputs."""

    relation: str
    ops: list[Op]
    specs: dict[str, Spec]


def additions(trace: Trace, other: list[Op] | None = None) -> Iterator[Addition]:
    """Return the relations that can be asked of the check on ``trace``.

    ``other`` are its operations on another instance.
    """
    for relation, make in MAKERS.items():
        again = _Again(trace, relation, other)
        make(again)
        if again.specs:
            yield Addition(relation, again.ops, again.specs)


class _Again:
    """The calls of a check once more, on the objects that it made the first time."""

    def __init__(self, trace: Trace, relation: str, other: list[Op] | None):
        self.trace, self.relation, self.other = trace, relation, other
        self.base = list(trace.ops)
        self.made = dict(trace.replayer.registers)  # register → what the solution has there
        self.ops: list[Op] = []
        self.specs: dict[str, Spec] = {}
        self.fresh: dict[int, int] = {}  # register of the first time → register of this time

    def register(self) -> int:
        self.trace.count += 1
        return self.trace.count

    def modules(self) -> dict[int, Any]:
        """Return the networks that the check made, by register."""
        made = [op.to for op in self.base if isinstance(op, Call) and not isinstance(op, Attempt)]
        return {at: self.made[at] for at in made if arrays.is_module(self.made[at])}

    def weights(self, ops: list[Op]) -> list[Weights]:
        """Return what gives networks their parameters, where those are still theirs."""
        return [op for op in ops if isinstance(op, Weights) and _fits(op, self.made[op.of])]

    def repeat(self, argument: Callable[[Argument, str], Argument] = lambda tree, name: tree,
               ops: list[Op] | None = None) -> None:
        """Repeat all calls; ``argument`` may put something else in the place of an argument, given as it stands."""
        for op in ops or self.base:
            match op:
                case Call(to=to) if self._is_plain(to):
                    self.ops.append(self._called(op, argument))
                case Unpack(of=of, to=parts) if of in self.fresh:
                    self.ops.append(Unpack(self.fresh[of], [self._anew(at) for at in parts]))
                case Item(of=of, key=key, to=to) if of in self.fresh:
                    self.ops.append(Item(self.fresh[of], self._mapped(key), self._anew(to)))
                case Attribute(of=of, name=name, to=to) if name != "grad" and self._is_plain(to):
                    self.ops.append(Attribute(self.fresh.get(of, of), name, self._anew(to)))

    def outputs(self, suffix: str) -> None:
        """Return the outputs of the check, as they are this time."""
        for op in self.base:
            if isinstance(op, Output) and op.of in self.fresh:
                name = f"{op.name} {suffix}"
                self.ops.append(Output(name, self.fresh[op.of]))
                self.specs[name] = replace(self.trace.specs[op.name], relation=self.relation, like=op.name)

    def _called(self, op: Call, argument: Callable[[Argument, str], Argument]) -> Op:
        names = _parameters(self.made[op.f])
        args = [argument(self._mapped(tree), names[i] if i < len(names) else f"input {i + 1}")
                for i, tree in enumerate(op.args)]
        kwargs = {name: argument(self._mapped(tree), name) for name, tree in op.kwargs.items()}
        return replace(op, f=self.fresh.get(op.f, op.f), args=args, kwargs=kwargs, to=self._anew(op.to))

    def _is_plain(self, at: int) -> bool:
        return isinstance(self.made[at], PLAIN) or arrays.is_tensor(self.made[at])

    def _anew(self, at: int) -> int:
        self.fresh[at] = self.register()
        return self.fresh[at]

    def _mapped(self, tree: Any) -> Any:
        """Return an argument with references to results of the first run replaced by those of this run."""
        if isinstance(tree, list):
            return [self._mapped(item) for item in tree]
        if isinstance(tree, dict):
            (kind, content), *_ = tree.items()
            if kind == "$ref":
                return {"$ref": self.fresh.get(content, content)}
            if kind in ("$tuple", "$dict"):
                return {kind: self._mapped(content)}
        return tree


def _parameters(function: Any) -> list[str]:
    """Return the names of a function's positional parameters; of a network, those of ``forward``."""
    try:
        parameters = inspect.signature(function.forward if arrays.is_module(function) else function).parameters
    except (TypeError, ValueError):
        return []
    return list(parameters)


def _other_inputs(again: _Again) -> None:
    """Add the calls with other inputs and other parameters: nothing of the first answers may show."""
    if again.other is None:
        return
    again.ops += again.weights(again.other)
    again.repeat(ops=again.other)
    again.outputs("with other inputs")
    again.ops += again.weights(again.base)


def _memory(again: _Again) -> None:
    """Add the same calls again: the answers are the same."""
    again.repeat()
    again.outputs("when called again")


def _fits(op: Weights, module: Any) -> bool:
    """Return whether weights still fit a network, a part of which the check may have replaced since."""
    return {name: value.shape for name, value in op.values.items()} == {
        name: tuple(parameter.shape) for name, parameter in module.named_parameters()}


def _gradient(again: _Again) -> None:
    """Add gradients of a fixed random projection of all results, with respect to all inputs and parameters."""
    leaves: dict[str, int] = {}

    def leaf(tree: Any, name: str) -> Any:
        if not isinstance(tree, dict) or "$tensor" not in tree or not _is_varied(tree["$tensor"]):
            return tree
        name = _free(name, leaves)
        leaves[name] = again.register()
        again.ops.append(Leaf(tree, leaves[name]))
        return {"$ref": leaves[name]}

    again.repeat(leaf)
    named = [op.of for op in again.base if isinstance(op, Output) and op.of in again.fresh]
    results = {at: again.made[at] for at in named if arrays.is_real(again.made[at])}
    modules: dict[str, int] = {}
    for at, module in again.modules().items():
        modules[_free(type(module).__name__, modules)] = at
    if not results or not (leaves or modules):
        return
    to = again.register()
    # not of the trace's own generator: when a relation is given up, the others are made anew, and are to be the same
    inputs = again.trace.random.apart()
    projections = [{"$tensor": arrays.to_numpy(inputs.normal(*value.shape))} for value in results.values()]
    again.ops.append(Gradients([again.fresh[at] for at in results], projections, leaves, modules, to))
    again.ops.append(Output("gradient", to))
    again.specs["gradient"] = Spec(relation=again.relation, rtol=2e-3, of_largest=OF_LARGEST)


def _free(name: str, taken: Iterable[str]) -> str:
    """Return the name, with a number where it is taken."""
    return next(free for free in chain([name], (f"{name} ({n})" for n in count(2))) if free not in taken)


def _is_varied(array: NDArray[Any]) -> bool:
    """Return whether an input holds real numbers; zeros and ones, such as one-hot rows, are data, not trained."""
    return bool(array.dtype.kind == "f" and not np.isin(array, (0, 1)).all())


def _modes(again: _Again) -> None:
    """Add the same calls in evaluation mode: what differs there also differs in the solution."""
    modules = again.modules()
    if not any(module.training for module in modules.values()):
        return
    again.ops += [Evaluating(at) for at in modules]
    again.repeat()
    again.outputs("in evaluation")


MAKERS = {"gradient": _gradient, "other inputs": _other_inputs, "memory": _memory, "modes": _modes}
