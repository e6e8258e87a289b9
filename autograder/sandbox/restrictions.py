"""The restrictions of a kernel: the arguments of bubblewrap, and the environment variables."""

import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import ENGINE_FOLDER as ENGINE_FOLDER
from .. import AutograderError
from ..runtime.text import last_line
from . import kernel
from .options import Limits, Options

KERNEL = Path(kernel.__file__)
# Of the system: programs (a cell may start a shell), shared libraries, fonts, locales, time zones. Of /usr not the
# rest: nbgrader's exchange is in /usr/local/share, and courses lie where they please.
SYSTEM = ("/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/bin", "/lib", "/lib32", "/lib64",
          "/usr/share/fonts", "/usr/share/fontconfig", "/usr/share/locale", "/usr/share/terminfo",
          "/usr/share/zoneinfo", "/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/localtime")
OF_AN_ENVIRONMENT = ("bin", "lib", "lib64", "pyvenv.cfg", "share/zoneinfo")  # and not what else lies beside it
CUDA = ("/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib", "/usr/local/nvidia/lib*")
HELPERS = "/course"  # where a kernel finds what the notebooks import
RUNTIME = "/runtime"  # where it finds what replays checks


class SandboxError(AutograderError):
    """The sandbox cannot be started; the message says what to do."""


def require_bubblewrap() -> str:
    """Return the path of bubblewrap after a trial; ``SandboxError`` when it is missing or not allowed to work."""
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxError("bubblewrap is missing, and nothing is graded without it: install it "
                           "(Debian: apt-get install bubblewrap), or say --no-isolation "
                           "to run student code unprotected")
    trial = subprocess.run([program, "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, text=True)
    if trial.returncode:
        raise SandboxError(f"bubblewrap cannot make a sandbox here ({last_line(trial.stderr)}): allow unprivileged "
                           "user namespaces, or say --no-isolation to run student code unprotected")
    return program


def environment(scratch: str, path: str, device: str) -> dict[str, str]:
    """Return the environment variables of a kernel."""
    variables = {
        "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": scratch, "IPYTHONDIR": f"{scratch}/ipython",
        "TMPDIR": scratch, "MPLCONFIGDIR": f"{scratch}/matplotlib", "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1", "TP_GRADING": "1", "PYTHONPATH": path, "PYTHONHASHSEED": "0",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    }
    if device == "cpu":
        variables["CUDA_VISIBLE_DEVICES"] = ""
    return variables


def bubblewrap_arguments(variables: dict[str, str], helpers: Sequence[Path], options: Options) -> list[str]:
    """Return the arguments of bubblewrap."""
    built = ["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--die-with-parent", "--new-session",
             "--cap-drop", "ALL", "--hostname", "lab", "--clearenv"]
    for name, value in variables.items():
        built += ["--setenv", name, value]
    for path in SYSTEM:
        if os.path.islink(path):
            built += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            built += ["--ro-bind", path, path]
    for path in python_paths(options.device):
        built += ["--ro-bind", path, path]
    built += ["--ro-bind", str(KERNEL), "/kernel.py"]
    for name in ("__init__.py", "runtime"):
        built += ["--ro-bind", str(ENGINE_FOLDER / name), f"{RUNTIME}/autograder/{name}"]
    for helper in helpers:
        built += ["--ro-bind", str(helper), f"{HELPERS}/{helper.name}"]
    built += _scratch(options.limits)
    if options.device == "cuda":
        for node in glob.glob("/dev/nvidia*"):
            built += ["--dev-bind", node, node]
    if not any(path.startswith("/tmp/") for path in built):
        built += ["--symlink", kernel.SCRATCH, "/tmp"]
    return [*built, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", kernel.SCRATCH]


def python_paths(device: str) -> list[str]:
    """Return the paths outside the system's that Python needs: the names that it uses, and what they resolve to."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    wanted = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    for prefix in (sys.prefix, sys.base_prefix):
        if prefix == "/usr/local":  # shared with whatever else is installed there
            wanted += ["/usr/local/bin", f"/usr/local/lib/{version}", *glob.glob("/usr/local/lib/*.so*")]
        elif prefix != "/usr":
            wanted += [f"{prefix}/{name}" for name in OF_AN_ENVIRONMENT]
    if device == "cuda":
        wanted += [path for pattern in CUDA for path in glob.glob(pattern)]
    paths = sorted({name for path in wanted if os.path.exists(path) for name in (path, os.path.realpath(path))})
    return [path for path in paths if not any(path.startswith(f"{folder}/") for folder in (*SYSTEM, *paths))]


def _scratch(limits: Limits) -> list[str]:
    # /dev/zero is /dev/null, because memory mapped from it is charged to no process
    size, scratch = ["--size", str(limits.disk)], kernel.SCRATCH
    built = ["--proc", "/proc", "--dev", "/dev", "--dev-bind", "/dev/null", "/dev/zero",
             *size, "--tmpfs", "/dev/shm", *size, "--tmpfs", scratch, "--dir", f"{scratch}/matplotlib"]
    for cache in _font_caches():
        built += ["--ro-bind", cache, f"{scratch}/matplotlib/{Path(cache).name}"]
    return built


def _font_caches() -> list[str]:
    """Return the paths of Matplotlib's font lists, which take seconds to make."""
    import matplotlib

    return glob.glob(f"{matplotlib.get_cachedir()}/fontlist-*.json")
