"""Every public name of the helper package says what it is, and every function says the axes of its tensors."""

import importlib
import inspect
import pkgutil
import re

import pytest

import tp

# What notebooks call. `autograder.runtime` moves values of any kind and shape: there are no axes to speak of.
MODULES = ["tp", *(module.name for module in pkgutil.walk_packages(tp.__path__, "tp.")
                   if not module.name.startswith("autograder.runtime"))]

ARRAY = re.compile(r"\b(tensors?|arrays?|ndarray)\b", re.IGNORECASE)
SIZE = r"(?:[A-Z](?:_\w+)?|\d+[A-Z]?|…)(?: [+−] \d+)?"
AXES = re.compile(rf"(?<!\w)\((?:|{SIZE},|{SIZE}(?:, {SIZE})+)\)")  # (), (S,), (T_dec + 1, B), (4, B, 2H)


def public(module):
    """Name → object: the module, its public classes and functions, and their public methods and properties."""
    found = {module.__name__: module}
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(thing):
            found |= {f"{module.__name__}.{name}.{part}": getattr(thing, part) for part, value in vars(thing).items()
                      if not part.startswith("_") and (inspect.isroutine(value) or isinstance(value, property))}
        if inspect.isclass(thing) or inspect.isroutine(thing):
            found[f"{module.__name__}.{name}"] = thing
    return found


def said_of(thing):
    """The docstring of an object; that which Python writes for a dataclass or a named tuple counts for nothing."""
    text = thing.__doc__ or ""
    return "" if inspect.isclass(thing) and text.startswith(f"{thing.__name__}(") else text.strip()


def without_docstring(module):
    return [name for name, thing in public(module).items() if not said_of(thing)]


def without_axes(module):
    """Names whose annotations or docstring speak of a tensor or an array, while the docstring has no axes."""
    return [name for name, thing in public(module).items() if not inspect.ismodule(thing)
            and ARRAY.search(f"{said_of(thing)} {getattr(thing, '__annotations__', '')}")
            and not AXES.search(said_of(thing))]


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_has_a_docstring(name):
    assert without_docstring(importlib.import_module(name)) == []


@pytest.mark.parametrize("name", MODULES)
def test_whatever_has_a_tensor_says_its_axes(name):
    assert without_axes(importlib.import_module(name)) == []


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    (tmp_path / "lacking.py").write_text('''
from dataclasses import dataclass

import numpy as np


@dataclass
class Step:
    """A step: weights, an array (S,)."""
    weights: np.ndarray

    @property
    def length(self): ...

    @classmethod
    def read(cls, text):
        """An array made of a text."""

    def _private(self): ...


@dataclass
class Bare:
    name: str


def loud(x: np.ndarray):
    """Twice as loud (in decibels), see loud()."""
''', encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    lacking = importlib.import_module("lacking")
    assert without_docstring(lacking) == ["lacking", "lacking.Step.length", "lacking.Bare"]
    assert without_axes(lacking) == ["lacking.Step.read", "lacking.loud"]
