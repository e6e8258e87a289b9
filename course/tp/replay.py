"""Replay a transcript: the calls of a check, made on whatever definitions a namespace holds.

The same few lines run everywhere a check does: on the solution when it is recorded, on mistakes and variants
when it is proven, in the student's notebook, and in the grader's kernel. A transcript holds calls and inputs,
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

import numpy as np
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

MODULES = ("torch", "torch.nn", "torch.nn.functional", "torch.optim", "numpy")
MAX_ELEMENTS = 2_000_000
MAX_ITEMS = 5_000


class ReplayError(Exception):
    """The student's definitions do not allow the next call; the message is for the student."""


def replay(transcript: dict, namespace: dict, device: str = "cpu") -> dict:
    """Make the calls of ``transcript["ops"]`` on ``namespace``; the namespace is left as it was.

    Returns ``{"outputs": {name: description}, "error": None or {...}, "mutated": [op numbers], "called": [names]}``.
    """
    replayer = Replayer(namespace, device)
    with replayer.running(spy=any(op["op"] == "forbid" for op in transcript["ops"])):
        for op in transcript["ops"]:
            if not replayer.step(op):
                break
    return replayer.reply()


class Replayer:
    """Executes the operations of a transcript one by one."""

    def __init__(self, namespace: dict, device: str = "cpu"):
        self.namespace = namespace
        self.device = device
        self.registers = {}
        self.outputs = {}
        self.error = None
        self.mutated = []
        self.forbidden = set()
        self.called = []
        self.steps = 0

    @contextlib.contextmanager
    def running(self, spy: bool = True):
        """A defined state of torch while the calls are made, and the old state afterwards."""
        saved = dict(self.namespace)
        with _clean_state(), _Spy(self) if spy else contextlib.nullcontext(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                yield self
            finally:
                self.namespace.clear()
                self.namespace.update(saved)

    def step(self, op: dict) -> bool:
        """Execute one operation; False when it failed and the rest cannot follow."""
        number, self.steps = self.steps, self.steps + 1
        try:
            getattr(self, "_" + op["op"])(op, number)
            return True
        except Exception as error:
            self.error = describe_error(error, self.namespace)
            return False

    def reply(self) -> dict:
        return {"outputs": self.outputs, "error": self.error, "mutated": self.mutated, "called": sorted(set(self.called))}

    # Operations: each writes its result into the register op["to"].

    def _name(self, op, number):
        if op["name"] not in self.namespace:
            raise ReplayError(f"`{op['name']}` is not defined")
        self.registers[op["to"]] = self.namespace[op["name"]]

    def _module(self, op, number):
        if op["name"] not in MODULES:
            raise ReplayError(f"no module {op['name']}")
        self.registers[op["to"]] = importlib.import_module(op["name"])

    def _attr(self, op, number):
        self.registers[op["to"]] = getattr(self.registers[op["of"]], op["name"])

    def _set(self, op, number):
        setattr(self.registers[op["of"]], op["name"], self.value(op["value"]))

    def _item(self, op, number):
        self.registers[op["to"]] = self.registers[op["of"]][self.value(op["key"])]

    def _unpack(self, op, number):
        result = self.registers[op["of"]]
        if not isinstance(result, (tuple, list)):
            raise ReplayError(f"it returns {_a(result)} where a tuple of {len(op['to'])} is asked for")
        if len(result) != len(op["to"]):
            raise ReplayError(f"it returns a tuple of {len(result)} where {len(op['to'])} values are asked for")
        for register, item in zip(op["to"], result):
            self.registers[register] = item

    def _call(self, op, number):
        function = self.registers[op["f"]]
        args = self.value(op["args"])
        kwargs = {key: self.value(value) for key, value in op["kwargs"].items()}
        before = _versions([args, kwargs])
        self.registers[op["to"]] = function(*args, **kwargs)
        if _versions([args, kwargs]) != before:
            self.mutated.append(number)

    def _attempt(self, op, number):
        try:
            self._call(op, number)
            outcome = "no error"
        except NotImplementedError:
            raise
        except Exception as error:
            outcome = type(error).__name__
        self.registers[op["to"]] = outcome

    def _weights(self, op, number):
        parameters = dict(self.registers[op["of"]].named_parameters())
        for name, value in op["values"].items():
            if name not in parameters:
                have = ", ".join(sorted(parameters)) or "none"
                raise ReplayError(f"the parameter `{name}` is missing (there are: {have})")
            parameter = parameters[name]
            if tuple(parameter.shape) != value.shape:
                raise ReplayError(f"the parameter `{name}` has shape {tuple(parameter.shape)}, it must be {value.shape}")
            with torch.no_grad():
                parameter.copy_(torch.from_numpy(value))

    def _define(self, op, number):
        scope = {"torch": torch, "nn": nn, "F": nn.functional, "np": np, "__name__": "standin"}
        exec(_compiled(op["source"]), scope)
        thing = scope[op["name"]]
        if op.get("replaces"):
            self.namespace[op["replaces"]] = thing
        self.registers[op["to"]] = thing

    def _leaf(self, op, number):
        self.registers[op["to"]] = self.value(op["value"]).requires_grad_(True)

    def _backward(self, op, number):
        result = self.registers[op["of"]]
        if not isinstance(result, torch.Tensor):
            raise ReplayError(f"it returns {_a(result)} where a tensor is asked for")
        projection = self.value(op["projection"])
        if result.shape != projection.shape:
            raise ReplayError(f"the result has shape {tuple(result.shape)}, it must be {tuple(projection.shape)}")
        if not result.requires_grad:
            raise ReplayError("no gradient can flow back from the result: it was detached, or computed without torch")
        (result * projection.to(result.dtype)).sum().backward()

    def _evaluating(self, op, number):
        for module in self.registers[op["of"]].modules():
            module.training = False

    def _forbid(self, op, number):
        self.forbidden.update(op["names"])

    def _seed(self, op, number):
        _seed_all(op["value"])

    def _output(self, op, number):
        self.outputs[op["name"]] = describe(self.registers[op["of"]])

    def value(self, tree):
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
def _compiled(source):
    return compile(source, "<stand-in>", "exec")


def describe(value, depth: int = 0) -> dict:
    """What a value is, in plain data: bounded in size, and with no code of the value's own type run."""
    try:
        return _describe(value, depth)
    except Exception as error:  # a hostile or broken object: say what it is and go on
        return {"kind": "other", "type": _short(f"{type(value).__name__} that cannot be read ({type(error).__name__})")}


def _describe(value, depth):
    kind = type(value)
    if value is None:
        return {"kind": "none"}
    if kind in (bool, float, str) or (kind is int and value.bit_length() < 64):
        return {"kind": kind.__name__, "value": value[:10_000] if kind is str else value}
    if isinstance(value, torch.Tensor):
        name = str(value.dtype).removeprefix("torch.")
        if value.numel() > MAX_ELEMENTS:
            return {"kind": "other", "type": f"tensor of {value.numel()} numbers"}
        array = value.detach().cpu()
        array = array.float() if array.dtype == torch.bfloat16 else array
        return {"kind": "tensor", "dtype": name, "array": array.contiguous().numpy()}
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind not in "biufc" or array.size > MAX_ELEMENTS:
            return {"kind": "other", "type": _short(f"numpy array of {array.dtype}")}
        return {"kind": "array", "dtype": array.dtype.name, "array": array}
    if isinstance(value, (list, tuple)) and depth < 5:
        return {"kind": "list", "items": [describe(item, depth + 1) for item in list(value)[:MAX_ITEMS]], "length": len(value)}
    if isinstance(value, dict) and depth < 5:
        pairs = list(value.items())[:MAX_ITEMS]
        return {"kind": "dict", "keys": [describe(k, depth + 1) for k, _ in pairs], "items": [describe(v, depth + 1) for _, v in pairs], "length": len(value)}
    return {"kind": "other", "type": _short(kind.__name__)}


def describe_error(error: Exception, namespace: dict) -> dict:
    """An exception in plain data, with the last line of the student's own code that it passed."""
    where = None
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_globals is namespace:
            line = linecache.getline(frame.f_code.co_filename, trace.tb_lineno).strip()
            where = {"line": trace.tb_lineno, "function": _short(frame.f_code.co_name), "text": _short(line)}
        trace = trace.tb_next
    try:
        message = str(error)
    except Exception:
        message = ""
    return {"type": _short(type(error).__name__), "message": _short(message, 300), "where": where, "ours": isinstance(error, ReplayError)}


def _short(text, limit=120):
    text = " ".join(str(text).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _a(value):
    return "nothing (None)" if value is None else f"a {type(value).__name__}"


def _versions(value):
    """Numbers that change when a tensor or array inside ``value`` is written to."""
    if isinstance(value, torch.Tensor):
        return [] if value.is_inference() else [value._version]
    if isinstance(value, np.ndarray):
        return [value.tobytes()]
    if isinstance(value, dict):
        return [version for item in value.values() for version in _versions(item)]
    if isinstance(value, (list, tuple)):
        return [len(value)] + [version for item in value for version in _versions(item)]
    return []


def _seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)


@contextlib.contextmanager
def _clean_state():
    """float32, gradients on, fixed seeds, full precision; whatever was set before comes back."""
    saved = (random.getstate(), np.random.get_state(), torch.get_rng_state(), torch.get_default_dtype(), torch.get_num_threads(),
             torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32)
    try:
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(1)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        _seed_all(0)
        with torch.enable_grad():
            yield
    finally:
        random.setstate(saved[0])
        np.random.set_state(saved[1])
        torch.set_rng_state(saved[2])
        torch.set_default_dtype(saved[3])
        torch.set_num_threads(saved[4])
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = saved[5:]


class _Spy(TorchFunctionMode):
    """Notes which forbidden torch functions are called while a replay runs."""

    def __init__(self, replayer):
        super().__init__()
        self.replayer = replayer

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name in self.replayer.forbidden:
            self.replayer.called.append(name)
        return function(*args, **(kwargs or {}))


@functools.lru_cache(256)
def source_of(thing) -> str:
    """The source text of a self-contained class or function, so that it can travel; kept, for finding it costs more than running it."""
    return textwrap.dedent(inspect.getsource(thing))
