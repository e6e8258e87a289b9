"""What an author gets wrong is one line with file and line number, and never a traceback."""

import shutil

import pytest

from autograder import cli
from autograder.audit.versions import audit_versions
from autograder.course import CourseError
from autograder.model import source
from autograder.model.source import load_source
from autograder.publish.new import FIRST, TEMPLATES, create_course

SOURCE, CHECKS, FAULTS, VARIANTS = (f"solutions/{FIRST}/{name}.py" for name in (FIRST, "checks", "faults", "variants"))


@pytest.fixture
def course(tmp_path, monkeypatch):
    made = create_course(tmp_path / "course")
    monkeypatch.chdir(made.root)
    return made


def line_with(course, file, text):
    """The number of the first line of a file that holds this text."""
    lines = (course.root / file).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


WRONG = {
    # name: (file, old, new, the line that is named holds, what is said)
    "syntax error in a solution": (SOURCE, "scores.sum(dim=1, keepdim=True)\n", "scores.sum(dim=1, keepdim=True\n",
                                   "scores.sum(dim=1", "was never closed"),
    "syntax error in a given cell": (SOURCE, "import torch\n", "import torch as\n", "import torch as",
                                     "invalid syntax"),
    "magic in a given cell": (SOURCE, "import torch\n", "import torch\n%time 1\n", "%time 1",
                              "given cells hold plain Python"),
    "given cell that does not run": (SOURCE, "import torch\n", "import torch\nimport nothing_at_all\n",
                                     "import nothing_at_all", "No module named 'nothing_at_all'"),
    "syntax error in checks": (CHECKS, "import torch\n", "import torch as\n", "import torch as", "invalid syntax"),
    "syntax error in faults": (FAULTS, "FAULTS = [", "FAULTS = = [", "FAULTS = =", "invalid syntax"),
    "checks that do not run": (CHECKS, "import torch\n", "import torch\ntorch.nothing\n", "torch.nothing", "nothing"),
    "replacement not found": (FAULTS, '("dim=1", "dim=0")', '("dim=7", "dim=0")', '"sum-over-the-batch"',
                              "stands 0 times"),
    "replacement found twice": (FAULTS, '("dim=1", "dim=0")', '("scores", "x")', '"sum-over-the-batch"', "times"),
    "replacement that breaks the syntax": (FAULTS, '("dim=1", "dim=0")', '("dim=1", "dim=)")', '"sum-over-the-batch"',
                                           "unmatched ')'"),
    "no list of faults": (FAULTS, "FAULTS = [", "FAULT = [", '"""Wrong versions', "is called FAULT, not FAULTS"),
    "two checks of a name": (CHECKS, "def gradient(t)", "def weighted(t, *again)", "def weighted(t, *again)",
                             "is called weighted, too"),
    "another session begun": (SOURCE, 'tp.start("weighted_mean")', 'tp.start("other")', 'tp.start("other")',
                              'tp.start("weighted_mean") is meant'),
    "another exercise checked": (SOURCE, 'tp.check("average")', 'tp.check("mean")', 'tp.check("mean")',
                                 'tp.check("average") is meant'),
    "fault of no exercise": (FAULTS, 'Fault("shares", "softmax"', 'Fault("sharse", "softmax"', '"softmax"',
                               "no exercise sharse"),
    "wrong number of axes": (CHECKS, 'axes="B D"', 'axes="B S D"', 'axes="B S D"', "axes='B S D'"),
    "weight of zero": (CHECKS, "weight=2", "weight=0", '@check("shares", weight=0)', "has the weight 0"),
    "negative weight": (CHECKS, "weight=2", "weight=-1", '@check("shares", weight=-1)', "has the weight -1"),
    "missing docstring": (CHECKS, '    """Each row is divided by its sum."""\n', "", '@check("shares", weight=2)',
                          "no docstring"),
    "error in a check": (CHECKS, 't["shares"](t.uniform(B, S) + 0.1), axes="B S"', 't["shares"](t.unifrom(B, S))',
                         "unifrom", "unifrom"),
    "name that the notebook has not": (CHECKS, 't["average"](values', 't["avarage"](values', "avarage", "avarage"),
    "stub for a name that the notebook has not": (CHECKS, 't.stub("shares", squares)', 't.stub("share", squares)',
                                                  't.stub("share"', "does not define share"),
    "stub without a name": (CHECKS, 't.stub("shares", squares)', 't.stub("shares", lambda scores: scores)', "lambda",
                            "a lambda has no source of its own"),
    "predicate that refuses the solution": (CHECKS, "def squares(scores):",
                                            "def never(got):\n    return 'Never.'\n\n\ndef squares(scores):",
                                            '"average", t["average"](t.normal', "refuses the solution: Never."),
    "predicate that names what is not sent": (CHECKS, "def squares(scores):",
                                              "def never(got):\n    return math.pi\n\n\ndef squares(scores):",
                                              '"average", t["average"](t.normal', "NameError: name 'math'"),
    "predicate that returns a truth value": (CHECKS, "def squares(scores):",
                                             "def never(got):\n    return False\n\n\ndef squares(scores):",
                                             '"average", t["average"](t.normal', "a predicate returns None, or a sent"),
    "sum over an axis that is not there": (CHECKS, 'sums_to_one="S"', 'sums_to_one="T"', 'sums_to_one="T"',
                                           "sums_to_one='T' is none of its axes"),
    "no output": (CHECKS, '    t.output("gradient", values.grad, axes="B S D")\n', "", '@check("average")',
                  "no output"),
    "two outputs of one name": (CHECKS, '    t.output("gradient", values.grad, axes="B S D")\n',
                                '    t.output("gradient", values.grad)\n    t.output("gradient", values)\n',
                                't.output("gradient", values)', "two outputs are called 'gradient'"),
    "check of no exercise": (CHECKS, '@check("shares")', '@check("share")', '@check("share")', "exercise share,"),
    "exercise without a check cell": (SOURCE, '# %% check="average" points=3\ntp.check("average")\n', "",
                                      'exercise="average"', "no check cell"),
    "check cell without an exercise": (SOURCE, 'exercise="average"', 'exercise="mean"', 'exercise="mean"',
                                       "no check cell"),
    "no points": (SOURCE, "points=3", "", 'check="average"', "no points"),
    "points in words": (SOURCE, "points=3", 'points="three"', 'check="average"', "no number"),
    "header that says nothing": (SOURCE, '# %% given="imports"', "# %%", "# %%", "one of given"),
    "header without quotes": (SOURCE, '# %% given="imports"', "# %% given=imports", "# %% given=imports",
                              "not '# %% given=imports'"),
    "two cells of a name": (SOURCE, 'demo="look"', 'demo="imports"', 'demo="imports"', "too"),
    "name that is no id of a cell": (SOURCE, 'demo="look"', 'demo="Größe"', 'demo="Größe"', "the name 'Größe'"),
    "solution in a demo": (SOURCE, 'demo="look"\n', 'demo="look"\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n',
                           'demo="look"', "in a demo cell"),
    "given cell that exits": (SOURCE, "import torch\n", "import torch\nraise SystemExit('no torch')\n",
                              "raise SystemExit", "no torch"),
    "replacement without a comma": (FAULTS, '("dim=1", "dim=0")', '("dim=1" "dim=0")', '"sum-over-the-batch"',
                                    "replace is (old, new)"),
    "fault without a sentence": (FAULTS, "You average all values alike. The scores say how much each of them counts.",
                                 " ", '"scores-forgotten"', "average/scores-forgotten has no sentence"),
    "number among the faults": (FAULTS, "FAULTS = [", "FAULTS = [3,", '"""Wrong versions', "of type int"),
    "two faults of a name": (FAULTS, 'Fault("shares", "softmax"', 'Fault("shares", "sum-over-the-batch"',
                             '"sum-over-the-batch"', "two are called shares/sum-over-the-batch"),
    "check without its exercise": (CHECKS, '@check("shares")', "@check", "@check", 'write @check("exercise")'),
    "relation that is not there": (CHECKS, '@check("shares")', '@check("shares", skip_relations={"gravity": "no"})',
                                   "gravity", "no relation called gravity; there are: "),
    "relations without reasons": (CHECKS, '@check("shares")', '@check("shares", skip_relations=["gradient"])',
                                  "gradient", "skip_relations is a dict: the name of each relation, and why"),
    "axes in a list": (CHECKS, 'axes="B D"', 'axes=["B", "D"]', '["B", "D"]', "is no string of letters"),
    "negative tolerance": (CHECKS, 'axes="B D"', 'axes="B D", rtol=-1', "rtol=-1", "-1 is no number from 0 on"),
    "output that is no result": (CHECKS, 't.output("gradient", values.grad,', 't.output("gradient", 3,',
                                 't.output("gradient", 3', "takes a name, and what a call of the check returned"),
    "sum that is not one": (CHECKS, 'axes="B D"', 'axes="B D", sums_to_one="D"', 'sums_to_one="D"',
                            "does not sum to one over D on the solution"),
    "misspelt header": (SOURCE, "points=3", "point=3", 'check="average"', "points= may be meant"),
    "points of an exercise": (SOURCE, 'exercise="average"', 'exercise="average" points=3', 'exercise="average"',
                              "they belong to a check or an answer"),
    "end of a solution forgotten": (SOURCE, "(dim=1, keepdim=True)\n    ### END SOLUTION\n", "(dim=1, keepdim=True)\n",
                                    'exercise="shares"', "do not match"),
}


