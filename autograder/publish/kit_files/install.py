"""Install what pip would, in parallel where that can be had: ``python install.py WHAT PIP INSTALL UNDERSTANDS``.

It installs into the environment of the Python that runs it. uv comes from the package index, for this once; where it
cannot be had, or cannot install, pip does. uv is told what pip's own configuration says. Where the constraints
(``-c FILE``) cannot be met, it installs without them.

A line ``# --no-deps PACKAGE`` of a file of requirements (``-r FILE``) names a package whose files a notebook reads and
which it does not import. It is installed last, without what it requires; where it cannot be had, a line says so.

On Linux, torch comes with gigabytes for NVIDIA's GPUs: without such a GPU, the index of builds for the CPU is asked,
too. An index besides the first that cannot be reached is left out, with one line: pip would try it five times for
every package. This file needs Python alone.
"""

import itertools
import os
import re
import shlex
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
ALONE = [*PIP, "install", "--quiet", "--retries", "0", "--timeout", "15", "--no-deps"]  # one package, asked for once
INDEX_SECONDS = 5  # that an index has to answer
PROGRESS_SECONDS = 10  # between two lines of progress


def main(arguments: list[str]) -> int:
    """Install, say how long it took, and return the exit status of whatever installed."""
    began = time.monotonic()
    extra = [index for index in _extra_indexes(arguments) if _answers(index)]
    os.environ["PIP_EXTRA_INDEX_URL"] = " ".join(extra)
    with tempfile.TemporaryDirectory() as folder:
        uv = _uv(Path(folder))
        options = ["--quiet", "--compile-bytecode", "--python", sys.executable]  # pip compiles unasked
        status = _tried([uv, "pip", "install", *options, *_as_uv()], arguments, "uv") if uv else None
    if status != 0:
        if status is not None:
            print("uv cannot install this: pip tries.", flush=True)
        status = _tried([*PIP, "install", "--quiet"], arguments, "pip")
    if status == 0:
        _install_alone(arguments)
        print(f"Installed in {time.monotonic() - began:.0f} s.", flush=True)
    return status


def _extra_indexes(arguments: list[str]) -> list[str]:
    indexes = _configured().get("extra-index-url", "").split()
    is_cpu = sys.platform == "linux" and not shutil.which("nvidia-smi")
    if is_cpu and CPU_INDEX not in indexes and _may_bring_torch(arguments):
        indexes.append(CPU_INDEX)
    return indexes


def _may_bring_torch(arguments: list[str]) -> bool:
    """Return whether torch may be among what is installed: not, where files of requirements name all and not torch."""
    texts = _requirements(arguments)
    return not texts or any(line.startswith("torch") for text in texts for line in text.splitlines())


def _requirements(arguments: list[str]) -> list[str]:
    """Return the text of each file of requirements among the arguments."""
    return [Path(name).read_text(encoding="utf-8") for option, name in itertools.pairwise(arguments) if option == "-r"]


def _configured() -> dict[str, str]:
    """Return what pip's files and variables set, by name; variables override files."""
    done = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True)
    values: dict[str, str] = {}
    for line in sorted(done.stdout.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        if value:
            values[name.rpartition(".")[2]] = " ".join(shlex.split(value.replace("\\n", " ")))
    return values


def _answers(index: str) -> bool:
    """Return whether an index can be reached; print one line where it cannot."""
    if not index.startswith(("http://", "https://")):
        return True
    index = re.sub("(?<=://)[^/]*@", "", index)  # the address without a password
    try:
        request = urllib.request.Request(f"{index.rstrip('/')}/torch/", method="HEAD")
        urllib.request.urlopen(request, timeout=INDEX_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code not in (403, 407) and error.code < 500:  # no such page, or none without a password
            return True
    except (OSError, ValueError) as error:
        if isinstance(getattr(error, "reason", None), ssl.SSLCertVerificationError):  # pip has certificates of its own
            return True
    print(f"{index} cannot be reached: going on without it.", flush=True)
    return False


def _uv(folder: Path) -> str | None:
    """Install uv from the package index, and return its path; None where that fails."""
    command = [*ALONE, "--target", str(folder), "uv"]
    if _sees_the_system() or subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                            env={**os.environ, "PIP_EXTRA_INDEX_URL": ""}).returncode:
        return None
    return shutil.which("uv", path=folder / "bin")


def _sees_the_system() -> bool:
    """Return whether this environment sees its Python's packages: uv would install all of them again."""
    path = Path(sys.prefix) / "pyvenv.cfg"
    return path.is_file() and "include-system-site-packages = true" in path.read_text(encoding="utf-8")


def _as_uv() -> list[str]:
    """Return pip's configuration as options of uv; of all indexes the best version counts, as for pip."""
    configured, options = _configured(), ["--index-strategy", "unsafe-best-match"]
    for name, option in (("index-url", "--default-index"), ("extra-index-url", "--index"),
                         ("find-links", "--find-links"), ("constraint", "--constraint")):
        for value in configured.get(name, "").split():
            options += [option, value]
    if configured.get("no-index") in ("1", "true", "yes", "on"):
        options.append("--no-index")
    if "cert" in configured:
        os.environ.setdefault("SSL_CERT_FILE", configured["cert"])
    return options


def _install_alone(arguments: list[str]) -> None:
    """Install the packages that the files of requirements name behind ``# --no-deps``."""
    for line in (line for text in _requirements(arguments) for line in text.splitlines()):
        _, sign, package = line.partition("# --no-deps ")
        if sign and subprocess.run([*ALONE, package], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            print(f"{package} cannot be installed: going on without it.", flush=True)


def _tried(command: list[str], arguments: list[str], name: str) -> int:
    """Install with the constraints among the arguments and, where that fails, without them; the exit status."""
    status = _run([*command, *arguments], name)
    free = _without_constraints(arguments)
    if status == 0 or free == arguments:
        return status
    print("The tested versions cannot be installed here: trying others.", flush=True)
    return _run([*command, *free], name)


def _without_constraints(arguments: list[str]) -> list[str]:
    return [argument for argument, before in zip(arguments, ["", *arguments], strict=False)
            if "-c" not in (argument, before)]


def _run(command: list[str], name: str) -> int:
    """Run a command to its end, with a line of progress every few seconds."""
    began = time.monotonic()
    print(f"Installing with {name}: a minute or two, once.", flush=True)
    process = subprocess.Popen(command)
    try:
        while True:
            try:
                return process.wait(PROGRESS_SECONDS)
            except subprocess.TimeoutExpired:
                print(f"  … {time.monotonic() - began:.0f} s", flush=True)
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
