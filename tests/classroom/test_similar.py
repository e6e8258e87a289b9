"""Who may have worked together: copies in disguise are shown, common code is not, and nobody's points change."""

import os
import re
import subprocess
import sys
from math import log

import pytest
from nbformat.v4 import new_markdown_cell

import graded
from autograder import cli
from autograder.classroom import similar
from autograder.classroom.samples import classroom_in, hand_in
from autograder.classroom.similar import ComparedSubmission, Comparison, Student
from autograder.classroom.submitted import SubmittedFile
from autograder.course import Course
from autograder.judging.verdict import ExerciseResult
from autograder.model.source import load_source
from autograder.publish.notebooks import filled, solved
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.difference import Difference
from autograder.runtime.findings import CheckResult
from conftest import TINY, TINY_COURSE, fingerprint

OWN = '''def last(rows):
    total = torch.zeros_like(rows[0])
    for number, row in enumerate(rows):
        if number == len(rows) - 1:
            total = total + double(row)
    return total.clone()
'''
DISGUISED = '''# mine, all mine
def last(things):
    """Works."""
    answer = torch.zeros_like( things[ 0 ] )   # begin with nothing
    for i, thing in enumerate(things):
        if i == len(things) - 1:
            answer = answer + double(thing)  # the last one
    return answer.clone()
'''
ANOTHER = [
    "def last(rows):\n    index = rows.shape[0]\n    return double(rows[index - 1])\n",
    "def last(rows):\n    *_, end = rows\n    return double(end)\n",
    "def last(rows):\n    backwards = rows.flip(0)\n    return double(backwards[0])\n",
    "def last(rows):\n    return torch.stack([double(row) for row in rows])[-1]\n",
    "def last(rows):\n    assert len(rows), 'no rows'\n    return double(rows.unbind(0)[-1])\n",
]


def work(name, code, *faults, past=False):
    return ComparedSubmission(Student(name, past), {"last": code}, frozenset(("last", one) for one in faults))


def compared(*works):
    return Comparison(works, similar.boilerplate(TINY_COURSE, TINY))


def weights(comparison):
    return {(comparison.submissions[i].student.name, comparison.submissions[j].student.name): weight
            for i, j, weight in comparison.weights()}


def test_a_copy_in_disguise_is_shown_and_its_lines_are_marked():
    comparison = compared(work("ada", OWN), *(work(f"other-{i}", text) for i, text in enumerate(ANOTHER)),
                          work("bob", DISGUISED))
    (pair,) = comparison.pairs()
    assert (pair.left.name, pair.right.name) == ("ada", "bob")
    left, right = ([line.text for line in side if line.marked] for side in (pair.shared[0].left, pair.shared[0].right))
    assert any("if number ==" in line for line in left) and any("if i ==" in line for line in right)
    assert "\n".join(line.text for line in pair.shared[0].right) == DISGUISED


def test_of_much_code_the_beginning_is_compared_and_who_handed_it_in_is_named(tiny, tmp_path):
    """Two megabytes took more than a minute each, and the square of it for a pair."""
    much = OWN + "x = 1\n" * 300_000
    comparison = compared(work("ada", much), work("bob", OWN), *(work(str(i), text) for i, text in enumerate(ANOTHER)))
    assert max(code["last"].length for code in comparison.code) <= similar.MAX_CODE
    assert weights(comparison)["ada", "bob"] > similar.MIN_WEIGHT
    path, _ = similar.write(classroom_in(tmp_path / "course", tiny, [TINY]), TINY, comparison)
    named = re.search(r"Longer code was handed in by (.*?)\.</p>", path.read_text())[1]
    assert re.sub("<.*?>", "", named) == "ada"


def test_what_everybody_may_write_is_nothing_to_look_at(right):
    both = compared(work("ada", right["last"]), work("bob", right["last"]), *(work(str(i), text) for i, text in
                                                                             enumerate(ANOTHER)))
    assert weights(both)["ada", "bob"] == 0


def test_code_that_many_have_counts_less():
    few = compared(work("ada", OWN), work("bob", OWN), *(work(str(i), text) for i, text in enumerate(ANOTHER * 2)))
    many = compared(*(work(str(i), OWN) for i in range(10)), work("ada", OWN), work("bob", OWN))
    assert weights(few)["ada", "bob"] > similar.MIN_WEIGHT
    assert weights(many)["ada", "bob"] == 0


