"""Whether the places that are shown are where the fault is: `python -m bench.locating [session …]`.

A mutant knows which expression was changed. A place is right if it is that expression, or in the same statement. It is
near in statements that use what was stored there, in the branch or the loop that the expression controls, at the calls
of a function that returns it, where the variables of a missing statement are used, and in the line of the first
expression whose value the change alters. If an answer has several places, all of them have to be right or near.

The mutants of the solution and those of its variants are counted separately, because a variant is an answer of another
author. Its own text is left out of the right values.
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

from autograder.audit.mutation import MutantTimeout, at_most
from autograder.audit.mutation_operators import Mutant, generate_mutants
from autograder.course import Course, find
from autograder.judging.judge import records_of
from autograder.model.faults import Variant, Version
from autograder.model.oracle import Oracle, load_oracle
from autograder.model.selfcheck_recording import values_of_right_answers
from autograder.model.source import Cell
from autograder.runtime import compare
from autograder.runtime.findings import CheckResult
from autograder.runtime.locate.observation import is_close, observe
from autograder.runtime.locate.rewriting import Expression, instrument
from autograder.runtime.locate.right_values import RightValues
from autograder.runtime.locate.search import with_places
from autograder.runtime.place import Location, Place
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
RIGHT, NEAR, WRONG, NONE = "right", "fed by it", "wrong", "no place"


@dataclass
class Located:
    """How often the place was right, for mutants of the solution and of variants; ``misses``: where it was wrong."""

    session: str
    counts: dict[str, Counter[str]] = field(default_factory=lambda: {"solution": Counter(), "variants": Counter()})
    misses: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.session}:"]
        for whose, counts in self.counts.items():
            total = sum(counts.values())
            kinds = ", ".join(f"{kind} {counts[kind]}" for kind in (RIGHT, NEAR, WRONG, NONE))
            share = (counts[RIGHT] + counts[NEAR]) / total if total else 0
            lines.append(f"  mutants of the {whose} whose values differ: {total}; {kinds}; {share:.1%} placed")
        return "\n".join([*lines, *(f"  wrong place: {miss}" for miss in self.misses)])


@dataclass(frozen=True)
class SearchedCheck:
    """A check, and the values that right answers have in it."""

    records: Sequence[RecordedCheck]
    right: RightValues


def located(course: Course, session: str, every: int = 1, seed: str = "1") -> Located:
    """Return where the places of one in ``every`` mutants of a session are."""
    oracle, result = load_oracle(course, session), Located(session)
    for cell in oracle.source.by_role("exercise"):
        name = cell.name
        records = [check_records[0].without_relations for check_records in records_of(oracle, name, seed)]
        _count(oracle, cell, _searched(oracle, name, records), every, result, "solution")
        for variant in oracle.variants_of(name):
            checks, text = _searched(oracle, name, records, variant), oracle.text_of(variant)
            _count(oracle, replace(cell, source=_as_solution(text)), checks, every * 3, result, "variants")
    return result


def _searched(oracle: Oracle, exercise: str, records: Sequence[RecordedCheck],
              excluded: Variant | None = None) -> list[SearchedCheck]:
    return [SearchedCheck([record], values_of_right_answers(oracle, exercise, record, excluded)) for record in records]


def located_all(course: Course, sessions: Sequence[str], jobs: int, every: int = 1) -> Iterator[Located]:
    """Return where the places of several sessions are, computed in parallel."""
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(located, [course] * len(sessions), sessions, [every] * len(sessions))


def table(places: Sequence[Located], pairs: Sequence[Paired]) -> str:
    """Return a table of the counts of several sessions together, beside their aims."""
    rows = []
    for whose, aim in (("solution", "95% placed"), ("variants", "85% placed, 3% wrong")):
        counts = sum((session.counts[whose] for session in places), Counter[str]())
        placed, wrong = (_share(counts, *kinds) for kinds in ((RIGHT, NEAR), (WRONG,)))
        rows.append((f"mutants of the {whose}, {counts.total()}", f"{placed} placed, {wrong} wrong", aim))
    named = sum((session.counts for session in pairs), Counter[str]())
    rows.append((f"two faults at once, {named.total()}",
                 f"{_share(named, BOTH)} both named, {_share(named, ANOTHER)} wrong", "80% explained"))
    return "\n".join(f"{name:<36} {result:<36} aim: {aim}" for name, result, aim in rows)


def main() -> None:
    """Print the counts of places and of pairs of faults, for each session and for all together."""
    course = find()
    parser = argparse.ArgumentParser(prog="bench.locating", description=__doc__)
    parser.add_argument("session", nargs="*", help="names of sessions (all, when none is given)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="take one in so many mutants (1)")
    options = parser.parse_args()
    names = [course.full_name(name) for name in options.session] or course.sessions
    places, pairs = [], []
    for place, pair in zip(located_all(course, names, options.jobs, options.every),
                           paired_all(course, names, options.jobs), strict=True):
        print(f"{place}\n{pair}", flush=True)
        places.append(place)
        pairs.append(pair)
    print(table(places, pairs))


def _share(counts: Counter[str], *kinds: str) -> str:
    return f"{sum(counts[kind] for kind in kinds) / max(counts.total(), 1):.1%}"


def _as_solution(text: str) -> str:
    """Return the text of a cell that is mutated as a whole."""
    return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION"


def _count(oracle: Oracle, cell: Cell, checks: Sequence[SearchedCheck], every: int, result: Located,
           whose: str) -> None:
    try:
        before, mutants = ast.parse(ast.unparse(ast.parse(cell.solution))), generate_mutants(cell)[::every]
    except SyntaxError:
        return
    for mutant in mutants:
        if mutant.operator in SAME_VALUES:
            continue
        try:
            with at_most(SECONDS):
                places = _places(oracle, mutant, checks)
        except MutantTimeout:
            continue
        if places is None:
            continue
        kinds = {place: _kind(before, mutant, place) for place in places}
        for place, record in places.items():
            if kinds[place] == WRONG:
                texts = ast.unparse(before), mutant.source
                events = [_values(oracle, text, mutant.exercise, record) for text in texts]
                if _is_first_to_differ(texts, *events, place):
                    kinds[place] = NEAR
        result.counts[whose][next((kind for kind in (WRONG, RIGHT, NEAR) if kind in kinds.values()), NONE)] += 1
        result.misses += [f"{mutant.exercise} | {mutant.change} | {segment(mutant.source, place.span)[:80]}"
                         for place, kind in kinds.items() if kind == WRONG]


def _places(oracle: Oracle, mutant: Mutant,
            checks: Sequence[SearchedCheck]) -> dict[Place | Location, RecordedCheck] | None:
    """Return the places in a mutant, each with the check that it was found in.

    None if an error stops the mutant, or if the first check that it fails, run alone too, does not differ in values.
    """
    version, records = _version(mutant.exercise, mutant.source), [check.records[0] for check in checks]
    replies = oracle.replay(version, records)
    if any(reply.error for reply in replies):
        return None
    differences = [compare.check_difference(record, reply) for record, reply in zip(records, replies, strict=True)]
    first, difference = next(((i, difference) for i, difference in enumerate(differences) if difference), (0, None))
    if difference is None or not difference.is_of_values:
        return None
    (alone,) = oracle.replay(version, [records[first]])
    if not compare.check_difference(records[first], alone):
        return None
    results = [CheckResult(str(i), difference is None, "", difference) for i, difference in enumerate(differences)]
    with oracle.substituted(version) as names:
        results = with_places(results, checks, [mutant.source], names)
    return {spot: record for result, record in zip(results, records, strict=True) if result.place
            for spot in result.place.locations}


def _version(exercise: str, text: str) -> Version:
    return Version(exercise, "mutant", source=text)


def _kind(before: ast.AST, mutant: Mutant, place: Place | Location) -> str:
    tree = ast.parse(mutant.source)
    changed = _span(_changed(before, tree))
    if _within(place.span, changed) or _within(changed, place.span):
        return RIGHT
    changed_statement, placed_statement = _statement(tree, changed), _statement(tree, place.span)
    if changed_statement is not None and changed_statement is placed_statement:
        return RIGHT
    if changed_statement is None or placed_statement is None:
        return WRONG
    first = mutant.change.partition(" → ")[0]
    original = next((node for node in ast.walk(before) if isinstance(node, ast.stmt)
                     and ast.unparse(node).splitlines()[0] == first), changed_statement)
    if mutant.operator == "dropped":  # what the statement did is missing where its variables are used
        return NEAR if _names(original, None) & _names(placed_statement, None) else WRONG
    stored = _names(changed_statement, ast.Store) | _names(original, ast.Store)
    if isinstance(changed_statement, ast.Return):  # calls of the function have the value that it returns
        stored |= {node.name for node in ast.walk(tree)
                   if isinstance(node, ast.FunctionDef) and changed_statement in ast.walk(node)}
    return NEAR if _controls(tree, changed, place.span) or stored & _names(placed_statement, None) else WRONG


Event = tuple[Expression, Value]  # an expression, and its value


def _values(oracle: Oracle, text: str, exercise: str, record: RecordedCheck) -> list[Event]:
    """Return the values of an answer's expressions, in the order of time."""
    with oracle.substituted(_version(exercise, text)) as names:
        return _events(text, names, lambda: replay(record.ops, names))


