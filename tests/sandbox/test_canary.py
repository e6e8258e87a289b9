"""Known tricks on the stock grader, where they work, and on ours, where they do not."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

from autograder.classroom.nbgrader.config import find_alembic

SOLUTION = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
HIDDEN = "### BEGIN HIDDEN TESTS\nassert double(21) == 42\n### END HIDDEN TESTS"

# Each makes a blank notebook look right; on the stock grader the first four gain the point, the last loses the grade.
TRANSFORMER = "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass\\n'])"
AST = ("import ast\nclass T(ast.NodeTransformer):\n    def visit(self, node): return ast.Module([ast.Pass()], [])\n"
       "get_ipython().ast_transformers.append(T())")
EQUAL = "class Yes:\n    def __eq__(self, other): return True\ndef double(x): return Yes()"
EXIT = "import os\nos._exit(0)"


def _tagged(notebook):
    for cell in notebook.cells:
        cell.metadata["tags"] = ["skip-execution"]


TRICKS = {"skip-execution": (None, _tagged), "input-transformer": (TRANSFORMER, None), "ast-transformer": (AST, None),
          "always-equal": (EQUAL, None)}


def metadata(grade_id, **values):
    plain = {"schema_version": 3, "task": False, "solution": False, "grade": False, "locked": False}
    return {"nbgrader": {**plain, "grade_id": grade_id, **values}}


@pytest.fixture(scope="module", autouse=True)
def environment():
    """What the stock grader leaves set when a notebook fails is gone afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBGRADER_EXECUTION", "")
        yield


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    """Scores that nbgrader as it comes gives to the tricks: student → points, or None for no grade at all."""
    from nbgrader.api import Gradebook
    from nbgrader.converters import Autograde, GenerateAssignment
    from nbgrader.coursedir import CourseDirectory

    find_alembic()
    root = tmp_path_factory.mktemp("stock")
    (root / "source" / "ps").mkdir(parents=True)
    cells = [new_code_cell(SOLUTION, metadata=metadata("double", solution=True)),
             new_code_cell(HIDDEN, metadata=metadata("check", grade=True, locked=True, points=1))]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), root / "source" / "ps" / "ps.ipynb")
    config = Config({"CourseDirectory": {"root": str(root), "db_url": f"sqlite:///{root}/gradebook.db"}})

    def convert(kind, student):
        directory = CourseDirectory(config=config)
        directory.assignment_id, directory.student_id = "ps", student
        converter = kind(coursedir=directory, config=config)
        converter.force = True
        converter.start()

    convert(GenerateAssignment, ".")
    students = {**TRICKS, "blank": ("pass", None), "exit": (EXIT, None)}
    for student, (code, edit) in students.items():
        notebook = nbformat.read(root / "release" / "ps" / "ps.ipynb", 4)
        if code:
            notebook.cells[0].source = code
        if edit:
            edit(notebook)
        folder = root / "submitted" / student / "ps"
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / "ps.ipynb")
    scores = {}
    for student in students:
        try:
            convert(Autograde, student)
        except Exception:
            pass
        with Gradebook(config.CourseDirectory.db_url) as gradebook:
            found = [s for s in gradebook.assignment_submissions("ps") if s.student.id == student]
            graded = found and found[0].notebooks[0].grades[0].auto_score is not None
            scores[student] = found[0].score if graded else None
    return scores


@pytest.mark.parametrize("trick", TRICKS)
def test_the_trick_works_on_the_stock_grader(stock, trick):
    assert stock["blank"] == 0
    assert stock[trick] == 1


def test_the_stock_grader_loses_a_kernel_that_exits(stock):
    assert stock["exit"] is None


@pytest.mark.parametrize("trick", TRICKS)
def test_the_trick_gains_nothing_here(grade, trick):
    code, edit = TRICKS[trick]
    assert grade(own=[code] if code else [], edit=edit).points == 0
    assert grade({"double": code or ""}, edit=edit).points == 0


def test_a_kernel_that_exits_has_a_grade_here(grade):
    result = grade({"double": EXIT})
    assert result.points == 0 and result.exercises[0].outcome == "crashed"
