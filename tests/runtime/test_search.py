"""Places of an exercise: by values in the first checks that fail, or by an edit that mends all of them."""

import math
import random
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
import torch

from autograder.judging.judge import grade_exercise, records_of
from autograder.model.faults import Variant
from autograder.model.oracle import load_oracle
from autograder.model.selfcheck_recording import record_selfchecks
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.difference import Difference
from autograder.runtime.findings import CheckResult
from autograder.runtime.locate import repair, search, statements, value_search
from autograder.runtime.locate.edits import Edit
from autograder.runtime.locate.search import find_places, with_places
from autograder.runtime.place import MAX_SEARCHED_CHARACTERS, Place
from autograder.runtime.recorded import CapturedError, RecordedCheck
from conftest import TINY, TINY_COURSE

WRONG = "def double(x):\n    y = x * x\n    return y + 5 * x - x"  # no single edit mends it
EDITED = "def double(x):\n    return 3 * x"
TIMES = "def times(x):\n    return x * x + 1"


@pytest.fixture(autouse=True)
def no_haste(monkeypatch):
    """No test hangs on the speed of the machine."""
    monkeypatch.setattr(search, "VALUE_SECONDS", 60.0)
    monkeypatch.setattr(search, "RECOGNISED_SECONDS", 60.0)
    monkeypatch.setattr(search, "TOTAL_SECONDS", 120.0)
    monkeypatch.setattr(search, "EDITING_SECONDS", 0.0)
    monkeypatch.setattr(value_search, "CALL_SECONDS", 60.0)
    monkeypatch.setattr("autograder.runtime.time_limit.MIN_SECONDS", 60.0)
    monkeypatch.setattr(repair, "SHORTEST_SECONDS", 60.0)
    monkeypatch.setattr(repair, "EDIT_SECONDS", 60.0)


def searched(text, others=(), named=(), failing=None):
    """The places of an answer to `double` beside the results that it has elsewhere."""
    oracle, version = load_oracle(TINY_COURSE, TINY), Variant("double", "wrong", source=text)
    checks, records = record_selfchecks(oracle, "double"), records_of(oracle, "double", "1")
    replies = oracle.replay(version, list(chain.from_iterable(records)))
    results = grade_exercise(oracle, "double", records, replies).checks
    failing_checks = {i: RecognisedFault("squared", "You squared it.") if i in named else None
             for i, result in enumerate(results) if result.difference} if failing is None else failing
    with oracle.substituted(version) as names:
        for other in others:
            exec(other, names)
        return find_places(checks, failing_checks, [text, *others], names)


def shown(found_places):
    """What is underlined for each check."""
    return [place and (place.kind, place.text, place.cell) for place in found_places]


def test_one_edit_that_mends_all_is_the_place_of_all():
    found_places = shown(searched(EDITED))
    assert found_places == [("edit", "return 3 * x", 0)] * len(found_places) and len(found_places) > 1


def test_generators_are_left_as_they_are(monkeypatch):
    """Replays of a search leave those of Python and numpy to it."""
    states, replay, with_places = [], search.replay, search.with_places

    def state():
        return random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()

    def watched(*given):
        states.append(state())
        results = with_places(*given)
        states.append(state())
        return results

    kinds = []
    monkeypatch.setattr(search, "with_places", watched)
    monkeypatch.setattr(search, "replay", lambda *rest, **named: kinds.append(named) or replay(*rest, **named))
    assert searched(WRONG) and {"track_effects": False} in kinds
    assert states[0] == states[1]


def test_without_one_each_check_has_the_place_where_a_right_value_mends_it(monkeypatch):
    found_places = searched(WRONG)
    assert {place.kind for place in found_places if place} == {"value"}
    assert "x * x" in {place.text for place in found_places if place}
    monkeypatch.setattr(search, "MAX_CHECKS", 0)
    assert not any(searched(WRONG))


def test_where_every_fault_was_recognised_nothing_is_edited():
    everywhere = range(len(searched(EDITED)))
    assert {place.kind for place in searched(EDITED, named=everywhere) if place} == {"value"}
    assert shown(searched(EDITED, named=[0]))[0] == ("edit", "return 3 * x", 0)


@pytest.mark.parametrize(("text", "place"), [
    ("def double(x):\n    doubled = 2 * x\n    return doubld", "return doubld"),
    ("def double(x):\n    y = x\n    return torch.add(\n        x, y,\n        alpha=yy)",
     "return torch.add( x, y, alpha=yy)"),
])
def test_the_line_that_raises_an_error_is_edited(text, place):
    """What raises reports no value."""
    assert shown(searched(text))[0] == ("edit", place, 0)


