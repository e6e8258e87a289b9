"""A JupyterHub with three accounts of this machine, set up as docs/hub.md says, and gone at the end."""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from conftest import REPOSITORY

ROOT = REPOSITORY.root
NGSHARE_PORT = 10101
SET_UP = Path(os.environ.get("COURSE_HUB", ROOT / ".venv-hub"))  # made by hub/setup.sh


def require():
    """Skip the test where no hub can be run, and say why."""
    if os.geteuid() != 0:
        pytest.skip("a hub starts servers of other accounts: needs root")
    if not shutil.which("bwrap"):
        pytest.skip("no bubblewrap to grade in")
    for program in ("bin/jupyterhub", "node_modules/.bin/configurable-http-proxy"):
        if not (SET_UP / program).exists():
            pytest.skip(f"no {SET_UP / program}: run `make hub`, or say where hub/setup.sh put it with COURSE_HUB")
    installed = next((SET_UP / "lib").glob("python*/site-packages/autograder/cli.py"))
    assert installed.read_bytes() == (ROOT / "autograder" / "cli.py").read_bytes(), f"stale: sh hub/setup.sh {SET_UP}"


@dataclass(frozen=True)
class Account:
    """An account of this machine."""

    name: str
    password: str
    home: Path

    def run(self, *command, folder=".", check=True, **environment):
        """Run a command as this account; what it printed."""
        done = subprocess.run(
            ["runuser", "-u", self.name, "--", "env", "-i", f"HOME={self.home}", f"USER={self.name}", "LANG=C.UTF-8",
             f"PATH={SET_UP / 'bin'}:/usr/bin:/bin", *(f"{name}={value}" for name, value in environment.items()),
             *command], cwd=self.home / folder, capture_output=True, text=True)
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr


@dataclass(frozen=True)
class Hub:
    """A running hub: its address, its folder, and who is on it."""

    url: str
    folder: Path
    instructor: Account
    students: tuple[Account, ...]

    @property
    def log(self) -> str:
        """What the hub and all servers have said."""
        return (self.folder / "hub.log").read_text(encoding="utf-8", errors="replace")


@contextmanager
def running_hub(exchange):
    """A hub whose exchange is a shared "folder", or "ngshare"."""
    require()
    if exchange == "ngshare" and not _is_free(NGSHARE_PORT):
        pytest.skip(f"port {NGSHARE_PORT} is in use: ngshare wants it")
    folder = Path(tempfile.mkdtemp(prefix="course-hub-"))
    folder.chmod(0o755)
    (folder / "exchange").mkdir()
    (folder / "exchange").chmod(0o777)
    accounts = []
    try:
        for role in ("instructor", "ada", "bob"):
            accounts.append(_new_account(role, folder))
        instructor, *students = accounts
        _clone_into(instructor)
        with _started(folder, _configuration(folder, instructor, exchange)) as url:
            yield Hub(url, folder, instructor, tuple(students))
    finally:
        for account in accounts:
            _remove(account)
        shutil.rmtree(folder)


def _new_account(role, folder):
    name = f"{role}-{secrets.token_hex(3)}"
    account = Account(name, secrets.token_urlsafe(12), folder / name)
    subprocess.run(["useradd", "--create-home", "--home-dir", account.home, "--shell", "/bin/bash", name], check=True)
    subprocess.run(["chpasswd"], input=f"{name}:{account.password}", text=True, check=True)
    account.home.chmod(0o700)
    return account


def _remove(account):
    """Remove an account with its home and its processes."""
    uid = pwd.getpwnam(account.name).pw_uid
    theirs = [process for process in psutil.process_iter() if process.uids().real == uid]
    for process in theirs:
        process.kill()
    psutil.wait_procs(theirs, 10)
    subprocess.run(["userdel", "--remove", account.name], check=True, capture_output=True)


def _clone_into(account):
    """The repository where a grader keeps it: its files, as they are now."""
    clone = account.home / "seq2seq-course"
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    subprocess.run(["chown", "-R", f"{account.name}:", clone], check=True)


def _configuration(folder, instructor, exchange):
    """The hub's own file as docs/hub.md shows it, with names of here, and at its end what a test needs; its address."""
    page = (ROOT / "docs" / "hub.md").read_text(encoding="utf-8")
    text = page.split("```python\n")[1].split("```")[0]
    if exchange == "ngshare":
        text += page.split("```python\n")[2].split("```")[0]
    for example, name in (("/opt/seq2seq", SET_UP), ("/srv/nbgrader", folder), ("instructor", instructor.name)):
        assert example in text, example
        text = text.replace(example, str(name))
    port, hub, proxy = _free_ports(3)
    (folder / "jupyterhub_config.py").write_text(f"""{text}
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy}"
c.Spawner.args = ["--LabApp.expose_app_in_browser=True"]
c.Spawner.http_timeout = 120
""")
    return f"http://127.0.0.1:{port}"


def _is_free(port):
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) != 0


def _free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@contextmanager
def _started(folder, url):
    with open(folder / "hub.log", "w") as log:
        server = subprocess.Popen([SET_UP / "bin" / "jupyterhub"], cwd=folder, stdout=log, stderr=log,
                                  env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(folder)})
        try:
            _wait_for(f"{url}/hub/login", server, folder)
            yield url
        finally:
            server.terminate()  # it ends the servers and the proxy
            server.wait(60)


def _wait_for(url, server, folder):
    for _ in range(600):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            assert server.poll() is None, (folder / "hub.log").read_text()
            time.sleep(0.2)
    raise AssertionError((folder / "hub.log").read_text())
