"""What a replay calls: how often torch, and what is forbidden. It is seen where it runs, wherever it is written."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Protocol

from torch.overrides import TorchFunctionMode


class Watched(Protocol):
    """A replay, as far as it is watched: what is forbidden, what of it was called, and how often torch was."""

    torch_calls: int
    forbidden: set[str]
    called: list[str]


class Spy(TorchFunctionMode):
    """Counts the calls of torch functions while a replay runs, and notes which of them are forbidden.

    It sees what runs, wherever it is written: in a nested function, a lambda, a comprehension.
    """

    def __init__(self, replayer: Watched):
        super().__init__()
        self.replayer = replayer

    def __torch_function__(self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(function, "__name__", "")
        self.replayer.torch_calls += 1
        if name in self.replayer.forbidden:
            self.replayer.called.append(name)
        return function(*args, **(kwargs or {}))


@contextlib.contextmanager
def packages_watched(replayer: Watched) -> Iterator[None]:
    """Notes calls into forbidden packages, however they were imported."""
    if not replayer.forbidden:
        yield
        return

    def called(frame: FrameType, event: str, argument: object) -> None:
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if event == "call" and package in replayer.forbidden:
            replayer.called.append(package)

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(before)