def test_a_rare_fault_counts_more_than_a_frequent_one_and_than_common_right_code(right):
    def pair(*others):
        return weights(compared(work("ada", right["last"], "first-row"), work("bob", right["last"], "first-row"),
                                *(work(str(i), right["last"], *made) for i, made in enumerate(others))))["ada", "bob"]

    rare, frequent = pair(*[()] * 8), pair(*[("first-row",)] * 6, (), ())
    assert rare == similar.FAULT_WEIGHT > frequent > 0


@pytest.mark.parametrize("values, shown", [
    ([], []), ([59.9], []), ([60.0], [60.0]),
    # the median is 112 and the deviations' 8: from 172 on
    ([100, 104, 108, 112, 116, 172, 171.9], [172]), ([10, 14, 18, 22, 26, 82, 81.9], [82]),
    ([0, 0, 0, 0, 60, 61], [60, 61]), ([0, 0, 0, 0, 0, 59], []),
])
def test_a_pair_is_shown_that_shares_far_more_than_most(values, shown, monkeypatch):
    pairs = [(0, i, float(value)) for i, value in enumerate(values)]
    monkeypatch.setattr(Comparison, "weights", lambda self: iter(pairs))
    assert [weight for *_, weight in compared().outliers()] == shown


@pytest.mark.parametrize("students, count, rarity", [
    (9, 1, 1), (9, 2, 1), (9, 9, 0), (9, 3, log(3) / log(4.5)), (2, 2, 1), (1, 2, 1), (9, 10, 0)])
def test_code_is_the_rarer_the_fewer_have_it(students, count, rarity):
    comparison = compared(*(work(str(i), "") for i in range(students)))
    assert comparison._rarity(count) == pytest.approx(rarity)


def test_those_of_earlier_years_are_compared_with_this_years_alone():
    comparison = compared(work("ada", OWN), work("old", DISGUISED, past=True), work("other", ANOTHER[0], past=True),
                          *(work(str(i), text) for i, text in enumerate(ANOTHER[1:])))
    assert {(pair.left.name, pair.right.name) for pair in comparison.pairs()} == {("ada", "old")}
    assert ("ada", "other") in weights(comparison) and ("old", "other") not in weights(comparison)


@pytest.mark.parametrize("text", ["", "x", "def last(rows:\n  '''", "\x00\x1b[31m", "# only words " * 400, "é" * 5000])
def test_whatever_is_handed_in_can_be_compared(text):
    comparison = compared(work("ada", text), work("bob", text), work("eve", OWN))
    for pair in comparison.pairs():
        assert "\n".join(line.text for line in pair.shared[0].left) == text


def test_covers_are_those_of_each_run_of_code_for_itself():
    code = similar._Code(OWN)
    weights = {one: 1 / (2 + i % 7) for i, one in enumerate(code.at) if i % 3}
    cover = code.covered(weights)
    for place in range(code.length):
        over = [weights[one] for one, starts in code.at.items() if one in weights
                for start in starts if start <= place < start + similar.LENGTH]
        assert cover[place] == max(over, default=0)


