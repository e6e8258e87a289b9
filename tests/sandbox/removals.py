"""The restrictions, each with the way to take it away: for tests alone, which show that an attack succeeds without it.

A restriction of the sandbox is removed by an edit of bubblewrap's arguments, of the kernel's file or of the bounds; one
of the judge, by a naive rule in its place, as a grader written in an afternoon has it.
"""

import fcntl
import json
import os
import pickle
import struct
import subprocess
import termios
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from world import World

import autograder
from autograder.judging import judge
from autograder.model import selfcheck_recording
from autograder.runtime import compare, recorded, values, wire
from autograder.runtime.difference import Difference, Outline
from autograder.sandbox import host, kernel_fork_server, restrictions, syscalls, watchdog
from conftest import SHORT, TINY_COURSE

Removal = Callable[[pytest.MonkeyPatch, World], None]


@dataclass(frozen=True)
class Restriction:
    """What it does, and how it is taken away; ``warm`` where the kernels of an intact sandbox can be used."""

    says: str
    remove: Removal
    warm: bool = False


# Of the sandbox


def _arguments(*old: str, new: tuple[str, ...] = ()) -> Removal:
    """Bubblewrap without these arguments, which stand side by side, or with others in their place."""
    def remove(patch: pytest.MonkeyPatch, world: World) -> None:
        built = restrictions.bubblewrap_arguments

        def edited(*args: object) -> list[str]:
            whole = built(*args)
            at = next(i for i in range(len(whole)) if tuple(whole[i : i + len(old)]) == old)
            return [*whole[:at], *new, *whole[at + len(old):]]

        patch.setattr(restrictions, "bubblewrap_arguments", edited)
    return remove


def _writable(patch: pytest.MonkeyPatch, world: World, path: str) -> None:
    _arguments("--ro-bind", path, new=("--bind", path))(patch, world)


def _kernel(*swaps: tuple[str, str]) -> Removal:
    """The kernel with other lines in it."""
    def remove(patch: pytest.MonkeyPatch, world: World) -> None:
        text = world.kernel.read_text()
        for old, new in swaps:
            assert text.count(old) == 1, f"the kernel has changed: {old!r} stands there {text.count(old)} times"
            text = text.replace(old, new)
        world.kernel.write_text(text)
    return remove


def _package(file: str, *swaps: tuple[str, str]) -> Removal:
    """The runtime in the kernel with other lines in it."""
    def remove(patch: pytest.MonkeyPatch, world: World) -> None:
        text = (world.engine / file).read_text()
        for old, new in swaps:
            assert text.count(old) == 1, f"{file} has changed: {old!r} stands there {text.count(old)} times"
            text = text.replace(old, new)
        (world.engine / file).write_text(text)
    return remove


def _limits(**wide: float) -> Removal:
    def remove(patch: pytest.MonkeyPatch, world: World) -> None:
        world.limits = replace(world.limits, **wide)
    return remove


def _all(*removals: Removal) -> Removal:
    def remove(patch: pytest.MonkeyPatch, world: World) -> None:
        for one in removals:
            one(patch, world)
    return remove


def _files(patch: pytest.MonkeyPatch, world: World) -> None:
    folder = Path(autograder.__file__).parent
    runtime = "/runtime/autograder"
    _arguments("--ro-bind", str(world.engine / "runtime"), f"{runtime}/runtime",
               new=("--ro-bind", str(folder), runtime))(patch, world)
    world.helpers = [*world.helpers, folder, TINY_COURSE.solutions, world.beside]
    # the grader's code takes long to import
    world.limits = replace(world.limits, cell_cpu_seconds=20, exercise_cpu_seconds=20)


def _system(patch: pytest.MonkeyPatch, world: World) -> None:
    kept = tuple(path for path in restrictions.SYSTEM if not path.startswith("/usr/"))
    patch.setattr(restrictions, "SYSTEM", ("/usr", *kept))


def _environment(patch: pytest.MonkeyPatch, world: World) -> None:
    made = restrictions.environment
    patch.setattr(restrictions, "environment", lambda *args: {**os.environ, **made(*args)})


