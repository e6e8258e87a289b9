"""The commands about a class, and what each prints; `cli.py` has their words.

What is slow to import is imported by the command that needs it.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import escaping
from ..course import Course, CourseError
from ..grammar import counted
from ..sandbox.options import Options, options_of
from ..sandbox.restrictions import SandboxError

NOTHING = "No submissions found: put notebooks into gradebook/submitted/<student>/<session>/<session>.ipynb"
MOST_LINES = 30  # about what was not taken


def grade(args: argparse.Namespace, course: Course) -> int:
    """Grade everything that is handed in."""
    from ..judging import watched
    from ..judging.seeds import new_seed
    from ..sandbox.restrictions import require_bubblewrap
    from .verdict_store import VerdictStore

    if not args.no_isolation:
        require_bubblewrap()
    for name in args.session:
        course.expect(name)
    submitted = course.gradebook / "submitted"
    nothing = not any(any(submitted.glob(f"*/{name}")) for name in args.session or course.assignments)
    device = "cpu" if nothing and args.device == "auto" else args.device  # to look for CUDA takes seconds
    options = options_of(device, not args.no_isolation, args.time_limit)
    if nothing:
        print(NOTHING, flush=True)
        return _tell_untaken(course) if submitted.is_dir() and any(submitted.iterdir()) else 0
    new = None if args.scheduler else VerdictStore(course).to_judge(args.session or course.assignments)
    first = (new, new_seed()) if new else None
    with watched.begun(course, options, first):
        return _grade(args, course, options, first)


def _grade(args: argparse.Namespace, course: Course, options: Options, first: tuple[str, str] | None) -> int:
    from tqdm import tqdm

    from .grading import Classroom, Graded, grade_class, summary_table  # brings nbgrader, while the judges bring torch

    with _stopping_at_once(), _executor(args) as executor, tqdm(unit=" submissions", disable=None) as bar:
        def each(graded: Graded, done: int, total: int) -> None:
            bar.total = total
            bar.update()
            if graded.problem:
                bar.write(escaping.line(f"{graded.handed.student}: {graded.problem}"), file=sys.stderr)

        assignments = args.session or course.assignments
        graded = grade_class(Classroom(course), assignments, options, executor, args.force, each, first)
    print(summary_table(graded))
    return max(_tell_untaken(course), 2 if any(one.problem for one in graded) else 0)


def _tell_untaken(course: Course) -> int:
    """Print what was handed in and not taken; return 1 where there is something."""
    from .untaken import untaken

    if left := untaken(course):
        print(f"\nNot graded, in {course.gradebook / 'submitted'}:")
        for one in left[:MOST_LINES]:
            print(f"  {escaping.line(str(one))}")
    if len(left) > MOST_LINES:
        print(f"  and {len(left) - MOST_LINES} more")
    return 1 if left else 0


@contextlib.contextmanager
def _stopping_at_once() -> Iterator[None]:
    """Say at the first ^C what becomes of submissions that are being judged; ignore those that come after it."""
    def stop(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.write(2, b"\nautograder: stopping; submissions that are being judged are not graded\n")
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _executor(args: argparse.Namespace) -> Iterator[Any]:
    """Start the pool that judges submissions: processes of this machine, or a Dask cluster."""
    if not args.scheduler:
        yield args.jobs
        return
    try:
        from distributed import Client
    except ImportError:
        raise SandboxError("--scheduler needs the package distributed: pip install distributed") from None
    try:
        client = Client(args.scheduler, timeout="10s")
    except OSError:
        raise SandboxError(f"no scheduler answers at {args.scheduler}") from None
    with client, client.get_executor(pure=False, retries=3) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False)
            raise


def open_screen(args: argparse.Namespace, course: Course) -> int:
    """Start a Jupyter Server with the screen and formgrader on it, and open the screen in a browser."""
    extensions = {"autograder.classroom.screen": True, "nbgrader.server_extensions.formgrader": True}
    command = [sys.executable, "-m", "jupyter_server", f"--ServerApp.root_dir={course.root}",
               f"--ServerApp.jpserver_extensions={extensions}", "--ServerApp.default_url=/autograder",
               f"--ServerApp.port={args.port}", f"--ServerApp.open_browser={not args.no_browser}"]
    if os.geteuid() == 0:
        command.append("--allow-root")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return subprocess.call(command, cwd=course.root)


def feedback(args: argparse.Namespace, course: Course) -> int:
    """Write the pages that are out of date, and say what changed for whom."""
    from .grading import Classroom
    from .nbgrader.feedback import renew

    classroom = Classroom(course)
    status = 0
    for name in _graded(classroom, args.session):
        pages = renew(classroom, name)
        for one in pages:
            if one.problem:
                print(escaping.line(f"autograder: {name}, {one.student}: no page ({one.problem})"), file=sys.stderr)
                status = 2
            elif one.changed:
                print(escaping.line(f"{name}, {one.student}: {', '.join(one.changed)}"))
        changed = sum(bool(one.changed) for one in pages)
        print(f"{name}: {changed} of {counted(len(pages), 'page')} written; all lie in "
              f"{course.gradebook}/feedback/<student>/{name}/{name}.html")
    return status


def questions(args: argparse.Namespace, course: Course) -> int:
    """Write the written answers into CSV files, or enter the points and comments of one."""
    from . import questions, questions_csv
    from .grading import Classroom

    classroom = Classroom(course)
    if args.enter:
        entered = questions_csv.enter(classroom, args.enter)
        for entry in entered:
            question, points = entry.question, entry.assessment.points if entry.assessment else 0.0
            print(escaping.line(f"{question.assignment}, {question.name}, {entry.answer.student}: "
                                f"{points:g} of {question.points:g} points"))
        print(f"{counted(len(entered), 'answer')} entered; autograder feedback writes the pages that this changes")
        return 0
    for name in _graded(classroom, args.session):
        collected, path = questions.collect(classroom, name), questions_csv.path(course, name)
        questions_csv.write(path, collected, args.anonymous)
        unread = sum(answer.points is None for question in collected for answer in question.answers)
        print(f"{name}: {counted(unread, 'answer')} to read; fill {path}, or type autograder open")
    return 0


def similar(args: argparse.Namespace, course: Course) -> int:
    """Write the pages of submissions that share rare code."""
    from . import similar
    from .grading import Classroom

    classroom = Classroom(course)
    if args.past and not args.past.is_dir():
        raise CourseError(f"{args.past} is not a folder; it must hold <student>/<session>/<session>.ipynb of last year")
    compared, names = False, args.session or course.assignments
    for name in sorted({one.assignment for one in classroom.handed_in(names)}):
        comparison = similar.compare(classroom, name, args.past)
        if comparison.works:
            path, pairs = similar.write(course, name, comparison)
            submissions = counted(len(comparison.works), "submission")
            print(f"{name}: {counted(len(pairs), 'pair')} to look at, in {submissions}; open {path}")
            compared = True
    if not compared:
        print(NOTHING)
    return 0


def _graded(classroom: Any, wanted: list[str]) -> list[str]:
    """Return the wanted sessions, or all graded ones; ``CourseError`` names a session without grades."""
    there: list[str] = classroom.store.assignments()
    for name in wanted:
        if name not in there:
            raise CourseError(f"nothing is graded of {name}; there is: {', '.join(there) or 'nothing yet'}")
    if not there:
        print("Nothing is graded yet: run autograder grade first")
    return wanted or there


def collect(args: argparse.Namespace, course: Course) -> int:
    """Take submissions out of a platform's zip."""
    from .platforms import collecting

    if args.tp:
        course.expect(args.tp)
    collected = collecting.collect(course, args.zip, args.tp)
    for name, rows in collected.items():
        taken = sum(row.taken for row in rows)
        left_out = counted(len(rows) - taken, "file")
        print(f"{name}: {counted(taken, 'submission')}, {left_out} left out ({collecting.table_path(course, name)})")
        print(collecting.shown(rows))
    return 0 if all(row.taken for rows in collected.values() for row in rows) else 1


def give_back(args: argparse.Namespace, course: Course) -> int:
    """Write grades, comments and feedback as platforms import them."""
    from .grading import Classroom
    from .platforms import returning

    returned = returning.give_back(Classroom(course), args.tp, args.worksheet)
    for path in returned.files:
        print(path)
    for note in returned.notes:
        print(escaping.line(f"note: {note}"))
    return 0


def report(args: argparse.Namespace, course: Course) -> int:
    """Write the class report, or the page of one student."""
    from . import report
    from .grading import Classroom

    classroom = Classroom(course)
    names = _graded(classroom, args.session)
    if not names:
        return 0
    if args.student is None:
        print(report.write(classroom, names))
    elif any(entry.student == args.student for name in names for entry in classroom.store.entries(name)):
        print(escaping.shell(report.write_student(classroom, names, args.student)))
    else:
        raise CourseError(f"no graded submission of {args.student}")
    return 0
