"""What is kept of a verdict, what it depends on, and that a file which holds anything else is no verdict."""

import fcntl
import json
import os
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.classroom.json_files import FileError, from_json, to_json
from autograder.classroom.submitted import submitted_files
from autograder.classroom.verdict_store import StoredVerdict, VerdictStore
from autograder.course import Course, CourseError
from autograder.judging.submission import Submission
from autograder.judging.verdict import ExerciseResult, Verdict
from autograder.model import digests
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.difference import Difference, Outline
from autograder.runtime.findings import CheckResult
from autograder.sandbox.options import Limits, Options
from conftest import TINY

HANDED = Submission(b"{}", TINY, "ada")
VERDICT = Verdict(
    session=TINY, points=2.5, max_points=8.0, isolation="bubblewrap", device="cpu", seconds=1.25, seed="5eed",
    notes=("größe 漢字 </script>",), exercises=(
        ExerciseResult("double", 1.0, 2.0, "partial", (
            CheckResult("values", False, "Twice every number.",
                        Difference("value", output="y", expected=Outline("float", 1.5), got=Outline("int", 2)),
                        RecognisedFault("squared", "You square it.")),
            CheckResult("gradient", True, "The gradient flows back."))),
        ExerciseResult("encoder", 1.5, 4.0, "timeout", ()),
        ExerciseResult("last", 0.0, 2.0, "missing", ())))


@pytest.fixture
def store(tiny, tmp_path):
    """The store of a course that has the sources of the tiny one."""
    (tmp_path / "solutions").symlink_to(tiny.solutions)
    return VerdictStore(Course(tmp_path))


def keep(store, submission, verdict, options=Options()):
    return store.record(submission, verdict, store.key(submission, options))


def test_what_is_kept_comes_back_as_it_was(store, caplog):
    entry = keep(store, HANDED, VERDICT)
    assert store.current(HANDED, Options()) == store.load(TINY, "ada") == entry
    assert (entry.student, entry.verdict, entry.entered) == ("ada", VERDICT, False)
    os.utime(store.path(TINY, "ada"), (86_400, 86_461))
    store.mark_entered(entry, True)
    assert store.current(HANDED, Options()).entered
    assert store.path(TINY, "ada").stat().st_mtime == 86_461, "it is as old as the verdict"
    store.mark_entered(entry, False)
    assert not store.load(TINY, "ada").entered
    store.mark_entered(replace(entry, student="bob"), True)
    assert store.load(TINY, "bob") == replace(entry, student="bob", entered=True)
    store.path(TINY, "bob").unlink()
    store.mark_entered(entry, True)
    assert (store.sessions(), store.entries(TINY)) == ([TINY], [replace(entry, entered=True)])
    assert caplog.messages == []
    assert [path.name for path in store.path(TINY, "ada").parent.iterdir()] == ["ada.json"]


@pytest.mark.parametrize("content", [b"5eed no more", b"\xff", b"", b"\n", b"5eed", b"00" * 31])
def test_a_damaged_secret_is_one_clear_line(store, content):
    store.course.gradebook.mkdir()
    (store.course.gradebook / "secret").write_bytes(content)
    with pytest.raises(CourseError, match="secret is damaged: restore it from a backup"):
        store.secret()


def test_the_first_submission_that_was_never_judged(store):
    folder = store.course.gradebook / "submitted"
    for student in ("ada", " bob", "bob", "cleo"):  # of a name that begins with a space nothing is judged
        (folder / student / TINY).mkdir(parents=True)
    keep(store, HANDED, VERDICT)
    assert store.first_unjudged(submitted_files(folder, ["tp9", TINY])).student == "bob"
    assert store.first_unjudged(submitted_files(folder, ["tp9"])) is None
    for student in ("bob", "cleo"):
        keep(store, replace(HANDED, student=student), VERDICT, Options())
    assert store.first_unjudged(submitted_files(folder, ["tp9", TINY])) is None


OTHER_LIMITS = [replace(Limits(), **{name: 1 + value}) for name, value in vars(Limits()).items()]


@pytest.mark.parametrize("options", [
    Options(device="cuda"), Options(isolation="none"), *(Options(limits=limits) for limits in OTHER_LIMITS)])
def test_a_verdict_depends_on_all_terms(store, options):
    keep(store, HANDED, VERDICT)
    assert store.current(HANDED, options) is None
    keep(store, HANDED, VERDICT, options)
    assert store.current(HANDED, options) and store.current(HANDED, Options()) is None


