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
from ...course import Course, CourseError
from ...judging.submission import readable_cells, session_of_notebook
from ...runtime.rich_output import text_table
from ...runtime.workspace import write_whole
from .. import csv_files
from ..json_files import FileError
from ..student_work import StudentWork
from ..verdict_store import VerdictStore
from .senders import Person, Sender, is_anonymous, sender_of, slug
from .untrusted_zip import ArchivedFile, files

ROSTER = ("platform", "key", "student")
People = dict[Person, str]


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


TAKEN = NEW, UNCHANGED, REPLACING = ("new", "as before", "in the place of an earlier one")


@dataclass(frozen=True)
class _Candidate:
    file: ArchivedFile
    sender: Sender
    session: str | None  # by its cells


def collect(course: Course, path: Path, session: str | None = None) -> dict[str, list[CollectedFile]]:
    """Take the submissions out of the zip; session → rows, one a file. ``CourseError`` when nothing can be taken.

    Without ``session``, the session of each notebook is known by its cells; a notebook without cells of the course
    is taken for the session that most of the others are of, and one of another session than these replaces none.
    """
    candidates: list[_Candidate] = []
    others: list[CollectedFile] = []
    for file in files(path, _owner):
        sender = sender_of(file.name)
        if file.problem or sender is None:
            problem = file.problem or "its name says neither in Moodle's way nor in Canvas's whose it is"
            others.append(_row(sender, file.name, f"left out: {problem}"))
        else:
            candidates.append(_Candidate(file, sender, session_of_notebook(readable_cells(file.data), course)))
    candidates, refused = _refuse_ambiguous(candidates)
    others += refused
    if not candidates and not refused:
        raise CourseError(f"{path} holds no notebook in the way that Moodle or Canvas writes submissions")
    sessions = Counter(candidate.session for candidate in candidates if candidate.session)
    usual = session or (sessions.most_common(1)[0][0] if sessions else None)
    if usual is None and not candidates:
        raise CourseError("; ".join(f"{row.file}: {row.outcome}" for row in refused))
    if usual is None:
        raise CourseError(f"no notebook in {path} has cells of this course: say with --session which session it is "
                          "of")
    with VerdictStore(course).writing():
        return _take(course, candidates, others, usual, session)


