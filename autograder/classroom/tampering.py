"""Signs that a submission tries to get at the grader rather than to solve: for a person to look at, worth no points.

The judge does not depend on it. Code is read, never run; what is told is the line, so that a person can judge.
"""

import ast
from collections.abc import Iterator, Sequence

from ..judging.submission import Cell

MODULES = {"ctypes": "foreign memory", "gc": "other objects of the process", "socket": "the network",
           "subprocess": "other programs", "requests": "the network", "urllib": "the network"}
CALLS = {"os._exit": "ends the process", "os.kill": "ends a process", "os.system": "runs another program",
         "sys._getframe": "reads the caller's frame", "sys.settrace": "watches the process",
         "sys.setprofile": "watches the process", "inspect.stack": "reads the caller's frame"}
SHELL = {"input_transformers_cleanup", "input_transformers_post", "ast_transformers", "run_cell", "events"}
PRIVATE = ("solutions", "gradebook", "checks.py", "faults.py", ".db", "/proc/", "/etc/", "/srv/")


def signs(cells: Sequence[Cell]) -> list[str]:
    """Return what somebody should look at in the code of a submission: a sentence each, with the line."""
    found: dict[str, None] = {}
    for cell in cells:
        if cell.type != "code":
            continue
        try:
            tree = ast.parse(cell.source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        lines = cell.source.splitlines()
        for node, said in _found(tree):
            line = lines[node.lineno - 1].strip() if 0 < getattr(node, "lineno", 0) <= len(lines) else ""
            found[f"{said}: `{line[:120]}`"] = None
    return list(found)


def _found(tree: ast.Module) -> Iterator[tuple[ast.stmt | ast.expr, str]]:
    modules = {(alias.asname or alias.name).partition(".")[0] for node in ast.walk(tree)
               if isinstance(node, ast.Import) for alias in node.names} | {"torch", "numpy", "np", "builtins", "tp"}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets):
                for target in targets:
                    name = ast.unparse(target)
                    if isinstance(target, ast.Attribute) and name.split(".")[0] in modules and name.count(".") > 0:
                        yield node, f"replaces {name}"
            case ast.FunctionDef(name="__eq__", body=[ast.Return(value=ast.Constant(value=True))]):
                yield node, "is equal to everything"
            case ast.Attribute(attr=attribute) if attribute in SHELL and "get_ipython" in ast.unparse(node):
                yield node, "changes how cells are run"
            case ast.Call(func=function):
                name = ast.unparse(function)
                if name in CALLS:
                    yield node, CALLS[name]
                first = node.args[0] if node.args else None
                path = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
                if name.split(".")[-1] in ("open", "Path", "read_text", "listdir", "glob") and any(
                        one in path for one in PRIVATE):
                    yield node, "opens what is not the student's"
            case ast.Import(names=names):
                for alias in names:
                    if reach := MODULES.get(alias.name.partition(".")[0]):
                        yield node, f"reaches for {reach}"
            case ast.ImportFrom(module=str(name)):
                if reach := MODULES.get(name.partition(".")[0]):
                    yield node, f"reaches for {reach}"
