"""Collect submissions from the zip of Moodle or Canvas into the submitted folder.

``gradebook/students.csv`` maps names on the platform to students here; new names are added to it.
``gradebook/collected/<session>.csv`` says which file became whose submission; grades and feedback go back by it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields, replace
from itertools import count
from pathlib import Path

from ... import escaping
from ...course import Course
from ...judging.submission import which_assignment
from ...runtime.tables import text_table
from ...runtime.workspace import write_whole
from .. import spreadsheets
from ..answers import cells
from ..student_work import StudentWork
from .archive import ArchivedFile, ArchiveError, files
from .names import Sender, sender_of, slug

ROSTER = ("platform", "key", "student")


@dataclass(frozen=True)
class CollectedFile:
    """The outcome of one file, as a row of the table; ``student`` is empty where the name belongs to no student.

    The fields are the columns of the CSV file.
    """

    student: str
    name: str
    platform: str
    id: str
    late: str
    file: str  # its name in the archive
    return_name: str  # of the file or folder in which feedback goes back
    outcome: str

    @property
    def taken(self) -> bool:
        """Whether it is this student's submission now."""
        return self.outcome in TAKEN


FORMER = {"back": "return_name", "what": "outcome"}  # columns of version 3
TAKEN = ("new", "as before", "in the place of an earlier one")


@dataclass(frozen=True)
class _Candidate:
    file: ArchivedFile
    sender: Sender
    assignment: str | None  # by its cells


