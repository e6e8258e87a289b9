"""The command line, as a person types it: exit status, one clear line, one JSON object."""

import argparse
import contextlib
import json
import logging
import re
import signal
import subprocess
import sys

import nbformat
import pytest
from sqlalchemy.exc import OperationalError

import autograder
from autograder import cli
from autograder.classroom import grading
from autograder.classroom.samples import classroom_in, hand_in
from autograder.commands import classroom
from autograder.course import Course, CourseError
from autograder.judging import judge_fork_server, judge_process
from autograder.model.source import load_source
from autograder.publish import notebooks
from autograder.runtime.text import decimals
from autograder.sandbox.options import Limits, options_of
from conftest import REPOSITORY, TINY, TINY_COURSE, automatic_points, some_of

TRIPLED = "def double(x):\n    return 3 * x"


@pytest.fixture
def course(tiny, tmp_path):
    """A copy of the tiny course, in which grading may leave its files."""
    return classroom_in(tmp_path / "course", tiny, [TINY])


@pytest.fixture
def run(course, capfd):
    """Type a command in the tiny course: (exit status, what it printed, what it said of errors)."""

    def main(*command):
        status = cli.main(["--course", str(course.root), *map(str, command)])
        return status, *capfd.readouterr()

    return main


@contextlib.contextmanager
def one_fork_server(course):
    """Let all judges of a course come from one fork server: torch is imported once."""
    checked = course, options_of("cpu", True, Limits.exercise_cpu_seconds)
    with judge_fork_server.JudgeForkServer(*checked) as server, pytest.MonkeyPatch.context() as patch:
        others = judge_fork_server.JudgeForkServer
        patch.setattr(judge_fork_server, "JudgeForkServer",
                      lambda *asked: contextlib.nullcontext(server) if asked == checked else others(*asked))
        yield course


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A copy of the tiny course with one fork server."""
    with one_fork_server(classroom_in(tmp_path_factory.mktemp("served") / "course", TINY_COURSE, [TINY])) as course:
        yield course


@pytest.fixture
def check(served, capfd):
    """Check a notebook in that course: (exit status, what it printed)."""

    def main(*arguments):
        status = cli.main(["--course", str(served.root), "check", *map(str, arguments), "--device", "cpu"])
        return status, capfd.readouterr().out

    return main


@pytest.fixture(scope="module")
def ours():
    """This repository's course, likewise."""
    with one_fork_server(REPOSITORY) as course:
        yield course


