"""The sandbox: what a kernel can see, what it may use, and that nothing outlives it."""

import contextlib
import fcntl
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import bare
import psutil
import pytest

from autograder.sandbox import cgroup, kernel_fork_server, restrictions
from autograder.sandbox.host import KernelClient, KernelLost, Sandbox
from autograder.sandbox.options import Limits, Options
from autograder.sandbox.restrictions import SandboxError
from autograder.sandbox.watchdog import Budget
from conftest import REPOSITORY, SHORT, TINY_COURSE

# The variables of a kernel: ours, and those that its libraries set.
OURS = {"PATH", "LANG", "HOME", "IPYTHONDIR", "TMPDIR", "MPLCONFIGDIR", "MPLBACKEND", "OMP_NUM_THREADS",
        "MKL_NUM_THREADS", "TP_GRADING", "PYTHONPATH", "PYTHONHASHSEED", "CUBLAS_WORKSPACE_CONFIG",
        "CUDA_VISIBLE_DEVICES"}
LIBRARIES = {"PWD", "LC_CTYPE", "KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK", "TORCHINDUCTOR_CACHE_DIR",
             "TRITON_CACHE_DIR", "PYDEVD_USE_FRAME_EVAL", "COLUMNS", "LINES"}


def can_make_groups():
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            group = cgroup.create_around(process.pid)
        finally:
            process.kill()
    if group:
        group.close()
    return group is not None


IN_A_GROUP = pytest.mark.skipif(not can_make_groups(), reason="no group of processes may be made here")


def started():
    return Sandbox(REPOSITORY.helpers, Options(limits=SHORT))


@pytest.fixture(scope="module")
def sandbox():
    with started() as parent:
        parent.start()
        yield parent


@pytest.fixture
def kernel(sandbox):
    kernel = sandbox.fork()
    yield kernel
    kernel.kill()


@pytest.fixture
def bare_kernel(tmp_path, monkeypatch):
    """The file of a kernel without the course's libraries, which every sandbox started in the test gets."""
    path = tmp_path / "kernel.py"
    path.write_text(bare.text())
    monkeypatch.setattr(restrictions, "KERNEL", path)
    return path


def started_bare():
    return Sandbox([], Options(limits=SHORT))


def run(kernel, code):
    return kernel.run_cell(code, Budget(5, 200))


def ask(kernel, expression):
    """The value of an expression in the kernel."""
    ran = run(kernel, f"import json, os, glob\nprint(json.dumps({expression}))")
    assert ran.error is None, ran
    return json.loads(ran.printed)


