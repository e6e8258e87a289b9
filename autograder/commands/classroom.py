"""The commands about a class and their output; `cli.py` has their help.

A module that is slow to import is imported by the command that needs it.
"""

import argparse
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .. import escaping
from ..course import Course, CourseError
from ..runtime.text import counted, first_lines, points_text
from ..sandbox.options import Options, options_of
from ..sandbox.restrictions import SandboxError

NOTHING = "No submissions found: put notebooks into gradebook/submitted/<student>/<session>/<session>.ipynb"
MAX_LINES = 30  # about files that are not graded


def grade(args: argparse.Namespace, course: Course) -> int:
    """Grade everything that is handed in."""
    from ..classroom.submitted import submitted_files
    from ..classroom.verdict_store import VerdictStore
    from ..judging import judge_process
    from ..sandbox.restrictions import require_bubblewrap

    if not args.no_isolation:
        require_bubblewrap()
    sessions = course.select_sessions(args.session)
    files = submitted_files(course.submitted, sessions)
    options = options_of(args.device, not args.no_isolation, args.time_limit)
    if not files:
        print(NOTHING, flush=True)
        return _print_ignored(course)
    new = None if args.scheduler else VerdictStore(course).first_unjudged(files)
    with judge_process.server_of(course, options, "") as fork_server:
        if new:
            fork_server.start(new.session)
        return _grade(args, course, sessions, options)


def _grade(args: argparse.Namespace, course: Course, sessions: list[str], options: Options) -> int:
    from tqdm import tqdm

    from ..classroom.grading import GradingResult, grade_class, summary_table

    # after the judges were begun: they import torch meanwhile, this imports nbgrader
    from ..classroom.nbgrader.term import Term

    with _interrupted() as is_interrupted, _workers(args) as workers, tqdm(unit=" submissions", disable=None) as bar:
        def each(graded: GradingResult, done: int, total: int) -> None:
            bar.total = total
            bar.update()
            if graded.problem:
                bar.write(escaping.line(f"{graded.file.student}: {graded.problem}"), file=sys.stderr)

        term = Term(course)
        graded = grade_class(term, sessions, options, workers, args.force, each, is_interrupted)
    print(summary_table(graded))
    status = max(_print_ignored(course), _print_no_longer_submitted(term, sessions))
    _print_unreleased(course, {result.file.session for result in graded})
    return max(status, 2 if any(result.problem for result in graded) else 0)


def _print_unreleased(course: Course, sessions: Iterable[str]) -> None:
    """Print which sessions were graded by other sources, checks or faults than those that students have."""
    from ..model.source import load_source
    from ..publish.release import is_outdated

    for name in sorted(sessions):
        if is_outdated(load_source(course, name)):
            print(f"\n{name} was graded by its present sources. Students have a notebook or self-checks made from "
                  f"others: autograder release {name}")


def _print_ignored(course: Course) -> int:
    """Print which files in the submitted folder are not graded; return 1 where there are some."""
    from ..classroom.submitted import ignored_files

    return _print_lines(f"Not graded, in {course.submitted}:", ignored_files(course))


def _print_no_longer_submitted(term: Any, sessions: list[str]) -> int:
    """Print who is graded without a submission; return 1 where there is somebody."""
    lines = [escaping.line(f"{student}, {name}") for student, name in term.no_longer_submitted(sessions)]
    return _print_lines(f"Graded, and no longer in {term.course.submitted}. To remove a student with all grades, "
                        "delete gradebook/*/NAME, gradebook/*/*/NAME.json and the rows in gradebook/collected, and "
                        "type nbgrader db student remove NAME --force:", lines)


def _print_lines(heading: str, lines: list[str]) -> int:
    """Print the first of these lines; return 1 where there are some."""
    if lines:
        print(f"\n{heading}")
        print(*(f"  {line}" for line in first_lines(lines, MAX_LINES)), sep="\n")
    return 1 if lines else 0


@contextlib.contextmanager
def _interrupted() -> Iterator[Callable[[], bool]]:
    """Say at the first ^C that submissions being judged are not graded, ignore each further ^C; yield whether one came.

    The handler raises nothing: Python drops an exception that comes while an object is finalized.
    """
    interrupted = threading.Event()

    def note(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.write(2, b"\nautograder: stopping; submissions that are being judged are not graded\n")
        interrupted.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupted.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _workers(args: argparse.Namespace) -> Iterator[Any]:
    """Yield the number of workers on this machine, or an executor of a Dask cluster."""
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
    except ValueError:
        raise SandboxError(f"{args.scheduler} is no address of a scheduler; one is tcp://host:8786") from None
    with client, client.get_executor(pure=False, retries=3) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False)
            raise


