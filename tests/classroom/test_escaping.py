"""What a student wrote, followed from every field of a submission to every place where a person reads it."""

import csv
import io
import json
import unicodedata

import pytest

from autograder import cli
from autograder.classroom import feedback, grades, grading, report
from autograder.classroom.nbgrader.notebook import annotated, rebuilt
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.samples import classroom_in, hand_in
from autograder.classroom.student_work import StudentWork
from autograder.publish.notebooks import filled
from conftest import TINY, TINY_COURSE

# Sets a title, clears the screen, colours, turns the direction of reading, opens a line, and drives other readers.
EVIL = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e\u200b`<script>alert(1)<!--"
CELL = f"{EVIL} MARKED-SOURCE"
RAISES = f"""
Named = type({EVIL + "MARKED-TYPE"!r}, (Exception,), {{}})
print({EVIL + "MARKED"!r} + "-PRINTED")
raise Named({EVIL + chr(10) + "MARKED-MESSAGE"!r})
"""
STUDENT = f"=cmd {EVIL}\nMARKED-STUDENT".replace("/", "")
FILE = f"{EVIL}\nMARKED-FILE.ipynb".replace("/", "")


def wrong(text):
    """The characters that no sink may get: controls, direction marks and their like."""
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c != "\n"}


@pytest.fixture
def term(tmp_path):
    """A course in which one has handed in a notebook with a mark in every field, and that notebook's path."""
    course = classroom_in(tmp_path / "course", TINY_COURSE, [TINY])
    made = filled(TINY_COURSE, TINY, {"double": RAISES}, (CELL, RAISES, f"# {CELL}\nimport os; os._exit(0)"))
    for cell in made.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "encoder":
            cell.cell_type = f"{EVIL}MARKED-CELL-TYPE"
    path = hand_in(course, STUDENT, TINY, json.dumps(made))
    return course, path.rename(path.with_name(FILE))


def test_nothing_of_a_students_drives_what_people_read(term, grade_here, capsys):
    course, path = term
    sinks = {}
    cli.main(["--course", str(course.root), "check", str(path)])
    cli.main(["--course", str(course.root), "check", "--json", str(path)])
    cli.main(["--course", str(course.root), "check", str(path / "no" / EVIL)])
    sinks["terminal"] = capsys.readouterr()
    sinks["terminal"] = sinks["terminal"].out + sinks["terminal"].err
    graded = list(grade_here(course).values())
    assert not graded[0].problem
    sinks["table"] = grading.summary_table(graded)
    sinks["page"] = report.write(Term(course), [TINY]).read_text()
    grade = grades.Grade({"check-double": grades.Score(1, 2)}, {})
    sinks["feedback page"] = feedback.render(StudentWork(course, TINY, STUDENT), grade)
    told = annotated(rebuilt(course, graded[0].file.read()), graded[0].verdict)
    sinks["notes"] = told.cells[0].source
    sinks["reasons"] = "\n".join(o.text for cell in told.cells for o in cell.get("outputs", ()))
    grades.write(grades.Grades([(STUDENT, STUDENT, EVIL, "@sum")], {TINY: 8}, {(STUDENT, TINY): grade}), course.root)
    tables = [(course.root / f"{name}.csv").read_bytes().decode()
              for name in ("grades", f"moodle-{TINY}", f"canvas-{TINY}")]
    sinks["tables of grades"] = "\n".join(tables).replace("\r\n", "\n")
    for name, text in sinks.items():
        assert "MARKED" in text, name  # else nothing was followed there
        assert wrong(text) == set(), name
        assert "MARKED-PRINTED" not in text, name
        assert "page" in name or "\nMARKED" not in text, f"{name}: a line of the student's own"
    for name in ("page", "feedback page", "notes"):
        assert "<script" not in sinks[name] and "<!--" not in sinks[name], name
    for row in (row for table in tables for row in csv.reader(io.StringIO(table))):
        assert all(cell[:1] not in ("=", "+", "@", "\t") for cell in row)
    for field in ("SOURCE", "MESSAGE", "TYPE", "CELL-TYPE", "FILE", "STUDENT"):
        assert any(f"MARKED-{field}" in text for text in sinks.values()), f"{field} arrives nowhere"
