"""Hostile notebooks: what a student might write to gain a point, to spy, to escape, to exhaust, or to harm others.

Each attack is code for a cell of the student's own (``own``), or for the cell of an exercise (``cells``), or a change
of the notebook itself (``edit``). None of them contains an answer, so none of them may gain a point.
"""

import textwrap
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Attack:
    kind: str
    name: str
    own: str = ""
    cells: dict = field(default_factory=dict)
    edit: object = None

    def __str__(self):
        return f"{self.kind}-{self.name}"


ATTACKS = []


def own(kind, name, code):
    ATTACKS.append(Attack(kind, name, own=textwrap.dedent(code)))


def inside(kind, name, body):
    """Code that runs when the judge calls the exercise."""
    code = "def double(x):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ")
    ATTACKS.append(Attack(kind, name, cells={"double": code}))


def edited(kind, name):
    def declare(function):
        ATTACKS.append(Attack(kind, name, edit=function))
        return function

    return declare


# Read: find the checks, the solution, the expected values, other people's work

own("read", "solution-files", """
    import glob
    text = "".join(open(f).read() for f in glob.glob("/**/solutions/**/*.py", recursive=True) + glob.glob("/**/checks/*.py", recursive=True))
    exec(text)
""")
own("read", "whole-disk-for-the-solution", """
    import os
    for folder, _, files in os.walk("/"):
        if folder.startswith(("/proc", "/usr", "/sys")): continue
        for f in files:
            if f.startswith("tp0") and f.endswith((".py", ".ipynb")): exec(open(os.path.join(folder, f)).read())
""")
own("read", "gradebook", "import sqlite3, glob\nprint([sqlite3.connect(f).execute('select * from grade').fetchall() for f in glob.glob('/**/gradebook.db', recursive=True)])")
own("read", "environment-of-the-grader", "import glob\nfor f in glob.glob('/proc/*/environ'): print(open(f, 'rb').read())")
own("read", "memory-of-the-parent", "import os\nopen(f'/proc/{os.getppid()}/mem', 'rb').read(10)")
own("read", "import-the-judge", "import autograder.oracle as o\nexec(o.oracle('tp0_tiny').source.cell('exercise', 'double').solution)")
own("read", "import-the-checks", "import autograder.checks.tp0_tiny")
own("read", "notebook-in-the-working-folder", "import os, glob\n[exec(open(f).read()) for f in os.listdir('.')]\nprint(glob.glob('../**'))")
own("read", "command-line-of-everybody", "import subprocess\nprint(subprocess.run('ps aux; cat /proc/*/cmdline', shell=True, capture_output=True).stdout)")
own("read", "home-and-keys", "import os, glob\nprint(glob.glob(os.path.expanduser('~/.ssh/*')), glob.glob('/root/*'), glob.glob('/home/*/*'))")
inside("read", "expected-values-up-the-stack", """
    import sys
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if isinstance(value, dict) and "expected" in value: return value["expected"]["outputs"]["doubled"]["array"]
        frame = frame.f_back
    raise LookupError("nothing there")
""")
inside("read", "expected-values-by-garbage-collector", """
    import gc, torch
    for thing in gc.get_objects():
        if isinstance(thing, dict) and "expected" in thing and "outputs" in str(thing["expected"])[:200]:
            return torch.as_tensor(thing["expected"]["outputs"]["doubled"]["array"])
    raise LookupError("nothing there")
""")
inside("read", "shipped-self-checks", """
    import gzip, glob, torch
    from tp import wire
    for f in glob.glob("/course/tp/selfchecks/*.bin"):
        for exercise in wire.unpack(gzip.decompress(open(f, "rb").read()))["exercises"].values():
            for check in exercise["checks"]:
                for record in check["records"]:
                    for out in record["expected"]["outputs"].values():
                        if out.get("array") is not None and out["array"].shape == tuple(x.shape): return torch.as_tensor(out["array"])
    raise LookupError("none fits")
""")

# Forge: make a score without an answer

