"""Which fault is named: replies are numbers, and 0 is right."""

import pytest

from autograder.runtime.diagnosis import CandidateFault, RecognisedFault, diagnose
from autograder.runtime.recorded import OutputSpec, RecordedCheck, Reply
from autograder.runtime.values import describe

RECORD = RecordedCheck((), Reply({"y": describe(0)}), {"y": OutputSpec()}, 0)


def says(number):
    return None if number is None else Reply({"y": describe(number)})


def named(got, **faults):
    """The names that the replies are given; ``faults`` are known by what they answer, None where not asked."""
    candidates = [CandidateFault(name, f"You {name}.", [says(n) for n in answers]) for name, answers in faults.items()]
    found = diagnose([(RECORD, says(number)) for number in got], candidates)
    assert all(one is None or type(one) is RecognisedFault and one.feedback == f"You {one.name}." for one in found)
    return [one and one.name for one in found]


@pytest.mark.parametrize("got, faults, names", [
    # all is right, or nothing is known
    ([0, 0], {"a": [0, 0]}, [None, None]),
    ([1, 2], {}, [None, None]),
    # one that answers every check as the student is all there is to say
    ([1, 2, 0], {"a": [1, 2, 0]}, ["a", "a", None]),
    ([1, 2], {"a": [1, 2], "b": [1, 2]}, ["a", "a"]),
    ([1, 2], {"b": [1, 0], "a": [1, 2]}, ["a", "a"]),
    ([1, 2, 3], {"b": [1, 2, 0], "a": [1, 2, 3]}, ["a", "a", "a"]),
    # it must do nothing wrong that is not seen, whether or not it is asked there
    ([1, 0], {"a": [1, 5]}, [None, None]),
    ([1, 2], {"a": [1, 5]}, [None, None]),
    ([1, 2], {"a": [1, None]}, [None, None]),
    ([1, 2], {"a": [1, 0]}, ["a", None]),
    ([5, 6], {"a": [0, 0]}, [None, None]),
    # two, each in its checks
    ([1, 2], {"a": [1, 0], "b": [0, 2]}, ["a", "b"]),
    # of two that explain a check, the one that explains most; none of two that explain as much
    ([1, 2], {"a": [1, 0], "b": [1, 0]}, [None, None]),
    ([1, 2, 3], {"a": [1, 2, 0], "b": [1, 0, 0]}, ["a", "a", None]),
    ([1, 2, 3], {"b": [1, 0, 0], "a": [1, 2, 0]}, ["a", "a", None]),
    ([1, 2, 3, 0], {"a": [1, 2, 0, 0], "b": [0, 2, 3, 0]}, ["a", None, "b", None]),
    # one that another hides in a check counts where it explains several checks besides
    ([1, 2, 3, 4], {"a": [1, 0, 0, 0], "b": [9, 2, 3, 0]}, ["a", "b", "b", None]),
    ([1, 2, 3, 4], {"a": [1, 0, 0, 0], "b": [9, 2, 0, 0]}, ["a", None, None, None]),
    ([1, 2, 3, 4], {"a": [1, 0, 0, 0], "b": [9, 2, 3, 9]}, ["a", None, None, None]),
    ([1, 2, 3, 0], {"a": [1, 0, 0, 0], "b": [9, 2, 3, 9]}, ["a", None, None, None]),
    ([1, 2, 3, 4], {"b": [9, 2, 3, 0], "a": [1, 0, 0, 0]}, ["a", "b", "b", None]),
    ([1, 2, 3], {"b": [9, 2, 3]}, [None, None, None]),
    ([1, 2, 3, 4], {"a": [1, 0, 0, 0], "b": [0, 2, 0, 0], "c": [9, 0, 3, 4]}, ["a", "b", "c", "c"]),
    # what passes explains nothing more, and neither does what has its name already
    ([1, 2, 0, 0], {"a": [1, 0, 0, 0], "b": [9, 2, 0, 0]}, ["a", None, None, None]),
    ([1, 2, 3], {"a": [1, 2, 0], "b": [1, 9, 3]}, ["a", "a", None]),
    ([1, 2, 3, 4, 5], {"a": [1, 0, 0, 0, 0], "b": [9, 2, 3, 4, 5]}, ["a", "b", "b", "b", "b"]),
    # what explains more of other checks does not take the name of a check
    ([1, 2, 0, 0], {"a": [1, 0, 0, 0], "b": [0, 2, 0, 0]}, ["a", "b", None, None]),
])
def test_a_fault_is_named_only_where_all_that_it_does_wrong_is_seen(got, faults, names):
    assert named(got, **faults) == names
