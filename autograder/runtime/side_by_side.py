"""Show expected and got side by side: the part of an output that has the first difference."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .colours import diverging, ink_on, parts
from .compare import wrong_values
from .recorded import OutputSpec, RecordedCheck, Reply
from .text import significant
from .values import ArrayValue, DictValue, ListValue, Value, key_of

ROWS, COLUMNS = 6, 6  # of an output are shown at most: a phone has room for most
LENGTH = 8  # of a number without its sign, in the fewest digits; a longer one is written with a power of ten
DIGITS = (3, 4, 6, 10)  # of a number are significant: more of them where two that differ would look alike


@dataclass(frozen=True)
class SideBySide:
    """A part of an output, rows and columns: what is expected, what it is, and where it differs ("0010", a row).

    Numbers are written out and parted by spaces, so that a record of them can be read.
    """

    name: str  # with the place of the part: output[:, 1, :]
    axes: tuple[str, str]  # of rows and columns, by letter; empty where they have no name
    first: tuple[int, int]  # row and column that are shown
    sizes: tuple[int, int]  # how many rows and columns there are
    expected: tuple[str, ...]
    got: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def part(self) -> str:
        """The part that is shown, where it is not all."""
        cut = zip(self.axes, ("rows", "columns"), self.first, (len(self.expected), len(self.wrong[0])), self.sizes,
                  strict=True)
        return ", ".join(f"{name or word} {first} to {first + shown - 1} of {size}"
                         for name, word, first, shown, size in cut if shown < size)


def side_by_side_of(name: str | None, record: RecordedCheck, got: Reply) -> SideBySide | None:
    """Return the part of the output ``name`` that differs; None where no numbers of arrays do."""
    if name is None or (spec := record.specs[name]).predicate:
        return None
    found = _arrays(name, record.expected.outputs[name], got.outputs[name], spec)
    return _part(*found, spec) if found else None


def _arrays(name: str, expected: Value, got: Value, spec: OutputSpec) -> tuple[str, ArrayValue, ArrayValue] | None:
    """Return the first two arrays of the same shape that differ, in whatever holds them."""
    if isinstance(expected, ArrayValue) and isinstance(got, ArrayValue):
        kinds = [(one.kind, one.dtype, one.array.shape) for one in (expected, got)]
        alike = kinds[0] == kinds[1] and expected.array.dtype.kind == got.array.dtype.kind != "c"
        differ = alike and expected.array.ndim and wrong_values(expected, got, spec).any()
        return (name, expected, got) if differ else None
    if isinstance(expected, DictValue) and isinstance(got, DictValue):
        theirs = {key_of(key): item for key, item in zip(got.keys, got.items, strict=True)}
        pairs = [(f"{name}[{key!r}]", item, theirs.get(key)) for key, item in
                 zip(map(key_of, expected.keys), expected.items, strict=True)]
    elif isinstance(expected, ListValue) and isinstance(got, ListValue):
        pairs = [(f"{name}[{i}]", *both) for i, both in enumerate(zip(expected.items, got.items, strict=False))]
    else:
        return None
    for inner, want, have in pairs:
        found = _arrays(inner, want, have, spec) if have is not None else None
        if found:
            return found
    return None


def _part(name: str, expected: ArrayValue, got: ArrayValue, spec: OutputSpec) -> SideBySide:
    """Return two axes at most, and of these a window around the first number that differs."""
    want, have, wrong = expected.array, got.array, wrong_values(expected, got, spec)
    letters = (spec.axes or "").split()
    letters = [letter if letter.isidentifier() else "" for letter in letters]
    letters = letters if len(letters) == want.ndim else [""] * want.ndim
    at = [int(n) for n in np.argwhere(wrong)[0]]
    kept = list(range(want.ndim))
    while len(kept) > 2:  # one sequence of the batch; of the heads and timesteps, those in front
        kept.remove(next((axis for axis in kept if letters[axis] == "B"), kept[0]))
    index = tuple(slice(None) if axis in kept else n for axis, n in enumerate(at))
    want, have, wrong = (array[index].reshape(-1, array[index].shape[-1]) for array in (want, have, wrong))
    inner = ([0, 0] + [at[axis] for axis in kept])[-2:]
    first = [max(0, min(n - 1, size - room)) for n, size, room in zip(inner, want.shape, (ROWS, COLUMNS), strict=True)]
    window = tuple(slice(n, n + room) for n, room in zip(first, (ROWS, COLUMNS), strict=True))
    place = ", ".join(":" if axis in kept else str(n) for axis, n in enumerate(at))
    names = (["", ""] + [letters[axis] for axis in kept])[-2:]
    return SideBySide(f"{name}[{place}]" if len(kept) < len(at) else name, (names[0], names[1]), (first[0], first[1]),
                      (want.shape[0], want.shape[1]), _rows(want[window]), _rows(have[window]),
                      tuple("".join("01"[bool(bad)] for bad in row) for row in wrong[window]))


def _rows(array: NDArray[Any]) -> tuple[str, ...]:
    return tuple(" ".join(_written(value.item()) for value in row) for row in array)


def _written(value: bool | int | float) -> str:
    return significant(value, DIGITS[-1]) if isinstance(value, float) else repr(value)


def as_html(one: SideBySide) -> str:
    """Return a heading and two tables as HTML: what is expected, and what it is, with what differs marked."""
    name, part = html.escape(one.name), f" ({html.escape(one.part)})" if one.part else ""
    shown = [float(_numeric(text)) for row in (*one.expected, *one.got) for text in row.split()]
    limit = max((abs(value) for value in shown if math.isfinite(value)), default=0.0) or 1.0
    rows = [[_apart(*cell) for cell in zip(expected.split(), got.split(), wrong, strict=True)]
            for expected, got, wrong in zip(one.expected, one.got, one.wrong, strict=True)]
    nothing = ["0" * len(row) for row in one.wrong]
    expected = _table("expected", one, [[want for want, _ in row] for row in rows], nothing, limit)
    got = _table("got", one, [[have for _, have in row] for row in rows], one.wrong, limit)
    return (f'<p class="soft"><code>{name}</code>{part}; what differs has a frame</p>'
            f'<div class="tp-beside" tabindex="0" role="group" aria-label="Expected and got: {name}">'
            f"{expected}{got}</div>")


def _table(title: str, one: SideBySide, rows: Sequence[Sequence[str]], wrong: Sequence[str], limit: float) -> str:
    """Return a cell for each number, and heads with the names of the axes."""
    has_heads = one.sizes[0] > 1
    corner = html.escape(" \\ ".join(axis for axis in one.axes if axis))
    heads = "".join(f'<th scope="col">{one.first[1] + column}</th>' for column in range(len(wrong[0])))
    lines = [f"<tr>{f'<td>{corner}</td>' * has_heads}{heads}</tr>"]
    for number, (row, bad) in enumerate(zip(rows, wrong, strict=True), one.first[0]):
        head = f'<th scope="row">{number}</th>' * has_heads
        cells = "".join(_cell(text, mark == "1", limit) for text, mark in zip(row, bad, strict=True))
        lines.append(f"<tr>{head}{cells}</tr>")
    return f"<table><caption>{title}</caption>{''.join(lines)}</table>"


def _cell(text: str, is_wrong: bool, limit: float) -> str:
    """Return a number on its colour."""
    value = float(_numeric(text))
    colour = diverging(value / limit) if math.isfinite(value) else "#FFFFFF"
    shown = f"<mark>{text}</mark>" if is_wrong else text
    return f'<td style="background:{colour};color:{ink_on(parts(colour))}">{shown}</td>'


def _numeric(text: str) -> str:
    return {"True": "1", "False": "0"}.get(text, text)


def _apart(want: str, have: str, mark: str) -> tuple[str, str]:
    """Return two numbers in short, and with more digits where one is wrong and they would look alike."""
    for digits in DIGITS:
        short = [_with_digits(text, digits) if _is_long(text) else text for text in (want, have)]
        if short[0] != short[1] or mark == "0":
            return short[0], short[1]
    return want, have


def _with_digits(text: str, digits: int) -> str:
    """Return a number with so many significant digits, and with a power of ten if it is too long then."""
    written = significant(float(text), digits)
    is_short = digits > DIGITS[0] or len(written.lstrip("-")) <= LENGTH
    if not math.isfinite(float(text)) or is_short and "e" not in written:
        return written
    digit, power = f"{float(text):.{digits - 1}e}".split("e")
    return f"{digit.rstrip('0').rstrip('.')}e{int(power)}"


def _is_long(text: str) -> bool:
    """Return whether a number is written with more digits than most readers want."""
    return text not in ("True", "False") and ("." in text or "e" in text or len(text) > 7)
