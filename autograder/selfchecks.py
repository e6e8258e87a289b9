"""Record the self-checks that are shipped with the course: public seeds, the solution's answers and the mistakes'."""

import gzip

from tp import selfcheck, wire

from .oracle import oracle

PUBLIC_SEEDS = (1, 2)


def write(name: str) -> None:
    """Write ``course/tp/selfchecks/<name>.bin``."""
    from .release import digest

    selfcheck.DATA.mkdir(exist_ok=True)
    data = gzip.compress(wire.pack({"made_from": digest(name), **recorded(name)}), mtime=0)
    (selfcheck.DATA / f"{name}.bin").write_bytes(data)


def made_from(name: str) -> str | None:
    """The digest of the sources that the shipped data was recorded from; None when there is none."""
    path = selfcheck.DATA / f"{name}.bin"
    return wire.unpack(gzip.decompress(path.read_bytes())).get("made_from") if path.is_file() else None


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
