"""The sandbox: what a kernel can see, what it may use, and that nothing outlives it."""

import json

import psutil
import pytest
from conftest import SHORT

from autograder import sandbox
from autograder.sandbox import KernelLost, Limits, Sandbox
from autograder.source import ROOT


@pytest.fixture(scope="module")
def warm():
    with Sandbox(SHORT) as parent:
        yield parent


@pytest.fixture
def kernel(warm):
    kernel = warm.kernel()
    yield kernel
    kernel.kill()


def ask(kernel, expression):
    """The value of an expression in the kernel."""
    printed = kernel.cell(f"import json, os, glob\nprint(json.dumps({expression}))", 5)
    assert printed["error"] is None, printed
    return json.loads(printed["printed"])


def test_a_kernel_sees_the_helpers_and_nothing_of_the_grader(kernel):
    files = ask(kernel, f"[os.path.join(d, f) for d, _, fs in os.walk({str(ROOT)!r}) for f in fs if 'site-packages' not in d][:50]")
    assert files == [] or all(".venv" in name for name in files)
    assert ask(kernel, "sorted(os.listdir('/course'))") == ["tp"]
    assert ask(kernel, "glob.glob('/home/*') + glob.glob('/etc/passwd') + glob.glob('/etc/shadow') + glob.glob('/**/gradebook*', recursive=False)") == []


def test_a_kernel_has_a_bare_environment(kernel, monkeypatch):
    names = set(ask(kernel, "sorted(os.environ)"))
    assert names <= {"PATH", "LANG", "HOME", "IPYTHONDIR", "TMPDIR", "MPLCONFIGDIR", "MPLBACKEND", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "TP_GRADING",
                     "PYTHONPATH", "PYTHONHASHSEED", "CUBLAS_WORKSPACE_CONFIG", "CUDA_VISIBLE_DEVICES", "PWD", "LC_CTYPE", "KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK",
                     "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "PYDEVD_USE_FRAME_EVAL", "COLUMNS", "LINES"}, names


def test_a_kernel_has_no_network_and_no_rights(kernel):
    assert ask(kernel, "[line.split(':')[0].strip() for line in open('/proc/net/dev')][2:] if os.path.exists('/proc/net/dev') else ['lo']") == ["lo"]
    for code in ("import socket; socket.create_connection(('127.0.0.1', 80), 1)", "import os; os.setuid(0)", "open('/course/tp/x', 'w')", "import os; os.mkdir('/x')"):
        assert kernel.cell(code, 5)["error"] is not None, code


def test_devices_can_be_used_and_not_changed(warm):
    first = warm.kernel()
    first.cell("import os\nfor name in ('/dev/mine', '/dev/shm/mine'):\n    try: open(name, 'w').write('x')\n    except OSError: pass", 5)
    left = ask(first, "[name for name in glob.glob('/dev/**', recursive=True) if not name.startswith('/dev/fd') and not os.path.islink(name)]")
    for name in left:
        changed = first.cell(f"import os; os.utime({name!r})", 5)["error"] is None
        assert changed == name.startswith("/dev/shm"), name
    assert first.cell("import os; os.openpty(); open('/dev/null', 'w').write('x')", 5)["error"] is None
    first.kill()
    second = warm.kernel()
    assert ask(second, "[os.path.exists('/dev/mine'), os.listdir('/dev/shm')]") == [False, []]
    second.kill()


def test_kernels_share_nothing(warm):
    first = warm.kernel()
    first.cell("import torch, os; torch.mine = 1; open('/scratch/mine', 'w').write('x'); x = 1", 5)
    second = warm.kernel()
    assert ask(second, "[os.path.exists('/scratch/mine'), 'x' in globals(), hasattr(__import__('torch'), 'mine')]") == [False, False, False]
    assert not ask(second, "[p for p in os.listdir('/proc') if p.isdigit() and int(p) > 2]")
    first.kill()
    second.kill()


def test_nothing_outlives_a_kernel(warm):
    kernel = warm.kernel()
    kernel.cell("import os, time\nif os.fork() == 0:\n    os.setsid()\n    while True: time.sleep(1)", 5)
    assert len(warm._parent.children(recursive=True)) >= 2
    kernel.kill()
    psutil.wait_procs(warm._parent.children(recursive=True), timeout=5)
    assert warm._parent.children(recursive=True) == []


def test_without_nested_namespaces_each_kernel_has_a_parent_of_its_own(monkeypatch):
    walls = Sandbox._walls
    monkeypatch.setattr(Sandbox, "_walls", lambda self, environment: [*walls(self, environment), "--disable-userns"])
    with Sandbox(SHORT) as parent:
        kernel = parent.kernel()
        assert not parent._reusable
        kernel.cell("open('/scratch/mine', 'w').write('x')", 5)
        kernel.kill()
        kernel = parent.kernel()
        assert ask(kernel, "os.path.exists('/scratch/mine')") is False
        kernel.kill()


@pytest.mark.parametrize("code, verdict, words", [
    ("while True: pass", "timeout", "loop that does not end"),
    ("import os; os._exit(0)", "crashed", "died"),
    ("import os\nfor _ in range(100): os.fork() or __import__('time').sleep(60)", "crashed", "processes|memory"),
])
def test_bounds_are_said_in_words(warm, code, verdict, words):
    kernel = warm.kernel()
    with pytest.raises(KernelLost, match=words) as lost:
        kernel.cell(code, 1)
    assert lost.value.verdict == verdict


def test_the_addresses_of_the_libraries_are_not_the_students(kernel):
    """Which torch is installed, with CUDA in it or without, changes nothing in what a student may use."""
    def maps(size):
        return kernel.cell(f"import mmap\nmmap.mmap(-1, {size}).close()", 5)["error"] is None

    assert maps(SHORT.memory * 9 // 10)
    assert not maps(SHORT.memory * 21 // 20)


def test_printed_text_is_bounded(kernel):
    assert len(kernel.cell("print('x' * 10**7)", 5)["printed"]) <= 10_000


def description(**fields):
    return {"outputs": {"a": fields}, "error": None, "mutated": [], "called": []}


@pytest.mark.parametrize("reply", [
    None, [], {}, {"outputs": []}, {"outputs": {}, "mutated": 1, "called": []}, description(), description(kind="gold"),
    description(kind="tensor"), description(kind="tensor", dtype="float32", array="right"), description(kind="int", value=True), description(kind="float", value="1"),
    description(kind="list", items=[], length=3), description(kind="list", items=[{}], length=1), description(kind="dict", items=[], keys=[{"kind": "none"}], length=1),
])
def test_replies_that_are_none_are_refused(reply):
    assert sandbox._reply(reply) is None


def test_a_list_that_claims_elements_it_does_not_send_is_refused():
    from tp import compare
    from tp.replay import describe

    assert compare.output_difference("rows", describe([1, 2, 3]), describe([1, 2, 3]), {}) is None
    assert sandbox._reply(description(kind="list", items=[], length=3)) is None


def test_a_missing_or_forbidden_bubblewrap_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    with pytest.raises(sandbox.SandboxError, match="apt-get install bubblewrap"):
        sandbox.require_bubblewrap()
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: "/bin/false")
    with pytest.raises(sandbox.SandboxError, match="cannot make a sandbox"):
        sandbox.require_bubblewrap()


def test_limits_are_plain_and_can_travel():
    import pickle

    assert pickle.loads(pickle.dumps(Limits(exercise_seconds=3))) == Limits(exercise_seconds=3)
