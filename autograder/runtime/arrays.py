"""Arrays: torch's where torch is installed, numpy's everywhere.

In the runtime, torch is imported here on first use, and where a check is replayed that was recorded with it. Commands
that only read answers, and courses in plain numpy, run without it.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

STUB_MODULE = "stub"  # what a module of ours in a student's namespace is called


@cache
def torch_or_none() -> Any:
    """Return torch; None where it is not installed."""
    try:
        import torch
    except ModuleNotFoundError:
        return None
    return torch


def imported_torch() -> Any:
    """Return torch if anybody has imported it, and None otherwise: only then can a value be torch's."""
    return torch_or_none() if "torch" in sys.modules or torch_or_none.cache_info().currsize else None


def require_torch() -> Any:
    """Return torch, which a check asks for; ``ModuleNotFoundError`` where it is not installed."""
    torch = torch_or_none()
    if torch is None:
        raise ModuleNotFoundError("this check needs torch, which is not installed", name="torch")
    return torch


# What a value is


def is_tensor(value: Any) -> bool:
    """Return whether a value is a tensor of torch."""
    torch = imported_torch()
    return torch is not None and isinstance(value, torch.Tensor)


def size(value: Any) -> int:
    """Return how many numbers a tensor or an array has; 1 for anything else."""
    return int(value.numel()) if is_tensor(value) else int(value.size) if isinstance(value, np.ndarray) else 1


def identity(value: Any) -> tuple[int, int] | None:
    """Return the id of a tensor and how often it was written into; None for anything else, and where torch does not
    count."""
    torch = imported_torch()
    if torch is None or type(value) not in (torch.Tensor, torch.nn.Parameter) or value.is_inference():
        return None
    return id(value), value._version


def is_real(value: Any) -> bool:
    """Return whether a value is a tensor through which a gradient could flow."""
    return is_tensor(value) and bool(value.is_floating_point())


def is_module(value: Any) -> bool:
    """Return whether a value is a network of torch."""
    torch = imported_torch()
    return torch is not None and isinstance(value, torch.nn.Module)


def is_dtype(value: Any) -> bool:
    """Return whether a value is one of torch's types of numbers."""
    torch = imported_torch()
    return torch is not None and isinstance(value, torch.dtype)


def is_torch_object(value: Any) -> bool:
    """Return whether a value of torch holds no numbers: a device, a type, a network."""
    torch = imported_torch()
    return torch is not None and isinstance(value, (torch.device, torch.dtype, torch.nn.Module))


def records_gradients() -> bool:
    """Return whether torch records gradients now."""
    torch = imported_torch()
    return torch is not None and bool(torch.is_grad_enabled())


@cache
def dtype_name(dtype: Any) -> str:
    """Return the name of a type of numbers, torch's or numpy's."""
    return str(dtype).removeprefix("torch.")


# To and fro


def to_numpy(tensor: Any) -> NDArray[Any]:
    """Return a copy of a tensor's numbers; numpy knows no bfloat16, which becomes float32."""
    tensor = tensor.detach().cpu()
    tensor = tensor.float() if dtype_name(tensor.dtype) == "bfloat16" else tensor
    array: NDArray[Any] = tensor.contiguous().numpy().copy()
    return array


def to_tensor(array: NDArray[Any], device: str = "cpu", dtype: str | None = None) -> Any:
    """Return a tensor with a copy of these numbers."""
    tensor = require_torch().from_numpy(array.copy()).to(device)
    return tensor if dtype is None else tensor.to(torch_dtype(dtype))


def with_gradient_of(tensor: Any, original: Any) -> Any:
    """Return a tensor through which gradients flow as they do through the original."""
    is_like = is_real(tensor) and tensor.shape == original.shape
    if not is_like or not original.requires_grad or not bool(original.isfinite().all()):
        return tensor
    return tensor + (original - original.detach())


def torch_dtype(name: str) -> Any:
    """Return torch's type of numbers of this name."""
    return getattr(require_torch(), name)


