"""The command line: `autograder release | grade | check | report | verify`."""

import argparse
import contextlib
import json
import sys
from pathlib import Path

from . import source, submission
from .sandbox import Limits, SandboxError


def main(argv=None) -> int:
    """Run one command; 0 all well, 1 done but not all passed, 2 could not be done (with one line why)."""
    args = _parser().parse_args(argv)
    try:
        return args.run(args)
    except (source.SourceError, submission.Unreadable, SandboxError, OSError) as error:
        return _cannot(str(error))
    except KeyboardInterrupt:
        print("autograder: stopped; what is graded is kept, and the same command goes on from here", file=sys.stderr)
        return 130
    except Exception as error:
        if type(error).__module__.startswith("sqlalchemy"):  # imported only by the commands that need a gradebook
            return _cannot(f"the gradebook cannot be used: {str(error).splitlines()[0]}")
        raise


def _cannot(reason: str) -> int:
    print(f"autograder: {reason}", file=sys.stderr)
    return 2


def _release(args) -> int:
    from . import release

    for name in args.tp or source.names():
        missing = release.release(name, run=not args.no_run)
        print(f"{name}: course/{name}/ and its self-checks" + ("" if args.no_run else f", solutions/{name}/ executed"))
        if missing:
            print(f"  figures not drawn yet: {', '.join(missing)}")
    release.kit(source.ROOT / "dist" / "seq2seq-course.zip")
    print("dist/seq2seq-course.zip: the student kit")
    return 0


def _check(args) -> int:
    from .judge import Judge, seed_of
    from .marking import explain
    from .nbgrader_plugins import resolve_device
    from .records import Records

    data = submission.read_bytes(args.notebook)
    tp = args.tp or submission.which_tp(submission.parse(data, args.notebook.name))
    if tp is None:
        raise submission.Unreadable(f"{args.notebook.name} has no cell of this course: its TP is one of {', '.join(source.names())}; say which with --tp")
    seed = args.seed or seed_of(Records(source.ROOT).secret(), "", tp, data)
    with Judge(Limits(exercise_seconds=args.time_limit), resolve_device(args.device), not args.no_isolation) as judge:
        verdict = judge.grade(data, tp, seed, args.notebook.name)
    if args.json:
        print(json.dumps(verdict, ensure_ascii=False))
    else:
        for exercise in verdict["exercises"]:
            print(explain(exercise))
        for note in verdict["notes"]:
            print(f"note: {note}")
        print(f"{verdict['assignment']}: {verdict['score']:.4g} of {verdict['max_score']:.4g} points, {verdict['seconds']:.1f} s, "
              f"device {verdict['device']}, isolation {verdict['isolation']}, seed {verdict['seed']}")
    return 0 if verdict["score"] == verdict["max_score"] else 1


def _grade(args) -> int:
    from tqdm import tqdm

    from .classroom import Course, grade_class
    from .nbgrader_plugins import resolve_device
    from .sandbox import require_bubblewrap

    if not args.no_isolation:
        require_bubblewrap()
    course = Course()
    with _executor(args) as executor, tqdm(unit="submission", disable=None) as bar:
        def each(outcome, done, total):
            bar.total = total
            bar.update()
            if outcome.problem:
                bar.write(f"{outcome.handed.student}: {outcome.problem}", file=sys.stderr)

        outcomes = grade_class(course, args.tp or source.names(), args.jobs, resolve_device(args.device), not args.no_isolation,
                               args.force, Limits(exercise_seconds=args.time_limit), executor, each)
    if not outcomes:
        print("Nothing is handed in: put notebooks into gradebook/submitted/<student>/<tp>/<tp>.ipynb")
        return 0
    print(table(outcomes))
    return 2 if any(outcome.problem for outcome in outcomes) else 0


@contextlib.contextmanager
def _executor(args):
    """Where submissions are judged: None (processes of this machine), or a Dask cluster."""
    if not args.scheduler:
        yield None
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
        yield executor


