"""Stubs have the face of what they stand for: a right answer may use any of it.

Where one exercise calls another, a check puts a stub in the other's place. It must take the same arguments under
the same names, and have the same public attributes and methods, or a right answer that uses them would be refused.
"""

import ast
from collections.abc import Iterator

from ..model.oracle import Oracle
from ..model.source import Source
from ..runtime.operations import Define

Definition = ast.ClassDef | ast.FunctionDef


def problems(truth: Oracle) -> Iterator[str]:
    """Return what the stubs of a session's checks lack, one sentence each."""
    for check in truth.checks:
        for op in truth.recorder.plain(check, 1).ops:
            name = op.replaces or op.like if isinstance(op, Define) else None
            if isinstance(op, Define) and name:
                original, stub = _definition(truth.source, name), _named(op.source, op.name)
                where = f"{check.exercise}/{check.name}: the stub for {name}"
                if original and stub:
                    made = not op.replaces
                    yield from (f"{where} {lack}" for lack in _lacks(original, stub, made))
                elif op.like:
                    yield f"{where} is like nothing: the notebook does not define {name}"


def _definition(source: Source, name: str) -> Definition | None:
    """Return where the course itself defines a name."""
    for cell in source.by_role("given", "exercise"):
        found = _named(cell.solution, name)
        if found:
            return found
    return None


def _named(text: str, name: str) -> Definition | None:
    for node in ast.parse(text).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
            return node
    return None


def _lacks(original: Definition, stub: Definition, made: bool) -> Iterator[str]:
    """Yield what a stub lacks; a stub that the check creates may be created in another way."""
    if isinstance(original, ast.FunctionDef) and isinstance(stub, ast.FunctionDef):
        yield from _other_parameters("", original, stub)
    if not (isinstance(original, ast.ClassDef) and isinstance(stub, ast.ClassDef)):
        return
    methods = _methods(stub)
    for name, method in _methods(original).items():
        if name.startswith("_") and (made or name != "__init__"):
            continue
        if name in methods:
            yield from _other_parameters(f"{name}: ", method, methods[name])
        elif name != "__init__":
            yield f"has no method {name}"
    missing = _attributes(original) - _attributes(stub) - set(methods)
    if missing:
        yield f"has no attribute {', '.join(sorted(missing))}"


def _methods(definition: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in definition.body if isinstance(node, ast.FunctionDef)}


def _other_parameters(what: str, original: ast.FunctionDef, stub: ast.FunctionDef) -> Iterator[str]:
    want, have = original.args, stub.args
    names = [argument.arg for argument in want.args], [argument.arg for argument in have.args]
    if names[0] != names[1]:
        yield f"{what}takes ({', '.join(names[1])}), not ({', '.join(names[0])})"
    elif len(have.defaults) < len(want.defaults):
        yield f"{what}asks for arguments that have a default"


def _attributes(definition: ast.ClassDef) -> set[str]:
    """Return the public attributes that a class sets on `self` or in its body."""
    found = {target.id for node in definition.body if isinstance(node, ast.Assign)
             for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(definition):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                found.add(node.attr)
    return {name for name in found if not name.startswith("_")}
