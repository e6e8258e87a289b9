"""A PostgreSQL server of one's own, for as long as it is needed."""

import glob
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path


def missing():
    """What a server needs and this machine lacks, in words; None when nothing."""
    if not importlib.util.find_spec("psycopg"):
        return "PostgreSQL's driver is not installed: pip install 'psycopg[binary]'"
    return None if _initdb() else "no PostgreSQL server on this machine"


def _initdb():
    return shutil.which("initdb") or max(glob.glob("/usr/lib/postgresql/*/bin/initdb"), default=None)


@contextmanager
def server(durable=False):
    """The address of an empty database on a server that lives in a folder, listens to no port, and ends with this.

    Unless it is `durable`, it does not wait for the disk.
    """
    programs, user = Path(_initdb()).parent, None
    if os.getuid() == 0:  # it refuses to run as root
        user = "postgres" if any(one.pw_name == "postgres" for one in pwd.getpwall()) else "nobody"
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        if user:
            shutil.chown(folder, user)

        def run(program, *arguments):
            return subprocess.run([programs / program, *arguments], user=user, cwd=folder, check=True,
                                  capture_output=True, text=True)

        run("initdb", "--pgdata=data", "--username=grader", "--auth=trust", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync={'on' if durable else 'off'}"
        run("pg_ctl", "--pgdata=data", "--log=log", f"--options={options}", "--wait", "start")
        try:
            yield f"postgresql+psycopg://grader@/postgres?host={folder}"
        finally:
            run("pg_ctl", "--pgdata=data", "--mode=immediate", "--wait", "stop")
