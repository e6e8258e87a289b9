"""The operations of recorded calls: what each does on a replay, and its form as a tree for `wire`.

Registers are numbers that stand for the objects that calls made; those never leave the process. An argument is plain
data: numbers, texts, lists, numpy arrays, and dicts of one key that says what is meant: ``{"$ref": 3}`` is the object
in a register, ``{"$tensor": array}`` a tensor, and so on: see `State.value`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import types
from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, ClassVar, dataclass_transform

from numpy.typing import NDArray

from . import arrays
from .state import MissingName, ReplayError, State
from .text import with_article
from .values import describe

LIBRARIES = ("torch", "torch.nn", "torch.nn.functional", "torch.optim", "numpy")
Argument = Any  # as it is described above
OPERATIONS: dict[str, type[Op]] = {}  # by what a tree calls them


@dataclass_transform(frozen_default=True, eq_default=False)
class Op:
    """One operation, a frozen dataclass. Its fields are what stands in a tree, under the same names."""

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str) -> None:
        cls.kind = kind
        OPERATIONS[kind] = dataclass(frozen=True, eq=False)(cls)

    def run(self, state: State) -> None:
        """Execute the operation."""
        raise NotImplementedError

    def to_tree(self) -> dict[str, Any]:
        """Return the operation as a tree that `wire` can pack."""
        return {"op": self.kind, **vars(self)}


class Name(Op, kind="name"):
    """Look up a name of the notebook."""

    name: str
    to: int

    def run(self, state: State) -> None:
        if self.name not in state.namespace:
            raise MissingName(f"`{self.name}` is not defined")
        state.registers[self.to] = state.namespace[self.name]


class Library(Op, kind="module"):
    """Import one of `LIBRARIES`."""

    name: str
    to: int

    def run(self, state: State) -> None:
        if self.name not in LIBRARIES:
            raise ReplayError(f"no library {self.name}")
        state.registers[self.to] = importlib.import_module(self.name)


class Attribute(Op, kind="attr"):
    """Take an attribute."""

    of: int
    name: str
    to: int

    def run(self, state: State) -> None:
        state.registers[self.to] = getattr(state.registers[self.of], self.name)


class SetAttribute(Op, kind="set"):
    """Set an attribute."""

    of: int
    name: str
    value: Argument

    def run(self, state: State) -> None:
        setattr(state.registers[self.of], self.name, state.value(self.value))


class Item(Op, kind="item"):
    """Take an item."""

    of: int
    key: Argument
    to: int

    def run(self, state: State) -> None:
        whole, key = state.registers[self.of], state.value(self.key)
        try:
            state.registers[self.to] = whole[key]
        except (IndexError, KeyError) as error:
            if type(whole) not in (list, tuple, str, dict):
                raise
            raise ReplayError(f"a result is {_a(whole)} without an item that the check reads") from error


class Unpack(Op, kind="unpack"):
    """Take a tuple apart."""

    of: int
    to: list[int]

    def run(self, state: State) -> None:
        result = state.registers[self.of]
        if not isinstance(result, (tuple, list)):
            raise ReplayError(f"your code returns {_a(result)}, expected a tuple of {len(self.to)}")
        if len(result) != len(self.to):
            raise ReplayError(f"your code returns a tuple of {len(result)}, expected {len(self.to)} values")
        state.registers.update(zip(self.to, result, strict=True))


class Call(Op, kind="call"):
    """Call something, and note what the call changes besides."""

    f: int
    args: list[Argument]
    kwargs: dict[str, Argument]
    to: int

    def run(self, state: State) -> None:
        function = state.registers[self.f]
        args = state.value(self.args)
        kwargs = {key: state.value(value) for key, value in self.kwargs.items()}
        with state.observed_call(function, [args, kwargs]) if state.track_effects else contextlib.nullcontext():
            result = function(*args, **kwargs)
        if state.device != "cpu" and arrays.is_module(result):
            result.to(state.device)  # to where its inputs are: a check need not think of it
        state.registers[self.to] = result


class SetWeights(Op, kind="set-weights"):
    """Give a network its parameters."""

    of: int
    values: dict[str, NDArray[Any]]

    def run(self, state: State) -> None:
        parameters = dict(state.registers[self.of].named_parameters())
        for name, value in self.values.items():
            if name not in parameters:
                names = ", ".join(sorted(parameters)) or "none"
                raise ReplayError(f"the parameter `{name}` is missing (there are: {names})")
            shape = tuple(parameters[name].shape)
            if shape != value.shape:
                raise ReplayError(f"the parameter `{name}` has shape {shape}, expected {value.shape}")
            arrays.set_parameter(parameters[name], value)


class Define(Op, kind="define"):
    """Make a class or function of the check's; it may stand in the place of a name, or be like one."""

    source: str
    name: str
    to: int
    replaces: str | None = None
    like: str | None = None

    def run(self, state: State) -> None:
        scope = arrays.stub_scope()
        exec(_compiled(self.source), scope)
        if self.replaces:
            state.namespace[self.replaces] = scope[self.name]
        state.registers[self.to] = scope[self.name]