def test_a_verdict_depends_on_the_bytes_and_belongs_to_a_student(store):
    keep(store, HANDED, VERDICT)
    assert store.current(replace(HANDED, data=b"{} "), Options()) is None
    assert store.current(replace(HANDED, student="bob"), Options()) is None
    assert store.current(replace(HANDED, filename="another", note="a note"), Options())


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_same_bytes_keep_their_seed_and_others_have_none(store, device):
    assert store.last_seed(HANDED) is None
    keep(store, HANDED, VERDICT, Options(device=device))
    assert store.last_seed(HANDED) == store.last_seed(replace(HANDED, filename="another")) == VERDICT.seed
    assert store.last_seed(replace(HANDED, data=b"{} ")) is None
    assert store.last_seed(replace(HANDED, student="bob")) is None
    assert store.seed(HANDED) == VERDICT.seed
    others = [replace(HANDED, data=b"{} "), replace(HANDED, student="bob"), replace(HANDED, student="")]
    assert len({store.seed(other) for other in others}) == 3
    assert store.seed(others[0]) == store.seed(others[0])


def test_of_a_key_with_other_digests_the_seed_is_kept_and_the_verdict_is_not(store):
    keep(store, HANDED, VERDICT)
    path = store.path(TINY, "ada")
    path.write_text(changed(key__engine_digest="4.0.0+1", key__packages_digest="2", key__inputs_digest="3")(
        path.read_text()))
    assert store.load(TINY, "ada").verdict == VERDICT
    assert store.current(HANDED, Options()) is None and store.last_seed(HANDED) == VERDICT.seed


def test_what_later_submissions_replace_is_remembered_in_order(store):
    for number, data in enumerate((b"{}", b"{ }", b"{  }")):
        handed, verdict = replace(HANDED, data=data), replace(VERDICT, points=float(number))
        keep(store, handed, replace(verdict, points=7.0), Options(device="cuda"))
        keep(store, handed, verdict, Options())  # the same bytes again, which replace nothing
        os.utime(store.path(TINY, "ada"), (86_400 * number + 60,) * 2)
    first, second = store.load(TINY, "ada").earlier
    assert (first.points, second.points) == (0.0, 1.0)
    assert (first.day, second.day) == ("1970-01-01 00:01 UTC", "1970-01-02 00:01 UTC")
    store.save(replace(store.load(TINY, "ada"), entered=True))
    keep(store, replace(HANDED, student="bob"), VERDICT)
    assert store.load(TINY, "ada").earlier == (first, second) and store.load(TINY, "bob").earlier == ()
    file = store.path(TINY, "ada")
    file.write_text(file.read_text().replace('"seed"', '"seeds"'))
    assert store.load(TINY, "ada") is None, "of another version"
    keep(store, replace(HANDED, data=b"{   }"), VERDICT)
    assert store.load(TINY, "ada").earlier == (first, second), "what it had before is kept"


def test_a_verdict_depends_on_the_helper_modules(store):
    store.course.released.mkdir()
    helper = store.course.released / "helper.py"
    helper.write_text("FACTOR = 2\n")
    keep(store, HANDED, VERDICT)
    assert store.current(HANDED, Options())
    helper.write_text("FACTOR = 3\n")
    assert store.current(HANDED, Options()) is None


def test_a_verdict_depends_on_the_engine(store, monkeypatch):
    keep(store, HANDED, VERDICT)
    monkeypatch.setattr(digests, "of_engine", lambda: "another")
    assert store.current(HANDED, Options()) is None


def test_a_verdict_depends_on_the_packages_that_are_installed(store, monkeypatch):
    keep(store, HANDED, VERDICT)
    monkeypatch.setattr(digests, "distributions", lambda path: [SimpleNamespace(name="einops", version="1.0")])
    digests.of_packages.cache_clear()
    assert store.current(HANDED, Options()) is None
    monkeypatch.undo()
    digests.of_packages.cache_clear()
    assert store.current(HANDED, Options())


@pytest.mark.parametrize("name", [f"{TINY}.py", "checks.py", "faults.py", "variants.py"])
def test_a_verdict_depends_on_the_sources(store, tiny, name):
    keep(store, HANDED, VERDICT)
    solutions = store.course.solutions
    solutions.unlink()
    (solutions / TINY).mkdir(parents=True)
    for path in tiny.folder(TINY).glob("*.py"):
        (solutions / TINY / path.name).write_bytes(path.read_bytes())
    assert store.current(HANDED, Options())
    with open(solutions / TINY / name, "a") as file:
        file.write("\n")
    assert store.current(HANDED, Options()) is None


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
    "key": {"submission": "0", "inputs_digest": "0", "device": "cpu", "isolation": "bubblewrap"}}

