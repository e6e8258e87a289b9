"""Each TP says how long it takes, from one line an exercise, and its core fits into a session."""

import pytest

from autograder.course import Course
from autograder.model.source import Source, cells_of, load_source
from autograder.publish import effort
from conftest import REPOSITORY

WORDS_BEFORE_THE_FIRST_EXERCISE, WORDS = 400, 5_500

LINES = {"*Minutes* 20 · *Difficulty* ●●○○": (20, "●●○○", False),
         "*Minutes* 5 · *Difficulty* ●○○○ · *Extension*": (5, "●○○○", True),
         "*Minutes* 5 · *Difficulty* ●●●● · *Extension*: why.": (5, "●●●●", True)}
NO_LINES = ["", "*Minutes* 20", "*Minutes: 20 · Difficulty: ●●○○*", "*Minutes* 20 · *Difficulty* ●●○",
            "*Minutes* 20 · *Difficulty* ○●○○", "It says *Minutes* 20 · *Difficulty* ●●○○"]


@pytest.fixture
def asking(tmp_path):
    """A course that asks for minutes and difficulty alone."""
    (tmp_path / "course.toml").write_text("[exercises]\neffort = true\n")
    return Course(tmp_path)


def made_of(line, answer="*Minutes* 7", course=REPOSITORY):
    """A TP of one exercise and one question; its text has four words beside these lines and its hint."""
    return Source(course, "tp", cells_of(f"""\
# %% [markdown]
# # Title
# {line}
# <details><summary>Hint 1 · the idea</summary>one hint</details>

# %% exercise="a"
### BEGIN SOLUTION
x = 1
### END SOLUTION

# %% check="a" points=2
1

# %% [markdown] answer="b" points=3
# Why?
#
# {answer}
#
# ### BEGIN SOLUTION
# {"word " * 400}
# ### END SOLUTION
""", "tp"))


@pytest.mark.parametrize("line", LINES)
def test_a_line_says_what_an_exercise_asks(asking, line):
    (exercise, question), (minutes, difficulty, extension) = effort.tasks(made_of(line)), LINES[line]
    assert exercise == effort.Task("exercise", "a", 2, minutes, difficulty, extension)
    assert question == effort.Task("question", "b", 3, 7, "", False)
    assert effort.minutes(made_of(line)) == 7 + (0 if extension else minutes)  # a model answer and hints are not read
    assert effort.minutes(made_of(line), extension=True) == (minutes if extension else 0)
    assert effort.notes(made_of(line, course=asking)) == []


@pytest.mark.parametrize("line", NO_LINES)
def test_an_exercise_without_such_a_line_is_told(asking, line):
    assert [one.name for one in effort.tasks(made_of(line))] == ["b"]
    (said,) = effort.notes(made_of(line, course=asking))
    assert "/solutions/tp/tp.py:6: nothing says how long the exercise a takes" in said


def test_a_question_has_no_difficulty(asking):
    line = "*Minutes* 5 · *Difficulty* ●○○○"
    (said,) = effort.notes(made_of(line, line, asking))
    assert "the answer b takes" in said


@pytest.mark.parametrize("minutes, said", [(1, "5 min"), (55, "55 min"), (56, "1 h"), (61, "1 h 5 min"), (0, "")])
def test_minutes_are_said_up_to_the_next_five(minutes, said):
    assert effort._hours(minutes) == said


def script(*cells):
    """The source of a session of these cells: code below its header, and texts."""
    return "\n\n".join(cell if cell.startswith("# %%") else "# %% [markdown]\n# " + cell.replace("\n", "\n# ")
                       for cell in cells)


def read(*cells, course=REPOSITORY):
    """A session of these cells."""
    return Source(course, "tp", cells_of(script(*cells), "tp"))


def words(number):
    return " ".join(["word"] * number)


EXERCISE = '# %% exercise="a"\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n\n# %% check="a" points=2\n1'
QUESTION = ('# %% [markdown] answer="b" points=3\n# Why?\n#\n# *Minutes* 62 · *Extension*\n#\n'
            "# ### BEGIN SOLUTION\n# Because.\n# ### END SOLUTION")


def test_reading_counts_for_the_part_that_it_stands_in():
    core = [f"# Title\n{words(298)}", f"# %% demo=\"seen\"\n# {words(600)}"]
    assert [effort.minutes(read(*core), extension) for extension in (False, True)] == [2, 0]
    assert effort.minutes(read(f"# Title\n{words(297)}")) == 1
    assert effort.duration(read(*core)) == effort.duration(read("# Title")) == "about 5 min"
    both = read(*core, f"## Extension: more\n{words(447)}", words(150), QUESTION, f"## Core\n{words(148)}")
    assert [effort.minutes(both, extension) for extension in (False, True)] == [3, 4 + 62]
    assert effort.duration(both) == "about 5 min, and 1 h 10 min for the extensions"


