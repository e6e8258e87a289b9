"""Arrays: with torch, without it, and the state of torch, numpy and Python around a call."""

import contextlib
import fractions
import os
import random
import sys

import numpy as np
import pytest
import torch

from autograder.runtime import arrays

NET = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout())


@pytest.fixture
def forget(monkeypatch):
    """Forget what is known of torch, before the test and after it."""
    arrays.torch_or_none.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    arrays.torch_or_none.cache_clear()


def test_without_torch_nothing_is_of_torch(forget):
    for name in ("torch", "torch.overrides"):
        forget.setitem(sys.modules, name, None)
    assert arrays.torch_or_none() is arrays.imported_torch() is None
    assert not any(is_one(torch.ones(1)) for is_one in (
        arrays.is_tensor, arrays.is_real, arrays.is_module, arrays.is_dtype, arrays.is_torch_object, arrays.identity))
    assert not arrays.records_gradients() and arrays.size(torch.ones(3)) == 1 and arrays.device_of("cuda") == "cpu"
    assert arrays.stub_scope() == {"np": np, "__name__": "stub"} and not arrays.is_torch_function("softmax")
    with pytest.raises(ModuleNotFoundError, match="this check needs torch, which is not installed"):
        arrays.require_torch()
    with arrays.clean_state(3, "cpu"), arrays.torch_calls(print):
        assert np.random.randint(100) == np.random.RandomState(3).randint(100)
    assert arrays.global_state(len).keys() == {"the state of numpy's generator", "the state of Python's generator"}
    arrays.take_threads(1)
    with arrays.new_memory_filled():
        pass


def test_torch_that_nobody_imported_is_not_imported(forget):
    forget.delitem(sys.modules, "torch")
    assert arrays.imported_torch() is None and not arrays.is_tensor(torch.ones(1))
    forget.setitem(sys.modules, "torch", torch)
    assert arrays.imported_torch() is torch
    arrays.torch_or_none()
    forget.delitem(sys.modules, "torch")
    assert arrays.imported_torch() is torch


@pytest.mark.parametrize("value, tensor, real, module, dtype, thing, size", [
    (torch.ones(2, 3), 1, 1, 0, 0, 0, 6), (torch.ones(2, dtype=torch.int64), 1, 0, 0, 0, 0, 2), (NET, 0, 0, 1, 0, 1, 1),
    (torch.float32, 0, 0, 0, 1, 1, 1), (torch.device("cpu"), 0, 0, 0, 0, 1, 1), (np.ones((2, 2)), 0, 0, 0, 0, 0, 4),
    ("a", 0, 0, 0, 0, 0, 1)])
def test_what_a_value_is(value, tensor, real, module, dtype, thing, size):
    assert [is_one(value) for is_one in (arrays.is_tensor, arrays.is_real, arrays.is_module, arrays.is_dtype,
                                         arrays.is_torch_object)] == [tensor, real, module, dtype, thing]
    assert arrays.size(value) == size


def test_a_tensor_is_known_by_its_address_and_what_was_written():
    x = torch.ones(2)
    before = arrays.identity(x)
    assert before == (id(x), 0) and arrays.identity(torch.nn.Parameter(x)) is not None
    x += 1
    assert arrays.identity(x) == (id(x), 1)
    with torch.inference_mode():
        assert arrays.identity(torch.ones(2)) is None
    assert arrays.identity(torch.ones(2).as_subclass(type("Mine", (torch.Tensor,), {}))) is None
    assert arrays.identity(3) is None


def test_gradients_are_recorded_unless_that_is_off():
    assert arrays.records_gradients() is True
    with torch.no_grad():
        assert arrays.records_gradients() is False


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "complex64"])
def test_numbers_go_to_numpy_and_back_as_copies(dtype):
    x = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype)).t()
    array = arrays.to_numpy(x)
    assert array.tolist() == x.tolist() and array.dtype.name == {"bfloat16": "float32"}.get(dtype, dtype)
    array[:] = 7
    back = arrays.to_tensor(array, dtype=dtype)
    array[:] = 8
    assert x[0, 0] == 0 and back.dtype == x.dtype == arrays.torch_dtype(arrays.dtype_name(x.dtype))
    assert (back == 7).all() and arrays.to_tensor(array, "meta").device.type == "meta"


@pytest.mark.parametrize("original, flows", [
    (torch.ones(2), True), (torch.ones(3), False), (torch.ones(2).detach(), False), (torch.tensor([1, np.inf]), False)])
def test_gradients_flow_as_through_the_original(original, flows):
    original = original.clone()
    leaf = original.requires_grad_(flows or not original.isfinite().all() or len(original) == 3)
    other = torch.tensor([5.0, 6.0])
    got = arrays.with_gradient_of(other, leaf * 2 if leaf.requires_grad else leaf)
    assert got.tolist() == [5, 6] and got.requires_grad is flows
    if flows:
        got.sum().backward()
        assert leaf.grad.tolist() == [2, 2]
    whole = torch.tensor([1, 2])
    assert arrays.with_gradient_of(whole, leaf) is whole


