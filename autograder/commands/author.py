"""The commands with which a course is written and given out: new, release, audit, pack, publish."""

import argparse
from pathlib import Path

from ..course import Course, CourseError
from ..model import source
from ..model.source import load_source
from ..runtime.text import counted


def new(args: argparse.Namespace) -> int:
    """Begin a course."""
    from ..publish.new import create_course

    course = create_course(args.folder)
    print(f"{course.root}: a course of one session with two exercises, weighted_mean. Now type there:\n"
          "  autograder release\n  autograder audit\n  autograder check course/weighted_mean/weighted_mean.ipynb")
    return 0


def release(args: argparse.Namespace, course: Course) -> int:
    """Make what students and readers see, or list what is stale."""
    from ..model.oracle import Oracle
    from ..publish import effort, release

    sources = (load_source(course, name) for name in course.select_sessions(args.session))
    if args.check:
        stale = list(dict.fromkeys(path for session in sources for path in release.stale(session)))
        left_over = release.left_over(course)
        for line in (*(f"stale: {path}" for path in stale), *(f"of no session: {path}" for path in left_over)):
            print(line)
        print(f"Not what the sources give: {counted(len(stale), 'file')}. Run autograder release" if stale else
              "Remove what is of no session." if left_over else
              "Everything that is generated is what the sources give.")
        return 1 if stale or left_over else 0
    for session in sources:
        oracle = Oracle(session)
        notes = [*source.notes(session), *effort.notes(session), *oracle.notes]
        missing = release.release(oracle, args.execute)
        executed = "" if args.execute == "never" else f", solutions/{session.name}/ executed"
        print(f"{session.name}: course/{session.name}/ and its self-checks{executed}")
        if missing:
            print(f"  figures not drawn yet: {', '.join(missing)}")
        for note in notes:
            print(f"  note: {note}")
    for folder in course.folders_without_source:
        print(f"note: solutions/{folder.name}/ is no session: it has no {folder.name}.py")
    return 0


def audit(args: argparse.Namespace, course: Course) -> int:
    """Audit the sessions: versions, and on request mutants, misdiagnoses, constants, or that the notebooks run."""
    if args.notebooks:
        return _audit_notebooks(args, course)
    from ..audit import parts

    wanted = ["mutants"] if args.mutants else [parts.VERSIONS, *parts.PARTS] if args.all else [parts.VERSIONS]
    results = {}
    for name, outcome in parts.run(course, course.select_sessions(args.session), wanted, args.seeds, args.jobs,
                                   args.device):
        results[name] = outcome
        for part in outcome:
            print(*(f"{name}: {line}" for line in part.lines), *(f"  {problem}" for problem in part.problems),
                  *(f"  note: {note}" for note in part.notes), sep="\n", flush=True)
    if len(results) > 1:
        print(f"\n{parts.total(results)}")
    return 1 if any(part.problems for outcome in results.values() for part in outcome) else 0


def _audit_notebooks(args: argparse.Namespace, course: Course) -> int:
    from ..publish import notebooks

    failures = 0
    for name in course.select_sessions(args.session):
        try:
            notebooks.execute(load_source(course, name), args.seconds)
            print(f"{name}: runs from top to bottom", flush=True)
        except notebooks.ExecutionError as error:
            print(error, flush=True)
            failures += 1
    return 1 if failures else 0


def publish(args: argparse.Namespace, course: Course) -> int:
    """Write what is public."""
    from ..publish import public_repository

    site = course.root / "dist" / "site"
    names = public_repository.publish(course, args.folder, args.address, args.site or (site if site.is_dir() else None))
    print(f"{args.folder}: {counted(len(names), 'file')}, without a line of a solution; README.md links to all")
    return 0


def _out(args: argparse.Namespace, course: Course, name: str = "") -> Path:
    """Return the folder that `pack` writes into."""
    return args.out or course.root / "dist" / name


def kit(args: argparse.Namespace, course: Course) -> int:
    """Write the student kit and the engine's wheel."""
    from ..publish.kit import write_kit
    from ..publish.wheels import engine_wheel

    folder = _out(args, course)
    write_kit(course, folder / "student-kit.zip")
    print(f"{folder / 'student-kit.zip'}: the student kit")
    name, data = engine_wheel()
    (folder / name).write_bytes(data)
    print(f"{folder / name}: the engine's wheel")
    return 0


def standalone(args: argparse.Namespace, course: Course) -> int:
    """Write notebooks that stand alone."""
    from ..publish.address import colab_address, parse_address
    from ..publish.standalone import write_standalone

    folder, url = _out(args, course, "standalone"), course.metadata.address
    address = parse_address(args.address) if args.address else colab_address(url) if url else None
    names = write_standalone(course, folder, address)
    print(f"{folder}: {', '.join(names)}, two wheels, and README.md with links")
    return 0


def provided(args: argparse.Namespace, course: Course) -> int:
    """Write solved exercises for students who are stuck."""
    from ..publish import notebooks
    from ..runtime import wire
    from ..runtime.notebook import provided

    parts = notebooks.solved(course, args.session, *args.exercise)
    if not parts:
        raise CourseError(f"{args.session} has no exercise")
    path = _out(args, course) / provided.path(args.session)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(wire.compress(parts))
    print(f"{path}: it holds solutions. Who has it beside the notebook uses them with "
          f'tp.borrow("{next(iter(parts))}"), for no points')
    return 0


def instructor_page(args: argparse.Namespace, course: Course) -> int:
    """Write a page per session for instructors."""
    from ..classroom import instructor_page

    paths = instructor_page.write(course, course.select_sessions(args.session), _out(args, course, "instructor"))
    print(f"{paths[0].parent}: {', '.join(path.name for path in paths)}. They hold solutions: for instructors alone")
    return 0


def gradescope(args: argparse.Namespace, course: Course) -> int:
    """Write the zip with which Gradescope grades a session."""
    from ..classroom.platforms.gradescope import pack

    course.require_session(args.session)
    path = _out(args, course) / f"gradescope-{args.session}.zip"
    pack(course, args.session, path)
    print(f"{path}: the autograder for Gradescope. It holds the solution: give it to nobody else")
    return 0
