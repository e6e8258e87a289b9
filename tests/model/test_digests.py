"""What generated files and verdicts are made from: a change of it changes their digest, and nothing else does."""

import ast
import shutil
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.model import digests, selfcheck_recording
from autograder.model.errors import SourceError
from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from autograder.publish import release
from conftest import TINY, TINY_COURSE, tiny_copy

FILES = ("checks.py", "faults.py", "variants.py")
MODULES = {"digests_kit/__init__.py": "from . import scale\n", "digests_kit/scale.py": "FACTOR = 2\n",
           "digests_kit/deep/inner.py": "INNER = 1\n", "digests_lone.py": "LONE = 1\n"}
GIVEN = '# %% given="imports"\n'


@pytest.fixture
def course(tmp_path):
    """A copy of the tiny course with helper modules."""
    made = tiny_copy(tmp_path)
    for name, module in MODULES.items():
        path = made.released / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(module, encoding="utf-8")
    return made


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def changes(course, digest, path, old, new):
    """Whether an edit changes a digest of the session."""
    before = digest(load_source(course, TINY))
    edit(path, old, new)
    return digest(load_source(course, TINY)) != before


@pytest.mark.parametrize("name", MODULES)
def test_self_checks_depend_on_the_code_of_the_helper_modules(course, name):
    path = course.released / name
    assert not changes(course, digests.of_selfchecks, path, "\n", "  # a comment\n")
    assert not changes(course, digests.of_selfchecks, path, path.read_text(), f"'Why.'\n{path.read_text()}")
    old, new = ("import scale", "import deep") if name == "digests_kit/__init__.py" else ("= ", "= 1 + ")
    assert changes(course, digests.of_selfchecks, path, old, new)


def test_a_helper_module_that_is_no_python_is_named_with_its_line(course):
    (course.released / "digests_lone.py").write_text("LONE = 1\nLONE =\n")
    with pytest.raises(SourceError, match=r"digests_lone\.py:2: "):
        digests.of_selfchecks(load_source(course, TINY))


@pytest.mark.parametrize("name", MODULES)
def test_verdicts_depend_on_every_file_of_the_helpers(course, name):
    assert changes(course, digests.of_verdicts, course.released / name, "\n", "  # a comment\n")


def test_verdicts_depend_on_data_and_names_of_the_helpers_and_not_on_what_python_caches(course):
    before, of_code = (digest(load_source(course, TINY)) for digest in (digests.of_verdicts, digests.of_selfchecks))
    kit = course.released / "digests_kit"
    (kit / "__pycache__").mkdir()
    (kit / "__pycache__" / "scale.pyc").write_bytes(b"\xff")
    (course.released / TINY).mkdir()
    (course.released / TINY / f"{TINY}.ipynb").write_text("{}")
    assert digests.of_verdicts(load_source(course, TINY)) == before
    (kit / "table.bin").write_bytes(b"\xff")
    with_data = digests.of_verdicts(load_source(course, TINY))
    (kit / "table.bin").rename(kit / "other.bin")
    assert len({before, with_data, digests.of_verdicts(load_source(course, TINY))}) == 3
    assert digests.of_selfchecks(load_source(course, TINY)) == of_code, "they depend on code alone"


@pytest.mark.parametrize("digest", [digests.of_selfchecks, digests.of_verdicts, digests.of_session])
@pytest.mark.parametrize("name", [f"{TINY}.py", *FILES])
def test_all_depend_on_source_checks_and_versions(course, digest, name):
    assert changes(course, digest, course.folder(TINY) / name, "\n", "\n\n")


@pytest.mark.parametrize("digest", [digests.of_selfchecks, digests.of_verdicts])
def test_they_depend_on_a_module_that_checks_import_from_beside_them(course, digest):
    beside = course.folder(TINY) / "beside.py"
    beside.write_text("SIZE = 3\n")
    assert changes(course, digest, beside, "3", "4")


