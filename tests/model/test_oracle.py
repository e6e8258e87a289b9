"""A version of a solution that cannot be tried is never taken for the solution itself, nor one course for another."""

import operator
import shutil
from dataclasses import replace

import pytest

from autograder.course import Course
from autograder.model import faults
from autograder.model.faults import ReplacementError, Variant
from autograder.model.loading import module_of
from autograder.model.oracle import Oracle, _each_once, load_oracle
from autograder.model.source import load_source
from autograder.runtime.diagnosis import RecognisedFault
from conftest import REPOSITORY, TINY, TINY_COURSE, tiny_copy


@pytest.fixture
def oracle():
    return load_oracle(REPOSITORY, REPOSITORY.sessions[0])


def test_an_edit_that_does_not_fit_is_an_error(oracle):
    with pytest.raises(ReplacementError):
        oracle.replay(Variant(oracle.source.exercises[0], "stale", replace=("this line stands nowhere", "")), [])


CELL = '''def helper(x):
    return x

class Net:
    def forward(self, x):
        """Return three times x."""
        # TODO: the product
        return helper(3 * x)

N = 1'''


def test_another_body_is_that_of_the_last_function_and_swaps_edit_it():
    body = "y = x + x\n\nreturn y + x"
    text = CELL.replace("        return helper(3 * x)", "        y = x + x\n\n        return y + x")
    assert faults.edited(Variant("net", "sums", body=body), CELL) == text
    swapped = Variant("net", "twice", body=body, replace=[("y + x", "y"), ("N = 1", "N = 2")])
    assert faults.edited(swapped, CELL) == text.replace("y + x", "y").replace("N = 1", "N = 2")
    with pytest.raises(ReplacementError, match="net/none: the solution has no function"):
        faults.edited(Variant("net", "none", body=body), "N = 1")


def test_a_cell_that_does_not_run_defines_nothing(oracle):
    exercise = oracle.source.exercises[0]
    with oracle.substituted(Variant(exercise, "broken", source="raise ValueError")) as namespace:
        assert not oracle.defines[exercise] & set(namespace)
    assert oracle.defines[exercise] <= set(oracle.namespace)


def in_thrice(text):
    """The tiny TP in another course: there, to double is to take three times."""
    return text.replace("2 * x", "3 * x").replace("x + x", "x + x + x").replace("Twice", "Thrice")


@pytest.fixture
def other(tiny, tmp_path):
    """A second course with a TP of the same name."""
    course = Course(tmp_path)
    shutil.copytree(tiny.folder(TINY), course.folder(TINY))
    for name in (TINY, "checks", "faults", "variants"):
        path = course.folder(TINY) / f"{name}.py"
        path.write_text(in_thrice(path.read_text(encoding="utf-8")), encoding="utf-8")
    return course


def test_two_courses_with_a_tp_of_the_same_name_do_not_mix(tiny, other):
    first, second = load_oracle(tiny, TINY), load_oracle(other, TINY)
    assert (first.namespace["double"](1), second.namespace["double"](1)) == (2, 3)
    assert [oracle.checks_of("double")[0].description for oracle in (first, second)] == [
        "Twice every number.", "Thrice every number."]
    assert module_of(tiny, TINY, "checks") is not module_of(other, TINY, "checks")
    for oracle, number in ((first, 2), (second, 3)):  # each reads its own faults, and is not changed by the other's
        squared = oracle.faults_of("double")[0]
        with oracle.substituted(squared) as namespace:
            assert namespace["double"](5) == 25
        assert oracle.namespace["double"](5) == number * 5
    assert load_oracle(Course(tiny.root), TINY) is first and load_oracle(Course(other.root), TINY) is second


def test_a_module_is_imported_once(tiny):
    assert module_of(tiny, TINY, "checks") is module_of(Course(tiny.root), TINY, "checks")
    assert module_of(tiny, TINY, "nothing") is None


def test_the_variants_of_a_session_import_from_the_faults_beside_them(tmp_path):
    text = (TINY_COURSE.folder(TINY) / "variants.py").read_text(encoding="utf-8")
    courses = [tiny_copy(tmp_path / name, variants=f"{text}\nfrom .faults import FAULTS\n") for name in "ab"]
    wrong, right = ([module_of(course, TINY, kind).FAULTS for course in courses] for kind in ("faults", "variants"))
    assert all(map(operator.is_, wrong, right)) and wrong[0] is not wrong[1]


def test_a_second_oracle_shares_nothing_with_the_first(tiny):
    first, second = Oracle(load_source(tiny, TINY)), Oracle(load_source(tiny, TINY))
    first.namespace["double"] = None
    assert second.namespace["double"](1) == 2


