"""Answers that nobody listed, before the judge: `python -m bench.held_out [session …]`.

It prints what is said of each held-out answer (tests/fixtures/held_out) on several instances. Whether a sentence or a
place tells the true cause, only a person can say: that is written beside each answer, and `--written` counts it.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import dedent, indent

from autograder.audit.mutation import MutantTimeout, at_most
from autograder.course import Course, find
from autograder.judging.judge import grade_exercise, records_of
from autograder.model.faults import Version
from autograder.model.oracle import Oracle, load_oracle
from autograder.model.selfcheck_recording import record_selfchecks
from autograder.runtime import messages
from autograder.runtime.findings import CheckResult
from autograder.runtime.locate.search import all_recognised, find_places, searched_checks
from autograder.runtime.recorded import RecordedCheck
from autograder.runtime.selfchecks import SelfCheck

FOLDER = Path(__file__).resolve().parent.parent / "tests/fixtures/held_out"
# Each was written after what the one before had shown was mended.
SETS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
        "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
        "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth",
        "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth")
SEEDS = ("one", "two", "three")
SECONDS = 30  # of one answer on one instance


@dataclass(frozen=True)
class Answer:
    """An answer: its functions, and what was written about it, by key."""

    session: str
    exercise: str
    kind: str  # wrong, two (mistakes at once) or right
    name: str
    text: str

    @property
    def notes(self) -> dict[str, str]:
        """What stands in the comments at the top."""
        return dict(re.findall(r"^# ([\w ]+): (.+)$", self.text, re.M))

    def written(self, run: str) -> set[str]:
        """Return what was written of it after a run; after the last one, only where something had changed."""
        return set(self.notes.get(run, self.notes["first run"]).split(", "))


@dataclass(frozen=True)
class Judged:
    """What is said of an answer on one instance, in lines; nothing where it passes."""

    answer: Answer
    seed: str
    said: tuple[str, ...]
    faults: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


def answers(session: str, which: str = SETS[0]) -> list[Answer]:
    """Return the held-out answers of a session in one of the sets."""
    text = (FOLDER / which / f"{session}.txt").read_text(encoding="utf-8")
    parts = re.split(r"^# %% (\S+) (\S+) (\S+)\n", text, flags=re.M)[1:]
    return [Answer(session, *parts[i:i + 3], parts[i + 3]) for i in range(0, len(parts), 4)]


def pasted(answer: Answer, cell: str) -> str:
    """Return our cell with each function of an answer in the place of ours, its own ones in front or in their class."""
    lines, helpers = cell.splitlines(), []
    classes = {one.name: one for one in ast.parse(cell).body if isinstance(one, ast.ClassDef)}
    bodies = []
    for path, node in _functions(ast.parse(answer.text)):
        ours = _named(ast.parse(cell), path)
        if ours is None and path[0] in classes:
            end = classes[path[0]].end_lineno
            bodies.append((end, end, "\n" + indent(ast.unparse(node), " " * 4)))
        elif ours is None:
            helpers.append(ast.get_source_segment(answer.text, node) or "")
        else:
            start = ours.body[0].end_lineno if ast.get_docstring(ours) else ours.body[0].lineno - 1
            own = answer.text.splitlines()[node.body[0].lineno - 1:node.end_lineno]
            bodies.append((start, ours.end_lineno, indent(dedent("\n".join(own)), " " * ours.body[0].col_offset)))
            if node.decorator_list:
                above = [" " * ours.col_offset + f"@{ast.unparse(one)}" for one in node.decorator_list]
                first = min([one.lineno for one in ours.decorator_list], default=ours.lineno)
                bodies.append((first - 1, ours.lineno - 1, "\n".join(above)))
    for start, end, body in sorted(bodies, reverse=True):
        lines[start:end] = body.splitlines()
    return "\n\n\n".join([*helpers, "\n".join(lines)])


def judge_all(course: Course, session: str, which: str = SETS[0], seeds: Sequence[str] = SEEDS,
              exercises: Sequence[str] = ()) -> list[Judged]:
    """Return what is said of the held-out answers to exercises (all, when none is given), on several instances."""
    oracle, chosen = load_oracle(course, session), answers(session, which)
    found: list[Judged] = []
    for exercise in exercises or dict.fromkeys(one.exercise for one in chosen):
        for seed in seeds:
            found += _judge(oracle, [one for one in chosen if one.exercise == exercise], seed)
    return found


def table(found: Sequence[Answer], run: str = "first run") -> str:
    """Return what was written of answers after a run, "first run" or "now", counted by session."""
    lines = []
    for name in [*dict.fromkeys(one.session for one in found), "all"]:
        own = [one for one in found if name in (one.session, "all")]
        wrong, right = ([one for one in own if (one.kind == "right") is right] for right in (False, True))
        kinds = [one.written(run) for one in wrong]
        said = Counter(kind for own in kinds for kind in own)
        caught = len(wrong) - said["slipped"]
        true = sum(bool({"sentence", "place"} & own) for own in kinds)
        passed = sum("accepted" in one.written(run) for one in right)
        lines.append(f"{name}: {len(wrong)} wrong, {caught} caught, {true} explained by a sentence "
                     f"({said['sentence']}) or a place ({said['place']}), {said['misleading']} misleading; "
                     f"{len(right)} right, {passed} accepted")
    return "\n".join(lines)


def main() -> None:
    """Judge the held-out answers and print what is said, or count what was written of them."""
    course = find()
    parser = argparse.ArgumentParser(prog="bench.held_out", description=__doc__)
    parser.add_argument("session", nargs="*", help="names of sessions (all, when none is given)")
    parser.add_argument("--set", choices=SETS, default=SETS[-1], help="which were written together (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--written", action="store_true", help="count what is written in the data; judge nothing")
    options = parser.parse_args()
    names = [course.full_name(name) for name in options.session] or course.sessions
    if options.written:
        found = [one for name in names for one in answers(name, options.set)]
        print(*(f"{run}\n{table(found, run)}" for run in ("first run", "now")), sep="\n")
        return
    with ProcessPoolExecutor(options.jobs) as pool:
        for found in pool.map(judge_all, [course] * len(names), names, [options.set] * len(names)):
            _print(found)


def _print(found: Sequence[Judged]) -> None:
    by_answer: dict[Answer, list[Judged]] = {}
    for one in found:
        by_answer.setdefault(one.answer, []).append(one)
    for answer, own in by_answer.items():
        caught = sum(bool(one.said) for one in own)
        print(f"== {answer.session} {answer.exercise} {answer.kind} {answer.name}: failed {caught} of {len(own)}")
        print(f"   cause: {answer.notes.get('cause', '-')}")
        for i, one in enumerate(own):
            if i == 0 or (one.faults, one.places) != (own[0].faults, own[0].places):
                print(f"   [{one.seed}] faults: {', '.join(one.faults)}; places: {' | '.join(one.places)}")
                print(*(f"     {line}" for line in one.said), sep="\n")


def _judge(oracle: Oracle, chosen: Sequence[Answer], seed: str) -> Iterator[Judged]:
    exercise = chosen[0].exercise
    records, checks = records_of(oracle, exercise, seed), record_selfchecks(oracle, exercise)
    cell = oracle.source.cell("exercise", exercise).solution
    for answer in chosen:
        version = Version(exercise, answer.name, source=pasted(answer, cell))
        try:
            with at_most(SECONDS):
                results = _placed(oracle, version, records, checks)
        except MutantTimeout:
            yield Judged(answer, seed, ("stuck",))
            continue
        yield _said(answer, seed, results)


def _placed(oracle: Oracle, version: Version, records: Sequence[Sequence[RecordedCheck]],
            checks: Sequence[SelfCheck]) -> list[CheckResult]:
    """The results of an answer, as the judge has them."""
    replies = oracle.replay(version, [record for own in records for record in own])
    others = [cell.solution for cell in oracle.source.by_role("given", "exercise") if cell.name != version.exercise]
    results = grade_exercise(oracle, version.exercise, records, replies,
                             cells=[*others, oracle.text_of(version)]).checks
    numbers = searched_checks(results) if all_recognised(results) else range(len(results))
    failing = {i: results[i].fault for i in numbers if results[i].difference}
    with oracle.substituted(version) as names:
        found = find_places(checks, failing, [oracle.text_of(version)], names)
    return [replace(one, place=place) for one, place in zip(results, found, strict=True)]


def _said(answer: Answer, seed: str, results: Sequence[CheckResult]) -> Judged:
    if all(one.passed for one in results):
        return Judged(answer, seed, ())
    return Judged(answer, seed, tuple(messages.reasons([one for one in results if not one.passed])),
                  tuple(sorted({one.fault.name for one in results if one.fault})),
                  tuple(dict.fromkeys(spot.text for one in results if one.place for spot in one.place.locations)))


def _functions(tree: ast.Module) -> Iterator[tuple[tuple[str, ...], ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from (((node.name, one.name), one) for one in node.body if isinstance(one, ast.FunctionDef))
        elif isinstance(node, ast.FunctionDef):
            yield (node.name,), node


def _named(tree: ast.Module, path: tuple[str, ...]) -> ast.FunctionDef | None:
    """Return the function of this name, or the one method of this name; None where there is none."""
    own = dict(_functions(tree))
    methods = [node for names, node in own.items() if len(names) == 2 and names[1:] == path]
    return own.get(path) or (methods[0] if len(methods) == 1 else None)


if __name__ == "__main__":
    main()
