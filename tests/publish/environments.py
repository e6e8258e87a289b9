"""Environments for the tests: empty, with what is installed here to lend, so that nothing is downloaded."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

LENT = sysconfig.get_path("purelib")


def environment(folder: Path, lends: bool = True) -> Path:
    """A virtual environment without pip in ``folder``; returns its Python. ``lends``: our libraries are found in it.

    Lent is the folder, not what its `.pth` files add: the engine and `tp`, installed from here, are not found.
    """
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    if lends:
        lend(folder, LENT)
    return python


def lend(environment: Path, folder: Path | str) -> None:
    """Let an environment find the packages in ``folder``, too."""
    site = next((environment / "lib").glob("python*/site-packages"))
    (site / "lent.pth").write_text(f"{folder}\n")


def install(python: Path, wheel: Path) -> None:
    """Install a wheel and nothing else, without the network."""
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--disable-pip-version-check", str(wheel)], check=True, env=clean())


def clean(**more: str) -> dict[str, str]:
    """The variables of this process without those that lead Python back here."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_", "JUPYTER"))}
    return {**kept, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull, **more}
