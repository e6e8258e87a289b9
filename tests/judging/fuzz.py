"""Fuzz the judge, guided by coverage: ``python tests/judging/fuzz.py answers|notebooks FOLDER [-max_total_time=600]``.

FOLDER keeps what was found to reach new code. Anything but a grade and a reason stops it, with the input that did it.
It needs atheris, which libFuzzer's other options go to.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import atheris

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS.parent), str(TESTS.parent / "course"), str(TESTS), str(TESTS / "judging")]
with atheris.instrument_imports(include=["autograder.runtime", "autograder.judging", "autograder.sandbox"]):
    import anything

    from autograder.model.oracle import load_oracle
    from autograder.runtime import recorded, wire
    from conftest import TINY, TINY_COURSE


def answer(data: bytes) -> None:
    """The header of a message, and behind a zero the bytes of its arrays."""
    header, _, arrays = data.partition(b"\0")
    message = wire.MAGIC + len(header).to_bytes(4, "little") + header + arrays
    anything.is_grade_and_reason(anything.verdict_on(says=message))


def notebook(data: bytes) -> None:
    """The file that is handed in."""
    anything.is_grade_and_reason(anything.verdict_on(notebook=data))


def seeds() -> dict[str, list[bytes]]:
    """What is well formed: the solution's answers, errors, an answered notebook."""
    oracle, messages = load_oracle(TINY_COURSE, TINY), [anything.SILENT]
    for name in oracle.source.exercises:
        for own in anything.RECORDS(oracle, name, "seed"):
            for reply in (own[0].expected, *oracle.replay(oracle.faults_of(name)[0], own[:1])):
                tree = {"number": 1, "printed": "words", "error": None, "reply": recorded.reply_to_tree(reply)}
                messages.append(wire.pack(tree))
    error = {"kind": "raised", "type": "ValueError", "message": "no", "at": 1,
             "where": {"line": 3, "function": "double", "text": "return x"}}
    messages.append(wire.pack({"number": 1, "printed": "", "error": error, "reply": {
        "outputs": {}, "error": error, "mutating_ops": [1], "forbidden_calls": ["softmax"],
        "changed_state": ["the default dtype"]}}))
    return {"answers": [_apart(message) for message in messages], "notebooks": [anything.ANSWERED]}


def _apart(message: bytes) -> bytes:
    length = int.from_bytes(message[4:8], "little")
    return message[8 : 8 + length] + b"\0" + message[8 + length :]


def main() -> None:
    """Begin, from the seeds and from what an earlier run has kept."""
    what, folder, *options = sys.argv[1:]
    targets: dict[str, Callable[[bytes], None]] = {"answers": answer, "notebooks": notebook}
    Path(folder).mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds()[what]):
        (Path(folder) / f"seed-{number}").write_bytes(seed)
    atheris.Setup([sys.argv[0], folder, *options], targets[what])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
