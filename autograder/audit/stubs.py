"""Find what the stubs of a session's checks lack.

Where one exercise calls another, a check replaces the other by a stub. It must take the same arguments under the same
names, and have the same public attributes and methods, or a right answer that uses them would be refused.
"""

import ast
from collections.abc import Iterator

from ..model.oracle import Oracle
from ..model.source import Source
from ..runtime.operations import Define
from ..runtime.syntax import parse_module

Definition = ast.ClassDef | ast.FunctionDef


def problems(oracle: Oracle) -> Iterator[str]:
    """Yield what the stubs lack, one sentence each."""
    for check in oracle.checks:
        for op in oracle.recorder.record_without_relations(check, 1).ops:
            name = op.replaces or op.like if isinstance(op, Define) else None
            if isinstance(op, Define) and name:
                original, stub = _definition(oracle.source, name), _named(op.source, op.name)
                where = f"{check.exercise}/{check.name}: the stub for {name}"
                if original and stub:
                    yield from (f"{where} {lack}" for lack in _lacks(original, stub, created=not op.replaces))


def _definition(source: Source, name: str) -> Definition | None:
    """Return the course's own definition of a name."""
    for cell in source.by_role("given", "exercise"):
        definition = _named(cell.solution, name)
        if definition:
            return definition
    return None


def _named(text: str, name: str) -> Definition | None:
    for node in parse_module(text).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
            return node
    return None


def _lacks(original: Definition, stub: Definition, created: bool) -> Iterator[str]:
    """Yield what a stub lacks; a stub that the check creates may be created in another way."""
    if isinstance(original, ast.FunctionDef) and isinstance(stub, ast.FunctionDef):
        yield from _other_parameters("", original, stub)
    if not (isinstance(original, ast.ClassDef) and isinstance(stub, ast.ClassDef)):
        return
    methods = _methods(stub)
    for name, method in _methods(original).items():
        if name.startswith("_") and (created or name != "__init__"):
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


def _other_parameters(prefix: str, original: ast.FunctionDef, stub: ast.FunctionDef) -> Iterator[str]:
    want, have = original.args, stub.args
    names = [[argument.arg for argument in [*own.posonlyargs, *own.args]] for own in (want, have)]
    if names[0] != names[1]:
        yield f"{prefix}takes ({', '.join(names[1])}), not ({', '.join(names[0])})"
    elif missing := {argument.arg for argument in want.kwonlyargs} - {argument.arg for argument in have.kwonlyargs}:
        yield f"{prefix}takes no {', '.join(sorted(missing))}"
    elif len(have.defaults) < len(want.defaults) or _keyword_defaults(have) < _keyword_defaults(want):
        yield f"{prefix}asks for arguments that have a default"


def _keyword_defaults(arguments: ast.arguments) -> int:
    return sum(default is not None for default in arguments.kw_defaults)


def _attributes(definition: ast.ClassDef) -> set[str]:
    """Return the public attributes that a class sets on `self` or in its body."""
    is_dataclass = bool(definition.decorator_list)  # there an annotation alone is a field
    targets = [target for node in definition.body
               if isinstance(node, ast.Assign) or isinstance(node, ast.AnnAssign) and (node.value or is_dataclass)
               for target in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    for node in ast.walk(definition):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                names.add(node.attr)
    return {name for name in names if not name.startswith("_")}