def _events(text: str, names: dict[str, Any], run: Callable[[], object]) -> list[Event]:
    cells = instrument([text])
    expressions = {expression.number: expression for cell in cells for expression in cell.expressions}
    observer = observe(cells, names, run)
    events = [(time, number, value) for number, values in observer.series.items()
              for time, value in zip(observer.times[number], values, strict=True)]
    return [(expressions[number], value) for _, number, value in sorted(events, key=lambda event: event[0])]


def _is_first_to_differ(texts: Sequence[str], before: Sequence[Event], after: Sequence[Event],
                        place: Place | Location) -> bool:
    """Return whether a place is in the line of the first value that a change alters."""
    cells = [instrument([text])[0].expressions for text in texts]
    sequences = [[(expression.is_after_statement, expression.function, segment(text, expression.span))
                  for expression in expressions] for text, expressions in zip(texts, cells, strict=True)]
    blocks = SequenceMatcher(None, *sequences, autojunk=False).get_matching_blocks()
    pairs = {a + i: b + i for a, b, size in blocks for i in range(size)}
    old_events = [(pairs[expression.number], value) for expression, value in before if expression.number in pairs]
    new_events = [(expression, value) for expression, value in after if expression.number in pairs.values()]
    for (number, old), (expression, new) in zip(old_events, new_events, strict=False):
        if number != expression.number or old.form != new.form or old.form and not is_close(old, new):
            return (expression.span[0] <= place.span[0] <= expression.span[2]
                    or place.span[0] <= expression.span[0] <= place.span[2])
    return False