# auditing finds them a process further down
COMMANDS = [(what, ["release", "--no-run"]) for what in WRONG] + [
    (what, ["audit", "--seeds", "1"]) for what in ("replacement not found", "error in a check")]


@pytest.mark.parametrize("what, command", COMMANDS, ids=lambda part: part if isinstance(part, str) else part[0])
def test_it_is_one_line_with_file_and_line(course, capsys, what, command):
    file, old, instead, at, said = WRONG[what]
    path = course.root / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    text = text.replace(old, instead, 1)
    if "predicate" in what:
        text = text.replace('axes="B D")', 'axes="B D", predicate=never)', 1)
    path.write_text(text, encoding="utf-8")
    lines = path.read_text(encoding="utf-8").splitlines()
    number = lines.index(at) + 1 if at in lines else line_with(course, file, at)
    assert cli.main(command) == 2
    out, err = capsys.readouterr()
    assert err.count("\n") == 1 and err.startswith(f"autograder: {file}:{number}: "), err
    assert said in err and "Traceback" not in err
    assert not (course.released / FIRST).exists()


def test_a_source_that_is_no_utf_8_is_said_so(course, capsys):
    with open(course.root / SOURCE, "ab") as file:
        file.write("# pondérée\n".encode("latin-1"))
    assert cli.main(["release", "--no-run"]) == 2
    assert capsys.readouterr().err == f"autograder: {SOURCE}:1: it is no UTF-8 text\n"


