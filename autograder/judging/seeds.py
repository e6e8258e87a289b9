"""The seeds of hidden instances: of a submission judged by itself, and of a class judged in a row."""

import hashlib
import hmac
import secrets
from collections.abc import Iterator
from itertools import repeat

SUBMISSIONS_PER_INSTANCE = 32  # recording one costs more than replaying it; a bad one is not to meet many


def seed_of(secret: bytes, student: str, session: str, data: bytes) -> str:
    """Return the seed of a submission's hidden checks: fresh for each, the same when graded again."""
    text = "\n".join([student, session, hashlib.sha256(data).hexdigest()]).encode()
    return hmac.new(secret, text, hashlib.sha256).hexdigest()[:32]


def new_seed() -> str:
    """Return a seed that nobody has seen."""
    return secrets.token_hex(16)


def instance_seeds() -> Iterator[str]:
    """Yield seeds taken at random, each for a few submissions of a session in a row and for none later.

    Submissions that share a seed are judged in one run, isolated from each other. A student who hands in again gets
    another.
    """
    while True:
        yield from repeat(new_seed(), SUBMISSIONS_PER_INSTANCE)