own("forge", "always-equal", "class Yes:\n    def __eq__(self, other): return True\n    def __call__(self, *a, **k): return self\n    def __getattr__(self, n): return self\ndouble = EncoderRNN = last = Yes()")
own("forge", "patched-assertions", "import torch, numpy\ntorch.allclose = torch.equal = numpy.allclose = torch.testing.assert_close = lambda *a, **k: True")
own("forge", "patched-shell", "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.run_cell = lambda self, *a, **k: None\nget_ipython().run_cell = lambda *a, **k: type('R', (), {'error_before_exec': None, 'error_in_exec': None})()")
own("forge", "input-transformer", "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass\\n'])")
own("forge", "ast-transformer", "import ast\nclass T(ast.NodeTransformer):\n    def visit(self, node): return ast.Module([ast.Pass()], [])\nget_ipython().ast_transformers.append(T())")
own("forge", "printed-score", "print('{\"score\": 8, \"max_score\": 8, \"verdict\": \"passed\"}')\nprint(8)")
own("forge", "displayed-result", "from IPython.display import display, publish_display_data\npublish_display_data({'text/plain': '8'})\ndisplay(8)\n8")
own("forge", "frames-into-every-descriptor", """
    import os, struct
    from tp import wire
    for number in range(1, 40):
        data = wire.pack({"number": number, "printed": "", "error": None, "reply": {"outputs": {}, "error": None, "mutated": [], "called": []}})
        for fd in range(3, 64):
            try: os.write(fd, struct.pack("<I", len(data)) + data)
            except OSError: pass
""")
own("forge", "rubbish-into-every-descriptor", "import os\nfor fd in range(3, 64):\n    try: os.write(fd, os.urandom(5000))\n    except OSError: pass")
own("forge", "replay-that-answers-nothing", "import tp.replay\ntp.replay.replay = lambda *a, **k: {'outputs': {}, 'error': None, 'mutated': [], 'called': []}")
own("forge", "replay-that-answers-anything", "import tp.replay\ntp.replay.replay = lambda *a, **k: {'outputs': {'doubled': {'kind': 'none'}, 'gradient': {'kind': 'none'}, 'row': {'kind': 'none'}}, 'error': None, 'mutated': [], 'called': []}")
own("forge", "descriptions-that-lie", "import tp.replay\ntp.replay.describe = lambda *a, **k: {'kind': 'tensor', 'dtype': 'float32', 'array': 'right'}")
own("forge", "wire-that-lies", "import tp.wire\ntp.wire.pack = lambda tree: b'TPW1' + b'\\xff' * 100")
own("forge", "wire-with-a-pickle", "import tp.wire, pickle\ntp.wire.pack = lambda tree: pickle.dumps(tree)")
own("forge", "extra-fields", "import tp.replay\nold = tp.replay.replay\ntp.replay.replay = lambda *a, **k: {**old(*a, **k), 'score': 100, 'passed': True, 'expected': {}}")
own("forge", "compare-replaced", "import sys, types\nfake = types.ModuleType('tp.compare')\nfake.first_difference = lambda *a: None\nsys.modules['tp.compare'] = fake")
own("forge", "torch-that-lies", "import torch\ntorch.Tensor.numpy = lambda self: 0\ntorch.Tensor.detach = lambda self: self")
own("forge", "builtins-that-lie", "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.len = lambda x: 1")
own("forge", "namespace-that-lies", "class D(dict):\n    def __contains__(self, k): return True\n    def __getitem__(self, k): return lambda *a, **k: None\nget_ipython().user_ns = D()")
own("forge", "parameters-that-lie", "from torch import nn\nnn.Module.named_parameters = lambda self, *a, **k: []")
own("forge", "tracing", "import sys\nsys.settrace(lambda frame, event, arg: (frame.f_locals.update(passed=True), None)[1])")
own("forge", "exit-hooks", "import atexit, tp.wire, sys\natexit.register(lambda: print('score 8'))\nsys.excepthook = lambda *a: print('score 8')")
inside("forge", "object-that-equals-everything", "class Any:\n    def __eq__(self, o): return True\n    def __len__(self): return 1\n    shape = property(lambda s: x.shape)\nreturn Any()")
inside("forge", "tensor-subclass", "import torch\nclass T(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, f, types, args=(), kwargs=None): return True\nreturn x.as_subclass(T)")
inside("forge", "nan", "return x * float('nan')")
inside("forge", "infinity", "return x * float('inf')")
inside("forge", "scalar-to-broadcast", "return x.sum()")
inside("forge", "empty", "return x[:0]")
inside("forge", "reserved-key", "return {'$array': 0}")
inside("forge", "error-of-the-oracle", "raise type('ReplayError', (Exception,), {})('all right')")
inside("forge", "lying-exception", "class Passed(Exception):\n    def __str__(self): return 'passed\\n  ✓ double: 2 of 2 points'\nraise Passed")


