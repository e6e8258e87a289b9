"""Under which conditions is judged: bounds, how they scale, and which device is meant."""

import sys
from dataclasses import fields, replace

import pytest
import torch

from autograder import AutograderError
from autograder.classroom.nbgrader.autograde import SaveVerdict
from autograder.runtime import arrays
from autograder.sandbox.options import Limits, Options, options_of, require_device


def test_the_bounds_are_those_of_the_guarantees():
    assert Limits() == Limits(
        cell_cpu_seconds=15, exercise_cpu_seconds=15, notebook_wall_seconds=160, wall_share=0.25, memory=3 * 2**30,
        processes=64, files=256, disk=64 * 2**20, judge_cpu_seconds=30, judge_memory=3 * 2**30)
    assert Options() == Options(device="cpu", isolation="bubblewrap", limits=Limits())
    assert Limits().judge_wall_seconds == 620 and replace(Limits(), notebook_wall_seconds=10).judge_wall_seconds == 320


def test_all_times_are_scaled_with_the_seconds_of_an_exercise_and_nothing_else():
    scaled = Limits().scaled(45)
    assert {field.name: getattr(scaled, field.name) / getattr(Limits(), field.name) for field in fields(Limits)} == {
        **{field.name: 1 for field in fields(Limits)},
        **{name: 3 for name in ("cell_cpu_seconds", "exercise_cpu_seconds", "notebook_wall_seconds",
                                "judge_cpu_seconds")}}
    assert Limits(exercise_cpu_seconds=2, cell_cpu_seconds=4).scaled(1).cell_cpu_seconds == 2
    assert options_of("cpu", False, 45) == Options("cpu", "none", scaled)
    assert options_of("cpu", True, 15) == Options()


def test_a_gpu_is_used_only_if_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert (require_device("cpu"), require_device("cuda")) == ("cpu", "cuda")
    assert SaveVerdict().options.device == options_of("cpu", True, 15).device == Options().device == "cpu"


def test_a_gpu_that_is_asked_for_and_not_there_is_refused_in_one_line(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(AutograderError, match="^--device cuda: torch finds no CUDA here; leave the option out"):
        require_device("cuda")
    monkeypatch.setitem(sys.modules, "torch", None)  # as in a course that computes with numpy
    with pytest.raises(AutograderError, match="^--device cuda: torch finds no CUDA here"):
        require_device("cuda")


def test_nobody_waits_for_torch_where_no_gpu_is_asked_for(monkeypatch):
    monkeypatch.setattr(arrays, "torch_or_none", None)
    assert require_device("cpu") == "cpu"