def test_a_kernel_answers_where_a_thousand_files_are_open(bare_kernel):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2048:
        pytest.skip("no more files can be opened here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    with contextlib.ExitStack() as files:
        for _ in range(1100):
            files.enter_context(open(os.devnull))
        with started_bare() as parent:
            kernel = parent.fork()
            assert kernel.sock.fileno() > 1023 and ask(kernel, "1 + 1") == 2
            kernel.kill()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# What a kernel sees


def test_a_kernel_sees_the_helpers_and_nothing_of_the_grader(kernel):
    walk = f"for d, _, fs in os.walk({str(REPOSITORY.root)!r}) for f in fs if 'site-packages' not in d"
    files = ask(kernel, f"[os.path.join(d, f) {walk}][:50]")
    assert files == [] or all(".venv" in name for name in files)
    assert ask(kernel, "sorted(os.listdir('/course'))") == ["tp"]
    for place in ("/home/*", "/etc/passwd", "/etc/shadow", "/**/gradebook*"):
        assert ask(kernel, f"glob.glob({place!r})") == []


def test_a_kernel_has_a_bare_environment(kernel):
    names = set(ask(kernel, "sorted(os.environ)"))
    assert names <= OURS | LIBRARIES, names


def test_a_kernel_has_no_network_and_no_rights(kernel):
    devices = "[line.split(':')[0].strip() for line in open('/proc/net/dev')][2:]"
    assert ask(kernel, f"{devices} if os.path.exists('/proc/net/dev') else ['lo']") == ["lo"]
    for code in ("import socket; socket.create_connection(('127.0.0.1', 80), 1)", "import os; os.setuid(0)",
                 "open('/course/tp/x', 'w')", "import os; os.mkdir('/x')"):
        assert run(kernel, code).error is not None, code


DEVICES = "[f for f in glob.glob('/dev/**', recursive=True) if not f.startswith('/dev/fd') and not os.path.islink(f)]"


def test_devices_can_be_used_and_not_changed(sandbox):
    first = sandbox.fork()
    for name in ("/dev/mine", "/dev/shm/mine"):
        run(first, f"open({name!r}, 'w').write('x')")
    for name in ask(first, DEVICES):
        changed = run(first, f"import os; os.utime({name!r})").error is None
        assert changed == name.startswith("/dev/shm"), name
    assert run(first, "import os; os.openpty(); open('/dev/null', 'w').write('x')").error is None
    first.kill()
    second = sandbox.fork()
    assert ask(second, "[os.path.exists('/dev/mine'), os.listdir('/dev/shm')]") == [False, []]
    second.kill()


def test_a_fork_server_that_was_begun_is_begun_once(sandbox):
    sandbox.start()
    begun = sandbox.fork_server
    sandbox.fork().kill()
    sandbox.start()
    assert sandbox.fork_server is begun


def test_kernels_share_nothing(sandbox):
    first = sandbox.fork()
    run(first, "import torch, os; torch.mine = 1; open('/scratch/mine', 'w').write('x'); x = 1")
    second = sandbox.fork()
    for trace in ("os.path.exists('/scratch/mine')", "'x' in globals()", "hasattr(__import__('torch'), 'mine')"):
        assert ask(second, trace) is False
    assert not ask(second, "[p for p in os.listdir('/proc') if p.isdigit() and int(p) > 2]")
    first.kill()
    second.kill()


def test_nothing_outlives_a_kernel(sandbox):
    kernel = sandbox.fork()
    run(kernel, "import os, time\nif os.fork() == 0:\n    os.setsid()\n    while True: time.sleep(1)")
    assert sandbox.fork_server.usage().processes >= 2
    kernel.kill()
    psutil.wait_procs(sandbox.fork_server.process.children(recursive=True), timeout=60)
    assert sandbox.fork_server.process.children(recursive=True) == []


# An attack that leaves something for the next submission: what the next would see of it.
LEFT = {"file-for-the-next": "os.path.exists('/scratch/next.py')",
        "shared-memory": "os.path.exists('/dev/shm/x')",
        "startup-file": "glob.glob(os.environ['HOME'] + '/ipython/profile_default/startup/0.py') != []",
        "empty-files": "os.path.exists('f1')"}


def test_a_kernel_that_two_shared_would_be_poisoned(sandbox):
    """The restriction between submissions is the fork: in one and the same kernel, the next sees what was left."""
    shared = sandbox.fork()
    attacks = {path.stem: path.read_text() for path in (Path(__file__).parent / "attacks").glob("*/*.py")}
    for name in LEFT:
        run(shared, attacks[name])
    assert {name: ask(shared, seen) for name, seen in LEFT.items()} == dict.fromkeys(LEFT, True)
    shared.kill()
    fresh = sandbox.fork()
    assert {name: ask(fresh, seen) for name, seen in LEFT.items()} == dict.fromkeys(LEFT, False)
    fresh.kill()


FLEES = """
import ctypes, os, time
os.setsid()
ctypes.CDLL(None).prctl(1, 0)
os._exit = lambda status: time.sleep(1000)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True: pass
        os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("isolation", ["bubblewrap", "none"])
def test_what_leaves_its_kernel_dies_with_it(sandbox, bare_kernel, isolation):
    """Other sessions, a parent-death signal cleared, an exit overridden: all is beneath the fork server, and dies."""
    alone = isolation == "none"
    with Sandbox(TINY_COURSE.helpers, Options("cpu", isolation, SHORT)) if alone else nullcontext(sandbox) as one:
        kernel = one.fork()
        run(kernel, FLEES)
        beneath = one.fork_server.process.children(recursive=True)
        assert len(beneath) >= 4
        kernel.kill()
        assert psutil.wait_procs(beneath, timeout=60)[1] == []


def test_the_seconds_of_children_that_have_ended_count(sandbox):
    burns = "import os, time\nfor _ in range(60):\n    if os.fork() == 0:\n        end = time.process_time() + 0.1\n" \
            "        while time.process_time() < end: pass\n        os.kill(os.getpid(), 9)\n    os.wait()"
    with pytest.raises(KernelLost, match="computed for more than 2 seconds"):
        sandbox.fork().run_cell(burns, Budget(2, 200))


# Of children whose end their parent ignores, the system books nothing on anybody.
IGNORED = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(30):
    if os.fork() == 0:
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass
        os.kill(os.getpid(), 9)
    try:
        os.wait()
    except ChildProcessError:
        pass
"""


@IN_A_GROUP
def test_the_seconds_of_children_that_nobody_waits_for_count_in_a_group(sandbox, bare_kernel, monkeypatch):
    with pytest.raises(KernelLost, match=r"computed for more than 2\.2 seconds"):
        sandbox.fork().run_cell(IGNORED, Budget(2.2, 200))
    monkeypatch.setattr(cgroup, "create_around", lambda pid: None)
    with started_bare() as alone:
        assert alone.fork().run_cell(IGNORED, Budget(2.2, 200)).error is None, "the control: it costs little alone"


@IN_A_GROUP
def test_what_is_in_a_group_dies_with_it_and_none_is_left(bare_kernel):
    with started_bare() as parent:
        run(parent.fork(), FLEES)
        folder, beneath = parent.fork_server.group.folder, parent.fork_server.process.children(recursive=True)
        assert len(beneath) >= 4
        (folder / "cgroup.kill").write_text("1")
        assert psutil.wait_procs(beneath, timeout=60)[1] == []
    assert not folder.exists()


def test_where_no_group_may_be_made_kernels_work_without(monkeypatch, tmp_path):
    """As on a system without them, or where a folder is none of these, and counts no seconds."""
    for place in (None, tmp_path / "nowhere", tmp_path):
        monkeypatch.setattr(cgroup, "_current", lambda place=place: place)
        assert cgroup.create_around(os.getpid()) is None
    assert list(tmp_path.iterdir()) == []


@IN_A_GROUP
def test_of_a_process_that_has_ended_no_group_is_left():
    def groups():
        return set(cgroup._current().glob(f"{cgroup.PREFIX}{os.getpid()}-*"))

    before = groups()
    with subprocess.Popen(["true"]) as process:
        process.wait()
        assert cgroup.create_around(process.pid) is None
    assert groups() == before


def test_folders_of_graders_that_were_killed_are_swept(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, held, young = (Path(tempfile.mkdtemp(prefix="kernel-")) for _ in range(3))
    for folder in (left, held):
        os.utime(folder, (0, 0))
    (tmp_path / "kernel-link").symlink_to("/")
    lock = os.open(held, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        kernel_fork_server.sweep()
    assert left.exists(), "what belongs to somebody else is not gone through"
    kernel_fork_server.sweep()
    os.close(lock)
    assert [left.exists(), held.exists(), young.exists()] == [False, True, True]


GRADER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from autograder.classroom.grading import judge_one
from autograder.sandbox.options import Options
from autograder.publish import notebooks
from conftest import TINY, TINY_COURSE, handed

if __name__ == "__main__":
    notebook = notebooks.filled(TINY_COURSE, TINY, {"double": "import time; time.sleep(1000)"})
    workers = ThreadPoolExecutor(2)
    for isolation in ("bubblewrap", "none"):
        workers.submit(judge_one, TINY_COURSE, handed(notebook), Options("cpu", isolation), "run")
    sys.stdin.read()
"""


def test_nothing_outlives_a_grader_that_is_killed(tmp_path):
    script = tmp_path / "grader.py"
    script.write_text(GRADER)
    path = os.pathsep.join([*map(str, (REPOSITORY.root, REPOSITORY.released, REPOSITORY.root / "tests"))])
    grader = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(tmp_path)})
    process, beneath = psutil.Process(grader.pid), []
    while len([one for one in beneath if "--die-with-parent" in one[1] or "address_space" in str(one[1])]) < 10:
        assert grader.poll() is None
        time.sleep(0.5)
        beneath = [(one, _called(one)) for one in process.children(recursive=True)]
    process.kill()
    assert psutil.wait_procs([one for one, _ in beneath], timeout=60)[1] == []
    grader.communicate()


DOORS = {"of its own namespace": (1, "\0mine"), "on its own machine": (2, ("127.0.0.1", 47114))}
LISTENS = f"import socket\nfor family, place in {[*DOORS.values()]!r}:\n" \
          "    door = socket.socket(family); door.bind(place); door.listen(); globals()[family] = door"


def test_kernels_of_forked_servers_share_what_was_imported_and_nothing_else_at_the_same_time(kernel, bare_kernel):
    """What two sandboxes keep apart, two forked servers of one do, whose kernels work in the same moment."""
    with started_bare() as parent:
        parent.start()
        parent.load("wave")
        with parent.clone() as left, parent.clone() as right:
            one, other = left.fork(), right.fork()
            loaded = "'wave' in __import__('sys').modules"
            assert [ask(each, loaded) for each in (one, other, kernel)] == [True, True, False]
            run(one, "open('/scratch/mine', 'w').write('x'); open('/dev/shm/mine', 'w').write('x')")
            assert run(one, LISTENS).error is None
            for family, place in DOORS.values():
                assert run(other, f"import socket; socket.socket({family}).connect({place!r})").error is not None
            assert run(one, "socket.socket(1).connect('\\0mine')").error is None, "the control: it does listen"
            assert ask(other, "[os.path.exists('/scratch/mine'), os.listdir('/dev/shm')]") == [False, []]
            assert not ask(other, "[p for p in os.listdir('/proc') if p.isdigit() and int(p) > 2]")
            run(one, "import os, time\nhog = b'x' * 300_000_000\nfor _ in range(2): os.fork() or time.sleep(60)")
            assert right.fork_server.usage().processes == 2 < left.fork_server.usage().processes
            assert left.fork_server.usage().memory - right.fork_server.usage().memory > 250_000_000


def all_end(processes):
    """Whether all of them end within a minute, or are zombies then."""
    for _ in range(600):
        if not any(map(_lives, processes)):
            return True
        time.sleep(0.1)
    return False


def _lives(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("isolation", ["bubblewrap", "none"])
def test_a_forked_server_that_is_lost_costs_the_others_nothing_and_is_made_good(bare_kernel, isolation):
    with Sandbox(TINY_COURSE.helpers, Options("cpu", isolation, SHORT)) as parent:
        parent.start()
        with parent.clone() as left, parent.clone() as right:
            one, other = left.fork(), right.fork()
            beneath = [left.fork_server.process, *left.fork_server.process.children(recursive=True)]
            left.fork_server.process.kill()
            assert all_end(beneath)
            with pytest.raises(KernelLost):
                run(one, "pass")
            assert ask(other, "1 + 1") == 2
            assert ask(left.fork(), "1 + 1") == 2
            sandbox = [right.fork_server.process, left.fork_server.process]
            beneath = [*sandbox, *sandbox[0].children(), *sandbox[1].children()]
        parent.close()
        assert psutil.wait_procs(beneath, timeout=60)[1] == []


@pytest.mark.parametrize("ended", [False, True])
def test_a_fork_of_what_cannot_start_says_why(monkeypatch, ended):
    monkeypatch.setattr(restrictions, "bubblewrap_arguments", lambda *args: ["--no-such-option"])
    with started() as parent:
        parent.start()
        if ended:
            psutil.wait_procs([psutil.Process(parent.fork_server.root)])
        with parent.clone() as other, pytest.raises(SandboxError, match="the kernel does not start"):
            other.fork()


def _called(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


OPENED = """
import os
def opened(pid):
    try:
        return bool(os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))) or True
    except OSError:
        return False
"""
OPENS = "[pid for pid in map(int, filter(str.isdigit, os.listdir('/proc'))) if 1 < pid != os.getpid() and opened(pid)]"


@pytest.mark.parametrize("restriction", [True, False], ids=["restriction", "control"])
def test_without_nested_namespaces_no_kernel_opens_the_memory_of_its_parent(monkeypatch, bare_kernel, restriction):
    built, text = restrictions.bubblewrap_arguments, bare_kernel.read_text()
    monkeypatch.setattr(restrictions, "bubblewrap_arguments", lambda *args: [*built(*args), "--disable-userns"])
    bare_kernel.write_text(text if restriction else text.replace("PR_SET_DUMPABLE, 0", "0, 0"))
    with started_bare() as parent:
        kernel = parent.fork()
        run(kernel, OPENED)
        found = ask(kernel, OPENS)
        kernel.kill()
    assert (found == []) == restriction, "bubblewrap's own process, the first, is not looked at: it holds nothing"


def test_names_of_the_graders_keys_are_not_told(kernel):
    for name in ("keys", "key-users"):  # where there is a /proc at all
        assert ask(kernel, f"os.path.exists('/proc/{name}') and open('/proc/{name}').read()") in ("", False)


def test_without_nested_namespaces_each_kernel_has_a_parent_of_its_own(monkeypatch, bare_kernel):
    built = restrictions.bubblewrap_arguments
    monkeypatch.setattr(restrictions, "bubblewrap_arguments", lambda *args: [*built(*args), "--disable-userns"])
    with started_bare() as parent:
        kernel = parent.fork()
        assert not parent.fork_server.reusable
        run(kernel, "open('/scratch/mine', 'w').write('x')")
        kernel.kill()
        kernel = parent.fork()
        assert ask(kernel, "os.path.exists('/scratch/mine')") is False
        kernel.kill()


# What a kernel may use

LOOP, SLEEP = "while True: pass", "import time\nwhile True: time.sleep(1)"
FORKS = "import os\nfor _ in range(100): os.fork() or __import__('time').sleep(300)"
MEMORY = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        hog = b"x" * 900_000_000
        time.sleep(300)
time.sleep(300)
"""


@pytest.mark.parametrize("code, seconds, clock, verdict, words", [
    (LOOP, 0.5, 200, "timeout", r"computed for more than 0\.5 seconds; is there a loop that does not end\?"),
    (SLEEP, 0.5, 1.5, "timeout", r"took more than 1\.5 seconds, most of them waiting; is there a loop"),
    ("import os; os._exit(0)", 60, 200, "crashed", "died"),
    (FORKS, 60, 200, "crashed", "processes|memory"),
    (MEMORY, 60, 200, "crashed", "more than 2 GiB of memory"),
], ids=["loop", "sleep", "exit", "forks", "memory"])
def test_bounds_are_said_in_words(sandbox, code, seconds, clock, verdict, words):
    with pytest.raises(KernelLost, match=words) as lost:
        sandbox.fork().run_cell(code, Budget(seconds, clock))
    assert lost.value.outcome == verdict


def test_a_budget_is_spent_by_all_requests_together(sandbox, kernel):
    budget = Budget(2, 80)
    burn = "import time\nend = time.process_time() + 0.8\nwhile time.process_time() < end: pass"
    with pytest.raises(KernelLost, match="computed for more than 2 seconds"):
        for _ in range(6):  # 0.8 seconds each: less than the budget, and together more
            assert kernel.run_cell(burn, budget).error is None
    assert run(sandbox.fork(), burn).error is None


def test_the_addresses_of_the_libraries_are_not_the_students(kernel):
    """Which torch is installed, with CUDA in it or without, changes nothing in what a student may use."""
    def maps(size):
        return run(kernel, f"import mmap\nmmap.mmap(-1, {size}, flags=mmap.MAP_PRIVATE).close()").error is None

    assert maps(SHORT.memory * 9 // 10)
    assert not maps(SHORT.memory * 21 // 20)


def test_a_message_that_is_not_read_costs_the_time_of_its_cell(sandbox):
    """A message larger than what a socket holds, to a kernel that never reads again."""
    kernel, budget = sandbox.fork(), Budget(5, 2)
    assert run(kernel, "import time\nfrom multiprocessing.connection import Connection\n"
                       "Connection.recv_bytes = lambda *args: time.sleep(1000)").error is None
    with pytest.raises(KernelLost, match="took more than 2 seconds") as lost:
        kernel.run_cell("#" * 2**21, budget)
    assert lost.value.outcome == "timeout"
    assert budget.wall_used >= 2, "the time is booked"


@pytest.mark.parametrize("looks", [True, False], ids=["", "without"])
def test_memory_that_is_taken_while_nothing_is_asked_ends_the_kernel(monkeypatch, bare_kernel, looks):
    if not looks:
        monkeypatch.setattr(KernelClient, "_watch_between_requests", lambda kernel: None)
    limit = 5 * 2**28
    with Sandbox([], Options(limits=replace(SHORT, memory=limit))) as sandbox:
        kernel = sandbox.fork()
        ran = run(kernel, """
import os, time
for _ in range(3):
    if os.fork() == 0:
        time.sleep(4)
        held = b"x" * 2**29
        time.sleep(100)
""")
        assert ran.error is None
        for _ in range(300):
            time.sleep(0.2)
            over = kernel.fork_server.usage().memory > limit
            if kernel._ended.is_set() and not over if looks else over:  # what is killed is gone a little later
                break
        assert (kernel.fork_server.usage().memory > limit) is not looks
        with pytest.raises(KernelLost, match="it used more than 1.25 GiB of memory") if looks else nullcontext():
            run(kernel, "pass")


def test_printed_text_is_bounded(kernel):
    assert len(run(kernel, "print('x' * 10**7)").printed) <= 10_000


def test_a_cell_may_ask_what_it_prints_to_and_close_it(kernel):
    code = "import sys\nsys.stdout.close(), sys.stderr.close()\nprint(sys.stdout.encoding, sys.stdout.isatty())"
    assert run(kernel, code).printed == "utf-8 False\n"


# The machine


def test_a_missing_or_forbidden_bubblewrap_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(restrictions.shutil, "which", lambda name: None)
    with pytest.raises(restrictions.SandboxError, match="apt-get install bubblewrap"):
        restrictions.require_bubblewrap()
    monkeypatch.setattr(restrictions.shutil, "which", lambda name: "/bin/false")
    with pytest.raises(restrictions.SandboxError, match="cannot make a sandbox"):
        restrictions.require_bubblewrap()


def test_terms_are_plain_and_can_travel():
    options = Options(limits=Limits(exercise_cpu_seconds=3))
    assert pickle.loads(pickle.dumps(options)) == options != Options()
