"""Replay a transcript: the calls of a check, made on whatever definitions a namespace holds.

The same few lines run everywhere a check does: on the solution when it is recorded, on faults and variants
when it is audited, in the student's notebook, and in the grader's kernel. A transcript holds calls and inputs,
never an expected value; what comes back is plain descriptions of the named outputs.

Registers (``{"$ref": n}``) stand for the objects that calls made; they never leave the process.
"""

import contextlib
import functools
import importlib
import inspect
import io
import linecache
import random
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import CodeType
from typing import Any, TextIO

import numpy as np
import torch
from torch import nn

from .observing import Spy, packages_watched
from .recorded import MAX_MESSAGE, Error, Kind, Op, Reply, Where
from .values import Value, a, describe, short

SEED = 1_409_0473  # of all generators at the start of a replay: a number that nobody seeds with
LOOP = "loop"  # what may be forbidden besides functions of torch and packages
MODULES = ("torch", "torch.nn", "torch.nn.functional", "torch.optim", "numpy")


class Printed(io.StringIO):
    """What is printed into it, ``limit`` characters at most."""

    def __init__(self, limit: int):
        super().__init__()
        self.limit = limit

    def write(self, text: str) -> int:
        """Keep the text as far as there is room."""
        super().write(text[: max(0, self.limit - self.tell())])
        return len(text)


class ReplayError(Exception):
    """The student's definitions do not allow the next call; the message is for the student."""

    kind: Kind = "unusable"


class MissingName(ReplayError):
    """A name that the check calls is not defined."""

    kind = "missing-name"


def replay(ops: list[Op], namespace: dict[str, Any], device: str = "cpu", printed: TextIO | None = None) -> Reply:
    """Make the calls of a transcript on ``namespace``, which is left as it was.

    What the code prints goes to ``printed``; nobody sees it where there is none.
    """
    replayer = Replayer(namespace, device, printed)
    with replayer.running(spy=any(op["op"] == "forbid" for op in ops)):
        for op in ops:
            if not replayer.step(op):
                break
    return replayer.reply()


