"""A small sample class, graded end to end: `make demo`.

Everything happens in a course root of its own, ``artefacts/demo``; the real gradebook is not touched.
"""

import copy
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell

from . import release, source
from .classroom import Course, grade_class
from .cli import table
from .oracle import oracle
from .sandbox import Limits

TP = "tp3_seq2seq"
FOLDER = source.ROOT / "artefacts" / "demo"


def notebook(tp: str, cells: dict[str, str], own: tuple[str, ...] = ()) -> nbformat.NotebookNode:
    """A submission: the released notebook with these exercise cells filled, and cells of the student's own at the end."""
    made = copy.deepcopy(release.released_notebook(tp))
    for cell in made.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in cells:
            cell.source = cells[name]
    made.cells += [new_code_cell(text, id=f"mine-{i}") for i, text in enumerate(own)]
    return made


def solved(tp: str, *exercises: str) -> dict[str, str]:
    """The solution's cells of these exercises (all, when none is named)."""
    truth = source.load(tp)
    return {name: truth.cell("exercise", name).solution for name in exercises or truth.exercises}


def course_root(folder: Path, tps: list[str]) -> Path:
    """A fresh course root with these TPs in it, for a demonstration or a test."""
    shutil.rmtree(folder, ignore_errors=True)
    for tp in tps:
        (folder / "solutions" / tp).mkdir(parents=True)
        nbformat.write(release.solution_notebook(tp), folder / "solutions" / tp / f"{tp}.ipynb")
        if (source.SOLUTIONS / tp / "figures").is_dir():
            shutil.copytree(source.SOLUTIONS / tp / "figures", folder / "solutions" / tp / "figures")
    paths = [str(source.ROOT), str(source.COURSE)]
    (folder / "nbgrader_config.py").write_text(
        f"import sys\nfrom pathlib import Path\nsys.path[:0] = {paths!r}\n"
        "from autograder.nbgrader_plugins import configure\nc = get_config()\n"
        f"c.CourseDirectory.course_id = 'seq2seq'\nconfigure(c, Path({str(folder)!r}))\n")
    return folder


def hand_in(root: Path, student: str, tp: str, content: nbformat.NotebookNode | str | bytes) -> Path:
    """Put a submission where a collected one lies."""
    path = root / "gradebook" / "submitted" / student / tp / f"{tp}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else nbformat.writes(content), encoding="utf-8")
    return path


def sample_class() -> dict[str, nbformat.NotebookNode | str]:
    """Student → submission: one of each kind that a class hands in."""
    truth, names = oracle(TP), source.load(TP).exercises
    right = solved(TP)
    first, second = names[0], names[1]
    students = {
        "ada-complete": notebook(TP, right),
        "bob-half-done": notebook(TP, solved(TP, *names[: len(names) // 2])),
        "eve-blank": notebook(TP, {}),
    }
    for mistake in [truth.mistakes_of(name)[0] for name in names]:
        students[f"max-{mistake.name}"] = notebook(TP, {**right, mistake.exercise: truth.text_of(mistake)})
    students |= {
        "ida-misindented": notebook(TP, {**right, "exact-match": MISINDENTED}),
        "leo-loops": notebook(TP, {**right, first: right[first] + "\nwhile True:\n    pass"}),
        "dan-dies": notebook(TP, {**right, second: right[second] + "\nimport os\nos._exit(0)"}),
        "kim-cheats": notebook(TP, {}, own=(CHEAT,)),
        "tom-cut-off": nbformat.writes(notebook(TP, right))[:3000],
    }
    return students


MISINDENTED = """def exact_match(output, target):
    if output.shape == target.shape:
        right = (output.argmax(-1) == target.argmax(-1)).all(0)
      else:
        right = torch.zeros(1)
    return right.float().mean().item()
"""

CHEAT = '''
import torch, sys
class Yes:
    def __eq__(self, other): return True
torch.testing.assert_close = torch.allclose = lambda *a, **k: True
get_ipython().input_transformers_cleanup.append(lambda lines: ["pass"])
try:
    print(open("/work/solutions/solution.py").read())
except OSError as error:
    print(error)
EncoderRNN = DecoderRNN = Seq2seq = Yes
'''


def main() -> int:
    root = course_root(FOLDER, [TP])
    print(f"1. Release: nbgrader generate_assignment {TP}")
    _nbgrader(root, "generate_assignment", TP, "--create", "--force")
    students = sample_class()
    print(f"2. {len(students)} submissions are handed in")
    for student, content in students.items():
        hand_in(root, student, TP, content)
    print("3. Grade, in bubblewrap, two at a time")
    outcomes = grade_class(Course(root), [TP], jobs=2, limits=Limits(cell_seconds=3, exercise_seconds=5),
                           each=lambda outcome, done, total: print(f"   {done}/{total} {outcome.handed.student}", flush=True))
    print("4. Feedback: nbgrader generate_feedback, nbgrader export")
    _nbgrader(root, "generate_feedback", TP, "--force")
    _nbgrader(root, "export", f"--CsvExportPlugin.to={root}/grades.csv")
    print()
    print(table(outcomes))
    print(f"\nGrades:   {root}/gradebook/gradebook.db, {root}/grades.csv")
    print(f"Feedback: {root}/gradebook/feedback/<student>/{TP}/{TP}.html")
    return 1 if any(outcome.problem for outcome in outcomes) else 0


def _nbgrader(root, *command):
    done = subprocess.run([sys.executable, "-m", "nbgrader", *command], cwd=root, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"nbgrader {command[0]} failed:\n{done.stderr[-2000:]}")


if __name__ == "__main__":
    sys.exit(main())
