"""Find the place of a mistake in an exercise: where one edit mends all checks, or a right value mends one of them."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..arrays import rng_state_kept
from ..compare import first_difference
from ..diagnosis import RecognisedFault
from ..difference import Difference
from ..findings import CheckResult
from ..operations import names_in
from ..place import MAX_SEARCHED_CHARACTERS, Place
from ..replay import replay
from ..selfchecks import SelfCheck
from ..syntax import code_lines, parse, segment, span_of
from ..text import short
from ..unused_stubs import unused_stubs
from .deadline import Deadline
from .edits import Edit
from .repair import RepairSearch
from .rewriting import instrument
from .statements import without_effect
from .value_search import ValueSearch

MAX_CHECKS = 3  # of an exercise in which values are replaced
VALUE_SECONDS = 0.4  # CPU seconds for the values of all of them
RECOGNISED_SECONDS = 0.05  # where faults explain all
TOTAL_SECONDS = 0.8  # with the edits
EDITING_SECONDS = 0.3  # for the edits at least


def with_places(results: Sequence[CheckResult], checks: Sequence[SelfCheck], texts: Sequence[str],
                namespace: dict[str, Any], device: str = "cpu") -> list[CheckResult]:
    """Return the results of an exercise, those of checks that fail with the place that was found.

    ``texts`` are the exercise's cell and other cells of the student's. All of them were run in the namespace.
    If a fault was recognised in each check that fails, nothing is edited. What an answer chooses values in, and passes,
    is no place, because other choices may hide a mistake. No place is looked for where such a check fails, nor on a
    GPU, because an index out of range ends the process there.
    """
    failing = [i for i, result in enumerate(results) if result.difference]
    placed = list(results)
    if not failing or not texts or sum(map(len, texts)) > MAX_SEARCHED_CHARACTERS or device != "cpu":
        return placed
    if any(checks[i].records[0].has_predicate for i in failing):
        return placed
    deadline = Deadline.after(TOTAL_SECONDS)
    is_explained = all_recognised(results)
    searched = {i: (checks[i].records[0].without_relations, right) for i in searched_checks(results)
                if (right := checks[i].right)}
    called: dict[bool, set[str]] = {True: set(), False: set()}  # by checks that pass, and by those that fail
    for check, result in zip(checks, results, strict=False):
        called[result.passed] |= names_in(check.records[0].ops)
    choosing, choosing_lines = _used_by(texts, [
        name for check in checks if check.records[0].has_predicate for name in names_in(check.records[0].ops)])
    search = ValueSearch(instrument(texts), texts, namespace,
                         lambda record: replay(record.ops, namespace, track_effects=False), list(searched.values()),
                         Deadline.after(RECOGNISED_SECONDS if is_explained else VALUE_SECONDS), is_explained,
                         called[True] - called[False] | choosing)
    with rng_state_kept():
        value_places = search.find_places()
    for i, value_place in zip(searched, value_places, strict=True):
        placed[i] = replace(placed[i], place=value_place)
    lines = [spot.span[0] for result in placed if result.place for spot in result.place.locations if not spot.cell]
    code = code_lines(texts[0])

    def accepts(edit: Edit) -> bool:
        """Return whether an edit is where a right value mends a check, or leaves fewer values that no right answer has.

        Other edits make all checks pass, but work around the mistake. So do those that move or drop what a variable
        begins with, if each line where a right value mends a check stands between it and a use, and does not use it.
        """
        if choosing_lines & {*edit.statement[::2]}:
            return False
        if not lines or any(edit.statement[0] <= line <= edit.statement[2] for line in lines):
            return True
        if edit.moved and not any(line < edit.statement[0] or _is_used(edit.moved, code[line - 1])
                                  or not _is_used(edit.moved, *code[line:]) for line in lines):
            return False
        return replace(search, cells=instrument([edit.text, *texts[1:]])).unmatched_count < search.unmatched_count

    if not is_explained:
        records = [check.records for check in checks]
        deadline = max(deadline, Deadline.after(EDITING_SECONDS), key=lambda one: one.seconds)
        place = RepairSearch(placed, texts[0], records, namespace, deadline, search.matched_lines,
                             search.suspect_lines, search.skipped_lines, search.types, accepts).find_place()
        if place:
            placed = [replace(result, place=place) if result.difference else result for result in placed]
    span = None if any(result.place for result in placed) else without_effect(texts[0], choosing_lines)
    if span:
        place = Place("no effect", span, text=short(segment(texts[0], span)))
        placed[failing[0]] = replace(placed[failing[0]], place=place)
    return placed


def _used_by(texts: Sequence[str], names: Sequence[str]) -> tuple[set[str], set[int]]:
    """Return the functions and classes that some use, these included, and their lines in the first text."""
    definitions: dict[str, list[tuple[int, ast.AST]]] = defaultdict(list)
    for cell, text in enumerate(texts if names else ()):
        for node in ast.walk(parse(text) or ast.Module([], [])):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                definitions[node.name].append((cell, node))
    used, lines, waiting = set[str](), set[int](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            for cell, definition in definitions[name]:
                first, _, last, _ = span_of(definition)
                lines |= set() if cell else {*range(first, last + 1)}
                waiting += {str(getattr(node, key)) for node in ast.walk(definition)
                            for key in ("id", "attr", "name") if getattr(node, key, None) in definitions}
    return used, lines


def _is_used(name: str, *lines: str) -> bool:
    return any(re.search(rf"\b{name}\b", line) for line in lines)


def all_recognised(results: Sequence[CheckResult]) -> bool:
    """Return whether a fault was recognised in each check that fails by itself, not only with the others."""
    return all(result.fault or result.difference.kind == "constant" for result in results if result.difference)


def searched_checks(results: Sequence[CheckResult]) -> list[int]:
    """Return the numbers of the checks in which values are replaced: the first that fail with a value.

    Where a fault was recognised in each, these are the first of each fault: one place is shown beside a fault.
    """
    failing = [i for i, result in enumerate(results) if result.difference and result.difference.is_locatable]
    if all_recognised(results):
        failing = list({results[i].fault: i for i in reversed(failing)}.values())[::-1]
    return failing[:MAX_CHECKS]


def find_places(checks: Sequence[SelfCheck], failing: Mapping[int, RecognisedFault | None], texts: Sequence[str],
                namespace: dict[str, Any]) -> list[Place | None]:
    """Return the place of each check that also fails on its own records.

    ``failing`` are the numbers of the checks that failed elsewhere, each with the fault that was recognised there. If
    there is one in each, they are `searched_checks`, in which the values alone say whether it fails.
    """
    results = []
    for i, check in enumerate(checks):
        difference = None
        if i in failing and all(failing.values()):
            difference = Difference("value")
        elif i in failing:
            found = ((record, first_difference(record, replay(record.ops, namespace))) for record in check.records)
            difference = next((replace(found_difference, unused=unused_stubs(record, texts, are_all=False))
                               for record, found_difference in found if found_difference), None)
        results.append(CheckResult(check.name, i not in failing, "", difference, failing.get(i)))
    return [result.place for result in with_places(results, checks, texts, namespace)]
