"""Metamorphic relations, which every right answer fulfils. Each adds some operations behind those of a check.

They are made on the solution first, as the check itself is, so that what is expected is what the solution answers. A
relation that the solution cannot follow in some check does not apply there; one that should not is switched off by
name and reason, `@check("fit", skip_relations={"repeated call": "training goes on from where it stopped"})`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime import arrays
from ..runtime.operations import (
    Argument,
    Attribute,
    Call,
    EvalMode,
    Gradients,
    Item,
    Leaf,
    Op,
    Output,
    SetWeights,
    Unpack,
    free_name,
    parameter_names,
)
from ..runtime.recorded import OutputSpec, Relation
from .trace import GRADIENT_ATOL_OF_MAX, Trace

RTOL = 2e-3  # of a gradient
RESULTS = (np.ndarray, np.generic, tuple, list, dict, set, str, int, float, type(None))  # of calls that are repeated


@dataclass(frozen=True)
class Addition:
    """The operations of one relation, and the specs of their outputs."""

    relation: Relation
    ops: list[Op]
    specs: dict[str, OutputSpec]


def additions(trace: Trace, other_ops: list[Op] | None) -> Iterator[Addition]:
    """Yield the operations of each relation that applies to the check on ``trace``.

    ``other_ops`` are its operations on another instance.
    """
    for relation, make in MAKERS.items():
        repetition = _Repetition(trace, relation, other_ops)
        make(repetition)
        if repetition.specs:
            yield Addition(relation, repetition.ops, repetition.specs)


class _Repetition:
    """The calls of a check repeated on the objects that it made, and the specs of their outputs."""

    def __init__(self, trace: Trace, relation: Relation, other_ops: list[Op] | None):
        self.trace, self.relation, self.other_ops = trace, relation, other_ops
        self.calls = list(trace.ops)
        self.values = dict(trace.replayer.registers)  # register → its value on the solution
        self.ops: list[Op] = []
        self.specs: dict[str, OutputSpec] = {}
        self.new_registers: dict[int, int] = {}  # register of the first time → that of the repetition

    def modules(self) -> dict[int, Any]:
        """Return the networks that the check made, by register."""
        registers = [op.to for op in self.calls if isinstance(op, Call)]
        return {register: self.values[register] for register in registers if arrays.is_module(self.values[register])}

    def weights(self, ops: list[Op]) -> list[SetWeights]:
        """Return the operations that give networks their parameters, where those still fit."""
        return [op for op in ops if isinstance(op, SetWeights) and _fits(op, self.values[op.of])]

    def repeat(self, argument: Callable[[Argument, str], Argument] = lambda tree, name: tree,
               ops: list[Op] | None = None) -> None:
        """Repeat all calls; ``argument`` may replace an argument, given as a trace holds it with its name."""
        for op in ops or self.calls:
            match op:
                case Call(to=to) if self._is_result(to):
                    self.ops.append(self._repeated(op, argument))
                case Unpack(of=of, to=parts) if of in self.new_registers:
                    self.ops.append(Unpack(self.new_registers[of], [self._new_register(part) for part in parts]))
                case Item(of=of, key=key, to=to) if of in self.new_registers:
                    self.ops.append(Item(self.new_registers[of], self._mapped(key), self._new_register(to)))
                case Attribute(of=of, name=name, to=to) if name != "grad" and (
                        of in self.new_registers or self._is_result(to)):
                    self.ops.append(Attribute(self.new_registers.get(of, of), name, self._new_register(to)))

    def outputs(self, suffix: str) -> None:
        """Append the outputs of the check, as they are in the repetition."""
        for op in self.calls:
            if isinstance(op, Output) and op.of in self.new_registers:
                name = f"{op.name} {suffix}"
                self.ops.append(Output(name, self.new_registers[op.of]))
                self.specs[name] = replace(self.trace.specs[op.name], relation=self.relation)

    def _repeated(self, op: Call, argument: Callable[[Argument, str], Argument]) -> Op:
        names = parameter_names(self.values[op.f])
        args = [argument(self._mapped(tree), names[i] if i < len(names) else f"input {i + 1}")
                for i, tree in enumerate(op.args)]
        kwargs = {name: argument(self._mapped(tree), name) for name, tree in op.kwargs.items()}
        return replace(op, f=self.new_registers.get(op.f, op.f), args=args, kwargs=kwargs, to=self._new_register(op.to))

    def _is_result(self, register: int) -> bool:
        return isinstance(self.values[register], RESULTS) or arrays.is_tensor(self.values[register])

    def _new_register(self, register: int) -> int:
        self.new_registers[register] = self.trace.register()
        return self.new_registers[register]

    def _mapped(self, tree: Any) -> Any:
        """Return an argument with references to results of the first run replaced by those of this run."""
        if isinstance(tree, list):
            return [self._mapped(item) for item in tree]
        if isinstance(tree, dict):
            (kind, content), *_ = tree.items()
            return {kind: self.new_registers.get(content, content) if kind == "$ref" else self._mapped(content)}
        return tree


def _other_inputs(repetition: _Repetition) -> None:
    """Add the calls with other inputs and parameters: the first answers must not influence these."""
    if repetition.other_ops is None:
        return
    repetition.ops += repetition.weights(repetition.other_ops)
    repetition.repeat(ops=repetition.other_ops)
    repetition.outputs("with other inputs")
    repetition.ops += repetition.weights(repetition.calls)


def _repeated_call(repetition: _Repetition) -> None:
    """Add the same calls again: the answers are the same."""
    repetition.repeat()
    repetition.outputs("when called again")


def _fits(op: SetWeights, module: Any) -> bool:
    """Return whether weights still fit a network, a part of which the check may have replaced since."""
    return {name: value.shape for name, value in op.values.items()} == {
        name: tuple(parameter.shape) for name, parameter in module.named_parameters()}


def _gradient(repetition: _Repetition) -> None:
    """Add gradients of a fixed random projection of all results, with respect to all inputs and parameters."""
    leaves: dict[str, int] = {}

    def leaf(tree: Any, name: str) -> Any:
        if not isinstance(tree, dict) or "$tensor" not in tree or not _is_varied(tree["$tensor"]):
            return tree
        name = free_name(name, leaves, "{} ({})")
        leaves[name] = repetition.trace.register()
        repetition.ops.append(Leaf(tree, leaves[name]))
        return {"$ref": leaves[name]}

    repetition.repeat(leaf)
    outputs = [op.of for op in repetition.calls if isinstance(op, Output) and op.of in repetition.new_registers]
    results = {at: repetition.values[at] for at in outputs if arrays.is_real(repetition.values[at])}
    modules: dict[str, int] = {}
    for at, module in repetition.modules().items():
        modules[free_name(type(module).__name__, modules, "{} ({})")] = at
    if not results or not (leaves or modules):
        return
    register = repetition.trace.register()
    # not of the trace's own generator: when a relation is given up, the others are made anew, and are to be the same
    inputs = type(repetition.trace.inputs)(repetition.trace.inputs_seed + 1)
    projections = [{"$tensor": arrays.to_numpy(inputs.normal(*value.shape))} for value in results.values()]
    results_again = [repetition.new_registers[result] for result in results]
    repetition.ops.append(Gradients(results_again, projections, leaves, modules, register))
    repetition.ops.append(Output("gradient", register))
    rtol = max([RTOL, *(spec.rtol or 0.0 for spec in repetition.trace.specs.values())])  # rounding goes on into them
    repetition.specs["gradient"] = OutputSpec(relation=repetition.relation, rtol=rtol, atol_of_max=GRADIENT_ATOL_OF_MAX)


def _is_varied(array: NDArray[Any]) -> bool:
    """Return whether an input holds real numbers; zeros and ones, such as one-hot rows, are data, not trained."""
    return bool(array.dtype.kind == "f" and not np.isin(array, (0, 1)).all())


def _evaluation(repetition: _Repetition) -> None:
    """Add the same calls in evaluation mode: what differs there also differs in the solution."""
    modules = repetition.modules()
    if not any(module.training for module in modules.values()):
        return
    repetition.ops += [EvalMode(at) for at in modules]
    repetition.repeat()
    repetition.outputs("in evaluation")


MAKERS: dict[Relation, Callable[[_Repetition], None]] = {
    "repeated call": _repeated_call, "gradient": _gradient, "other inputs": _other_inputs, "evaluation": _evaluation}
