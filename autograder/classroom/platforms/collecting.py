"""Collect submissions from the zip of Moodle or Canvas into the submitted folder.

Who is who is asked nowhere: it is written to ``gradebook/students.csv`` when a name is new, and read from there ever
after. What went where is written to ``gradebook/collected/<tp>.csv``; grades and feedback go back by it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
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
from .archive import ArchiveError, Found, files
from .names import Sender, sender, slug

ROSTER = ("platform", "key", "student")


@dataclass(frozen=True)
class Collected:
    """The outcome of one file: a row of the table. ``student`` is empty where the file's name belongs to no student."""

    student: str
    name: str
    platform: str
    id: str
    late: str
    file: str  # its name in the archive
    back: str  # the name by which something goes back
    what: str

    @property
    def taken(self) -> bool:
        """Whether it is this student's submission now."""
        return self.what in TAKEN


TAKEN = ("new", "as before", "in the place of an earlier one")


@dataclass(frozen=True)
class _Candidate:
    found: Found
    sender: Sender
    assignment: str | None  # that its cells say


def collect(course: Course, path: Path, assignment: str | None = None) -> dict[str, list[Collected]]:
    """Take the submissions out of the zip; session → rows, one a file. ``ArchiveError`` when nothing can be taken.

    Without ``assignment``, each notebook says by its cells of which session it is; those that say nothing are of the
    session that most are of.
    """
    candidates: list[_Candidate] = []
    others: list[Collected] = []
    for found in files(path, _owner):
        by = sender(found.name)
        if found.problem or by is None:
            what = found.problem or "its name says neither in Moodle's way nor in Canvas's whose it is"
            others.append(_row(by, found.name, "", f"left out: {what}"))
        else:
            candidates.append(_Candidate(found, by, which_assignment(cells(found.data), course)))
    candidates, refused = _parted(candidates)
    others += refused
    if not candidates and not refused:
        raise ArchiveError(f"{path} holds no notebook in the way that Moodle or Canvas writes submissions")
    sessions = Counter(one.assignment for one in candidates if one.assignment)
    usual = assignment or (sessions.most_common(1)[0][0] if sessions else None)
    if usual is None and not candidates:
        raise ArchiveError("; ".join(f"{row.file}: {row.what}" for row in refused))
    if usual is None:
        raise ArchiveError(f"no notebook in {path} has cells of this course: say with --tp which session it is of")
    roster = Roster(course)
    students = roster.named(one.sender for one in candidates)
    groups: dict[tuple[str, str], list[_Candidate]] = defaultdict(list)
    for one in candidates:
        groups[assignment or one.assignment or usual, students[one.sender.platform, one.sender.id]].append(one)
    rows: dict[str, list[Collected]] = defaultdict(list)
    for (name, student), group in sorted(groups.items()):
        rows[name] += _taken(course, name, student, group)
    named = {(row.platform, row.id): row.student for own in rows.values() for row in own}
    rows[usual] += [replace(row, student=named.get((row.platform, row.id), "")) for row in others]
    roster.save()
    for name, own in rows.items():
        there = {(row.platform, row.id) for row in own}  # of another archive, say of another group, the rows stay
        kept = [row for row in table(course, name) if row.taken and (row.platform, row.id) not in there]
        columns = [column.name for column in fields(Collected)]
        spreadsheets.write(table_path(course, name), [columns, *map(astuple, [*kept, *own])], escaping.cell)
    return dict(rows)


def _owner(name: str) -> tuple[str, str] | None:
    by = sender(name)
    return (by.platform, by.id) if by else None


def _parted(candidates: list[_Candidate]) -> tuple[list[_Candidate], list[Collected]]:
    """Part what has one owner from what would be taken for somebody else's; of that, the rows say with what.

    A platform writes one name for one number. A student whose own name holds numbers can make a file that reads as
    that of another.
    """
    by_number: dict[tuple[str, str], list[_Candidate]] = defaultdict(list)
    for one in candidates:
        by_number[one.sender.platform, one.sender.id].append(one)
    kept, refused = [], []
    for own in by_number.values():
        names = sorted({one.sender.name for one in own})
        for one in own:
            if len(names) > 1:
                what = f"the number {one.sender.id} stands with several names: {', '.join(names)}"
                refused.append(_row(None, one.found.name, "", f"left out: {what}"))
            elif one.sender.doubtful and len(own) > 1:
                beside = next(other.found.name for other in own if other is not one)
                what = f"it may be of another student than {beside}, whose place it would take"
                refused.append(_row(None, one.found.name, "", f"left out: {what}"))
            else:
                kept.append(one)
    return kept, refused


def _taken(course: Course, assignment: str, student: str, own: list[_Candidate]) -> Iterable[Collected]:
    """Write the one notebook of several that counts: of this session before others, then the latest."""
    own.sort(key=lambda one: (one.assignment == assignment, one.sender.order, one.found.name), reverse=True)
    yield _row(own[0].sender, own[0].found.name, student, _put(course, assignment, student, own[0].found.data))
    for one in own[1:]:
        yield _row(one.sender, one.found.name, student, "left out: there is a later notebook, or one of this session")


def _put(course: Course, assignment: str, student: str, data: bytes) -> str:
    """Write a submission; what that changed."""
    path = StudentWork(course, assignment, student).submitted
    there = path.is_file() and not path.is_symlink()
    if there and path.read_bytes() == data:
        return TAKEN[1]
    write_whole(path, data)
    return TAKEN[2] if there else TAKEN[0]


def _row(by: Sender | None, file: str, student: str, what: str) -> Collected:
    if by is None:
        return Collected(student, "", "", "", "", file, "", what)
    return Collected(student, by.name, by.platform, by.id, "late" if by.late else "", file, by.back, what)


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
        """Return the student of each sender, by platform and key; give new ones a name."""
        people = {(one.platform, one.name, one.id) for one in senders}
        same = Counter((platform, name) for platform, name, _ in people)
        found: dict[tuple[str, str], str] = {}
        for platform, name, number in sorted(people):
            # Moodle counts participants anew in every assignment; a name alone will do unless two bear it
            double = same[platform, name] > 1
            key = number if platform == "canvas" else f"{name}_{number}" if double else name  # no name holds "_"
            if (platform, key) not in self.students:
                self.students[platform, key] = self._new(name, number)
            found[platform, number] = self.students[platform, key]
        return found

    def _new(self, name: str, number: str) -> str:
        wanted = slug(name) or f"student-{slug(number)}"
        taken = set(self.students.values())
        others = (f"{wanted}-{slug(number)}{'-' * more}" for more in count())
        return wanted if wanted not in taken else next(one for one in others if one not in taken)

    def save(self) -> None:
        """Write the table."""
        rows = [(*key, student) for key, student in sorted(self.students.items())]
        spreadsheets.write(self.path, [ROSTER, *rows], escaping.cell)


def _is_folder(name: str) -> bool:
    return bool(name) and not set(name) & set('/\\\0:*?"<>|') and not name.startswith(".")


def table_path(course: Course, assignment: str) -> Path:
    """Return where the table of a session stands."""
    return course.gradebook / "collected" / f"{assignment}.csv"


def table(course: Course, assignment: str) -> list[Collected]:
    """Return what was collected last of a session; nothing where nothing was."""
    return [Collected(**row) for row in spreadsheets.records(table_path(course, assignment))]


def shown(rows: list[Collected]) -> str:
    """Return the table as the command line prints it."""
    lines = [[row.student or "?", row.name, row.late, row.what, row.file] for row in rows]
    return text_table([[text if text.isprintable() else ascii(text) for text in line] for line in lines])