def test_a_question_is_shown_without_its_minutes():
    assert effort.without_minutes("Why?\n\n*Minutes* 7\n\nAt *Minutes* 7, and\n*Minutes* many.\n") == (
        "Why?\n\n\n\nAt *Minutes* 7, and\n*Minutes* many.")


def test_an_exercise_without_a_text_has_neither_minutes_nor_hints(tmp_path):
    (tmp_path / "course.toml").write_text("[exercises]\neffort = true\nhints = 2\n")
    alone = read(EXERCISE, course=Course(tmp_path))
    assert effort.tasks(alone) == []
    assert [note.split("tp.py:")[1].split(" takes")[0] for note in effort.notes(alone)] == [
        "1: the exercise a has 0 hints, not 2", "1: nothing says how long the exercise a"]
    below = read("Text", EXERCISE, course=Course(tmp_path))
    assert [note.split("tp.py:")[1][:2] for note in effort.notes(below)] == ["1:", "4:"], "hints belong into the text"


def test_the_table_adds_up_what_each_session_asks(tmp_path):
    for name, cells in {"one": ("# One\n*Minutes* 62 · *Difficulty* ●○○○", EXERCISE),
                        "two": ("# Two\n*Minutes* 7 · *Difficulty* ●●○○ · *Extension*", EXERCISE, QUESTION)}.items():
        (tmp_path / "solutions" / name).mkdir(parents=True)
        (tmp_path / "solutions" / name / f"{name}.py").write_text(script(*cells))
    table = effort.page(Course(tmp_path))
    assert table.startswith("# What each session asks\n\nMinutes are the authors' estimates") and " 150 words" in table
    assert table.split("|--:|\n", 1)[1] == """\
| One | 1\xa0h\xa05\xa0min | – | 1 | 0 | 2 |
| Two | – | 1\xa0h\xa010\xa0min | 1 | 1 | 5 |

## One

| | what | minutes | difficulty | points |
|---|---|--:|---|--:|
| `a` | exercise | 62 | ●○○○ | 2 |

## Two

| | what | minutes | difficulty | points |
|---|---|--:|---|--:|
| `a` | extension: exercise | 7 | ●●○○ | 2 |
| `b` | extension: question | 62 |  | 3 |
"""


@pytest.mark.parametrize("name", REPOSITORY.sessions)
def test_every_session_says_how_long_it_takes_and_its_core_fits_into_2_h_45(name):
    tp = load_source(REPOSITORY, name)
    assert effort.notes(tp) == []
    assert 60 <= effort.minutes(tp) <= 165
    assert sum(cell.source.count(effort.TIME) for cell in tp.cells) == 1


@pytest.mark.parametrize("name", REPOSITORY.sessions)
def test_what_a_student_reads_is_short(name):
    words, before = 0, None
    for cell in load_source(REPOSITORY, name).cells:
        if cell.is_markdown:
            words += len(effort._HINTS.sub("", cell.source.replace(cell.hidden, "")).split())
        if cell.role == "exercise" and before is None:
            before = words
    assert before <= WORDS_BEFORE_THE_FIRST_EXERCISE and words <= WORDS


def test_a_course_that_asks_for_minutes_and_has_docs_has_a_page(asking, tmp_path):
    assert effort.pages(asking) == {}
    (tmp_path / "docs").mkdir()
    assert effort.pages(asking) == {tmp_path / "docs" / "sessions.md": effort.page(asking)}


def test_a_course_that_asks_for_nothing_is_told_nothing_and_has_no_page(tmp_path):
    course = Course(tmp_path)
    (tmp_path / "docs").mkdir()
    assert effort.pages(course) == {}
    assert effort.notes(made_of("", course=course)) == []


@pytest.mark.parametrize("wanted, told", [(0, []), (1, []), (3, ["the exercise a has 1 hints, not 3"])])
def test_a_course_says_how_many_hints_there_are(tmp_path, wanted, told):
    (tmp_path / "course.toml").write_text(f"[exercises]\nhints = {wanted}\n")
    found = effort.notes(made_of("", course=Course(tmp_path)))
    assert [one.split(": ")[1] for one in found] == told


def test_the_table_has_every_exercise_and_question():
    page = effort.page(REPOSITORY)
    for name in REPOSITORY.sessions:
        tp = load_source(REPOSITORY, name)
        assert f"| {tp.title} |" in page and f"## {tp.title}\n" in page
        assert all(f"| `{one.name}` |" in page for one in effort.tasks(tp))
