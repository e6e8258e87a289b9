"""Find pairs of submissions that share code which few others wrote, for a person to judge.

Code is compared exercise by exercise with the fingerprints of copydetect: names, strings, comments and white space do
not count. What everybody is given or may well write (the released cell, given cells, the solution and its variants)
counts nothing; other code counts the more, the fewer students have it. So does a fault that both made.
"""

import io
import logging
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import median

import numpy as np
from copydetect import CodeFingerprint
from numpy.lib.stride_tricks import sliding_window_view

from .. import escaping
from ..course import Course
from ..judging.submission import readable_cells
from ..model import faults, loading
from ..model.errors import one_line
from ..model.source import load_source
from ..publish import notebooks
from ..runtime.workspace import write_whole
from . import pages
from .finding_views import Line
from .nbgrader.term import Term
from .submitted import SubmittedFile, submitted_files
from .verdict_store import VerdictStore

log = logging.getLogger("autograder")
LENGTH = 20  # normalised characters that have to be equal in a row
WINDOW = 1  # keeps every fingerprint; a wider window would select by Python's randomised hash
FAULT_WEIGHT = 40.0  # what a fault counts that only two students made, in characters of code that only they have
MIN_WEIGHT = 60.0  # nothing is shown below: about two lines that only two have
MIN_DEVIATIONS = 7.5  # median deviations above the median from which a pair is shown; see `python -m bench similar`
MIN_RARITY = 0.25  # how rare a line has to be to be marked, from 0 to 1
ADDED_CELLS = "added cells"
MAX_CODE = 20_000  # characters of an exercise that are compared: what that takes grows with their square


@dataclass(frozen=True)
class Student:
    """The student of a submission; ``past`` when it comes from the folder of an earlier year."""

    name: str
    past: bool = False


@dataclass(frozen=True)
class ComparedSubmission:
    """One submission: its code by exercise, and the faults that were recognised in it, as (exercise, name).

    Of each exercise the first ``MAX_CODE`` characters are compared; ``cut`` says whether there are more.
    """

    student: Student
    code: Mapping[str, str]
    faults: frozenset[tuple[str, str]] = frozenset()

    @property
    def cut(self) -> bool:
        """Whether a part of it is not compared."""
        return any(len(text) > MAX_CODE for text in self.code.values())


@dataclass(frozen=True)
class Shared:
    """The shared code of two submissions in one exercise: how much, and the code of both."""

    exercise: str
    weight: float
    faults: tuple[str, ...]
    left: tuple[Line, ...]
    right: tuple[Line, ...]


@dataclass(frozen=True)
class SimilarPair:
    """Two submissions that share more than others; the exercises that say most come first."""

    left: Student
    right: Student
    weight: float
    shared: tuple[Shared, ...]


class _Code:
    """The code of one exercise in one submission, with its fingerprints."""

    def __init__(self, text: str):
        self.text = text
        code = CodeFingerprint("code.py", LENGTH, WINDOW, fp=io.StringIO(text))
        self.at: dict[int, list[int]] = code.hash_idx if len(code.filtered_code) >= LENGTH else {}
        self.length = len(code.filtered_code)
        self.offsets = code.offsets

    def covered(self, weights: Mapping[int, float]) -> np.ndarray:
        """Return the rarity of the shared code around each normalised character (N,), 0 where nothing is shared."""
        starts = np.zeros(self.length + LENGTH - 1)
        for fingerprint, weight in weights.items():
            starts[np.add(self.at[fingerprint], LENGTH - 1)] = weight
        cover: np.ndarray = sliding_window_view(starts, LENGTH).max(axis=1)
        return cover

    def lines(self, cover: np.ndarray) -> tuple[Line, ...]:
        """Return the lines of the code, marked where something rare is shared."""
        positions = np.flatnonzero(cover >= MIN_RARITY)
        places = np.searchsorted(self.offsets[:, 0], positions).clip(max=len(self.offsets) - 1)
        removed = np.maximum.accumulate(self.offsets[:, 1])[places]  # copydetect's own start anew at each class
        raw = (positions + removed).clip(max=max(0, len(self.text) - 1))
        marked = {self.text.count("\n", 0, int(position)) for position in raw}
        return tuple(Line(text, i in marked) for i, text in enumerate(self.text.split("\n")))


