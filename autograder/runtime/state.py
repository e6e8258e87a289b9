"""The state of one replay, and what is observed of its calls: changed arguments, calls of forbidden functions."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

from . import arrays
from .values import Value

LOOP = "loop"  # a loop can be forbidden, too, besides functions of torch and packages
COMPILED = ("__compiled_fn", "__resume_at", "__builtins_dict", "__import_")  # how names begin that torch.compile adds


class ReplayError(Exception):
    """The student's definitions do not allow the next call; the message is for the student."""


class MissingName(ReplayError):
    """A name that the check calls is not defined."""


def is_not_written(error: BaseException, namespace: dict[str, Any]) -> bool:
    """Return whether an exception is that of a released stub, raised without a message by code of the namespace itself.

    Torch raises the same type for what it cannot do.
    """
    if type(error) is not NotImplementedError or error.args:
        return False
    traceback = error.__traceback__
    while traceback and traceback.tb_next:
        traceback = traceback.tb_next
    return traceback is not None and traceback.tb_frame.f_globals is namespace


@contextlib.contextmanager
def restored(namespace: dict[str, Any]) -> Iterator[None]:
    """Put a namespace back as it was, afterwards.

    What `torch.compile` has added stays: the code that it keeps refers to it.
    """
    saved = dict(namespace)
    try:
        yield
    finally:
        compiled = {name: value for name, value in namespace.items()
                    if isinstance(name, str) and name.startswith(COMPILED)}
        namespace.clear()
        namespace.update(saved | compiled)


class State:
    """The definitions, the registers, and the observed calls."""

    stack: contextlib.ExitStack  # what ends with the replay

    def __init__(self, namespace: dict[str, Any], device: str, track_effects: bool):
        self.namespace = namespace
        self.device = device
        self.track_effects = track_effects
        self.registers: dict[int, Any] = {}
        self.outputs: dict[str, Value] = {}
        self.number = 0  # of the operation
        self.mutating_ops: list[int] = []
        self.forbidden: set[str] = set()
        self.forbidden_calls: set[str] = set()
        self.torch_calls = 0
        # id of a function → the shapes of its arguments at the first call, and the torch calls that this made
        self.lengths: dict[int, tuple[Any, int]] = {}
        self.changed_state: set[str] = set()

    def value(self, tree: Any) -> Any:
        """Return the Python value that an argument stands for; arrays and tensors are made anew each time."""
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
            return arrays.to_tensor(content, self.device)
        if kind == "$tuple":
            return tuple(self.value(item) for item in content)
        if kind == "$dict":
            return {self.value(key): self.value(value) for key, value in content}
        if kind == "$device":
            return arrays.require_torch().device(self.device)
        if kind == "$dtype":
            return arrays.torch_dtype(content)
        if kind == "$slice":
            return slice(*content)
        raise ReplayError(f"an argument of unknown kind {kind}")

    @contextlib.contextmanager
    def observed_call(self, function: Any, arguments: Any) -> Iterator[None]:
        """Note whether a call changes its arguments or its surroundings, and whether it calls what is forbidden."""
        before, calls_before = arrays.fingerprint(arguments), self.torch_calls
        surroundings = arrays.global_state(function)
        with self.packages_watched():
            yield
        length = self.torch_calls - calls_before
        if LOOP in self.forbidden:
            shapes = arrays.shapes(arguments)
            first_shapes, first_length = self.lengths.setdefault(id(function), (shapes, length))
            if shapes != first_shapes and length != first_length:
                self.forbidden_calls.add(LOOP)
        if arrays.fingerprint(arguments) != before:
            self.mutating_ops.append(self.number)
        after = arrays.global_state(function)
        self.changed_state |= {name for name, value in after.items()
                               if name in surroundings and value != surroundings[name]}

    def torch_watched(self) -> contextlib.AbstractContextManager[object]:
        """Count the calls of torch functions, and note which of them are forbidden."""
        def note(name: str) -> None:
            self.torch_calls += 1
            if name in self.forbidden:
                self.forbidden_calls.add(name)

        return arrays.torch_calls(note)

    @contextlib.contextmanager
    def packages_watched(self) -> Iterator[None]:
        """Note calls into forbidden packages, however they were imported."""
        if not self.forbidden:
            yield
            return

        def called(frame: FrameType, event: str, argument: object) -> None:
            package = str(frame.f_globals.get("__name__")).partition(".")[0]
            if package in self.forbidden:
                self.forbidden_calls.add(package)

        before = sys.getprofile()
        sys.setprofile(called)
        try:
            yield
        finally:
            sys.setprofile(before)
