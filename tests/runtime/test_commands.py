"""The self-check: what it says of right, wrong and unwritten work, and a check's inputs in a student's hands."""

import gzip
import html.parser
import json
import re

import numpy as np
import pytest
import torch

import tp
from autograder.classroom import pages
from autograder.metadata import CourseMetadata
from autograder.model.oracle import load_oracle
from autograder.model.recording import Recorder
from autograder.model.trace import Check
from autograder.publish.notebooks import solved
from autograder.runtime import card, compare, settings, side_by_side, values, wire
from autograder.runtime.notebook import cases, commands
from autograder.runtime.recorded import OutputSpec, RecordedCheck, Reply
from conftest import REPOSITORY, TINY, TINY_COURSE


@pytest.fixture
def said(shipped, monkeypatch):
    """The card of an exercise, on these definitions: name → what is said of its cell's text."""
    monkeypatch.syspath_prepend(shipped.parent)
    commands._data.cache_clear()
    tp.start(TINY)

    def run(exercise, text):
        namespace = {"torch": torch, "nn": torch.nn}
        exec(compile(text, "<cell>", "exec"), namespace)
        return commands._card(exercise, namespace)

    yield run
    commands._data.cache_clear()
    commands._state = commands._NotebookState()


DOUBLE = "def double(x):\n    return {}\n"


def test_right_is_one_line_and_what_was_checked(said):
    made = said("double", DOUBLE.format("2 * x"))
    assert made.passed and made.tally == "all 2 checks pass" and not made.wrong
    assert card.text(made).splitlines() == ["double: all 2 checks pass", "  ✓ values: Twice every number.",
                                            "  ✓ gradient: The gradient flows back."]
    assert "<details><summary>What was checked</summary>" in card.page(made)


def test_a_fault_is_said_once_with_what_each_check_sees(said):
    made = said("double", DOUBLE.format("x * x"))
    text = card.text(made)
    assert text.count("You square the input.") == 1 and "seen by 2 of 2 checks:" in text
    assert card.page(made).count("You square the input.") == 1
    assert "values: Twice every number. `doubled[0, 0]`: expected" in " ".join(text.split())
    assert "gradient: The gradient flows back. `gradient" in " ".join(text.split())
    assert 'look into it: tp.case("double", "values")' in text


def test_what_is_right_already_is_said_beside_what_is_not(said):
    text = solved(TINY_COURSE, TINY)["encoder"].replace("self.gru(encoder_input, henc_init)", "self.gru(encoder_input)")
    made = said("encoder", text)
    assert made.tally == "1 of 2 checks pass" and [check for check, _ in made.right] == ["states"]
    assert "Right already: states" in card.page(made) and made.wrong[0].side_by_side.name.startswith("henc_ts[")


@pytest.mark.parametrize("text, tally", [
    ("def double(x):\n    raise NotImplementedError()", "not written yet"),
    ("", "`double` is not defined. Run the cell above, then this one."),
])
def test_what_is_not_written_yet_is_one_quiet_line(said, text, tally):
    made = said("double", text)
    assert card.text(made) == f"double: {tally}" and not made.passed
    assert "✗" not in card.page(made) and "bad" not in card.page(made).partition("</style>")[2]


def test_what_the_code_prints_in_the_first_check_that_fails_is_shown_and_bounded(said):
    made = said("double", "def double(x):\n    print('shape', *x.shape, '<b>')\n    return x")
    assert "shape" in made.printed and "&lt;b&gt;" in card.page(made) and "shape" in card.text(made)
    many = said("double", "def double(x):\n    print('y' * 10_000_000)\n    return x")
    assert made.printed.count("\n") < 20 and len(many.printed) == commands.MAX_PRINTED
    assert said("double", "def double(x):\n    print('y')\n    return 2 * x").printed == ""


def test_a_missing_name_inside_says_to_run_the_cells_above(said):
    made = said("double", DOUBLE.format("factor * x"))
    (seen,) = made.wrong[0].differences[:1]
    assert (seen.kind, seen.error.type, seen.line, seen.error.origin) == ("raised", "NameError", 2, "cell")
    assert "If a cell above defines it, run that cell first." in " ".join(card.text(made).split())


def test_everything_foreign_is_escaped(said):
    text = "def double(x):\n    print('<script>')\n    raise ValueError('<img src=x onerror=alert(1)>')"
    shown = card.page(said("double", text))
    assert "<script" not in shown and "<img" not in shown and "&lt;img src=x" in shown


