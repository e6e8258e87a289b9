"""Record the self-checks that are shipped with the course: public seeds, the solution's answers and the mistakes'."""

import gzip

from tp import selfcheck, wire

from .oracle import oracle

PUBLIC_SEEDS = (1, 2)


def write(name: str) -> None:
    """Write ``course/tp/selfchecks/<name>.bin``."""
    selfcheck.DATA.mkdir(exist_ok=True)
    data = gzip.compress(wire.pack(recorded(name)), mtime=0)
    (selfcheck.DATA / f"{name}.bin").write_bytes(data)


def recorded(name: str) -> dict:
    """The self-check data of a TP."""
    truth = oracle(name)
    return {"tp": name, "exercises": {exercise: _exercise(truth, exercise) for exercise in truth.source.exercises}}


def _exercise(truth, exercise):
    checks = [
        {"name": check.name, "says": check.says, "weight": check.weight, "records": [truth.record(check, seed) for seed in PUBLIC_SEEDS]}
        for check in truth.checks_of(exercise)
    ]
    records = [record for check in checks for record in check["records"]]
    mistakes = [{"name": m.name, "says": m.says, "replies": truth.replies(m, records)} for m in truth.mistakes_of(exercise)]
    return {"points": truth.source.points(exercise), "checks": checks, "mistakes": mistakes}
