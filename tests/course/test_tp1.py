"""Session 1's own instruments: its language, a measure of agreement, the loop around a cell, a reader's memory."""

import random

import pytest
import torch
from torch import nn

from autograder.model.source import load_source
from conftest import REPOSITORY


@pytest.fixture(scope="module")
def lab():
    """The names of the solved notebook, with the vocabulary that its demonstrations share."""
    names = {"__name__": "__main__"}
    for cell in load_source(REPOSITORY, "tp1_recurrence").by_role("given", "exercise"):
        exec(compile(cell.solution, f"<{cell.name}>", "exec"), names)
    names["vocabulary"] = names["build_vocabulary"](names["corpus"])
    return names


def numbers(words, pairs):
    """0 (singular) or 1 (plural) for each of the words that stands in one of the pairs."""
    return [number for word in words for pair in pairs for number in (0, 1) if word == pair[number]]


def test_verbs_agree_with_the_first_noun(lab, seed):
    rng, between = random.Random(seed), set()
    for _ in range(300):
        words = lab["make_sentence"](rng).split()
        nouns = numbers(words, lab["NOUNS"])
        assert numbers(words, lab["VERBS"]) == nouns[:1]
        between.add(len(nouns) - 1)
    assert between == {0, 1, 2, 3}


def test_sentences_for_validation_are_not_in_the_corpus(lab):
    assert len(lab["held_out"]) > 500 and not {*lab["held_out"]} & {*lab["corpus"]}
    inputs, targets = lab["pieces"](torch.arange(100), timesteps=7)
    assert inputs.shape == targets.shape == (7, 13) and torch.equal(targets, inputs + 1)


class GoesBy(nn.Module):
    """A reader that lets the verb agree with one noun of the sentence: the first (0) or the last (-1)."""

    def __init__(self, place, lab):
        super().__init__()
        self.place, self.lab = place, lab

    def forward(self, ids, state=None):
        tokens = list(self.lab["vocabulary"])
        logits = torch.zeros(*ids.shape, len(tokens))
        for b, sentence in enumerate(ids.T.tolist()):
            number = numbers([tokens[i] for i in sentence], self.lab["NOUNS"])[self.place]
            for verb in self.lab["VERBS"]:
                logits[-1, b, self.lab["vocabulary"][verb[number]]] = 5
        return logits, state


@pytest.mark.parametrize("nouns_between", [1, 2, 5])
def test_agreement_tells_the_long_rule_from_the_short_one(lab, nouns_between):
    assert lab["agreement"](GoesBy(0, lab), nouns_between, pairs=20) == 1
    assert lab["agreement"](GoesBy(-1, lab), nouns_between, pairs=20) == 0


@pytest.mark.parametrize("T, B, D, H", [(6, 3, 4, 5), (1, 1, 2, 3)])
def test_cells_in_the_loop_are_torch_s_layers(lab, seed, T, B, D, H):
    torch.manual_seed(seed)
    x, zeros = torch.randn(T, B, D), torch.zeros(B, H)
    for layer, cell, state in ((nn.GRU(D, H), "gru_cell", zeros), (nn.LSTM(D, H), "lstm_cell", (zeros, zeros))):
        h_ts, _ = lab["unroll"](lab[cell], x, state, lab["weights_of"](layer))
        torch.testing.assert_close(h_ts, layer(x)[0])


@pytest.mark.slow
def test_a_gated_reader_finds_the_long_rule_and_remembers_the_noun(lab):
    torch.manual_seed(0)
    stream = lab["encode"](" ".join(lab["corpus"]), lab["vocabulary"])
    reader = lab["NextToken"](len(lab["vocabulary"]), 16, 32, nn.GRU)
    unseen = lab["encode"](" ".join(lab["held_out"]), lab["vocabulary"])
    view = lab["train"](reader, stream, unseen, 400, "test")
    assert view.history["val_loss"][-1][1] < 0.6 * view.history["val_loss"][0][1]
    assert lab["agreement"](reader, nouns_between=3) > 0.9
    singular, plural = (lab["encode"](f". the {noun} near the old bird", lab["vocabulary"]) for noun in ("dog", "dogs"))
    h_ts, _ = reader.recurrence(reader.embedding(torch.stack([singular, plural], dim=1)))
    difference = (h_ts[:, 0] - h_ts[:, 1]).abs().amax(dim=1)
    assert (difference[:2] == 0).all() and (difference[2:] > 0.5).all()
