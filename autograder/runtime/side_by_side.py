"""Draw expected and got side by side: the part of an output that has the first difference."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .colours import diverging, ink_on, parts
from .compare import output_difference, wrong_values
from .difference import RELATIONS
from .recorded import RecordedCheck, Reply, Spec
from .values import ArrayValue, DictValue, ListValue, Value, key_of, significant

ROWS, COLUMNS = 6, 7  # of an output are shown at most: a phone has room for them
WIDTH, HEIGHT, MARGIN = 44, 24, 34  # of a cell, and for the names of the axes, in pixels
LISTED = 12  # of the numbers that differ are listed as text at most


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
    def differing(self) -> list[tuple[str, str, str]]:
        """Place, expected and got of each number that differs."""
        found = []
        for row, (expected, got, wrong) in enumerate(zip(self.expected, self.got, self.wrong, strict=True)):
            for column, (want, have, bad) in enumerate(zip(expected.split(), got.split(), wrong, strict=True)):
                if bad == "1":
                    found.append((self.place(row, column), *_apart(want, have)))
        return found

    def place(self, row: int, column: int) -> str:
        """Return where a number stands, by the names of the axes."""
        at = zip(self.axes, ("row", "column"), self.sizes, (self.first[0] + row, self.first[1] + column), strict=True)
        return ", ".join(f"{name or word} {index}" for name, word, size, index in at if size > 1) or "the only one"

    @property
    def part(self) -> str:
        """The part that is shown, where it is not all."""
        cut = zip(self.axes, ("rows", "columns"), self.first, (len(self.expected), len(self.wrong[0])), self.sizes,
                   strict=True)
        return ", ".join(f"{name or word} {first} to {first + shown - 1} of {size}"
                         for name, word, first, shown, size in cut if shown < size)


def side_by_side(record: RecordedCheck, got: Reply) -> SideBySide | None:
    """Return the part of the first output that differs; None where the difference is of another kind."""
    for relation in () if got.error else (None, *RELATIONS):
        for name, spec in record.specs.items():
            if spec.relation == relation and name in got.outputs:
                expected, have = record.expected.outputs[name], got.outputs[name]
                if output_difference(name, expected, have, spec):
                    found = None if spec.holds else _arrays(name, expected, have, spec)
                    return _part(*found, spec) if found else None
    return None


def _arrays(name: str, expected: Value, got: Value, spec: Spec) -> tuple[str, ArrayValue, ArrayValue] | None:
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


def _part(name: str, expected: ArrayValue, got: ArrayValue, spec: Spec) -> SideBySide:
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
    return significant(value, 6) if isinstance(value, float) else repr(value)


def _is_long(text: str) -> bool:
    """Return whether a number is written with more digits than most readers want."""
    return text not in ("True", "False") and ("." in text or "e" in text or len(text) > 7)


def _apart(want: str, have: str) -> tuple[str, str]:
    """Return two numbers with four significant digits, where these tell them apart."""
    short = [significant(float(text), 4) if _is_long(text) else text for text in (want, have)]
    return (short[0], short[1]) if short[0] != short[1] else (want, have)


# Drawn


def alt_text(one: SideBySide) -> str:
    """Return what the picture shows, for who does not see it."""
    place, want, have = one.differing[0]
    more = len(one.differing) - 1
    return f"{one.name}, at {place}: expected {want}, got {have}." + (f" {more} more differ here." if more else "")


def as_svg(one: SideBySide) -> list[tuple[str, str]]:
    """Return two pictures as SVG, each with its title: what is expected, and what it is with what differs framed."""
    shown = [float(_numeric(text)) for row in (*one.expected, *one.got) for text in row.split()]
    limit = max((abs(value) for value in shown if math.isfinite(value)), default=0.0) or 1.0
    nothing = ["0" * len(row) for row in one.wrong]
    return [("expected", _table(one, one.expected, nothing, limit)), ("got", _table(one, one.got, one.wrong, limit))]


def _numeric(text: str) -> str:
    return {"True": "1", "False": "0"}.get(text, text)


def _table(one: SideBySide, rows: Sequence[str], wrong: Sequence[str], limit: float) -> str:
    """Return a cell for each number, and the names of the axes."""
    wide, high = MARGIN + WIDTH * len(wrong[0]) + 2, HEIGHT * (len(rows) + 1) + 2
    drawing = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
               'font-family="system-ui, sans-serif" font-size="11" text-anchor="middle">']
    corner = " \\ ".join(axis for axis in one.axes if axis)
    drawing.append(_text(MARGIN / 2, 16, corner))
    drawing += [_text(MARGIN + WIDTH * (i + 0.5), 16, str(one.first[1] + i)) for i in range(len(wrong[0]))]
    frames = []
    for row, (text, bad) in enumerate(zip(rows, wrong, strict=True)):
        top = HEIGHT * (row + 1)
        if one.sizes[0] > 1:
            drawing.append(_text(MARGIN / 2, top + 16, str(one.first[0] + row)))
        for column, shown in enumerate(text.split()):
            left, value = MARGIN + WIDTH * column, float(_numeric(shown))
            colour = diverging(value / limit) if math.isfinite(value) else "#FFFFFF"
            drawing.append(f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="{colour}" '
                           'stroke="#8A8D98" stroke-width="0.6"/>')
            drawing.append(_text(left + WIDTH / 2, top + 16, _short(shown), ink_on(parts(colour))))
            if bad[column] == "1":  # drawn last, so that no neighbour covers it: black within white, seen on any colour
                frames += [f'<rect x="{left + 1}" y="{top + 1}" width="{WIDTH - 2}" height="{HEIGHT - 2}" fill="none" '
                           f'stroke="{ink}" stroke-width="{width}"/>' for ink, width in (("white", 4), ("black", 2))]
    return "".join([*drawing, *frames, "</svg>"])


def _short(text: str) -> str:
    """Return a number with at most three significant digits, as room allows."""
    if not _is_long(text):
        return text
    written = [significant(float(text), digits) for digits in (3, 2, 1)]
    return next((one for one in written if len(one) <= 6), f"{float(text):.0e}")


def _text(x: float, y: float, text: str, colour: str = "currentColor") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}">{html.escape(text)}</text>' if text else ""