def collect(course: Course, path: Path, assignment: str | None = None) -> dict[str, list[CollectedFile]]:
    """Take the submissions out of the zip; session → rows, one a file. ``ArchiveError`` when nothing can be taken.

    Without ``assignment``, the session of each notebook is known by its cells; a notebook without cells of the course
    is taken for the session that most of the others are of.
    """
    candidates: list[_Candidate] = []
    others: list[CollectedFile] = []
    for file in files(path, _owner):
        sender = sender_of(file.name)
        if file.problem or sender is None:
            problem = file.problem or "its name says neither in Moodle's way nor in Canvas's whose it is"
            others.append(_row(sender, file.name, f"left out: {problem}"))
        else:
            candidates.append(_Candidate(file, sender, which_assignment(cells(file.data), course)))
    candidates, refused = _refuse_ambiguous(candidates)
    others += refused
    if not candidates and not refused:
        raise ArchiveError(f"{path} holds no notebook in the way that Moodle or Canvas writes submissions")
    sessions = Counter(candidate.assignment for candidate in candidates if candidate.assignment)
    usual = assignment or (sessions.most_common(1)[0][0] if sessions else None)
    if usual is None and not candidates:
        raise ArchiveError("; ".join(f"{row.file}: {row.outcome}" for row in refused))
    if usual is None:
        raise ArchiveError(f"no notebook in {path} has cells of this course: say with --session which session it is of")
    roster = Roster(course)
    students = roster.named(candidate.sender for candidate in candidates)
    groups: dict[tuple[str, str], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        student = students[candidate.sender.platform, candidate.sender.id]
        groups[assignment or candidate.assignment or usual, student].append(candidate)
    rows: dict[str, list[CollectedFile]] = defaultdict(list)
    for (name, student), group in sorted(groups.items()):
        rows[name] += _take_latest(course, name, student, group)
    named = {(row.platform, row.id): row.student for session_rows in rows.values() for row in session_rows}
    rows[usual] += [replace(row, student=named.get((row.platform, row.id), "")) for row in others]
    roster.save()
    for name, session_rows in rows.items():
        senders = {(row.platform, row.id) for row in session_rows}
        # rows of another archive, for example of another group, stay
        kept = [row for row in table(course, name) if row.taken and (row.platform, row.id) not in senders]
        columns = [column.name for column in fields(CollectedFile)]
        spreadsheets.write(table_path(course, name), [columns, *map(astuple, [*kept, *session_rows])], escaping.cell)
    return dict(rows)


def _owner(name: str) -> tuple[str, str] | None:
    sender = sender_of(name)
    return (sender.platform, sender.id) if sender else None


def _refuse_ambiguous(candidates: list[_Candidate]) -> tuple[list[_Candidate], list[CollectedFile]]:
    """Return the candidates whose owner is certain, and the rows of the others, which say why they are refused.

    A platform writes one name for one number. A student whose own name holds numbers can make a file that reads as
    that of another.
    """
    by_number: dict[tuple[str, str], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_number[candidate.sender.platform, candidate.sender.id].append(candidate)
    kept, refused = [], []
    for group in by_number.values():
        names = sorted({candidate.sender.name for candidate in group})
        for candidate in group:
            if len(names) > 1:
                problem = f"the number {candidate.sender.id} stands with several names: {', '.join(names)}"
            elif candidate.sender.ambiguous and len(group) > 1:
                beside = next(other.file.name for other in group if other is not candidate)
                problem = f"it may be of another student than {beside}, whose place it would take"
            else:
                kept.append(candidate)
                continue
            refused.append(_row(None, candidate.file.name, f"left out: {problem}"))
    return kept, refused


def _take_latest(course: Course, assignment: str, student: str, group: list[_Candidate]) -> Iterator[CollectedFile]:
    """Write the one notebook of several that counts: of this session before others, then the latest; yield all rows."""
    group.sort(reverse=True, key=lambda candidate: (
        candidate.assignment == assignment, candidate.sender.order, candidate.file.name))
    latest, *rest = group
    yield _row(latest.sender, latest.file.name, _put(course, assignment, student, latest.file.data), student)
    for candidate in rest:
        yield _row(candidate.sender, candidate.file.name,
                   "left out: there is a later notebook, or one of this session", student)


def _put(course: Course, assignment: str, student: str, data: bytes) -> str:
    """Write a submission; return one of `TAKEN`."""
    path = StudentWork(course, assignment, student).submitted
    replaces = path.is_file() and not path.is_symlink()
    if replaces and path.read_bytes() == data:
        return TAKEN[1]
    write_whole(path, data)
    return TAKEN[2] if replaces else TAKEN[0]


def _row(sender: Sender | None, file: str, outcome: str, student: str = "") -> CollectedFile:
    if sender is None:
        return CollectedFile(student, "", "", "", "", file, "", outcome)
    return CollectedFile(student, sender.name, sender.platform, sender.id, "late" if sender.late else "", file,
                         sender.return_name, outcome)


class Roster:
    """The names of students here. A person may change the column ``student`` as long as the student has no grade."""

    def __init__(self, course: Course):
        self.path = course.gradebook / "students.csv"
        rows = spreadsheets.records(self.path)
        self.students = {(row["platform"], row["key"]): row["student"] for row in rows if row.keys() >= set(ROSTER)}
        bad = [name for name in self.students.values() if not _is_folder(name)]
        if bad:
            raise ArchiveError(f"{self.path}: {bad[0]!r} cannot be a student's name here: it is to be a folder's")

    def named(self, senders: Iterable[Sender]) -> dict[tuple[str, str], str]:
        """Return the student of each sender, by platform and number; give new ones a name."""
        people = {(sender.platform, sender.name, sender.id) for sender in senders}
        namesakes = Counter((platform, name) for platform, name, _ in people)
        students: dict[tuple[str, str], str] = {}
        for platform, name, number in sorted(people):
            # Moodle counts participants anew in every assignment; a name alone will do unless two bear it
            double = namesakes[platform, name] > 1
            key = number if platform == "canvas" else f"{name}_{number}" if double else name  # no name holds "_"
            if (platform, key) not in self.students:
                self.students[platform, key] = self._new(name, number)
            students[platform, number] = self.students[platform, key]
        return students

    def _new(self, name: str, number: str) -> str:
        wanted = slug(name) or f"student-{slug(number)}"
        taken = set(self.students.values())
        others = (f"{wanted}-{slug(number)}{'-' * more}" for more in count())
        return wanted if wanted not in taken else next(other for other in others if other not in taken)

    def save(self) -> None:
        """Write the table."""
        rows = [(*key, student) for key, student in sorted(self.students.items())]
        spreadsheets.write(self.path, [ROSTER, *rows], escaping.cell)


def _is_folder(name: str) -> bool:
    return bool(name) and not set(name) & set('/\\\0:*?"<>|') and not name.startswith(".")


def table_path(course: Course, assignment: str) -> Path:
    """Return the path of the table of a session."""
    return course.gradebook / "collected" / f"{assignment}.csv"


def table(course: Course, assignment: str) -> list[CollectedFile]:
    """Return the collected files of a session; none if nothing was collected."""
    return [CollectedFile(**{FORMER.get(name, name): text for name, text in row.items()})
            for row in spreadsheets.records(table_path(course, assignment))]


def as_text(rows: list[CollectedFile]) -> str:
    """Return the table as the command line prints it."""
    lines = [[row.student or "?", row.name, row.late, row.outcome, row.file] for row in rows]
    return text_table([[text if text.isprintable() else ascii(text) for text in line] for line in lines])