def set_parameter(parameter: Any, array: NDArray[Any]) -> None:
    """Give a parameter these numbers."""
    torch = require_torch()
    with torch.no_grad():
        parameter.copy_(torch.from_numpy(array))


def dot(result: Any, projection: Any) -> Any:
    """Return the sum of a result's numbers, each times that of the projection."""
    return (result * projection.to(result.dtype)).sum()


def gradients(total: Any, tensors: dict[str, Any]) -> dict[str, Any]:
    """Return the gradient of ``total`` with respect to each tensor, by name.

    No gradient and a gradient of zeros are the same: a right answer may leave out what does not matter.
    """
    for tensor in tensors.values():
        tensor.grad = None
    if is_tensor(total):
        total.backward()
    return {name: require_torch().zeros_like(tensor) if tensor.grad is None else tensor.grad
            for name, tensor in tensors.items()}


def stub_scope() -> dict[str, Any]:
    """Return the names that a stub may use."""
    torch = torch_or_none()
    scope: dict[str, Any] = {"np": np, "__name__": STUB_MODULE}
    return scope if torch is None else {**scope, "torch": torch, "nn": torch.nn, "F": torch.nn.functional}


# The state around a call


def seed_all(seed: int, lazily: bool = False) -> None:
    """Seed the generators of Python, of numpy, and of torch where it is installed.

    That of a GPU is seeded where the GPU is in use; ``lazily``, also when it is used later.
    """
    random.seed(seed)
    np.random.seed(seed)
    torch = torch_or_none()
    if torch is not None:
        torch.default_generator.manual_seed(seed)
        if lazily or torch.cuda.is_initialized():
            torch.cuda.manual_seed_all(seed)


def take_threads(number: int) -> None:
    """Let torch compute with so many threads, unless the environment says how many."""
    torch = torch_or_none()
    if torch is not None and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(number)


@contextlib.contextmanager
def clean_state(seed: int, device: str) -> Iterator[None]:
    """Set float32, gradients on, fixed seeds and full precision; what torch had set before comes back.

    Where ``device`` is "cpu", torch finds no GPU.
    """
    torch = torch_or_none()
    with _clean_torch(torch) if torch is not None else contextlib.nullcontext(), gpu_hidden_for(device):
        seed_all(seed)
        yield


@contextlib.contextmanager
def rng_state_kept() -> Iterator[None]:
    """Put the generators of Python and numpy back as they were, afterwards."""
    python, numpy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


def device_of(value: Any) -> str:
    """Return "cuda" for torch's device of that name, or the name, where there is a GPU; "cpu" for anything else."""
    torch = imported_torch()
    if torch is None or not isinstance(value, (torch.device, str)) or not torch.cuda.is_available():
        return "cpu"
    return "cuda" if str(value).partition(":")[0] == "cuda" else "cpu"


@contextlib.contextmanager
def gpu_hidden_for(device: str) -> Iterator[None]:
    """Have torch find no GPU where ``device`` is "cpu"."""
    torch = torch_or_none() if device == "cpu" else None
    if torch is None:
        yield
        return
    is_available = torch.cuda.is_available
    torch.cuda.is_available = lambda: False
    try:
        yield
    finally:
        torch.cuda.is_available = is_available


@contextlib.contextmanager
def _clean_torch(torch: Any) -> Iterator[None]:
    generator, dtype, threads = torch.get_rng_state(), torch.get_default_dtype(), torch.get_num_threads()
    gpu_generators = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, cudnn.allow_tf32, cudnn.enabled
    try:
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(1)
        matmul.allow_tf32 = cudnn.allow_tf32 = False
        cudnn.enabled = False  # it refuses gradients of recurrent layers outside of training
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_rng_state(generator)
        if gpu_generators:
            torch.cuda.set_rng_state_all(gpu_generators)
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
        matmul.allow_tf32, cudnn.allow_tf32, cudnn.enabled = before


