"""The tape that a check is recorded on.

A check is a function of a `Tape`. It runs once, on the solution, and every call it makes through the tape's
handles is written down as an operation of `tp.replay`. What stands on the tape afterwards is calls and inputs:
it can be replayed on any other definitions of the same names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps

import numpy as np
import torch

from tp.replay import Replayer, source_of

REDRAWS = 100


@dataclass(frozen=True)
class Check:
    exercise: str
    name: str
    program: object
    weight: float

    @property
    def says(self) -> str:
        """The sentence that tells a student what this check looks at."""
        return " ".join((self.program.__doc__ or self.name).split())


def check(exercise: str, points: float = 1):
    """Declare a function of a tape to be a check of ``exercise``; ``points`` is its share among that exercise's checks."""

    def declare(program):
        @wraps(program)
        def run(tape):
            return program(tape)

        run.check = Check(exercise, program.__name__.replace("_", "-"), program, points)
        return run

    return declare


class CheckError(Exception):
    """A check cannot be recorded: the fault is the course's, not a student's."""


class Redraw(Exception):
    """This draw could not tell right from wrong: take another."""


class Tape:
    """Records the operations of one check while they run on the solution."""

    device = property(lambda self: _DEVICE, doc="The device of the replay, to pass as an argument.")

    def __init__(self, namespace: dict, seed: int):
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.generator = torch.Generator().manual_seed(int(self.rng.integers(2**31)))
        self.ops = []
        self.specs = {}
        self.replayer = Replayer(namespace)
        self.count = 0

    # Draws

    def sizes(self, letters: str, low: int = 3, high: int | None = None) -> list[int]:
        """A distinct random size for each letter, from ``low`` up."""
        count = len(letters.split())
        high = low + max(count + 2, 5) if high is None else high
        return [int(n) for n in self.rng.choice(np.arange(low, high + 1), count, replace=False)]

    def integer(self, low: int, high: int) -> int:
        """A random integer in [low, high)."""
        return int(self.rng.integers(low, high))

    def choice(self, values):
        return values[int(self.rng.integers(len(values)))]

    def normal(self, *shape, scale: float = 1.0, dtype=torch.float32) -> torch.Tensor:
        return (torch.randn(shape, generator=self.generator) * scale).to(dtype)

    def uniform(self, *shape) -> torch.Tensor:
        return torch.rand(shape, generator=self.generator)

    def integers(self, low: int, high: int, *shape) -> torch.Tensor:
        """Random int64 values in [low, high)."""
        return torch.randint(low, high, shape, generator=self.generator)

    def one_hot(self, size: int, *shape) -> torch.Tensor:
        """Random one-hot vectors of the given size, as float32: (*shape, size)."""
        return torch.nn.functional.one_hot(self.integers(0, size, *shape), size).float()

    def require(self, condition) -> None:
        """Draw everything again unless ``condition`` holds."""
        if not condition:
            raise Redraw

    def clear_margin(self, handle, dim: int = -1, margin: float = 1e-3) -> None:
        """Draw again when the two largest values along ``dim`` are closer than ``margin``."""
        values = handle.value if isinstance(handle, Handle) else handle
        if values.shape[dim] > 1:
            top = values.topk(2, dim=dim).values
            self.require((top.select(dim, 0) - top.select(dim, 1)).min() > margin)

    # Names and calls

    def __getitem__(self, name: str) -> "Handle":
        """A name of the notebook."""
        return self._do("name", name=name)

    torch = property(lambda self: self._do("module", name="torch"))
    numpy = property(lambda self: self._do("module", name="numpy"))

    def module(self, name: str) -> "Handle":
        """One of the libraries that `tp.replay` knows, by its full name."""
        return self._do("module", name=name)

    def unpack(self, handle: "Handle", n: int) -> list["Handle"]:
        """The ``n`` results of a call that returns a tuple."""
        registers = [self._register() for _ in range(n)]
        self._step({"op": "unpack", "of": handle._at, "to": registers})
        return [Handle(self, register) for register in registers]

    def weights(self, module: "Handle", scale: float = 1.0) -> None:
        """Normally distributed values for all parameters: far larger than torch's own, so that a lost state shows."""
        values = {name: self.normal(*p.shape, scale=scale, dtype=p.dtype).numpy() for name, p in module.value.named_parameters()}
        self._step({"op": "weights", "of": module._at, "values": values})

    def standin(self, name: str, thing) -> "Handle":
        """Put ``thing``, a self-contained class or function, in the place of ``name`` for this check."""
        return self._do("define", source=source_of(thing), name=thing.__name__, replaces=name)

    def define(self, thing) -> "Handle":
        """A self-contained class or function as a handle, to call or to pass on."""
        return self._do("define", source=source_of(thing), name=thing.__name__)

    def leaf(self, tensor: torch.Tensor) -> "Handle":
        """An input that requires a gradient."""
        return self._do("leaf", value=_encode(tensor))

    def backward(self, handle: "Handle") -> None:
        """Backward from a fixed random projection of the result."""
        projection = self.normal(*handle.value.shape)
        self._step({"op": "backward", "of": handle._at, "projection": _encode(projection)})

    def evaluating(self, module: "Handle") -> None:
        """Dropout off, without calling ``eval`` (which a student's class may have made into something else)."""
        self._step({"op": "evaluating", "of": module._at})

    def attempt(self, function: "Handle", *args, **kwargs) -> "Handle":
        """The name of the exception that a call raises, or "no error"."""
        return self._do("attempt", f=function._at, args=_encode(list(args)), kwargs={k: _encode(v) for k, v in kwargs.items()})

    def forbid(self, *names: str) -> None:
        """Torch functions that do not count in this check."""
        self._step({"op": "forbid", "names": list(names)})

    def seed(self, value: int) -> None:
        """Seed all generators of the kernel here."""
        self._step({"op": "seed", "value": value})

    def output(self, name: str, handle: "Handle", axes: str | None = None, atol: float | None = None, rtol: float | None = None,
               sums_to_one: str | None = None, holds=None) -> None:
        """A named result of the check; see docs/authoring.md for what may be said about it."""
        spec = {"axes": axes, "atol": atol, "rtol": rtol, "sums_to_one": sums_to_one, "holds": source_of(holds) if holds else None}
        self.specs[name] = {key: value for key, value in spec.items() if value is not None}
        self._step({"op": "output", "name": name, "of": handle._at})

    # The tape itself

    def _register(self) -> int:
        self.count += 1
        return self.count

    def _do(self, kind: str, **fields) -> "Handle":
        register = self._register()
        self._step({"op": kind, "to": register, **fields})
        return Handle(self, register)

    def _step(self, op: dict) -> None:
        self.ops.append(op)
        if not self.replayer.step(op):
            error = self.replayer.error
            raise CheckError(f"operation {op['op']} fails on the solution: {error['type']}: {error['message']}")


