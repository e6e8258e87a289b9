"""Written answers as a CSV file: what is filled in, in a spreadsheet, comes back into nbgrader's gradebook."""

import csv
import re
import shutil
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event
from sqlalchemy.orm import Session
from test_safe_text import SPECIAL

import graded
from autograder import cli, escaping
from autograder.classroom import assessments, questions, questions_csv
from autograder.classroom.assessments import AssessedItem, Assessment
from autograder.classroom.json_files import FileError
from autograder.classroom.nbgrader import formgrader
from autograder.classroom.nbgrader.gradebook import Gradebook
from autograder.classroom.questions import Answer, AnswerEntry, Question
from autograder.classroom.summary import summarise
from autograder.model.rubric import Rubric, RubricItem
from conftest import TINY

ITEMS = (RubricItem(1.5, "a reason."), RubricItem(0.5, "in `words`."))


@pytest.fixture
def out(term):
    """The CSV file as the command writes it."""
    path = term.course.gradebook / "questions" / f"{TINY}.csv"
    questions_csv.write(path, questions.answered_questions(term, TINY))
    return path


def rows(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def filled(path, delimiter=",", **cells):
    """The file with other cells in the lines of some students: student → column → text."""
    found = rows(path)
    for student, changes in cells.items():
        found[student].update(changes)
    with open(path, "w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, list(next(iter(found.values()))), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(found.values())
    return path


@pytest.mark.parametrize("in_a_server", [False, True])
def test_an_open_formgrader_shows_what_came_from_elsewhere(term, out, in_a_server, monkeypatch):
    """Its server has one session for good; without our event (the control) that shows what it has read before."""
    if in_a_server:
        monkeypatch.setitem(sys.modules, "jupyter_server.serverapp", None)
        formgrader.always_read_the_database()
    try:
        with term.gradebook() as server:
            shown = server.stock.find_submission_notebook(TINY, TINY, "bob")
            assert not any(grade.manual_score for grade in shown.grades)
            questions_csv.enter(term, filled(out, bob={"points": "1.25"}))
            again = server.stock.find_submission_notebook(TINY, TINY, "bob")
            assert (1.25 in [grade.manual_score for grade in again.grades]) == in_a_server
    finally:
        if in_a_server:
            event.remove(Session, "do_orm_execute", formgrader._read_again)


def why(term, student):
    """What nbgrader holds of the answer: points, whether somebody has to look, comment."""
    with term.gradebook() as gradebook:
        grade = gradebook.stock.find_grade("why", TINY, TINY, student)
        said = gradebook.stock.find_comment("why", TINY, TINY, student).manual_comment
        return grade.manual_score, bool(grade.needs_manual_grade), said


def collected(term, student):
    (question,) = questions.answered_questions(term, TINY)
    return next(answer for answer in question.answers if answer.student == student)


def test_answers_go_out_and_come_back_to_the_gradebook(term, out):
    assert why(term, "ada") == (None, True, None)
    comment = "=Nearly,\nbut \"why\"?"
    entered = questions_csv.enter(term, filled(out, ada={"item 1": "x", "comment": comment}, bob={"points": "1,25"}))
    assert {one.answer.student for one in entered} == {"ada", "bob"}
    assert why(term, "ada") == (1.5, False, comment) and why(term, "bob") == (1.25, False, None)
    assert why(term, "eve") == (None, False, None)  # blank: done already
    with term.gradebook() as gradebook:
        assert not gradebook.stock.find_submission(TINY, "ada").needs_manual_grade  # as formgrader lists it
    assert assessments.load(term.course, TINY, "ada") == {
        "why": Assessment(1.5, (AssessedItem(ITEMS[0], True), AssessedItem(ITEMS[1], False)))}
    assert assessments.load(term.course, TINY, "bob") == {"why": Assessment(1.25, ())}
    assert questions_csv.enter(term, out) == []  # nothing is new
    questions_csv.write(out, questions.answered_questions(term, TINY))
    assert rows(out)["ada"]["comment"] == f"'{comment}" and rows(out)["ada"]["item 1"] == "x"
    assert questions_csv.enter(term, out) == []


def test_a_question_that_was_added_after_grading_has_no_answer_of_an_earlier_submission(term, monkeypatch):
    with term.gradebook() as gradebook:
        grades = gradebook.grades_of(TINY)
    del grades["ada"].scores["why"]
    monkeypatch.setattr(Gradebook, "grades_of", lambda *_: grades)
    (question,) = questions.answered_questions(term, TINY)
    assert {answer.student for answer in question.answers} == {*grades} - {"ada", "tom"}, "tom's file is no notebook"


def test_points_given_by_hand_wait_though_the_next_file_is_no_notebook(term):
    with term.gradebook() as gradebook:
        gradebook.set_manual_score(TINY, "tom", "why", 2.0, "")
        gradebook.mark_other_texts(TINY, "tom", ["why"])
        grades = gradebook.grades_of(TINY)
    (question,) = questions.answered_questions(term, TINY)
    assert [answer.points for answer in question.answers if answer.student == "tom"] == [None]
    summary = summarise(TINY, term.store.entries(TINY), grades)
    (row,) = (row for row in summary.rows if row.student == "tom")
    assert [sign.kind for sign in row.signs] == ["ungraded"] * 3 + ["waiting"] and row.unread_points == 2
    (answer,) = summary.answers
    assert answer.unread == sum(one.points is None for one in question.answers) > 1 and answer.blank == 1, "eve's"


def test_the_points_are_what_a_person_says(term, out):
    questions_csv.enter(term, filled(out, ada={"item 1": "x", "item 2": "x", "points": "1.75"}))
    assert why(term, "ada")[0] == 1.75
    assert [one.given for one in collected(term, "ada").items] == [True, True]


def test_items_say_nothing_of_points_that_are_others_now(term, out):
    questions_csv.enter(term, filled(out, ada={"item 1": "x"}))
    with term.gradebook() as gradebook:
        gradebook.stock.find_grade("why", TINY, TINY, "ada").manual_score = 1
        gradebook.stock.db.commit()
        score = gradebook.grades_of(TINY)["ada"].scores["why"]
    assert assessments.items_of(assessments.load(term.course, TINY, "ada"), "why", score) == ()
    assert collected(term, "ada").points == 1 and collected(term, "ada").items == ()


def test_without_names(term, out):
    assert ",ada," in out.read_text(encoding="utf-8")  # else: named
    questions_csv.write(out, questions.answered_questions(term, TINY), anonymous=True)
    assert not re.search(r"\b(ada|bob|eve|tom)\b", out.read_text(encoding="utf-8"))
    unnamed = questions.pseudonym(term, TINY, "ada")
    questions_csv.enter(term, filled(out, **{unnamed: {"item 2": "x"}}))
    assert why(term, "ada")[0] == 0.5


@pytest.mark.parametrize("cells, said", [
    ({"points": "2.5"}, "'2.5' is no number of points from 0 to 2"),
    ({"points": "-1"}, "no number of points"),
    ({"points": "nan"}, "no number of points"),
    ({"points": "good"}, "no number of points"),
    ({"comment": "Well."}, "a comment without points"),
    ({"points": "1", "version": "v-0"}, "another answer since"),
    ({"student": "mallory", "points": "1"}, "mallory has handed in no answer to why"),
    ({"question": "how", "points": "1"}, "no answer to how"),
    ({"session": "../tp", "points": "1"}, "no answer to why"),
])
def test_a_file_that_is_wrong_in_one_line_changes_nothing(term, out, cells, said):
    with pytest.raises(FileError, match=re.escape(said)) as error:
        questions_csv.enter(term, filled(out, ada={"points": "2"}, bob=cells))
    assert re.search(r"line \d+: ", str(error.value)) and "nothing was entered" in str(error.value)
    assert why(term, "ada") == (None, True, None)


def test_a_line_that_is_emptied_enters_nothing(term, out):
    questions_csv.enter(term, filled(out, ada={"points": "2"}))
    questions_csv.write(out, questions.answered_questions(term, TINY))
    assert rows(out)["ada"]["points"] == "2"
    questions_csv.enter(term, filled(out, ada={"points": ""}))
    assert why(term, "ada")[0] == 2


def test_an_answer_that_stands_twice_is_refused(term, out):
    filled(out, ada={"points": "1"})
    lines = out.read_text(encoding="utf-8-sig").splitlines()
    line = next(line for line in lines if ",ada," in line)
    out.write_text("\n".join([*lines, line]))
    with pytest.raises(FileError, match="stands in the file already"):
        questions_csv.enter(term, out)


@pytest.mark.parametrize("text", [b"", b"a,b\n1,2\n", b"\xff\xfe\x00", b'session,question\n"'])
def test_another_file_is_refused_in_one_line(term, out, text, capsys):
    out.write_bytes(text)
    assert cli.main(["--course", str(term.course.root), "questions", "--enter", str(out)]) == 2
    said, error = capsys.readouterr()
    assert said == "" and error.count("\n") == 1 and out.name in error


def test_a_spreadsheet_may_save_it_in_its_own_way(term, out):
    questions_csv.enter(term, filled(out, delimiter=";", ada={"points": "0,5"}))
    assert why(term, "ada")[0] == 0.5


def test_an_answer_handed_in_since_is_read_again(term, out):
    filled(out, ada={"points": "2"})
    graded.enter(term, "ada", {"why": "Another answer."}, graded.verdict())
    with pytest.raises(FileError, match="another answer since"):
        questions_csv.enter(term, out)


def on_the_screen(term, student, points, comment):
    """A colleague reads one answer."""
    (question,) = questions.answered_questions(term, TINY)
    entry = AnswerEntry(question, collected(term, student), Assessment(points, ()), comment)
    questions.save_entries(term, [entry])


def test_a_line_that_nobody_changed_takes_nothing_back(term, out):
    questions_csv.enter(term, filled(out, ada={"points": "1"}))
    questions_csv.write(out, questions.answered_questions(term, TINY))
    on_the_screen(term, "ada", 0.5, "Half of it.")
    on_the_screen(term, "eve", 0.5, "There is something.")
    assert [entry.answer.student for entry in questions_csv.enter(term, filled(out, bob={"points": "2"}))] == ["bob"]
    assert why(term, "ada") == (0.5, False, "Half of it.") and why(term, "eve")[0] == 0.5


@pytest.mark.parametrize("cells", [{"points": "2"}, {"points": "1", "comment": "Mine."}, {"item 1": "x"}])
def test_a_changed_line_is_refused_if_a_colleague_was_there_before(term, out, cells):
    filled(out, ada=cells, bob={"points": "2"})
    on_the_screen(term, "ada", 1.0, "Theirs.")
    with pytest.raises(FileError, match="changed elsewhere since"):
        questions_csv.enter(term, out)
    assert why(term, "ada") == (1.0, False, "Theirs.") and why(term, "bob")[0] is None
    filled(out, ada={"points": "", "comment": "", "item 1": ""})
    assert [entry.answer.student for entry in questions_csv.enter(term, out)] == ["bob"]


def test_what_a_file_entered_can_be_corrected_in_it(term, out, tmp_path):
    """The spreadsheet is still open: its versions are those of before."""
    colleagues = tmp_path / "theirs.csv"
    shutil.copy(out, colleagues)
    questions_csv.enter(term, filled(out, ada={"item 1": "x", "comment": "Soo."}))
    questions_csv.enter(term, filled(out, ada={"comment": "So."}))
    assert why(term, "ada") == (1.5, False, "So.")
    questions_csv.write(out, questions.answered_questions(term, TINY))
    questions_csv.enter(term, filled(out, ada={"points": "2"}))
    questions_csv.enter(term, filled(out, ada={"points": "1.5"}))  # as it was written
    assert why(term, "ada") == (1.5, False, "So.")
    with pytest.raises(FileError, match="changed elsewhere since"):
        questions_csv.enter(term, filled(colleagues, ada={"points": "0"}))
    on_the_screen(term, "ada", 1.0, "")
    with pytest.raises(FileError, match="changed elsewhere since"):
        questions_csv.enter(term, filled(out, ada={"comment": "So!"}))


def test_a_file_that_is_being_filled_is_not_written_over(term, out, capsys):
    command = ["--course", str(term.course.root), "questions"]
    before = filled(out, ada={"points": "1"}).read_bytes()
    graded.enter(term, "zoe", {"why": "A late answer."}, graded.verdict())
    assert cli.main(command) == 2 and out.read_bytes() == before
    said, error = capsys.readouterr()
    assert said == "" and error.count("\n") == 1 and "enter it first" in error and str(out) in error
    questions_csv.enter(term, out)
    assert cli.main(command) == 0 and rows(out)["ada"]["points"] == "1" and "zoe" in rows(out)
    assert cli.main(command) == 0  # nobody has changed it


@pytest.mark.parametrize("cells", [{"item 2": "x"}, {"points": "good"}, {"version": "v-0", "points": "1"},
                                   {"student": "mallory", "points": "1"}])
def test_whatever_a_person_wrote_into_a_file_stays(term, out, cells, capsys):
    before = filled(out, ada=cells).read_bytes()
    assert cli.main(["--course", str(term.course.root), "questions"]) == 2 and out.read_bytes() == before


def test_a_file_of_something_else_is_not_written_over(term, out, capsys):
    out.write_text("my,notes\n1,2\n")
    assert cli.main(["--course", str(term.course.root), "questions"]) == 2 and out.read_text() == "my,notes\n1,2\n"
    assert capsys.readouterr().err.endswith("; move it away\n")


def test_a_file_of_which_nothing_is_new_is_written_over(term, out):
    """Also where answers were handed in again since."""
    graded.enter(term, "ada", {"why": "Another answer."}, graded.verdict())
    assert cli.main(["--course", str(term.course.root), "questions", "--anonymous"]) == 0
    assert cli.main(["--course", str(term.course.root), "questions"]) == 0
    assert rows(out)["ada"]["answer"] == "Another answer."


@pytest.mark.parametrize("since", ["handed in again", "corrected on the screen", "removed"])
def test_a_file_that_was_entered_holds_up_nobody(term, out, capsys, monkeypatch, since):
    questions_csv.enter(term, filled(out, ada={"points": "1", "item 1": "x"}, bob={"points": "1"}))
    if since == "handed in again":
        graded.enter(term, "ada", {"why": f"{graded.question()}\n\nAnother answer."}, graded.verdict())
    elif since == "corrected on the screen":
        on_the_screen(term, "ada", 0.5, "Half of it.")
    else:
        grades = term.grades_of(TINY)
        del grades["ada"]
        monkeypatch.setattr(Gradebook, "grades_of", lambda *_: grades)
    assert questions_csv.enter(term, out) == []
    entered = questions_csv.enter(term, filled(out, bob={"points": "2"}))
    assert [entry.answer.student for entry in entered] == ["bob"]
    assert cli.main(["--course", str(term.course.root), "questions"]) == 0
    assert since == "removed" or rows(out)["ada"]["points"] == ("" if since == "handed in again" else "0.5")


def test_a_student_who_is_gone_holds_up_nobody(term, out, monkeypatch):
    with term.gradebook() as gradebook:
        grades = gradebook.grades_of(TINY)
    del grades["ada"]
    monkeypatch.setattr(Gradebook, "grades_of", lambda *_: grades)
    assert [entry.answer.student for entry in questions_csv.enter(term, filled(out, bob={"points": "1"}))] == ["bob"]


@pytest.mark.parametrize("cell", [graded.question(), f"{graded.question()}\n\n*Your answer here.*\n", "", " \n"])
def test_an_answer_without_a_word_is_blank_whatever_else_was_deleted(term, cell):
    graded.enter(term, "eli", {"why": cell}, graded.verdict())
    answer = collected(term, "eli")
    assert answer.is_blank and (answer.text, answer.points) == ("", 0)
    assert not term.grades_of(TINY, "eli")["eli"].needs_manual_grade


def test_another_answer_waits_to_be_read_and_the_same_one_does_not(term, out):
    questions_csv.enter(term, filled(out, ada={"points": "1", "comment": "Nearly."}))
    text = collected(term, "ada").text
    for answer, points, comment in ((text, 1, "Nearly."), ("Another answer.", None, ""), ("Another answer.", None, "")):
        graded.enter(term, "ada", {"why": f"{graded.question()}\n\n{answer}"}, graded.verdict())
        found = collected(term, "ada")
        assert (found.text, found.points, found.comment) == (answer, points, comment)
        assert term.grades_of(TINY, "ada")["ada"].needs_manual_grade == (points is None)
    questions_csv.write(out, questions.answered_questions(term, TINY))
    assert rows(out)["ada"]["points"] == ""
    questions_csv.enter(term, filled(out, ada={"points": "0"}))
    graded.enter(term, "ada", {"why": f"{graded.question()}\n\nAnother answer."}, graded.verdict())
    assert why(term, "ada") == (0, False, None) and not term.grades_of(TINY, "ada")["ada"].needs_manual_grade


def test_an_answer_that_could_not_be_entered_once_stays_read(term, out, monkeypatch):
    questions_csv.enter(term, filled(out, ada={"points": "1"}))
    text = f"{graded.question()}\n\n{collected(term, 'ada').text}"
    with monkeypatch.context() as full:
        full.setattr(Gradebook, "save_verdict", lambda *_: (_ for _ in ()).throw(OSError("No space left on device")))
        with pytest.raises(OSError, match="No space left"):
            graded.enter(term, "ada", {"why": text}, graded.verdict())
    for answer, points in ((text, 1), (f"{text} And more.", None)):
        graded.enter(term, "ada", {"why": answer}, graded.verdict())
        assert collected(term, "ada").points == points


def test_an_answer_that_was_taken_away_waits_for_a_look(term, out):
    questions_csv.enter(term, filled(out, ada={"points": "1"}))
    graded.enter(term, "ada", {}, graded.verdict())
    assert (collected(term, "ada").text, collected(term, "ada").points) == ("", None)


def test_the_command_says_what_is_to_read_and_what_was_entered(term, capsys):
    command = ["--course", str(term.course.root), "questions"]
    assert cli.main([*command, TINY]) == 0
    out = term.course.gradebook / "questions" / f"{TINY}.csv"
    assert f"{TINY}: 2 answers to read; fill {out}, or type autograder open" in capsys.readouterr().out
    assert cli.main([*command, "--enter", str(filled(out, bob={"item 2": "x"}))]) == 0
    said = capsys.readouterr().out
    assert f"{TINY}, why, bob: 0.5 of 2 points\n" in said and "1 answer entered" in said
    assert cli.main([*command, "tp9_unknown"]) == 2 and "nothing is graded of tp9" in capsys.readouterr().err


def answer(student, comment="", points=None, text="Because."):
    """An answer of a question that stands in no gradebook."""
    return Answer(student, f"p-{len(student)}", text, points, points is not None, (), comment)


def question(*written):
    return Question(TINY, "why", 2.0, "Why?", Rubric("So.", ITEMS), written)


def test_the_file_of_a_session_without_questions_can_be_entered(tmp_path):
    questions_csv.write(tmp_path / "a.csv", [])
    assert questions_csv.rows(tmp_path / "a.csv") == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1) | st.text(SPECIAL, min_size=1), st.text() | st.text(SPECIAL), st.floats(0, 2))
