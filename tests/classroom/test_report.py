"""The class report on made-up classes: it counts right, hostile words stay words, and everybody can read it."""

import csv
import html.parser
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from autograder import cli, escaping
from autograder.classroom import grades, report
from autograder.classroom.nbgrader.config import configure
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.verdict_store import StoredVerdict, VerdictKey
from autograder.course import Course
from autograder.judging.verdict import ExerciseResult, Outcome, Verdict
from autograder.runtime import colours
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.difference import Difference
from autograder.runtime.findings import CheckResult
from autograder.sandbox.options import Options
from browser import chromium_page

STYLE = Path(report.__file__).parent / "templates" / "page.css"
MADE_UP = "tp9_made_up"
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "=cmd|' /C calc'!A0",
           "Robert'); DROP TABLE grade;--", "a" * 200, "größe 漢字 \U0001f600", "&lt;b&gt;", "$\\frac{1}{2}$",
           "{{ 7 * 7 }}", "\u202egnihton\u202c", "محمد.علي"]
OUTCOMES = [outcome for outcome in get_args(Outcome) if outcome != "missing"]
EMPTY = grades.Grades([], {}, {})


def wrong(check, reason, fault=None):
    """A check that failed for a reason in words, perhaps recognised as a fault."""
    known = RecognisedFault(fault, f"You made the fault {fault}.") if fault else None
    return CheckResult(check, False, "Asks for `this`.", Difference("not-checked", reason=reason), known)


def entry(student, verdict):
    return StoredVerdict(student, verdict, VerdictKey("", "", Options()), entered=True)


def made_up(rng, student, session=MADE_UP, exercises=3):
    """An entry with a verdict as the judge writes them, drawn at random."""
    results = []
    for i in range(exercises):
        outcome, points = str(rng.choice(OUTCOMES)), float(i + 2)
        passed = {"passed": [True, True], "partial": [True, False]}.get(outcome, [False, False])
        checks = tuple(
            CheckResult(f"check-{j}", True, "Asks for `this`.") if ok else
            wrong(f"check-{j}", str(rng.choice(HOSTILE)), str(rng.choice(["swapped", "forgotten"])))
            for j, ok in enumerate(passed))
        results.append(ExerciseResult(f"exercise-{i}", points * sum(passed) / 2, points, outcome, checks,
                                      float(rng.uniform(0.1, 40))))
    return entry(student, Verdict(
        session=session, points=sum(r.points for r in results), max_points=sum(r.max_points for r in results),
        isolation="bubblewrap", device="cpu", seconds=float(rng.uniform(1, 90)), seed="5eed",
        notes=(str(rng.choice(HOSTILE)),), exercises=tuple(results)))


def changed(one, outcomes=None, **verdict):
    """The entry with other results of its exercises (name → outcome, or one for all), and else another verdict."""
    if isinstance(outcomes, str):
        outcomes = {result.exercise: outcomes for result in one.verdict.exercises}
    exercises = tuple(replace(result, outcome=(outcomes or {}).get(result.exercise, result.outcome))
                      for result in one.verdict.exercises)
    return replace(one, verdict=replace(one.verdict, exercises=exercises, **verdict))


def with_check(one, check, **exercise):
    """The entry with this check alone in its only exercise, and the exercise changed."""
    result = replace(one.verdict.exercises[0], checks=(check,), **exercise)
    return changed(replace(one, verdict=replace(one.verdict, exercises=(result,))))


def unreadable(rng, student):
    nothing = wrong("submission", "it is empty")
    verdict = made_up(rng, student).verdict
    results = tuple(replace(result, points=0.0, outcome="missing", checks=(nothing,)) for result in verdict.exercises)
    return entry(student, replace(verdict, points=0.0, seconds=0.0, exercises=results, ungraded_reason="it is empty"))


