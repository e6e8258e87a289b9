"""The class report on made-up classes: what it counts, that hostile words stay words, and that everybody can read it."""

import csv
import html.parser
import json
import re
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from browser import chromium_page
from nbgrader.api import Gradebook
from test_accessibility import contrast
from traitlets.config import Config

from autograder import cli, grades, report, source
from autograder.nbgrader_plugins import configure
from autograder.records import Records

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "=cmd|' /C calc'!A0", "Robert'); DROP TABLE grade;--", "a" * 200, "größe 漢字 \U0001f600", "&lt;b&gt;", "$\\frac{1}{2}$"]
WORDS = [word for word in report.VERDICTS if word != "missing"]


def made_up(rng, student, tp="tp9_made_up", exercises=3):
    """A verdict as the judge writes them, drawn at random."""
    results = []
    for i in range(exercises):
        word, points = str(rng.choice(WORDS)), float(i + 2)
        passed = {"passed": [True, True], "partial": [True, False]}.get(word, [False, False])
        checks = [{"check": f"check-{j}", "passed": ok, "message": "Asks for `this`." if ok else f"Wrong. {rng.choice(HOSTILE)}",
                   "mistake": None if ok else str(rng.choice(["swapped", "forgotten"]))} for j, ok in enumerate(passed)]
        results.append({"exercise": f"exercise-{i}", "score": points * sum(passed) / 2, "max_score": points, "verdict": word, "checks": checks})
    return {"student": student, "assignment": tp, "score": sum(r["score"] for r in results), "max_score": sum(r["max_score"] for r in results),
            "isolation": "bubblewrap", "device": "cpu", "seconds": float(rng.uniform(1, 90)), "seed": "5eed", "notes": [str(rng.choice(HOSTILE))], "exercises": results}


def unreadable(student):
    verdict = made_up(np.random.default_rng(0), student)
    for result in verdict["exercises"]:
        result.update(score=0.0, verdict="missing", checks=[{"check": "submission", "passed": False, "message": "Nothing to grade: it is empty.", "mistake": None}])
    return {**verdict, "score": 0.0, "seconds": 0.0, "unreadable": "it is empty"}


EMPTY = grades.Grades([], {}, {})


