"""Grades and the files made of them: points are added up, a row is there only for who has a grade."""

import csv

import pytest

from autograder.classroom import grades
from autograder.classroom.grades import NO_GRADE, Grade, Grades, Score

GRADE = Grade({"check-one": Score(2.5, 3), "check-two": Score(1.25, 4, True), "check-three": Score(None, 1),
               "why": Score(1.5, 2, True), "how": Score(None, 2)}, {"one": "a comment"})


def test_points_are_those_of_exercises_and_of_answers():
    assert (GRADE.automatic, GRADE.written, GRADE.total) == (3.75, 1.5, 5.25)
    assert list(GRADE.exercise_scores) == ["one", "two", "three"] and list(GRADE.answer_scores) == ["why", "how"]
    assert GRADE.exercise_scores["two"] == Score(1.25, 4, True) != Score(1.25, 4) and GRADE.unread_answers == ["how"]
    assert (GRADE.comment("one"), GRADE.comment("two")) == ("a comment", "")
    assert (NO_GRADE.total, NO_GRADE.unread_answers, NO_GRADE.lateness, NO_GRADE.handed_in) == (0, [], None, None)


@pytest.mark.parametrize("penalty, total", [(0.0, 5.25), (1.0, 4.25), (5.0, 0.25), (6.0, 0.0)])
def test_lateness_costs_no_more_than_there_is(penalty, total):
    assert Grade(GRADE.scores, {}, penalty).total == total


@pytest.mark.parametrize("points, needs, doubtful", [(None, True, False), (1.0, True, True), (1.0, False, False)])
def test_points_are_doubtful_where_nothing_else_waits(points, needs, doubtful):
    assert Grade({"why": Score(points, 2)}, {}, needs_manual_grade=needs).has_doubtful_points is doubtful


@pytest.mark.parametrize("seconds, said", [
    (None, None), (0.0, "on time"), (59.0, "less than a minute late"), (60.0, "1 minute late"),
    (3_600.0, "1 hour late"), (86_400.0, "1 day late"), (183_845.0, "2 days 3 hours 4 minutes late"),
    (86_399.0, "23 hours 59 minutes late"), (3_599.0, "59 minutes late")])
def test_lateness_is_said_in_words(seconds, said):
    assert Grade({}, {}, seconds_late=seconds).lateness == said


STUDENTS = [("ada", "Lovelace", "Ada", "ada@example.org"), ("bob", "", "", ""), ("pp", "Points Possible", "", ""),
            ("gone", "Gone", "G", "")]


def rows_of(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_a_file_has_a_row_for_each_grade(tmp_path):
    late = Grade({"check-one": Score(2.0, 3)}, {}, 0.5, needs_manual_grade=True)
    graded = {("ada", "s1"): GRADE, ("ada", "s2"): late, ("bob", "s1"): late, ("pp", "s1"): NO_GRADE}
    grades.write(Grades(STUDENTS, {"s1": 12.0, "s2": 0.0}, graded), tmp_path)
    head, *rows = rows_of(tmp_path / "grades.csv")
    assert head == ["student", "last name", "first name", "email", "session", "automatic", "written", "late penalty",
                    "grade", "maximum", "to be read by a person"]
    assert rows == [[*STUDENTS[0], "s1", "3.75", "1.5", "0", "5.25", "12", "no"],
                    [*STUDENTS[0], "s2", "2", "0", "0.5", "1.5", "0", "yes"],
                    [*STUDENTS[1], "s1", "2", "0", "0.5", "1.5", "12", "yes"],
                    [*STUDENTS[2], "s1", "0", "0", "0", "0", "12", "no"]]
    assert rows_of(tmp_path / "moodle-s1.csv") == [
        ["Username", "Last name", "First name", "Email address", "s1", "s1 of 100"],
        [*STUDENTS[0], "5.25", "43.75"], [*STUDENTS[1], "1.5", "12.5"], [*STUDENTS[2], "0", "0"]]
    assert rows_of(tmp_path / "moodle-s2.csv")[1:] == [[*STUDENTS[0], "1.5", "0"]]
    assert rows_of(tmp_path / "canvas-s1.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "s1"],
        ["    Points Possible", "", "", "", "", "12"],
        ["Lovelace, Ada", "", "", "ada", "", "5.25"], ["bob", "", "", "bob", "", "1.5"],
        ["Points possible, ", "", "", "pp", "", "0"]]
    assert len(rows_of(tmp_path / "canvas-s2.csv")) == 3


@pytest.mark.parametrize("points, text", [(0.0, "0"), (2.0, "2"), (1 / 3, "0.3333"), (12.5, "12.5"), (100.0, "100")])
def test_points_are_written_without_needless_digits(points, text):
    assert grades.format_points(points) == text
