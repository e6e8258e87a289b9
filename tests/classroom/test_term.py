"""A class goes the whole way by the commands that an instructor types: from submissions to what each person reads."""

import csv
import re
from pathlib import Path

import pytest

from autograder import cli
from autograder.classroom.samples import classroom_in, hand_in, sample_class
from autograder.model import source
from conftest import TINY, TINY_COURSE

pytestmark = pytest.mark.slow


def test_from_submissions_to_feedback_report_and_pairs(tmp_path, capsys):
    course = classroom_in(tmp_path / "course", TINY_COURSE, [TINY])
    students = sample_class(TINY_COURSE, TINY)
    for student, content in students.items():
        hand_in(course, student, TINY, content)

    def autograder(*arguments):
        assert cli.main(["--course", str(course.root), *arguments]) == 0
        return capsys.readouterr().out

    autograder("grade", "--time-limit", "4")
    texts = {student: next(cell.source for cell in content.cells if cell.id == "why")
             for student, content in students.items() if not isinstance(content, str)}
    written = [student for student, text in texts.items() if source.TEXT_STUB not in text]
    assert len(written) > len({texts[student] for student in written}) > 2  # some wrote the same words, others not
    assert {"eve-blank", "kim-cheats"} < texts.keys() - set(written)
    assert f"{len(written)} answers to read" in autograder("questions", "--anonymous")
    path = course.gradebook / "questions" / f"{TINY}.csv"
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert not {row["student"] for row in rows} & set(students)
    for row in rows:
        row["item 1"], row["comment"] = ("x", "And why?") if not row["points"] else ("", "")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert f"{len(written)} answers entered" in autograder("questions", "--enter", str(path))
    assert "0 answers to read" in autograder("questions")

    assert f"{len(students)} pages, {len(students)} changed" in autograder("feedback")
    page = (course.gradebook / "feedback" / "ada-complete" / TINY / f"{TINY}.html").read_text(encoding="utf-8")
    assert "And why?" in page and re.search(r"9\.5 / 10", page)

    report = Path(autograder("report").strip()).read_text(encoding="utf-8")
    assert 'href="../feedback/ada-complete/' in report and "points are not read yet" not in report
    with open(course.gradebook / "report" / "grades.csv", newline="", encoding="utf-8") as file:
        assert {row["student"]: row["written"] for row in csv.DictReader(file)} == {
            student: "1.5" if student in written else "0" for student in students}
    assert "0 pairs to look at" in autograder("similar")  # they all have the plain solution
