"""The command line: `autograder COMMAND …`."""

import argparse
import logging
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from . import AutograderError, __version__, escaping
from . import course as courses
from .commands import author, check, classroom
from .course import Course
from .sandbox.options import Limits

Command = Callable[..., int]
GROUPS = {  # command → what it does, by the work it is for
    "Write a course": {
        "new": "begin a course of your own",
        "release": "make the students' files from the sources",
        "audit": "test the checks: solutions, known faults, mutants",
        "pack": "write files to give out: student kit, notebooks that stand alone, Gradescope's zip",
        "publish": "write a public repository without solutions",
    },
    "Grade one notebook": {
        "check": "grade one notebook, without a gradebook",
        "demo": "grade a sample class end to end",
    },
    "Grade a class": {
        "collect": "take submissions out of the zip of Moodle or Canvas",
        "grade": "grade everything in gradebook/submitted",
        "open": "open the class in the browser: read, give points, release",
        "questions": "write the written answers into a CSV file",
        "feedback": "write the students' pages that changed",
        "report": "write a page on the class, and the grades as CSV",
        "similar": "find submissions that share rare code",
        "return": "write grades and feedback as Moodle and Canvas import them",
    },
}
DESCRIPTIONS = {name: text for group in GROUPS.values() for name, text in group.items()}
MOVED = {  # former commands and options → what takes their place
    "prove": "autograder audit", "mutants": "autograder audit --mutants", "execute": "autograder audit --notebooks",
    "dist": "autograder pack kit", "edition": "autograder pack standalone", "lend": "autograder pack provided",
    "colab": "autograder pack standalone", "alone": "autograder pack standalone",
    "serve": "autograder check (a judge is no longer kept warm)", "--tp": "--session",
    "--execute": "autograder audit --notebooks",
}
log = logging.getLogger("autograder")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say what takes the place of a former command or option; of anything else, what argparse says."""
        unknown = re.search(r"(?:invalid choice: '|unrecognized arguments: )([\w-]+)", message)
        if unknown and unknown[1] in MOVED:
            raise AutograderError(f"{unknown[1]} is now: {MOVED[unknown[1]]}")
        super().error(message)


def main(argv: list[str] | None = None) -> int:
    """Run one command. Return 0 if all is right, 1 if something is not, 2 if it could not run (after one line why)."""
    args = argparse.Namespace(command="")
    try:
        args = _parser().parse_args(argv)
        _log_to(args)
        log.info("autograder %s: %s", __version__, args.command)
        return author.new(args) if args.command == "new" else _run(args, courses.find(args.course))
    except OSError as error:
        return _cannot(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
    except AutograderError as error:
        return _cannot(str(error))
    except KeyboardInterrupt:
        print(f"autograder: {_stopped(args)}", file=sys.stderr)
        return 130
    except Exception as error:
        if type(error).__module__.startswith("sqlalchemy"):  # imported only by the commands that need a gradebook
            return _cannot(f"the gradebook cannot be used: {str(error).splitlines()[0]}")
        raise


def _run(args: argparse.Namespace, course: Course) -> int:
    """Run a command with its sessions called by their whole names."""
    if typed := vars(args).get("session"):
        args.session = (course.full_name(typed) if isinstance(typed, str)
                        else list(dict.fromkeys(map(course.full_name, typed))))
    return int(args.run(args, course))


def _stopped(args: argparse.Namespace) -> str:
    if args.command != "grade":
        return "stopped"
    if args.force:
        return "stopped. New verdicts are kept. With --force the same command starts again, without it continues"
    return "stopped. Graded submissions are kept, and the same command continues with the others"


def _cannot(reason: str) -> int:
    log.debug("why it could not be done", exc_info=True)
    print(f"autograder: {escaping.line(reason)}", file=sys.stderr)
    return 2


def _log_to(args: argparse.Namespace) -> None:
    """Send what the engine logs to standard error (-v), and to a file (--log)."""
    handlers: list[logging.Handler] = [logging.StreamHandler()] if args.verbose else []
    if args.log:
        handlers.append(logging.FileHandler(args.log, encoding="utf-8"))
    logging.basicConfig(format="%(asctime)s %(message)s", handlers=handlers, force=True)
    # Ctrl-C may come while it closes a connection, which it logs with a traceback
    logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())
    log.setLevel(logging.DEBUG if args.log else logging.INFO if args.verbose else logging.WARNING)


def _number(kind: type[int] | type[float], name: str, below: float = math.inf) -> Callable[[str], float]:
    """Return a reader of numbers above 0; ``name`` says in the error what they are."""
    def read(text: str) -> float:
        value = kind(text)
        if not 0 < value < below:
            raise argparse.ArgumentTypeError(f"{text} is no {name} above 0{f' and below {below}' * (below < math.inf)}")
        return value

    read.__name__ = name  # argparse calls it so where the text is no number
    return read


_seconds, _count, _port = _number(float, "number of seconds"), _number(int, "number"), _number(int, "port", 65536)


def _overview() -> str:
    lines = []
    for group, commands in GROUPS.items():
        lines += [f"{group}:", *(f"  {name:<10} {text}" for name, text in commands.items()), ""]
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="autograder", formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"Release a course, and grade what comes back.\n\n{_overview()}",
        epilog="autograder COMMAND --help says more, with an example.\n"
               "Exit status: 0 success, 1 problems found, 2 could not run.")
    parser.add_argument("--version", action="version", version=f"autograder {__version__}")
    parser.add_argument("--course", type=Path, metavar="FOLDER",
                        help="a folder with solutions/ in it (the one that the present folder lies in)")
    parser.add_argument("-v", "--verbose", action="store_true", help="print when each submission is judged")
    parser.add_argument("--log", type=Path, metavar="FILE", help="write this to a file, and the tracebacks of errors")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command",
                                     help=argparse.SUPPRESS)

    def command(name: str, run: Command, example: str) -> argparse.ArgumentParser:
        text = DESCRIPTIONS[name]
        subparser = commands.add_parser(name, description=f"{text[:1].upper()}{text[1:]}.",
                                        epilog=f"Example: autograder {example}")
        subparser.set_defaults(run=run)
        return subparser

    new = command("new", author.new, "new my-course")
    new.add_argument("folder", type=Path, metavar="FOLDER")

    release = command("release", author.release, "release weighted_mean")
    execute = release.add_mutually_exclusive_group()
    execute.add_argument("--no-run", action="store_const", dest="execute", const="never", default="changed",
                         help="do not execute the solution notebooks")
    execute.add_argument("--execute", action="store_const", const="always",
                         help="execute them all, not only those whose code changed")
    release.add_argument("--check", action="store_true", help="write nothing; list what is stale")

    audit = command("audit", author.audit, "audit --seeds 20 weighted_mean")
    audit.add_argument("--seeds", type=_count, default=3, metavar="N", help="how many instances of every check (3)")
    parts = audit.add_mutually_exclusive_group()
    parts.add_argument("--all", action="store_true", help="and mutants, misdiagnoses and constant answers: a table")
    parts.add_argument("--mutants", action="store_true", help="only mutants: list those that no check catches")
    parts.add_argument("--notebooks", action="store_true", help="only run the solution notebooks; write nothing")
    audit.add_argument("--seconds", type=_seconds, default=900, help="the most that one cell of them may take (900)")
    audit.add_argument("--device", default="cpu", choices=("cpu", "cuda"))

    _add_kinds(command("pack", author.kit, "pack kit"))

    publish = command("publish", author.publish, "publish ../my-notebooks")
    publish.add_argument("folder", type=Path, metavar="FOLDER", help="a new one, or a clone of the public repository")
    publish.add_argument("--address", default="", metavar="URL", help="where it will be read (course.toml)")
    publish.add_argument("--site", type=Path, metavar="FOLDER", help="a site to go with it (dist/site, if it is there)")

    check_parser = command("check", check.check, "check work/weighted_mean/weighted_mean.ipynb")
    check_parser.add_argument("notebook", type=Path, metavar="NOTEBOOK.ipynb")
    check_parser.add_argument("--session", help="its session, when the notebook does not say")
    check_parser.add_argument("--json", action="store_true", help="print one JSON object")
    check_parser.add_argument("--github", action="store_true",
                              help="in a workflow on GitHub: print annotations, and write the page of its summary")
    check_parser.add_argument("--seed", help="the seed of an earlier verdict, to replay it exactly")

    demo = command("demo", check.demo, "demo")
    demo.add_argument("session", nargs="?", help="the session that the class works on (the first)")

    grade = command("grade", classroom.grade, "grade --jobs 2")
    grade.add_argument("--force", action="store_true", help="judge again what has not changed")
    grade.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler whose workers judge, as tcp://host:8786")

    open_parser = command("open", classroom.open_screen, "open")
    open_parser.add_argument("--port", type=_port, default=8888, metavar="N", help="where the server listens (8888)")
    open_parser.add_argument("--no-browser", action="store_true", help="only print the address")

    feedback = command("feedback", classroom.feedback, "feedback")

    questions = command("questions", classroom.questions, "questions weighted_mean")
    questions.add_argument("--anonymous", action="store_true", help="name no student")
    questions.add_argument("--enter", type=Path, metavar="CSV", help="enter the points and comments of a file instead")

    collect = command("collect", classroom.collect, "collect submissions.zip")
    collect.add_argument("zip", type=Path, metavar="ZIP")
    collect.add_argument("--session", help="the session of all of them, when the notebooks do not say")

    return_parser = command("return", classroom.return_grades, "return weighted_mean --worksheet Grades.csv")
    return_parser.add_argument("session", help="a session that was collected and graded")
    return_parser.add_argument("--worksheet", type=Path, metavar="CSV", help="Moodle's grading worksheet, to be filled")

    report = command("report", classroom.report, "report")
    similar = command("similar", classroom.similar, "similar --past ../last-year/gradebook/submitted")
    similar.add_argument("--past", type=Path, metavar="FOLDER",
                         help="submissions of an earlier year: <student>/<session>/<session>.ipynb")

    for subparser in (release, audit, grade, feedback, questions, report, similar):
        subparser.add_argument("session", nargs="*", help="names of sessions (all, when none is given)")
    for subparser in (audit, grade):
        subparser.add_argument("--jobs", type=_count, default=1, metavar="N", help="work done side by side (1)")
    for subparser in (grade, check_parser):
        subparser.add_argument("--device", default="cpu", choices=("cpu", "cuda"),
                               help="where students' code computes (cpu)")
        subparser.add_argument("--time-limit", type=_seconds, default=Limits.exercise_cpu_seconds, metavar="SECONDS",
                               help=f"CPU seconds for the checks of one exercise ({Limits.exercise_cpu_seconds:g}); "
                                    "all other times are scaled with it")
        subparser.add_argument("--no-isolation", action="store_true",
                               help="run student code unprotected; every report says so")
    return parser


def _add_kinds(pack: argparse.ArgumentParser) -> None:
    """Add what `pack` writes: a command for each kind."""
    kinds: dict[str, tuple[Command, str]] = {
        "kit": (author.kit, "the student kit (a zip for every system), and the engine's wheel"),
        "standalone": (author.standalone, "notebooks that stand alone, for Colab, Kaggle, Jupyter and VS Code"),
        "provided": (author.provided, "solved exercises of a session, for students who are stuck"),
        "gradescope": (author.gradescope, "the zip with which Gradescope grades a session"),
        "instructor": (author.instructor_page, "a page per session for you: slides, five faults, answers and rubrics"),
    }
    subparsers = pack.add_subparsers(required=True, metavar="WHAT", dest="kind", title="what")
    for name, (run, text) in kinds.items():
        kind = subparsers.add_parser(name, help=text, description=f"Write {text}.")
        kind.set_defaults(run=run)
        kind.add_argument("--out", type=Path, metavar="FOLDER", help="where to write (dist)")
        if name == "standalone":
            kind.add_argument("--address", metavar="URL",
                              help="where the folder will lie, as https://github.com/OWNER/NAME/tree/BRANCH/FOLDER")
        if name in ("provided", "gradescope"):
            kind.add_argument("session", help="the session")
        if name == "instructor":
            kind.add_argument("session", nargs="*", help="sessions (all, when none is given)")
        if name == "provided":
            kind.add_argument("exercise", nargs="*", help="exercises (all, when none is given)")