@pytest.fixture
def file(tmp_path):
    """Write a submission."""

    def write(content):
        path = tmp_path / f"{TINY}.ipynb"
        path.write_text(content if isinstance(content, str) else nbformat.writes(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def filled(file):
    """Write a notebook of the tiny session with these cells filled."""
    return lambda cells: file(notebooks.filled(TINY_COURSE, TINY, cells))


def said_in_a_line(result):
    """The one line with which a command says why it could not be done."""
    status, out, err = result
    assert (status, out) == (2, "") and err.count("\n") == 1 and err.startswith("autograder: "), result
    return err


def test_full_marks_exit_0_and_print_one_object(check, right, filled):
    status, out = check(filled(right), "--json")
    verdict = json.loads(out)
    points = automatic_points(TINY_COURSE, TINY)
    assert status == 0 and out.count("\n") == 1
    assert (verdict["session"], verdict["points"], verdict["max_points"]) == (TINY, points, points)
    assert verdict["isolation"] == "bubblewrap"


def test_less_exits_1_and_the_seed_replays_it(check, right, filled):
    path = filled({**right, "double": TRIPLED})
    status, out = check(path, "--json", "--seed", "dispute")
    first = json.loads(out)
    assert status == 1 and first["seed"] == "dispute"
    status, out = check(path, "--json", "--seed", first["seed"])
    second = json.loads(out)
    for exercise in (*first["exercises"], *second["exercises"]):
        assert exercise.pop("seconds") > 0
    assert status == 1 and second["exercises"] == first["exercises"]


def test_in_words_every_exercise_has_its_reasons_and_the_last_line_the_points(check, right, filled):
    status, out = check(filled({**right, "double": TRIPLED}))
    *_, last = out.splitlines()
    source = load_source(TINY_COURSE, TINY)
    full, less = automatic_points(TINY_COURSE, TINY), automatic_points(TINY_COURSE, TINY) - source.points("double")
    assert status == 1 and last.startswith(f"{TINY}: {decimals(less)} of {decimals(full)} points")
    assert [line.split(":")[0] for line in out.splitlines() if line.endswith(")")] == source.exercises


@pytest.mark.parametrize("name", some_of(REPOSITORY.sessions, 1 / 7))
def test_every_tp_is_checked_in_one_object(name, ours, tmp_path, capfd):
    """The blank notebook: nothing that a TP's own cells print gets in between."""
    path = tmp_path / "handed-in.ipynb"
    nbformat.write(notebooks.released_notebook(load_source(REPOSITORY, name)), path)
    command = ["--course", str(ours.root), "check", str(path), "--json", "--device", "cpu", "--seed", "blank"]
    assert cli.main(command) == 1
    out, err = capfd.readouterr()
    verdict = json.loads(out)
    assert (verdict["session"], verdict["points"], verdict["ungraded_reason"]) == (name, 0, None)
    assert verdict["max_points"] == automatic_points(REPOSITORY, name)
    source = load_source(REPOSITORY, name)
    assert [one["exercise"] for one in verdict["exercises"]] == source.exercises
    assert {one["outcome"] for one in verdict["exercises"]} == {"missing"}
    assert err == ""


@pytest.mark.parametrize("content", ["", "not a notebook", '{"cells": [', '{"cells": []}', "[]"])
def test_what_cannot_be_graded_exits_2_with_one_line(run, file, content):
    said_in_a_line(run("check", file(content)))


def test_a_missing_file_exits_2(run):
    assert "no such file" in said_in_a_line(run("check", "nowhere.ipynb"))


def test_without_bubblewrap_nothing_is_graded(run, right, filled, monkeypatch):
    monkeypatch.setattr("autograder.sandbox.restrictions.shutil.which", lambda name: None)
    for command in (["check", filled(right)], ["grade"]):
        assert "bubblewrap is missing" in said_in_a_line(run(*command, "--device", "cpu"))


def test_no_isolation_is_said_in_the_report(run, right, filled):
    status, out, _ = run("check", filled(right), "--no-isolation", "--device", "cpu", "--json")
    assert status == 0 and json.loads(out)["isolation"] == "none"


@pytest.mark.parametrize("command", ["", *cli.DESCRIPTIONS])
def test_help_reads_well(capsys, command):
    with pytest.raises(SystemExit) as stop:
        cli.main([*command.split(), "--help"])
    assert stop.value.code == 0
    words = capsys.readouterr().out
    assert words.startswith(f"usage: autograder {command}".rstrip()) and ("Exit status" in words) == (not command)
    assert command == "" or f"Example: autograder {command}" in " ".join(words.split())


@pytest.mark.parametrize("command", ["release", "release --check", "audit --notebooks", "audit", "grade", "demo",
                                     "pack gradescope", "collect x.zip --session"])
def test_an_unknown_session_exits_2(run, command):
    line = said_in_a_line(run(*command.split(), "tp9_nothing"))
    assert f"there is no session called tp9_nothing; there are: {TINY}" in line


def test_an_empty_name_is_no_session(run):
    assert "there is no session called ; there are:" in said_in_a_line(run("grade", ""))


def test_a_session_that_is_named_twice_is_taken_once(run, monkeypatch):
    seen = []
    monkeypatch.setattr(classroom, "grade", lambda args, course: seen.append(args.session) or 0)
    assert run("grade", TINY, "tp0")[0] == 0 and seen == [[TINY]]


@pytest.mark.parametrize("command", ["demo", "pack instructor"])
def test_a_course_without_sessions_is_one_line(tmp_path, capfd, command):
    course = named(tmp_path, [])
    course.solutions.mkdir()
    line = said_in_a_line((cli.main(["--course", str(course.root), *command.split()]), *capfd.readouterr()))
    assert "holds no session: write solutions/<session>/<session>.py" in line


def test_what_is_no_address_of_a_scheduler_is_one_line(run, course):
    pytest.importorskip("distributed")
    hand_in(course, "ada", TINY, notebooks.filled(TINY_COURSE, TINY, {}))
    assert "xx is no address of a scheduler" in said_in_a_line(run("grade", "--device", "cpu", "--scheduler", "xx"))


@pytest.mark.parametrize("names, typed, meant", [
    (["tp1_a", "tp2_b"], "tp2", "tp2_b"),
    (["tp1_a", "tp2_b"], "tp1_a", "tp1_a"),
    (["tp1_a", "tp10_b"], "tp1", "tp1_a"),  # a whole word before a part of one
    (["tp1", "tp1_a"], "tp1", "tp1"),
    (["mean", "variance"], "var", "variance"),
    (["mean", "variance"], "median", "median"),  # of none: the command says what it misses
])
def test_a_session_may_be_called_by_the_beginning_of_its_name(tmp_path, names, typed, meant):
    assert named(tmp_path, names).full_name(typed) == meant


def test_a_name_that_several_sessions_begin_with_is_refused(tmp_path, capfd):
    course = named(tmp_path, ["tp1_a", "tp1_b"])
    line = said_in_a_line((cli.main(["--course", str(course.root), "release", "tp1"]), *capfd.readouterr()))
    assert "'tp1' may be tp1_a or tp1_b: type more of the name" in line


def named(folder, names):
    """A course with empty sessions of these names."""
    for name in names:
        (folder / "solutions" / name).mkdir(parents=True)
        (folder / "solutions" / name / f"{name}.py").touch()
    return Course(folder)


@pytest.mark.parametrize("command", ["grade", "collect x.zip --session", "return", "demo", "pack gradescope"])
def test_every_command_understands_the_beginning_of_a_name(run, monkeypatch, command):
    seen = []
    parser = cli._parser

    def watched():
        made = parser()
        real = made.parse_args

        def parse_args(typed):
            args = real(typed)
            args.run = lambda args, course: seen.append(args.session) or 0
            return args

        made.parse_args = parse_args
        return made

    monkeypatch.setattr(cli, "_parser", watched)
    assert run(*command.split(), "tp0")[0] == 0 and seen in ([TINY], [[TINY]])


@pytest.mark.parametrize("command", ["check {}", "collect {}", "questions --enter {}", "--log {}/x report"])
def test_a_file_that_is_missing_is_one_line(run, tmp_path, command):
    missing = tmp_path / "none.zip"
    line = said_in_a_line(run(*command.format(missing).split()))
    assert line.startswith(f"autograder: {missing}") and "o such file or directory" in line and "Errno" not in line


def test_a_report_of_what_is_not_there_exits_2(run, course, judging_here):
    hand_in(course, "ada", TINY, notebooks.filled(TINY_COURSE, TINY, {}))
    assert run("grade", "--device", "cpu")[0] == 0
    assert "nothing is graded of tp9_nothing" in said_in_a_line(run("report", "tp9_nothing"))


@pytest.mark.parametrize("command, says", [
    ("grade", classroom.NOTHING + "\n"),
    ("report", "Nothing is graded yet: run autograder grade first\n"),
])
def test_where_there_is_nothing_it_says_what_to_do(run, judging_here, command, says):
    assert run(command) == (0, says, "")


def test_a_gradebook_that_cannot_be_used_is_one_line(run, course, monkeypatch):
    hand_in(course, "ada", TINY, notebooks.filled(TINY_COURSE, TINY, {}))

    def locked(*args):
        raise OperationalError("SELECT 1", {}, Exception("database is locked"))

    monkeypatch.setattr("autograder.classroom.nbgrader.term.Term.__init__", locked)
    assert "database is locked" in said_in_a_line(run("grade"))


def test_a_folder_that_is_no_course_is_one_line(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in ([], ["--course", str(tmp_path / "nowhere")], ["--course", str(tmp_path)]):
        assert "is no course" in said_in_a_line((cli.main([*command, "grade"]), *capfd.readouterr()))


def test_the_course_is_the_one_that_the_present_folder_lies_in(course, capfd, monkeypatch):
    monkeypatch.chdir(course.folder(TINY))
    assert cli.main(["release", "--check"]) == 1
    assert f"stale: course/{TINY}/{TINY}.ipynb\n" in capfd.readouterr().out


def test_without_nbgraders_configuration_nothing_is_graded(run, course):
    hand_in(course, "ada", TINY, notebooks.filled(TINY_COURSE, TINY, {}))
    (course.root / "nbgrader_config.py").unlink()
    for command in ("grade", "report"):
        assert "has no nbgrader_config.py" in said_in_a_line(run(command))


def test_the_version_is_that_of_the_engine(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0 and capsys.readouterr().out == f"autograder {autograder.__version__}\n"


@pytest.mark.parametrize("old, command", [
    *((old, f"{old} --jobs 2 tp0_tiny") for old in cli.MOVED if not old.startswith("-")),
    ("--tp", "collect x.zip --tp tp0_tiny"), ("--tp", "check --tp=tp0_tiny x.ipynb"), ("--execute", "audit --execute")])
def test_an_old_name_says_the_new_one(run, old, command):
    assert said_in_a_line(run(*command.split())) == f"autograder: {old} is now: {cli.MOVED[old]}\n"


def test_each_command_stands_in_the_overview_and_each_example_is_understood(capsys):
    commands = {name for action in cli._parser()._actions if isinstance(action, argparse._SubParsersAction)
                for name in action.choices}
    assert commands == cli.DESCRIPTIONS.keys()
    for name in commands:
        with pytest.raises(SystemExit):
            cli.main([name, "--help"])
        example = capsys.readouterr().out.partition("Example: autograder ")[2]
        assert cli._parser().parse_args(example.split()).command == name


@pytest.mark.parametrize("option", ["--time-limit 0", "--time-limit -5", "--time-limit nan", "--time-limit inf",
                                    "--time-limit soon", "--jobs 0", "--jobs -1", "--jobs 1.5"])
def test_a_number_that_makes_no_sense_is_refused(run, capfd, option):
    with pytest.raises(SystemExit) as stop:
        run("grade", *option.split())
    said = capfd.readouterr().err.splitlines()[-1]
    assert stop.value.code == 2 and option.split()[0] in said and "number" in said


@pytest.mark.parametrize("port", ["0", "-1", "65536", "99999999", "many"])
def test_a_port_that_makes_no_sense_is_refused(run, capfd, port):
    with pytest.raises(SystemExit):
        run("open", "--port", port)
    assert "port" in capfd.readouterr().err.splitlines()[-1]


def test_cuda_that_is_not_there_is_one_line(run, monkeypatch):
    monkeypatch.setattr("autograder.runtime.arrays.torch_or_none", lambda: None)
    assert "torch finds no CUDA here" in said_in_a_line(run("grade", "--device", "cuda"))


def test_what_is_done_can_be_followed(run, course, judging_here, tmp_path):
    hand_in(course, "ada", TINY, notebooks.filled(TINY_COURSE, TINY, {}))
    assert f" ada, {TINY}: 0 points\n" in run("-v", "grade", "--device", "cpu")[2]
    log = tmp_path / "log.txt"
    assert run("--log", log, "release", "tp9")[0] == 2
    assert "Traceback" in log.read_text() and "there is no session called tp9" in log.read_text()
    status, _, err = run("-v", "--log", log, "report")
    assert status == 0 and err.count("\n") == 1 and "autograder" in err and err.strip() in log.read_text()


@pytest.mark.parametrize("options, shown", [((), False), (("-v",), True)])
def test_what_the_database_logs_when_it_is_interrupted_shows_on_demand(run, course, capfd, options, shown):
    run(*options, "report", "tp9")
    logging.getLogger("sqlalchemy.pool.impl.QueuePool").error("Exception closing connection")
    assert ("Exception closing" in capfd.readouterr().err) is shown


@pytest.mark.parametrize("text, said", [
    ('hand_in = "moodle"', "hand_in must be a table"), ("threads = true", "threads must be of type int"),
    ('requirements = ["torch", {a = 2}]', "requirements must be a list of strings"),
    ("axes = {batch = [1]}", "batch must be a list of strings"), ('axes = {batch = ["BB"]}', "it is like { batch ="),
    ("thread = 1", "'thread' means nothing here"), ("threads", "Expected '='"),
    ('title = "\xe9"', "codec can't decode"),
])
def test_a_wrong_course_toml_is_said_with_file_and_key(tmp_path, text, said):
    (tmp_path / "course.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(CourseError, match=f"course.toml: .*{re.escape(said)}"):
        Course(tmp_path).metadata  # noqa: B018


@pytest.mark.parametrize("name", ["autograder.cli", "argparse", "autograder.course"])
def test_ctrl_c_while_it_is_being_imported_is_one_line(name):
    script = ("import os, signal, sys\n"
              "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
              "class Stopping:\n"
              "    def find_spec(self, name, path=None, target=None):\n"
              f"        if name == {name!r}: os.kill(os.getpid(), signal.SIGINT)\n"
              "from autograder.__main__ import main\n"
              f"sys.modules.pop({name!r}, None)\n"
              "sys.meta_path.insert(0, Stopping())\n"
              "sys.argv = ['autograder', '--version']\n"
              "sys.exit(main())\n")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nautograder: stopped\n")


def test_ctrl_c_before_a_command_has_begun_is_one_line(capsys, monkeypatch):
    def stopped():
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_parser", stopped)
    assert cli.main(["grade"]) == 130
    assert capsys.readouterr().err == "autograder: stopped\n"


@pytest.mark.parametrize("option, kept", [
    ([], "Graded submissions are kept, and the same command continues with the others"),
    (["--force"], "New verdicts are kept. With --force the same command starts again, without it continues"),
])
def test_ctrl_c_while_a_class_is_graded_says_what_is_kept(run, course, monkeypatch, option, kept):
    hand_in(course, "ada", TINY, notebooks.filled(TINY_COURSE, TINY, {}))
    monkeypatch.setattr(judge_process.JudgeForkServer, "start", lambda *arguments: None)

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        assert arguments[-1]()
        raise KeyboardInterrupt

    monkeypatch.setattr(grading, "grade_class", interrupted)
    status, _, said = run("grade", "--no-isolation", *option)
    assert status == 130 and said.splitlines()[-1] == f"autograder: stopped. {kept}"


def test_with_nothing_handed_in_grade_says_so_without_making_a_judge_ready(run, course, monkeypatch):
    monkeypatch.setattr(judge_process, "server_of", lambda *arguments: pytest.fail("a judge was begun"))
    assert run("grade", "--no-isolation") == (0, f"{classroom.NOTHING}\n", "")
    (course.gradebook / "submitted").mkdir(parents=True)
    (course.gradebook / "submitted" / "loose.ipynb").write_text("{}")
    status, out, _ = run("grade", "--no-isolation")
    assert status == 1 and out.startswith(classroom.NOTHING) and "loose.ipynb: the notebook that is graded is" in out
