"""A cell can be run again at any time: no function or class of a notebook takes the place of another cell's."""

import ast
from collections import Counter

import pytest

from autograder.model.source import load_source
from conftest import REPOSITORY

BLOCKS = (ast.If, ast.With, ast.For, ast.While, ast.Try)


def definitions(body):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, BLOCKS):
            yield from definitions(node.body)


@pytest.mark.parametrize("name", REPOSITORY.sessions)
def test_no_two_cells_define_the_same_name(name):
    code = [cell.solution for cell in load_source(REPOSITORY, name).cells if not cell.is_markdown]
    defined = Counter(name for text in code for name in set(definitions(ast.parse(text).body)))
    assert sum(defined.values()) > 5 and not [name for name, cells in defined.items() if cells > 1]