class Reader(html.parser.HTMLParser):
    """The tags of a page, and its tables as rows of text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.tables, self.cell = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.cell = ""

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            self.tables[-1][-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def table(self, *header):
        return next(table[1:] for table in self.tables if tuple(table[0][: len(header)]) == header)


@pytest.fixture(params=[1, 2, 3])
def drawn(request):
    """A class of random size in a TP of random size."""
    rng = np.random.default_rng(request.param)
    exercises = int(rng.integers(1, 6))
    return [made_up(rng, f"student-{i}", exercises=exercises) for i in range(rng.integers(3, 40))]


def test_rates_and_mistakes_are_counted(drawn):
    page = Reader(report.class_page({"tp9_made_up": drawn}, EMPTY))
    for name, points, average, rate, passed, *_ in page.table("exercise", "points"):
        results = [r for v in drawn for r in v["exercises"] if r["exercise"] == name]
        assert float(points) == results[0]["max_score"]
        assert float(average) == pytest.approx(np.mean([r["score"] for r in results]), abs=0.006)
        full = sum(r["verdict"] == "passed" for r in results)
        assert rate == f"{100 * full / len(results):.0f} %" and passed == (str(full) if full else "–")
    for exercise, check, _, counted, _ in page.table("exercise", "check"):
        found = [c["passed"] for v in drawn for r in v["exercises"] if r["exercise"] == exercise for c in r["checks"] if c["check"] == check]
        assert counted == f"{sum(found)} of {len(found)}"
    counts = []
    for students, exercise, mistake, says in page.table("students", "exercise", "mistake"):
        makers = {v["student"] for v in drawn for r in v["exercises"] if r["exercise"] == exercise for c in r["checks"] if c["mistake"] == mistake}
        assert int(students) == len(makers) and says
        counts.append(len(makers))
    assert counts == sorted(counts, reverse=True)


def test_who_needs_a_look():
    rng = np.random.default_rng(4)
    verdicts = {name: made_up(rng, name) for name in ("fine", "open", "dead", "slow", "blank")}
    for verdict in verdicts.values():
        for result in verdict["exercises"]:
            result["verdict"] = "passed"
    verdicts["open"]["isolation"] = "none"
    verdicts["dead"]["exercises"][1]["verdict"] = "crashed"
    verdicts["slow"]["exercises"][2]["verdict"] = "timeout"
    for result in verdicts["blank"]["exercises"]:
        result["verdict"] = "missing"
    verdicts["rubbish"] = unreadable("rubbish")
    table = grades.Grades([("absent", "", "", ""), ("fine", "", "", "")], {"tp9_made_up": 9.0}, {})
    page = Reader(report.class_page({"tp9_made_up": list(verdicts.values())}, table))
    assert {row[0]: row[2] for row in page.table("student", "TP", "why")} == {
        "open": "graded without isolation", "dead": "crashed: exercise-1", "slow": "timed out: exercise-2", "blank": "nothing written",
        "rubbish": "cannot be read: it is empty", "absent": "handed in nothing"}


def test_a_class_that_nobody_needs_to_look_at_says_so():
    verdict = made_up(np.random.default_rng(5), "ada")
    for result in verdict["exercises"]:
        result["verdict"] = "passed"
    assert "Nobody: every submission could be read" in report.class_page({"tp9_made_up": [verdict]}, EMPTY)


def test_files_that_cannot_be_read_do_not_count_in_the_rates():
    page = report.class_page({"tp9_made_up": [unreadable("a"), unreadable("b")]}, EMPTY)
    assert "2 files could not be read" in page and "Exercises" not in page


@pytest.mark.parametrize("name", HOSTILE)
def test_words_of_students_stay_words(name):
    verdict = made_up(np.random.default_rng(6), name)
    verdict["exercises"][0].update(verdict="crashed", checks=[{"check": "check-0", "passed": False, "message": name, "mistake": None}])
    verdict["notes"], verdict["seed"] = [name], name
    for text in (report.class_page({"tp9_made_up": [verdict, {**verdict, "unreadable": name}]}, EMPTY), report.student_page(name, [verdict], EMPTY)):
        page = Reader(text)
        assert not {tag for tag, _ in page.tags} & {"script", "img", "iframe", "b", "object", "embed", "link"}
        assert not [key for _, attributes in page.tags for key in attributes if key.startswith("on")]
        assert any(name in cell for table in page.tables for row in table for cell in row)


def test_the_page_is_one_file_and_says_its_pictures_in_words(drawn):
    text = report.class_page({"tp9_made_up": drawn}, EMPTY)
    page = Reader(text)
    assert not re.search(r'(src|href)="(https?:)?//', text) and "url(http" not in text
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(pictures) == 3 and all(p["role"] == "img" and len(p["aria-label"].split()) > 5 for p in pictures)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert text.count("<caption>") == text.count("<table>") > 3
    heads = [attributes.get("scope") for tag, attributes in page.tags if tag == "th"]
    assert set(heads) == {"col", "row"}
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:]))


def test_colours_can_be_read_in_light_and_dark():
    for palette in re.findall(r"--page: [^}]+", report.STYLE):
        colours = dict(re.findall(r"--(\w+): (#\w+)", palette))
        page = colours.pop("page") if len(colours["page"]) == 7 else "#ffffff"
        for name in ("ink", "soft", "link", "bar"):
            assert contrast(page, colours[name]) >= 4.5, name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off_on_a_phone(scheme, drawn, tmp_path):
    path = tmp_path / "index.html"
    path.write_text(report.class_page({"tp9_made_up": drawn}, EMPTY), encoding="utf-8")
    with chromium_page(color_scheme=scheme, viewport={"width": 390, "height": 800}) as page:
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        ink, bar = page.evaluate("[getComputedStyle(document.querySelector('svg text')).fill, getComputedStyle(document.querySelector('svg path[style*=bar]')).fill]")
    assert (ink, bar) == {"light": ("rgb(31, 36, 48)", "rgb(11, 98, 164)"), "dark": ("rgb(236, 238, 243)", "rgb(109, 184, 242)")}[scheme]


# Grades out of a gradebook


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """nbgrader's gradebook of two TPs: ada in both, bob in one and late, with odd names, and one who handed in nothing."""
    config, root = Config(), tmp_path_factory.mktemp("course")
    configure(config, root)
    with Gradebook(config.CourseDirectory.db_url) as gradebook:
        for tp, points in (("tp1_one", 6.0), ("tp2_two", 4.0)):
            gradebook.add_assignment(tp)
            gradebook.add_notebook(tp, tp)
            gradebook.add_grade_cell("check-a", tp, tp, max_score=points, cell_type="code")
            gradebook.add_grade_cell("why", tp, tp, max_score=3, cell_type="markdown")
        gradebook.add_student("ada", last_name="Lovelace", first_name="Ada", email="ada@example.org")
        gradebook.add_student("bob", last_name="=1+1", first_name="Points Possible")
        gradebook.add_student("nil")
        for student, tp, automatic, written, penalty in (("ada", "tp1_one", 6, 2.5, None), ("ada", "tp2_two", 1.25, None, None), ("bob", "tp1_one", 3, 1, 100)):
            gradebook.add_submission(tp, student)
            check, answer = gradebook.find_grade("check-a", tp, tp, student), gradebook.find_grade("why", tp, tp, student)
            check.auto_score, check.needs_manual_grade = automatic, False
            answer.manual_score, answer.needs_manual_grade = written, written is None
            gradebook.find_submission_notebook(tp, tp, student).late_submission_penalty = penalty
        gradebook.db.commit()
    return root / "gradebook" / "gradebook.db"


