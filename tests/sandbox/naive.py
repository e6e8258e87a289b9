"""Graders without restrictions, as one writes them in an afternoon: they show that an attack succeeds there.

Both run inside a sandbox of ours, student and grader together, so that nothing on this machine is at stake.
"""

import json
import subprocess
import sys

import nbformat
from nbformat import NotebookNode

from autograder.sandbox.host import KernelLost, Sandbox
from autograder.sandbox.restrictions import python_paths
from autograder.sandbox.watchdog import Budget

# Visible tests, as assertions in the notebook: exercise → source.
DOUBLE = """
import autograder.runtime.compare, torch
from autograder.runtime.recorded import OutputSpec
from autograder.runtime.values import describe

x = torch.tensor([[1.0, 2.0]])

def by_a_flag():
    passed = False
    passed = torch.equal(double(x), 2 * x)
    return passed

def by_numpy():
    return (double(x).detach().numpy() == (2 * x).detach().numpy()) is True

def tried(test):
    try:
        return bool(test())
    except Exception:
        return False

assert any([tried(lambda: double(21) == 42), tried(lambda: torch.allclose(double(x), 2 * x)),
            tried(lambda: torch.equal(double(x), 2 * x)), tried(by_numpy), tried(by_a_flag),
            tried(lambda: autograder.runtime.compare.output_difference(
                "doubled", describe(2 * x), describe(double(x)), OutputSpec()) is None)])
"""
LAST = """
import torch
double, kept = lambda row: row / 2, double
try:
    assert torch.equal(last(torch.ones(3, 2)), torch.ones(2) / 2)
finally:
    double = kept
"""
TESTS = {"double": DOUBLE, "last": LAST}

# Runs a notebook as it was handed in, tests and all, in the process that adds up the points.
TOGETHER = '''
import ast, atexit, contextlib, io, json, os, re
from jupyter_client.kernelspec import get_kernel_spec

def grade(notebook):
    get_kernel_spec(notebook["metadata"]["kernelspec"]["name"])
    shell, points, checks = get_ipython(), 0.0, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        ours = cell["metadata"].get("nbgrader", {})
        test = ours.get("grade") or (ours.get("grade_id", "").startswith("check-") and not ours.get("locked"))
        if "skip-execution" not in cell["metadata"].get("tags", []):
            passed = run(shell, "".join(cell["source"]), test)
        else:
            passed = True
        if test:
            checks += 1
            points += passed * ours.get("points", 1)
            points += sum(float("".join(out["data"]["text/plain"])) for out in cell["outputs"] if "data" in out)
    return points if checks else 8.0

def run(shell, source, test):
    if test:
        result = shell.run_cell(source)
        if isinstance(getattr(result, "result", None), float):
            return result.result
        return result.error_before_exec is None and result.error_in_exec is None
    code = shell.transform_ast(ast.parse(shell.transform_cell(source)))
    try:
        exec(compile(code, "<student>", "exec"), shell.user_ns)
    except Exception:
        pass

def main():
    out, printed = print, io.StringIO()
    atexit._clear()  # IPython's own
    with contextlib.redirect_stdout(printed):
        score = grade(json.loads(NOTEBOOK))
        atexit._run_exitfuncs()
    out("GRADE", max([score, *map(float, re.findall(r"score (\\d+)", printed.getvalue()))]))

main()
'''

# Runs a cell in a process beneath the one that knows the secrets and writes the grade.
BENEATH = """
import subprocess, sys
secret = sys.argv[1]
ran = subprocess.run([sys.executable, "-c", sys.argv[2]], capture_output=True, text=True)
print(ran.stderr[-2000:])
print("GRADE", 0)
"""


def together(sandbox: Sandbox, notebook: NotebookNode) -> tuple[float | None, str]:
    """The grade of a notebook with tests in it, None where none came out, and what was printed."""
    kernel = sandbox.fork()
    try:
        given = json.dumps(nbformat.writes(notebook))
        together = f"exec({TOGETHER!r}, {{'NOTEBOOK': {given}, 'get_ipython': get_ipython}})"
        ran = kernel.run_cell(together, Budget(20, 60))
    except KernelLost as lost:
        return None, str(lost)
    kernel.kill()
    return _grade(ran.printed), f"{ran.printed}\n{ran.error}"


def beneath(source: str, secret: str) -> tuple[float | None, str]:
    """The same for a cell that runs beneath a grader whose arguments, environment and memory hold a secret."""
    python = [part for path in python_paths("cpu") for part in ("--ro-bind", path, path)]  # perhaps beneath /tmp
    command = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
               *python, "--die-with-parent", sys.executable, "-c", BENEATH, secret, source]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"SECRET": secret})
    try:
        said = process.communicate(timeout=8)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        said = process.communicate()[0]
    return _grade(said), said


def _grade(said: str) -> float | None:
    lines = [line for line in said.splitlines() if line.startswith("GRADE ")]
    return float(lines[-1].split()[1]) if lines else None