def _filter(patch: pytest.MonkeyPatch, world: World) -> None:
    patch.setattr(syscalls, "bpf_filter", lambda options: b"")


def _names(patch: pytest.MonkeyPatch, world: World) -> None:
    """What the system says of a process is read as lines of text, the first of a name being its own."""
    def status(process: psutil.Process) -> dict[bytes, list[bytes]]:
        lines = reversed(Path(f"/proc/{process.pid}/status").read_text().splitlines())
        return {name.encode(): rest.encode().split() for name, _, rest in (line.partition(":") for line in lines)}

    patch.setattr(watchdog, "status", status)
    world.limits = replace(world.limits, cell_cpu_seconds=20, exercise_cpu_seconds=20)  # memory takes time to fill


def _terminal(patch: pytest.MonkeyPatch, world: World) -> None:
    """Kernels started from a terminal, as the grader is, and in its session."""
    class OnTerminal(subprocess.Popen):
        def __init__(self, *args: object, **options: object):
            if options.get("start_new_session"):
                options["preexec_fn"] = lambda: fcntl.ioctl(world.slave, termios.TIOCSCTTY, 0)
                options["pass_fds"] = [*options["pass_fds"], world.slave]
            super().__init__(*args, **options)

    patch.setattr(kernel_fork_server.subprocess, "Popen", OnTerminal)
    _arguments("--new-session")(patch, world)
    _filter(patch, world)


# Of the judge


def _plain(patch: pytest.MonkeyPatch, world: World) -> None:
    """Checks without their relations: what a naive grader asks for."""
    records_of = judge.records_of
    patch.setattr(judge, "records_of", lambda *args: [[own[0].without_relations] for own in records_of(*args)])


def _calls_only(patch: pytest.MonkeyPatch, world: World) -> None:
    """Expected values travel with the calls."""
    _plain(patch, world)
    expected: dict[bytes, object] = {}
    pack, kept = host.wire.pack, judge.records_of

    def records_of(*args: object) -> object:
        made = kept(*args)
        expected.update({pack([op.to_tree() for op in own[0].ops]): recorded.reply_to_tree(own[0].expected)
                         for own in made})
        return made

    def packed(tree: object) -> bytes:
        return pack({**tree, "expected": expected[pack(tree["ops"])]} if tree.get("do") == "replay" else tree)

    patch.setattr(judge, "records_of", records_of)
    patch.setattr(host, "wire", _Module(host.wire, pack=packed))


class _Module:
    """A module with some of its names replaced."""

    def __init__(self, module: object, **names: object):
        self.__dict__.update({**vars(module), **names})


def _draws(patch: pytest.MonkeyPatch, world: World) -> None:
    _plain(patch, world)
    patch.setattr(judge, "check_seed", lambda *args: selfcheck_recording.PUBLIC_SEEDS[0])


def _words(patch: pytest.MonkeyPatch, world: World) -> None:
    for module in (recorded, values):
        patch.setattr(module, "printable", lambda text, limit=0: text if isinstance(text, str) else "")


def _wire(patch: pytest.MonkeyPatch, world: World) -> None:
    """Whatever arrives is believed to be a message; what looks like a pickle is loaded."""
    def unpack(data: bytes, max_header: int = 0) -> object:
        if data[:4] != wire.MAGIC:
            return pickle.loads(data)
        (length,) = struct.unpack("<I", data[4:8])
        header, offset, arrays = json.loads(data[8 : 8 + length]), 8 + length, []
        for dtype, shape in header["arrays"]:
            arrays.append(np.frombuffer(data, dtype, int(np.prod(shape)), offset).reshape(shape))
            offset += arrays[-1].nbytes
        return _dressed(header["body"], arrays)

    patch.setattr(host, "wire", _Module(host.wire, unpack=unpack))


def _dressed(node: object, arrays: list[object]) -> object:
    if isinstance(node, dict):
        return arrays[node["$array"]] if "$array" in node else {k: _dressed(v, arrays) for k, v in node.items()}
    return [_dressed(value, arrays) for value in node] if isinstance(node, list) else node


