"""Seeds: of a file by itself made from a secret, of a class taken at random, each for a few and for none later."""

import pytest

from autograder.judging import seeds
from autograder.judging.seeds import instance_seeds, new_seed, seed_of

BY_ITSELF = (b"secret", "ada", "tp1", b"bytes")


def test_the_seed_of_a_file_by_itself_is_always_the_same():
    assert seed_of(*BY_ITSELF) == seed_of(*BY_ITSELF) == "4067c160bb5ffcddfe6d7ab880eff060"


@pytest.mark.parametrize("other", [
    (b"another", "ada", "tp1", b"bytes"), (b"secret", "bob", "tp1", b"bytes"), (b"secret", "ada", "tp2", b"bytes"),
    (b"secret", "ada", "tp1", b"byte")])
def test_it_depends_on_secret_student_session_and_bytes(other):
    assert seed_of(*other) != seed_of(*BY_ITSELF)


def test_new_seeds_are_long_and_all_different():
    made = {new_seed() for _ in range(100)}
    assert len(made) == 100 and all(len(bytes.fromhex(seed)) == 16 for seed in made)


def test_an_instance_serves_so_many_in_a_row_and_none_later():
    taken = instance_seeds()
    count = seeds.SUBMISSIONS_PER_INSTANCE
    served = [next(taken) for _ in range(3 * count)]
    assert len(set(served)) == 3
    assert all(len(set(served[i:i + count])) == 1 for i in range(0, len(served), count))


def test_at_most_thirty_two_share_an_instance_as_the_guarantees_say():
    assert seeds.SUBMISSIONS_PER_INSTANCE == 32


def test_whoever_takes_seeds_takes_others():
    assert next(instance_seeds()) != next(instance_seeds())
