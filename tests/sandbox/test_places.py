"""Where a course may have put its solution on this machine: none of these places is there for a kernel."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import bare
import pytest

from autograder.sandbox import restrictions
from autograder.sandbox.restrictions import require_bubblewrap
from conftest import REPOSITORY

# The default exchange of nbgrader, shared folders, those of hubs, homes.
PLACES = ["/usr/local/share/nbgrader/exchange/course/outbound/tp", "/usr/local/share/course", "/usr/local/course",
          "/usr/share/course", "/usr/src/course", "/srv/nbgrader/exchange/course", "/srv/solutions", "/srv/jupyterhub",
          "/opt/course/solutions", "/home/instructor/course/solutions", "/mnt/course", "/media/course",
          "/var/lib/jupyterhub/course", "/var/www/course"]
PLANTED = "planted.ipynb"
LOOKS = f"""
import json, os
found, tops = [], []
for top in sorted(os.listdir("/")):
    if top not in ("proc", "dev"):
        for folder, folders, names in os.walk("/" + top):
            folders[:] = [name for name in folders if name != "site-packages"]
            found += [folder] * ({PLANTED!r} in names or any(name.startswith("tp") and name.endswith(".ipynb")
                                                             for name in names))
print(json.dumps(sorted(found)))
"""
SCRIPT = f"""
import json, os, sys
from autograder.sandbox import restrictions
from autograder.sandbox.host import Sandbox
from autograder.sandbox.options import Options
from autograder.sandbox.watchdog import Budget

places, restrictions.KERNEL = json.loads(sys.argv[1]), sys.argv[2]

def seen():
    with Sandbox([], Options()) as sandbox:
        ran = sandbox.fork().run_cell({LOOKS!r}, Budget(60, 600))
    assert ran.error is None, ran
    return json.loads(ran.printed)

there = [place for place in places if os.path.exists(place + "/" + {PLANTED!r})]
held = seen()
restrictions.SYSTEM += tuple({{"/usr", *(os.sep.join(place.split(os.sep)[:2]) for place in there)}} - {{"/usr/bin"}})
print(json.dumps([there, held, seen()]))
"""


def tops():
    """The folders that can be covered here: nothing that Python needs lies in them."""
    needed = [sys.prefix, sys.base_prefix, str(REPOSITORY.root), os.path.realpath(sys.executable)]
    found = {place: "/".join(place.split("/")[: 4 if place.startswith(("/usr/local", "/usr/share")) else 3])
             for place in PLACES}
    for place, folder in found.items():
        top = folder if Path(folder).is_dir() else str(Path(folder).parent)
        if Path(top).is_dir() and top not in ("/usr", "/usr/share", "/usr/local", "/var") \
                and not any(path.startswith(f"{top}/") for path in needed):
            yield place, top


def test_no_place_where_a_solution_may_lie_is_there(tmp_path):
    planted = tmp_path / PLANTED
    planted.write_text("{}")
    places = dict(tops())
    machine = [require_bubblewrap(), "--dev-bind", "/", "/"]
    for top in sorted(set(places.values())):
        machine += ["--tmpfs", top]
    for place in places:
        machine += ["--ro-bind", str(planted), f"{place}/{PLANTED}"]
    (tmp_path / "kernel.py").write_text(bare.text())
    done = subprocess.run([*machine, sys.executable, "-c", SCRIPT, json.dumps([*places]), tmp_path / "kernel.py"],
                          capture_output=True, text=True, cwd=REPOSITORY.root)
    assert done.returncode == 0, done.stderr
    there, held, free = json.loads(done.stdout)
    assert there == [*places] and len(there) >= 3
    assert held == [], "these are seen from inside"
    assert set(free) >= set(there), "the control: with the whole of these folders, all are seen"


def test_an_environment_of_ones_own_in_another_folder_works(tmp_path):
    """As users have it: somewhere, with links to an interpreter elsewhere; what lies beside it is not there."""
    venv.create(tmp_path / "env", symlinks=True)
    (tmp_path / "solutions").mkdir()
    (tmp_path / "env" / "share").mkdir(exist_ok=True)
    for folder in ("solutions", "env", "env/share"):
        (tmp_path / folder / PLANTED).write_text("{}")
    (own,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    (own / "ours.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages"))
                                  + f"\n{REPOSITORY.root}\n")
    script = SCRIPT.replace("restrictions.SYSTEM +=", "0 and")
    (tmp_path / "kernel.py").write_text(bare.text())
    done = subprocess.run([tmp_path / "env" / "bin" / "python", "-c", script.replace("held, seen()", "held, []"), "[]",
                           tmp_path / "kernel.py"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[], [], []]


@pytest.mark.parametrize("prefix, base, there, bound", [
    ("/usr", "/usr", [], []),
    ("/usr/local", "/usr/local", ["/usr/local/bin", "/usr/local/lib/pythonV", "/usr/local/share/x"],
     ["/usr/local/bin", "/usr/local/lib/pythonV"]),
    ("/opt/conda/envs/c", "/opt/conda/envs/c", ["/opt/conda/envs/c/bin", "/opt/conda/envs/c/lib", "/opt/conda/share"],
     ["/opt/conda/envs/c/bin", "/opt/conda/envs/c/lib"]),
    ("/home/eve/c/.venv", "/usr", ["/home/eve/c/.venv/bin", "/home/eve/c/.venv/lib", "/home/eve/c/.venv/pyvenv.cfg",
                                   "/home/eve/c/solutions"],
     ["/home/eve/c/.venv/bin", "/home/eve/c/.venv/lib", "/home/eve/c/.venv/pyvenv.cfg"]),
], ids=["debian", "docker", "conda", "venv"])
def test_of_each_kind_of_python_its_own_folders_are_bound(monkeypatch, prefix, base, there, bound):
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    there = {path.replace("pythonV", version) for path in there}
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr(sys, "base_prefix", base)
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(restrictions.os.path, "exists", lambda path: path in there)
    monkeypatch.setattr(restrictions.glob, "glob", lambda pattern: [])
    assert restrictions.python_paths("cpu") == [path.replace("pythonV", version) for path in bound]