def _schema(patch: pytest.MonkeyPatch, world: World) -> None:
    """Replies are taken as they come."""
    def value(tree: dict) -> object:
        if tree["kind"] in ("tensor", "array"):
            return values.ArrayValue(tree["kind"], tree["dtype"], tree["array"])
        if tree["kind"] == "list":
            return values.ListValue(tuple(map(value, tree["items"])), tree["length"])
        if tree["kind"] == "dict":
            return values.DictValue(tuple(map(value, tree["keys"])), tuple(map(value, tree["items"])), tree["length"])
        return values.ScalarValue(tree.get("value"))

    def error(tree: dict) -> object:
        return recorded.CapturedError(tree["kind"], tree["type"], tree["message"],
                                      tree["where"] and recorded.ErrorLocation(**tree["where"]), tree.get("at", 0))

    def from_tree(tree: dict) -> object:
        return recorded.Reply({name: value(one) for name, one in tree["outputs"].items()},
                              tree["error"] and error(tree["error"]), tuple(tree["mutating_ops"]))

    patch.setattr(recorded, "reply_from_tree", from_tree)
    patch.setattr(recorded, "error_from_tree", error)


def _claims(patch: pytest.MonkeyPatch, world: World) -> None:
    """An answer that says of itself that it is right is right."""
    from_tree, difference = recorded.reply_from_tree, compare.first_difference
    right: list[object] = []

    def believing(tree: dict) -> object:
        reply = from_tree(tree)
        if tree.get("passed"):
            right.append(reply)
        return reply

    patch.setattr(recorded, "reply_from_tree", believing)
    patch.setattr(compare, "first_difference",
                  lambda record, got: None if any(got is one for one in right) else difference(record, got))


def _missing(patch: pytest.MonkeyPatch, world: World) -> None:
    """Only what comes back is compared."""
    _plain(patch, world)
    difference = compare.output_difference

    def check_difference(record: object, got: object) -> object:
        if got.error:
            return compare.error_difference(got.error)
        found = (difference(name, record.expected.outputs[name], got.outputs[name], spec)
                 for name, spec in record.specs.items() if name in got.outputs)
        return next((one for one in found if one), None)

    patch.setattr(compare, "check_difference", check_difference)


def _naive(close: Callable[..., object]) -> Removal:
    """Arrays are compared by another rule, and nothing else is."""
    def remove(patch: pytest.MonkeyPatch, world: World) -> None:
        _plain(patch, world)
        wrong = Difference("value", output="it", expected=Outline("float", 1.0), got=Outline("float", 0.0))
        patch.setattr(compare, "_array_difference",
                      lambda name, expected, got, spec: None if close(expected, got) else wrong)
    return remove


def _kinds(patch: pytest.MonkeyPatch, world: World) -> None:
    """Whatever is no array passes, and None too."""
    _naive(_no_array)(patch, world)
    patch.setattr(compare, "_none_difference", lambda *args: None)


def _no_array(expected: object, got: object) -> object:
    return not isinstance(got, values.ArrayValue) or np.array_equal(expected.array, got.array)


def _finite(expected: object, got: object) -> object:
    if not isinstance(got, values.ArrayValue) or got.array.shape != expected.array.shape:
        return False
    with np.errstate(all="ignore"):
        return not (np.abs(got.array - expected.array) > 1e-4 * np.abs(got.array)).any()


def _shape(expected: object, got: object) -> object:
    pairs = zip(expected.array.ravel(), got.array.ravel()) if isinstance(got, values.ArrayValue) else [(0, 1)]  # noqa: B905
    return all(abs(a - b) < 1e-4 for a, b in pairs)


def _stand_in(patch: pytest.MonkeyPatch, world: World) -> None:
    """Nothing to take away: another grader stands in the judge's place."""


