"""Measure how long the search for places takes: `python -m bench.placing [session …]`.

A class in which a third of the exercises are wrong is judged with places and without; each wrong answer is a known
fault. The self-checks of the release are read once for a class. The self-check of each known fault is timed with the
search for its place and without. All times are wall-clock times, so nothing else should run on the machine.
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
from autograder.model.oracle import load_oracle
from autograder.model.shipping import shipped_tree
from autograder.runtime import selfcheck

CLASS = 24  # submissions, of one instance


def submissions(course, assignment):
    """Yield the notebooks of a class in which every third exercise has a known fault, each time another."""
    oracle, right = load_oracle(course, assignment), samples.solved(course, assignment)
    faults = {name: [fault for fault in oracle.faults if fault.exercise == name] for name in right}
    for i in range(CLASS):
        cells = {name: oracle.text_of(of_exercise[i // 3 % len(of_exercise)])
                 if (i + j) % 3 == 0 and (of_exercise := faults[name]) else text
                 for j, (name, text) in enumerate(right.items())}
        yield Submission(nbformat.writes(samples.notebook(course, assignment, cells)).encode(), assignment)


def judging_seconds(course, notebooks, with_places):
    """Return the seconds of judging a class, with places or without."""
    default = judge.JUDGE_PLACE_SECONDS
    judge.JUDGE_PLACE_SECONDS = default if with_places else 0.0
    started = time.monotonic()
    with judge.Judge(course) as class_judge:
        for submission in notebooks:
            class_judge.judge(submission, "1")
    judge.JUDGE_PLACE_SECONDS = default
    return time.monotonic() - started


def reading_seconds(course, assignment):
    """Return the seconds of reading the self-checks of the release."""
    oracle, started = load_oracle(course, assignment), time.monotonic()
    for cell in oracle.source.by_role("exercise"):
        shipped_tree(oracle, str(cell.name))
    return time.monotonic() - started


def self_check_seconds(course, assignment):
    """Yield the seconds that the place of each known fault adds to its self-check."""
    oracle = load_oracle(course, assignment)
    os.chdir(course.released)
    selfcheck.start(assignment)
    for fault in oracle.faults:
        with oracle.substituted(fault) as namespace:
            seconds = []
            for texts in ([], [oracle.text_of(fault)]):
                started = time.monotonic()
                selfcheck._results(fault.exercise, namespace, texts)
                seconds.append(time.monotonic() - started)
        yield seconds[1] - seconds[0]


def main():
    """Print how long the search for places takes in each session."""
    parser = argparse.ArgumentParser(prog="bench.placing", description=__doc__)
    parser.add_argument("session", nargs="*", help="names of sessions (all, when none is given)")
    course = find()
    names = [course.full_name(name) for name in parser.parse_args().session] or course.assignments
    for name in names:
        notebooks = list(submissions(course, name))
        reading = reading_seconds(course, name)
        without, with_places = (judging_seconds(course, notebooks, places) for places in (False, True))
        added = sorted(self_check_seconds(course, name))
        print(f"{name}: {CLASS} submissions {without:.1f} s without places, {with_places:.1f} with, "
              f"{with_places / without - 1:+.1%}, and {reading:.1f} s once; self-check of {len(added)} faults: median "
              f"{statistics.median(added):+.2f} s, at most {added[-1]:+.2f} s", flush=True)


if __name__ == "__main__":
    main()
