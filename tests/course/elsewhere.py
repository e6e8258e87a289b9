"""Another device, played on the CPU: its tensors calculate here, and may not be mixed with tensors of the CPU.

A build of torch for the CPU has no second device. This one claims to be "meta", a name that torch knows everywhere; its
tensors hold real ones. What a GPU refuses is refused: a tensor of the CPU in the middle. What a GPU takes is taken: a
number in a tensor without axes, indices from the CPU, copies from one device to the other.
"""

import contextlib
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

NAME = "meta"
ATEN = torch.ops.aten
COPIES = {ATEN._to_copy.default, ATEN.copy_.default}
# Lengths and sizes of batches stay on the CPU, on a GPU too.
PACKING = {ATEN._pack_padded_sequence.default, ATEN._pad_packed_sequence.default,
           ATEN._pack_padded_sequence_backward.default}
INDEXED = {ATEN.index.Tensor, ATEN.index_put.default, ATEN.index_put_.default, ATEN._index_put_impl_.default}


class Elsewhere(torch.Tensor):
    """A tensor on the other device; ``held`` is the one that calculates."""

    @staticmethod
    def __new__(cls, held):
        made = torch.Tensor._make_wrapper_subclass(cls, held.size(), strides=held.stride(), dtype=held.dtype,
                                                   storage_offset=held.storage_offset(), device=NAME)
        made.held = held
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        with _Dispatch():
            return function(*args, **(kwargs or {}))

    def tolist(self):
        return self.held.tolist()

    def __reduce_ex__(self, protocol):
        return self.held.__reduce_ex__(protocol)  # saved as what it holds


def _is_elsewhere(device):
    return device is not None and torch.device(device).type == NAME


class _Dispatch(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        tensors = []
        _mapped(lambda value: tensors.append(value) if isinstance(value, torch.Tensor) else None, [args, kwargs])
        there = [tensor for tensor in tensors if isinstance(tensor, Elsewhere)]
        here = [tensor for tensor in tensors if not isinstance(tensor, Elsewhere) and tensor.dim()]
        if function in INDEXED:
            here = [tensor for tensor in here if tensor is args[0] or tensor is (args[2:3] or (None,))[0]]
        if there and here and function not in COPIES | PACKING:
            raise RuntimeError(f"Expected all tensors to be on the same device, but found two ({function})")
        stays = there and there[0] is tensors[0] if function is ATEN.copy_.default else there
        goes = stays if kwargs.get("device") is None else _is_elsewhere(kwargs["device"])
        if "device" in kwargs:
            kwargs["device"] = torch.device("cpu") if kwargs["device"] is not None else None
        own = {id(tensor.held): tensor for tensor in there}
        result = function(*_mapped(_held, args), **_mapped(_held, kwargs))
        if torch.Tag.inplace_view in function.tags and there:
            with no_dispatch():  # the shape that torch sees changes, too
                function(*args, **kwargs)
        if function in PACKING and isinstance(result, tuple):
            return Elsewhere(result[0]) if goes else result[0], result[1]
        return _mapped(lambda value: own.get(id(value), Elsewhere(value) if goes else value)
                       if isinstance(value, torch.Tensor) else value, result)


def _mapped(function, value):
    """The value with each leaf of its lists and dicts mapped; torch's own trees take longer, at each call."""
    if isinstance(value, dict):
        return {key: _mapped(function, part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_mapped(function, part) for part in value])
    return function(value)


def _held(value):
    return value.held if isinstance(value, Elsewhere) else value


class _Functions(TorchFunctionMode):
    """Of data for "meta", torch keeps the shape alone: they are made here, and then go there."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function is torch.Tensor.new_tensor and isinstance(args[0], Elsewhere):
            function, kwargs, args = torch.tensor, {"dtype": args[0].dtype, "device": NAME, **kwargs}, args[1:]
        if function in (torch.tensor, torch.as_tensor) and _is_elsewhere(kwargs.get("device")):
            needs_gradient = kwargs.pop("requires_grad", False)
            made = function(*args, **{**kwargs, "device": "cpu"}).to(NAME)
            return made.requires_grad_() if needs_gradient else made
        if function in (torch.Tensor.__getitem__, torch.Tensor.__setitem__) and isinstance(args[0], Elsewhere):
            key = tuple(map(_index, args[1])) if isinstance(args[1], tuple) else _index(args[1])
            args = (args[0], key, *args[2:])
        return function(*args, **kwargs)


def _index(key):
    return torch.tensor(key) if isinstance(key, list) else key


@contextlib.contextmanager
def elsewhere():
    """The other device is there, and torch says that there is a GPU; a build for one has no driver to ask."""
    load = torch.load

    def loaded(file, map_location=None, **options):
        content = load(file, map_location="cpu", **options)
        return tree_map(lambda value: value.to(map_location) if isinstance(value, torch.Tensor) else value, content)

    with (mock.patch("torch.cuda.is_available", lambda: True), mock.patch("torch.load", loaded),
          mock.patch("torch.accelerator.current_accelerator", lambda check_available=False: None),
          _Functions(), _Dispatch()):
        yield