def open_screen(args: argparse.Namespace, course: Course) -> int:
    """Become a Jupyter Server with the screen and formgrader on it, and open the screen in a browser."""
    extensions = {"autograder.classroom.screen": True, "nbgrader.server_extensions.formgrader": True}
    command = [sys.executable, "-m", "jupyter_server", f"--ServerApp.root_dir={course.root}",
               f"--ServerApp.jpserver_extensions={extensions}", "--ServerApp.default_url=/autograder",
               f"--ServerApp.port={args.port}", f"--ServerApp.open_browser={not args.no_browser}"]
    if os.geteuid() == 0:
        command.append("--allow-root")
    os.chdir(course.root)
    os.execv(sys.executable, command)  # whatever ends this command ends the server


def feedback(args: argparse.Namespace, course: Course) -> int:
    """Write the feedback pages."""
    from ..classroom.nbgrader.feedback_pages import update_pages
    from ..classroom.nbgrader.term import Term

    term = Term(course)
    status = 0
    for name in _graded(term, args.session):
        pages = update_pages(term, name)
        for page in pages:
            if page.problem:
                print(escaping.line(f"autograder: {name}, {page.student}: no page ({page.problem})"), file=sys.stderr)
                status = 2
        changed = sum(page.changed for page in pages)
        print(f"{name}: {counted(len(pages), 'page')}, {changed} changed, in "
              f"{course.gradebook}/feedback/<student>/{name}/{name}.html")
    return status


def questions(args: argparse.Namespace, course: Course) -> int:
    """Write the written answers into CSV files, or enter the points and comments of one."""
    from ..classroom import questions, questions_csv
    from ..classroom.nbgrader.term import Term

    term = Term(course)
    if args.enter:
        entered = questions_csv.enter(term, args.enter)
        for entry in entered:
            question, points = entry.question, entry.assessment.points if entry.assessment else 0.0
            print(escaping.line(f"{question.session}, {question.name}, {entry.answer.student}: "
                                f"{points_text(points, question.points)}"))
        print(f"{counted(len(entered), 'answer')} entered; autograder feedback writes the pages that this changes")
        return 0
    status = 0
    for name in _graded(term, args.session):
        collected, path = questions.answered_questions(term, name), questions_csv.path(course, name)
        if problem := questions_csv.not_entered(term, path, collected):
            print(escaping.line(f"autograder: {problem}"), file=sys.stderr)
            status = 2
            continue
        questions_csv.write(path, collected, args.anonymous)
        unread = sum(answer.points is None for question in collected for answer in question.answers)
        print(f"{name}: {counted(unread, 'answer')} to read; fill {path}, or type autograder open")
    return status


def similar(args: argparse.Namespace, course: Course) -> int:
    """Write the pages of submissions that share rare code."""
    from ..classroom import similar
    from ..classroom.nbgrader.term import Term

    term = Term(course)
    if args.past and not args.past.is_dir():
        raise CourseError(f"{args.past} is not a folder; it must hold <student>/<session>/<session>.ipynb of last year")
    compared, names = False, course.select_sessions(args.session)
    for name in sorted({file.session for file in term.submitted(names)}):
        comparison = similar.compare(term, name, args.past)
        if comparison.submissions:
            path, pairs = similar.write(course, name, comparison)
            submissions = counted(len(comparison.submissions), "submission")
            print(f"{name}: {counted(len(pairs), 'pair')} to look at, in {submissions}; open {path}")
            compared = True
    if not compared:
        print(NOTHING)
    return 0


def _graded(term: Any, wanted: list[str]) -> list[str]:
    """Return the wanted sessions, or all graded ones; ``CourseError`` names a session without grades."""
    graded: list[str] = term.store.sessions()
    for name in wanted:
        if name not in graded:
            raise CourseError(f"nothing is graded of {name}; there is: {', '.join(graded) or 'nothing yet'}")
    if not graded:
        print("Nothing is graded yet: run autograder grade first")
    return wanted or graded


def collect(args: argparse.Namespace, course: Course) -> int:
    """Take submissions out of a platform's zip."""
    from ..classroom.platforms import collecting

    if args.session:
        course.require_session(args.session)
    collected = collecting.collect(course, args.zip, args.session)
    for name, rows in collected.items():
        taken = sum(row.taken for row in rows)
        left_out = counted(len(rows) - taken, "file")
        print(f"{name}: {counted(taken, 'submission')}, {left_out} left out ({collecting.table_path(course, name)})")
        print(collecting.as_text(rows))
    return 0 if all(row.taken for rows in collected.values() for row in rows) else 1


def return_grades(args: argparse.Namespace, course: Course) -> int:
    """Write grades, comments and feedback in the forms that platforms import."""
    from ..classroom.nbgrader.term import Term
    from ..classroom.platforms import returning

    returned = returning.return_grades(Term(course), args.session, args.worksheet)
    for path in returned.files:
        print(path)
    for note in returned.notes:
        print(escaping.line(f"note: {note}"))
    return 0


def report(args: argparse.Namespace, course: Course) -> int:
    """Write the class report."""
    from ..classroom import report
    from ..classroom.nbgrader.term import Term

    term = Term(course)
    if names := _graded(term, args.session):
        print(report.write(term, names))
    return 0