def two_at_once(oracle, exercise, *edits, unlisted=None):
    """What an answer with several edits is called, check by check."""
    text = oracle.source.cell("exercise", exercise).solution
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    records = [oracle.recorder.record_without_relations(check, 5) for check in oracle.checks_of(exercise)]
    got = oracle.replay(Variant(exercise, "two at once", source=text), records)
    return [one and (one.name, one.feedback) for one in oracle.diagnose(exercise, records, got, unlisted)]


IGNORED = ("self.gru(encoder_input, henc_init)", "self.gru(encoder_input)")
SWAPPED = ("return henc_ts, henc_final", "return henc_final, henc_ts")
IGNORED_NAME = ("initial-state-ignored", "Your encoder starts from zeros even when it is given `henc_init`.")
BOTH = ("initial-state-ignored+results-swapped",
        "Two things at once. Your encoder starts from zeros even when it is given `henc_init`. "
        "Your two results come in the wrong order.")


def test_two_faults_at_once_are_named_check_by_check(tiny):
    """Where one of them alone answers so, that one; where both show, the one that is not named yet."""
    oracle = load_oracle(tiny, TINY)
    states, initial_state = two_at_once(oracle, "encoder", IGNORED, SWAPPED)
    assert (states[0], initial_state) == ("results-swapped", IGNORED_NAME)


def test_two_faults_at_once_of_which_none_shows_alone_are_named_together(tiny):
    oracle = load_oracle(tiny, TINY)
    text = oracle.source.cell("exercise", "encoder").solution
    for old, new in (IGNORED, SWAPPED):
        text = text.replace(old, new)
    check = next(one for one in oracle.checks_of("encoder") if one.name == "initial-state")
    records = [oracle.recorder.record_without_relations(check, 5)]
    got = oracle.replay(Variant("encoder", "two at once", source=text), records)
    (named,) = oracle.diagnose("encoder", records, got)
    assert (named.name, named.feedback) == BOTH


@pytest.mark.parametrize(("named", "wanted"), [
    ("t", "t"), ("t-", "t-"), ("ft", "fs"), ("ts", "fs"), ("fts-", "ffs-"), ("ff", "ff"), ("fs", "fs"), ("tt", "tt")])
def test_each_of_two_faults_is_named_once(tiny, named, wanted):
    """f: the first, s: the second, t: both together, -: none."""
    oracle = load_oracle(tiny, TINY)
    (pair,) = faults.pairs(oracle.faults_of("encoder"), oracle.source.cell("exercise", "encoder").solution)
    of_letter = {letter: RecognisedFault(one.name, one.feedback)
                 for letter, one in zip("fst", (pair.first, pair.second, pair.together), strict=True)}
    assert _each_once(pair, list(map(of_letter.get, named))) == list(map(of_letter.get, wanted))


def test_two_faults_that_never_end_together_stop_nothing(tmp_path, monkeypatch):
    oracle = Oracle(load_source(tiny_copy(tmp_path), TINY))
    (pair,) = faults.pairs(oracle.faults_of("encoder"), oracle.source.cell("exercise", "encoder").solution)
    endless = replace(pair.together, source="while True:\n    pass\n")
    monkeypatch.setitem(oracle._pairs, "encoder", [replace(pair, together=endless)])
    monkeypatch.setattr("autograder.model.oracle.PAIR_SECONDS", 0.2)
    named = two_at_once(oracle, "encoder", IGNORED, SWAPPED)
    assert BOTH[0] not in [one[0] for one in named if one]


def test_a_fault_of_two_that_is_not_listed_names_none(tiny):
    oracle = load_oracle(tiny, TINY)
    (ignored, swapped) = oracle.faults_of("encoder")
    for forgotten in (ignored, swapped):
        named = two_at_once(oracle, "encoder", IGNORED, SWAPPED, unlisted=forgotten)
        assert [one for one in named if one and one[0] == BOTH[0]] == []


def test_pairs_are_composed_of_edits_that_leave_room_for_each_other(tiny):
    oracle = load_oracle(tiny, TINY)
    texts = {pair.together.name: pair.together.source
             for exercise in oracle.source.exercises
             for pair in faults.pairs(oracle.faults_of(exercise), oracle.source.cell("exercise", exercise).solution)}
    assert texts.keys() == {BOTH[0], "first-row+double-by-hand", "squared+detached"}
    assert "self.gru(encoder_input)" in texts[BOTH[0]] and "return henc_final, henc_ts" in texts[BOTH[0]]
    assert "x * x.detach()" in texts["squared+detached"]  # in the other order there is no room