@pytest.fixture
def course(database, tmp_path):
    """A course with a copy of that gradebook, and no verdict yet."""
    copy = shutil.copy(database, tmp_path / "gradebook.db")
    return SimpleNamespace(root=tmp_path, gradebook=lambda: Gradebook(f"sqlite:///{copy}"))


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_grades_as_csv(course):
    rng = np.random.default_rng(7)
    for student in ("ada", "bob"):
        Records(course.root).save("tp1_one", student, made_up(rng, student, "tp1_one"))
    page = report.write(course, ["tp1_one"]).read_text()
    assert "handed in nothing" in page and "nil" in page
    with course.gradebook() as gradebook:
        grades.write(grades.read(gradebook), course.root)
    assert [row[0:1] + row[4:] for row in rows(course.root / "grades.csv")[1:]] == [
        ["ada", "tp1_one", "6", "2.5", "0", "8.5", "9", "no"],
        ["ada", "tp2_two", "1.25", "0", "0", "1.25", "7", "yes"],
        ["bob", "tp1_one", "3", "1", "100", "0", "9", "no"]]
    assert rows(course.root / "moodle.csv") == [
        ["Username", "Last name", "First name", "Email address", "tp1_one", "tp2_two"],
        ["ada", "Lovelace", "Ada", "ada@example.org", "8.5", "1.25"], ["bob", "'=1+1", "Points Possible", "", "0", "-"], ["nil", "", "", "", "-", "-"]]
    assert rows(course.root / "canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "tp1_one", "tp2_two"], ["    Points Possible", "", "", "", "", "9", "7"],
        ["Lovelace, Ada", "", "", "ada", "", "8.5", "1.25"], ["'=1+1, Points possible", "", "", "bob", "", "0", ""], ["nil", "", "", "nil", "", "", ""]]


def test_a_page_for_one_student(course):
    Records(course.root).save("tp1_one", "ada", made_up(np.random.default_rng(8), "ada", "tp1_one"))
    text = report.write_student(course, ["tp1_one"], "ada").read_text()
    assert "Grade: 6 automatic + 2.5 for written answers − 0 for lateness = 8.5 of 9." in text and "5eed" in text and "bob" not in text


def test_broken_and_hidden_files_among_the_verdicts_are_passed_over(tmp_path):
    folder = tmp_path / "gradebook" / "verdicts" / "tp1_one"
    folder.mkdir(parents=True)
    (folder / "ada.json").write_text(json.dumps(made_up(np.random.default_rng(9), "ada", "tp1_one")))
    (folder / "bob.json").write_text("{ cut off")
    (folder / ".eve.json.123").write_text("{}")
    (folder.parent / "tp2_two").mkdir()
    assert report.graded(tmp_path) == ["tp1_one"]
    assert [v["student"] for v in report.read(tmp_path, ["tp1_one"])["tp1_one"]] == ["ada"]


@pytest.mark.parametrize("arguments, said", [(["tp1_unknown"], "nothing is graded of tp1_unknown; there is: tp9_made_up"), (["--student", "../ada"], "nothing is graded of a student called ../ada")])
def test_what_is_not_graded_is_said_in_one_line(arguments, said, course, monkeypatch, capsys):
    Records(course.root).save("tp9_made_up", "ada", made_up(np.random.default_rng(10), "ada"))
    monkeypatch.setattr("autograder.classroom.Course", lambda: course)
    assert cli.main(["report", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and said in err


def test_the_command_prints_where_the_page_is(course, monkeypatch, capsys):
    monkeypatch.setattr("autograder.classroom.Course", lambda: course)
    assert cli.main(["report"]) == 0 and "Nothing is graded yet" in capsys.readouterr().out
    Records(course.root).save("tp1_one", "ada", made_up(np.random.default_rng(11), "ada", "tp1_one"))
    assert cli.main(["report"]) == 0
    assert capsys.readouterr().out.strip() == str(course.root / "gradebook" / "report" / "index.html")


def test_a_known_mistake_is_said_in_the_teachers_words():
    tp = source.names()[0]
    (exercise, mistake), says = next(iter(report._sentences(tp).items()))
    verdict = made_up(np.random.default_rng(12), "ada", tp)
    verdict["exercises"][0].update(exercise=exercise, checks=[{"check": "a", "passed": False, "message": "the difference", "mistake": mistake}])
    page = Reader(report.class_page({tp: [verdict]}, EMPTY))
    assert ["1", exercise, mistake, says.replace("`", "")] in page.table("students", "exercise", "mistake")
