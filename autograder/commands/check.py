"""The commands that enter nothing in a gradebook of the class: check and demo."""

import argparse
import json
import os
from dataclasses import asdict
from pathlib import Path

from .. import AutograderError, escaping
from ..course import Course
from ..judging import submission, untrusted_files
from ..judging.verdict import Verdict
from ..runtime.text import points_text
from ..sandbox.options import options_of


def check(args: argparse.Namespace, course: Course) -> int:
    """Grade one notebook."""
    try:
        return _check(args, course)
    except AutograderError as error:
        if args.github:
            from ..classroom.platforms import github

            print(github.command("error", str(error), file=args.notebook, title="Not graded"))
        raise


def _check(args: argparse.Namespace, course: Course) -> int:
    from ..judging.judge_fork_server import JudgeForkServer
    from ..judging.judge_process import JudgeProcess
    from ..sandbox.restrictions import require_bubblewrap

    if not args.no_isolation:
        require_bubblewrap()
    root = untrusted_files.root_of(args.notebook)
    data = untrusted_files.read(args.notebook, root, submission.MAX_BYTES, name=str(args.notebook))
    cells = submission.parse(data, args.notebook.name)
    options = options_of(args.device, not args.no_isolation, args.time_limit)
    submitted, seed = _submission(args, course, data, cells)
    with JudgeForkServer(course, options) as fork_server:
        fork_server.start(submitted.session)
        verdict = JudgeProcess(fork_server).judge(submitted, seed)
    if verdict.ungraded_reason:
        raise submission.SubmissionError(verdict.ungraded_reason)
    if args.github:
        _print_for_github(verdict, args.notebook, data)
    elif args.json:
        print(json.dumps(asdict(verdict)))  # ASCII: no escape sequence, no direction mark
    else:
        for exercise in verdict.exercises:
            print(escaping.lines(exercise.explained()))
        for note in verdict.notes:
            print(escaping.line(f"note: {note}"))
        print(f"{verdict.session}: {points_text(verdict.points, verdict.max_points)}, {verdict.seconds:.1f} s, "
              f"device {verdict.device}, isolation {verdict.isolation}, seed {verdict.seed}")
    return 0 if verdict.points == verdict.max_points else 1


def _submission(args: argparse.Namespace, course: Course, data: bytes,
                cells: list[submission.SubmittedCell]) -> tuple[submission.Submission, str]:
    """Return the submission in a notebook, and its seed."""
    from ..classroom.verdict_store import VerdictStore
    from ..judging.seeds import new_seed

    name = args.notebook.name
    session = args.session or submission.session_of_notebook(cells, course)
    if session is None:
        raise submission.SubmissionError(f"{name} has no cell of this course: its session is one of "
                                         f"{', '.join(course.sessions)}; say which with --session")
    submitted = submission.Submission(data, session, filename=name)
    if args.github:  # students can run a workflow as often as they like: each run has another seed
        return submitted, args.seed or new_seed()
    return submitted, args.seed or VerdictStore(course).seed(submitted)


def _print_for_github(verdict: Verdict, notebook: Path, data: bytes) -> None:
    from ..classroom.platforms import github

    for line in github.annotations(verdict, notebook, data.decode("utf-8", "replace")):
        print(line)
    if "GITHUB_STEP_SUMMARY" in os.environ:
        with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as page:
            page.write(github.summary(verdict))


def demo(args: argparse.Namespace, course: Course) -> int:
    """Grade a sample class."""
    from ..classroom.demo import demo

    return demo(course, args.session)