def _take(course: Course, candidates: list[_Candidate], others: list[CollectedFile], usual: str,
          session: str | None) -> dict[str, list[CollectedFile]]:
    """Write the notebooks that count, the roster and the tables; ``usual`` is the session of the archive."""
    roster = Roster(course)
    students, doubts = roster.named({candidate.sender.person for candidate in candidates}, table(course, usual))
    groups: dict[tuple[str, str], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        person = candidate.sender.person
        if person in doubts:
            others.append(_row(candidate.sender, candidate.file.name, f"left out: {doubts[person]}"))
        else:
            groups[session or candidate.session or usual, students[person]].append(candidate)
    tables = {name: table(course, name) for name in {usual, *(name for name, _ in groups)}}
    rows: dict[str, list[CollectedFile]] = {usual: []}
    sessions = Counter(student for _, student in groups)
    is_portfolio = 2 * sum(count > 1 for count in sessions.values()) > len(sessions)  # most hand in several sessions
    for (name, student), group in sorted(groups.items()):
        latest, *rest = _take_latest(course, name, student, group, tables[name], name == usual or is_portfolio)
        rows.setdefault(name if latest.taken else usual, []).extend([latest, *rest])
    named = {(row.platform, row.id): row.student for session_rows in rows.values() for row in session_rows}
    rows[usual] += [replace(row, student=named.get((row.platform, row.id), "")) for row in others]
    roster.save()
    for name, session_rows in rows.items():
        senders = {(row.platform, row.id) for row in session_rows if row.taken}
        # rows of another archive, for example of another group, stay, as does that of work which still counts
        kept = [row for row in tables[name] if row.taken and (row.platform, row.id) not in senders]
        columns = [column.name for column in fields(CollectedFile)]
        csv_files.write(table_path(course, name), [columns, *map(astuple, [*kept, *session_rows])], escaping.csv_cell)
    return rows


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


def _take_latest(course: Course, session: str, student: str, group: list[_Candidate],
                 before: list[CollectedFile], may_replace: bool) -> Iterator[CollectedFile]:
    """Write the one notebook of several that counts: of this session before others, then the latest; yield all rows.

    ``before`` is the table of the session so far. The row of the notebook that counts is the first.
    """
    group.sort(reverse=True, key=lambda candidate: (
        candidate.session == session, candidate.sender.order, candidate.file.name))
    latest, *rest = group
    sender = latest.sender
    earlier = {(row.platform, row.id): row.student for row in before if row.taken}.get((sender.platform, sender.id))
    may_replace |= sender.platform == "moodle" and earlier is not None  # its numbers are those of one assignment
    outcome = _put(course, session, student, latest.file.data, earlier, may_replace)
    yield _row(sender, latest.file.name, outcome, student)
    for candidate in rest:
        yield _row(candidate.sender, candidate.file.name,
                   "left out: there is a later notebook, or one of this session", student)


def _put(course: Course, session: str, student: str, data: bytes, earlier: str | None, may_replace: bool) -> str:
    """Write a submission; return one of `TAKEN`, or why it is left out.

    ``earlier`` is the name under which this sender's work of this session was collected before.
    """
    if earlier and earlier != student and StudentWork(course, session, earlier).submitted.exists():
        return (f"left out: an earlier one lies in gradebook/submitted/{earlier}: rename this folder to {student}, "
                "or remove it, and collect again")
    path = StudentWork(course, session, student).submitted
    replaces = path.is_file() and not path.is_symlink()
    same = replaces and path.read_bytes() == data
    if replaces and not may_replace and not (same and earlier):
        return (f"left out: it is of {session}, of which one is there already: remove "
                f"gradebook/submitted/{student}/{session} if this one counts, and collect again")
    if same:
        return UNCHANGED
    write_whole(path, data)
    return REPLACING if replaces else NEW


def _row(sender: Sender | None, file: str, outcome: str, student: str = "") -> CollectedFile:
    if sender is None:
        return CollectedFile(student, "", "", "", "", file, "", outcome)
    return CollectedFile(student, sender.name, sender.platform, sender.id, "late" if sender.late else "", file,
                         sender.return_name, outcome)


class Roster:
    """The names of students here. A person may change the column ``student`` as long as the student has no grade."""

    def __init__(self, course: Course):
        self.path = course.gradebook / "students.csv"
        rows = csv_files.records(self.path)
        if rows and rows[0].keys() != set(ROSTER):
            raise CourseError(f"{self.path}: its columns are to be {', '.join(ROSTER)}, and no others")
        self.students = {(row["platform"], row["key"]): row["student"] for row in rows}
        bad = [name for name in self.students.values() if not _is_folder_name(name)]
        if bad:
            raise CourseError(f"{self.path}: {bad[0]!r} cannot be a student's name here: it is to be a folder's")

    def named(self, people: Iterable[Person], before: list[CollectedFile]) -> tuple[People, People]:
        """Return the student of each sender, and why it is not certain who another sender is; name new students.

        Moodle counts participants anew in every assignment. So its numbers tell students of one name apart only within
        ``before``, the table of the session so far, and in rows of the roster that have them. Where most senders have
        another number than before, they hand in the session in a second assignment.
        """
        people = sorted(people)
        namesakes = Counter((platform, name) for platform, name, _ in people)
        known: dict[tuple[str, str], set[str]] = defaultdict(set)
        for (platform, key), student in self.students.items():
            known[platform, key.rpartition("_")[0] or key].add(student)  # no name on Moodle holds "_"
        collected: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        for row in before:
            if row.taken and (row.platform, f"{row.name}_{row.id}") not in self.students:
                collected[row.platform, row.name][row.id] = row.student
        renumbered = [person for person in people if collected[person[:2]] and person[2] not in collected[person[:2]]]
        second = len(renumbered) > max(2, len(people) / 2)
        students: People = {}
        doubts: People = {}
        for person in people:
            platform, name, number = person
            numbered = number if platform == "canvas" else f"{name}_{number}"
            by_number = collected[platform, name]
            alone = namesakes[platform, name] == 1 and (second or by_number.keys() <= {number})
            same_name = known[platform, name] or set(by_number.values())
            if platform == "canvas" or is_anonymous(name) or (platform, numbered) in self.students:
                students[person] = self._student(person, numbered)
            elif not same_name:
                students[person] = self._student(person, name if alone else numbered)
            elif alone and len(same_name) == 1:
                students[person] = min(same_name)
                if by_number.keys() - {number}:
                    self.students[platform, numbered] = students[person]
            elif by_number.get(number) in same_name and [*by_number.values()].count(by_number[number]) == 1:
                students[person] = by_number[number]
            else:
                doubts[person] = (f"it is of {' or '.join(sorted(same_name))}, or of another {name}: add to "
                                  f"gradebook/students.csv a row {platform},{numbered},STUDENT, and collect again")
        return students, doubts

    def present_name(self, row: CollectedFile) -> str:
        """Return the present name of the student of a file: a person may have changed it since."""
        keys = [row.id] if row.platform == "canvas" else [f"{row.name}_{row.id}", row.name]
        known = (self.students.get((row.platform, key)) for key in keys)
        return next(filter(None, known), row.student)

    def _student(self, person: Person, key: str) -> str:
        platform, name, number = person
        if (platform, key) not in self.students:
            self.students[platform, key] = self._new(name, number)
        return self.students[platform, key]

    def _new(self, name: str, number: str) -> str:
        wanted = slug(name) or f"student-{slug(number)}"
        taken = set(self.students.values())
        others = (f"{wanted}-{slug(number)}{'-' * more}" for more in count())
        return wanted if wanted not in taken else next(other for other in others if other not in taken)

    def save(self) -> None:
        """Write the table."""
        rows = [(*key, student) for key, student in sorted(self.students.items())]
        csv_files.write(self.path, [ROSTER, *rows], escaping.csv_cell)


def _is_folder_name(name: str) -> bool:
    return bool(name.strip()) and name == name.strip() and not set(name) & set('/\\\0:*?"<>|') and name[0] != "."


def table_path(course: Course, session: str) -> Path:
    """Return the path of the table of a session."""
    return course.gradebook / "collected" / f"{session}.csv"


def table(course: Course, session: str) -> list[CollectedFile]:
    """Return the collected files of a session; none if nothing was collected."""
    path = table_path(course, session)
    try:
        return [CollectedFile(**row) for row in csv_files.records(path)]
    except TypeError:
        raise FileError(f"{path}: its columns are not those that autograder collect writes") from None


def as_text(rows: list[CollectedFile]) -> str:
    """Return the table as the command line prints it."""
    lines = [[row.student or "?", row.name, row.late, row.outcome, row.file] for row in rows]
    return text_table([[text if text.isprintable() else ascii(text) for text in line] for line in lines])