FEWER = ("CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC", "CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC")
ONE_ONLY = ("            _kill(guards)\n", "            _signal({int(order.split()[1])}, signal.SIGKILL)\n")
RESTRICTIONS = {
    "together": Restriction("no test and no score is in the student's process", _stand_in, warm=True),
    "beneath": Restriction("the grader is no process that the student's could see", _stand_in, warm=True),
    "files": Restriction("of the machine's files only the system and the helpers are there", _files),
    "system": Restriction("of the system only what Python needs is there", _system),
    "environment": Restriction("no variable of the grader's is there", _environment),
    "calls only": Restriction("what is expected does not travel", _calls_only, warm=True),
    "draws": Restriction("nobody knows the draws before, and relations", _draws),
    "user": Restriction("nobody is root", _kernel(('("uid_map", f"{uid} {uid} 1")', '("uid_map", f"0 {uid} 1")'))),
    "filter": Restriction("system calls that notebooks do not need are refused", _filter),
    "rights": Restriction("no capability, and the filter", _all(_filter, _kernel(
        ("    _libc.capset(header, nothing)\n", "")))),
    "devices": Restriction("no device and no memory of the machine's", _all(
        _arguments("--size", str(SHORT.disk), "--tmpfs", "/dev/shm", new=("--bind", "/dev/shm", "/dev/shm")),
        _kernel(('for path in (SCRATCH, "/dev/shm")', "for path in (SCRATCH,)")))),
    "helpers": Restriction("the helpers can only be read", lambda patch, world: _writable(patch, world, str(world.tp))),
    "kernel file": Restriction("the kernel's file can only be read",
                               lambda patch, world: _writable(patch, world, str(world.kernel))),
    "read-only": Restriction("the system can only be read", _arguments("--remount-ro", "/")),
    "network": Restriction("no network", _all(_arguments("--unshare-all", new=("--unshare-all", "--share-net")),
                                              _kernel((" | CLONE_NEWIPC | CLONE_NEWNET", " | CLONE_NEWIPC")))),
    "terminal": Restriction("no terminal", _terminal),
    "time": Restriction("so many seconds", _limits(
        cell_cpu_seconds=600, exercise_cpu_seconds=600, notebook_wall_seconds=600, wall_share=1)),
    "memory": Restriction("so much memory", _limits(memory=6 * 2**30, cell_cpu_seconds=30)),
    "processes": Restriction("so many processes, and so much memory of all together",
                             _limits(processes=1000, memory=2**40)),
    "disk": Restriction("so much on disk", _limits(disk=64 * 2**20)),
    "file names": Restriction("so many files", _kernel(("MAX_FILES = 16_384", "MAX_FILES = 65_536"))),
    "process names": Restriction("a process tells nothing by its name", _names),
    "open files": Restriction("so many open files", _limits(files=1024)),
    "descriptions": Restriction("what is returned is told in so many words and numbers", _package(
        "runtime/values.py", ("MAX_ELEMENTS = 2_000_000", "MAX_ELEMENTS = 10**12"),
        ("MAX_ITEMS = 5_000", "MAX_ITEMS = 10**12"), ("MAX_DEPTH = 5", "MAX_DEPTH = 10**6"))),
    "output": Restriction("what is printed is cut", _kernel(("MAX_OUTPUT = 10_000", "MAX_OUTPUT = 10**12"))),
    "words": Restriction("words that come out are short, and printable", _words, warm=True),
    "reaper": Restriction("whatever a kernel started ends with it", _all(  # what is left counts against the next
        _kernel(FEWER, ONE_ONLY), _limits(processes=1000, memory=2**40))),
    "scratch": Restriction("each submission has a scratch of its own", _kernel(
        ('for path in (SCRATCH, "/dev/shm")', "for path in ()"),
        ('filter(os.path.ismount, glob.glob("/dev/*"))', "()"))),
    "wire": Restriction("what is no message is refused", _wire, warm=True),
    "schema": Restriction("what is no reply is refused", _schema, warm=True),
    "claims": Restriction("what an answer says of itself is not read", _claims, warm=True),
    "missing": Restriction("what does not come back is wrong", _missing, warm=True),
    "kind": Restriction("what is no array is no answer where one is asked for", _kinds, warm=True),
    "finite": Restriction("what is no finite number is wrong", _naive(_finite), warm=True),
    "shape": Restriction("another shape is wrong", _naive(_shape), warm=True),
}
