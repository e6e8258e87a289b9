"""A version of a solution that cannot be tried is never taken for the solution itself, nor one course for another."""

import operator
import shutil
import sys
from dataclasses import replace

import pytest

from autograder.course import Course
from autograder.model import faults
from autograder.model.faults import Fault, ReplacementError, Variant
from autograder.model.loading import module_of
from autograder.model.oracle import Oracle, _each_once, load_oracle
from autograder.model.source import load_source
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.recorded import ErrorLocation
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


@pytest.mark.parametrize("replace", [["ab"], [("a", 1)], [("a", "b", "c")], ("a",), 3])
def test_edits_are_pairs_of_texts(replace):
    assert faults.edits(Variant("net", "one", replace=[("a", "b"), ("c", "d")])) == [("a", "b"), ("c", "d")]
    with pytest.raises(ReplacementError, match="net/one: replace is"):
        faults.edits(Variant("net", "one", replace=replace))


def test_a_version_that_cannot_be_is_named_with_its_line(tmp_path):
    lists = ("from autograder.authoring import Fault, Variant", "FAULTS = [Fault('double', 'one', '…', source='x')]",
             "VARIANTS = [Variant(name, 'one') for name in ('last',)] + [Variant('last', name='one'),",
             "            Variant('last', 'one')]")
    source = load_source(tiny_copy(tmp_path, faults="\n".join(lists), variants="\n".join(lists)), TINY)
    for version, said in (
            (Fault("double", "one", "…", source="x = 1\ny = = 2\nz = 3"), "faults.py:2: double/one: .*: y = = 2$"),
            (Variant("last", "one", source="\0"), "variants.py:4: last/one: .* null bytes: \0$"),
            (Variant("last", "one"), "variants.py:4: last/one changes nothing"),
            (Variant("last", "two"), "variants.py:1: last/two changes nothing")):
        with pytest.raises(ReplacementError, match=said):
            faults.refuse_no_python(source, version)


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
    """The pairs with a fault that some check shows are tried first."""
    oracle = Oracle(load_source(tiny_copy(tmp_path), TINY))
    (pair,) = faults.pairs(oracle.faults_of("encoder"), oracle.source.cell("exercise", "encoder").solution)
    endless = replace(pair.together, source="def EncoderRNN(*sizes):\n    while True:\n        pass\n")
    monkeypatch.setattr("autograder.model.oracle.PAIR_SECONDS", 0.2)
    monkeypatch.setitem(oracle._pairs, "encoder", [replace(pair, together=endless)])
    assert two_at_once(oracle, "encoder", IGNORED, SWAPPED) == [None, None]
    others = dict(zip(("first", "second"), oracle.faults_of("last"), strict=True))
    monkeypatch.setitem(oracle._pairs, "encoder", [replace(pair, together=endless, **others), pair])
    assert two_at_once(oracle, "encoder", IGNORED, SWAPPED)[1] == IGNORED_NAME


LATER = ("return henc_ts, henc_final", "return henc_final + (henc_init is not None), henc_ts")


def test_of_two_faults_neither_is_named_unless_both_are_listed_and_explain_all(tiny):
    oracle = load_oracle(tiny, TINY)
    for forgotten in oracle.faults_of("encoder"):
        assert two_at_once(oracle, "encoder", IGNORED, SWAPPED, unlisted=forgotten) == [None, None]
    assert two_at_once(oracle, "encoder", IGNORED, LATER) == [None, None]
    squared = oracle.faults_of("double")[0]
    assert two_at_once(oracle, "double", squared.replace) == [(squared.name, squared.feedback)] * 2
    assert two_at_once(oracle, "double", squared.replace, unlisted=squared) == [None, None]


def faults_of_double(folder, *lines):
    return Oracle(load_source(tiny_copy(folder, faults="\n".join(
        ["from autograder.authoring import Fault", "FAULTS = ["] + [f"    Fault('double', {line})," for line in lines]
        + ["]"])), TINY))


def test_each_check_has_the_fault_that_it_shows(tmp_path):
    text = "'def double(x):\\n    return {}\\n'"
    oracle = faults_of_double(tmp_path / "apart", f"'cut', '1', source={text.format('2 * x.detach()')}",
                              f"'more', '2', source={text.format('2 * x + 1')}")
    assert two_at_once(oracle, "double", ("2 * x", "2 * x.detach() + 1")) == [("more", "2"), ("cut", "1")]
    oracle = faults_of_double(tmp_path / "pair", "'one', '1', replace=('2 *', '1 + 2 *')",
                              "'two', '2', replace=('* x', '* x - 3')")
    both = ("one+two", "Two things at once. 1 2")
    assert two_at_once(oracle, "double", ("return 2 * x", "return 1 + 2 * x - 3")) == [both, None]


def test_an_oracle_has_the_solution_in_order(tmp_path, monkeypatch):
    course = tiny_copy(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    oracle, _ = (Oracle(load_source(course, TINY)) for _ in range(2))
    assert sys.path.count(str(course.released)) == 1
    assert list(oracle.defines) == list(oracle.source.exercises) and oracle.defines["last"] == {"last"}
    assert [[variant.name for variant in oracle.variants_of(name)] for name in ("last", "encoder")] == [["slice"], []]
    records = [oracle.recorder.record_without_relations(oracle.checks_of("last")[0], 1)]
    (reply,) = oracle.replay(Variant("last", "no method", source="def last(rows):\n    return rows.nothing()"), records)
    assert reply.error.where == ErrorLocation(2, "last", "return rows.nothing()")


def test_another_source_or_another_body_is_no_part_of_a_pair():
    one, other = (Fault("net", name, name, replace=(old, "2")) for name, old in (("a", "3 * x"), ("b", "N = 1")))
    assert [pair.together.feedback for pair in faults.pairs([one, other], CELL)] == ["Two things at once. a b"]
    for change in ({"source": CELL}, {"body": "return 3 * x"}):
        assert not list(faults.pairs([one, replace(other, **change)], CELL))
        assert not list(faults.pairs([replace(one, **change), other], CELL))


def test_pairs_are_composed_of_edits_that_leave_room_for_each_other(tiny):
    oracle = load_oracle(tiny, TINY)
    texts = {pair.together.name: pair.together.source
             for exercise in oracle.source.exercises
             for pair in faults.pairs(oracle.faults_of(exercise), oracle.source.cell("exercise", exercise).solution)}
    assert texts.keys() == {BOTH[0], "first-row+double-by-hand", "squared+detached"}
    assert "self.gru(encoder_input)" in texts[BOTH[0]] and "return henc_final, henc_ts" in texts[BOTH[0]]
    assert "x * x.detach()" in texts["squared+detached"]  # in the other order there is no room
