"""A session's page for instructors: slides to open it with, the short path, five faults, answers and rubrics.

Every word comes from the session's source and its faults. The page holds solutions: it is for instructors alone, and
nothing that students are given contains it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..course import Course
from ..model import loading
from ..model.faults import Fault
from ..model.source import FIGURE, Source, load_source
from ..publish import effort
from ..runtime.workspace import write_whole
from .markdown import rendered
from .pages import render
from .questions import questions_of

SLIDES, FAULTS = 8, 5
_LIST = re.compile(r"^[-*] ", re.M)
_AIMS = re.compile(r"^\*\*After this session")
_READING = re.compile(r"^(?:#+ |\*\*)Further reading\b[*.:]*\s*", re.M)
_SHORT = re.compile(r"90.minute")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[*`A-Z])")


@dataclass(frozen=True)
class Slide:
    """A heading, and Markdown below it."""

    heading: str
    body: str
    kind: str = ""


def slides(source: Source) -> list[Slide]:
    """Return the opener of a session: title, aims, sections with their pictures, the plan, further reading."""
    opening = _blocks(_texts(source)[0])
    aims = next((block for sign in (_LIST, _AIMS) for block in opening if sign.search(block)), "")
    first = next((block for block in opening if block != aims and not block.startswith("#")), "")
    headings = (re.sub(r"^\d+ · ", "", heading) for heading, _ in sections(source))  # without the numbers of the source
    plan = "\n".join(f"{i}. {heading}" for i, heading in enumerate(headings, 1))
    first = first if effort.TIME in first else f"{first}\n\nTime: {effort.TIME}."
    title = Slide(source.title, first.replace(effort.TIME, effort.duration(source)), "title")
    opener = [title, *(Slide(heading, body) for heading, body in (("Aims", aims), ("Plan", plan)) if body)]
    reading = [Slide("Further reading", text) for text in [further_reading(source)] if text]
    shown = _shown(source, SLIDES - len(opener) - len(reading))
    return [*opener, *shown, *reading]


def _shown(source: Source, most: int) -> list[Slide]:
    """Return a number of sections in their order: those with pictures first."""
    slides = [Slide(heading, "\n\n".join(_first(text)), "picture" if _first(text)[1] else "")
              for heading, text in sections(source)]
    chosen = sorted(range(len(slides)), key=lambda i: (not slides[i].kind, i))[:most]
    return [slides[i] for i in sorted(chosen)]


def _first(text: str) -> tuple[str, str]:
    """Return the first two sentences of a section, before its first exercise, and its first picture."""
    picture, opening = FIGURE.search(text), re.split(r"^#{3,} ", text, flags=re.M)[0]
    texts = [block for block in _blocks(FIGURE.sub("", opening)) if block[0] not in "#|-*<$(0123456789"]
    sentences = ([part for part in _SENTENCE.split(text) if part[-1] in ".?!"] for text in texts)
    return " ".join(next(filter(None, sentences), [])[:2]), picture[0] if picture else ""


def sections(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the sections of a session: heading and text, exercises included, up to the heading of the next section."""
    parts = re.split(r"^## (.+)$", "\n\n".join(_texts(source)), flags=re.M)
    yield from zip(parts[1::2], parts[2::2], strict=True)


def further_reading(source: Source) -> str:
    """Return the text under "Further reading" at the end of a session, or nothing."""
    parts = _READING.split("\n\n".join(_texts(source)), maxsplit=1)
    return re.split(r"^## ", parts[1], flags=re.M)[0].strip() if len(parts) > 1 else ""


def short_path(source: Source) -> str:
    """Return the sentence of the opening that says which parts fit into 90 minutes, or nothing."""
    blocks = (" ".join(block.split()) for block in _blocks(_texts(source)[0]))
    return next((sentence for block in blocks for sentence in _SENTENCE.split(block) if _SHORT.search(sentence)), "")


def five_faults(source: Source) -> list[Fault]:
    """Return the first listed fault of each of the five exercises with most points, in the order of the session."""
    points = {cell.name: cell.points for cell in source.by_role("check")}
    listed, _ = loading.versions_of(source)
    first = {fault.exercise: fault for fault in reversed(listed)}
    most = sorted((name for name in source.exercises if name in first), key=lambda name: -points.get(name, 0))[:FAULTS]
    return [first[name] for name in source.exercises if name in most]


def page(course: Course, session: str) -> str:
    """Return a session's page for instructors in HTML; pictures lie in it."""
    source = load_source(course, session)
    return render(
        "instructor_page.html.j2", title=source.title, slides=slides(source), path=short_path(source),
        tasks=effort.tasks(source), faults=five_faults(source), questions=questions_of(source),
        shown=lambda text: rendered(text, source.folder))


def write(course: Course, sessions: list[str], folder: Path) -> list[Path]:
    """Write the pages of these sessions into a folder, and return their paths."""
    paths = [folder / f"{session}.html" for session in sessions]
    for path in paths:
        write_whole(path, page(course, path.stem))
    return paths


def _texts(source: Source) -> list[str]:
    """Return the text cells of a session, without hints."""
    return [effort.without_hints(cell.source) for cell in source.by_role("text")]


def _blocks(text: str) -> list[str]:
    """Return the paragraphs of a text."""
    return [block.strip() for block in re.split(r"\n\s*\n", text) if block.strip()]