@pytest.mark.parametrize("said, shown", [
    ("the *last* one", "the <em>last</em> one"),
    ("`2*x*y` and 2*x*y, or 2 * x * y", "<code>2*x*y</code> and 2*x*y, or 2 * x * y"),
    ("*not in the end*, `*here*`", "<em>not in the end</em>, <code>*here*</code>"),
    ("**args and *<b>*", "**args and *&lt;b&gt;*"),
])
def test_marks_in_a_sentence_are_shown_as_they_are_meant(said, shown):
    assert card.marked(said) == shown == str(pages.marked(said))


class Tags(html.parser.HTMLParser):
    """The tags that are open at the end of a text."""

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in ("rect", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag in ("rect",) or self.open.pop() == tag


def test_the_card_is_whole_html(said):
    for text in ("2 * x", "x * x", "x", "2 * x.detach()", "None"):
        assert Tags(card.page(said("double", DOUBLE.format(text)))).open == []


def test_notebook_validate_and_terminal_are_told_apart(said, monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(commands.rich_output, "ipython_kernel", lambda: object())
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    scope = {"tp": tp}
    exec(DOUBLE.format("x * x"), scope)
    exec("tp.check('double')", scope)
    assert set(shown[0]) == {"text/html", "text/plain"} and capsys.readouterr() == ("", "")
    monkeypatch.setenv(commands.NBGRADER, "validate")
    exec("tp.check('double')", scope)
    assert len(shown) == 1 and "You square the input." in capsys.readouterr().err
    exec(DOUBLE.format("2 * x") + "tp.check('double')", scope)
    assert capsys.readouterr().err == ""


# Expected beside got


def pair(want, have, axes=None, predicate=None):
    """Expected beside got of one output."""
    expected = Reply({"y": values.describe(want)})
    record = RecordedCheck([], expected, {"y": OutputSpec(axes, predicate=predicate)}, 0)
    return side_by_side.side_by_side_of("y", record, Reply({"y": values.describe(have)}))


def differing(shown):
    """Expected and got of each number that is marked in a part."""
    rows = zip(shown.expected, shown.got, shown.wrong, strict=True)
    return [(want, have) for expected, got, wrong in rows
            for want, have, bad in zip(expected.split(), got.split(), wrong, strict=True) if bad == "1"]


def test_the_part_shown_is_where_the_difference_is():
    want = torch.zeros(9, 4, 20)
    have = want.clone()
    have[7, 2, 15] = 0.5
    shown = pair(want, have, "T B V")
    assert shown.name == "y[:, 2, :]" and shown.axes == ("T", "V") and shown.sizes == (9, 20)
    assert differing(shown) == [("0", "0.5")]
    assert shown.wrong[7 - shown.first[0]][15 - shown.first[1]] == "1"
    assert shown.first[0] <= 7 < shown.first[0] + side_by_side.ROWS
    assert shown.first[1] <= 15 < shown.first[1] + side_by_side.COLUMNS
    assert len(shown.got) == side_by_side.ROWS and len(shown.got[0].split()) == side_by_side.COLUMNS
    assert shown.part == f"T {shown.first[0]} to {shown.first[0] + 5} of 9, V {shown.first[1]} to " \
                         f"{shown.first[1] + 5} of 20"


def test_what_the_part_says_is_what_the_arrays_hold(rng):
    want = torch.from_numpy(rng.normal(size=(3, 2, 4, 5)))
    have = torch.where(torch.from_numpy(rng.random(want.shape) < 0.5), want, want + 1)
    shown = pair(want, have, "B h T d")
    b, h = (int(n) for n in re.findall(r"\d+", shown.name))
    assert np.allclose([[float(x) for x in row.split()] for row in shown.expected], want[b, h], rtol=1e-5)
    assert np.allclose([[float(x) for x in row.split()] for row in shown.got], have[b, h], rtol=1e-5)
    assert [[x == "1" for x in row] for row in shown.wrong] == (want[b, h] != have[b, h]).tolist()


@pytest.mark.parametrize("want, have", [
    (torch.zeros(2, 3), torch.zeros(3, 2)),  # the sentence says more
    (torch.zeros(2, 3), torch.zeros(2, 3).int()), (torch.tensor(1.0), torch.tensor(2.0)), (torch.zeros(2), None),
    ("a", "b"), (torch.zeros(2), torch.zeros(2)),
])
def test_no_part_is_shown_where_it_would_not_help(want, have):
    assert pair(want, have) is None


def test_arrays_inside_of_lists_and_dicts_are_found():
    want = {"a": [torch.zeros(2)], "b": [torch.zeros(2), torch.zeros(3)]}
    have = {"b": [torch.zeros(2), torch.ones(3)], "a": [torch.zeros(2)]}
    assert pair(want, have).name == "y['b'][1]" and len(differing(pair(want, have))) == 3


def test_the_tables_have_every_number_and_a_mark_on_what_differs():
    want = torch.tensor([[True, False], [True, True]])
    have = torch.tensor([[True, True], [True, False]])
    expected, got = side_by_side.as_html(pair(want, have, "T S")).split("</table>")[:2]
    assert expected.count(">True<") == 3 and expected.count(">False<") == 1 and "<mark>" not in expected
    assert got.count("<mark>True</mark>") == 1 == got.count("<mark>False</mark>") and got.count(">True<") == 3
    heads = re.findall(r'<th scope="(col|row)">(\d)</th>', got)
    assert heads == [("col", "0"), ("col", "1"), ("row", "0"), ("row", "1")] and "<td>T \\ S</td>" in got
    odd = torch.tensor([float("nan"), float("inf"), -1e-12, 123456789.0])
    table = side_by_side.as_html(pair(torch.zeros(4), odd)).split("</table>")[1]
    assert re.findall(r">([^<>]+)(?:</mark>)?</td>", table) == ["nan", "inf", "-1e-12", "1.23e8"]


@pytest.mark.parametrize("numbers, shown", [
    ((2.3467, 2.3451), ("2.347", "2.345")), ((1.2345678, 1.2345689), ("1.2345678", "1.2345689")),
    ((1.0, 1.0000005), ("1", "1.0000005")), ((0.0123456, -0.0000139), ("0.0123", "-1.39e-5")),
    ((3e8, -2.5e-9), ("3e8", "-2.5e-9")), ((40.0, 1234567.0), ("40", "1234567")), ((1e10, 20.0), ("1e10", "20")),
    ((-0.00014, -0.000139), ("-0.00014", "-0.000139")), ((-1.3e-6, 1.25e-6), ("-1.3e-6", "1.25e-6")),
    ((0.000139, -0.000139), ("0.000139", "-0.000139")),
])
def test_numbers_are_short_and_those_that_differ_are_told_apart(numbers, shown):
    tables = side_by_side.as_html(pair(*(torch.tensor([1.0, one], dtype=torch.float64) for one in numbers)))
    assert re.findall(r">([^<>]+)(?:</mark>)?</td></tr>", tables) == list(shown)


def test_what_is_right_within_the_tolerance_is_written_in_short():
    want, have = torch.tensor([1.0, 0.4481572807]), torch.tensor([2.0, 0.4481573105])
    assert re.findall(r">([^<>]+)(?:</mark>)?</td>", side_by_side.as_html(pair(want, have))) == ["1", "0.448", "2",
                                                                                                 "0.448"]


# A check's inputs


EACH_TP = pytest.mark.parametrize("name", REPOSITORY.sessions)


@EACH_TP
def test_every_recorded_check_can_be_taken_in_hand(name):
    """What the lines say is what the check does: run as they stand, they give what is expected."""
    namespace, shipped, ran = load_oracle(REPOSITORY, name).namespace, commands._data(name).exercises, 0
    for exercise, one in shipped.items():
        for check, record in ((each, record.without_relations) for each in one.checks for record in each.records):
            taken = cases.Case(exercise, check.name, check.description, record, namespace)
            same_as_expected(record, taken.run())
            if not any(getattr(op, "replaces", None) for op in record.ops):  # lines put no stub in another's place
                scope = {**namespace, "case": taken}
                exec("\n".join(taken.lines), scope)
                named = {name: next((line for line in taken.lines if line.endswith(f"  # {name}")), name)
                         for name in record.specs}
                same_as_expected(record, {name: eval(line.partition("  # ")[0], scope) for name, line in named.items()})
                ran += 1
    assert ran > 40


def same_as_expected(record, outputs):
    for name, spec in record.specs.items():
        got = values.describe(outputs[name])
        assert compare.output_difference(name, record.expected.outputs[name], got, spec) is None, name


def test_a_case_is_the_instance_that_fails_and_says_what_to_do(said, capsys):
    scope = {"tp": tp, "torch": torch, "nn": torch.nn}
    exec(solved(TINY_COURSE, TINY)["encoder"], scope)
    exec("case = tp.case('encoder', 'initial-state')", scope)
    out = capsys.readouterr().out
    assert 'henc_init' in out and "henc_ts float32" in out and 'case = tp.case("encoder", "initial-state")' in out
    taken = scope["case"]
    exec("\n".join(taken.lines), scope)
    torch.testing.assert_close(scope["henc_ts"], taken.expected["henc_ts"])
    assert taken["henc_init"].shape[0] == 1
    with pytest.raises(RuntimeError, match="encoder has no check 'no'; it has states, initial-state"):
        exec("tp.case('encoder', 'no')", scope)
    with pytest.raises(RuntimeError, match="say which check of encoder: states, initial-state"):
        exec("tp.case('encoder')", scope)


def test_running_a_case_shows_prints_and_the_whole_error(said, capsys):
    scope = {"tp": tp}
    exec("def double(x):\n    print('here')\n    raise KeyError(7)\n", scope)
    exec("case = tp.case('double', 'values')", scope)
    with pytest.raises(KeyError) as error:
        scope["case"].run()
    assert error.traceback[-1].name == "double"
    assert [one.name for one in error.traceback if "cases" in str(one.path)] == ["run"]  # its own line, then theirs
    assert capsys.readouterr().out.endswith("here\nYour code stops with KeyError: 7.\n")


def test_a_case_writes_numbers_that_are_not_finite_as_python_reads_them():
    def program(t):
        """It takes infinities."""
        t.output("least", t["least"](float("-inf"), [1.0, float("inf")], start=(2, float("nan"))))

    namespace = {"least": lambda x, values, start: min(x, *values, *start)}
    record = Recorder(namespace, CourseMetadata()).record_without_relations(Check("least", "infinite", program, 1), 1)
    line, *_ = cases.Case("least", "infinite", "", record, namespace).lines
    assert line == 'least_2 = least(float("-inf"), [1.0, float("inf")], start=(2, float("nan")))'


def test_a_case_writes_a_dict_that_holds_a_result_and_shows_any_other():
    def program(t):
        """It sums the values of two dicts."""
        made = t["double"](3)
        t.output("total", t["total"]({"made": made, "by": [1, made]}, {"one": 1}))

    namespace = {"double": lambda x: 2 * x, "total": lambda first, second: first["made"] + first["by"][1] + len(second)}
    record = Recorder(namespace, CourseMetadata()).record_without_relations(Check("total", "sums", program, 1), 1)
    taken = cases.Case("total", "sums", "", record, namespace)
    assert taken.lines[:2] == ["double_2 = double(3)",
                               "total_2 = total({'made': double_2, 'by': [1, double_2]}, case[\"second\"])"]
    assert taken["second"] == {"one": 1} and taken.run() == {"total": 13}


def test_a_case_says_where_the_right_answer_is(said, capsys):
    scope = {"tp": tp}
    exec(DOUBLE.format("2 * x") + "case = tp.case('double', 'values')", scope)
    assert 'The right answer is `case.expected["doubled"]`.' in capsys.readouterr().out
    assert 'case.expected[&quot;doubled&quot;]' in scope["case"].page()


@pytest.mark.parametrize("typed, told", [("duble", "did you mean 'double'?"), ("qqq", "has no exercise 'qqq'; it has")])
def test_a_misspelt_name_is_one_line_with_the_nearest(said, typed, told):
    with pytest.raises(commands.SelfCheckError, match=re.escape(told)) as error:
        exec(f"tp.check('{typed}')", {"tp": tp})
    assert error.value._render_traceback_() == [str(error.value)]


DAMAGED = {
    "nothing": lambda data: b"", "other bytes": lambda data: b"TPW1", "cut short": lambda data: data[:len(data) // 2],
    "no exercises": lambda data: gzip.compress(wire.pack({})), "a list": lambda data: gzip.compress(wire.pack([])),
    "an operation of a later release": lambda data: gzip.compress(
        gzip.decompress(data).replace(b'{"op": "name", ', b'{"op": "nome", ')),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_self_checks_are_one_line(said, shipped, tmp_path, monkeypatch, damage):
    path = tmp_path / f"{TINY}.bin"
    path.write_bytes(DAMAGED[damage](commands.find_selfchecks(TINY).read_bytes()))
    monkeypatch.setattr(commands, "find_selfchecks", lambda name: path)
    commands._data.cache_clear()
    with pytest.raises(commands.SelfCheckError, match=f"^the self-checks of {TINY} are damaged, or of another"):
        exec("tp.check('double')", {"tp": tp})


ENDLESS = "def double(x):\n    while True:\n        pass\n"


def test_an_endless_loop_is_stopped_and_its_line_is_said(said, capsys):
    exec(ENDLESS + "tp.check('double', seconds=0.2)", {"tp": tp})
    told = " ".join(capsys.readouterr().err.split())
    assert "double: stopped after 0.2 s, in the check values" in told and 'tp.check("double", seconds=0.8)' in told


def test_the_next_hint_is_offered_where_a_check_fails_again(said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cell = {"cell_type": "markdown", "metadata": {}, "source": [
        "<details><summary>Hint 1 · the idea</summary>Add it <b>twice</b>.</details>\n",
        "<details><summary>Hint 2 · the <line></summary><code>x + x</code><script>1</script></details>"]}
    exercise = {"cell_type": "code", "source": "", "metadata": {"nbgrader": {"grade_id": "double", "solution": True}}}
    (tmp_path / f"{TINY}.ipynb").write_text(json.dumps({"cells": [cell, exercise]}))
    first, second, third = (said("double", DOUBLE.format("x")) for _ in range(3))
    assert first.hint == ("Hint 1 · the idea", "Add it <b>twice</b>.") and second.hint == third.hint
    assert "Hint 2 · the &lt;line&gt;" in card.page(second) and "<code>x + x</code>1" in card.page(second)
    assert "stuck? Open above the exercise: Hint 2" in card.text(second)
    assert said("double", DOUBLE.format("2 * x")).hint == ("", "")
    (tmp_path / f"{TINY}.ipynb").rename(tmp_path / "mine.ipynb")
    assert said("double", DOUBLE.format("x")).hint == ("", "")
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/ada/mine.ipynb")
    assert said("double", DOUBLE.format("x")).hint[0] == "Hint 2 · the <line>", "a notebook may be renamed"


def test_torch_takes_the_threads_that_the_course_says(shipped, monkeypatch, tmp_path):
    before = torch.get_num_threads()
    try:
        for variable, threads in (("", 2), ("1", before)):
            torch.set_num_threads(before)
            monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
            if variable:
                monkeypatch.setenv("OMP_NUM_THREADS", variable)
            monkeypatch.setattr(commands, "load_settings", lambda: settings.NotebookSettings(threads=2))
            tp.start(TINY)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_the_notebook_counts_as_the_judge_does(monkeypatch):
    """One check of this exercise is passed by whoever always raises the error that it asks for."""
    monkeypatch.syspath_prepend(REPOSITORY.released)
    monkeypatch.setattr(commands, "_state", commands._NotebookState("tp1_recurrence"))
    namespace = {}
    exec("def embed(ids, table):\n    raise IndexError\nembed_by_product = embed", namespace)
    assert commands._share("embed", namespace)[0] == 0


def test_the_cell_of_an_exercise_is_looked_into_first_and_no_more_than_there_is_time_for(monkeypatch):
    namespace = {"__name__": "notebook"}
    for name in ("before", "Encoder", "between", "double", "after"):
        exec(f"def {name}(): pass", namespace)
    namespace["imported"] = json.loads
    cells = {"before": "b" * 400, "Encoder": "e" * 300, "double": "d" * 200, "between": "d" * 200, "after": "a" * 100}
    monkeypatch.setattr(commands.history, "cell_of", lambda value: cells[value.__name__])
    monkeypatch.setattr(commands, "_names", lambda exercise: {"Encoder", "double"})
    for most, looked_into in ((1000, "deab"), (999, "dea"), (600, "dea"), (599, "de"), (100, "")):
        monkeypatch.setattr(commands, "MAX_SEARCHED_CHARACTERS", most)
        assert "".join(text[0] for text in commands._cells("double", namespace)) == looked_into
