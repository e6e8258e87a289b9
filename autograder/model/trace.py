"""The trace that a check is recorded on.

A check is a function of a `Trace`. It runs once, on the solution, and every call it makes through the trace's
handles is written down as one of `autograder.runtime.operations`. What stands on the trace afterwards is calls
and inputs: it can be replayed on any other definitions of the same names.
"""

from __future__ import annotations

import builtins
import inspect
import math
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from numbers import Real
from typing import Any, NoReturn, TypeVar

import numpy as np

from ..metadata import CourseMetadata
from ..runtime import arrays
from ..runtime.operations import (
    Argument,
    Attribute,
    Backward,
    Call,
    Define,
    EvalMode,
    Forbid,
    Item,
    Leaf,
    Library,
    Name,
    Op,
    Output,
    SetAttribute,
    SetWeights,
    Unpack,
)
from ..runtime.recorded import RELATIONS, OutputSpec
from ..runtime.replay import Replayer
from ..runtime.state import LOOP
from ..runtime.text import with_article
from .errors import SourceError, source_error
from .random_inputs import NumpyInputs, TorchInputs

GRADIENT_ATOL_OF_MAX = 1e-3  # gradients are sums in which much may cancel: rounding is measured by the largest
Program = Callable[["Trace"], None]
T = TypeVar("T")


@dataclass(frozen=True)
class Check:
    """A program over the names of an exercise, and its weight among that exercise's checks."""

    exercise: str
    name: str
    program: Program
    weight: float
    skip_relations: Mapping[str, str] = field(default_factory=dict, compare=False)  # relation → why not here

    @property
    def description(self) -> str:
        """The sentence that says to a student what this check tests."""
        return " ".join((self.program.__doc__ or self.name).split())

    @property
    def where(self) -> tuple[str, int]:
        """File and line of the program."""
        return self.program.__code__.co_filename, self.program.__code__.co_firstlineno


def check(exercise: str, weight: float = 1,
          skip_relations: Mapping[str, str] | None = None) -> Callable[[Program], Program]:
    """Declare a function of a trace to be a check of ``exercise``; ``weight`` is its share among that exercise's.

    ``skip_relations`` switches relations off for it: the name of each, and why.
    """
    caller = sys._getframe(1)
    where = caller.f_code.co_filename, caller.f_lineno
    if not isinstance(exercise, str):
        raise source_error(*where, 'a check names its exercise: write @check("exercise")')
    if not isinstance(skip_relations or {}, Mapping):
        raise source_error(*where, "skip_relations is a dict: the name of each relation, and why")
    unknown = set(skip_relations or ()) - set(RELATIONS)
    if unknown:
        names = ", ".join(sorted(map(str, unknown)))
        raise source_error(*where, f"there is no relation called {names}; there are: {', '.join(RELATIONS)}")

    def declare(program: Program) -> Program:
        name = program.__name__.replace("_", "-")
        declared = Check(exercise, name, program, weight, skip_relations or {})
        if not (program.__doc__ or "").strip():
            raise source_error(*declared.where, f"the check {name} has no docstring: it is what a student reads")
        if not 0 < weight < math.inf:
            raise source_error(*declared.where, f"the check {name} has the weight {weight}, which must be positive")
        program.check = declared  # type: ignore[attr-defined]
        return program

    return declare


class CheckError(SourceError):
    """A check cannot be recorded, because of a mistake in the course."""


class InstanceRejected(Exception):
    """The check rejects this instance, and another is drawn."""


