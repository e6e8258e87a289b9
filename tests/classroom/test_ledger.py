"""What is kept of a verdict, what it depends on, and that a file which holds anything else is no verdict."""

import json
import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.classroom.ledger import Entry, Ledger
from autograder.course import Course
from autograder.judging.submission import Submission
from autograder.judging.verdict import CheckResult, ExerciseResult, FileError, Verdict, from_json, to_json
from autograder.sandbox.terms import Limits, Terms
from conftest import TINY

HANDED = Submission(b"{}", TINY, "ada")
VERDICT = Verdict(
    assignment=TINY, score=2.5, max_score=8.0, isolation="bubblewrap", device="cpu", seconds=1.25, seed="5eed",
    notes=("größe 漢字 </script>",), exercises=(
        ExerciseResult("double", 1.0, 2.0, "partial", (CheckResult("values", False, "You square it.", "squared"),
                                                       CheckResult("gradient", True, "The gradient flows back."))),
        ExerciseResult("encoder", 1.5, 4.0, "timeout", ()),
        ExerciseResult("last", 0.0, 2.0, "missing", ())))


@pytest.fixture
def ledger(tiny, tmp_path):
    """The ledger of a course that has the sources of the tiny one."""
    (tmp_path / "solutions").symlink_to(tiny.solutions)
    return Ledger(Course(tmp_path))


def test_what_is_kept_comes_back_as_it_was(ledger):
    entry = ledger.keep(HANDED, VERDICT, Terms())
    assert ledger.kept(HANDED, Terms()) == ledger.load(TINY, "ada") == entry
    assert (entry.student, entry.verdict, entry.entered) == ("ada", VERDICT, False)
    ledger.save(replace(entry, entered=True))
    assert ledger.kept(HANDED, Terms()).entered
    assert (ledger.assignments(), ledger.entries(TINY)) == ([TINY], [replace(entry, entered=True)])
    assert [path.name for path in ledger.path(TINY, "ada").parent.iterdir()] == ["ada.json"]


def test_the_first_tp_of_which_somebody_was_never_judged(ledger):
    for student in ("ada", "bob", "cleo"):
        (ledger.course.gradebook / "submitted" / student / TINY).mkdir(parents=True)
    ledger.keep(HANDED, VERDICT, Terms())
    assert (ledger.to_judge(["tp9", TINY]), ledger.to_judge(["tp9"])) == (TINY, None)
    for student in ("bob", "cleo"):
        ledger.keep(replace(HANDED, student=student), VERDICT, Terms())
    assert ledger.to_judge(["tp9", TINY]) is None


OTHER_LIMITS = [replace(Limits(), **{name: 1 + value}) for name, value in vars(Limits()).items()]


@pytest.mark.parametrize("terms", [
    Terms(device="cuda"), Terms(isolated=False), *(Terms(limits=limits) for limits in OTHER_LIMITS)])
def test_a_verdict_depends_on_all_terms(ledger, terms):
    ledger.keep(HANDED, VERDICT, Terms())
    assert ledger.kept(HANDED, terms) is None
    ledger.keep(HANDED, VERDICT, terms)
    assert ledger.kept(HANDED, terms) and ledger.kept(HANDED, Terms()) is None


def test_a_verdict_depends_on_the_bytes_and_belongs_to_a_student(ledger):
    ledger.keep(HANDED, VERDICT, Terms())
    assert ledger.kept(replace(HANDED, data=b"{} "), Terms()) is None
    assert ledger.kept(replace(HANDED, student="bob"), Terms()) is None
    assert ledger.kept(replace(HANDED, filename="another", note="a note"), Terms())


@pytest.mark.parametrize("name", [f"{TINY}.py", "checks.py", "mistakes.py"])
def test_a_verdict_depends_on_the_sources(ledger, tiny, name):
    ledger.keep(HANDED, VERDICT, Terms())
    solutions = ledger.course.solutions
    solutions.unlink()
    (solutions / TINY).mkdir(parents=True)
    for path in tiny.folder(TINY).glob("*.py"):
        (solutions / TINY / path.name).write_bytes(path.read_bytes())
    assert ledger.kept(HANDED, Terms())
    with open(solutions / TINY / name, "a") as file:
        file.write("\n")
    assert ledger.kept(HANDED, Terms()) is None


