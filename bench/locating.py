"""Whether the places that are shown are where the fault is: `python -m bench.locating [session …]`.

Mutants know which expression was changed. A place is right at it, or in the same statement. One is near in the
statements that use what was stored there, in the branch or the loop that it decides, at the calls of a function whose
return it is, where the variables of a missing statement are used, and in the line of the first expression that came out
otherwise than without the change. Of several places of an answer all have to be right or near.

The mutants of the solution and those of its variants are judged apart: a variant is an answer of another hand, and its
own text is left out of what is known.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any

from autograder.audit.mutants import Mutant, mutants_of
from autograder.audit.mutation import Stuck, at_most
from autograder.course import Course, find
from autograder.judging.judge import records_of
from autograder.model.faults import Variant
from autograder.model.oracle import Oracle, oracle
from autograder.model.places import values_of_right_answers
from autograder.model.source import Cell
from autograder.runtime import compare
from autograder.runtime.findings import CheckResult
from autograder.runtime.locate.observation import form, same
from autograder.runtime.locate.rewriting import Expression, cells_of
from autograder.runtime.locate.right_values import RightValues
from autograder.runtime.locate.search import placed
from autograder.runtime.locate.value_replacement import observed
from autograder.runtime.place import Place, Spot
from autograder.runtime.recorded import RecordedCheck
from autograder.runtime.replay import replay
from autograder.runtime.syntax import Span, root, segment
from autograder.runtime.values import Value

from .pairing import BOTH, Paired, paired_all
from .pairing import WRONG as ANOTHER

SECONDS = 5
# operators that leave the values as they are
SAME_VALUES = {"detach", "without gradient", "double", "in place", "surroundings"}
GROWING = {"append", "extend", "insert", "add", "update", "appendleft", "setdefault"}
RIGHT, NEAR, WRONG, NONE = "right", "fed by it", "wrong", "nothing said"


@dataclass
class Located:
    """How often the place was right, by whose mutants they are; ``misses`` are those where it was wrong."""

    assignment: str
    counts: dict[str, Counter[str]] = field(default_factory=lambda: {"solution": Counter(), "variants": Counter()})
    misses: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.assignment}:"]
        for whose, counts in self.counts.items():
            total = sum(counts.values())
            said = ", ".join(f"{kind} {counts[kind]}" for kind in (RIGHT, NEAR, WRONG, NONE))
            share = (counts[RIGHT] + counts[NEAR]) / total if total else 0
            lines.append(f"  mutants of the {whose} whose values differ: {total}; {said}; {share:.1%} placed")
        return "\n".join([*lines, *(f"  wrong place: {miss}" for miss in self.misses)])


@dataclass(frozen=True)
class Searched:
    """A check as it is searched: the values that right answers have in it, without those of one hand."""

    records: Sequence[RecordedCheck]
    right: RightValues


def located(course: Course, assignment: str, every: int = 1, seed: str = "1") -> Located:
    """Return where the places of one in ``every`` mutants of a session are."""
    truth, found = oracle(course, assignment), Located(assignment)
    for cell in truth.source.by_role("exercise"):
        name = str(cell.name)
        records = [own[0].plain for own in records_of(truth, name, seed)]
        _count(truth, cell, _searched(truth, name, records), every, found, "solution")
        for variant in [one for one in truth.variants if one.exercise == name]:
            others, text = _searched(truth, name, records, variant), truth.text_of(variant)
            _count(truth, replace(cell, source=_all_written(text)), others, every * 3, found, "variants")
    return found


def _searched(truth: Oracle, exercise: str, records: Sequence[RecordedCheck],
              without: Variant | None = None) -> list[Searched]:
    return [Searched([one], values_of_right_answers(truth, exercise, one, without)) for one in records]


def located_all(course: Course, assignments: Sequence[str], jobs: int, every: int = 1) -> Iterator[Located]:
    """Return the same of several sessions, side by side."""
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(located, [course] * len(assignments), assignments, [every] * len(assignments))


def table(places: Sequence[Located], pairs: Sequence[Paired]) -> str:
    """Return what was found in several sessions together, beside what it is to be."""
    rows = []
    for whose, aim in (("solution", "95% placed"), ("variants", "85% placed, 3% wrong")):
        counts = sum((one.counts[whose] for one in places), Counter[str]())
        placed, wrong = (_share(counts, *kinds) for kinds in ((RIGHT, NEAR), (WRONG,)))
        rows.append((f"mutants of the {whose}, {counts.total()}", f"{placed} placed, {wrong} wrong", aim))
    named = sum((one.counts for one in pairs), Counter[str]())
    rows.append((f"two faults at once, {named.total()}",
                 f"{_share(named, BOTH)} both named, {_share(named, ANOTHER)} wrong", "80% explained"))
    return "\n".join(f"{what:<36} {said:<36} aim: {aim}" for what, said, aim in rows)


def main() -> None:
    """Print both counts of each session, and what they are together."""
    course = find()
    parser = argparse.ArgumentParser(prog="bench.locating", description=__doc__)
    parser.add_argument("session", nargs="*", help="names of sessions (all, when none is given)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="of the mutants only one in so many (1)")
    options = parser.parse_args()
    names = [course.meant(name) for name in options.session] or course.assignments
    places, pairs = [], []
    for place, pair in zip(located_all(course, names, options.jobs, options.every),
                           paired_all(course, names, options.jobs), strict=True):
        print(f"{place}\n{pair}", flush=True)
        places.append(place)
        pairs.append(pair)
    print(table(places, pairs))


def _share(counts: Counter[str], *kinds: str) -> str:
    return f"{sum(counts[kind] for kind in kinds) / max(counts.total(), 1):.1%}"


def _all_written(text: str) -> str:
    """A cell's text all of which counts as written by a student."""
    return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION"


