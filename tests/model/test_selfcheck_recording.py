"""The checks that are searched for the place of a mistake: those of the release, or recorded anew."""

import gzip

import numpy as np
import pytest
import torch

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
    selfcheck_recording._released_checks.cache_clear()
    selfcheck_recording.write(oracle)
    recordings.clear()
    assert wire.pack(trees(oracle)) == wire.pack(anew) and not recordings
    assert selfcheck_recording.released_tree(oracle.source)["exercises"].keys() >= {"double"}


BROKEN = {"empty": b"", "no gzip": b"no gzip", "no message": gzip.compress(b"no message", mtime=0),
          "another message": gzip.compress(wire.pack([1]), mtime=0)}


@pytest.mark.parametrize("broken", [*BROKEN, "cut short"])
def test_where_the_release_is_stale_or_broken_they_are_recorded_anew(tmp_path, recordings, broken):
    oracle = load_oracle(tiny_copy(tmp_path), TINY)
    selfcheck_recording.write(oracle)
    path = selfcheck_recording.path(oracle.source)
    path.write_bytes(BROKEN.get(broken, path.read_bytes()[:-100]))
    recordings.clear()
    assert selfcheck_recording.released_tree(oracle.source) == {}
    assert selfcheck_recording.released_selfchecks(oracle, "double") and recordings == ["double"]
    selfcheck_recording.write(oracle)
    checks = oracle.source.folder / "checks.py"
    checks.write_text(checks.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert selfcheck_recording.released_tree(oracle.source) == {}


VARIANT = '''from autograder.authoring import Variant

VARIANTS = [Variant("double", "written into", body="""
    empty = torch.empty(50)
    out = torch.empty_like(x)
    out[:] = 2 * x
    return out
""")]
'''


def test_released_values_are_no_old_memory(tmp_path):
    """A right variant may make a tensor and write into it later: what is in it until then is released, too."""
    oracle = load_oracle(tiny_copy(tmp_path, variants=VARIANT), TINY)
    record = oracle.recorder.record_without_relations(oracle.checks_of("double")[0], 1)
    right = selfcheck_recording.values_of_right_answers(oracle, "double", record)
    form = ("tensor", "float32", (50,))
    (empty,) = (value.array for series in right.series for value in series if value.form == form)
    assert np.isnan(empty).all() and not torch.are_deterministic_algorithms_enabled()