def changed(**fields):
    """The file of an entry in which some fields hold something else."""
    def change(text):
        tree = json.loads(text)
        for path, value in fields.items():
            *way, last = path.split("__")
            place = tree
            for step in way:
                place = place[int(step) if step.isdigit() else step]
            place[last] = value
        return json.dumps(tree)
    return change


def without(name):
    """The file of an entry in which a field is missing."""
    return lambda text: json.dumps({key: value for key, value in json.loads(text).items() if key != name})


BEFORE = {  # as the first versions of the judge wrote it
    "student": "ada", "assignment": TINY, "score": 2.5, "max_score": 8.0, "isolation": "bubblewrap", "device": "cpu",
    "seconds": 1.25, "seed": "5eed", "notes": [], "exercises": [], "entered": True,
    "key": {"submission": "0", "made_from": "0", "device": "cpu", "isolation": "bubblewrap"}}

OTHERS = {
    "nothing": lambda text: "",
    "cut off": lambda text: text[: len(text) // 2],
    "two of them": lambda text: text + text,
    "an old format": lambda text: json.dumps(BEFORE),
    "a list": lambda text: f"[{text}]",
    "null": lambda text: "null",
    "a number": lambda text: "8",
    "no key": without("key"),
    "no student": without("student"),
    "a score in words": changed(verdict__score="8"),
    "a score that is nothing": changed(verdict__score=None),
    "an unknown outcome": changed(verdict__exercises__0__verdict="brilliant"),
    "an unknown device": changed(verdict__device="abacus"),
    "notes that are one text": changed(verdict__notes="a note"),
    "checks that are numbers": changed(verdict__exercises__0__checks=[1, 2]),
    "limits in words": changed(key__terms__limits="many"),
    "entered perhaps": changed(entered="perhaps"),
    "not a number": lambda text: text.replace("2.5", "NaN"),
    "no text": lambda text: text.encode("utf-16"),
    "broken text": lambda text: text.encode("latin-1", "replace").replace(b"gr", b"\xff\xfe"),
    "nested without end": lambda text: "[" * 100_000,
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_file_that_holds_something_else_is_refused(ledger, what):
    ledger.keep(HANDED, VERDICT, Terms())
    path = ledger.path(TINY, "ada")
    written = OTHERS[what](path.read_text(encoding="utf-8"))
    path.write_bytes(written if isinstance(written, bytes) else written.encode())
    assert ledger.load(TINY, "ada") is ledger.kept(HANDED, Terms()) is None
    assert ledger.entries(TINY) == []
    with pytest.raises(FileError) as refused:
        from_json(path.read_bytes(), Entry, "ada.json")
    assert str(refused.value).startswith("ada.json does not hold an Entry: ") and "\n" not in str(refused.value)
    entry = ledger.keep(HANDED, VERDICT, Terms())
    assert ledger.entries(TINY) == [entry]


@given(st.binary())
def test_any_bytes_are_an_entry_or_refused(data):
    with pytest.raises(FileError):
        from_json(data, Entry, "it")


def test_a_verdict_in_json_is_what_it_was():
    assert from_json(to_json(VERDICT).encode(), Verdict, "it") == VERDICT


def test_half_a_file_is_never_left(ledger, monkeypatch):
    entry = ledger.keep(HANDED, VERDICT, Terms())
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError("No space left on device")))
    with pytest.raises(OSError, match="No space"):
        ledger.keep(HANDED, replace(VERDICT, score=0.0), Terms())
    assert ledger.entries(TINY) == [entry]
    assert [path.name for path in ledger.path(TINY, "ada").parent.iterdir()] == ["ada.json"]


def test_the_secret_is_made_once_and_is_its_owners(ledger):
    secret = ledger.secret()
    assert len(secret) == 32 and ledger.secret() == secret
    assert (ledger.course.gradebook / "secret").stat().st_mode & 0o777 == 0o600
