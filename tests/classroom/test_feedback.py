"""The students' pages: what they say, that nothing on them is alive, and that none of them is yesterday's."""

import functools
import html
import html.parser
import os
import re
from datetime import UTC, datetime

import pytest
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory

import graded
from autograder import cli
from autograder.classroom import assessments, feedback
from autograder.classroom.grades import Grade, Score
from autograder.classroom.markdown import MAX_FORMULA, mathml, rendered
from autograder.classroom.nbgrader.feedback_pages import update_pages
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.student_work import StudentWork
from autograder.judging.submission import SubmittedCell
from autograder.judging.verdict import ExerciseResult
from autograder.model.source import Source, cells_of
from autograder.runtime.difference import Difference
from autograder.runtime.findings import CheckResult
from conftest import TINY, TINY_COURSE


def nbgrader(term, **settings):
    """`nbgrader generate_feedback`."""
    directory = CourseDirectory(config=term.config, assignment_id=TINY)
    GenerateFeedback(coursedir=directory, config=term.config, **settings).start()


ours = functools.partial(update_pages, session=TINY)
both_commands = pytest.mark.parametrize("generate", [ours, nbgrader], ids=["autograder", "nbgrader"])


def read_by_a_person(term, points, comment=None, student="bob"):
    with term.gradebook() as gradebook:
        gradebook.set_manual_score(TINY, student, "why", points, comment or "")
        gradebook.commit()


def page(term, student):
    return StudentWork(term.course, TINY, student).feedback.read_text(encoding="utf-8")


