"""The decoding of the run `headroom` is that of the notebook, a batch at a time."""

import random
from types import SimpleNamespace

import pytest
import torch

from autograder.model.oracle import oracle
from bench.evidence import headroom
from conftest import REPOSITORY


@pytest.fixture
def notebook(monkeypatch):
    names = oracle(REPOSITORY, "tp5_translation").namespace
    monkeypatch.setattr(headroom, "task", lambda: SimpleNamespace(**names))
    return SimpleNamespace(**names)


@pytest.mark.parametrize("width, penalty", [(1, 0.0), (1, 1.0), (3, 0.0), (5, 0.0)])
def test_the_beam_finds_what_the_notebooks_beam_finds(notebook, width, penalty):
    torch.manual_seed(random.randrange(10 ** 6))
    model = notebook.Translator(notebook.Encoder(9, 5, 6), notebook.PlainDecoder(8, 5, 6, notebook.DotScore()))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.7)
        model.decoder.readout.bias[:2] = -50    # never says PAD or SOS
    rows = [([4, 7, 5, 2], [2]), ([6, 2], [2]), ([8, 4, 2], [2])]
    source, lengths, _ = notebook.collate(rows)
    together = headroom.beam(model, source, lengths, width, penalty, max_length=6)
    for b, row in enumerate(rows):
        alone, _ = notebook.beam_search(model, *notebook.collate([row])[:2], width=width, max_length=6)
        assert headroom.upto_eos(together[:, b].tolist()) == headroom.upto_eos(alone)