def test_a_parameter_takes_numbers_and_a_projection_the_dtype_of_a_result():
    parameter = torch.nn.Parameter(torch.zeros(2))
    arrays.set_parameter(parameter, np.array([1.0, 2.0]))
    assert parameter.tolist() == [1, 2] and parameter.grad_fn is None and parameter.requires_grad
    assert arrays.dot(torch.tensor([1.0, 2.0]), torch.tensor([3, 4])).item() == 11
    assert arrays.dot(torch.ones(2), torch.ones(2).double()).dtype == torch.float32


def test_no_gradient_is_one_of_zeros():
    x, y = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    y.grad = torch.ones(3)
    assert {name: value.tolist() for name, value in arrays.gradients((3 * x).sum(), {"x": x, "y": y}).items()} == {
        "x": [3, 3], "y": [0, 0, 0]}
    assert arrays.gradients(0.0, {"x": x})["x"].tolist() == [0, 0]


def draws():
    return random.random(), np.random.rand(), torch.rand(1).item()


def test_a_clean_state_is_the_same_each_time_and_leaves_torchs_own():
    torch.manual_seed(5)
    wanted = torch.rand(1).item()
    torch.manual_seed(5)
    drawn = []
    backends = torch.backends.cuda.matmul, torch.backends.cudnn
    before = [(one, "allow_tf32", one.allow_tf32) for one in backends] + [(backends[1], "enabled", backends[1].enabled)]
    threads = torch.get_num_threads()
    try:
        torch.set_default_dtype(torch.float64)
        torch.set_num_threads(2)
        for one, name, _ in before:
            setattr(one, name, True)
        for seed in (1, 1, 2):
            with torch.no_grad(), arrays.rng_state_kept(), arrays.clean_state(seed, "cpu"):
                drawn.append(draws())
                assert torch.ones(1).dtype == torch.float32 and torch.is_grad_enabled() and torch.get_num_threads() == 1
                assert not any(getattr(one, name) for one, name, _ in before)
        with torch.inference_mode(), arrays.clean_state(1, "cpu"):
            assert not torch.is_inference_mode_enabled()
        assert torch.ones(1).dtype == torch.float64 and torch.get_num_threads() == 2
        assert all(getattr(one, name) for one, name, _ in before)
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(threads)
        for one, name, value in before:
            setattr(one, name, value)
    assert drawn[0] == drawn[1] and all(a != b for a, b in zip(drawn[0], drawn[2], strict=True))
    assert torch.rand(1).item() == wanted


def test_generators_come_back_whatever_happens():
    random.seed(4), np.random.seed(4)
    wanted = draws()[:2]
    random.seed(4), np.random.seed(4)
    with contextlib.suppress(KeyError), arrays.rng_state_kept():
        draws()
        raise KeyError
    assert draws()[:2] == wanted


@pytest.mark.parametrize("mode, before", [("default", (False, False)), ("error", (True, False)),
                                          ("warn", (True, True))])
def test_new_memory_is_filled_and_the_setting_comes_back(mode, before, monkeypatch):
    for compiler in ("torch._inductor", "torch._dynamo"):  # to import one takes seconds
        monkeypatch.setitem(sys.modules, compiler, None)

    def setting():
        return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()

    try:
        torch.set_deterministic_debug_mode(mode)
        assert setting() == before
        with contextlib.suppress(KeyError), arrays.new_memory_filled():
            assert torch.empty(5).isnan().all() and setting() == (True, True)
            raise KeyError
        assert setting() == before
    finally:
        torch.set_deterministic_debug_mode("default")


def test_threads_are_those_of_the_environment_or_of_the_course(monkeypatch):
    before = torch.get_num_threads()
    try:
        for variables, threads in (({}, 2), ({"OMP_NUM_THREADS": "7"}, 3)):
            torch.set_num_threads(3)
            monkeypatch.setattr(os, "environ", variables)
            arrays.take_threads(2)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_a_gpu_is_hidden_where_the_device_is_the_cpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert [arrays.device_of(value) for value in ("cuda", "cuda:1", torch.device("cuda"), "cpu", "mps", 3)] == [
        *["cuda"] * 3, *["cpu"] * 3]
    for device, seen in (("cpu", False), ("cuda", True)):
        with contextlib.suppress(KeyError), arrays.gpu_hidden_for(device):
            assert torch.cuda.is_available() is seen and arrays.device_of("cuda") == ("cuda" if seen else "cpu")
            raise KeyError
        assert torch.cuda.is_available()


def test_the_generators_of_a_gpu_are_seeded_and_come_back_where_it_is_used(monkeypatch):
    for used in (True, False):
        done = []
        monkeypatch.setattr(torch.cuda, "is_initialized", lambda used=used: used)
        monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: ["state"])
        monkeypatch.setattr(torch.cuda, "set_rng_state_all", done.append)
        monkeypatch.setattr(torch.cuda, "manual_seed_all", done.append)
        with arrays.clean_state(3, "cuda"):
            pass
        assert done == ([3, ["state"]] if used else [])
        arrays.seed_all(4, lazily=True)
        assert done[-1:] == [4]


