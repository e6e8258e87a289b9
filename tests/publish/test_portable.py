"""Nothing that a student receives needs POSIX: imports, calls, encodings, file names, line ends."""

import ast
import json
import re

import pytest

from autograder.publish import kit
from autograder.publish.kit_files import start
from autograder.publish.wheels import files_in
from conftest import REPOSITORY

MODULES = [name for name in files_in(REPOSITORY.released) if name.endswith(".py")] + ["install.py", "start.py"]

POSIX_ONLY = {"fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
NOT_ON_WINDOWS = {
    "os": {"fork", "forkpty", "getuid", "geteuid", "getgid", "getloadavg", "killpg", "mkfifo", "nice", "openpty",
           "sched_getaffinity", "setsid", "sysconf", "uname", "wait", "chown"},
    "signal": {"SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGUSR2", "alarm", "setitimer", "pthread_kill"},
    "time": {"tzset", "clock_gettime"},
}
RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.I)


@pytest.fixture(scope="module")
def contents():
    """What is in the kit; every file of it is searched for what may not be published, which takes a second."""
    return kit.contents(REPOSITORY)


def needs_posix(text):
    """What a module needs that Windows does not have, or does otherwise."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in POSIX_ONLY)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = NOT_ON_WINDOWS.get(node.module, set())
            yield from (alias.name for alias in node.names if alias.name in names or node.module in POSIX_ONLY)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in NOT_ON_WINDOWS.get(node.value.id, set()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.match(r"(/tmp|/dev|/proc|/etc|/usr|/bin)(/|$)", node.value):
                yield node.value
        elif isinstance(node, ast.Call):
            yield from _encoding_forgotten(node)


def _encoding_forgotten(call):
    """A text file opened without saying how it is written: Windows would read it in its own code page."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    said = {keyword.arg for keyword in call.keywords}
    modes = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    binary = any(isinstance(mode, str) and "b" in mode for mode in modes)
    is_path = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    if name in ("read_text", "write_text") and "encoding" not in said:
        yield f"{name} without encoding"
    elif name == "open" and not binary and "encoding" not in said and not (is_path and call.func.value.id == "Image"):
        yield "open without encoding"


@pytest.mark.parametrize("name", MODULES)
def test_no_module_needs_posix(contents, name):
    assert list(needs_posix(contents[name].decode("utf-8"))) == []


@pytest.mark.parametrize("text", [
    "import fcntl", "from os import fork", "import os\nos.getuid()", "open('a')", "open('a', 'w')", "p.read_text()",
    "import signal\nsignal.SIGKILL", "x = '/tmp/x'", "from resource import getrusage",
])
def test_the_walk_finds_what_it_looks_for(text):
    assert list(needs_posix(text))


def test_file_names_are_for_every_system(contents):
    names = list(contents)
    assert len({name.lower() for name in names}) == len(names), "two names differ in case only"
    for name in names:
        assert len(name) < 100 and not re.search(r'[<>:"|?*\\\x00-\x1f]', name), name
        assert not [part for part in name.split("/") if RESERVED.match(part) or part.endswith((" ", "."))], name
        assert name.isascii(), name


def test_text_is_utf8_with_line_ends_that_git_and_sh_keep(contents):
    for name, data in contents.items():
        if not name.endswith((".bin", ".png", ".bat", ".whl")):
            assert "\r" not in data.decode("utf-8"), name
    assert "tp/__init__.py" in MODULES and {name for name in contents if name.endswith(".py")} == set(MODULES)


def test_every_picture_of_a_notebook_is_called_as_the_file_is(contents):
    """A file system that does not look at case would hide a difference; another one would not."""
    for name, data in contents.items():
        if name.endswith(".ipynb"):
            text = "".join("".join(cell["source"]) for cell in json.loads(data)["cells"])
            for picture in re.findall(r"\]\((figures/[^)]+)\)", text):
                assert f"{name.rsplit('/', 1)[0]}/{picture}" in contents


def test_windows_line_ends_in_a_notebook_do_not_matter(contents, tmp_path):
    name = REPOSITORY.sessions[0]
    (tmp_path / name).mkdir()
    for ends in (b"\n", b"\r\n"):
        data = contents[f"{name}/{name}.ipynb"].replace(b"\n", ends)
        (tmp_path / name / f"{name}.ipynb").write_bytes(data)
        assert start.sessions(tmp_path) == [s for s in start.sessions(REPOSITORY.released) if name in s.path]
