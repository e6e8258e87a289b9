"""Observe the calls of a replay where they run: the number of torch calls, and forbidden functions."""

import contextlib
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Protocol

from . import arrays


class Watched(Protocol):
    """A replay, as far as it is watched: what is forbidden, what of it was called, and how often torch was."""

    torch_calls: int
    forbidden: set[str]
    called: list[str]


def torch_watched(replay: Watched) -> contextlib.AbstractContextManager[object]:
    """Count the calls of torch functions while a replay runs, and note which of them are forbidden."""

    def note(name: str, args: object, kwargs: object) -> None:
        replay.torch_calls += 1
        if name in replay.forbidden:
            replay.called.append(name)

    return arrays.torch_arguments(note)


@contextlib.contextmanager
def packages_watched(replay: Watched) -> Iterator[None]:
    """Note calls into forbidden packages, however they were imported."""
    if not replay.forbidden:
        yield
        return

    def called(frame: FrameType, event: str, argument: object) -> None:
        if event != "call":
            return
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if package in replay.forbidden:
            replay.called.append(package)

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(before)
