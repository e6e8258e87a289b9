"""Audit a session: the solution passes, every fault is caught and named, every variant passes, on many seeds.

Answers are judged by `judging.judge.grade_exercise`, as a student's are. In the sandbox, the solution has full marks,
and the released notebook none.
"""

from collections.abc import Iterator, Sequence

import nbformat

from ..course import Course
from ..judging.judge import Judge, check_seed, grade_exercise, records_of
from ..judging.submission import Submission
from ..model.oracle import Oracle, load_oracle
from ..publish import notebooks
from ..runtime import compare, messages
from ..runtime.replay import replay
from ..runtime.text import counted
from ..sandbox.options import Options, require_device
from . import AuditResult, stubs

MISSPELT = ("NameError", "AttributeError", "ImportError", "ModuleNotFoundError")  # errors, perhaps of the fault's text


def audit_versions(course: Course, session: str, seeds: Sequence[int] = range(3), device: str = "cpu",
                   in_sandbox: bool = False) -> AuditResult:
    """Audit a session on these seeds, and also its notebooks if ``in_sandbox``."""
    oracle = load_oracle(course, session)
    notes = [*oracle.notes, *_crashing(oracle)]
    on_device = oracle if device == oracle.device else Oracle(oracle.source, device)
    found: dict[str, list[str]] = {problem: [""] * len(seeds) for problem in stubs.problems(oracle)}
    for seed in seeds:
        for exercise in oracle.source.exercises:
            for problem, reason in _problems(oracle, on_device, exercise, str(seed)):
                found.setdefault(problem, []).append(reason)
    problems = [f"{problem} (on {len(reasons)} of {len(seeds)} seeds){reasons[0] and f': {reasons[0]}'}"
                for problem, reasons in found.items()]
    problems += notebook_problems(course, session, device) if in_sandbox else []
    faults, variants = len(oracle.faults), len(oracle.variants)
    right = "all caught, named and passed" if faults or variants else "the solution passes"
    line = f"{counted(faults, 'fault')}, {counted(variants, 'variant')}, {counted(len(seeds), 'seed')}"
    return AuditResult([f"{line}: {counted(len(problems), 'problem') if problems else right}"], problems,
                       {"faults": faults, "variants": variants}, notes)


def _crashing(oracle: Oracle) -> Iterator[str]:
    """Yield a note on each fault that runs in no check of its exercise, perhaps because it is misspelt."""
    for exercise in oracle.source.exercises:
        records = [oracle.recorder.record_without_relations(check, 1) for check in oracle.checks_of(exercise)]
        for fault in oracle.faults_of(exercise):
            error = oracle.replay(fault, records[:1])[0].error  # nearly all run in the first check
            if error and error.type in MISSPELT and all(reply.error for reply in oracle.replay(fault, records[1:])):
                yield f"{exercise}: the fault {fault.name} runs in no check: {error.type}: {error.message}"


def notebook_problems(course: Course, session: str, device: str = "cpu") -> Iterator[str]:
    """Yield what is wrong with the points of the solution, which are all, and of the released notebook: none."""
    with Judge(course, Options(require_device(device))) as judge:
        for name, cells, share in (("solution", notebooks.solved(course, session), 1), ("released notebook", {}, 0)):
            data = nbformat.writes(notebooks.filled(course, session, cells)).encode()
            verdict = judge.judge(Submission(data, session), name)
            if verdict.points != share * verdict.max_points or verdict.notes:
                noted = f" ({'; '.join(verdict.notes)})" if verdict.notes else ""
                yield f"the {name} has {verdict.points:g} of {verdict.max_points:g} points{noted}"


def _problems(oracle: Oracle, on_device: Oracle, exercise: str, seed: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the solution, the faults and the variants of an exercise on one instance, and how.

    ``on_device`` computes the answers, on the device that is audited; ``oracle`` judges them.
    """
    records = records_of(oracle, exercise, seed, on_device.device)
    every_record = [record for of_check in records for record in of_check]
    for check, of_check in zip(oracle.checks_of(exercise), records, strict=True):
        again = oracle.recorder.record_without_relations(check, check_seed(seed, exercise, check.name))
        if not compare.same(again, again.expected, of_check[0].without_relations.expected):
            yield f"{exercise}/{check.name}: the solution answers differently on the same seed", ""
    replies = [replay(record.ops, on_device.namespace, on_device.device) for record in every_record]
    for result in grade_exercise(oracle, exercise, records, replies).failed:
        yield f"{exercise}: the solution fails {result.check}", messages.result(result)
    # a listed fault is caught by values, not by a relation
    plain = [[of_check[0].without_relations] for of_check in records]
    for fault in oracle.faults_of(exercise):
        replies = on_device.replay(fault, [of_check[0] for of_check in plain])
        failed = grade_exercise(oracle, exercise, plain, replies).failed
        named = {result.fault.name for result in failed if result.fault}
        if not failed:
            yield f"{exercise}: the fault {fault.name} is not caught", ""
        elif named != {fault.name}:
            yield f"{exercise}: the fault {fault.name} is named as {', '.join(sorted(named)) or 'nothing'}", ""
    for variant in oracle.variants_of(exercise):
        for result in grade_exercise(oracle, exercise, records, on_device.replay(variant, every_record)).failed:
            yield f"{exercise}: the variant {variant.name} fails {result.check}", messages.result(result)