def test_a_course_without_sessions_has_nothing_that_passes(course, capsys):
    (course.root / SOURCE).rename(course.root / SOURCE.replace(".py", "_tp.py"))
    for command in (["release"], ["release", "--check"], ["audit"], ["audit", "--notebooks"], ["pack", "kit"]):
        assert cli.main(command) == 2
        assert "holds no session" in capsys.readouterr().err


def test_what_is_left_of_a_session_that_is_gone_is_stale(course, capsys):
    assert cli.main(["release", "--no-run"]) == 0
    for name in ("checks", "faults", "variants", FIRST):
        text = (course.root / SOURCE.replace(f"{FIRST}.py", f"{name}.py")).read_text(encoding="utf-8")
        (course.solutions / "second").mkdir(exist_ok=True)
        path = course.solutions / "second" / f"{name.replace(FIRST, 'second')}.py"
        path.write_text(text.replace(f'"{FIRST}"', '"second"'), encoding="utf-8")
    (course.root / SOURCE).rename(course.root / "away.py")
    capsys.readouterr()
    assert cli.main(["release", "--no-run"]) == 0 and cli.main(["release", "--check"]) == 1
    out = capsys.readouterr().out
    assert f"of no session: course/{FIRST}\n" in out and f"of no session: course/selfchecks/{FIRST}.bin\n" in out