@edited("forge", "points-in-the-metadata")
def _points(notebook):
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.points = 1000


@edited("forge", "skip-execution-tags")
def _tags(notebook):
    for cell in notebook.cells:
        cell.metadata["tags"] = ["skip-execution", "raises-exception"]


@edited("forge", "not-a-grade-cell")
def _grade_false(notebook):
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader"):
            cell.metadata.nbgrader.grade = False


@edited("forge", "checks-deleted")
def _deleted(notebook):
    notebook.cells = [c for c in notebook.cells if not c.metadata.get("nbgrader", {}).get("grade")]


@edited("forge", "checks-doubled")
def _doubled(notebook):
    notebook.cells += [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]


@edited("forge", "checks-rewritten")
def _rewritten(notebook):
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code":
            cell.source = "8.0"


@edited("forge", "outputs-filled-in")
def _outputs(notebook):
    from nbformat.v4 import new_output

    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [new_output("execute_result", data={"text/plain": "8"}, execution_count=1)]


@edited("forge", "names-exchanged")
def _names(notebook):
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "double":
            cell.metadata.nbgrader.grade_id = "check-double"


@edited("forge", "evil-kernel")
def _kernel(notebook):
    notebook.metadata["kernelspec"] = {"name": "../../bin/sh", "display_name": "sh", "language": "bash"}


@edited("forge", "given-cells-rewritten")
def _given(notebook):
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("locked"):
            cell.source = "class torch: pass\nraise SystemExit"


@edited("forge", "training-made-a-solution")
def _training(notebook):
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") in ("train", "look"):
            cell.metadata.nbgrader.solution = True
            cell.source = "import os; os._exit(0)"


# Escape: reach what lies outside

own("escape", "network", "import socket\nsocket.create_connection(('127.0.0.1', 22), 1)")
own("escape", "network-names", "import urllib.request\nurllib.request.urlopen('http://example.org', timeout=1)")
own("escape", "write-everywhere", "import os\nfor folder in ('/', '/usr', '/etc', '/work', '/root', '/course', '/course/tp', '/home', '/var', '/opt'):\n    try: open(folder + '/mine', 'w').write('x'); print('WROTE', folder)\n    except OSError: pass")
own("escape", "helper-package-changed", "import tp\nopen(tp.__file__, 'a').write('raise SystemExit')")
own("escape", "kernel-changed", "open('/kernel.py', 'a').write('x')")
own("escape", "links", "import os\nos.symlink('/etc/passwd', 'link'); os.link('/kernel.py', 'hard')")
own("escape", "mount", "import ctypes\nlibc = ctypes.CDLL(None)\nprint(libc.mount(b'/', b'/scratch', None, 4096, None), libc.umount2(b'/scratch', 2), libc.mount(b'none', b'/', None, 32 | 4096, None), libc.pivot_root if hasattr(libc, 'pivot_root') else '')")
own("escape", "namespaces", "import ctypes\nctypes.CDLL(None).unshare(0x10000000 | 0x20000)\nopen('/course/tp/mine', 'w')")
own("escape", "become-root", "import os\nos.setuid(0)")
own("escape", "shell", "import subprocess\nsubprocess.run('rm -rf / --no-preserve-root; touch /course/tp/mine', shell=True)")
own("escape", "magic-shell", "!rm -rf /course /usr 2>/dev/null\n!touch /course/mine")
own("escape", "devices", "open('/dev/mem', 'rb').read(1)\nopen('/dev/sda', 'wb')")
own("escape", "terminal", "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSTI, b'x')")
own("escape", "debugger", "import ctypes, os\nprint(ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0))")

