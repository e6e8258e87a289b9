"""What a term leaves on disk beside nbgrader's own files: the course secret, and one verdict per submission.

Everything lies in ``gradebook/``. Files are written beside their place and moved into it, so that a run that is
stopped at any moment leaves whole files only.
"""

import contextlib
import fcntl
import json
import os
import secrets
from pathlib import Path


class Records:
    """The secret and the verdicts of one course root."""

    def __init__(self, root: Path):
        self.folder = Path(root) / "gradebook"

    def secret(self) -> bytes:
        """The course secret that all hidden seeds depend on; made at first use, readable by its owner alone."""
        path = self.folder / "secret"
        try:
            return bytes.fromhex(path.read_text())
        except FileNotFoundError:
            self.folder.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f"secret.{os.getpid()}")
            temporary.touch(mode=0o600)
            temporary.write_text(secrets.token_hex(32))
            try:
                os.link(temporary, path)  # two runs that start together agree on the first
            except FileExistsError:
                pass
            temporary.unlink()
            return bytes.fromhex(path.read_text())

    @contextlib.contextmanager
    def writing(self):
        """One command at a time writes to the gradebook; nbgrader's own checks do not suffice when two add the same student."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # gone with the process, however it ends
            yield

    def path(self, tp: str, student: str) -> Path:
        return self.folder / "verdicts" / tp / f"{student}.json"

    def load(self, tp: str, student: str) -> dict | None:
        """The last verdict on a student's submission; None when there is none that can be read."""
        try:
            return json.loads(self.path(tp, student).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def save(self, tp: str, student: str, verdict: dict) -> None:
        path = self.path(tp, student)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            temporary.write_text(json.dumps(verdict, indent=1, ensure_ascii=False), encoding="utf-8")
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)  # half a file, when the disk is full
