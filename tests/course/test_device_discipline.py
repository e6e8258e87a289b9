"""Solutions run on another device as they do on the CPU: no tensor is made here in the middle."""

import pytest
import torch
from elsewhere import NAME, Elsewhere, elsewhere

from autograder.authoring.oracle import Oracle, oracle
from conftest import REPOSITORY
from tp.checking import compare
from tp.checking.replay import replay

NAMES = REPOSITORY.assignments


class Moved(Oracle):
    """The solution of a TP, its given cells run where there is a GPU; the other device takes its place."""

    def _run(self, cell_name, text):
        super()._run(cell_name, text.replace('"cuda"', f'"{NAME}"'))


def moved(name):
    with elsewhere():
        return Moved(REPOSITORY, name)


def records(name, exercise):
    """Each check of an exercise, recorded on the CPU."""
    truth = oracle(REPOSITORY, name)
    return [truth.records(check, seed=1)[0] for check in truth.checks_of(exercise)]


def wrong(recorded, replies):
    """What differs between the CPU and the other device."""
    differences = [compare.first_difference(record, reply) for record, reply in zip(recorded, replies, strict=True)]
    return [str(difference) for difference in differences if difference]


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_stays_on_its_device(name):
    there = moved(name)
    for exercise in there.source.exercises:
        recorded = records(name, exercise)
        with elsewhere():
            replies = [replay(record.ops, there.namespace, NAME) for record in recorded]
        assert wrong(recorded, replies) == [], exercise


# The other device refuses what a GPU refuses, and nothing else


def x():
    """(3, 4), on the other device."""
    return torch.arange(12.0).reshape(3, 4).to(NAME)


@pytest.mark.parametrize("mixed", [
    lambda: x() + torch.ones(4),
    lambda: torch.cat([x(), torch.ones(3, 4)]),
    lambda: torch.where(x() > 0, x(), torch.zeros(4)),
    lambda: x().masked_fill(torch.ones(3, 4, dtype=torch.bool), 0.0),
    lambda: x().cpu() @ x().T,
    lambda: torch.zeros(4)[x()[0].long()] + x()[0],
    lambda: torch.nn.Linear(4, 2)(x()),
    lambda: torch.nn.GRU(4, 2, device=NAME)(x(), torch.zeros(1, 2)),
    lambda: x().index_put((torch.tensor([0]),), torch.ones(1, 4)),
])
def test_what_a_gpu_refuses_is_refused(mixed):
    with elsewhere(), pytest.raises(RuntimeError, match="same device"):
        mixed()


@pytest.mark.parametrize("function", [
    lambda x: x * torch.tensor(2.0),
    lambda x: x[torch.tensor([0, 2])] + x[[1, 2]],
    lambda x: torch.tensor([1.0, 2, 3, 4], device=x.device) + x.new_tensor([1, 2, 3, 4]),
    lambda x: torch.zeros(3, 4, device=x.device).copy_(x.cpu()),
    lambda x: x.sum(dim=0, keepdim=True).squeeze_(0).unsqueeze_(1),
    lambda x: torch.tensor(x.tolist()) + x.cpu() * x.sum().item(),
    lambda x: torch.stack([row @ x.T for row in x]),
])
def test_what_a_gpu_takes_has_the_values_of_the_cpu(function):
    expected = function(torch.arange(12.0).reshape(3, 4))
    with elsewhere():
        result = function(x())
        assert result.shape == expected.shape
        assert torch.equal(result.cpu(), expected)


def test_gradients_flow_there():
    with elsewhere():
        network = torch.nn.GRU(4, 2).to(NAME)
        network(x())[0].sum().backward()
        assert all(isinstance(p.grad, Elsewhere) and p.grad.cpu().abs().sum() > 0 for p in [network.weight_ih_l0])
        torch.optim.SGD(network.parameters()).step()
