"""Store the course secret and one verdict per submission, beside nbgrader's own files.

Everything lies in ``gradebook/``. Files are written beside their place and moved into it, so that a run that is
stopped at any moment leaves whole files only.
"""

import contextlib
import fcntl
import logging
import os
import secrets
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from .. import escaping
from ..course import Course, CourseError
from ..judging.seeds import seed_of
from ..judging.submission import Submission
from ..judging.verdict import Verdict
from ..model import digests
from ..model.source import load_source
from ..runtime.workspace import write_whole
from ..sandbox.options import Options
from .json_files import load_json, to_json
from .submitted import SubmittedFile

log = logging.getLogger("autograder")
SECRET_BYTES = 32


@dataclass(frozen=True)
class VerdictKey:
    """The inputs of a verdict; while they stay the same, a submission is not judged again."""

    submission_digest: str
    inputs_digest: str  # see `digests.of_verdicts`
    options: Options


@dataclass(frozen=True)
class EarlierSubmission:
    """A submission that a later one has replaced: when it was graded, and its points."""

    when: float  # seconds since 1970
    points: float

    @property
    def day(self) -> str:
        """When it was graded, in words."""
        return datetime.fromtimestamp(self.when, UTC).strftime("%Y-%m-%d %H:%M UTC")


@dataclass(frozen=True)
class StoredVerdict:
    """A verdict with its student and its inputs; ``entered`` once it stands in nbgrader's gradebook."""

    student: str
    verdict: Verdict
    key: VerdictKey
    entered: bool = False
    earlier: tuple[EarlierSubmission, ...] = ()  # submissions of the student, the first one first


@dataclass(frozen=True)
class _History:
    """What is read of a `StoredVerdict`, even if the rest of it has another form."""

    earlier: tuple[EarlierSubmission, ...] = ()


class VerdictStore:
    """The secret and the verdicts of one course."""

    def __init__(self, course: Course):
        self.course = course

    def secret(self) -> bytes:
        """Return the secret of all hidden seeds; it is made at first use, and only its owner can read it."""
        path = self.course.gradebook / "secret"
        try:
            secret = bytes.fromhex(path.read_text())
        except ValueError:
            secret = b""
        except FileNotFoundError:
            path.parent.mkdir(exist_ok=True)
            temporary = path.with_name(f"secret.{threading.get_native_id()}")
            temporary.touch(mode=0o600)
            temporary.write_text(secrets.token_hex(SECRET_BYTES))
            with contextlib.suppress(FileExistsError):
                os.link(temporary, path)  # two that start together agree on the first
            temporary.unlink()
            secret = bytes.fromhex(path.read_text())
        if len(secret) != SECRET_BYTES:
            raise CourseError(f"{path} is damaged: restore it from a backup; without it, seeds and pseudonyms change")
        return secret

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Let one command at a time write to the gradebook: nbgrader's checks fail when two add the same student."""
        self.course.gradebook.mkdir(exist_ok=True)
        with open(self.course.gradebook / "lock", "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # gone with the process, however it ends
            yield

    def path(self, session: str, student: str) -> Path:
        """Return the path of a student's entry."""
        return self.course.gradebook / "verdicts" / session / f"{student}.json"

    def load(self, session: str, student: str) -> StoredVerdict | None:
        """Return the last entry of a student; None when there is none that can be read."""
        return load_json(self.path(session, student), StoredVerdict)

    def save(self, entry: StoredVerdict) -> None:
        """Write an entry in the place of the one before."""
        write_whole(self.path(entry.verdict.session, entry.student), to_json(entry))

    def mark_entered(self, entry: StoredVerdict, entered: bool) -> None:
        """Save whether an entry stands in the gradebook; its file keeps the time at which it was judged."""
        path = self.path(entry.verdict.session, entry.student)
        times = (path.stat().st_atime_ns, path.stat().st_mtime_ns) if path.exists() else None
        self.save(replace(entry, entered=entered))
        if times:
            os.utime(path, ns=times)

    def current(self, submission: Submission, options: Options) -> StoredVerdict | None:
        """Return the entry of a submission, if its verdict was made on the same inputs under the same options."""
        entry = self.load(submission.session, submission.student)
        return entry if entry and entry.key == self.key(submission, options) else None

    def last_seed(self, submission: Submission) -> str | None:
        """Return the seed of the last verdict on these bytes: they are judged again on the same instance."""
        entry = self.load(submission.session, submission.student)
        return entry.verdict.seed if entry and entry.key.submission_digest == submission.digest else None

    def seed(self, submission: Submission) -> str:
        """Return the seed of a submission that is judged by itself: the last one, or one made from the secret."""
        return (self.last_seed(submission)
                or seed_of(self.secret(), submission.student, submission.session, submission.data))

    def record(self, submission: Submission, verdict: Verdict, key: VerdictKey) -> StoredVerdict:
        """Save a fresh verdict with the key from before it was judged; return its entry."""
        path = self.path(submission.session, submission.student)
        replaced, history = self.load(submission.session, submission.student), load_json(path, _History)
        earlier = history.earlier if history else ()
        if replaced and replaced.key.submission_digest != key.submission_digest:
            earlier = (*earlier, EarlierSubmission(path.stat().st_mtime, replaced.verdict.points))
        entry = StoredVerdict(submission.student, verdict, key, earlier=earlier)
        self.save(entry)
        return entry

    def key(self, submission: Submission, options: Options, inputs_digest: str | None = None) -> VerdictKey:
        """Return the inputs of a verdict as they are now; their digest as it was before, where that is given."""
        return VerdictKey(submission.digest, inputs_digest or self.inputs_digest(submission.session), options)

    def inputs_digest(self, session: str) -> str:
        """Return the digest of what the verdicts of a session are made from."""
        return digests.of_verdicts(load_source(self.course, session))

    def first_unjudged(self, files: Iterable[SubmittedFile]) -> SubmittedFile | None:
        """Return the first of these submissions that was never judged."""
        return next((file for file in files
                     if not file.problem and not self.path(file.session, file.student).exists()), None)

    def sessions(self) -> list[str]:
        """Return the sessions of which there are verdicts."""
        folders = self.course.gradebook.glob("verdicts/*/")
        return sorted(folder.name for folder in folders if any(folder.glob("[!.]*.json")))

    def entries(self, session: str) -> list[StoredVerdict]:
        """Return all entries of a session, by student; a file that holds none is named in the log."""
        students = self.students(session)
        entries = {student: self.load(session, student) for student in students}
        for student in students:
            if not entries[student]:
                _warn_of_damaged(self.path(session, student))
        return list(filter(None, entries.values()))

    def students(self, session: str) -> list[str]:
        """Return the students who have a file for an entry of a session."""
        return sorted(path.stem for path in (self.course.gradebook / "verdicts" / session).glob("[!.]*.json"))


@cache
def _warn_of_damaged(path: Path) -> None:
    """Name a file once: the screen reads all entries every few seconds."""
    log.warning(escaping.line(f"{path} holds no verdict that can be read: grade this session again"))