def _count(truth: Oracle, cell: Cell, checks: Sequence[Searched], every: int, found: Located, whose: str) -> None:
    try:
        before, mutants = ast.parse(ast.unparse(ast.parse(cell.solution))), mutants_of(cell)[::every]
    except SyntaxError:
        return
    for mutant in mutants:
        if mutant.operator in SAME_VALUES:
            continue
        try:
            with at_most(SECONDS):
                shown = _shown(truth, mutant, checks)
        except Stuck:
            continue
        if shown is None:
            continue
        kinds = {place: _kind(before, mutant, place) for place in shown}
        for place, record in shown.items():
            if kinds[place] == WRONG:
                texts = ast.unparse(before), mutant.source
                if _is_next(texts, *(_seen(truth, text, mutant.exercise, record) for text in texts), place):
                    kinds[place] = NEAR
        found.counts[whose][next((kind for kind in (WRONG, RIGHT, NEAR) if kind in kinds.values()), NONE)] += 1
        found.misses += [f"{mutant.exercise} | {mutant.change} | {segment(mutant.source, place.span)[:80]}"
                         for place, kind in kinds.items() if kind == WRONG]


def _shown(truth: Oracle, mutant: Mutant, checks: Sequence[Searched]) -> dict[Place | Spot, RecordedCheck] | None:
    """The places that are shown of a mutant, and the check in which each was seen.

    None where what it fails first is no value, also alone, or an error stops it.
    """
    version, records = _version(mutant.exercise, mutant.source), [one.records[0] for one in checks]
    replies = truth.replies(version, records)
    if any(reply.error for reply in replies):
        return None
    differences = [compare.plain_difference(record, reply) for record, reply in zip(records, replies, strict=True)]
    first, difference = next(((i, one) for i, one in enumerate(differences) if one), (0, None))
    if difference is None or not difference.is_of_values:
        return None
    (alone,) = truth.replies(version, [records[first]])
    if not compare.plain_difference(records[first], alone):
        return None
    results = [CheckResult(str(i), one is None, "", one) for i, one in enumerate(differences)]
    with truth.substituted(version) as names:
        results = placed(results, checks, [mutant.source], names)
    return {spot: record for one, record in zip(results, records, strict=True) if one.place
            for spot in (one.place, one.place.second) if spot}


def _version(exercise: str, text: str) -> Variant:
    return Variant(exercise, "mutant", source=text)


def _kind(before: ast.AST, mutant: Mutant, place: Place | Spot) -> str:
    tree = ast.parse(mutant.source)
    node = _changed(before, tree)
    changed = _span(node)
    if _within(place.span, changed) or _within(changed, place.span):
        return RIGHT
    here, there = _statement(tree, changed), _statement(tree, place.span)
    if here is not None and here is there:
        return RIGHT
    if here is None or there is None:
        return WRONG
    first = mutant.change.partition(" → ")[0]
    original = next((one for one in ast.walk(before)
                     if isinstance(one, ast.stmt) and ast.unparse(one).splitlines()[0] == first), here)
    if mutant.operator == "dropped":  # what the statement did is missing where its variables are used
        return NEAR if _names(original, None) & _names(there, None) else WRONG
    stored = _names(here, ast.Store) | _names(original, ast.Store)
    if isinstance(here, ast.Return):  # what a function gives back is what its calls are
        stored |= {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and here in ast.walk(one)}
    return NEAR if _decides(tree, changed, place.span) or stored & _names(there, None) else WRONG


Event = tuple[Expression, Value]  # an expression, and what it was


def _seen(truth: Oracle, text: str, exercise: str, record: RecordedCheck) -> list[Event]:
    """The values of an answer's expressions, in the order of time."""
    with truth.substituted(_version(exercise, text)) as names:
        return _events(text, names, lambda: replay(record.ops, names))


