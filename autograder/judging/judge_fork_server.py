"""The fork server of judges: a process that imports what they need, once for all of them.

It starts a sandbox first and imports beside it. Each judge gets a clone of that sandbox, so that neither it nor its
kernels import anything again.
"""

import contextlib
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from ..course import Course
from ..runtime import arrays
from ..sandbox.host import Sandbox
from ..sandbox.kernel import die_with_parent
from ..sandbox.options import Options
from ..sandbox.restrictions import SandboxError

if TYPE_CHECKING:
    from .judge import Judge


class JudgeForkServer:
    """The process that forks judges, seen from outside; it is started when it is first needed, and anew when lost.

    A context manager.
    """

    def __init__(self, course: Course, options: Options):
        self.course, self.options = course, options
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()  # of the control socket
        self._abandoned = False

    def __enter__(self) -> "JudgeForkServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, session: str = "") -> None:
        """Start the process, unless it runs already, and do not wait for it.

        ``session`` is one whose solution all judges have ready.
        """
        if self._abandoned:
            raise ConnectionAbortedError
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours, settings = socket.socketpair()
        fds = [theirs.fileno(), settings.fileno()]
        # a forked process has one thread only: the server itself must have no others
        path = os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))
        variables = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        with theirs, settings:
            # it imports and reads nothing from the folder where the command was called: that may hold students' files
            self._process = subprocess.Popen([sys.executable, "-P", "-m", __name__, *map(str, fds), str(os.getpid())],
                                             pass_fds=fds, stdin=subprocess.DEVNULL, env=variables,
                                             cwd=self.course.root)
        connection: Connection[Any, Any] = Connection(ours.detach())
        with connection:
            connection.send((self.course, self.options, session))

    def fork(self) -> "Connection[Any, Any]":
        """Return a connection to a new judge, which may be on its way yet; see `_serve`."""
        with self._lock:
            self.start()
            ours, theirs = socket.socketpair()
            with theirs:
                socket.send_fds(self._control, [b"judge"], [theirs.fileno()])
        return Connection(ours.detach())

    def abandon(self) -> None:
        """End the process, all judges and kernels, at once: until it is closed, nobody gets a judge."""
        with self._lock:
            self._abandoned = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process, and with it all judges and kernels."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._control.close()
            self._process = None
        self._abandoned = False


def _main(control: socket.socket, settings: "Connection[Any, Any]") -> None:
    """Fork a judge for each socket that comes over ``control``, until that is closed."""
    with settings:
        course, options, session = settings.recv()
    with Sandbox(course.helpers, options) as sandbox:
        with contextlib.suppress(SandboxError, OSError):  # a judge reports it when something is to be judged
            sandbox.start()
        gc.disable()  # nothing that an import makes is garbage
        from ..model.oracle import load_oracle
        from .judge import Judge

        arrays.torch_or_none()  # as the sandbox does beside it
        gc.enable()
        judge = Judge(course, options, sandbox)
        if session:
            with contextlib.suppress(Exception):  # likewise
                load_oracle(course, session)
        gc.collect()
        gc.freeze()  # a collection in a judge would copy the memory that all share
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps judges that have ended
        while True:
            order, fds, _, _ = socket.recv_fds(control, 16, 1)
            if not order:
                return
            forked = judge.sandbox = sandbox.clone()
            if os.fork() == 0:
                die_with_parent()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                control.close()
                status = 1
                try:
                    _serve(Connection(fds[0]), judge)
                    status = 0
                finally:
                    os._exit(status)
            os.close(fds[0])
            forked.close()  # of the judge's, which was never ready here, only the socket


def _serve(connection: "Connection[Any, Any]", judge: "Judge") -> None:
    """Judge each submission that comes over a connection: send the PID, then the verdict."""
    from ..model.oracle import load_oracle

    with judge:
        while True:
            try:
                submission, seed, soft_seconds = connection.recv()
            except EOFError:
                return
            try:
                load_oracle(judge.course, submission.session)
                connection.send(os.getpid())
                connection.send(judge.judge(submission, seed, soft_seconds))
            except Exception as error:  # not the submission's fault: raised by `JudgeProcess`
                connection.send(error)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle
    die_with_parent()
    if os.getppid() != int(sys.argv[3]):  # killed already
        os._exit(1)
    _main(socket.socket(fileno=int(sys.argv[1])), Connection(int(sys.argv[2])))
