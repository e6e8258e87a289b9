"""What looking for places costs: `python -m bench.placing [session …]`.

A class in which a third of the exercises are wrong is judged with places and without; each wrong answer is a known
fault. The self-checks of the release are read once for a class. The self-check of each known fault is timed with the
search for its place and without. All seconds are on the clock: the machine must have nothing else to do.
"""

import argparse
import os
import statistics
import time

import nbformat

from autograder.classroom import samples
from autograder.course import find
from autograder.judging import judge
from autograder.judging.submission import Submission
from autograder.model.oracle import oracle
from autograder.model.places import shipped_tree
from autograder.runtime import selfcheck

CLASS = 24  # submissions, of one instance


def submissions(course, assignment):
    """A class in which every third exercise has a known fault, each time another."""
    truth, right = oracle(course, assignment), samples.solved(course, assignment)
    faults = {name: [one for one in truth.faults if one.exercise == name] for name in right}
    for i in range(CLASS):
        cells = {name: truth.text_of(own[i // 3 % len(own)]) if (i + j) % 3 == 0 and (own := faults[name]) else text
                 for j, (name, text) in enumerate(right.items())}
        yield Submission(nbformat.writes(samples.notebook(course, assignment, cells)).encode(), assignment)


def judged(course, handed, places):
    """Seconds of judging a class, with places and repairs or without."""
    searched = judge.JUDGE_PLACE_SECONDS
    judge.JUDGE_PLACE_SECONDS = searched if places else 0.0
    started = time.monotonic()
    with judge.Judge(course) as one:
        for submission in handed:
            one.judge(submission, "1")
    judge.JUDGE_PLACE_SECONDS = searched
    return time.monotonic() - started


def prepared(course, assignment):
    """Seconds of reading the self-checks of the release."""
    truth, started = oracle(course, assignment), time.monotonic()
    for cell in truth.source.by_role("exercise"):
        shipped_tree(truth, str(cell.name))
    return time.monotonic() - started


def self_checked(course, assignment):
    """Seconds that the place of each known fault adds to its self-check."""
    truth = oracle(course, assignment)
    os.chdir(course.released)
    selfcheck.start(assignment)
    for fault in truth.faults:
        with truth.substituted(fault) as namespace:
            took = []
            for texts in ([], [truth.text_of(fault)]):
                started = time.monotonic()
                selfcheck._results(fault.exercise, namespace, texts)
                took.append(time.monotonic() - started)
        yield took[1] - took[0]


def main():
    """Print what places cost in each session."""
    parser = argparse.ArgumentParser(prog="bench.placing", description=__doc__)
    parser.add_argument("session", nargs="*", help="names of sessions (all, when none is given)")
    course = find()
    names = [course.full_name(name) for name in parser.parse_args().session] or course.assignments
    for name in names:
        handed = list(submissions(course, name))
        once = prepared(course, name)
        without, placed = (judged(course, handed, places) for places in (False, True))
        added = sorted(self_checked(course, name))
        print(f"{name}: {CLASS} submissions {without:.1f} s without places, {placed:.1f} with, "
              f"{placed / without - 1:+.1%}, and {once:.1f} s once; self-check of {len(added)} faults: median "
              f"{statistics.median(added):+.2f} s, at most {added[-1]:+.2f} s", flush=True)


if __name__ == "__main__":
    main()