class Leaf(Op, kind="leaf"):
    """Make an input that requires a gradient."""

    value: Argument
    to: int

    def run(self, state: State) -> None:
        state.registers[self.to] = state.value(self.value).requires_grad_(True)


class Backward(Op, kind="backward"):
    """Go backward from a projection of a result."""

    of: int
    projection: Argument

    def run(self, state: State) -> None:
        result, projection = state.registers[self.of], state.value(self.projection)
        if not arrays.is_tensor(result):
            raise ReplayError(f"your code returns {_a(result)}, expected a tensor")
        if result.shape != projection.shape:
            raise ReplayError(f"the result has shape {tuple(result.shape)}, expected {tuple(projection.shape)}")
        if not result.requires_grad:
            raise ReplayError("the result has no gradient; that is so, for example, of whole numbers, and of what is "
                              "detached, computed in `torch.no_grad()`, or computed without torch")
        arrays.dot(result, projection).backward()


class Gradients(Op, kind="gradients"):
    """Go backward from a projection of several results; keep what arrives at leaves and at parameters, by name."""

    of: list[int]
    projections: list[Argument]
    leaves: dict[str, int]
    modules: dict[str, int]
    to: int

    def run(self, state: State) -> None:
        inputs = {name: state.registers[register] for name, register in self.leaves.items()}
        for name, register in self.modules.items():
            for parameter_name, parameter in state.registers[register].named_parameters():
                inputs[f"{name}.{parameter_name}"] = parameter
        total: Any = 0.0
        for register, projection in zip(self.of, self.projections, strict=True):
            result, direction = state.registers[register], state.value(projection)
            if arrays.is_tensor(result) and result.shape == direction.shape and result.requires_grad:
                total = total + arrays.dot(result, direction)
        state.registers[self.to] = arrays.gradients(total, inputs)


class EvalMode(Op, kind="eval-mode"):
    """Set a network to evaluation, without calling what a student's class may have made of ``eval``."""

    of: int

    def run(self, state: State) -> None:
        for module in state.registers[self.of].modules():
            module.training = False


class Forbid(Op, kind="forbid"):
    """Name functions of torch, and packages, that do not count."""

    names: list[str]

    def run(self, state: State) -> None:
        if state.track_effects and self.names and not state.forbidden:  # it takes time
            state.stack.enter_context(state.torch_watched())
        state.forbidden.update(self.names)


class Output(Op, kind="output"):
    """Name a result of the check."""

    name: str
    of: int

    def run(self, state: State) -> None:
        state.outputs[self.name] = describe(state.registers[self.of])


def from_tree(tree: dict[str, Any]) -> Op:
    """Return the operation that a tree of the judge, or of a released file, holds."""
    return OPERATIONS[tree["op"]](**{name: value for name, value in tree.items() if name != "op"})


def names_in(ops: Iterable[Op]) -> set[str]:
    """Return the names of the notebook that operations look up."""
    return {op.name for op in ops if isinstance(op, Name)}


@functools.lru_cache(256)
def _compiled(source: str) -> types.CodeType:
    return compile(source, "<stub>", "exec")


def parameter_names(function: Any) -> list[str]:
    """Return the names of a function's parameters, without ``self``; of a network, those of ``forward``.

    Return none where there is no signature.
    """
    try:
        parameters = inspect.signature(function.forward if arrays.is_module(function) else function).parameters
    except (TypeError, ValueError):
        return []
    return [name for name in parameters if name != "self"]


def free_name(name: str, taken: Container[str], numbered: str = "{} {}") -> str:
    """Return the name, or the first with a number from 2 up that is not taken."""
    return next(free for free in chain([name], (numbered.format(name, number) for number in count(2)))
                if free not in taken)


def _a(value: object) -> str:
    return "None (is a `return` missing?)" if value is None else with_article(type(value).__name__)
