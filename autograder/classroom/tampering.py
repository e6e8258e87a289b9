"""Signs of an attempt to manipulate the grader, for a person to look at; they cost no points.

The judge does not depend on it. Code is read, never run; each sign shows its line, so that a person can judge.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .. import escaping
from ..judging.submission import SubmittedCell
from ..runtime.syntax import code_lines, parse, without_magics
from . import answers
from .student_work import StudentWork
from .submitted import notebook_in

MODULES = {"ctypes": "foreign memory", "gc": "other objects of the process", "socket": "the network",
           "subprocess": "other programs", "requests": "the network", "urllib": "the network"}
CALLS = {"os._exit": "ends the process", "os.kill": "ends a process", "os.system": "runs another program",
         "sys._getframe": "reads the caller's frame", "sys.settrace": "watches the process",
         "sys.setprofile": "watches the process", "inspect.stack": "reads the caller's frame"}
SHELL = {"input_transformers_cleanup", "input_transformers_post", "ast_transformers", "run_cell", "events"}
PROGRAM = re.compile(r"!(?!=)|%(?:bash|perl|pypy|python\d?|ruby|script|sh|sx|system)\b")  # in a magic
MAX_SOURCE = 200_000  # characters of code that are looked at
MAX_NAMES, MAX_SHOWN = 8, 120  # of a chain such as `a.b().c`, from its end; of a line, in characters
PRIVATE = ("solutions", "gradebook", "checks.py", "faults.py", "variants.py", ".db", "/proc/", "/etc/", "/srv/")


_known: dict[str, list[str]] = {}  # by the digest of a notebook: the screen asks after every save


def of_submission(work: StudentWork) -> list[str]:
    """Return the `signs` in the notebook that a student handed in; none where it cannot be read."""
    try:
        handed_in = notebook_in(work.submitted.parent, work.assignment).read()
    except OSError:
        return []
    if handed_in.digest not in _known:
        _known[handed_in.digest] = signs(answers.cells(handed_in.data))
    return _known[handed_in.digest]


def signs(cells: Sequence[SubmittedCell]) -> list[str]:
    """Return the lines of a submission that a person should look at, each once, with all its signs."""
    by_line: dict[str, dict[str, None]] = {}
    left = MAX_SOURCE
    for cell in cells:
        if cell.type != "code":
            continue
        left -= len(cell.source)
        if left < 0:
            more = f"has more than {MAX_SOURCE:,} characters of code, which were not all looked at"
            return [*_sentences(by_line), more]
        lines = code_lines(cell.source)
        for number, sign in _signs(lines, without_magics(cell.source)):
            by_line.setdefault(escaping.line(lines[number - 1].strip()[:MAX_SHOWN]), {})[sign] = None
    return _sentences(by_line)


def _sentences(by_line: Mapping[str, Iterable[str]]) -> list[str]:
    return [f"{', '.join(line_signs)}: `{line}`" for line, line_signs in by_line.items()]


def _dotted(node: ast.expr) -> str:
    """Return the names of a chain such as ``a.b().c`` as "a.b.c"; "?" stands for a beginning without a name."""
    names: list[str] = []
    for _ in range(MAX_NAMES):
        match node:
            case ast.Attribute(value=value, attr=name):
                names.append(name)
                node = value
            case ast.Call(func=value):
                node = value
            case ast.Name(id=name):
                return ".".join([name, *reversed(names)])
    return ".".join(["?", *reversed(names)])


def _signs(lines: Sequence[str], python: str) -> Iterator[tuple[int, str]]:
    """Yield the number of a line of a cell, and a sign in it; ``python`` is the cell without its magics."""
    for number, (line, without) in enumerate(zip(lines, code_lines(python), strict=False), 1):
        if line != without and PROGRAM.search(line):
            yield number, CALLS["os.system"]
    tree = parse(python) or ast.Module([], [])
    imported = _imported(tree)
    modules = {(alias.asname or alias.name).partition(".")[0] for node in ast.walk(tree)
               if isinstance(node, ast.Import) for alias in node.names} | {"torch", "numpy", "np", "builtins", "tp"}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets):
                for target in targets:
                    name = _dotted(target)
                    if isinstance(target, ast.Attribute) and name.split(".")[0] in modules:
                        yield node.lineno, f"replaces {name}"
            case ast.FunctionDef(name="__eq__", body=[ast.Return(value=ast.Constant(value=True))]):
                yield node.lineno, "is equal to everything"
            case ast.Attribute(attr=attribute) if attribute in SHELL and _dotted(node).startswith("get_ipython."):
                yield node.lineno, "changes how cells are run"
            case ast.Call(func=function):
                name = _dotted(function)
                first_name, dot, rest = name.partition(".")
                if sign := CALLS.get(f"{imported.get(first_name, first_name)}{dot}{rest}"):
                    yield node.lineno, sign
                first = node.args[0] if node.args else None
                path = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
                if name.split(".")[-1] in ("open", "Path", "read_text", "listdir", "glob") and any(
                        place in path for place in PRIVATE):
                    yield node.lineno, "opens what is not the student's"
            case ast.Import(names=names):
                for alias in names:
                    if reach := MODULES.get(alias.name.partition(".")[0]):
                        yield node.lineno, f"reaches for {reach}"
            case ast.ImportFrom(module=str(name)):
                if reach := MODULES.get(name.partition(".")[0]):
                    yield node.lineno, f"reaches for {reach}"


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return what each name stands for that code imports from a module, or under another name."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names |= {alias.asname or alias.name: f"{module}{alias.name}" for alias in node.names}
    return names