class Reader(html.parser.HTMLParser):
    """The tags of a page, and its tables as rows of text; a cell over several rows stands in each."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.tables, self.cell, self.spans = [], [], None, {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "table":
            self.tables.append([])
            self.spans = {}
        elif tag == "tr":
            self.tables[-1].append([])
            self.fill()
        elif tag in ("th", "td"):
            self.cell, self.rows = "", int(dict(attributes).get("rowspan", 1))

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            row = self.tables[-1][-1]
            self.spans[len(row)] = (self.cell, self.rows - 1)
            row.append(self.cell)
            self.cell = None
            self.fill()

    def fill(self):
        """Cells of rows above that reach down into this one."""
        row = self.tables[-1][-1]
        while self.spans.get(len(row), ("", 0))[1]:
            text, left = self.spans[len(row)]
            self.spans[len(row)] = text, left - 1
            row.append(text)

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def table(self, *header):
        return next(table[1:] for table in self.tables if tuple(table[0][: len(header)]) == header)


def class_page(entries, table=EMPTY, session=MADE_UP):
    return report.class_page({session: entries}, table, {}, {})


@pytest.fixture(params=range(3))
def drawn(rng):
    """A class of random size in a TP of random size."""
    exercises = int(rng.integers(1, 6))
    return [made_up(rng, f"student-{i}", exercises=exercises) for i in range(rng.integers(3, 40))]


def test_rates_and_faults_are_counted(drawn):
    page = Reader(class_page(drawn))
    results = [(one.student, result) for one in drawn for result in one.verdict.exercises]
    for name, points, average, rate, tells_apart, *counted, seconds, longest in page.table("exercise", "points"):
        found = [result for _, result in results if result.exercise == name]
        assert float(points) == found[0].max_points
        assert float(average) == pytest.approx(np.mean([result.points for result in found]), abs=0.006)
        counts = [sum(result.outcome == outcome for result in found) for outcome in get_args(Outcome)]
        assert rate == f"{100 * counts[0] / len(found):.0f} %"
        assert counted == [str(count or "–") for count in counts]
        took = [result.seconds for result in found]
        assert (float(seconds), float(longest)) == pytest.approx((np.median(took), max(took)), abs=0.006)
        rest = [one.verdict.points - result.points for one, (_, result) in zip(
            [one for one in drawn for _ in one.verdict.exercises], results, strict=True) if result.exercise == name]
        if len(found) >= 5 and np.std([result.points for result in found]) and np.std(rest) > 1e-9:
            expected = np.corrcoef([result.points for result in found], rest)[0, 1]
            assert float(tells_apart) == pytest.approx(expected, abs=0.006)
        else:
            assert tells_apart == "–"
    for exercise, name, _, counted, _ in page.table("exercise", "check"):
        found = [check.passed for _, result in results if result.exercise == exercise
                 for check in result.checks if check.check == name]
        assert counted == f"{sum(found)} of {len(found)}"
    order = []
    for students, exercise, fault, says in page.table("students", "exercise", "fault"):
        makers = {student for student, result in results if result.exercise == exercise
                  for check in result.checks if check.fault and check.fault.name == fault}
        assert int(students) == len(makers) and all(f"{maker}" in says for maker in makers)
        order.append(len(makers))
    assert order == sorted(order, reverse=True)


def test_who_needs_a_look(rng):
    whole = {name: changed(made_up(rng, name), "passed") for name in ("fine", "open", "dead", "slow", "blank")}
    entries = [
        whole["fine"],
        changed(whole["open"], isolation="none"),
        changed(whole["dead"], {"exercise-1": "crashed"}),
        changed(whole["slow"], {"exercise-2": "timeout"}),
        changed(whole["blank"], "missing"),
        unreadable(rng, "rubbish"),
    ]
    table = grades.Grades([("absent", "", "", ""), ("fine", "", "", "")], {MADE_UP: 9.0}, {})
    page = Reader(class_page(entries, table))
    assert {row[0]: row[2] for row in page.table("student", "session", "why")} == {
        "open": "graded without isolation", "dead": "crashed: exercise-1", "slow": "took too long: exercise-2",
        "blank": "no exercise is written", "rubbish": "not graded: it is empty", "absent": "handed in nothing"}


def test_a_class_that_nobody_needs_to_look_at_says_so(rng):
    page = class_page([changed(made_up(rng, "ada"), "passed")])
    assert "None: every submission could be read" in page


def test_files_that_cannot_be_read_do_not_count_in_the_rates(rng):
    page = class_page([unreadable(rng, "a"), unreadable(rng, "b")])
    assert "2 of them could not be graded; figures by exercise leave them out." in page and "Exercises" not in page


def test_a_tp_without_verdicts_or_without_exercises_has_a_report(rng):
    nothing = made_up(rng, "ada", exercises=0)
    page = report.class_page({MADE_UP: [nothing], "tp8_empty": []}, EMPTY, {}, {})
    assert "1 submission graded, of 1 session" in page and "Exercises" not in page and "None: every" in page


@pytest.mark.parametrize("name", HOSTILE)
def test_words_of_students_stay_words(name, rng):
    one = with_check(made_up(rng, name, exercises=1), wrong("check-0", name), outcome="crashed")
    one = changed(one, notes=(name,), seed=name)
    for text in (class_page([one]), class_page([one, changed(one, ungraded_reason=name)])):
        page = Reader(text)
        assert not {tag for tag, _ in page.tags} & {"script", "img", "iframe", "b", "object", "embed", "link"}
        assert not [key for _, attributes in page.tags for key in attributes if key.startswith("on")]
        assert any(escaping.line(name) in cell for table in page.tables for row in table for cell in row)


def test_backticks_are_code_and_nothing_else(rng):
    said = wrong("check-0", "no", "squared: look at `dim=<1>`, not at <b>`")
    page = class_page([with_check(made_up(rng, "ada", exercises=1), said)])
    assert "look at <code>dim=&lt;1&gt;</code>, not at &lt;b&gt;`" in page


def test_the_page_is_one_file_and_its_charts_have_captions(drawn):
    twice = [changed(one, session="tp8_again") for one in drawn]
    text = report.class_page({MADE_UP: drawn, "tp8_again": twice}, EMPTY, {}, {})
    page = Reader(text)
    assert not re.search(r'(src|href)="(https?:)?//', text) and "url(http" not in text and "@import" not in text
    assert text.count("<figcaption>") == text.count("<figure>") == 2 and "<img" not in text and "<svg" not in text
    assert [attributes.get("class") for _, attributes in page.tags].count("bars") == 2
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {attributes["href"] for tag, attributes in page.tags if tag == "a"}
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert text.count("<caption>") == text.count("<table") > 3
    heads = [attributes.get("scope") for tag, attributes in page.tags if tag == "th"]
    assert set(heads) == {"col", "row"}
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:], strict=False))


def test_values_are_counted_by_tenths_of_their_range():
    assert report.tenths([0.0, 0.5, 0.99, 1.0, 9.5, 10.0], 10.0) == [3, 1, 0, 0, 0, 0, 0, 0, 0, 2]


def test_a_bar_is_as_long_as_its_number_says(drawn):
    page = class_page(drawn)
    bars = re.findall(r'--length: ([\d.]+)"></i>(\d+|–)', page)
    counts = [0 if number == "–" else int(number) for _, number in bars]
    assert len(bars) == 10 and sum(counts) == len(drawn)
    assert [float(length) for length, _ in bars] == [round(n / max(counts), 3) for n in counts]


def contrast(first, second):
    """The contrast ratio of two colours #rrggbb, from 1 to 21."""
    light = sorted(colours.luminance(colours.parts(colour)) for colour in (first, second))
    return (light[1] + 0.05) / (light[0] + 0.05)