class Trace:
    """Records the operations of one check while they run on the solution."""

    def __init__(self, namespace: dict[str, Any], seed: int, metadata: CourseMetadata,
                 fixed_sizes: Mapping[str, int] | None = None):
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.inputs_seed = int(self.rng.integers(2**31))
        self.uses_torch = metadata.arrays == "torch"
        if self.uses_torch and arrays.torch_or_none() is None:
            raise CheckError('torch is not installed; a course without it has arrays = "numpy" in its course.toml')
        make_inputs = TorchInputs if self.uses_torch else NumpyInputs
        self.inputs: NumpyInputs | TorchInputs = make_inputs(self.inputs_seed)
        self.generator = self.inputs.generator
        self.normal, self.uniform, self.integers, self.one_hot = (
            self.inputs.normal, self.inputs.uniform, self.inputs.integers, self.inputs.one_hot)
        self.ops: list[Op] = []
        self.specs: dict[str, OutputSpec] = {}
        self.lines: dict[str, int] = {}  # of the check's file, in which an output is named
        self.replayer = Replayer(namespace)
        self.last_register = 0
        self.fixed_sizes = fixed_sizes or {}  # by the names of the axes
        self.axes: dict[str, int] = {}

    @property
    def device(self) -> object:
        """The device of the replay, to pass as an argument."""
        return _DEVICE

    # Random inputs

    def sizes(self, letters: str, smallest: int = 3, largest: int | None = None) -> list[int]:
        """Return a distinct random size for each letter, from ``smallest`` to ``largest``."""
        names = letters.split()
        largest = smallest + max(len(names) + 2, 5) if largest is None else largest
        chosen = self.rng.choice(np.arange(smallest, largest + 1), len(names), replace=False)
        sizes = {name: self.fixed_sizes.get(name, int(size)) for name, size in zip(names, chosen, strict=True)}
        self.axes.update(sizes)
        return list(sizes.values())

    def integer(self, low: int, high: int) -> int:
        """Return a random integer in [low, high)."""
        return int(self.rng.integers(low, high))

    def choice(self, values: list[T] | tuple[T, ...]) -> T:
        """Return one of the values."""
        return values[int(self.rng.integers(len(values)))]

    def assume(self, condition: Any) -> None:
        """Draw everything again unless ``condition`` holds."""
        if not condition:
            raise InstanceRejected

    def assume_margin(self, handle: Handle | Any, dim: int = -1, margin: float = 1e-3) -> None:
        """Draw again when the two largest values along ``dim`` are closer than ``margin``."""
        values = handle.value if isinstance(handle, Handle) else handle
        values = arrays.to_numpy(values) if arrays.is_tensor(values) else np.asarray(values)
        if values.shape[dim] > 1:
            top = np.sort(values, axis=dim).take([-2, -1], axis=dim)
            self.assume(np.diff(top, axis=dim).min() > margin)

    # Names and calls

    def __getitem__(self, name: str) -> Handle:
        """Return a name of the notebook."""
        return self.make(Name, name=name)

    @property
    def torch(self) -> Handle:
        """The library in the kernel."""
        self._require_torch("torch")
        return self.library("torch")

    def library(self, name: str) -> Handle:
        """Return one of the libraries in `autograder.runtime.operations.LIBRARIES`, by its full name."""
        return self.make(Library, name=name)

    def unpack(self, handle: Handle, n: int) -> list[Handle]:
        """Return the ``n`` results of a call that returns a tuple."""
        registers = [self.register() for _ in range(n)]
        self.step(Unpack(handle._at, registers))
        return [Handle(self, register) for register in registers]

    def randomise_weights(self, module: Handle, scale: float = 1.0) -> None:
        """Give all parameters normally distributed values: far larger than torch's own, so that a lost state shows."""
        self._require_torch("randomise_weights")
        values = {name: arrays.to_numpy(self.normal(*parameter.shape, scale=scale, dtype=parameter.dtype))
                  for name, parameter in module.value.named_parameters()}
        self.step(SetWeights(module._at, values))

    def stub(self, name: str, thing: Callable[..., Any]) -> Handle:
        """Put ``thing``, a self-contained class or function, in the place of ``name`` for this check."""
        return self.make(Define, source=_own_source(thing), name=thing.__name__, replaces=self._defined(name))

    def define(self, thing: Callable[..., Any], like: str | None = None) -> Handle:
        """Define a self-contained class or function in the kernel: a handle, to call or to pass on.

        ``like`` is the name in the notebook that it stands for, if there is one: the audit compares both.
        """
        return self.make(Define, source=_own_source(thing), name=thing.__name__, like=like and self._defined(like))

    def leaf(self, tensor: Any) -> Handle:
        """Make an input that requires a gradient."""
        self._require_torch("leaf")
        return self.make(Leaf, value=_encode(tensor))

    def backward(self, handle: Handle) -> None:
        """Run backward from a fixed random projection of the result."""
        self._require_torch("backward")
        projection = self.normal(*handle.value.shape)
        self.step(Backward(handle._at, _encode(projection)))

    def eval_mode(self, module: Handle) -> None:
        """Switch dropout off, without calling ``eval`` (which a student's class may have made into something else)."""
        self._require_torch("eval_mode")
        self.step(EvalMode(module._at))

    def forbid(self, *names: str) -> None:
        """Forbid torch functions and packages that do not count; loops are allowed where a size is fixed to one."""
        self.step(Forbid([name for name in names if name != LOOP or 1 not in self.fixed_sizes.values()]))

    def output(self, name: str, handle: Handle, axes: str | None = None, atol: float | None = None,
               rtol: float | None = None, sums_to_one: str | None = None,
               predicate: Callable[[Any], str | None] | None = None) -> None:
        """Name a result of the check; see docs/authoring.md for what may be said about it."""
        if not (isinstance(name, str) and isinstance(handle, Handle)):
            raise CheckError("t.output takes a name, and what a call of the check returned")
        if not isinstance(axes, str | None):
            raise CheckError(f"{name}: axes={axes!r} is no string of letters, such as 'T B'")
        for tolerance in (atol, rtol):
            if tolerance is not None and not (isinstance(tolerance, Real) and tolerance >= 0):
                raise CheckError(f"{name}: the tolerance {tolerance!r} is no number from 0 on")
        if name in self.specs:
            raise CheckError(f"two outputs are called {name!r}: only the last of them would be compared")
        if sums_to_one and sums_to_one not in (axes or "").split():
            raise CheckError(f"{name}: sums_to_one={sums_to_one!r} is none of its axes, axes={axes!r}")
        self.lines[name] = sys._getframe(1).f_lineno
        is_gradient = any(isinstance(op, Attribute) and (op.name, op.to) == ("grad", handle._at) for op in self.ops)
        self.specs[name] = OutputSpec(axes, atol, rtol, sums_to_one, _own_source(predicate) if predicate else None,
                                      atol_of_max=GRADIENT_ATOL_OF_MAX if is_gradient else None)
        self.step(Output(name, handle._at))

    # The trace itself

    def register(self) -> int:
        """Return the number of a new register."""
        self.last_register += 1
        return self.last_register

    def make(self, kind: Callable[..., Op], **fields: Any) -> Handle:
        """Record an operation that makes something, and return a handle to that."""
        register = self.register()
        self.step(kind(to=register, **fields))
        return Handle(self, register)

    def step(self, op: Op) -> None:
        """Record an operation."""
        self.ops.append(op)
        if not self.replayer.step(op):
            error = self.replayer.error
            assert error
            raise CheckError(f"operation {op.kind} fails on the solution: {error.type}: {error.message}")

    def _require_torch(self, name: str) -> None:
        if not self.uses_torch:
            raise CheckError(f't.{name} needs torch, and course.toml says arrays = "numpy"')

    def _defined(self, name: str) -> str:
        """Return the name of the notebook that a stub stands for."""
        if name not in self.replayer.namespace and not hasattr(builtins, name):
            raise CheckError(f"the notebook does not define {name}, for which there is a stub")
        return name


