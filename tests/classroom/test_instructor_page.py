"""The page for instructors: its words are the source's, it fits eight slides, and students are given nothing of it."""

import re
import zipfile

import pytest

from autograder import cli
from autograder.classroom import instructor_page
from autograder.classroom.questions import questions_of
from autograder.model import source
from autograder.model.source import load_source
from autograder.publish import effort
from autograder.publish.kit import write_kit
from conftest import REPOSITORY, TINY, TINY_COURSE

SESSION = load_source(REPOSITORY, "tp4_inference")


def flat(text):
    return " ".join(text.split())


@pytest.mark.parametrize("name", REPOSITORY.sessions)
def test_a_session_opens_with_eight_slides_in_words_of_its_source(name):
    tp = load_source(REPOSITORY, name)
    made, said = instructor_page.slides(tp), flat(" ".join(cell.source for cell in tp.by_role("text")))
    assert len(made) == instructor_page.SLIDES and made[0].heading == tp.title
    assert sum(slide.kind == "picture" for slide in made) >= 1
    for slide in made[3:]:
        assert slide.heading in said and all(flat(part) in said for part in slide.body.split("\n\n")[-1:])


def test_a_session_without_pictures_or_reading_has_the_slides_that_there_are():
    made = instructor_page.slides(load_source(TINY_COURSE, TINY))
    assert [slide.heading for slide in made[:2]] == [load_source(TINY_COURSE, TINY).title, "Plan"]


def test_a_slide_has_the_first_picture_of_its_section_wherever_in_it_that_stands():
    texts = ("# T\n\nWords.", "## 1 · One\n\nIt opens.", "### Exercise 1\n\nDo.\n\n![p](figures/one.svg)",
             "## 2 · Two\n\nEnd.")
    cells = tuple(source.Cell("text", "", text) for text in texts)
    made = instructor_page.slides(source.Source(TINY_COURSE, "t", cells))
    assert [(s.heading, s.body, s.kind) for s in made[2:]] == [
        ("1 · One", "It opens.\n\n![p](figures/one.svg)", "picture"), ("2 · Two", "End.\n\n", "")]


def test_a_slide_has_the_first_two_whole_sentences_of_a_section_that_opens_with_a_formula():
    text = "## 1 · One\n\n`f` joins two. It has a state:\n\n$$ h $$\n\nMore. And more."
    cells = tuple(source.Cell("text", "", text) for text in ("# T\n\nWords.", text))
    assert instructor_page.slides(source.Source(TINY_COURSE, "t", cells))[2].body == "`f` joins two.\n\n"


def test_every_section_that_is_shown_has_words_and_questions_do_not_repeat_their_minutes():
    for name in REPOSITORY.sessions:
        tp = load_source(REPOSITORY, name)
        assert all(slide.body.split("\n\n")[0] for slide in instructor_page.slides(tp))
        assert not any("*Minutes*" in question.text for question in questions_of(tp))


def test_the_short_path_and_further_reading_are_those_of_the_text():
    opening = source.Cell("text", "", "# T\n\n**Time:** 2 h. **In 90 minutes:** exercises 1 to 6. **You need:** 1.")
    short = source.Source(TINY_COURSE, "t", (opening,))
    assert instructor_page.short_path(short) == "**In 90 minutes:** exercises 1 to 6."
    assert instructor_page.short_path(load_source(TINY_COURSE, TINY)) == ""
    assert instructor_page.further_reading(SESSION).startswith("- Bengio")
    assert instructor_page.further_reading(load_source(TINY_COURSE, TINY)) == ""


@pytest.mark.parametrize("name", REPOSITORY.sessions)
def test_the_exercises_and_questions_of_the_short_path_leave_time_to_read(name):
    tp = load_source(REPOSITORY, name)
    named = re.findall(r"\b(exercise|question)s? (\d+(?:(?: to |, | and )\d+)*)", instructor_page.short_path(tp))
    minutes = 0
    for kind, numbers in named:
        of_kind = [task.minutes for task in effort.tasks(tp) if task.kind == kind]
        spans = re.findall(r"(\d+)(?: to (\d+))?", numbers)
        minutes += sum(sum(of_kind[int(first) - 1:int(last or first)]) for first, last in spans)
    assert named and 60 <= minutes <= 80


def test_five_faults_are_shown_one_of_an_exercise_in_the_order_of_the_session():
    shown = instructor_page.five_faults(SESSION)
    assert len(shown) == instructor_page.FAULTS == len({fault.exercise for fault in shown})
    order = [SESSION.exercises.index(fault.exercise) for fault in shown]
    assert order == sorted(order) and {"decode-sequence", "beam-search"} <= {fault.exercise for fault in shown}


def test_the_page_holds_answers_and_says_for_whom_it_is():
    page = instructor_page.page(REPOSITORY, "tp4_inference")
    assert "For instructors only" in page and page.count('<section class="slide') == instructor_page.SLIDES
    assert all(f"<code>{cell.name}</code> · " in page for cell in SESSION.by_role("answer"))
    assert "data:image/svg+xml" in page and 'src="figures' not in page and "<script" not in page


def test_pack_writes_a_page_for_each_session(tmp_path, capsys):
    command = ["--course", str(TINY_COURSE.root), "pack", "instructor", "--out", str(tmp_path)]
    assert cli.main(command) == 0
    assert [path.name for path in tmp_path.iterdir()] == [f"{TINY}.html"]
    assert "for instructors alone" in capsys.readouterr().out


def test_students_are_given_nothing_of_it(tmp_path):
    write_kit(REPOSITORY, tmp_path / "kit.zip")
    answer = questions_of(SESSION)[0].rubric.items[0].description
    with zipfile.ZipFile(tmp_path / "kit.zip") as packed:
        assert not any("instructor" in name for name in packed.namelist())
        assert not any(answer.encode() in packed.read(name) for name in packed.namelist())