def test_colours_can_be_read_in_light_and_dark():
    palettes = [dict(re.findall(r"--(\w+): (#\w{6})", line)) for line in re.findall("--page:.*", STYLE.read_text())]
    assert len(palettes) == 2
    for palette in palettes:
        for name in ("ink", "soft", "link", "bar"):
            assert contrast(palette["page"], palette[name]) >= 4.5, name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off_on_a_phone(scheme, drawn, rng, tmp_path):
    long = [made_up(rng, name) for name in HOSTILE]
    pages = {"index.html": class_page([*drawn, *long])}
    expected = {"light": ("rgb(31, 36, 48)", "rgb(11, 98, 164)"), "dark": ("rgb(236, 238, 243)", "rgb(109, 184, 242)")}
    with chromium_page(color_scheme=scheme, viewport={"width": 390, "height": 800}) as page:
        for name, text in pages.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
            page.goto((tmp_path / name).as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert page.evaluate("[...document.querySelectorAll('.prose')].every(cell =>"
                                 " cell.getBoundingClientRect().right <= innerWidth)")
        page.goto((tmp_path / "index.html").as_uri())
        ink, bar = (page.evaluate(f"getComputedStyle(document.querySelector('{part}')).{colour}")
                    for part, colour in ((".bars span", "color"), (".bars i", "borderLeftColor")))
    assert (ink, bar) == expected[scheme]


# Grades out of a gradebook


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """nbgrader's gradebook of two TPs: ada in both, bob in one and late, with odd names, nil who handed in nothing."""
    config, root = Config(), tmp_path_factory.mktemp("course")
    configure(config, root)
    with Gradebook(config.CourseDirectory.db_url) as gradebook:
        for name, points in (("tp1_one", 6.0), ("tp2_two", 4.0)):
            gradebook.add_assignment(name)
            gradebook.add_notebook(name, name)
            gradebook.add_grade_cell("check-a", name, name, max_score=points, cell_type="code")
            gradebook.add_grade_cell("why", name, name, max_score=3, cell_type="markdown")
        gradebook.add_student("ada", last_name="Lovelace", first_name="Ada", email="ada@example.org")
        gradebook.add_student("bob", last_name="=1+1", first_name="Points Possible")
        gradebook.add_student("nil")
        for student, name, automatic, written, penalty in (
            ("ada", "tp1_one", 6, 2.5, None), ("ada", "tp2_two", 1.25, None, None), ("bob", "tp1_one", 3, 1, 100),
        ):
            gradebook.add_submission(name, student)
            check = gradebook.find_grade("check-a", name, name, student)
            answer = gradebook.find_grade("why", name, name, student)
            check.auto_score, check.needs_manual_grade = automatic, False
            answer.manual_score, answer.needs_manual_grade = written, written is None
            gradebook.find_submission_notebook(name, name, student).late_submission_penalty = penalty
        gradebook.db.commit()
    return root / "gradebook" / "gradebook.db"


@pytest.fixture
def classroom(database, tmp_path):
    """A course with a copy of that gradebook, and no verdict yet."""
    course = Course(tmp_path)
    course.solutions.mkdir()
    course.gradebook.mkdir()
    shutil.copy(database, course.gradebook)
    (tmp_path / "nbgrader_config.py").write_text(
        "from pathlib import Path\n"
        "from autograder.classroom.nbgrader.config import configure\n"
        "configure(get_config(), Path(__file__).resolve().parent)\n")
    return Term(course)


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_grades_as_csv(classroom, rng):
    folder = classroom.course.gradebook
    for student in ("ada", "bob"):
        classroom.store.save(made_up(rng, student, "tp1_one"))
    page = report.write(classroom, ["tp1_one"]).read_text()
    assert "handed in nothing" in page and "nil" in page
    with classroom.gradebook() as gradebook:
        grades.write(gradebook.grades(["tp1_one", "tp2_two"]), folder)
    assert [row[0:1] + row[4:] for row in rows(folder / "grades.csv")[1:]] == [
        ["ada", "tp1_one", "6", "2.5", "0", "8.5", "9", "no"],
        ["ada", "tp2_two", "1.25", "0", "0", "1.25", "7", "yes"],
        ["bob", "tp1_one", "3", "1", "100", "0", "9", "no"]]
    assert rows(folder / "moodle-tp1_one.csv") == [
        ["Username", "Last name", "First name", "Email address", "tp1_one", "tp1_one of 100"],
        ["ada", "Lovelace", "Ada", "ada@example.org", "8.5", "94.4444"],
        ["bob", "'=1+1", "Points Possible", "", "0", "0"]]
    assert [row[0] for row in rows(folder / "moodle-tp2_two.csv")] == ["Username", "ada"]  # nobody loses a grade
    assert rows(folder / "canvas-tp1_one.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "tp1_one"],
        ["    Points Possible", "", "", "", "", "9"],
        ["Lovelace, Ada", "", "", "ada", "", "8.5"],
        ["'=1+1, Points possible", "", "", "bob", "", "0"]]
    assert [row[3] for row in rows(folder / "canvas-tp2_two.csv")[2:]] == ["ada"]
    assert not (folder / "canvas.csv").exists()


def test_broken_and_hidden_files_among_the_verdicts_are_passed_over(classroom, rng):
    classroom.store.save(made_up(rng, "ada", "tp1_one"))
    folder = classroom.store.path("tp1_one", "ada").parent
    (folder / "bob.json").write_text("{ cut off")
    (folder / ".eve.json.123").write_text("{}")
    (folder.parent / "tp2_two").mkdir()
    (folder.parent / "tp3_three").mkdir()
    (folder.parent / "tp3_three" / "bob.json").write_text("{ cut off")
    assert classroom.store.sessions() == ["tp1_one", "tp3_three"]
    assert [found.student for found in classroom.store.entries("tp1_one")] == ["ada"]
    assert "1 submission graded, of 1 session" in report.write(classroom, ["tp1_one", "tp3_three"]).read_text()


def test_what_is_not_graded_is_said_in_one_line(classroom, rng, capsys):
    classroom.store.save(made_up(rng, "ada"))
    assert cli.main(["--course", str(classroom.course.root), "report", "tp1_unknown"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert "nothing is graded of tp1_unknown; there is: tp9_made_up" in err


def test_the_command_prints_where_the_page_is(classroom, rng, capsys):
    command = ["--course", str(classroom.course.root), "report"]
    assert cli.main(command) == 0 and "Nothing is graded yet" in capsys.readouterr().out
    classroom.store.save(made_up(rng, "ada", "tp1_one"))
    assert cli.main(command) == 0
    assert capsys.readouterr().out.strip() == str(classroom.course.gradebook / "report" / "index.html")


def test_a_known_fault_is_said_in_the_teachers_words(rng):
    one = with_check(made_up(rng, "ada", exercises=1), wrong("a", "too late", "squared"), exercise="double")
    (row,) = Reader(class_page([one])).table("students", "exercise", "fault")
    assert row[:3] == ["1", "double", "squared"] and row[3].startswith("You made the fault squared.")