def test_notebooks_depend_on_the_source_alone(course):
    assert not changes(course, digests.of_source, course.folder(TINY) / "checks.py", "\n", "\n\n")
    assert not changes(course, digests.of_source, course.released / "digests_lone.py", "1", "2")
    assert changes(course, digests.of_source, course.script(TINY), "\n", "\n\n")


def test_self_checks_depend_on_the_version_of_the_engine(course, monkeypatch):
    before = digests.of_selfchecks(load_source(course, TINY))
    monkeypatch.setattr(digests, "__version__", "0.0.0")
    assert digests.of_selfchecks(load_source(course, TINY)) != before


def test_the_engine_is_known_by_its_version_and_the_modules_that_judge(tmp_path, monkeypatch):
    engine = tmp_path / "autograder"
    shutil.copytree(digests.ENGINE_FOLDER, engine, ignore=shutil.ignore_patterns("__pycache__"))
    before = digests.of_engine()
    digests.of_engine.cache_clear()
    assert digests.of_engine(engine) == before
    for part in digests.JUDGING:
        path = max((path for path in sorted(engine.rglob("*.py")) if path.relative_to(engine).parts[0] == part),
                   key=lambda path: path.stat().st_size)
        path.write_bytes(path.read_bytes() + b"\n")
        digests.of_engine.cache_clear()
        assert digests.of_engine(engine) != before, part
        before = digests.of_engine(engine)
    (engine / "classroom" / "grading.py").unlink()
    digests.of_engine.cache_clear()
    assert digests.of_engine(engine) == before
    (engine / "judging" / "seeds.py").rename(engine / "judging" / "seed.py")
    digests.of_engine.cache_clear()
    renamed = digests.of_engine(engine)
    assert renamed != before
    monkeypatch.setattr(digests, "__version__", "0.0.0")
    digests.of_engine.cache_clear()
    assert digests.of_engine(engine) not in (before, renamed)
    monkeypatch.undo()
    digests.of_engine.cache_clear()


def test_digests_do_not_depend_on_the_order_in_which_a_folder_is_read(course, monkeypatch):
    def taken():
        digests.of_engine.cache_clear()
        source = load_source(course, TINY)
        return digests.of_verdicts(source), digests.of_selfchecks(source), digests.of_engine()

    before, read = taken(), Path.rglob
    monkeypatch.setattr(Path, "rglob", lambda path, pattern: reversed(sorted(read(path, pattern))))
    assert taken() == before


def test_a_digest_is_short():
    assert digests.of_texts(["a", "b"]) == "59b271ae1bbcb1d3"


def test_release_says_that_self_checks_are_stale_when_a_constant_of_a_helper_has_changed(tmp_path, monkeypatch):
    text = TINY_COURSE.script(TINY).read_text(encoding="utf-8")
    course = tiny_copy(tmp_path, **{TINY: text.replace(GIVEN, f"{GIVEN}from digests_constant import FACTOR\n")})
    monkeypatch.syspath_prepend(str(course.released))
    helper = course.released / "digests_constant.py"
    helper.parent.mkdir()
    helper.write_text("FACTOR = 2\n")
    selfcheck_recording.write(load_oracle(course, TINY))
    path = str((course.selfchecks / f"{TINY}.bin").relative_to(course.root))
    assert path not in release.stale(load_source(course, TINY))
    edit(helper, "2", "3")
    assert path in release.stale(load_source(course, TINY))


BASE = "import tp\ndef f(x):\n    return x"
GIVES_UP = "try:\n    import tp\nexcept ModuleNotFoundError as no:\n    sys.exit(f'{no}: …')"


@pytest.mark.parametrize("same", [
    BASE.replace("import tp", "import tp  # why").replace("    return", "    'What it does.'\n    return"),
    BASE.replace("import tp", GIVES_UP), BASE.replace("    return", "    ' '\n    return"),
])
def test_outputs_are_kept_when_only_words_change(same):
    assert digests.of_cells([same]) == digests.of_cells([BASE])


