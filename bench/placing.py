"""Measure how long the search for places takes: `python -m bench.placing [session …]`.

A class in which a third of the exercises are wrong is judged with places and without, each time by a process of its
own, which prepares the instance and reads the self-checks of the release; each wrong answer is a known fault. The
self-check of each known fault is timed with the search for its place and without. All times are wall-clock times, so
nothing else should run on the machine.
"""

import argparse
import multiprocessing
import os
import statistics
import time
from concurrent.futures import ProcessPoolExecutor

import nbformat

from autograder.course import find
from autograder.judging import judge
from autograder.judging.submission import Submission
from autograder.model.oracle import load_oracle
from autograder.publish import notebooks
from autograder.runtime.notebook import commands

CLASS = 24  # submissions, of one instance


def submissions(course, session):
    """Yield the notebooks of a class in which every third exercise has a known fault, each time another."""
    oracle, right = load_oracle(course, session), notebooks.solved(course, session)
    faults = {name: [fault for fault in oracle.faults if fault.exercise == name] for name in right}
    for i in range(CLASS):
        cells = {name: oracle.text_of(of_exercise[i // 3 % len(of_exercise)])
                 if (i + j) % 3 == 0 and (of_exercise := faults[name]) else text
                 for j, (name, text) in enumerate(right.items())}
        yield Submission(nbformat.writes(notebooks.filled(course, session, cells)).encode(), session)


def judging_seconds(session, with_places):
    """Return the seconds of judging a class, with places or without."""
    course = find()
    notebooks = list(submissions(course, session))
    if not with_places:
        judge.JUDGE_PLACE_SECONDS = -1.0
    started = time.monotonic()
    with judge.Judge(course) as class_judge:
        for submission in notebooks:
            class_judge.judge(submission, "1")
    return time.monotonic() - started


def self_check_seconds(course, session):
    """Yield the seconds that the place of each known fault adds to its self-check."""
    oracle = load_oracle(course, session)
    os.chdir(course.released)
    commands.start(session)
    for fault in oracle.faults:
        with oracle.substituted(fault) as namespace:
            seconds = []
            for texts in ([], [oracle.text_of(fault)]):
                started = time.monotonic()
                commands._results(fault.exercise, namespace, texts)
                seconds.append(time.monotonic() - started)
        yield seconds[1] - seconds[0]


def main():
    """Print how long the search for places takes in each session."""
    parser = argparse.ArgumentParser(prog="bench.placing", description=__doc__)
    parser.add_argument("session", nargs="*", help="names of sessions (all, when none is given)")
    course = find()
    names = [course.full_name(name) for name in parser.parse_args().session] or course.sessions
    for name in names:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as process:
            with_places, without = process.map(judging_seconds, [name, name], [True, False])
        added = sorted(self_check_seconds(course, name))
        print(f"{name}: {CLASS} submissions {without:.1f} s without places, {with_places:.1f} with, "
              f"{with_places / without - 1:+.1%}; self-check of {len(added)} faults: median "
              f"{statistics.median(added):+.2f} s, at most {added[-1]:+.2f} s", flush=True)


if __name__ == "__main__":
    main()
