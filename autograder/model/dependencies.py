"""Find the helper modules that a session imports, and the part of a text that is code."""

import ast
import contextlib
from collections.abc import Iterable
from pathlib import Path

from .errors import source_error
from .source import Source


def essential_of_cell(text: str) -> str:
    """Return the code of a cell in one layout, without comments, docstrings, magics and the exit for want of a module.

    A run that has outputs came past that exit.
    """
    return _unparsed(_Essential().visit(ast.parse(_without_magics(text))))


def essential_of_module(path: Path) -> str:
    """Return the code of a module in one layout, without comments and docstrings."""
    tree = _parsed(path)
    tree.body = tree.body[ast.get_docstring(tree, clean=False) is not None:]
    return _unparsed(_Essential().visit(tree))


def _unparsed(tree: ast.AST) -> str:
    """Return code in the layout of Python 3.11: later versions give f-strings other quotes, hence another digest."""
    return ast.unparse(_Quoted().visit(tree))


class _Quoted(ast.NodeTransformer):
    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Put a name in its place that is spelt as the whole f-string."""
        self._visit_values(node)
        quotes, texts = ["'", '"', '"""', "'''"], list(map(_part, node.values))
        for text in texts:
            quotes = [quote for quote in quotes if quote not in text and (len(quote) == 3 or "\n" not in text)]
            quotes.sort(key=lambda quote: quote[0] == text[-1:])
        quote = quotes[0] if quotes else '"""'
        return ast.Name(f"f{quote}{''.join(texts)}{quote}")

    def _visit_values(self, node: ast.JoinedStr) -> None:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                part.value = self.visit(part.value)
                if isinstance(part.format_spec, ast.JoinedStr):
                    self._visit_values(part.format_spec)


def _part(node: ast.expr) -> str:
    """Return a part of an f-string as it stands between its quotes; the values in it have been visited."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_part, node.values))
    if isinstance(node, ast.FormattedValue):
        value = ast.unparse(node.value)
        value = f"({value})" if isinstance(node.value, ast.IfExp | ast.Lambda) else value
        space = " " if value.startswith("{") else ""
        conversion = f"!{chr(node.conversion)}" if node.conversion != -1 else ""
        return f"{{{space}{value}{conversion}{f':{_part(node.format_spec)}' if node.format_spec else ''}}}"
    assert isinstance(node, ast.Constant)
    text = str(node.value).replace("{", "{{").replace("}", "}}")
    return "".join(c if c.isprintable() and c != "\\" else c.encode("unicode_escape").decode() for c in text)


class _Essential(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        if ast.get_docstring(node, clean=False):
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
    modules = {_dotted(path, source.course.released): path for helper in source.course.helpers
               for path in ([helper] if helper.is_file() else helper.rglob("*.py"))}
    found: set[str] = set()
    new = _names(_code(source), "")
    while new:
        reached = set().union(*(_modules_of(name, modules) for name in new)) - found
        found |= reached
        new = {name for module in reached for name in _names([_parsed(modules[module])], _package(module, modules))}
    return [modules[module] for module in sorted(found)]


def _code(source: Source) -> list[ast.AST]:
    """Return the code of a session that runs when self-checks are recorded; edits of faults are code in strings."""
    cells = source.by_role("given", "exercise")
    trees: list[ast.AST] = [ast.parse(_without_magics(cell.solution)) for cell in cells]
    trees += map(_parsed, filter(Path.is_file, source.beside))
    strings = (node.value for tree in list(trees) for node in ast.walk(tree)
               if isinstance(node, ast.Constant) and isinstance(node.value, str))
    for text in strings:
        with contextlib.suppress(SyntaxError, ValueError):
            trees.append(ast.parse(text))
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


def _modules_of(name: str, modules: dict[str, Path]) -> set[str]:
    """Return the modules that a dotted name stands for; a package may bring it from any of its own that defines it."""
    parts = name.split(".")
    found = {".".join(parts[:n + 1]) for n in range(len(parts))} & modules.keys()
    if found and (last := max(found, key=len)) != name:
        wanted = parts[last.count(".") + 1]
        found |= {module for module in modules if module.startswith(f"{last}.")
                  and (wanted == "*" or wanted in _defined(modules[module]))}
    return found


def _defined(path: Path) -> set[str]:
    """Return the names that a module defines itself."""
    names: set[str] = set()
    for node in _parsed(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        else:
            names |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return names


def _parsed(path: Path) -> ast.Module:
    """Return the tree of a module; ``SourceError`` says in which line its syntax breaks."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise source_error(path, error.lineno, error.msg) from None


def _dotted(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _package(module: str, modules: dict[str, Path]) -> str:
    return module if modules[module].name == "__init__.py" else module.rpartition(".")[0]


def _without_magics(text: str) -> str:
    """Return a cell without its magics, which are no Python."""
    return "".join(line for line in text.splitlines(True) if not line.lstrip().startswith(("%", "!")))
