"""The checks that are searched for the place of a mistake: those of the release, or recorded anew."""

import gzip

import pytest

from autograder.model import selfcheck_recording
from autograder.model.oracle import load_oracle
from autograder.runtime import wire
from autograder.runtime.selfchecks import check_to_tree
from conftest import TINY, tiny_copy


@pytest.fixture
def recordings(monkeypatch):
    """The exercises that were recorded anew."""
    record, found = selfcheck_recording.record_selfchecks, []
    monkeypatch.setattr(selfcheck_recording, "record_selfchecks",
                        lambda oracle, name: found.append(name) or record(oracle, name))
    return found


def trees(oracle):
    return list(map(check_to_tree, selfcheck_recording.released_selfchecks(oracle, "double")))


def test_the_checks_of_the_release_are_taken_as_they_are(tmp_path, recordings):
    oracle = load_oracle(tiny_copy(tmp_path), TINY)
    anew = trees(oracle)
    assert recordings == ["double"]
    selfcheck_recording._released.cache_clear()
    selfcheck_recording.write(oracle)
    recordings.clear()
    assert wire.pack(trees(oracle)) == wire.pack(anew) and not recordings
    assert selfcheck_recording.released(oracle.source)["exercises"].keys() >= {"double"}


BROKEN = {"empty": b"", "no gzip": b"no gzip", "no message": gzip.compress(b"no message", mtime=0),
          "another message": gzip.compress(wire.pack([1]), mtime=0)}


@pytest.mark.parametrize("broken", [*BROKEN, "cut short"])
def test_where_the_release_is_stale_or_broken_they_are_recorded_anew(tmp_path, recordings, broken):
    oracle = load_oracle(tiny_copy(tmp_path), TINY)
    selfcheck_recording.write(oracle)
    path = selfcheck_recording.path(oracle.source)
    path.write_bytes(BROKEN.get(broken, path.read_bytes()[:-100]))
    recordings.clear()
    assert selfcheck_recording.released(oracle.source) == {}
    assert selfcheck_recording.released_selfchecks(oracle, "double") and recordings == ["double"]
    selfcheck_recording.write(oracle)
    checks = oracle.source.folder / "checks.py"
    checks.write_text(checks.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert selfcheck_recording.released(oracle.source) == {}
