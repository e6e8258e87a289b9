"""Digests of the inputs of generated files and verdicts, which show when one of them is stale.

| what | is made anew when one of these changes |
|---|---|
| released and executed notebooks | the source of the session |
| outputs of an executed notebook | the code of its cells. Not the helper modules: a run takes minutes, and most edits of a helper change no output. `autograder release --execute` runs all cells again |
| self-checks | source, checks, faults, variants; `arrays` and `axes` in `course.toml`; code of all helper modules; version of the engine |
| verdicts | source, checks, faults, variants, `arrays` and `axes`; every file of every helper, because a student may import any; version and modules of the engine; names and versions of the installed packages |

Self-checks do not depend on the engine's modules: they are data in a form that belongs to its version, and recording
them anew takes minutes. A verdict does, so that a corrected engine never keeps a wrong one: judging again takes seconds.
"""  # noqa: E501 (a table)

import ast
import hashlib
import site
from collections.abc import Iterable
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from .. import ENGINE_FOLDER, __version__
from ..runtime.syntax import parse_module, without_magics
from .errors import source_error
from .source import Source

# The parts of the engine that a verdict follows from.
JUDGING = ("__init__.py", "course.py", "metadata.py", "runtime", "model", "judging", "sandbox")


def of_source(source: Source) -> str:
    """Return the digest of the source alone, as it stands now."""
    return _of_files([source.path])


def of_session(source: Source) -> str:
    """Return the digest of source, checks, faults and variants, and of what `course.toml` says of all checks."""
    metadata = source.course.metadata
    return of_texts([_of_files([source.path, *source.check_files]), repr((metadata.arrays, metadata.axes))])


def of_selfchecks(source: Source) -> str:
    """Return the digest of what the recorded self-checks depend on."""
    helpers = [path for path in source.course.helper_files if path.suffix == ".py"]
    return of_texts([of_session(source), *map(_code_of_module, helpers), __version__])


def of_verdicts(source: Source) -> str:
    """Return the digest of what verdicts depend on, apart from the submission."""
    files = source.course.helper_files
    names = [str(path.relative_to(source.course.released)) for path in files]
    contents = (hashlib.sha256(path.read_bytes()).hexdigest() for path in files)
    return of_texts([of_session(source), *names, *contents, of_engine(), of_packages()])


@cache
def of_engine(engine: Path = ENGINE_FOLDER) -> str:
    """Return the engine's version with the digest of the modules that a verdict follows from.

    An engine that is being developed changes without its version.
    """
    modules = sorted(path for path in engine.rglob("*.py") if path.relative_to(engine).parts[0] in JUDGING)
    names = [str(path.relative_to(engine)) for path in modules]
    return f"{__version__}+{of_texts([*names, _of_files(modules)])}"


@cache
def of_packages() -> str:
    """Return the digest of the names and versions of the installed packages, which a student may import."""
    folders = site.getsitepackages()  # whatever the path of this process is
    if site.ENABLE_USER_SITE:
        folders = [*folders, site.getusersitepackages()]
    return of_texts(sorted({f"{package.name} {package.version}" for package in distributions(path=folders)}))


def of_cells(cells: Iterable[str]) -> str:
    """Return the digest of the code of cells, without comments, docstrings, magics and exits where a module is missing.

    Such an exit did not happen in a run that has outputs.
    """
    return of_texts(_text(_Essential().visit(parse_module(without_magics(cell)))) for cell in cells)


def of_texts(texts: Iterable[str]) -> str:
    """Return the digest of some texts in this order."""
    return hashlib.sha256("\0".join(texts).encode("utf-8")).hexdigest()[:16]


def _of_files(paths: Iterable[Path]) -> str:
    return of_texts(path.read_text(encoding="utf-8") for path in paths)


def _code_of_module(path: Path) -> str:
    """Return the code of a module as text, without comments and docstrings; ``SourceError`` where it is no Python."""
    try:
        tree = parse_module(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise source_error(path, error.lineno, error.msg) from None
    tree.body = tree.body[ast.get_docstring(tree) is not None:]
    return _text(_Essential().visit(tree))


def _text(tree: ast.AST) -> str:
    """Return a syntax tree as text, the same under every version of Python."""
    return ascii(_nested(tree))


def _nested(node: Any) -> Any:
    """Return a syntax tree as tuples, without empty fields and constants that only some versions of Python have."""
    if isinstance(node, list):
        return tuple(map(_nested, node))
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.JoinedStr):
        node.values = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
    fields = ((name, value) for name, value in ast.iter_fields(node)
              if name not in ("ctx", "kind") and value is not None and value != [])
    return type(node).__name__, *((name, _nested(value)) for name, value in fields)


class _Essential(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return self.generic_visit(node)

    visit_ClassDef = visit_FunctionDef

    def visit_Try(self, node: ast.Try) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        gives_up = all(ast.unparse(handler).startswith("except ModuleNotFoundError")
                       and ast.unparse(handler.body[0]).startswith("sys.exit(") for handler in node.handlers)
        return node.body if gives_up and not node.orelse and not node.finalbody else node