CHANGES = {
    "the default dtype": lambda: torch.set_default_dtype(torch.float64),
    "whether gradients are computed (`set_grad_enabled`)": lambda: torch.set_grad_enabled(False),
    "the seed of torch's generator": lambda: torch.manual_seed(99),
    "the mode of the network (`train`, `eval`)": lambda: NET[1].eval(),
    "the state of torch's generator": lambda: torch.rand(1),
    "the state of numpy's generator": lambda: np.random.rand(),
    "the state of Python's generator": lambda: random.random(),
}


MODE = "the mode of the network (`train`, `eval`)"
GENERATORS = {f"the state of {whose} generator" for whose in ("torch's", "numpy's", "Python's")}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("function, sees", [
    (NET, set(CHANGES)), (NET.forward, set(CHANGES)), (draws, CHANGES.keys() - {MODE}),
    (torch.nn.Linear, CHANGES.keys() - {MODE} - GENERATORS)])
def test_what_a_call_changes_around_it_is_seen(name, function, sees):
    """Who makes a network draws its weights."""
    NET.train()
    with arrays.rng_state_kept(), arrays.clean_state(1, "cpu"):
        before = arrays.global_state(function)
        CHANGES[name]()
        after = arrays.global_state(function)
    changed = {name, "the state of torch's generator"} if "seed" in name else {name}
    assert {key for key, value in after.items() if value != before[key]} == changed & sees
    assert before.keys() | {MODE} == sees | {MODE}


def test_a_normal_number_that_numpy_keeps_is_part_of_its_state():
    with arrays.rng_state_kept():
        np.random.seed(1)
        np.random.standard_normal()
        before = arrays.global_state(len)
        np.random.standard_normal()
        assert arrays.global_state(len) != before


@pytest.mark.parametrize("change", [
    lambda a: a["x"].add_(1), lambda a: a["n"].__setitem__(0, 5), lambda a: a["l"].append(1),
    lambda a: a["l"].__setitem__(0, object()), lambda a: a.pop("x"), lambda a: a.update(x=torch.zeros(2)),
    lambda a: a.update(n=np.zeros(2)), lambda a: a.update(t=(1, 3)), lambda a: a.update(s="b"),
    lambda a: a.update({7: 1}), lambda a: a["i"].add_(1)])
def test_whatever_is_written_or_replaced_changes_a_fingerprint(change):
    with torch.inference_mode():
        inference = torch.zeros(2)
    argument = {"x": torch.zeros(2), "n": np.zeros(2), "l": [object()], "t": (1, 2), "s": "a", frozenset(): None,
                "i": torch.nn.Parameter(torch.zeros(2), False), "j": inference}
    before = arrays.fingerprint(argument)
    assert arrays.fingerprint(argument) == before
    change(argument)
    assert arrays.fingerprint(argument) != before


class Odd:
    """A key that may be asked for its hash once."""

    def __hash__(self):
        assert not hasattr(self, "asked")
        self.asked = True
        return 1


def test_equal_numbers_and_texts_are_no_change_and_equal_objects_are():
    argument = {"word": "a text", "n": 1000, 1000: 1.5, Odd(): 1, "f": fractions.Fraction(1, 2)}
    before = arrays.fingerprint(argument)
    for key in ("word", "n", 1000):
        value = argument.pop(key)
        argument["".join(list(key)) if isinstance(key, str) else int(str(key))] = type(value)(str(value) + "")
    assert arrays.fingerprint(argument) == before
    argument["f"] = fractions.Fraction(1, 2)
    assert arrays.fingerprint(argument) != before


def test_a_stub_may_use_torch():
    assert arrays.stub_scope() == {"np": np, "__name__": "stub", "torch": torch, "nn": torch.nn,
                                   "F": torch.nn.functional}


def test_shapes_are_those_of_all_arrays():
    assert arrays.shapes([torch.ones(2, 3), {"a": (np.ones(4), 5)}, "a"]) == [(2, 3), [[(4,), None]], None]


@pytest.mark.parametrize("name, known", [
    ("softmax", True), ("linalg_norm", True), ("fft_fft", True), ("getitem", True), ("add", True), ("relu_", True),
    ("logit", True), ("cross_entropy", True), ("soft_max", False), ("linalg_soft", False), ("nn_Linear", False),
    ("erfcx", True), ("masked_fill", True)])
def test_a_function_of_torch_is_known_by_its_name(name, known):
    assert arrays.is_torch_function(name) is known


def test_each_call_of_torch_is_noted_by_its_name():
    noted = []
    x = torch.ones(2, 2)
    with arrays.torch_calls(noted.append):
        torch._softmax(x, 0, False), torch.special.expit(x), x + x, x[0], torch.linalg.norm(x)
        assert torch.full((2,), fill_value=3.0).tolist() == [3, 3] and torch.sum(x, dim=0).shape == (2,)
    assert noted[:5] == ["softmax", "expit", "add", "getitem", "linalg_norm"] and {"full", "sum"} <= set(noted)