class Replayer:
    """Executes the operations of a transcript one by one."""

    def __init__(self, namespace: dict[str, Any], device: str = "cpu", printed: TextIO | None = None):
        self.namespace = namespace
        self.device = device
        self.printed = printed or Printed(0)
        self.registers: dict[int, Any] = {}
        self.outputs: dict[str, Value] = {}
        self.error: Error | None = None
        self.mutated: list[int] = []
        self.forbidden: set[str] = set()
        self.called: list[str] = []
        self.torch_calls = 0
        self.lengths: dict[int, int] = {}  # id of a function → torch calls that one call of it makes
        self.changed: list[str] = []
        self.steps = 0

    @contextlib.contextmanager
    def running(self, spy: bool = True) -> Iterator[None]:
        """A defined state of torch while the calls are made, and the old state afterwards."""
        saved = dict(self.namespace)
        with contextlib.ExitStack() as stack:
            stack.enter_context(_clean_state())
            if spy:
                stack.enter_context(Spy(self))
            stack.enter_context(contextlib.redirect_stdout(self.printed))
            stack.enter_context(contextlib.redirect_stderr(Printed(0)))
            try:
                yield
            finally:
                self.namespace.clear()
                self.namespace.update(saved)

    def step(self, op: Op) -> bool:
        """Execute one operation; False when it failed and the rest cannot follow."""
        number, self.steps = self.steps, self.steps + 1
        try:
            getattr(self, "_" + op["op"])(op, number)
            return True
        except Exception as error:
            self.error = replace(describe_error(error, self.namespace), at=number)
            return False

    def reply(self) -> Reply:
        """What came of the operations so far."""
        called, changed = sorted(set(self.called)), sorted(set(self.changed))
        return Reply(self.outputs, self.error, tuple(self.mutated), tuple(called), tuple(changed))

    # Operations: each writes its result into the register op["to"].

    def _name(self, op: Op, number: int) -> None:
        if op["name"] not in self.namespace:
            raise MissingName(f"`{op['name']}` is not defined")
        self.registers[op["to"]] = self.namespace[op["name"]]

    def _module(self, op: Op, number: int) -> None:
        if op["name"] not in MODULES:
            raise ReplayError(f"no module {op['name']}")
        self.registers[op["to"]] = importlib.import_module(op["name"])

    def _attr(self, op: Op, number: int) -> None:
        self.registers[op["to"]] = getattr(self.registers[op["of"]], op["name"])

    def _set(self, op: Op, number: int) -> None:
        setattr(self.registers[op["of"]], op["name"], self.value(op["value"]))

    def _item(self, op: Op, number: int) -> None:
        self.registers[op["to"]] = self.registers[op["of"]][self.value(op["key"])]

    def _unpack(self, op: Op, number: int) -> None:
        result = self.registers[op["of"]]
        if not isinstance(result, (tuple, list)):
            raise ReplayError(f"it returns {_a(result)} where a tuple of {len(op['to'])} is asked for")
        if len(result) != len(op["to"]):
            raise ReplayError(f"it returns a tuple of {len(result)} where {len(op['to'])} values are asked for")
        for register, item in zip(op["to"], result, strict=True):
            self.registers[register] = item

    def _call(self, op: Op, number: int) -> None:
        function = self.registers[op["f"]]
        args = self.value(op["args"])
        kwargs = {key: self.value(value) for key, value in op["kwargs"].items()}
        before, around, so_far = _fingerprint([args, kwargs]), _surroundings(function), self.torch_calls
        with packages_watched(self):
            result = function(*args, **kwargs)
        if isinstance(result, nn.Module) and self.device != "cpu":
            result.to(self.device)  # to where its inputs are: a check need not think of it
        self.registers[op["to"]] = result
        length = self.torch_calls - so_far
        if LOOP in self.forbidden and self.lengths.setdefault(id(function), length) != length:
            self.called.append(LOOP)
        if _fingerprint([args, kwargs]) != before:
            self.mutated.append(number)
        self.changed += [what for what, value in _surroundings(function).items() if value != around[what]]

    def _attempt(self, op: Op, number: int) -> None:
        try:
            self._call(op, number)
            outcome = "no error"
        except NotImplementedError:
            raise
        except Exception as error:
            outcome = type(error).__name__
        self.registers[op["to"]] = outcome

    def _weights(self, op: Op, number: int) -> None:
        parameters = dict(self.registers[op["of"]].named_parameters())
        for name, value in op["values"].items():
            if name not in parameters:
                have = ", ".join(sorted(parameters)) or "none"
                raise ReplayError(f"the parameter `{name}` is missing (there are: {have})")
            parameter = parameters[name]
            if tuple(parameter.shape) != value.shape:
                shape = tuple(parameter.shape)
                raise ReplayError(f"the parameter `{name}` has shape {shape}, it must be {value.shape}")
            with torch.no_grad():
                parameter.copy_(torch.from_numpy(value))

    def _define(self, op: Op, number: int) -> None:
        scope = {"torch": torch, "nn": nn, "F": nn.functional, "np": np, "__name__": "stub"}
        exec(_compiled(op["source"]), scope)
        thing = scope[op["name"]]
        if op.get("replaces"):
            self.namespace[op["replaces"]] = thing
        self.registers[op["to"]] = thing

    def _leaf(self, op: Op, number: int) -> None:
        self.registers[op["to"]] = self.value(op["value"]).requires_grad_(True)

    def _backward(self, op: Op, number: int) -> None:
        result = self.registers[op["of"]]
        if not isinstance(result, torch.Tensor):
            raise ReplayError(f"it returns {_a(result)} where a tensor is asked for")
        projection = self.value(op["projection"])
        if result.shape != projection.shape:
            raise ReplayError(f"the result has shape {tuple(result.shape)}, it must be {tuple(projection.shape)}")
        if not result.requires_grad:
            raise ReplayError("no gradient can flow back from the result: it was detached, or computed without torch")
        (result * projection.to(result.dtype)).sum().backward()

    def _gradients(self, op: Op, number: int) -> None:
        """Backward from a projection of several results; what arrives at leaves and at parameters, by name."""
        wanted = {name: self.registers[at] for name, at in op["leaves"].items()}
        for name, at in op["modules"].items():
            for own, parameter in self.registers[at].named_parameters():
                wanted[f"{name}.{own}"] = parameter
        for tensor in wanted.values():
            tensor.grad = None
        total: Any = 0.0
        for at, projection in zip(op["of"], op["projections"], strict=True):
            result, along = self.registers[at], self.value(projection)
            if isinstance(result, torch.Tensor) and result.shape == along.shape and result.requires_grad:
                total = total + (result * along.to(result.dtype)).sum()
        if isinstance(total, torch.Tensor):
            total.backward()  # type: ignore[no-untyped-call]
        # nothing that arrives and nothing but zeros are one: a right answer may leave out what does not matter
        self.registers[op["to"]] = {name: torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
                                    for name, tensor in wanted.items()}

    def _evaluating(self, op: Op, number: int) -> None:
        for module in self.registers[op["of"]].modules():
            module.training = False

    def _forbid(self, op: Op, number: int) -> None:
        self.forbidden.update(op["names"])

    def _seed(self, op: Op, number: int) -> None:
        _seed_all(op["value"])

    def _output(self, op: Op, number: int) -> None:
        self.outputs[op["name"]] = describe(self.registers[op["of"]])

    def value(self, tree: Any) -> Any:
        """The Python value that an argument of a transcript stands for; tensors are made anew each time."""
        if isinstance(tree, np.ndarray):
            return tree.copy()
        if isinstance(tree, list):
            return [self.value(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        (kind, content), *_ = tree.items()
        if kind == "$ref":
            return self.registers[content]
        if kind == "$tensor":
            return torch.from_numpy(content.copy()).to(self.device)
        if kind == "$tuple":
            return tuple(self.value(item) for item in content)
        if kind == "$dict":
            return {self.value(key): self.value(value) for key, value in content}
        if kind == "$device":
            return torch.device(self.device)
        if kind == "$dtype":
            return getattr(torch, content)
        if kind == "$slice":
            return slice(*content)
        raise ReplayError(f"an argument of unknown kind {kind}")


@functools.lru_cache(256)
def _compiled(source: str) -> CodeType:
    return compile(source, "<stub>", "exec")


def describe_error(error: BaseException, namespace: dict[str, Any]) -> Error:
    """An exception in plain data, with the last line of the student's own code that it passed."""
    where = None
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_globals is namespace:
            line = linecache.getline(frame.f_code.co_filename, trace.tb_lineno).strip()
            where = Where(trace.tb_lineno, short(frame.f_code.co_name), short(line))
        trace = trace.tb_next
    try:
        message = str(error)
    except Exception:
        message = ""
    name = type(error).__name__
    kind: Kind = "not-written" if name == "NotImplementedError" else "raised"
    if isinstance(error, ReplayError):
        kind = error.kind
    return Error(kind, short(name), short(message, MAX_MESSAGE), where)


def _a(value: object) -> str:
    return "nothing (None)" if value is None else a(type(value).__name__)


def _fingerprint(value: Any) -> Any:
    """Something that changes when anything inside ``value`` is written to."""
    if isinstance(value, torch.Tensor):
        return None if value.is_inference() else value._version
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, dict):
        keys = (key if isinstance(key, (str, int, float)) else id(key) for key in value)
        return dict(zip(keys, map(_fingerprint, value.values()), strict=True))
    if isinstance(value, (list, tuple)):
        return [_fingerprint(item) for item in value]
    return value if isinstance(value, (str, int, float, bool)) else id(value)


def _surroundings(function: Any) -> dict[str, Any]:
    """What a call has to leave as it was, by what a student is told when it does not."""
    module = function if isinstance(function, nn.Module) else getattr(function, "__self__", None)
    modes = [part.training for part in module.modules()] if isinstance(module, nn.Module) else []
    found = {
        "the default dtype": torch.get_default_dtype(),
        "whether gradients are computed (`set_grad_enabled`)": torch.is_grad_enabled(),
        "the seed of torch's generator": torch.initial_seed(),
        "the mode of the network (`train`, `eval`)": modes,
    }
    if not isinstance(function, type):  # who makes a network draws its weights
        found |= {
            "the state of torch's generator": torch.get_rng_state().numpy().tobytes(),
            "the state of numpy's generator": _numbers(np.random.get_state(legacy=False)),
            "the state of Python's generator": random.getstate(),
        }
    return found


def _numbers(state: Any) -> Any:
    """The state of numpy's generator as something that can be compared."""
    return state["state"]["pos"], state["state"]["key"].tobytes(), state["has_gauss"], state["gauss"]


def _seed_all(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(seed)


@contextlib.contextmanager
def _clean_state() -> Iterator[None]:
    """float32, gradients on, fixed seeds, full precision, no warnings; whatever was set before comes back."""
    generators = random.getstate(), np.random.get_state(), torch.get_rng_state()
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    tf32 = matmul.allow_tf32, cudnn.allow_tf32
    try:
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(1)
        matmul.allow_tf32 = cudnn.allow_tf32 = False
        _seed_all(SEED)
        with torch.enable_grad(), warnings.catch_warnings(action="ignore"):
            yield
    finally:
        random.setstate(generators[0])
        np.random.set_state(generators[1])
        torch.set_rng_state(generators[2])
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
        matmul.allow_tf32, cudnn.allow_tf32 = tf32


@functools.lru_cache(256)
def source_of(thing: Callable[..., Any]) -> str:
    """The source text of a self-contained class or function, so that it can travel; kept, for finding it takes long."""
    return textwrap.dedent(inspect.getsource(thing))