@pytest.mark.parametrize("other", [
    BASE.replace("return x", "return -x"),
    BASE.replace("import tp", GIVES_UP.replace("sys.exit(f'{no}: …')", "tp = None")),
    BASE.replace("import tp", GIVES_UP.replace("ModuleNotFoundError", "ValueError")),
    BASE.replace("import tp", GIVES_UP + "\nelse:\n    tp.x = 1"),
    BASE.replace("import tp", GIVES_UP + "\nexcept ValueError:\n    pass"),
    BASE.replace("import tp", GIVES_UP + "\nfinally:\n    tp.x = 1"),
])
def test_outputs_are_not_kept_when_code_changes(other):
    assert digests.of_cells([other]) != digests.of_cells([BASE])


@pytest.mark.parametrize("text, code", [
    ("%%bash\nfor i in 1 2; do echo $i; done", "pass"), ("for i in x:\n    %time f(i)", "for i in x: pass"),
    ("%%time\n!ls \\\n  -l\nx = 1\nf?", "pass\npass\nx = 1\npass"),
])
def test_magics_are_no_code(text, code):
    assert digests.of_cells([text]) == digests.of_cells([code])


def test_words_in_what_is_tried_do_not_count():
    tried = "try:\n    def f(x):\n        {}return x\nexcept ValueError:\n    f = None"
    assert digests.of_cells([tried.format("'Why.'; ")]) == digests.of_cells([tried.format("")])


@pytest.mark.parametrize("text, digest", [
    ('''f"{', '.join(names)} of {n:>{width}.2f}"''', "6b85a4299db8d210"),
    ("f'{x!r} {{}} {(a if b else c)}\\\\n{ {1}}'", "92b2645581683ba9"),
    ("""f\"\"\"{x['a']} "b" \"\"\"""", "b3c00e1830c3de62"),
    ('''f"{f'{x}'}, {y}"''', "66332d26c309ca9c"),
    ("def f(x, /, *, y=None): return {**x, 'é': (y, -1.5)}", "9d034b1f0d8fb361"),
])
def test_code_has_one_digest_under_every_python(text, digest):
    """Python 3.12 and 3.13 read f-strings and functions into trees with other empty fields than 3.11."""
    assert digests.of_cells([text]) == digest


def test_empty_parts_of_a_formatted_text_are_no_code(monkeypatch):
    """As later versions of Python read some."""
    text, parse = "f'{x} of {y:{width}}'", ast.parse
    read = digests.of_cells([text])

    def with_empty_parts(text):
        tree = parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                node.values.append(ast.Constant(""))
        return tree

    monkeypatch.setattr(digests.ast, "parse", with_empty_parts)
    assert digests.of_cells([text]) == read


def test_packages_are_known_by_names_and_versions_wherever_they_are_found(monkeypatch):
    found = [SimpleNamespace(name="numpy", version="2"), SimpleNamespace(name="einops", version="1")]
    asked = []

    def of(*packages):
        digests.of_packages.cache_clear()
        monkeypatch.setattr(digests, "distributions", lambda path: asked.append(path) or list(packages))
        return digests.of_packages()

    before = of(*found)
    assert of(*reversed(found)) == of(*found, found[0]) == before
    assert of(found[0]) != before and of(found[0], SimpleNamespace(name="einops", version="2")) != before
    many = [f"package{i}" for i in range(9)]
    assert of(*(SimpleNamespace(name=name, version="1") for name in many)) == digests.of_texts(
        f"{name} 1" for name in many)
    assert {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")} <= {*asked[0]}
    for is_read in (True, False):
        monkeypatch.setattr(digests.site, "ENABLE_USER_SITE", is_read)
        of(*found)
        assert (digests.site.getusersitepackages() in asked[-1]) is is_read
    digests.of_packages.cache_clear()
