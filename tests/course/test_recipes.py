"""The starts of two papers, and the sources that one of them reads backwards."""

import pytest
import torch
from torch import nn

from tp import recipes


class Model(nn.Module):
    """Parameters of the names that session 5 gives them."""

    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(6, 8)
        self.U, self.W_a = nn.Linear(8, 8, bias=False), nn.Linear(50, 50, bias=False)
        self.v_a, self.readout = nn.Linear(8, 1, bias=False), nn.Linear(50, 50)


def test_bahdanau_s_start(seed):
    torch.manual_seed(seed)
    model = Model()
    recipes.start_as_bahdanau(model)
    for square in (model.U.weight, *model.gru.weight_hh_l0.chunk(3)):
        torch.testing.assert_close(square @ square.T, torch.eye(8))
    zeros = (model.v_a.weight, model.readout.bias, model.gru.bias_ih_l0, model.gru.bias_hh_l0)
    assert not any(parameter.any() for parameter in zeros)
    assert model.W_a.weight.std().item() == pytest.approx(0.001, rel=0.1)
    assert model.readout.weight.std().item() == pytest.approx(0.01, rel=0.1)


def test_sutskever_s_start(seed):
    torch.manual_seed(seed)
    model = Model()
    recipes.start_as_sutskever(model)
    everything = torch.cat([parameter.flatten() for parameter in model.parameters()])
    assert everything.abs().max() <= 0.08 and everything.std().item() == pytest.approx(0.16 / 12 ** 0.5, rel=0.05)


def test_words_are_turned_around_and_eos_and_padding_stay():
    source = torch.tensor([[5, 7], [6, 2], [4, 0], [2, 0]])
    turned = recipes.reversed_sources(source, torch.tensor([4, 2]))
    assert turned.T.tolist() == [[4, 6, 5, 2], [7, 2, 0, 0]] and source[0, 0] == 5
