"""Gradescope: the zip of an autograder, and its run on a submission there.

The format is https://gradescope-autograders.readthedocs.io/en/latest/specs/: `setup.sh` and `run_autograder` at the top
of the zip, which is unpacked in /autograder/source; a submission in /autograder/submission; what students and
instructors read in /autograder/results/results.json.
"""

import json
import sys
import textwrap
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path
from typing import Any

from ... import ENGINE_FOLDER, AutograderError, escaping
from ...course import Course
from ...judging.judge import Judge
from ...judging.judge_fork_server import JudgeForkServer
from ...judging.judge_process import JudgeProcess
from ...judging.seeds import new_seed
from ...judging.submission import Submission, read
from ...judging.verdict import ExerciseResult, Verdict
from ...publish.wheels import DISTRIBUTION, files_in, write_zip
from ...runtime import messages
from ...runtime.text import points_text
from ...sandbox.options import ACCOUNT, Isolation, Options
from ...sandbox.restrictions import SandboxError

FILES = Path(__file__).parent / "files"
ISOLATION: dict[Isolation, str] = {
    "bubblewrap": "in bubblewrap: no network, none of the grader's files, bounds on time and memory",
    "account nobody": f"as the account {ACCOUNT}, since this container allows no bubblewrap: no network, none "
                      "of the files that only root reads, bounds on time and memory"}


# On the instructor's machine


def pack(course: Course, session: str, path: Path) -> None:
    """Write the zip for one session. It holds the solution: for Gradescope and instructors alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_zip(path, _contents(course, session))


def _contents(course: Course, session: str) -> Iterator[tuple[str, bytes]]:
    for script in sorted(FILES.iterdir()):
        yield script.name, script.read_bytes()
    yield "requirements.txt", "".join(f"{line}\n" for line in _requirements(course)).encode()
    packages = {"engine": [ENGINE_FOLDER], "course/course": course.helpers}
    yield from ((f"{into}/{name}", data) for into, paths in packages.items() for path in paths
                for name, data in files_in(path, path.parent).items())
    if course.toml.is_file():
        yield "course/course.toml", course.toml.read_bytes()
    for path in sorted(course.folder(session).glob("*.py")):
        yield f"course/solutions/{session}/{path.name}", path.read_bytes()


def _requirements(course: Course) -> list[str]:
    """Return the requirements of judging: those of the notebooks and of grading."""
    lines = [line.partition(";") for line in requires(DISTRIBUTION) or ()]
    engine = [name.strip() for name, _, marker in lines
              if not marker or 'extra == "grading"' in marker.replace("'", '"')]
    return [*course.metadata.requirements, *engine]


# On Gradescope


def run(root: Path) -> Verdict:
    """Judge the submission in ``root/submission`` and write ``root/results/results.json``.

    ``SandboxError`` when student code cannot be isolated: then no results are written, not even a zero.
    """
    course = Course(root / "source" / "course")
    (session,) = course.sessions
    for private in (course.root, root / "results", root / "submission_metadata.json"):
        if private.exists():
            private.chmod(0o700)
    submission = find(root / "submission", session)
    options = _best_options(course)
    with JudgeForkServer(course, options) as fork_server:  # each submission meets new instances, even of the same file
        verdict = JudgeProcess(fork_server).judge(submission, new_seed())
    path = root / "results" / "results.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(results(verdict), indent=1), encoding="utf-8")
    return verdict


def find(folder: Path, session: str) -> Submission:
    """Return the notebook that was handed in: the only one, or the one of the session's name."""
    notebooks = sorted(path for path in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
    named = [path for path in notebooks if path.name == f"{session}.ipynb"]
    chosen = named if len(named) == 1 else notebooks
    if len(chosen) == 1:
        return read(chosen[0], folder, session)
    number = f"{len(notebooks)} notebooks are" if notebooks else "no notebook is"
    return Submission(b"", session, unreadable=f"{number} handed in: hand in {session}.ipynb")


def _best_options(course: Course) -> Options:
    """Return the best isolation that this machine allows, tried before any student code runs."""
    refused = []
    for options in (Options(), Options(isolation="account nobody")):
        try:
            with Judge(course, options) as judge:
                judge.sandbox.fork().kill()
            return options
        except SandboxError as error:
            refused.append(str(error))
    raise SandboxError("; ".join(refused))


def results(verdict: Verdict) -> dict[str, Any]:
    """Return the results that Gradescope shows: one test for each exercise, with the judge's sentences.

    A student may hand in any number of times there, so no number of a hidden instance is shown.
    """
    lines = [*verdict.notes, f"Your code ran {ISOLATION[verdict.isolation]}."]
    return {
        "output": "\n".join(escaping.line(text) for text in lines),
        "output_format": "text",
        "execution_time": round(verdict.seconds),
        "stdout_visibility": "hidden",
        "tests": [{
            "name": exercise.exercise,
            "score": exercise.points,
            "max_score": exercise.max_points,
            "status": "passed" if exercise.points == exercise.max_points else "failed",
            "output": _output(exercise),
            "output_format": "text",
            "visibility": "visible",
        } for exercise in verdict.exercises],
    }


def _output(exercise: ExerciseResult) -> str:
    lines = messages.reasons([check.without_instance() for check in exercise.checks])
    return escaping.lines(textwrap.dedent("\n".join(lines)))


def main(root: Path) -> int:
    """Run as `run_autograder`; the instructor reads the output."""
    try:
        verdict = run(root)
    except (AutograderError, OSError) as error:
        print(escaping.line(f"not graded: {error}"))
        return 2
    print(escaping.line(f"{verdict.session}: {points_text(verdict.points, verdict.max_points)}, "
                       f"{verdict.seconds:.1f} s, isolation {verdict.isolation}, seed {verdict.seed}"))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
