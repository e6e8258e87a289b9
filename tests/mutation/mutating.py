"""Mutate the engine, and say which mutants its tests do not see: ``python tests/mutation/mutating.py [MODULE …]``.

Each module is tested by the files that ``modules.toml`` names for it. They run in a copy of the repository, in a
process forked from one that has imported the libraries; a mutant that takes too long is killed.
"""

import argparse
import contextlib
import gc
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from mutants import Mutant, generate_mutants

ROOT = Path(__file__).parent.parent.parent
LIBRARIES = ("pytest", "numpy", "torch", "hypothesis", "hypothesis.extra.numpy", "nbformat", "nbclient", "nbconvert",
             "nbgrader.api", "nbgrader.apps", "msgspec", "psutil", "jupytext", "jinja2", "sqlalchemy")
COPIED = ("autograder", "tests", "solutions", "course", "images", "docs", "course.toml", "pyproject.toml",
          "nbgrader_config.py", "Makefile", ".gitignore")
SEED = "139d2762"  # of the tests' draws: a survivor is one of code, never of luck
PASSED = 77  # the status of a run that came to its end: a mutant may end the process with any other
PATIENCE = 10  # times as long as without a mutant


@dataclass
class Tested:
    """What became of the mutants of a module."""

    module: str
    killed: int = 0
    equivalent: int = 0
    survivors: list[Mutant] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)  # listed as equivalent, but killed or not there
    seconds: float = 0.0

    @property
    def share(self) -> float:
        """Killed mutants, of those that are not equivalent."""
        return self.killed / max(1, self.killed + len(self.survivors))

    def __str__(self) -> str:
        lines = [f"{self.module}: {self.killed} of {self.killed + len(self.survivors)} killed ({self.share:.1%}), "
                 f"{self.equivalent} equivalent, {self.seconds:.0f} s"]
        lines += [f"  survived: line {one.line}, {one.name}" for one in self.survivors]
        return "\n".join(lines + [f"  listed as equivalent, and is not: {name}" for name in self.stale])


def modules() -> dict[str, dict[str, object]]:
    """Return what is known of each module: its tests, and its equivalent mutants with their reasons."""
    found: dict[str, dict[str, object]] = tomllib.loads(Path(__file__).with_name("modules.toml").read_text("utf-8"))
    return found


def tested(module: str, sample: int | None = None, seed: str = SEED) -> Tested:
    """Run the tests of a module on all of its mutants, or on a sample; ``RuntimeError`` where they fail without one."""
    about = modules()[module]
    equivalents = about.get("equivalent", {})
    assert isinstance(equivalents, dict) and isinstance(about["tests"], list)
    result, started = Tested(module), time.monotonic()
    with _copy() as folder:
        path = folder / "autograder" / module
        text = path.read_text(encoding="utf-8")
        begun = time.monotonic()
        if not _run(folder, about["tests"], 600.0, compiled=True):
            raise RuntimeError(f"{module}: {' '.join(about['tests'])} fail without a mutant:\n"
                               f"{(folder / 'log').read_text(errors='replace')[-2000:]}")
        patience = 10 + PATIENCE * (time.monotonic() - begun)
        for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            cached.unlink()
        mutants = generate_mutants(text)
        names = {mutant.name for mutant in mutants}
        result.stale = [name for name in equivalents if name not in names]
        if sample is not None and sample < len(mutants):
            mutants = random.Random(f"{seed}/{module}").sample(mutants, sample)
        for mutant in mutants:
            path.write_text(mutant.text, encoding="utf-8")
            survives, listed = _run(folder, about["tests"], patience), mutant.name in equivalents
            if listed and survives:
                result.equivalent += 1
            elif survives:
                result.survivors.append(mutant)
            else:
                result.killed += 1
                result.stale += [mutant.name] if listed else []
    result.seconds = time.monotonic() - started
    return result


@contextlib.contextmanager
def _copy():
    """A copy of the repository, in which nothing is left of other runs."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        folder = Path(name)
        ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
        for part in COPIED:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, folder / part, ignore=ignored)
            else:
                shutil.copy(ROOT / part, folder / part)
        yield folder


def _run(folder: Path, tests: list[str], seconds: float, compiled: bool = False) -> bool:
    """Return whether tests pass in a fork of this process; it is killed when its time is over."""
    process = os.fork()
    if not process:
        status = 3
        try:
            status = PASSED if _pytest(folder, tests, compiled) == 0 else 1
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    late = time.monotonic() + seconds
    while time.monotonic() < late:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == PASSED
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return False


def _pytest(folder: Path, tests: list[str], compiled: bool) -> int:
    os.setsid()
    os.chdir(folder)
    sys.path[:] = [str(folder), *(place for place in sys.path if place not in ("", str(ROOT)))]
    os.environ.update(PYTHONPATH=f"{folder}:{folder / 'course'}", COURSE_TEST_SEED=SEED)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("autograder", "tests", "tp")]:
        del sys.modules[name]
    if not compiled:  # what a mutant was compiled to is no other's
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True
    with open(folder / "log", "w") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    import pytest

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    plugins = ["no:cacheprovider", "no:unraisableexception", "_hypothesis_pytestplugin"]
    return int(pytest.main(["-x", "-q", "-m", "not slow", *(f"-p{name}" for name in plugins), "--hypothesis-seed=0",
                            "-Wignore::pytest.PytestAssertRewriteWarning", *tests]))


def preload() -> None:
    """Import what tests need and no mutant changes, once for all."""
    for name in LIBRARIES:
        import_module(name)
    gc.freeze()  # what is collected in a fork is its own


def main() -> int:
    """Test the modules that are named, or all that are finished; 1 where a mutant survives that is not listed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("module", nargs="*", help="as autograder's folder has it: judging/seeds.py")
    parser.add_argument("--sample", type=int, help="so many mutants of each module")
    parser.add_argument("--seed", default=SEED, help="which sample")
    parser.add_argument("--list", action="store_true", help="show the mutants, and run nothing")
    args = parser.parse_args()
    names = args.module or [name for name, about in modules().items() if not about.get("unfinished")]
    if args.list:
        for name in names:
            for mutant in generate_mutants((ROOT / "autograder" / name).read_text(encoding="utf-8")):
                print(f"{name}:{mutant.line}: {mutant.name}")
        return 0
    preload()
    results = []
    for name in names:
        results.append(tested(name, args.sample, args.seed))
        print(results[-1], flush=True)
    killed, left = sum(one.killed for one in results), sum(len(one.survivors) for one in results)
    print(f"{killed} of {killed + left} killed ({killed / max(1, killed + left):.1%}), "
          f"{sum(one.equivalent for one in results)} equivalent, in {len(results)} modules")
    return 1 if left or any(one.stale for one in results) else 0


if __name__ == "__main__":
    sys.exit(main())