class Handle:
    """Something that a call of the check made; using it records another call."""

    def __init__(self, tape: Tape, at: int):
        object.__setattr__(self, "_tape", tape)
        object.__setattr__(self, "_at", at)

    @property
    def value(self):
        """What it is on the solution, for draws that depend on it; never part of the transcript."""
        return self._tape.replayer.registers[self._at]

    def __call__(self, *args, **kwargs):
        return self._tape._do("call", f=self._at, args=_encode(list(args)), kwargs={k: _encode(v) for k, v in kwargs.items()})

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._tape._do("attr", of=self._at, name=name)

    def __setattr__(self, name, value):
        self._tape._step({"op": "set", "of": self._at, "name": name, "value": _encode(value)})

    def __getitem__(self, key):
        return self._tape._do("item", of=self._at, key=_encode(key))

    def __iter__(self):
        raise CheckError("a handle cannot be unpacked by itself: use t.unpack(handle, n)")

    def __bool__(self):
        raise CheckError("a check cannot branch on a handle: use handle.value, and t.require")


class _Device:
    pass


_DEVICE = _Device()


def _encode(value):
    """An argument as a transcript holds it."""
    if isinstance(value, Handle):
        return {"$ref": value._at}
    if value is _DEVICE:
        return {"$device": True}
    if isinstance(value, torch.Tensor):
        return {"$tensor": value.detach().cpu().contiguous().numpy()}
    if isinstance(value, torch.dtype):
        return {"$dtype": str(value).removeprefix("torch.")}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, slice):
        return {"$slice": [value.start, value.stop, value.step]}
    if isinstance(value, tuple):
        return {"$tuple": [_encode(item) for item in value]}
    if isinstance(value, list):
        return [_encode(item) for item in value]
    if isinstance(value, dict):
        return {"$dict": [[_encode(k), _encode(v)] for k, v in value.items()]}
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray)):
        return value
    raise CheckError(f"a {type(value).__name__} cannot be an argument of a check: use t.define for code of your own")


def record(check: Check, namespace: dict, seed: int) -> dict:
    """Record a check on the solution in ``namespace``.

    Returns ``{"calls": the transcript to replay, "expected": the solution's reply, "specs": what is said of the outputs}``.
    """
    for attempt in range(REDRAWS):
        tape = Tape(namespace, (seed + attempt) % 2**63)
        try:
            with tape.replayer.running():
                check.program(tape)
        except Redraw:
            continue
        if not tape.specs:
            raise CheckError(f"{check.exercise}/{check.name} has no output")
        return {"calls": {"ops": tape.ops}, "expected": tape.replayer.reply(), "specs": tape.specs}
    raise CheckError(f"{check.exercise}/{check.name}: no clear draw in {REDRAWS} tries")