class Handle:
    """Something that a call of the check made; using it records another call."""

    _trace: Trace
    _at: int

    def __init__(self, trace: Trace, at: int):
        object.__setattr__(self, "_trace", trace)
        object.__setattr__(self, "_at", at)

    @property
    def value(self) -> Any:
        """Its value on the solution, for inputs that depend on it; never part of the recorded calls."""
        return self._trace.replayer.registers[self._at]

    def __call__(self, *args: Any, **kwargs: Any) -> Handle:
        return self._trace.make(Call, f=self._at, args=_encode(list(args)), kwargs=_encoded(kwargs))

    def __getattr__(self, name: str) -> Handle:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._trace.make(Attribute, of=self._at, name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._trace.step(SetAttribute(self._at, name, _encode(value)))

    def __getitem__(self, key: Any) -> Handle:
        return self._trace.make(Item, of=self._at, key=_encode(key))

    def __iter__(self) -> Iterator[NoReturn]:
        raise CheckError("a handle cannot be unpacked by itself: use t.unpack(handle, n)")

    def __bool__(self) -> bool:
        raise CheckError("a check cannot branch on a handle: use handle.value, and t.assume")


_DEVICE = object()


@lru_cache(256)  # finding it takes long
def _own_source(thing: Callable[..., Any]) -> str:
    """Return the source of a class or function of the checks module, to be sent to the kernel."""
    if thing.__name__ == "<lambda>":
        raise CheckError("a lambda has no source of its own: write a function")
    return textwrap.dedent(inspect.getsource(thing))


def _encoded(kwargs: dict[str, Any]) -> dict[str, Argument]:
    return {name: _encode(value) for name, value in kwargs.items()}


def _encode(value: Any) -> Argument:
    """Return an argument as a trace holds it."""
    if isinstance(value, Handle):
        return {"$ref": value._at}
    if value is _DEVICE:
        return {"$device": True}
    if arrays.is_tensor(value):
        return {"$tensor": arrays.to_numpy(value)}
    if arrays.is_dtype(value):
        return {"$dtype": arrays.dtype_name(value)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, slice):
        return {"$slice": [_encode(part) for part in (value.start, value.stop, value.step)]}
    if isinstance(value, tuple):
        return {"$tuple": [_encode(item) for item in value]}
    if isinstance(value, list):
        return [_encode(item) for item in value]
    if isinstance(value, dict):
        return {"$dict": [[_encode(k), _encode(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray):  # a copy, as of a tensor: the check may write into it
        return value.copy()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise CheckError(f"{with_article(type(value).__name__)} cannot be an argument of a check: "
                     "use t.define for code of your own, and t.library for what a library makes")
