"""Sample submissions: notebooks as students hand them in, the right one above all, and a course root for them."""

import re
import shutil
from itertools import count
from pathlib import Path

import nbformat

from ..course import Course, CourseError
from ..model import rubric
from ..model.oracle import load_oracle
from ..model.source import TEXT_STUB, Cell, load_source
from ..publish import new, notebooks
from ..runtime.workspace import write_whole
from .student_work import StudentWork


def classroom_in(folder: Path, course: Course, sessions: list[str]) -> Course:
    """Make a course in ``folder`` with these sessions in it, and nbgrader's configuration."""
    shutil.rmtree(folder, ignore_errors=True)
    ignore = shutil.ignore_patterns("*.ipynb", "__pycache__")
    copy = Course(folder.resolve())
    for session in sessions:
        shutil.copytree(course.folder(session), copy.folder(session), ignore=ignore)
        source = load_source(copy, session)
        nbformat.write(notebooks.solution_notebook(source), source.solution_path)
    if course.toml.is_file():
        shutil.copy(course.toml, folder)
    for path in course.helpers:
        copy_helper = shutil.copytree if path.is_dir() else shutil.copy
        copy.released.mkdir(exist_ok=True)
        copy_helper(path, copy.released / path.name)
    new.write_template(folder, "nbgrader_config.py", "sample")
    return copy


def hand_in(course: Course, student: str, session: str, content: nbformat.NotebookNode | str | bytes) -> Path:
    """Write a submission into the submitted folder."""
    path = StudentWork(course, session, student).submitted
    write_whole(path, content if isinstance(content, (str, bytes)) else nbformat.writes(content))
    return path


def sample_class(course: Course, session: str) -> dict[str, nbformat.NotebookNode | str]:
    """Return the submission of each student: one of each kind that a class hands in."""
    oracle = load_oracle(course, session)
    names, right = oracle.source.exercises, notebooks.solved(course, session)
    if not names:
        raise CourseError(f"{session} has no exercise, of which a sample class would hand in solutions")
    first, second, last = names[0], names[min(1, len(names) - 1)], names[-1]

    answers = oracle.source.by_role("answer")
    texts = [[notebooks.released_text(oracle.source, cell.name).replace(
        TEXT_STUB, text or TEXT_STUB) for text in _sample_texts(cell)] for cell in answers]
    students_with_answers = count()

    def hands_in(cells: dict[str, str], *added: str) -> nbformat.NotebookNode:
        if not cells:
            return notebooks.filled(course, session, cells, added)
        i = next(students_with_answers)
        written = {cell.name: choices[(i * (j + 1)) % len(choices)]
                   for j, (cell, choices) in enumerate(zip(answers, texts, strict=True))}
        return notebooks.filled(course, session, {**written, **cells}, added)

    students: dict[str, nbformat.NotebookNode | str] = {
        "ada-complete": hands_in(right),
        "bob-half-done": hands_in({name: right[name] for name in names[: len(names) // 2]}),
        "eve-blank": hands_in({}),
    }
    for fault in [oracle.faults_of(name)[0] for name in names if oracle.faults_of(name)]:
        students[f"max-{fault.name}"] = hands_in({**right, fault.exercise: oracle.text_of(fault)})
    defined = " = ".join(sorted(set().union(*oracle.defines.values())))
    return students | {
        "ida-misindented": hands_in({**right, last: f"if True:\n    pass\n  else:\n    pass\n{right[last]}"}),
        "leo-loops": hands_in({**right, first: f"{right[first]}\nwhile True:\n    pass"}),
        "dan-dies": hands_in({**right, second: f"{right[second]}\nimport os\nos._exit(0)"}),
        "kim-cheats": hands_in({}, f"{CHEAT}{defined} = Yes"),
        "tom-cut-off": nbformat.writes(hands_in(right))[:3000],
    }


def earlier_submissions(course: Course, session: str) -> dict[str, nbformat.NotebookNode]:
    """Return the earlier submissions of students who hand in again."""
    first = load_oracle(course, session).source.exercises[0]
    return {"bob-half-done": notebooks.filled(course, session, notebooks.solved(course, session, first))}


def _sample_texts(answer: Cell) -> list[str]:
    """Return answers of different students: most of the model answer, a part of it, another text, nothing."""
    sentences = re.split(r"(?<=[.!?])\s+", " ".join(rubric.parse(answer.hidden, answer.points).model.split()))
    most, first, last = " ".join(sentences[:3]), sentences[0], " ".join(sentences[-2:])
    return [most, first, WRITTEN, last, first, "I do not know.", ""]


LATE = ("ida-misindented", "leo-loops")  # they hand in two days after the others
WRITTEN = "I would say: *because of the softmax*, which makes the weights $\\alpha_i$ sum to 1."
CHEAT = '''import torch
class Yes:
    def __eq__(self, other): return True
torch.testing.assert_close = torch.allclose = lambda *a, **k: True
get_ipython().input_transformers_cleanup.append(lambda lines: ["pass"])
try:
    print(open("/srv/solutions/solution.py").read())
except OSError as error:
    print(error)
'''
