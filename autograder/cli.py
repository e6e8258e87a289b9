"""The command line: `autograder COMMAND …`, and what each command prints."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from . import course as courses
from . import escaping
from .classroom import commands as classroom
from .course import Course, CourseError
from .grammar import counted
from .judging import submission
from .judging.verdict import FileError, Verdict
from .model import source
from .model.errors import SourceError
from .sandbox.options import Limits, options_of
from .sandbox.restrictions import SandboxError


def main(argv: list[str] | None = None) -> int:
    """Run one command; 0 all well, 1 done but not all right, 2 could not be done (with one line why)."""
    args = _parser().parse_args(argv)
    try:
        status: int = args.begin(args) if args.begin else args.run(args, courses.find(args.course))
        return status
    except (CourseError, SourceError, submission.Unreadable, SandboxError, FileError, OSError) as error:
        return _cannot(str(error))
    except KeyboardInterrupt:
        print("autograder: stopped; what is graded is kept, and the same command goes on from here", file=sys.stderr)
        return 130
    except Exception as error:
        if type(error).__module__.startswith("sqlalchemy"):  # imported only by the commands that need a gradebook
            return _cannot(f"the gradebook cannot be used: {str(error).splitlines()[0]}")
        raise


def _cannot(reason: str) -> int:
    print(f"autograder: {escaping.line(reason)}", file=sys.stderr)
    return 2


# What an instructor writes


def _new(args: argparse.Namespace) -> int:
    from .publish.new import new

    course = new(args.folder)
    print(f"{course.root}: a course of one TP with two exercises, weighted_mean. Now type there:\n"
          "  autograder release\n  autograder audit\n  autograder check course/weighted_mean/weighted_mean.ipynb")
    return 0


def _release(args: argparse.Namespace, course: Course) -> int:
    from .publish import effort, release

    names = args.tp or course.assignments
    if args.check:
        stale = list(dict.fromkeys(path for name in names for path in release.stale(course, name)))
        for path in stale:
            print(f"stale: {path}")
        print(f"Not what the sources give: {counted(len(stale), 'file')}. Run autograder release" if stale else
              "Everything that is generated is what the sources give.")
        return 1 if stale else 0
    for name in names:
        try:
            missing = release.release(course, name, run=not args.no_run, again=args.execute)
        except release.ExecutionError as error:
            return _cannot(str(error))
        executed = "" if args.no_run else f", solutions/{name}/ executed"
        print(f"{name}: course/{name}/ and its self-checks{executed}")
        if missing:
            print(f"  figures not drawn yet: {', '.join(missing)}")
        tp_source = source.load(course, name)
        for advice in source.advice(tp_source) + effort.advice(tp_source):
            print(f"  note: {advice}")
    return 0


def _dist(args: argparse.Namespace, course: Course) -> int:
    from .publish.kit import kit
    from .publish.wheels import student_wheel

    path = course.root / "dist" / "student-kit.zip"
    kit(course, path)
    print(f"{path.relative_to(course.root)}: the student kit")
    print(f"{student_wheel(course, path.parent).relative_to(course.root)}: the student wheel")
    return 0


def _lend(args: argparse.Namespace, course: Course) -> int:
    from .publish.providing import lend

    path = lend(course, args.tp, args.exercise, course.root / "dist")
    print(f"{path.relative_to(course.root)}: it holds solutions. Who has it beside the notebook borrows with "
          f'tp.borrow("{(args.exercise or source.load(course, args.tp).exercises)[0]}"), for no points')
    return 0


def _edition(args: argparse.Namespace, course: Course) -> int:
    from .publish.editions import edition

    folder = args.out or course.root / "dist" / args.kind
    names = edition(course, folder, args.kind, args.address or "")
    print(f"{folder}: {', '.join(names)}, the student wheel, and README.md with links")
    return 0


def _execute(args: argparse.Namespace, course: Course) -> int:
    from .publish import release

    bad = 0
    for name in args.tp or course.assignments:
        try:
            release.execute(course, name, args.seconds)
            print(f"{name}: runs from top to bottom", flush=True)
        except release.ExecutionError as error:
            print(error, flush=True)
            bad += 1
    return 1 if bad else 0


def _prove(args: argparse.Namespace, course: Course) -> int:
    from .audit.versions import audit_all

    if args.all:
        return _audit_all(args, course)
    audits = audit_all(course, args.tp or course.assignments, args.seeds, args.jobs, args.device)
    for audited in audits:
        print(audited)
    faults, variants = sum(audited.faults for audited in audits), sum(audited.variants for audited in audits)
    print(f"{counted(faults, 'fault')} and {counted(variants, 'variant')} in {counted(len(audits), 'TP')}")
    return 1 if any(audited.problems for audited in audits) else 0


def _audit_all(args: argparse.Namespace, course: Course) -> int:
    from .audit.summary import summarise, total

    summaries = summarise(course, args.tp or course.assignments, args.seeds, args.jobs, args.device)
    for summary in summaries:
        print(summary, end="\n\n")
    print(total(summaries))
    return 1 if any(summary.problems for summary in summaries) else 0


def _mutants(args: argparse.Namespace, course: Course) -> int:
    from .audit.mutation import mutate_all

    found = []
    for mutation in mutate_all(course, args.tp or course.assignments, args.jobs):
        print(mutation, flush=True)
        found.append(mutation)
    count, survived = sum(one.count for one in found), sum(len(one.survivors) for one in found)
    equivalent = sum(one.equivalent for one in found)
    print(f"{counted(count, 'mutant')} in {counted(len(found), 'TP')}, {equivalent} equivalent, {survived} survived")
    return 1 if survived or any(one.stale for one in found) else 0


# What an instructor gets back


def _check(args: argparse.Namespace, course: Course) -> int:
    try:
        return _checked(args, course)
    except (submission.Unreadable, SandboxError) as error:
        if args.github:
            from .classroom.platforms import github

            print(github.command("error", str(error), file=args.notebook, title="Not graded"))
        raise


def _checked(args: argparse.Namespace, course: Course) -> int:
    from .sandbox.host import Sandbox

    data = submission.read_bytes(args.notebook)
    submission.parse(data, args.notebook.name)
    options = options_of(args.device, not args.no_isolation, args.time_limit)
    question = data, args.notebook.name, args.tp, args.seed
    with Sandbox(course.helpers, options) as sandbox:
        sandbox.begin()
        from .judging.judge import Judge  # brings torch, as the sandbox does beside it

        verdict = Judge(course, options, sandbox).grade(*_handed(course, question))
    if verdict.unreadable:
        raise submission.Unreadable(verdict.unreadable)
    if args.github:
        _tell_github(verdict, args.notebook, data)
    elif args.json:
        print(json.dumps(asdict(verdict)))  # ASCII: no escape sequence, no direction mark
    else:
        for exercise in verdict.exercises:
            print(escaping.lines(exercise.explained()))
        for note in verdict.notes:
            print(escaping.line(f"note: {note}"))
        print(f"{verdict.assignment}: {verdict.score:.4g} of {verdict.max_score:.4g} points, {verdict.seconds:.1f} s, "
              f"device {verdict.device}, isolation {verdict.isolation}, seed {verdict.seed}")
    return 0 if verdict.score == verdict.max_score else 1


def _handed(course: Course, question: tuple[bytes, str, str | None, str | None]) -> tuple[submission.Submission, str]:
    """What is to be judged, and its seed."""
    from .classroom.verdict_store import VerdictStore
    from .judging.seeds import seed_of

    data, name, tp, seed = question
    assignment = tp or submission.which_assignment(submission.parse(data, name), course)
    if assignment is None:
        raise submission.Unreadable(f"{name} has no cell of this course: its TP is one of "
                                    f"{', '.join(course.assignments)}; say which with --tp")
    handed = submission.Submission(data, assignment, filename=name)
    return handed, seed or seed_of(VerdictStore(course).secret(), "", assignment, data)


def _tell_github(verdict: Verdict, notebook: Path, data: bytes) -> None:
    from .classroom.platforms import github

    for line in github.annotations(verdict, notebook, data.decode("utf-8", "replace")):
        print(line)
    if "GITHUB_STEP_SUMMARY" in os.environ:
        with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as page:
            page.write(github.summary(verdict))


def _pack(args: argparse.Namespace, course: Course) -> int:
    from .classroom.platforms.gradescope import pack

    course.expect(args.tp)
    path = course.root / "dist" / f"gradescope-{args.tp}.zip"
    pack(course, args.tp, path)
    print(f"{path}: the autograder for Gradescope. It holds the solution: give it to nobody else")
    return 0


def _demo(args: argparse.Namespace, course: Course) -> int:
    from .classroom.demo import demo

    return demo(course, args.tp)


# The words


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="autograder", description="Release a course, grade what comes back, and audit that the judge is right.",
        epilog="Exit status: 0 all well, 1 done but not all right, 2 could not be done.")
    parser.add_argument("--course", type=Path, metavar="FOLDER",
                        help="a folder with solutions/ in it (the one that the present folder lies in)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace, Course], int], help: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=help)
        made.set_defaults(run=run, begin=None)
        return made

    new = commands.add_parser("new", help="begin a course of your own: a folder with one TP that works")
    new.set_defaults(begin=_new)
    new.add_argument("folder", type=Path, metavar="FOLDER")

    release = command("release", _release, "make course/ and the executed solutions from the sources")
    release.add_argument("--no-run", action="store_true", help="do not execute the solution notebooks")
    release.add_argument("--execute", action="store_true", help="execute them all, not only those whose code changed")
    release.add_argument("--check", action="store_true", help="write nothing; list what is stale")

    command("dist", _dist, "write dist/: the student kit, and a wheel for students")

    lend = command("lend", _lend, "write a file of solved exercises that students who are stuck may borrow from")
    lend.add_argument("tp", help="the TP")
    lend.add_argument("exercise", nargs="*", help="exercises (all, when none is given)")

    edition = command("edition", _edition, "write notebooks that stand alone: figures inside, no folder beside them")
    edition.add_argument("kind", choices=("alone", "colab"), help="for Colab, or alone: for Jupyter, Kaggle, VS Code")
    edition.add_argument("--address", metavar="URL",
                         help="where the folder will lie, as https://github.com/OWNER/NAME/tree/BRANCH/FOLDER")
    edition.add_argument("--out", type=Path, metavar="FOLDER", help="where to write (dist/KIND)")

    execute = command("execute", _execute, "run the solution notebooks, and write nothing")
    execute.add_argument("--seconds", type=int, default=900, help="the most that one cell may take (900)")

    audit = command("audit", _prove, "audit the solutions, faults and variants of the TPs")
    audit.add_argument("--seeds", type=int, default=3, metavar="N", help="how many draws of every check (3)")
    audit.add_argument("--all", action="store_true", help="and mutants, relations, names and constant answers: a table")
    audit.add_argument("--device", default="cpu", choices=("cpu", "cuda"))

    mutants = command("mutants", _mutants, "let a machine write wrong answers, and list those that pass")

    check = command("check", _check, "grade one notebook, without a gradebook")
    check.add_argument("notebook", type=Path, metavar="NOTEBOOK.ipynb")
    check.add_argument("--tp", help="its TP, when the notebook does not say")
    check.add_argument("--json", action="store_true", help="print one JSON object")
    check.add_argument("--github", action="store_true",
                       help="in a workflow on GitHub: print annotations, and write the page of its summary")
    check.add_argument("--seed", help="the seed of an earlier verdict, to replay it exactly")

    grade = command("grade", classroom.grade, "grade everything in gradebook/submitted")
    grade.add_argument("--force", action="store_true", help="judge again what has not changed")
    grade.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler whose workers judge, as tcp://host:8786")

    feedback = command("feedback", classroom.feedback,
                       "write the students' pages that are out of date, and say what changed")

    questions = command("questions", classroom.questions,
                        "write a page to read the written answers on, and a CSV file of them")
    questions.add_argument("--anonymous", action="store_true", help="name no student")
    questions.add_argument("--enter", type=Path, metavar="CSV", help="enter the points and comments of a file instead")

    collect = command("collect", classroom.collect, "take submissions out of the zip that Moodle or Canvas writes")
    collect.add_argument("zip", type=Path, metavar="ZIP")
    collect.add_argument("--tp", help="the TP of all of them, when the notebooks do not say")

    back = command("return", classroom.give_back,
                   "write grades, comments and feedback of a TP as Moodle and Canvas import them")
    back.add_argument("tp", help="a TP that was collected and graded")
    back.add_argument("--worksheet", type=Path, metavar="CSV", help="Moodle's grading worksheet, to be filled")

    pack = command("pack", _pack, "write what another platform grades a TP with: the autograder zip of Gradescope")
    pack.add_argument("platform", choices=("gradescope",))
    pack.add_argument("tp", help="the TP")

    report = command("report", classroom.report, "write gradebook/report/: a page on the class, and grades as CSV")
    report.add_argument("--student", metavar="NAME", help="write the page of one student instead")

    similar = command("similar", classroom.similar,
                      "write a page of submissions that share rare code, for a person to judge")
    similar.add_argument("--past", type=Path, metavar="FOLDER",
                         help="submissions of an earlier year: <student>/<tp>/<tp>.ipynb")

    demo = command("demo", _demo, "grade a small sample class end to end, in a folder of its own")
    demo.add_argument("tp", nargs="?", help="the TP that the class works on (the first)")

    for several in (release, execute, audit, mutants, grade, feedback, questions, report, similar):
        several.add_argument("tp", nargs="*", help="names of TPs (all, when none is given)")
    for side_by_side in (audit, mutants, grade):
        side_by_side.add_argument("--jobs", type=int, default=1, metavar="N", help="work done side by side (1)")
    for judging in (grade, check):
        judging.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"),
                             help="where students' code computes (auto)")
        judging.add_argument("--time-limit", type=float, default=Limits.exercise_seconds, metavar="SECONDS",
                             help=f"CPU seconds for the checks of one exercise ({Limits.exercise_seconds:g}); "
                                  "all other times are scaled with it")
        judging.add_argument("--no-isolation", action="store_true",
                             help="run student code unprotected; every report says so")
    return parser


if __name__ == "__main__":
    sys.exit(main())
