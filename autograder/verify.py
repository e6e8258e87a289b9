"""Prove a TP: the solution passes, every mistake is caught and named, every variant passes, on many seeds."""

from collections import Counter
from dataclasses import dataclass, field

from tp import compare

from .oracle import oracle


@dataclass
class Proof:
    name: str
    seeds: int = 0
    mistakes: int = 0
    variants: int = 0
    replays: int = 0
    faults: Counter = field(default_factory=Counter)


def prove(name: str, seeds=range(3), device: str = "cpu") -> Proof:
    """What does not hold of the TP called ``name``, with the number of seeds on which it does not."""
    truth, proof = oracle(name), Proof(name, seeds=len(seeds))
    proof.mistakes, proof.variants = len(truth.mistakes), len(truth.variants)
    for seed in seeds:
        for exercise in truth.source.exercises:
            _prove_exercise(truth, exercise, seed, device, proof)
    return proof


def _prove_exercise(truth, exercise, seed, device, proof):
    records = [truth.record(check, seed * 7919 + 13) for check in truth.checks_of(exercise)]
    again = [truth.record(check, seed * 7919 + 13) for check in truth.checks_of(exercise)]
    for check, one, two in zip(truth.checks_of(exercise), records, again):
        if compare.first_difference(one["expected"], two["expected"], one["specs"]):
            proof.faults[f"{exercise}/{check.name}: the solution answers differently on the same seed"] += 1
    answers = [(m.name, m.says, truth.replies(m, records, device)) for m in truth.mistakes_of(exercise)]
    for name, _, replies in answers:
        proof.replays += 1
        failed = [compare.first_difference(r["expected"], g, r["specs"]) for r, g in zip(records, replies)]
        if not any(failed):
            proof.faults[f"{exercise}: the mistake {name} is not caught"] += 1
            continue
        named = {found[0] for found in compare.diagnose(records, replies, answers) if found}
        if named != {name}:
            proof.faults[f"{exercise}: the mistake {name} is named as {', '.join(sorted(named)) or 'nothing'}"] += 1
    for variant in truth.variants:
        if variant.exercise == exercise:
            proof.replays += 1
            for check, r, g in zip(truth.checks_of(exercise), records, truth.replies(variant, records, device)):
                sentence = compare.first_difference(r["expected"], g, r["specs"])
                if sentence:
                    proof.faults[f"{exercise}: the variant {variant.name} fails {check.name}: {sentence}"] += 1