OTHERS = {
    "nothing": lambda text: "",
    "cut off": lambda text: text[: len(text) // 2],
    "two of them": lambda text: text + text,
    "an old format": lambda text: json.dumps(BEFORE),
    "outcomes by their former name": lambda text: text.replace('"outcome"', '"verdict"'),
    "a session by its former name": lambda text: text.replace('"session"', '"assignment"'),
    "points by their former name": lambda text: text.replace('"points"', '"score"'),
    "a list": lambda text: f"[{text}]",
    "null": lambda text: "null",
    "a number": lambda text: "8",
    "no key": without("key"),
    "no student": without("student"),
    "points in words": changed(verdict__points="8"),
    "points that are nothing": changed(verdict__points=None),
    "an unknown outcome": changed(verdict__exercises__0__outcome="brilliant"),
    "an unknown device": changed(verdict__device="abacus"),
    "notes that are one text": changed(verdict__notes="a note"),
    "checks that are numbers": changed(verdict__exercises__0__checks=[1, 2]),
    "limits in words": changed(key__options__limits="many"),
    "entered perhaps": changed(entered="perhaps"),
    "not a number": lambda text: text.replace("2.5", "NaN"),
    "no text": lambda text: text.encode("utf-16"),
    "broken text": lambda text: text.encode("latin-1", "replace").replace(b"gr", b"\xff\xfe"),
    "nested without end": lambda text: "[" * 100_000,
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_file_that_holds_something_else_is_refused(store, what, caplog):
    keep(store, HANDED, VERDICT)
    path = store.path(TINY, "ada")
    written = OTHERS[what](path.read_text(encoding="utf-8"))
    path.write_bytes(written if isinstance(written, bytes) else written.encode())
    assert store.load(TINY, "ada") is store.current(HANDED, Options()) is None
    assert store.entries(TINY) == store.entries(TINY) == []
    assert caplog.messages == [f"{path} holds no verdict that can be read: grade this session again"]
    with pytest.raises(FileError) as refused:
        from_json(path.read_bytes(), StoredVerdict, "ada.json")
    assert str(refused.value).startswith("ada.json does not hold a StoredVerdict: ") and "\n" not in str(refused.value)
    entry = keep(store, HANDED, VERDICT)
    assert store.entries(TINY) == [entry]


@given(st.binary())
def test_any_bytes_are_an_entry_or_refused(data):
    with pytest.raises(FileError):
        from_json(data, StoredVerdict, "it")


def test_a_verdict_in_json_is_what_it_was():
    assert from_json(to_json(VERDICT).encode(), Verdict, "it") == VERDICT


def test_half_a_file_is_never_left(store, monkeypatch):
    entry = keep(store, HANDED, VERDICT)
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError("No space left on device")))
    with pytest.raises(OSError, match="No space"):
        keep(store, HANDED, replace(VERDICT, points=0.0), Options())
    assert store.entries(TINY) == [entry]
    assert [path.name for path in store.path(TINY, "ada").parent.iterdir()] == ["ada.json"]


def test_the_secret_is_made_once_and_is_its_owners(store):
    secret = store.secret()
    assert len(secret) == 32 and store.secret() == secret
    assert (store.course.gradebook / "secret").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in store.course.gradebook.iterdir()] == ["secret"]


def test_the_secret_is_made_in_a_gradebook_that_is_there(store):
    store.course.gradebook.mkdir()
    assert store.secret() == store.secret()


def test_two_runs_that_start_together_agree_on_the_secret_of_the_first(store, monkeypatch):
    first = secrets.token_hex(32)

    def token(size):
        (store.course.gradebook / "secret").write_text(first)  # the other run, meanwhile
        return "00" * size

    monkeypatch.setattr(secrets, "token_hex", token)
    assert store.secret() == bytes.fromhex(first)
    assert [path.name for path in store.course.gradebook.iterdir()] == ["secret"]


def test_threads_that_start_together_agree_on_the_secret(store, monkeypatch):
    """Each has read that there is none, before the first makes one."""
    all_read, token = threading.Barrier(4), secrets.token_hex

    def after_all(size):
        all_read.wait(60)
        return token(size)

    monkeypatch.setattr(secrets, "token_hex", after_all)
    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(store.secret) for _ in range(4)]
        assert len({each.result(60) for each in asked}) == 1
    assert [path.name for path in store.course.gradebook.iterdir()] == ["secret"]


def test_one_at_a_time_writes(store):
    for _ in range(2):
        with store.writing(), open(store.course.gradebook / "lock") as other:
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with open(store.course.gradebook / "lock") as other:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_sessions_and_entries_are_in_order_and_what_is_half_written_is_none(store):
    sessions = [f"tp{number}" for number in (5, 1, 8, 3, 9, 2, 7, 4, 6)]
    for session in sessions:
        keep(store, replace(HANDED, session=TINY, student=session), VERDICT, Options())
        store.save(StoredVerdict("ada", replace(VERDICT, session=session), store.load(TINY, session).key))
    for name in ("empty", "hidden"):
        (store.course.gradebook / "verdicts" / name).mkdir()
    (store.course.gradebook / "verdicts" / "hidden" / ".ada.json.7").write_text("{")
    store.path(TINY, ".ada").write_text(store.path(TINY, "tp5").read_text())
    assert store.sessions() == [TINY, *sorted(sessions)]
    assert [entry.student for entry in store.entries(TINY)] == sorted(sessions)
