"""Stubs have the face of what they stand for, and the audited says what one lacks."""

import pytest

from autograder.audit import stubs
from autograder.model.oracle import Oracle
from autograder.model.source import load_source
from autograder.model.trace import check
from conftest import TINY


class Faceless:
    """An encoder that takes other arguments, and has no `gru`."""

    def forward(self, encoder_input, state=None):
        return encoder_input, state


def fewer(y):
    return y


def asked(put):
    @check("last")
    def with_stub(t):
        """With something in the place of something."""
        put(t)
        t.output("row", t["last"](t.normal(2, 3)))

    return with_stub.check


@pytest.fixture
def oracle(tiny):
    return Oracle(load_source(tiny, TINY))


@pytest.mark.parametrize("put, lacks", [
    (lambda t: t.stub("double", fewer), ["takes (y), not (x)"]),
    (lambda t: t.define(fewer, like="double"), ["takes (y), not (x)"]),
    (lambda t: t.define(Faceless, like="EncoderRNN"),
     ["forward: takes (self, encoder_input, state), not (self, encoder_input, henc_init)", "has no attribute gru"]),
    (lambda t: t.define(fewer), []),
])
def test_what_a_stub_lacks_is_said(oracle, put, lacks):
    oracle.checks = [asked(put)]
    assert [problem.partition("the stub for ")[2].partition(" ")[2] for problem in stubs.problems(oracle)] == lacks