@contextlib.contextmanager
def new_memory_filled() -> Iterator[None]:
    """Have torch fill new tensors, such as those of ``torch.empty``, with numbers: they hold old memory otherwise."""
    torch = torch_or_none()
    if torch is None:
        yield
        return
    before = torch.get_deterministic_debug_mode()
    # with it comes `fill_uninitialized_memory`; `use_deterministic_algorithms` imports torch's compiler, for seconds
    torch.set_deterministic_debug_mode("warn")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


def global_state(function: Any) -> dict[str, Any]:
    """Return the global state that a call must leave unchanged: what a student reads → its value."""
    torch, is_call = imported_torch(), not isinstance(function, type)  # who makes a network draws its weights
    values: dict[str, Any] = {}
    if torch is not None:
        module = function if is_module(function) else getattr(function, "__self__", None)
        values = {
            "the default dtype": torch.get_default_dtype(),
            "whether gradients are computed (`set_grad_enabled`)": torch.is_grad_enabled(),
            "the seed of torch's generator": torch.initial_seed(),
            "the mode of the network (`train`, `eval`)":
                [part.training for part in module.modules()] if module is not None and is_module(module) else [],
        }
    if torch is not None and is_call:
        values["the state of torch's generator"] = torch.get_rng_state().numpy().tobytes()
    if is_call:
        state: Any = np.random.get_state(legacy=False)
        values["the state of numpy's generator"] = (state["state"]["pos"], state["state"]["key"].tobytes(),
                                                    state["has_gauss"], state["gauss"])
        values["the state of Python's generator"] = random.getstate()
    return values


def fingerprint(value: Any) -> Any:
    """Return something that changes when anything inside ``value`` is written to, or replaced by another object.

    An object is known by its address. It stands behind that, so that it is kept, and never compared with another one.
    """
    if is_tensor(value):
        return id(value), value, None if value.is_inference() else value._version
    if isinstance(value, np.ndarray):
        return id(value), value, value.tobytes()
    if isinstance(value, dict):
        keys = (key if isinstance(key, (str, int, float)) else id(key) for key in value)
        return dict(zip(keys, map(fingerprint, value.values()), strict=True))
    if isinstance(value, (list, tuple)):
        return [fingerprint(item) for item in value]
    return value if isinstance(value, (str, int, float, bool)) else (id(value), value)


def shapes(value: Any) -> Any:
    """Return the shapes of the arrays in a value, and None for anything else."""
    if is_tensor(value) or isinstance(value, np.ndarray):
        return tuple(value.shape)
    if isinstance(value, (list, tuple, dict)):
        return [shapes(item) for item in (value.values() if isinstance(value, dict) else value)]
    return None


def is_torch_function(name: str) -> bool:
    """Return whether `torch_calls` can note this name: a function of torch, or a method or operator of its tensors."""
    torch = torch_or_none()
    if torch is None:
        return False
    library, _, rest = name.partition("_")
    inner = getattr(torch, library, None) if library in ("linalg", "fft") else None
    return hasattr(inner, rest) or any(hasattr(place, written) for written in (name, f"__{name}__")
                                       for place in (torch, torch.Tensor, torch.nn.functional, torch.special))


def torch_calls(note: Callable[[str], None]) -> contextlib.AbstractContextManager[object]:
    """Call ``note`` with the name of each torch function that is called, wherever the call is written.

    Some functions have a second name: ``torch.special.softmax``, ``torch._softmax``.
    """
    if torch_or_none() is None:
        return contextlib.nullcontext()
    from torch.overrides import TorchFunctionMode

    class Spy(TorchFunctionMode):
        def __torch_function__(self, function: Callable[..., Any], types: Any, args: Any = (),
                               kwargs: Any = None) -> Any:
            note(getattr(function, "__name__", "").strip("_").removeprefix("special_"))
            return function(*args, **(kwargs or {}))

    return Spy()
