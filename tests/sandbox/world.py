"""What lies around a judge on its machine, marked so that it is known when it comes out; and what reaches it."""

import builtins
import ctypes
import functools
import gzip
import os
import pty
import secrets
import shutil
import socket
import sqlite3
import threading
from pathlib import Path

from autograder.model import selfcheck_recording
from autograder.model.oracle import load_oracle
from autograder.runtime import wire
from autograder.sandbox import kernel, restrictions
from conftest import REPOSITORY, SHORT, TINY, TINY_COURSE, fingerprint

PORT = "47113"  # stands in attacks for the port that listens
ADD_KEY, KEYCTL = (217, 219) if os.uname().machine == "aarch64" else (248, 250)
JOIN, SESSION = 1, -3
_libc = ctypes.CDLL(None)


def _keyctl(*arguments: object) -> None:
    _libc.syscall(KEYCTL, *arguments)



@functools.cache
def _selfchecks() -> bytes:
    """What a student has of the tiny session: answers to public instances."""
    return gzip.compress(wire.pack(selfcheck_recording.to_tree(load_oracle(TINY_COURSE, TINY))))


class World:
    """A copy of what a kernel is lent, a home, a gradebook and others' notebooks beside it, and doors that listen."""

    def __init__(self, folder: Path):
        self.mark = f"marked-{secrets.token_hex(6)}"
        self.limits = SHORT
        (folder / "kernel").mkdir()
        self.kernel = Path(shutil.copy(kernel.__file__, folder / "kernel"))
        self.tp = folder / "tp"
        shutil.copytree(REPOSITORY.released / "tp", self.tp, ignore=shutil.ignore_patterns("__pycache__", "*.bin"))
        (self.tp / "selfchecks").mkdir()
        (self.tp / "selfchecks" / f"{TINY}.bin").write_bytes(_selfchecks())
        self.helpers = [self.tp]
        self.engine = folder / "engine" / "autograder"
        ignored = shutil.ignore_patterns("__pycache__", "[!_r]*")
        shutil.copytree(restrictions.ENGINE_FOLDER, self.engine, ignore=lambda path, names: (
            ignored(path, names) if Path(path) == restrictions.ENGINE_FOLDER else ["__pycache__"]))
        self.beside = folder / "grader"
        self._furnish()
        self.reached: set[str] = set()
        self.master, self.slave = pty.openpty()
        by_port = self._door(socket.AF_INET, ("127.0.0.1", 0), "port")
        self.port = str(by_port.getsockname()[1])
        self._doors = [by_port, self._door(socket.AF_UNIX, f"\0marked-{self.port}", "name")]
        self._whole = self._prints()

    def _furnish(self) -> None:
        for name in ("home/.ssh/id_ed25519", "submitted/eve/tp0_tiny/tp0_tiny.ipynb"):
            (self.beside / name).parent.mkdir(parents=True)
            (self.beside / name).write_text(self.mark)
        with sqlite3.connect(self.beside / "gradebook.db") as gradebook:
            gradebook.execute("create table grade (student text, score real)")
            gradebook.execute("insert into grade values (?, 8)", [self.mark])
        gradebook.close()
        os.environ["MARKED_SECRET"] = self.mark
        _keyctl(JOIN, None)
        _libc.syscall(ADD_KEY, b"user", b"grader", self.mark.encode(), len(self.mark), SESSION)
        self.shared = Path(f"/dev/shm/{self.mark}")
        self.shared.write_text(self.mark)

    def _door(self, family: int, address: object, name: str) -> socket.socket:
        door = socket.socket(family)
        door.bind(address)
        door.listen()
        threading.Thread(target=self._listen, args=(door, name), daemon=True).start()
        return door

    def _listen(self, door: socket.socket, name: str) -> None:
        while True:
            try:
                door.accept()[0].close()
            except OSError:
                return
            self.reached.add(name)

    def _prints(self) -> dict[str, str]:
        return {"helpers": fingerprint(self.tp), "kernel": fingerprint(self.kernel.parent)}

    def facts(self) -> set[str]:
        """What has been reached or changed by now."""
        os.set_blocking(self.master, False)
        try:
            said = os.read(self.master, 1000)
        except BlockingIOError:
            said = b""
        if b"19 of 19 points" in said:
            self.reached.add("terminal")
        if hasattr(builtins, "marked"):
            self.reached.add("judge")
            del builtins.marked
        prints = self._prints()
        return self.reached | {name for name in prints if prints[name] != self._whole[name]}

    def close(self) -> None:
        """Take all marks away again."""
        for door in self._doors:
            door.shutdown(socket.SHUT_RDWR)
            door.close()
        os.close(self.master)
        os.close(self.slave)
        os.environ.pop("MARKED_SECRET", None)
        _keyctl(JOIN, None)  # and the keys are gone
        self.shared.unlink()