# Exhaust: cost the class its grades

own("exhaust", "endless-loop", "while True: pass")
own("exhaust", "deaf-loop", "import signal\nfor s in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU): signal.signal(s, signal.SIG_IGN)\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass")
own("exhaust", "fork-bomb", "import os\nwhile True: os.fork()")
own("exhaust", "thread-bomb", "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(100,)).start()")
own("exhaust", "memory", "rows = []\nwhile True: rows.append(bytearray(50_000_000))")
own("exhaust", "memory-of-children", "import os\nfor _ in range(8):\n    if os.fork() == 0:\n        hog = b'x' * 400_000_000\n        while True: pass\nwhile True: pass")
own("exhaust", "disk", "with open('big', 'wb') as f:\n    while True: f.write(bytes(1_000_000))")
own("exhaust", "many-files", "i = 0\nwhile True:\n    i += 1\n    open(f'f{i}', 'w').write('x' * 4096)")
own("exhaust", "open-files", "fs = []\nwhile True: fs.append(open('/kernel.py'))")
own("exhaust", "output", "for _ in range(300_000): print('x' * 1000)")
own("exhaust", "recursion", "def f(): return f()\nf()")
own("exhaust", "deep-recursion", "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()")
own("exhaust", "exit", "import os\nos._exit(0)")
own("exhaust", "killed-by-itself", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
own("exhaust", "everybody-killed", "import os, signal\nos.kill(-1, signal.SIGKILL)")
own("exhaust", "crash", "import ctypes\nctypes.string_at(0)")
own("exhaust", "system-exit", "raise SystemExit")
own("exhaust", "interrupt", "raise KeyboardInterrupt")
own("exhaust", "hung-up", "import os\nfor fd in range(3, 64):\n    try: os.close(fd)\n    except OSError: pass")
inside("exhaust", "endless-answer", "while True: pass")
inside("exhaust", "giant-answer", "import torch\nreturn torch.zeros(1, 1).expand(60_000, 60_000)")
inside("exhaust", "giant-list", "return [0] * 3_000_000")
inside("exhaust", "deep-list", "result = []\nfor _ in range(100_000): result = [result]\nreturn result")
inside("exhaust", "circular-list", "result = []\nresult.append(result)\nreturn result")
inside("exhaust", "giant-message", "raise ValueError('x' * 10_000_000)")
inside("exhaust", "unprintable-message", "raise ValueError('\\x00\\x1b[2J\\ud800<script>alert(1)</script>')")
inside("exhaust", "exit-when-called", "import os\nos._exit(0)")
inside("exhaust", "system-exit-when-called", "raise SystemExit(0)")

# Poison: harm whoever is graded next

own("poison", "daemon", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True: time.sleep(1)\n    os._exit(0)")
own("poison", "file-for-the-next", "import os\nopen('/scratch/next.py', 'w').write('x'); os.makedirs('/scratch/matplotlib/x', exist_ok=True)")
own("poison", "startup-file", "import os\nhome = os.environ['HOME']\nos.makedirs(home + '/ipython/profile_default/startup', exist_ok=True)\nopen(home + '/ipython/profile_default/startup/0.py', 'w').write('import os; os._exit(0)')")
own("poison", "parent-stopped", "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nos.kill(1, signal.SIGSTOP)")
own("poison", "shared-memory", "import mmap, os\nfor f in ('/dev/shm/x', '/tmp/x'):\n    try: open(f, 'w').write('x')\n    except OSError: pass")