def test_names_comments_and_points_come_back_as_they_were(tmp_path, name, comment, points):
    written, path = question(answer(name, comment, points)), tmp_path / "a.csv"
    questions_csv.write(path, [written])
    assert questions_csv.entries(questions_csv.rows(path), [written], {}) == []  # a line without a change says nothing
    ((number, cells),) = questions_csv.rows(path)
    ((entry, _),) = questions_csv.entries([(number, {**cells, "item 1": "x"})], [written], {})
    assert (entry.answer.student, entry.comment, entry.assessment.points) == (name, comment, points)


@given(st.text(SPECIAL, max_size=8), st.text(SPECIAL) | st.text())
def test_a_comment_written_in_a_spreadsheet_comes_back_as_it_was(tmp_path_factory, name, comment):
    """A person fills in the cell as the file would show it."""
    written, path = question(answer(f"a{name}")), tmp_path_factory.getbasetemp() / "written.csv"
    questions_csv.write(path, [question(answer(f"a{name}", comment, 1.0))])
    lines = [(number, {**cells, "version": written.answers[0].digest}) for number, cells in questions_csv.rows(path)]
    entries = [entry for entry, _ in questions_csv.entries(lines, [written], {})]
    assert [entry.comment for entry in entries] == [escaping.lines(comment).strip()]