@pytest.mark.parametrize(("exercises", "failing", "right"), [
    (["last", "double"], {1}, {"last"}), (["last", "double"], {0, 1}, set()), (["double", "double"], {1}, set()),
])
def test_what_checks_call_that_pass_is_right_unless_one_fails(exercises, failing, right, monkeypatch):
    """One that failed elsewhere and passes here does not show that it is right."""
    given, oracle = [], load_oracle(TINY_COURSE, TINY)
    monkeypatch.setattr(search.ValueSearch, "find_places",
                        lambda values: given.append(values.right_functions) or [None] * len(values.checks))
    checks = [record_selfchecks(oracle, exercise)[0] for exercise in exercises]
    with oracle.substituted(Variant("double", "wrong", source=WRONG)) as names:
        find_places(checks, dict.fromkeys(failing), [WRONG], names)
    assert given == [right]


def test_where_every_fault_was_recognised_the_first_check_of_each_is_searched():
    """One place is shown beside a fault."""
    everywhere = range(len(searched(WRONG)))
    assert [bool(place) for place in searched(WRONG, named=everywhere)] == [True] + [False] * (len(everywhere) - 1)
    value, alias = Difference("value"), Difference("value", "repeated call")
    one, other = (RecognisedFault(name, "You squared it.") for name in ("one", "other"))
    results = [CheckResult("", True, "")] + [CheckResult("", False, "", difference, fault) for difference, fault in (
        (alias, one), (value, one), (value, other), (value, one), (value, other),
        (value, RecognisedFault("third", "")))]
    assert search.searched_checks(results) == [2, 3, 6]
    unnamed = [*results, CheckResult("", False, "", value)]
    assert search.searched_checks(unnamed) == [2, 3, 4]
    only_with_others = [*results, CheckResult("", False, "", Difference("constant"))]
    assert search.all_recognised(only_with_others) and not search.all_recognised(unnamed)
    assert search.searched_checks(only_with_others) == [2, 3, 6]


def test_beside_a_fault_in_all_checks_the_search_is_short(monkeypatch):
    everywhere = range(len(searched(EDITED)))
    monkeypatch.setattr(search, "RECOGNISED_SECONDS", -1.0)
    assert not any(searched(EDITED, named=everywhere)) and any(searched(EDITED, named=everywhere[1:]))


def test_no_place_is_looked_for_where_an_answer_chooses_values(monkeypatch):
    """With other choices a check may pass, whatever the mistake is."""
    monkeypatch.setattr(RecordedCheck, "has_predicate", property(lambda record: True))
    assert not any(searched(EDITED)) and not any(searched(WRONG))


@pytest.mark.parametrize("text", [EDITED, "def double(x):\n    doubled = 2 * x\n    return doubld"])
@pytest.mark.parametrize("chooses", [True, False])
def test_a_function_that_chooses_values_and_passes_is_no_place(text, chooses, monkeypatch):
    oracle = load_oracle(TINY_COURSE, TINY)
    checks = record_selfchecks(oracle, "double")[:2]
    monkeypatch.setattr(RecordedCheck, "has_predicate",
                        property(lambda record: chooses and record is checks[0].records[0]))
    for whole in (text, text.replace("def double(x)", "def helper(x)") + "\n\n\ndef double(x):\n    return helper(x)",
                  text.replace("def double(x):\n    ", "class double:\n    def __new__(cls, x):\n        ").replace(
                      "\n    return", "\n        return"), text.replace("    return", "    x.shape\n    return")):
        with oracle.substituted(Variant("double", "wrong", source=whole)) as names:
            assert any(find_places(checks, {1: None}, [whole], names)) is not chooses, whole


@pytest.mark.parametrize(("line", "is_shown"), [
    ("x.double", True), ("y == 2", True), ("y", True), ("y, x.T", True), ("-y", True), ("y = x", False),
    ("print()", False), ("(y := x)", False), ("''", False), ("None", False), ("x[0]", False)])
def test_a_statement_without_effect_is_shown_where_no_other_place_is_found(line, is_shown, monkeypatch):
    for seconds in ("VALUE_SECONDS", "TOTAL_SECONDS"):
        monkeypatch.setattr(search, seconds, -1.0)
    text = WRONG.replace("    y", f"    'Return it.'\n    {line}\n    y").replace("(x):", "(x, y=2):")
    first, *others = searched(text)
    assert bool(first and first.kind == "no effect" and first.text == line) is is_shown, first
    assert not is_shown or not any(others), "once"