def test_weights_do_not_hang_on_the_hashes_of_a_run(tmp_path):
    script = tmp_path / "weigh.py"
    script.write_text("import sys\nfrom pathlib import Path\n"
                      "from autograder.classroom import similar\n"
                      "from autograder.course import Course\n"
                      "_, course, session, *texts = sys.argv\n"
                      "works = [similar.ComparedSubmission(similar.Student(str(i), False), {'last': text},\n"
                      "                                    frozenset())\n"
                      "         for i, text in enumerate(texts)]\n"
                      "boilerplate = similar.boilerplate(Course(Path(course)), session)\n"
                      "print(sorted(similar.Comparison(works, boilerplate).weights()))\n")
    texts = [OWN, DISGUISED, *ANOTHER]
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # another than in this process
    said = subprocess.run([sys.executable, script, TINY_COURSE.root, TINY, *texts], capture_output=True, text=True,
                          check=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
    here = compared(*(work(str(i), text) for i, text in enumerate(texts)))
    assert said == f"{sorted(here.weights())}\n" and "(0, 1, 0" not in said


@pytest.fixture
def term(tmp_path):
    return graded.classroom(tmp_path / "course")


def test_the_command_writes_a_page_and_touches_no_grade(term, tmp_path, capsys):
    right = solved(TINY_COURSE, TINY)
    wrong = ExerciseResult("last", 0.0, 2.0, "failed", (
        CheckResult("row", False, "The last row.", Difference("missing-output"), RecognisedFault("first-row", "No.")),))
    graded.enter(term, "kim", {**right, "last": OWN}, graded.verdict(wrong))
    graded.enter(term, "<b>max", {**right, "last": DISGUISED}, graded.verdict(wrong))
    for i, text in enumerate(ANOTHER):
        graded.enter(term, f"other-{i}", {**right, "last": text}, graded.verdict())
    earlier = Course(tmp_path / "earlier")
    hand_in(earlier, "old", TINY, filled(TINY_COURSE, TINY, {**right, "last": DISGUISED}))
    with open(term.course.gradebook / "gradebook.db", "rb") as file:
        before = file.read(), fingerprint(term.course.gradebook / "verdicts")
    command = ["--course", str(term.course.root), "similar", TINY]
    assert cli.main(command) == 0
    path = term.course.gradebook / "similar" / f"{TINY}.html"
    assert f"{TINY}: 1 pair to look at, in 11 submissions; open {path}" in capsys.readouterr().out
    page = path.read_text(encoding="utf-8")
    assert "&lt;b&gt;max" in page and "<b>max" not in page and "the same fault: first-row" in page
    assert cli.main([*command, "--past", str(earlier.gradebook / "submitted")]) == 0
    assert "2 pairs to look at, in 12 submissions" in capsys.readouterr().out
    assert "old</bdi> (earlier year)" in path.read_text(encoding="utf-8")
    with open(term.course.gradebook / "gradebook.db", "rb") as file:
        assert (file.read(), fingerprint(term.course.gradebook / "verdicts")) == before
    assert cli.main([*command, "--past", str(tmp_path / "nowhere")]) == 2
    assert "nowhere is not a folder" in capsys.readouterr().err


def test_code_is_compared_and_no_written_answer_or_given_cell(term):
    notebook = filled(TINY_COURSE, TINY, {"last": OWN, "double": "def double(x):\n    return x"}, ["x = 1", "y = 2"])
    notebook.cells.append(new_markdown_cell("Words."))
    hand_in(term.course, "ada", TINY, notebook)
    compared = {one.student.name: one for one in similar.compare(term, TINY).submissions}["ada"].code
    source = load_source(TINY_COURSE, TINY)
    assert compared.keys() == {*source.exercises, similar.ADDED_CELLS}
    assert (compared["last"], compared["double"]) == (OWN, "def double(x):\n    return x")
    assert compared[similar.ADDED_CELLS] == "x = 1\n\ny = 2"
    texts = [cell.source for cell in source.cells if cell.is_markdown]
    assert not any(text in given for text in texts for given in similar.boilerplate(TINY_COURSE, TINY)["last"])


def test_with_nothing_handed_in_the_command_says_so(tmp_path, capsys):
    course = classroom_in(tmp_path / "course", TINY_COURSE, [TINY])
    assert cli.main(["--course", str(course.root), "similar"]) == 0
    assert capsys.readouterr().out.startswith("No submissions found: put notebooks into")


def test_an_unknown_session_is_an_error(term, capsys):
    assert cli.main(["--course", str(term.course.root), "similar", "nonsense"]) == 2
    assert "there is no session called nonsense" in capsys.readouterr().err


def test_a_file_that_cannot_be_read_leaves_the_others_compared(term, monkeypatch, caplog):
    real = SubmittedFile.read

    def read(file):
        if file.student == "bob":
            raise OSError(5, "Input/output error")
        return real(file)

    monkeypatch.setattr(SubmittedFile, "read", read)
    students = {one.student.name for one in similar.compare(term, TINY).submissions}
    assert students == {"ada", "eve", "tom"} and f"{TINY}, bob: not compared" in caplog.text