def _changed(before: ast.AST, after: ast.AST) -> ast.AST:
    """Return the smallest node of a changed tree that holds all changes and has a line."""
    smallest = after
    while True:
        if hasattr(after, "lineno"):
            smallest = after
        if type(before) is not type(after):
            return smallest
        pairs: list[tuple[ast.AST, ast.AST]] = []
        for name in before._fields:
            old, new = getattr(before, name, None), getattr(after, name, None)
            olds, news = (value if isinstance(value, list) else [value] for value in (old, new))
            if len(olds) != len(news):
                return smallest
            for left, right in zip(olds, news, strict=True):
                if isinstance(left, ast.AST) and isinstance(right, ast.AST):
                    if ast.dump(left) != ast.dump(right):
                        pairs.append((left, right))
                elif left != right:
                    return smallest
        if len(pairs) != 1:
            return smallest
        before, after = pairs[0]


def _span(node: ast.AST) -> Span:
    return (getattr(node, "lineno", 1), getattr(node, "col_offset", 0), getattr(node, "end_lineno", 1),
            getattr(node, "end_col_offset", 0))


def _within(inner: Span, outer: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _statement(tree: ast.AST, span: Span) -> ast.stmt | None:
    """Return the smallest statement around a span."""
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and _within(span, _span(node))
                  and not isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    return max(statements, key=lambda node: _span(node)[:2], default=None)


def _names(statement: ast.AST, stored: type[ast.Store] | None) -> set[str]:
    """Return the variables and attributes in a statement, or those that it stores."""
    names = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Name, ast.Attribute)) and (stored is None or isinstance(node.ctx, stored)):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            names.add(node.value.id)
        elif (stored and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
              and (node.func.attr in GROWING or node.func.attr.endswith("_"))):
            names.add(root(node.func.value) or "self")
    return names - {"self"}


def _controls(tree: ast.AST, changed: Span, place: Span) -> bool:
    """Return whether the change is in the head of a branch or loop around the place, or in a loop that begins there."""
    for node in ast.walk(tree):
        head = node.iter if isinstance(node, ast.For) else node.test if isinstance(node, (ast.If, ast.While)) else None
        if head is not None and _within(changed, _span(head)) and _within(place, _span(node)):
            return True
        if head is not None and _within(changed, _span(head)) and any(
                _within(place, _span(statement)) for statement in _implicit_else(tree, node)):
            return True
        if isinstance(node, (ast.For, ast.While)) and place[:2] == _span(node)[:2] and _within(changed, _span(node)):
            return True
    return False


def _implicit_else(tree: ast.AST, branch: ast.AST) -> list[ast.stmt]:
    """Return the statements after a branch that leaves the block: they run only if its condition is false."""
    leaving = (ast.Return, ast.Raise, ast.Continue, ast.Break)
    if not isinstance(branch, ast.If) or not isinstance(branch.body[-1], leaving):
        return []
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and branch in body:
            return body[body.index(branch) + 1:]
    return []


if __name__ == "__main__":
    main()
