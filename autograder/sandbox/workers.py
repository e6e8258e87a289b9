"""Sandboxes for several judges that share what one warm parent has imported."""

import contextlib
import socket
from collections.abc import Sequence
from pathlib import Path

import psutil

from . import cgroup
from .host import Sandbox
from .options import Options
from .restrictions import SandboxError


def branch(of: Sandbox) -> Sandbox:
    """Another sandbox, for another process, that shares what this one's warm parent has imported, where it can."""
    if of._process is not None:
        with contextlib.suppress(OSError):  # it has ended already: the other will say why
            return Branch(of.helpers, of.options, of._process.pid, of._control)
    return Sandbox(of.helpers, of.options)


class Branch(Sandbox):
    """A sandbox whose warm parent is forked from that of another one; once that is lost, it starts one of its own."""

    def __init__(self, helpers: Sequence[Path], options: Options, root: int, control: socket.socket):
        super().__init__(helpers, options)
        self._root: int | None = root  # bubblewrap, until this sandbox is closed
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            socket.send_fds(control, [b"branch"], [theirs.fileno()])

    def begin(self) -> None:
        """Start a warm parent of its own, when the one it was given is lost."""
        if self._root is None:
            super().begin()

    def hand_over(self) -> None:
        """Another process works with it from now on."""
        self._control.close()

    def close(self) -> None:
        """End the warm parent and all kernels."""
        if self._root is None:
            super().close()
            return
        self._root = None
        self._control.close()
        if self._parent:
            with contextlib.suppress(psutil.Error):
                self._parent.kill()  # and with it all that it forked
            self._parent = None
        if self._group:
            self._group.close()
            self._group = None

    def _ready(self) -> None:
        if self._root is not None and self._parent is None:
            try:
                self._parent = self._warm_parent(self._root)
            except (OSError, SandboxError, psutil.Error):
                self.close()
            else:
                self._group = cgroup.make()
                if self._group:
                    self._group.take(self._parent.pid)
                self._reusable = True
        super()._ready()