def _events(text: str, names: dict[str, Any], run: Callable[[], object]) -> list[Event]:
    cells = cells_of([text])
    seen, expressions = observed(cells, names, run), {one.number: one for cell in cells for one in cell.expressions}
    events = [(time, number, value) for number, values in seen.series.items()
              for time, value in zip(seen.times[number], values, strict=True)]
    return [(expressions[number], value) for _, number, value in sorted(events, key=lambda event: event[0])]


def _is_next(texts: Sequence[str], before: Sequence[Event], after: Sequence[Event], place: Place | Spot) -> bool:
    """Whether a place is in the line of the first value that came out otherwise than without a change."""
    cells = [cells_of([text])[0].expressions for text in texts]
    lines = [[(one.statement, one.function, segment(text, one.span)) for one in own]
             for text, own in zip(texts, cells, strict=True)]
    blocks = SequenceMatcher(None, *lines, autojunk=False).get_matching_blocks()
    pairs = {a + i: b + i for a, b, size in blocks for i in range(size)}
    old = [(pairs[one.number], value) for one, value in before if one.number in pairs]
    new = [(one, value) for one, value in after if one.number in pairs.values()]
    for (own, value), (one, other) in zip(old, new, strict=False):
        if own != one.number or form(value) != form(other) or form(value) and not same(value, other):
            return one.span[0] <= place.span[0] <= one.span[2] or place.span[0] <= one.span[0] <= place.span[2]
    return False


def _changed(before: ast.AST, after: ast.AST) -> ast.AST:
    """The smallest node of a changed tree in which all that changed lies, and that stands somewhere."""
    standing = after
    while True:
        if hasattr(after, "lineno"):
            standing = after
        if type(before) is not type(after):
            return standing
        pairs: list[tuple[ast.AST, ast.AST]] = []
        for name in before._fields:
            old, new = getattr(before, name, None), getattr(after, name, None)
            olds, news = (one if isinstance(one, list) else [one] for one in (old, new))
            if len(olds) != len(news):
                return standing
            for left, right in zip(olds, news, strict=True):
                if isinstance(left, ast.AST) and isinstance(right, ast.AST):
                    if ast.dump(left) != ast.dump(right):
                        pairs.append((left, right))
                elif left != right:
                    return standing
        if len(pairs) != 1:
            return standing
        before, after = pairs[0]


def _span(node: ast.AST) -> Span:
    return (getattr(node, "lineno", 1), getattr(node, "col_offset", 0), getattr(node, "end_lineno", 1),
            getattr(node, "end_col_offset", 0))


def _within(inner: Span, outer: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _statement(tree: ast.AST, span: Span) -> ast.stmt | None:
    """The smallest statement around a span."""
    found = [one for one in ast.walk(tree) if isinstance(one, ast.stmt) and _within(span, _span(one))
             and not isinstance(one, (ast.FunctionDef, ast.ClassDef))]
    return max(found, key=lambda one: _span(one)[:2], default=None)


def _names(node: ast.AST, stored: type[ast.Store] | None) -> set[str]:
    """The variables and attributes in a statement, or those that it stores."""
    found = set()
    for one in ast.walk(node):
        if isinstance(one, (ast.Name, ast.Attribute)) and (stored is None or isinstance(one.ctx, stored)):
            found.add(one.id if isinstance(one, ast.Name) else one.attr)
        elif isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store) and isinstance(one.value, ast.Name):
            found.add(one.value.id)
        elif stored and isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in GROWING:
            found.add(root(one.func.value) or "self")
    return found - {"self"}


def _decides(tree: ast.AST, changed: Span, place: Span) -> bool:
    """Whether what was changed is the head of a branch or a loop in which the place lies."""
    for one in ast.walk(tree):
        head = one.iter if isinstance(one, ast.For) else one.test if isinstance(one, (ast.If, ast.While)) else None
        if head is not None and _within(changed, _span(head)) and _within(place, _span(one)):
            return True
        if head is not None and _within(changed, _span(head)) and any(
                _within(place, _span(other)) for other in _otherwise(tree, one)):
            return True
        if isinstance(one, (ast.For, ast.While)) and place[:2] == _span(one)[:2] and _within(changed, _span(one)):
            return True
    return False


def _otherwise(tree: ast.AST, branch: ast.AST) -> list[ast.stmt]:
    """The statements behind a branch that leaves the block: they are its other side."""
    leaving = (ast.Return, ast.Raise, ast.Continue, ast.Break)
    if not isinstance(branch, ast.If) or not isinstance(branch.body[-1], leaving):
        return []
    for one in ast.walk(tree):
        body = getattr(one, "body", None)
        if isinstance(body, list) and branch in body:
            return body[body.index(branch) + 1:]
    return []


if __name__ == "__main__":
    main()