def table(outcomes) -> str:
    """One line a submission: score, verdict of each exercise, seconds."""
    marks = {"passed": "✓", "partial": "◐", "failed": "✗", "missing": "–", "error": "!", "timeout": "⌛", "crashed": "†"}
    rows = [("student", "TP", "score", "exercises", "seconds", "")]
    for outcome in outcomes:
        verdict = outcome.verdict
        if verdict is None:
            rows.append((outcome.handed.student, outcome.handed.tp, "", "", "", outcome.problem or ""))
            continue
        signs = " ".join(f"{marks[e['verdict']]} {e['exercise']}" for e in verdict["exercises"])
        score = f"{verdict['score']:.4g}/{verdict['max_score']:.4g}"
        mistakes = sorted({c["mistake"] for e in verdict["exercises"] for c in e["checks"] if c["mistake"]})
        remark = outcome.problem or verdict.get("unreadable") or ", ".join(mistakes)
        rows.append((outcome.handed.student, outcome.handed.tp, score, signs, f"{verdict['seconds']:.1f}" if outcome.fresh else "kept", remark))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    lines = ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[5]]).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    legend = "✓ passed  ◐ partial  ✗ failed  – missing  ! error  ⌛ timeout  † crashed"
    unsafe = [] if all(o.verdict is None or o.verdict["isolation"] != "none" for o in outcomes) else ["graded WITHOUT ISOLATION: student code could read and change everything here"]
    return "\n".join([*lines, "", legend, *unsafe])


def _report(args) -> int:
    from . import report
    from .classroom import Course

    course = Course()
    known = report.graded(course.root)
    for tp in args.tp:
        if tp not in known:
            raise source.SourceError(f"nothing is graded of {tp}; there is: {', '.join(known) or 'nothing yet'}")
    if not known:
        print("Nothing is graded yet: run autograder grade first")
        return 0
    tps = args.tp or known
    if args.student is None:
        print(report.write(course, tps))
    elif args.student in {verdict["student"] for found in report.read(course.root, tps).values() for verdict in found}:
        print(report.write_student(course, tps, args.student))
    else:
        raise source.SourceError(f"nothing is graded of a student called {args.student}")
    return 0


def _verify(args) -> int:
    from .verify import prove

    bad = 0
    for name in args.tp or source.names():
        proof = prove(name, range(args.seeds), args.device)
        print(f"{name}: {proof.mistakes} mistakes, {proof.variants} variants, {proof.seeds} seeds: "
              f"{'all caught, named and passed' if not proof.faults else f'{len(proof.faults)} faults'}")
        for fault, count in proof.faults.items():
            print(f"  {fault} (on {count} of {proof.seeds} seeds)")
        bad += len(proof.faults)
    return 1 if bad else 0


def _parser():
    parser = argparse.ArgumentParser(prog="autograder", description="Release the course, grade what comes back, and prove that the judge is right.",
                                     epilog="Exit status: 0 all well, 1 graded or verified but not all passed, 2 could not be done.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    release = commands.add_parser("release", help="make course/, the executed solutions and the student kit from the sources")
    release.add_argument("tp", nargs="*", help="names of TPs (all, when none is given)")
    release.add_argument("--no-run", action="store_true", help="do not execute the solution notebooks")
    release.set_defaults(run=_release)

    grade = commands.add_parser("grade", help="grade everything in gradebook/submitted")
    grade.add_argument("tp", nargs="*", help="names of TPs (all, when none is given)")
    grade.add_argument("--jobs", type=int, default=1, metavar="N", help="submissions judged side by side (1)")
    grade.add_argument("--force", action="store_true", help="judge again what has not changed")
    grade.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler whose workers judge, such as tcp://host:8786")
    grade.set_defaults(run=_grade)

    check = commands.add_parser("check", help="grade one notebook, without a gradebook")
    check.add_argument("notebook", type=Path, metavar="NOTEBOOK.ipynb")
    check.add_argument("--tp", help="its TP, when the notebook does not say")
    check.add_argument("--json", action="store_true", help="print one JSON object")
    check.add_argument("--seed", help="the seed of an earlier verdict, to replay it exactly")
    check.set_defaults(run=_check)

    report = commands.add_parser("report", help="write gradebook/report/: a page on the class, grades as CSV for Moodle and Canvas")
    report.add_argument("tp", nargs="*", help="names of TPs (all that are graded, when none is given)")
    report.add_argument("--student", metavar="NAME", help="write the page of one student instead")
    report.set_defaults(run=_report)

    verify = commands.add_parser("verify", help="prove the solutions, mistakes and variants of the TPs")
    verify.add_argument("tp", nargs="*", help="names of TPs (all, when none is given)")
    verify.add_argument("--seeds", type=int, default=3, help="how many draws of every check (3)")
    verify.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    verify.set_defaults(run=_verify)

    for command in (grade, check):
        command.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"), help="where students' code computes (auto)")
        command.add_argument("--time-limit", type=float, default=Limits.exercise_seconds, metavar="SECONDS", help=f"CPU seconds for the checks of one exercise ({Limits.exercise_seconds:g})")
        command.add_argument("--no-isolation", action="store_true", help="run student code unprotected; every report says so")
    return parser


if __name__ == "__main__":
    sys.exit(main())
