"""Find the helper modules that a session imports, and the part of a text that is code."""

import ast
import contextlib
import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..runtime.syntax import parse_module, without_magics
from .errors import source_error
from .source import Source


def essential_of_cell(text: str) -> str:
    """Return the code of a cell as text, without comments, docstrings, magics and the exit where a module is missing.

    That exit did not happen in a run that has outputs.
    """
    return _text(_Essential().visit(parse_module(without_magics(text))))


def essential_of_module(path: Path) -> str:
    """Return the code of a module as text, without comments and docstrings."""
    tree = _parsed(path)
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


def helper_modules(source: Source) -> list[Path]:
    """Return the helper modules that a session's given cells, exercises, checks and faults import, and those in turn.

    Read from the code: what one process imports, another may have imported before.
    """
    modules = {_dotted(path, source.course.released): path for path in source.course.helper_files
               if path.suffix == ".py"}
    known: set[str] = set()
    defined = functools.cache(lambda module: _defined(modules[module]))
    new = _names(_code(source), "")
    while new:
        reached = set().union(*(_modules_of(name, modules, defined) for name in new)) - known
        known |= reached
        new = {name for module in reached for name in _names([_parsed(modules[module])], _package(module, modules))}
    return [modules[module] for module in sorted(known)]


def _code(source: Source) -> list[ast.AST]:
    """Return the code of a session that runs when self-checks are recorded, also that in the strings of faults."""
    cells = source.by_role("given", "exercise")
    trees: list[ast.AST] = [parse_module(cell.solution) for cell in cells]
    trees += map(_parsed, source.check_files)
    strings = (node.value for tree in list(trees) for node in ast.walk(tree)
               if isinstance(node, ast.Constant) and isinstance(node.value, str))
    for text in strings:
        with contextlib.suppress(SyntaxError, ValueError):
            trees.append(parse_module(text))
    return trees


def _names(trees: Iterable[ast.AST], package: str) -> set[str]:
    """Return all dotted names that code imports, or reads as attributes of what it imports."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    bound: dict[str, str] = {}
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                names.add(alias.name)
                bound[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                names.add(f"{base}.{alias.name}")
                bound[alias.asname or alias.name] = f"{base}.{alias.name}"
    names |= {f"{bound[node.value.id]}.{node.attr}" for node in nodes if isinstance(node, ast.Attribute)
              and isinstance(node.value, ast.Name) and node.value.id in bound}
    return names


def _modules_of(name: str, modules: dict[str, Path], defined: Callable[[str], set[str]]) -> set[str]:
    """Return the modules that a dotted name may stand for: of a package, all modules that define it.

    ``defined`` returns the names that a module defines itself.
    """
    parts = name.split(".")
    matches = {".".join(parts[:n + 1]) for n in range(len(parts))} & modules.keys()
    if matches and (last := max(matches)) != name:  # each begins the next
        wanted = parts[last.count(".") + 1]
        matches |= {module for module in modules if module.startswith(f"{last}.")
                  and (wanted == "*" or wanted in defined(module))}
    return matches


def _defined(path: Path) -> set[str]:
    """Return the names that a module defines itself."""
    names: set[str] = set()
    for node in _parsed(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        else:
            names |= {part.id for part in ast.walk(node)
                      if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return names


def _parsed(path: Path) -> ast.Module:
    """Return the tree of a module; ``SourceError`` says in which line its syntax breaks."""
    try:
        return parse_module(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise source_error(path, error.lineno, error.msg) from None


def _dotted(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _package(module: str, modules: dict[str, Path]) -> str:
    return module if modules[module].name == "__init__.py" else module.rpartition(".")[0]
