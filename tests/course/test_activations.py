"""`tp.trace` sees what PyTorch computes, puts something else in its place, and leaves nothing behind."""

import pytest
import torch
from torch import nn

import tp
from tp import activations


@pytest.fixture
def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def hooks(model):
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules())


def test_it_reads_inputs_and_outputs_of_every_part(model):
    x = torch.randn(5, 3)
    with tp.trace(model) as seen:
        y = model(x)
    assert list(seen) == ["0:in", "0", "1:in", "1", "2:in", "2"]
    assert torch.equal(seen["0:in"], x) and torch.equal(seen["1"], torch.tanh(model[0](x))) and seen["2"] is y
    assert activations.shapes(seen)[:2] == [["0:in", "5×3"], ["0", "5×4"]]
    assert hooks(model) == 0


@pytest.mark.parametrize("name, tail", [("1", 2), ("2:in", 2), ("0", 1), ("0:in", 0)])
def test_a_patch_takes_the_place_of_an_activation(model, name, tail):
    with tp.trace(model) as seen:
        model(torch.randn(5, 3))
    other = torch.randn_like(seen[name])
    for patch in (other, lambda old: other + 0 * old):
        with tp.trace(model, {name: patch}) as patched:
            y = model(torch.randn(5, 3))
        assert torch.equal(patched[name], other) and torch.equal(y, model[tail:](other))
    assert hooks(model) == 0


def test_the_gradient_passes(model):
    x = torch.randn(5, 3)
    with tp.trace(model, {"1": lambda old: 2 * old}) as seen:
        y = model(x)
    slope, = torch.autograd.grad(y[:, 0].sum(), seen["1"])
    assert torch.allclose(slope, model[2].weight[0].expand(5, 4))


def test_a_part_that_returns_a_tuple_shows_its_first_member():
    gru = nn.ModuleDict({"gru": nn.GRU(3, 4)})
    x = torch.randn(6, 2, 3)
    with tp.trace(gru, {"gru": torch.zeros_like}) as seen:
        outputs, last = gru["gru"](x)
    assert not outputs.any() and last.any() and seen["gru"] is outputs


def test_what_does_not_fit_is_named(model):
    with pytest.raises(KeyError, match="encoder is not a part of this model; its parts are 0, 1, 2"), \
            tp.trace(model, {"encoder": torch.zeros(1)}):
        pass
    with pytest.raises(ValueError, match=r"1: the patch has the shape \(1,\), not \(5, 4\)"), \
            tp.trace(model, {"1": torch.zeros(1)}):
        model(torch.randn(5, 3))
    assert hooks(model) == 0