def test_the_body_of_a_variant_may_be_indented(course):
    with open(course.root / VARIANTS, "a", encoding="utf-8") as file:
        file.write("VARIANTS.append(Variant('shares', 'in two steps', body='''\n"
                   "        whole = scores.sum(1, keepdim=True)\n        return scores / whole\n    '''))\n")
    assert audit_versions(course, FIRST, [1]).lines == ["4 faults, 3 variants, 1 seed: all caught, named and passed"]


def test_a_session_without_its_source_is_said_to_have_none(course, capsys):
    (course.root / "solutions" / "second").mkdir()
    assert cli.main(["release", "second"]) == 2
    assert capsys.readouterr().err == ("autograder: there is no session called second (solutions/second/ has no "
                                       f"second.py); there are: {FIRST}\n")


def test_a_folder_whose_source_has_another_name_is_said_to_be_no_session(course, capsys):
    shutil.copytree(course.folder(FIRST), course.solutions / "second")
    assert cli.main(["release", "--no-run"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "note: solutions/second/ is no session: it has no second.py"


def test_a_single_session_whose_source_has_another_name_is_named(course, capsys):
    course.folder(FIRST).rename(course.solutions / "second")
    assert cli.main(["release", "--no-run"]) == 2
    assert capsys.readouterr().err.endswith("; solutions/second/ has no second.py\n")


def test_of_faults_that_may_be_misspelt_the_audit_says_that_they_run_in_no_check(course):
    path = course.root / FAULTS
    text = path.read_text(encoding="utf-8").replace('("dim=1", "dim=0")', '("scores.sum(", "scores.smu(")')
    right = '("scores / scores.sum(dim=1, keepdim=True)", "scores.softmax(dim=1)")'
    assert right in text
    path.write_text(text.replace(right, '("return scores", "return score")'), encoding="utf-8")
    notes = [note for note in audit_versions(course, FIRST, [1]).notes if " runs in no check: " in note]
    assert [note.partition("the fault ")[2].split()[0] for note in notes] == ["sum-over-the-batch", "softmax"]


def test_names_that_a_check_does_not_forbid_are_noted(course, capsys):
    names = ("softmax", "getitem", "linalg_norm", "fft_fft", "loop", "json", "soft_max", "sum")
    path = course.root / CHECKS
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("t.stub(", f"t.forbid(*{names})\n    t.stub("), encoding="utf-8")
    number = line_with(course, CHECKS, '@check("average", weight=2)')
    for command in (["release", "--no-run"], ["audit", "--seeds", "1"]):
        assert cli.main(command) == 0
        notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  note: ")]
        assert notes == [f"  note: {CHECKS}:{number}: average/weighted: it forbids {said}" for said in (
            "soft_max: no package that is installed, and no function of torch, has this name",
            "sum, which the solution or a stub calls: answers may call it, too")]


@pytest.mark.parametrize("call", ["t.leaf(np.ones(3))", 't.eval_mode(t["shares"])', 't.randomise_weights(t["shares"])',
                                  't.backward(t["shares"])', "t.torch"])
def test_in_a_course_without_torch_what_needs_it_says_so(course, capsys, call):
    toml = course.root / "course.toml"
    toml.write_text(f'arrays = "numpy"\n{toml.read_text(encoding="utf-8")}', encoding="utf-8")
    text = "import numpy as np\nfrom autograder.model.trace import check\n\n\n"
    for number, exercise in enumerate(("shares", "average")):
        text += f'@check("{exercise}")\ndef one{number}(t):\n    """One."""\n    {call}\n'
    (course.root / CHECKS).write_text(text, encoding="utf-8")
    assert cli.main(["release", "--no-run"]) == 2
    said = f"autograder: {CHECKS}:8: shares/one0: {call.partition('(')[0]} needs torch, and course.toml says "
    assert capsys.readouterr().err == f'{said}arrays = "numpy"\n'


def test_variants_that_import_from_faults_that_are_missing_say_so_in_one_line(course, capsys):
    (course.root / FAULTS).unlink()
    with open(course.root / VARIANTS, "a", encoding="utf-8") as file:
        file.write("from .faults import FAULTS\n")
    number = line_with(course, VARIANTS, "from .faults")
    assert cli.main(["release", "--no-run"]) == 2
    assert capsys.readouterr().err == f"autograder: {VARIANTS}:{number}: there is no faults.py beside it\n"


def test_the_course_as_it_begins_has_none(course, capsys):
    assert cli.main(["release", "--no-run"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and "note" not in out


def test_hints_that_are_missing_are_told_by_the_tool(course, capsys):
    with open(course.root / "course.toml", "a", encoding="utf-8") as told:
        told.write("[exercises]\nhints = 3\n")
    assert cli.main(["release", "--no-run"]) == 0
    said = capsys.readouterr().out
    number = line_with(course, SOURCE, "## Exercise 1") - 1
    assert f"note: {SOURCE}:{number}: the exercise shares has 0 hints, not 3" in said


@pytest.mark.parametrize("wide", [source.WIDTH, source.WIDTH + 1])
def test_a_line_that_no_notebook_shows_whole_is_told_by_the_tool(course, wide):
    path = course.root / SOURCE
    text = path.read_text(encoding="utf-8")
    line = f"{'import torch  # ':.<{wide}}"
    path.write_text(text.replace("import torch\n", f"{line}\n", 1), encoding="utf-8")
    said = source.notes(load_source(course, FIRST))
    number = line_with(course, SOURCE, line)
    expected = f"{SOURCE}:{number}: {wide} characters in a line of code; a notebook shows {source.WIDTH}"
    assert said == [expected] * (wide > source.WIDTH)


@pytest.mark.parametrize("height", [source.HEIGHT, source.HEIGHT + 1])
@pytest.mark.parametrize("header", ['given="tools"', 'demo="tools"', 'training="tools"', 'exercise="shares"'])
def test_a_given_cell_that_no_screen_shows_whole_is_told_by_the_tool(course, header, height):
    path = course.root / SOURCE
    cells = path.read_text(encoding="utf-8").split("# %% ")
    if header.startswith("exercise"):  # the answer to an exercise may be as long as it is
        number = next(i for i, cell in enumerate(cells) if cell.startswith(header))
    else:
        number = next(i for i, cell in enumerate(cells) if cell.startswith("[markdown]") and i > 2)
        cells.insert(number, f"{header}\nx = 1\n\n")
    lines = len(cells[number].strip().splitlines()) - 1
    cells[number] = cells[number].rstrip() + "\nx = 1" * (height - lines) + "\n\n"
    path.write_text("# %% ".join(cells), encoding="utf-8")
    said = source.notes(load_source(course, FIRST))
    number, role = line_with(course, SOURCE, f"# %% {header}"), header.split("=")[0]
    expected = (f"{SOURCE}:{number}: the {role} tools has {height} lines; a screen shows {source.HEIGHT}: "
                "a module takes what need not be read, two cells the rest")
    assert said == [expected] * (height > source.HEIGHT and not header.startswith("exercise"))


def test_a_line_of_a_solution_is_found_behind_its_markers(course):
    cell = load_source(course, FIRST).cell("exercise", "average")
    lines = (course.root / SOURCE).read_text(encoding="utf-8").splitlines()
    for number, text in enumerate(cell.solution.splitlines(), 1):
        assert lines[cell.line_of(number) - 1] == text


def test_a_new_course_wants_a_folder_of_its_own(tmp_path, capsys):
    (tmp_path / "mine").write_text("")
    with pytest.raises(CourseError):
        create_course(tmp_path / "mine")
    assert cli.main(["new", str(tmp_path)]) == 2
    assert "not empty" in capsys.readouterr().err and len(list(tmp_path.iterdir())) == 1


def test_a_new_course_is_called_after_its_folder(tmp_path):
    made = create_course(tmp_path / 'Ma "Course" 1')
    assert 'name = "ma-course-1"' in (made.root / "course.toml").read_text()
    assert {path.relative_to(made.root).as_posix() for path in made.root.rglob("*") if path.is_file()} == set(
        TEMPLATES)