def words(text):
    """The text of a page's body as one line, tags left out."""
    body = re.sub(r"<style>.*?</style>", "", text.split("<body>")[1], flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


class Tags(html.parser.HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def changed(term):
    return {one.student for one in ours(term) if one.changed}


@both_commands
def test_points_given_since_are_on_the_page(term, generate):
    generate(term)
    assert "2 points of written answers waiting to be read" in words(page(term, "bob"))
    read_by_a_person(term, 1.25, "Nearly.")
    generate(term)
    said = words(page(term, "bob"))
    assert "1.25 / 2" in said and "Nearly." in said and "waiting" not in said


def test_only_what_changed_is_written_anew(term):
    everybody = {"ada", "bob", "eve", "tom"}
    assert changed(term) == everybody and changed(term) == set()
    read_by_a_person(term, 2, "Good.")
    untouched = StudentWork(term.course, TINY, "ada").feedback.stat().st_ino
    assert changed(term) == {"bob"} and StudentWork(term.course, TINY, "ada").feedback.stat().st_ino == untouched
    graded.enter(term, "eve", {}, graded.verdict())
    assert changed(term) == {"eve"}
    StudentWork(term.course, TINY, "ada").feedback.write_text("<p>nbgrader's own</p>")
    assert changed(term) == {"ada"} and changed(term) == set()


def test_the_command_says_how_many(term, capsys):
    command = ["--course", str(term.course.root), "feedback"]
    assert cli.main(command) == 0
    assert f"{TINY}: 4 pages, 4 changed, in " in capsys.readouterr().out
    read_by_a_person(term, 2)
    assert cli.main([*command, TINY]) == 0
    assert "4 pages, 1 changed" in capsys.readouterr().out
    assert cli.main([*command, "tp9_unknown"]) == 2
    assert "nothing is graded of tp9_unknown" in capsys.readouterr().err


def test_a_page_that_cannot_be_written_costs_nobody_else_theirs(term, monkeypatch, capsys):
    render = feedback.render
    monkeypatch.setattr(feedback, "render", lambda work, *rest:
                        1 / 0 if work.student == "bob" else render(work, *rest))
    command = ["--course", str(term.course.root), "feedback"]
    assert cli.main(command) == 2
    assert f"autograder: {TINY}, bob: no page (ZeroDivisionError: division by zero)" in capsys.readouterr().err
    assert page(term, "tom") and not StudentWork(term.course, TINY, "bob").feedback.exists()
    monkeypatch.undo()
    assert cli.main(command) == 0 and "4 pages, 1 changed" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["bob [2]", "*", "a?c"])
def test_a_name_that_is_a_pattern_of_file_names_has_a_page_of_its_own(term, name):
    ours(term)
    graded.enter(term, name, {}, graded.verdict())
    before = page(term, "ada")
    assert [(one.student, one.problem) for one in ours(term) if one.changed] == [(name, None)]
    assert page(term, name) and page(term, "ada") == before


def test_a_page_that_is_cut_within_a_character_is_written_anew(term):
    ours(term)
    path = StudentWork(term.course, TINY, "bob").feedback
    path.write_bytes(path.read_bytes()[:60] + "→".encode()[:2])
    assert changed(term) == {"bob"} and changed(term) == set()


def test_the_page_says_each_sentence_once(term):
    ours(term)
    text = page(term, "bob")
    said = words(text)
    assert said.count(graded.SQUARED.feedback) == 1 and "Seen by 2 of 2 checks" in said
    assert "values Twice every number. doubled[0, 0] : expected 1.4, got 0.49; 5 of 18 values differ." in said
    assert "A tiny TP for the tests of the judge" in said and "handed in 2026-11-21 14:02 UTC" in said
    assert "1.33 / 8 automatic + 2 points of written answers waiting to be read" in said
    assert "✗ not right yet 1 · double 0 / 2" in said and "◐ in part 3 · last 1.33 / 2" in said
    assert "Not written yet: 2 · encoder, in Encoder" in said and "This part is not written yet" not in said
    assert "Read again: Double ." in said and 'tp.check("double")' in said
    assert "Right already: column" in said and "give this number to your teacher: b8b24609" in said
    assert "the cell <b>x</b> was left out" in said


def test_the_line_where_code_stopped_is_marked(term):
    ours(term)
    marked = [html.unescape(line) for line in re.findall(r'class="line"><mark>(.*?)</mark>', page(term, "bob"))]
    assert marked == ["    return double(rows[9])"]


def contents(term, student, *grade, **more):
    return feedback.page_of(StudentWork(term.course, TINY, student), Grade(*(grade or ({}, {}))), **more)


def test_the_heading_above_each_exercise_is_linked_and_the_notebook_has_no_notes_of_the_grader(term):
    page = contents(term, "bob")
    shown = {cell.anchor: cell for cell in page.notebook}
    for exercise, heading in zip(page.exercises, ("Double", "Encoder", "Encoder"), strict=True):
        anchor = re.fullmatch(r'<a href="#([\w-]+)">(.*)</a>', exercise.section)
        assert anchor[2] == heading and f"<h4>{heading}</h4>" in shown[anchor[1]].text
    assert [exercise.name for exercise in page.exercises] == ["double", "encoder", "last"]
    assert list(shown)[:2] == ["cell-text-1", "cell-start"] and "cell-grader-notes" not in shown
    assert shown["cell-last"].code.startswith("def last") and shown["cell-last"].text == ""
    assert "<h3>A tiny TP" in shown["cell-text-1"].text and shown["cell-text-1"].code == ""


def test_the_heading_of_an_exercise_is_not_that_of_its_check():
    text = ('# %% exercise="a"\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n\n# %% [markdown]\n# # Checked\n\n'
            '# %% check="a" points=2\n1')
    for above, link in (("", '<a href="#cell-text-1">Checked</a>'),
                        ("# %% [markdown]\n# # Title\n# ## Part\n\n", '<a href="#cell-text-1">Part</a>')):
        assert feedback._sections(Source(TINY_COURSE, "tp", cells_of(above + text, "tp"))) == {"a": link}


@pytest.mark.parametrize("grade_id, anchor", [("a-b_1", "cell-a-b_1"), (None, "cell-7"), ("", "cell-7"),
                                              ("a b", "cell-7"), ('"><b>', "cell-7")])
def test_the_anchor_of_a_cell_is_its_name_where_that_is_one(grade_id, anchor, tmp_path):
    assert feedback._shown(SubmittedCell("code", "x", grade_id), 7, tmp_path).anchor == anchor
    headings = feedback._shown(SubmittedCell("markdown", "# a\n\n##### b", grade_id), 7, tmp_path).text
    assert "<h3>a</h3>" in headings and "<h6>b</h6>" in headings


def test_an_answer_is_read_where_it_has_points_and_a_text_or_a_person_gave_them(term):
    for student, score, kind in (("ada", None, "waiting"), ("eve", None, "waiting"), ("ada", Score(0.0, 2.0), "read"),
                                 ("ada", Score(0.0, 2.0, True), "read"), ("eve", Score(0.0, 2.0, True), "read"),
                                 ("eve", Score(0.0, 2.0), "blank"), ("tom", Score(0.0, 2.0), "ungraded")):
        page = contents(term, student, {"why": score} if score else {}, {"why": "Look."})
        (answer,) = page.answers
        assert (answer.outcome.kind, answer.comment, answer.model) == (kind, "Look.", None)
        assert answer.score == (score or Score(None, 2.0)) and page.unread_points == (0.0 if score else 2.0)
        assert (answer.answer is None) is (student != "ada") and "Why?" in answer.question
    assert "<p>Because <math" in contents(term, "ada").answers[0].answer
    assert "a reason" in contents(term, "eve", model_answers=True).answers[0].model
    assert "a reason" not in feedback.render(StudentWork(term.course, TINY, "eve"), Grade({}, {}))


def test_the_page_says_when_the_work_was_graded_and_has_no_points_without_a_verdict(term):
    path = term.store.path(TINY, "bob")
    assert contents(term, "bob").graded == datetime.fromtimestamp(path.stat().st_mtime, UTC)
    path.unlink()
    page = contents(term, "bob")
    assert page.graded is None and not page.is_graded
    assert [exercise.score for exercise in page.exercises] == [Score(0.0, 2.0), Score(0.0, 4.0), Score(0.0, 2.0)]
    assert {exercise.outcome.kind for exercise in page.exercises} == {"ungraded"}


def test_work_is_as_old_as_its_verdict_whenever_it_is_entered(term):
    path, entry = term.store.path(TINY, "bob"), term.store.load(TINY, "bob")
    os.utime(path, (1_800_000_000, 1_800_000_000))
    term.enter(next(file for file in term.submitted([TINY]) if file.student == "bob"), entry)
    assert contents(term, "bob").graded == datetime.fromtimestamp(1_800_000_000, UTC)
    assert term.store.load(TINY, "bob").entered


def test_expected_stands_beside_got(term):
    ours(term)
    text = page(term, "bob")
    assert "doubled (B 0 to 6 of 9); what differs has a frame expected" in words(text)
    assert len(re.findall(OUR_TABLES, text)) == 2 and "<mark>0.00391</mark>" in text


def test_points_are_given_item_by_item(term):
    read_by_a_person(term, 1.25, "Nearly.")
    ours(term)
    said = words(page(term, "bob"))
    assert "✓ yes it says why 1.25 / 1.25 – no it says how" in said and "0 / 0.75" in said
    read_by_a_person(term, 2)  # in formgrader, where nobody ticks
    ours(term)
    assert "it says why" not in words(page(term, "bob"))


def test_other_items_for_the_same_points_are_a_new_page(term):
    read_by_a_person(term, 1.25)
    ours(term)
    item = assessments.load(term.course, TINY, "bob")["why"].items[0]
    assessments.save(term.course, TINY, "bob", {"why": assessments.Assessment(1.25, (item,))})
    assert changed(term) == {"bob"} and "it says how" not in page(term, "bob")


def test_all_right_and_read_gives_a_total(term):
    read_by_a_person(term, 2, student="ada")
    ours(term)
    said = words(page(term, "ada"))
    assert "10 / 10 = 8 automatic + 2 for written answers" in said
    assert "What to look at again" not in said and "● read Question 1 · why 2 / 2" in said


def test_blank_and_unreadable_work_is_said_quietly(term):
    ours(term)
    eve, tom = words(page(term, "eve")), words(page(term, "tom"))
    assert "You wrote nothing here." in eve and "– blank Question 1 · why 0 / 2" in eve and "Not written yet:" in eve
    assert tom.count("it is not a notebook <b>at all</b>") == 1 and "not graded" in tom
    assert "? not graded Question 1 · why" in tom and "blank" not in tom
    assert "Ask whether you may hand in again." in tom
    assert "Written answers" not in tom and "What was handed in" not in tom and 'href="#' not in page(term, "tom")


def test_lateness_is_said(term):
    with term.gradebook() as gradebook:
        gradebook.stock.find_assignment(TINY).duedate = None
        gradebook.stock.update_or_create_assignment(TINY, duedate="2026-11-19 12:00 UTC")
        gradebook.stock.find_submission_notebook(TINY, TINY, "ada").late_submission_penalty = 1.5
        gradebook.stock.db.commit()
    ours(term)
    said = words(page(term, "ada"))
    assert "2 days 2 hours 2 minutes late" in said and "− 1.5 for lateness" in said
    with term.gradebook() as gradebook:
        gradebook.stock.update_or_create_assignment(TINY, duedate="2026-12-24 12:00 UTC")
    assert "ada" in changed(term) and "· on time" in words(page(term, "ada"))


def test_model_answers_are_for_students_only_when_the_instructor_says_so(term):
    ours(term)
    assert "1.5 points: a reason" not in page(term, "ada")
    with open(term.course.root / "nbgrader_config.py", "a") as file:
        file.write("c.FeedbackExporter.model_answers = True\n")
    assert changed(Term(term.course)) == {"ada", "bob", "eve"}, "nothing of tom's could be read"
    assert "1.5 points: a reason" in page(term, "ada") and "1.5 points: a reason" in page(term, "eve")


# The whole of the tables that we write: cells, numbers, and nothing that a student could have written.
OUR_TABLES = (r'<table><caption>(expected|got)</caption>(<tr>(<t[dh]( scope="(row|col)")?>[\w \\]+</t[dh]>|'
              r'<td style="background:#\w{6};color:\w+">(<mark>)?[-\w.]+(</mark>)?</td>)+</tr>)+</table>')


def test_nothing_on_the_page_is_alive_or_comes_from_elsewhere(term):
    ours(term)
    for student in ("ada", "bob", "eve", "tom"):
        text = page(term, student)
        assert "default-src 'none'" in text.split("<body>")[0]
        for tag, attributes in Tags(re.sub(OUR_TABLES, "", text.split("<body>")[1])).found:
            assert tag not in ("script", "iframe", "style", "object", "embed", "link", "form", "base", "svg", "video")
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            assert attributes.get("src", "data:image/").startswith("data:image/")
            assert re.match(r"#|https?:|mailto:", attributes.get("href", "#"))
    bob = page(term, "bob")
    assert "<mfrac>" in bob and "{{ 7 * 7 }}" in bob and "alert(1)" in words(bob)


def test_a_comment_on_right_work_is_shown(term):
    with term.gradebook() as gradebook:
        gradebook.stock.find_comment("double", TINY, TINY, "ada").manual_comment = "Short, good. <b>!</b>"
        gradebook.stock.find_grade("check-double", TINY, TINY, "ada").manual_score = 1
        gradebook.stock.db.commit()
    ours(term)
    said = words(page(term, "ada"))
    assert "Comment of the grader Short, good. <b>!</b>" in said and "Your teacher gave these points." in said


def test_without_a_verdict_the_points_are_still_there(term):
    term.store.path(TINY, "bob").unlink()
    ours(term)
    assert "1.33 / 2" in words(page(term, "bob")) and "not graded" in words(page(term, "bob"))


def test_two_faults_are_two_sentences(term):
    both = ExerciseResult("double", 0.0, 2.0, "failed", (
        graded.squared().checks[0],
        CheckResult("gradient", False, "It flows.", Difference("missing-output", output="gradient"))))
    graded.enter(term, "bob", {}, graded.verdict(both))
    ours(term)
    said = words(page(term, "bob"))
    assert said.count("Seen by 1 of 2 checks") == 2 and "gradient did not come back." in said


@pytest.mark.parametrize("latex", [r"\foo{x}", r"\frac{", "x" * (MAX_FORMULA + 1), "{" * 900, r"\text{<b>\bad}"])
def test_what_is_no_formula_stays_as_it_was_written(latex):
    assert mathml(latex) == f"<code>{html.escape(latex)}</code>"


@pytest.mark.parametrize("source, shown", [
    (r"so $a < b$ holds", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"),
    ("$$\\sum_i h_i$$", '<math display="block">'),
    (r"$\style{background:url(http://x)}{x}$", "<mi>x</mi>"),
])
def test_formulas_need_no_network(source, shown):
    text = rendered(source)
    assert shown in text and "http" not in text and "style=" not in text
