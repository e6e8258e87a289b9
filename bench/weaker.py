"""Mutants that weaker tests would kill: `python -m bench.weaker [session …]`, a row of docs/authoring.md each.

One test looks at types and shapes alone. The other, ordinary asserts, is the first check of each exercise on one
instance. A mutant that does not end counts as killed by neither.
"""

import argparse

from autograder.audit.mutation import MUTANT_SECONDS, MutantTimeout, at_most, audit_mutants
from autograder.audit.mutation_operators import generate_mutants
from autograder.audit.probing import probe
from autograder.course import find
from autograder.judging.judge import records_of
from autograder.model.faults import Version
from autograder.model.oracle import load_oracle
from autograder.runtime import compare
from autograder.runtime.replay import replay
from autograder.runtime.values import ArrayValue


def killed(oracle, cell):
    """How many mutants of an exercise are killed by types and shapes alone, and by ordinary asserts."""
    instance = records_of(oracle, cell.name, "1")
    plain = [records[0].without_relations for records in instance]
    by_shapes = by_asserts = 0
    for mutant in generate_mutants(cell, probe(oracle, cell, (record for records in instance for record in records))):
        try:
            version = Version(cell.name, "mutant", source=mutant.source)
            with at_most(MUTANT_SECONDS), oracle.substituted(version) as namespace:
                replies = [replay(record.ops, namespace) for record in plain]
        except MutantTimeout:
            continue
        by_shapes += not all(map(alike_in_shape, plain, replies))
        by_asserts += compare.check_difference(plain[0], replies[0]) is not None
    return by_shapes, by_asserts


def alike_in_shape(record, reply):
    """Whether types and shapes of a reply are right."""
    expected, outputs = record.expected.outputs, reply.outputs
    return not reply.error and outputs.keys() == expected.keys() and all(
        form(value) == form(outputs[name]) for name, value in expected.items())


def form(value):
    return (value.kind, value.array.shape) if isinstance(value, ArrayValue) else value.kind


def main():
    """Print a row for each session."""
    parser = argparse.ArgumentParser(prog="bench.weaker", description=__doc__)
    parser.add_argument("session", nargs="*", help="names of sessions (all, when none is given)")
    course = find()
    for name in [course.full_name(name) for name in parser.parse_args().session] or course.sessions:
        oracle, numbers = load_oracle(course, name), audit_mutants(course, name).numbers
        counts = [sum(column) for column in zip(*(killed(oracle, cell) for cell in oracle.source.by_role("exercise")),
                                                strict=True)]
        mutants, equivalent, by_checks = (numbers[column] for column in ("mutants", "equivalent", "killed"))
        shares = (f"{count} ({count / by_checks:.0%})" for count in counts)
        print("", name, mutants, equivalent, by_checks, *shares, "", sep=" | ", flush=True)


if __name__ == "__main__":
    main()