def test_a_statement_without_effect_is_not_shown_beside_a_place():
    assert [place.kind for place in searched(EDITED.replace("    ", "    x\n    ")) if place][:1] == ["edit"]
    assert statements.without_effect("x.double\n" + WRONG) is None, "it stands outside"
    assert statements.without_effect("def f(:") is None
    text = "class C:\n    def g(self):\n        def h():\n            o.step\n\ndef f():\n    x.y\n"
    assert statements.without_effect(text) == (4, 12, 4, 18), "the first by its line"
    assert statements.without_effect(text, {4}) == (7, 4, 7, 7)
    caught = "def f():\n    try:\n        g()\n    except ValueError:\n        x.y\n    [row for row in rows]\n"
    assert statements.without_effect(caught) == (5, 8, 5, 11)


def test_a_statement_without_effect_is_soon_found_in_a_deep_text():
    inside = " " * 40
    deep = "".join(f"{inside[:i]}def f{i}():\n" for i in range(40)) + f"{inside}y = x{'.a' * 2000}\n{inside}x.y"
    assert statements.without_effect(deep) == (42, 40, 42, 43)
    assert not any(searched(WRONG + "\n\n\ndef other(x):\n    x" + ".a" * 500)[1:]), "nothing is raised"


def test_edits_have_time_also_where_the_values_took_all(monkeypatch):
    monkeypatch.setattr(search, "TOTAL_SECONDS", -math.inf)
    assert not [place for place in searched(EDITED) if place and place.kind == "edit"]
    monkeypatch.setattr(search, "EDITING_SECONDS", 60.0)
    assert {place.kind for place in searched(EDITED) if place} == {"edit"}


def test_a_check_is_not_observed_once_the_time_is_over(monkeypatch):
    """Its values would not be replaced any more; of the first one they say where to edit."""
    observed, observe = [], value_search.ValueSearch._observe
    monkeypatch.setattr(value_search.ValueSearch, "_observe",
                        lambda *given: observed.append(given[1]) or observe(*given))
    assert any(searched(WRONG)) and len(observed) > 1
    observed.clear()
    monkeypatch.setattr(search, "VALUE_SECONDS", -math.inf)
    searched(WRONG)
    assert len(observed) == 1


def test_a_helper_of_another_cell_is_looked_into_and_nothing_is_edited():
    found_places = searched("def double(x):\n    return times(x)", others=[TIMES])
    assert {(place.kind, place.text, place.cell) for place in found_places if place} == {("value", "x * x + 1", 1)}


def test_nothing_is_looked_for_in_a_right_or_a_long_answer_nor_without_its_text():
    assert not any(searched("def double(x):\n    return x + x"))
    assert not any(searched("def double(x):\n    return x + x", failing={0: None, 1: None}))
    assert not any(searched(f"{EDITED}\n#{'x' * MAX_SEARCHED_CHARACTERS}"))
    result = CheckResult("one", False, "It doubles.", Difference("value"))
    assert with_places([result], [], [], {}) == [result]


def test_a_check_in_which_no_value_differs_is_not_searched():
    oracle = load_oracle(TINY_COURSE, TINY)
    checks = record_selfchecks(oracle, "double")
    outside = CapturedError("raised", "ValueError", "no", None, origin="check")
    for difference in (Difference("value", "repeated call"), Difference("in-place"), Difference("raised",
                                                                                                error=outside)):
        result = CheckResult("one", False, "It doubles.", difference, RecognisedFault("squared", "You squared it."))
        with oracle.substituted(Variant("double", "wrong", source=EDITED)) as names:
            assert with_places([result], checks, [EDITED], names) == [result]
            (placed_result,) = with_places([replace(result, difference=Difference("value"))], checks, [EDITED], names)
    difference = placed_result.place.difference
    assert placed_result.place == Place("value", (2, 11, 2, 16), text="3 * x", difference=difference)


def test_on_a_gpu_nothing_is_looked_for():
    """A value that is an index out of range would end the process there."""
    checks = record_selfchecks(load_oracle(TINY_COURSE, TINY), "double")
    result = CheckResult("one", False, "It doubles.", Difference("value"))
    with load_oracle(TINY_COURSE, TINY).substituted(Variant("double", "wrong", source=EDITED)) as names:
        assert with_places([result], checks, [EDITED], names, "cuda") == [result]
        assert with_places([result], checks, [EDITED], names, "cpu") != [result]