class Comparison:
    """All submissions of a session, old ones included, and their rare code."""

    def __init__(self, submissions: Sequence[ComparedSubmission], boilerplate: Mapping[str, Sequence[str]]):
        self.submissions = submissions
        self.code = [{exercise: _Code(text[:MAX_CODE]) for exercise, text in submission.code.items()}
                     for submission in submissions]
        self.common = {exercise: frozenset(fingerprint for text in texts for fingerprint in _Code(text).at)
                       for exercise, texts in boilerplate.items()}
        self.counts = Counter((exercise, fingerprint) for codes in self.code
                              for exercise, code in codes.items() for fingerprint in code.at)
        self.fault_counts = Counter(fault for submission in submissions for fault in submission.faults)
        self.shared = [{exercise: self._shared(exercise, code) for exercise, code in codes.items()}
                       for codes in self.code]

    def _rarity(self, count: int) -> float:
        """Return the rarity of code that so many submissions have: 1 for two of them, 0 for all."""
        several = max(3, len(self.submissions))
        return max(0.0, math.log(several / max(2, count)) / math.log(several / 2))

    def pairs(self) -> list[SimilarPair]:
        """Return the pairs that share most, the most first."""
        return [self._pair(i, j) for i, j, _ in sorted(self.outliers(), key=lambda pair: (-pair[2], pair[:2]))]

    def outliers(self) -> list[tuple[int, int, float]]:
        """Return the pairs of `weights` that share far more than most pairs of this class."""
        pairs = list(self.weights())
        middle = median([weight for *_, weight in pairs] or [0.0])
        spread = median([abs(weight - middle) for *_, weight in pairs] or [0.0])
        return [pair for pair in pairs if pair[2] >= max(MIN_WEIGHT, middle + MIN_DEVIATIONS * spread)]

    def weights(self) -> Iterator[tuple[int, int, float]]:
        """Yield how much each two submissions share, with their positions in ``submissions``.

        Two submissions of earlier years are not compared.
        """
        for i, j in combinations(range(len(self.submissions)), 2):
            if not (self.submissions[i].student.past and self.submissions[j].student.past):
                yield i, j, sum(self._weight(exercise, i, j) for exercise in self._common_exercises(i, j))

    def _shared(self, exercise: str, code: _Code) -> frozenset[int]:
        """Return the fingerprints that at least two have, and neither the whole class nor the sources have."""
        return frozenset(fingerprint for fingerprint in code.at.keys() - self.common.get(exercise, frozenset())
                         if (count := self.counts[exercise, fingerprint]) > 1 and self._rarity(count))

    def _common_exercises(self, i: int, j: int) -> list[str]:
        """Return the exercises in which both handed in something."""
        return [exercise for exercise in self.code[i] if exercise in self.code[j]]

    def _shared_rarities(self, exercise: str, i: int, j: int) -> dict[int, float]:
        """Return the fingerprints that two share in an exercise, and not with everybody, and how rare they are."""
        return {fingerprint: self._rarity(self.counts[exercise, fingerprint])
                for fingerprint in self.shared[i][exercise] & self.shared[j][exercise]}

    def _equal_faults(self, exercise: str, i: int, j: int) -> list[tuple[str, str]]:
        in_both = self.submissions[i].faults & self.submissions[j].faults
        return sorted(fault for fault in in_both if fault[0] == exercise)

    def _weight(self, exercise: str, i: int, j: int) -> float:
        rarities, equal_faults = self._shared_rarities(exercise, i, j), self._equal_faults(exercise, i, j)
        code = min(float(self.code[side][exercise].covered(rarities).sum()) for side in (i, j)) if rarities else 0.0
        return code + FAULT_WEIGHT * sum(self._rarity(self.fault_counts[fault]) for fault in equal_faults)

    def _pair(self, i: int, j: int) -> SimilarPair:
        shared = []
        for exercise in self._common_exercises(i, j):
            if weight := self._weight(exercise, i, j):
                rarities, codes = self._shared_rarities(exercise, i, j), [self.code[side][exercise] for side in (i, j)]
                left, right = (code.lines(code.covered(rarities)) for code in codes)
                equal_faults = tuple(name for _, name in self._equal_faults(exercise, i, j))
                shared.append(Shared(exercise, weight, equal_faults, left, right))
        shared.sort(key=lambda part: -part.weight)
        return SimilarPair(self.submissions[i].student, self.submissions[j].student,
                           sum(part.weight for part in shared), tuple(shared))


# From and to the folders of a term


def compare(term: Term, session: str, past: Path | None = None) -> Comparison:
    """Compare all that was handed in for a session, this year and, in the same folders, in an earlier one."""
    course, store = term.course, term.store
    submissions = list(_submissions(course, session, submitted_files(course.submitted, [session]), store))
    if past:
        submissions += _submissions(course, session, submitted_files(past, [session]), None)
    return Comparison(submissions, boilerplate(course, session))


def boilerplate(course: Course, session: str) -> dict[str, list[str]]:
    """Return the code that anyone may have in an exercise: released cells, the solution and its variants."""
    source = load_source(course, session)
    _, variants = loading.versions_of(source)
    given = [cell.source for cell in notebooks.released_notebook(source).cells if cell.cell_type == "code"]
    return {name: [*given, source.cell("exercise", name).solution,
                   *(faults.edited(variant, source.cell("exercise", name).solution)
                     for variant in variants if variant.exercise == name)]
            for name in source.exercises} | {ADDED_CELLS: given}


def _submissions(course: Course, session: str, files: Sequence[SubmittedFile],
                 store: VerdictStore | None) -> Iterator[ComparedSubmission]:
    source = load_source(course, session)
    released = source.grade_ids
    for file in files:
        if file.problem:
            continue
        try:
            data = file.read().data
        except OSError as error:
            log.warning(escaping.line(f"{session}, {file.student}: not compared ({one_line(error)})"))
            continue
        code: dict[str, list[str]] = {}
        for cell in readable_cells(data):
            if cell.type == "code" and cell.grade_id in source.exercises:
                code.setdefault(str(cell.grade_id), []).append(cell.source)
            elif cell.type == "code" and cell.grade_id not in released:
                code.setdefault(ADDED_CELLS, []).append(cell.source)
        entry = store.load(session, file.student) if store else None
        recognised = entry.verdict.recognised if entry else ()
        yield ComparedSubmission(Student(file.student, store is None),
                                 {name: "\n\n".join(texts) for name, texts in code.items()},
                                 frozenset((exercise, fault.name) for exercise, fault in recognised))


def write(course: Course, session: str, comparison: Comparison) -> tuple[Path, list[SimilarPair]]:
    """Write the page of a session; return its path, and the pairs on it."""
    path, pairs = course.gradebook / "similar" / f"{session}.html", comparison.pairs()
    submissions = comparison.submissions
    write_whole(path, pages.render(
        "similar.html.j2", title=load_source(course, session).title, pairs=pairs, submissions=len(submissions),
        most=MAX_CODE, cut=[submission.student for submission in submissions if submission.cut]))
    return path, pairs
