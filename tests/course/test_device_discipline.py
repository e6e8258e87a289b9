"""Solutions run on another device as they do on the CPU: no tensor is made here in the middle."""

import pytest
import torch
from elsewhere import NAME, Elsewhere, elsewhere

from autograder.judging.judge import grade_exercise, records_of
from autograder.model.faults import Variant
from autograder.model.oracle import Oracle, load_oracle
from autograder.model.source import load_source
from autograder.runtime import compare, difference_messages, messages, operations
from autograder.runtime.notebook import commands
from autograder.runtime.replay import replay
from conftest import REPOSITORY

NAMES = REPOSITORY.sessions

# What a GPU takes and the other device cannot play: (TP, exercise) → variants.
UNPLAYED = {
    ("tp4_inference", "optimizer"): {"two groups"},  # has no fused Adam
    ("tp4_inference", "inference-programs"): {"inference mode"},  # counts no versions
    ("tp4_inference", "beam-step"): {"unravelled"},  # makes a tensor where no mode sees it
    ("tp5_translation", "effects"): {"the whole sentence first"},  # counts no versions
    ("tp6_transformer", "rotate"): {"complex numbers"},
    ("tp6_transformer", "ablate"): {"heads unflattened", "a list of columns"},  # indexes by a list or a range
    ("tp6_transformer", "effects"): {"one run for each replacement"},  # writes by a range, which reaches a copy there
}


class Moved(Oracle):
    """The solution of a TP, its given cells run where there is a GPU; the other device takes its place."""

    def _run(self, cell_name, text):
        super()._run(cell_name, text.replace('"cuda"', f'"{NAME}"'))


def moved(name):
    with elsewhere():
        return Moved(load_source(REPOSITORY, name), NAME)


def records(name, exercise):
    """Each check of an exercise as it is shipped, which is recorded on the CPU."""
    return [check.records[0] for check in commands._data(name).exercises[exercise].checks]


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


def test_the_solution_is_recorded_on_the_cpu_whatever_the_machine_has(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    source, there = (Oracle(load_source(REPOSITORY, "tp7_pronunciation"), device) for device in ("cpu", "cuda"))
    assert [one.namespace["device"].type for one in (source, there)] == ["cpu", "cuda"]
    check = next(one for one in source.checks if one.exercise == "beam")
    record = source.recorder.record(check, 1)[0]
    assert compare.first_difference(record, record.expected) is None
    assert torch.cuda.is_available()


@pytest.mark.parametrize("device, there", [("cpu", False), ("cuda", True)])
def test_what_is_replayed_on_the_cpu_finds_no_gpu(device, there, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    namespace = {"looks": lambda: [torch.cuda.is_available(), torch.backends.cudnn.enabled]}
    ops = [operations.Name(to=0, name="looks"), operations.Call(to=1, f=0, args=[], kwargs={}),
           operations.Output(name="seen", of=1)]
    reply = replay(ops, namespace, device)
    assert [one.value for one in reply.outputs["seen"].items] == [there, False]
    assert torch.cuda.is_available() and torch.backends.cudnn.enabled


def test_a_notebook_is_checked_where_its_device_is(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert commands._device({"device": torch.device("cuda:0")}) == "cuda"
    odd = type("Odd", (), {"type": property(lambda self: 1 / 0)})()
    assert commands._device({"device": "cuda"}) == commands._device({"device": "cuda:1"}) == "cuda"
    for device in ({}, {"device": torch.device("cpu")}, {"device": "cpu"}, {"device": None}, {"device": odd}):
        assert commands._device(device) == "cpu"
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert commands._device({"device": torch.device("cuda")}) == "cpu", "there is none, whatever the notebook says"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_right_variants_stay_there_too(name):
    there = moved(name)
    for exercise in there.source.exercises:
        recorded, failed = records(name, exercise), set()
        for variant in there.variants_of(exercise):
            with elsewhere():
                replies = there.replay(variant, recorded)
            failed |= {variant.name} if wrong(recorded, replies) else set()
        assert failed == UNPLAYED.get((name, exercise), set()), exercise


def test_a_right_answer_that_makes_tensors_on_the_cpu_is_told_so():
    text = "def shifted_target(x):\n    return torch.cat([x[1:], torch.zeros(1, *x.shape[1:])])\n"
    oracle, there = load_oracle(REPOSITORY, "tp2_seq2seq"), moved("tp2_seq2seq")
    variant, recorded = Variant("shift", "on the CPU", source=text), records_of(oracle, "shift", "seed")
    asked = [record for own in recorded for record in own]
    assert grade_exercise(oracle, "shift", recorded, oracle.replay(variant, asked)).outcome == "passed"
    with elsewhere():
        replies = there.replay(variant, asked)
    result = grade_exercise(oracle, "shift", recorded, replies)
    assert result.outcome == "error"
    said = [messages.result(check) for check in result.checks]
    assert all("It combines values on two devices" in one for one in said)
    assert "`return torch.cat([x[1:], torch.zeros(1, *x.shape[1:])])`" in said[0]


@pytest.mark.parametrize("message, part", [
    ("Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
     "on two devices"),
    ("Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu",
     "on two devices"),
    ("indices should be either on cpu or on the same device as the indexed tensor (cpu)", "on two devices"),
    ("Expected a 'cuda' device type for generator but found 'cpu'", "on two devices"),
    ("Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same", "on two devices"),
    ("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
     "gives numpy"),
    ("Input type (torch.cuda.FloatTensor) and weight type (torch.cuda.DoubleTensor) should be the same", None),
    ("mat1 and mat2 shapes cannot be multiplied (3x4 and 3x4)", None),
])
def test_what_torch_says_of_devices_is_said_in_plain_words(message, part):
    said = difference_messages.about_devices(message)
    assert said is None if part is None else part in str(said)


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
