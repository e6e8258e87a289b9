"""Signs of an attempt to manipulate the grader, for a person to look at; they cost no points.

The judge does not depend on it. Code is read, never run; each flag shows its line, so that a person can judge.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from .. import escaping
from ..judging.submission import SubmittedCell, readable_cells
from ..runtime.syntax import code_lines, parse, without_magics
from .student_work import StudentWork
from .submitted import notebook_in

MODULES = {"ctypes": "foreign memory", "gc": "other objects of the process", "socket": "the network",
           "subprocess": "other programs", "requests": "the network", "urllib": "the network"}
CALLS = {"os._exit": "ends the process", "os.kill": "ends a process",
         "sys._getframe": "reads the caller's frame", "sys.settrace": "watches the process",
         "sys.setprofile": "watches the process", "inspect.stack": "reads the caller's frame"}
PROGRAMS = re.compile(r"os\.(system|popen|exec\w+|spawn\w+|posix_spawnp?)|pty\.spawn|get_ipython\.(system|getoutput)")
SHELL = {"input_transformers_cleanup", "input_transformers_post", "ast_transformers", "run_cell", "events"}
HARMLESS = ("torch.backends.",)  # settings, for results that can be repeated
PROGRAM = re.compile(r"!(?!=)|%(?:bash|perl|pypy|python\d?|ruby|script|sh|sx|system)\b")  # in a magic
RUNS = "runs another program"
ALWAYS = {name: name for name in ("torch", "numpy", "builtins", "__builtins__", "tp")} | {"np": "numpy"}
MAX_SOURCE = 200_000  # characters of code that are looked at
MAX_NAMES, MAX_SHOWN = 8, 120  # of a chain such as `a.b().c`, from its end; of a line, in characters
PRIVATE = ("solutions", "gradebook", "checks.py", "faults.py", "variants.py", ".db", "/proc/", "/etc/", "/srv/")


_known: dict[str, list[str]] = {}  # by the digest of a notebook: the screen asks after every save


def flags_of(work: StudentWork) -> list[str]:
    """Return the `flags` of the notebook that a student handed in; none where it cannot be read."""
    try:
        handed_in = notebook_in(work.submitted.parent, work.session).read()
    except OSError:
        return []
    if handed_in.digest not in _known:
        _known[handed_in.digest] = flags(readable_cells(handed_in.data))
    return _known[handed_in.digest]


def flags(cells: Sequence[SubmittedCell]) -> list[str]:
    """Return the lines of a submission that a person should look at, each once, with all its flags."""
    by_line: dict[str, dict[str, None]] = {}
    sources = [cell.source for cell in cells if cell.type == "code"]
    read = [source for source, length in zip(sources, accumulate(map(len, sources)), strict=True)
            if length <= MAX_SOURCE]
    pythons = list(map(without_magics, read))
    trees = [parse(python) or ast.Module([], []) for python in pythons]
    imported, assigned = ALWAYS | _imported(trees), _assigned(trees) - ALWAYS.keys()
    for source, python, tree in zip(read, pythons, trees, strict=True):
        lines = code_lines(source)
        for number, flag in _flags(lines, python, tree, imported, assigned):
            by_line.setdefault(escaping.line(lines[number - 1].strip()[:MAX_SHOWN]), {})[flag] = None
    more = [f"has more than {MAX_SOURCE:,} characters of code, which were not all looked at"]
    return _sentences(by_line) + (more if len(read) < len(sources) else [])


def _sentences(by_line: Mapping[str, Iterable[str]]) -> list[str]:
    return [f"{', '.join(line_flags)}: `{line}`" for line, line_flags in by_line.items()]


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


def _flags(lines: Sequence[str], python: str, tree: ast.Module, imported: Mapping[str, str],
           assigned: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield the number of a line of a cell, and a flag in it; ``python`` is the cell without its magics, as a ``tree``.

    ``imported`` says what each name stands for that the notebook imports. The ``assigned`` may be anything else.
    """
    def is_module(name: str) -> bool:
        first = name.split(".")[0]
        return first in imported and first not in assigned

    def full_name(name: str) -> str:
        first, dot, rest = name.partition(".")
        return f"{imported.get(first, first)}{dot}{rest}"

    for number, (line, without) in enumerate(zip(lines, code_lines(python), strict=False), 1):
        if line != without and PROGRAM.search(line):
            yield number, RUNS
    declared = {node.target for node in ast.walk(tree) if isinstance(node, ast.AnnAssign) and node.value is None}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ctx=ast.Store() | ast.Del()) if is_module(_dotted(node)):
                if node not in declared and not full_name(_dotted(node)).startswith(HARMLESS):
                    yield node.lineno, f"replaces {_dotted(node)}"
            case ast.FunctionDef(name="__eq__", body=[ast.Return(value=ast.Constant(value=True))]):
                yield node.lineno, "is equal to everything"
            case ast.Attribute(attr=attribute) if attribute in SHELL and _dotted(node).startswith("get_ipython."):
                yield node.lineno, "changes how cells are run"
            case ast.Call(func=function):
                name = _dotted(function)
                if PROGRAMS.fullmatch(full_name(name)):
                    yield node.lineno, RUNS
                elif flag := CALLS.get(full_name(name)):
                    yield node.lineno, flag
                first = node.args[0] if node.args else None
                if name == "setattr" and first and is_module(_dotted(first)):
                    yield node.lineno, f"replaces something of {_dotted(first)}"
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


def _imported(trees: Iterable[ast.Module]) -> dict[str, str]:
    """Return what each name stands for that code imports, from a module or under another name."""
    names: dict[str, str] = {}
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name.partition(".")[0]: alias.name if alias.asname else
                      alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _assigned(trees: Iterable[ast.Module]) -> set[str]:
    """Return the names that statements of cells assign, those in functions and classes left out."""
    statements = (statement for tree in trees for statement in tree.body
                  if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)))
    return {node.id for statement in statements for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
