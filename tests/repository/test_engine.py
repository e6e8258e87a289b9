"""The shape of the engine: it knows no TP, its modules are short, and imports go one way."""

import ast
import functools
import graphlib
import re
import subprocess
import sys

import pytest

from autograder.model import digests
from conftest import REPOSITORY

PACKAGES = {"autograder": REPOSITORY.root / "autograder", "tp": REPOSITORY.released / "tp"}
LONGEST = 400  # lines


def modules(package):
    """Module → its file."""
    folder = PACKAGES[package]
    names = {path: path.relative_to(folder).with_suffix("").parts for path in sorted(folder.rglob("*.py"))}
    return {".".join([package, *parts]).removesuffix(".__init__"): path for path, parts in names.items()}


MODULES = modules("autograder") | modules("tp")
ENGINE = sorted([*modules("autograder").values(), *PACKAGES["autograder"].rglob("*.j2")])


def named(path):
    return str(path.relative_to(REPOSITORY.root))


def without_docstrings(text):
    """The lines of a module with the docstrings left out."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        if documented and ast.get_docstring(node) is not None:
            first = node.body[0]
            lines[first.lineno - 1:first.end_lineno] = [""] * (first.end_lineno - first.lineno + 1)
    return lines


@pytest.mark.parametrize("path", ENGINE, ids=named)
def test_no_line_of_the_engine_knows_a_session(path):
    text = path.read_text(encoding="utf-8")
    lines = without_docstrings(text) if path.suffix == ".py" else text.splitlines()
    found = [line for line in lines if re.search(r"tp[1-9]|TP ?[1-9]", line)]
    assert found == [] and not any(name in text for name in REPOSITORY.sessions)


@pytest.mark.parametrize("path", ENGINE, ids=named)
def test_a_module_can_be_read_in_one_go(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < LONGEST


# Words that no sentence in the imperative begins with.
NO_VERBS = set("a after all an another any are as at before between by each every everything for from how if in is it "
               "its neighbours no nobody none not of on one only other random several so some somebody text that the "
               "these this those two values what when where whether which who whoever whose with within "
               "without".split())


def documented(tree):
    """Function → its docstring, wherever in a module; properties describe a value and are left out."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node):
            decorators = {ast.unparse(one).rpartition(".")[2] for one in node.decorator_list}
            if not decorators & {"property", "cached_property"}:
                yield node.name, ast.get_docstring(node)




def begins_with_a_verb(text):
    """Whether a docstring may be in the imperative: no form of the third person, no word that is no verb."""
    word = re.match(r"[A-Z][a-z]+(?=[\s,])|", text)[0].lower()
    return word not in NO_VERBS and not re.search("^$|[^s]s$", word)


@pytest.mark.parametrize("path", modules("autograder").values(), ids=named)
def test_docstrings_begin_with_a_verb(path):
    texts = dict(documented(ast.parse(path.read_text("utf-8"))))
    assert {name: text for name, text in texts.items() if not begins_with_a_verb(text)} == {}


@pytest.mark.parametrize("text", [
    "The names of a fault.", "An axis by its letter.", "Whether it is so.", "Values that do not sum to one.",
    "``None`` where there is none.", "Judges what is handed in."])
def test_a_docstring_without_a_verb_is_seen(text):
    assert not begins_with_a_verb(text)


def imports(module, text):
    """The modules of ours that the text of a module imports, wherever in it."""
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (ours(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            place = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            yield from (ours(f"{place}.{alias.name}") for alias in node.names)


def ours(name):
    """The module of ours that a dotted name is in; None when it is somebody else's."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or None


@functools.cache
def graph():
    """Module → the modules of ours that it imports."""
    return {module: {found for found in imports(module, path.read_text(encoding="utf-8")) if found}
            for module, path in MODULES.items()}


def test_the_graph_is_read_right():
    assert graph()["autograder.sandbox.options"] == {"autograder", "autograder.runtime.arrays"}
    assert "autograder.classroom.verdict_store" in graph()["autograder.classroom.grading"]
    assert {"autograder.course", "autograder.commands.classroom"} <= graph()["autograder.cli"]
    assert "autograder.runtime.compare" in graph()["autograder.runtime.notebook.commands"]


def test_no_import_goes_in_a_circle():
    circle = None
    try:
        graphlib.TopologicalSorter(graph()).prepare()
    except graphlib.CycleError as error:
        circle = " → ".join(reversed(error.args[1]))
    assert circle is None


def test_what_students_run_imports_nothing_of_the_engine_but_its_runtime():
    ran = {module: all_found for module, all_found in graph().items()
           if module.split(".")[0] == "tp" or module.startswith("autograder.runtime")}
    assert not [(module, found) for module, all_found in ran.items() for found in all_found
                if found.startswith("autograder") and not found.startswith("autograder.runtime")]


def test_one_folder_imports_nbgrader():
    """And it does, so that the look for it is known to find."""
    found = {str(path.relative_to(PACKAGES["autograder"]).parent) for path in modules("autograder").values()
             if re.search(r"^\s*(?:import|from) nbgrader\b", path.read_text(encoding="utf-8"), re.M)}
    assert found == {"classroom/nbgrader"}


def test_the_engine_imports_nothing_of_a_course():
    assert not [module for module, all_found in graph().items() if module.startswith("autograder")
                for found in all_found if found.split(".")[0] == "tp"]


@pytest.mark.parametrize("room, may_know", [
    ("autograder.runtime", []),
    ("autograder.metadata", ["runtime"]),
    ("autograder.course", ["runtime", "metadata"]),
    ("autograder.model", ["runtime", "course", "metadata"]),
    ("autograder.sandbox", ["runtime"]),
    ("autograder.judging", ["runtime", "course", "model", "sandbox"]),
    ("autograder.audit", ["runtime", "course", "model", "sandbox", "judging", "publish", "classroom"]),
    ("autograder.escaping", []),
    ("autograder.raster", []),
    ("autograder.classroom", ["runtime", "course", "escaping", "raster", "model", "sandbox", "judging",
                              "publish"]),
    ("autograder.publish", ["runtime", "course", "raster", "model"]),
])
def test_a_room_knows_the_rooms_before_it_and_no_other(room, may_know):
    known = {found for module, all_found in graph().items() if f"{module}.".startswith(f"{room}.")
             for found in all_found}
    others = {".".join(found.split(".")[:2]) for found in known if found.startswith("autograder.")} - {room}
    assert others <= {f"autograder.{name}" for name in may_know}


def test_verdicts_depend_on_every_module_that_a_judge_imports():
    judging = {module for module, path in MODULES.items() if path.is_relative_to(digests.ENGINE_FOLDER)
               and path.relative_to(digests.ENGINE_FOLDER).parts[0] in digests.JUDGING}
    assert {"autograder.judging.judge", "autograder.sandbox.kernel"} <= judging
    assert set().union(*(graph()[module] for module in judging)) <= judging


def test_the_engine_starts_without_the_grammar_that_nobody_asks_for():
    """It takes two seconds; jsonschema compiles it wherever its package is installed."""
    for first, compiled in (("import jsonschema", True), ("import autograder.publish.release", False)):
        code = f"{first}; import sys; print('lark' in sys.modules, 'jsonschema' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.split() == [str(compiled), "True"]
