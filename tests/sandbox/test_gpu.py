"""The bounds of memory on a GPU, as far as they can be seen without one."""

import subprocess
import types

import pytest
import torch

from autograder.runtime.recorded import OutputSpec
from autograder.runtime.values import ArrayValue
from autograder.sandbox import host, kernel, watchdog
from autograder.sandbox.options import Options
from autograder.sandbox.watchdog import Budget, Usage
from conftest import SHORT, TINY, TINY_COURSE


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """Play nvidia-smi, with these lines."""

    def play(text):
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
        program.chmod(0o700)
        monkeypatch.setattr(watchdog.shutil, "which", lambda name: str(program))

    return play


def test_what_kernels_hold_is_what_the_driver_tells_of_them(driver):
    driver("7, 3072\n8, 9000\n9, 500\nno line\n10, [N/A]")
    assert watchdog.gpu_bytes({7, 9, 10, 11}) == 2 * 2**30  # the context apart, of each
    driver("Failed to initialize NVML")
    assert watchdog.gpu_bytes({7}) == 0


def test_without_a_driver_nothing_is_told(monkeypatch):
    monkeypatch.setattr(watchdog.shutil, "which", lambda name: None)
    assert watchdog.gpu_bytes({1}) == 0


@pytest.mark.parametrize("error", [OSError, subprocess.TimeoutExpired("nvidia-smi", 1)])
def test_of_a_driver_that_does_not_answer_nothing_is_told(monkeypatch, error):
    def run(command, *, timeout, **options):
        raise error

    monkeypatch.setattr(watchdog.shutil, "which", lambda name: name)
    monkeypatch.setattr(watchdog.subprocess, "run", run)
    assert watchdog.gpu_bytes({1}) == 0


@pytest.mark.parametrize("held, broken", [(SHORT.memory + 1, True), (SHORT.memory, False)])
def test_more_on_the_gpu_than_allowed_is_said_in_words(held, broken):
    fork_server = types.SimpleNamespace(usage=lambda: Usage(0, 1, 0.0), gpu_bytes=lambda: held)
    watch = host._RequestWatch(fork_server, Options("cuda", limits=SHORT), Budget(5, 20))
    watch._started -= 1
    lost = watch.exceeded()
    assert lost is None if not broken else lost.outcome == "crashed" and "of the GPU's memory" in str(lost)


@pytest.mark.parametrize("total, share", [(12 * 2**30, 0.25), (2**30, 1.0)])
def test_torch_gives_out_so_much_and_no_more(monkeypatch, total, share):
    given = []
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: types.SimpleNamespace(total_memory=total))
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda *args: given.append(args))
    kernel._bound_gpu(3 * 2**30)
    kernel._bound_gpu(0)  # on the CPU
    assert given == [(share, 0)]


# `make gpu`


@pytest.fixture
def parts(monkeypatch):
    """The measurements, of the tiny course."""
    from bench import gpu as parts

    monkeypatch.setattr(parts, "COURSE", TINY_COURSE)
    return parts


def test_on_the_cpu_numbers_are_those_that_were_recorded_and_come_twice(parts):
    found = parts.agreement(TINY, "cpu")
    assert found["checks"] >= 3 and (found["share"], found["unlike"]) == (0, 0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA here")
def test_on_a_gpu_numbers_are_within_their_tolerances(parts):
    assert 0 < parts.agreement(TINY, "cuda")["share"] <= 1


def test_the_share_of_a_tolerance_is_that_of_the_worst_number(parts, rng):
    expected = rng.normal(size=(3, 4)).astype("float32")
    got = expected.copy()
    got[1, 2] += 0.3 * (2e-4 + 2e-4 * abs(expected[1, 2]))
    assert parts.share(expected, got, OutputSpec()) == pytest.approx(0.3, rel=0.05)
    assert parts.share(expected, got, OutputSpec(atol=1, rtol=0)) < 1e-3
    assert parts.share(expected, expected, OutputSpec()) == 0


def test_arrays_that_differ_in_a_bit_are_not_alike(parts, rng):
    def reply(values):
        return types.SimpleNamespace(outputs={"x": ArrayValue("tensor", "float32", values)})

    x = rng.normal(size=4).astype("float32")
    other = x.copy()
    other[2] = other[2] * (1 + 2e-7)
    assert parts.alike(reply(x), reply(x.copy())) and not parts.alike(reply(x), reply(other))


def test_the_table_has_a_row_for_each_part_and_what_fails_is_told(parts):
    results = {"device": "GPU", "torch": "2", "rows": [{"what": "one", "seconds": 1, "failure": ""},
                                                      {"what": "two", "seconds": 2, "failure": "no room"}],
               "numbers": [{"name": TINY, "checks": 5, "share": 1.5, "unlike": 1}],
               "steps": [{"H": 8, "cpu": [4.0], "cuda": [2.0]}]}
    text = parts.report(results, None)
    assert text.count("\n|") == 6 and "**failed**" in text and "2.0 times" in text and "1 not the same twice" in text
    assert parts.failures(results) == ["two: no room", f"{TINY}: needs 1.5 times its tolerance"]


def test_a_command_that_fails_says_why(parts):
    row = parts.command("no such command", "prov")
    assert "invalid choice: 'prov'" in row["failure"] and row["seconds"] > 0