@pytest.mark.parametrize("name", ["x;=y", "'=x", "＝odd", "=odd\u202e, \"name\"", "-x;'@y"])
def test_a_student_with_an_odd_name_is_found_again(term, out, name):
    graded.enter(term, name, {"why": "Because."}, graded.verdict())
    questions_csv.write(out, questions.answered_questions(term, TINY))
    assert questions_csv.enter(term, out) == []
    (entry,) = questions_csv.enter(term, filled(out, **{escaping.csv_line(name): {"item 2": "x"}}))
    assert entry.answer.student == name and why(term, name)[0] == 0.5


def test_a_comment_on_a_blank_answer_is_entered(term, out):
    questions_csv.enter(term, filled(out, eve={"comment": "Nothing at all?"}))
    assert why(term, "eve") == (0, False, "Nothing at all?")


def test_a_very_long_answer_is_cut_in_the_file_and_enters_nothing_less(term, out):
    graded.enter(term, "ada", {"why": "why " * 100_000}, graded.verdict())
    questions_csv.write(out, questions.answered_questions(term, TINY))
    assert len(rows(out)["ada"]["answer"]) == questions_csv.MAX_ANSWER
    questions_csv.enter(term, filled(out, ada={"item 1": "x"}))
    assert why(term, "ada")[0] == 1.5


def test_cells_of_a_spreadsheet_come_back_as_they_were(rng):
    for text in ["=1+1", " -x", "-", "plain", "'quoted", "'=x", "+\nlines\n", "@", ""]:
        assert escaping.from_csv(escaping.csv_text(text)) == text
