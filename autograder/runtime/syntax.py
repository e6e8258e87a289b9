"""Read the syntax of a student's cell: the name of an expression, where it is stored, and its inputs."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

PROBE = "_observe_"  # no two underscores in front: inside a class such a name would be another one
LIBRARIES = {"torch", "F", "nn", "np", "math"}
SIZES = {"shape", "size", "dim", "ndim", "dtype", "device", "numel", "len", "range", "enumerate", "isinstance", "type",
         "empty_like", "new_empty"}  # what an empty tensor holds is left from before
Span = tuple[int, int, int, int]  # first line and column, last line and column; lines from 1, columns from 0


def is_sized(node: ast.expr) -> bool:
    """Return whether an expression says how large something is, or of which kind."""
    if isinstance(node, ast.Attribute):
        return node.attr in SIZES
    if isinstance(node, ast.Subscript):
        return is_sized(node.value)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in SIZES
    return False


def is_pure(node: ast.AST) -> bool:
    """Return whether the function of a call is one of a library or of Python."""
    function = node.func if isinstance(node, ast.Call) else None
    while isinstance(function, ast.Attribute):
        function = function.value
    return not isinstance(function, ast.Name) or function.id in LIBRARIES or hasattr(builtins, function.id)


def called(node: ast.AST) -> str:
    """Return the function that a call names, or the method of ``self``; nothing where it is another thing's."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
            return name
    return ""


def variable(node: ast.AST) -> str | None:
    """Return the variable that an expression is: a name, or an attribute of a name; None when it is anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr not in SIZES:
        return f"{node.value.id}.{node.attr}" if node.value.id == "self" else None
    return None


def root(node: ast.AST) -> str | None:
    """Return the variable that an expression begins with."""
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Call)):
        if isinstance(node, ast.Call):
            if ast.unparse(node.func) != PROBE or len(node.args) != 2:
                return None
            node = node.args[1]
        else:
            node = node.value
    return node.id if isinstance(node, ast.Name) else None


def stored(target: ast.AST) -> Iterator[str]:
    """Yield the variables that an assignment to a target stores in, or changes."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from stored(one)
    elif isinstance(target, ast.Starred):
        yield from stored(target.value)
    elif isinstance(target, ast.Attribute):
        if isinstance(target.value, ast.Name):
            yield f"{target.value.id}.{target.attr}"
    elif isinstance(target, ast.Subscript):
        name = root(target)
        if name:
            yield name


def code_lines(text: str) -> list[str]:
    """Return the lines of code as Python counts them: a form feed or U+2028 ends none, as it would in `splitlines`."""
    return re.split(r"\r\n?|\n", text.removesuffix("\n")) if text else []


def segment(text: str, span: Span) -> str:
    """Return the text of a span, in one line."""
    lines = [line.encode() for line in code_lines(text)[span[0] - 1:span[2]]]
    if len(lines) == 1:
        lines = [lines[0][span[1]:span[3]]]
    elif lines:
        lines = [lines[0][span[1]:], *lines[1:-1], lines[-1][:span[3]]]
    return " ".join(line.decode("utf-8", "replace").strip() for line in lines)