def test_an_edit_elsewhere_that_makes_more_values_wrong_is_a_way_around_the_mistake(monkeypatch):
    """With half of `x` above, four times it is right as well; the mistake is that it is taken four times."""
    text = ("def double(x):\n    y = x * 1.0\n    z = y + 0\n"
            "    return torch.einsum('i...,i->...', torch.stack([z, z]), torch.tensor([2.0, 2.0]))")
    assert {place.span[0] for place in searched(text) if place} == {4}
    monkeypatch.setattr(search.ValueSearch, "find_places", lambda values: [None] * len(values.checks))
    places = {(place.kind, place.span[0]) for place in searched(text) if place}
    assert places == {("edit", 2)}, "no value says where else"


def test_the_edits_know_the_types_of_the_values_that_were_seen(monkeypatch):
    known, edits_of = [], repair.edits_of
    monkeypatch.setattr(repair, "call_in_fork", lambda call, seconds: call())
    monkeypatch.setattr(repair, "edits_of", lambda *given: known.append(given[3]) or edits_of(*given))
    searched("def double(x):\n    n = 3\n    return n * x")
    assert known[0][3, 11, 3, 12] == {"int"} and {one.split()[0] for one in known[0][3, 15, 3, 16]} == {"tensor"}


def test_the_edits_know_where_the_first_value_is_that_no_right_answer_has(monkeypatch):
    lines = []
    monkeypatch.setattr(search.RepairSearch, "find_place", lambda repair: lines.append(repair.suspect_lines))
    searched("def double(x):\n    y = x * 1.0\n    z = 5 * y\n    return z - 1 * x")
    searched("def double(x):\n    return times(x)", others=[TIMES])
    assert lines == [[3], [2]]


def test_the_edits_know_what_the_checks_do_not_reach(monkeypatch):
    lines = []
    monkeypatch.setattr(search.RepairSearch, "find_place", lambda repair: lines.append(repair.skipped_lines))
    searched("def double(x):\n    return 3 * x\n\n\ndef other(x):\n    y = x\n    return y", others=[TIMES])
    assert lines == [{6, 7}], "of the other cell nothing is edited"


def test_beside_a_fault_in_all_checks_no_call_is_made_only_to_see_that_it_fails(monkeypatch):
    """The values show that: fewer calls are made than checks have records."""
    everywhere, calls = range(len(searched(WRONG))), []
    replay = search.replay
    monkeypatch.setattr(search, "replay", lambda *rest, **named: calls.append(named) or replay(*rest, **named))
    assert any(searched(WRONG, named=everywhere)) and calls == [{"track_effects": False}] * len(calls)
    assert not any(searched("def double(x):\n    return x + x",
                            failing={0: RecognisedFault("squared", "You squared it.")}))


def test_an_edit_at_the_place_counts_whatever_values_it_leaves(monkeypatch):
    """Its columns say nothing about where it is."""
    accepted, lines = {}, set()

    def no_repair(repair):
        lines.update(spot.span[0] for result in repair.results if result.place for spot in result.place.locations)
        accepted.update({line: repair.accepts(Edit((0, 0, 0, 0), (line, 99, line, 0), WRONG)) for line in range(1, 5)})

    monkeypatch.setattr(search.RepairSearch, "find_place", no_repair)
    searched(WRONG)
    assert len(lines) == 2 and accepted == {line: line in lines for line in range(1, 5)}


def test_a_moved_variable_is_named_where_a_right_value_mends_a_check(monkeypatch):
    accepted = {}

    def no_repair(repair):
        right = "def double(x):\n    return 2 * x"  # which leaves no value unknown
        accepted.update({moved: repair.accepts(Edit((1, 0, 1, 0), (1, 0, 1, 0), right, "move", moved))
                         for moved in ("", "y", "x", "z", "re")})
        accepted["later"] = repair.accepts(Edit((5, 0, 5, 0), (5, 0, 5, 0), right, "move", "z"))

    monkeypatch.setattr(search.RepairSearch, "find_place", no_repair)
    place = Place("value", (4, 8, 4, 9))
    monkeypatch.setattr(search.ValueSearch, "find_places", lambda values: [place] * len(values.checks))
    searched("def double(x):\n    z = 0\n    y = x * 1.0\n    w = y + 5 * x - x\n    return w + z")
    assert accepted == {"": True, "y": True, "x": True, "z": False, "re": True, "later": True}
