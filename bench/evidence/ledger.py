"""What the course says of its own runs, and what each of these sentences rests on.

A sentence rests on a run of this package (a module with `TITLE`, `DESIGNS`, `SEEDS`, `run` and `report`; its results
lie in docs/evidence/ as JSON), or on a cell of the executed notebook it stands in. `CLAIMS` pairs it with what it
quotes from there: when a run comes out differently, its quotation is not found any more, and somebody must read again.
"""

import ast
import hashlib
import html
import importlib
import inspect
import itertools
import json
import math
import re
from dataclasses import dataclass
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

import nbformat

from autograder.course import find
from autograder.model.source import load_source
from tp import corpus
from tp.difficulty import CLEAN, HARD

from ..measure import spread

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS, PAGE = ROOT / "docs" / "evidence", ROOT / "docs" / "evidence.md"
LEFT_OUT = ("bench.measure", __name__)  # what reports are made of
OPENING = """# Evidence for the texts

Empirical sentences of the course, the run that supports each, the lines that the run printed, and the command that
repeats it. `python -m bench.evidence` writes this page. A test fails if a sentence is no longer in its session, if the
code of a run has changed, or if a number differs from the run's. Runs have a budget in steps and fixed seeds. On
another machine or with another number of threads the last digits differ, and after a thousand steps results differ by
a few percentage points.

"""


@dataclass(frozen=True)
class Source:
    """What shows a number: a run, a cell of the executed notebook, or a part of the benchmarks."""

    quotes: tuple        # what it printed: pieces of its text
    run: str = ""        # a module of this package …
    cell: str = ""       # … or a cell of the TP's notebook …
    bench: str = ""      # … or a part of docs/benchmarks.md

    def command(self, tp):
        """Return what repeats it."""
        if self.cell:
            return f"autograder release --execute {tp}"
        return f"python -m bench.evidence {self.run}" if self.run else f"python -m bench {self.bench}"

    @property
    def place(self):
        """Where it is to be seen, in Markdown."""
        if self.cell:
            return f"the cell `{self.cell}` of its notebook"
        return f"the run [{self.run}](#{self.run})" if self.run else "[the benchmarks](benchmarks.md)"

    def evidence(self, tp):
        """Return the texts that must show the quotations: of a cell, its plain text and what a browser shows."""
        if self.cell:
            return [printed(tp, self.cell, kind) for kind in ("text/plain", "text/html")]
        return [report(self.run) if self.run else (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")]


@dataclass(frozen=True)
class Claim:
    """A sentence of a TP, of its text, a model answer or a rubric, and what it rests on: one source, or several."""

    tp: str              # the name of the TP, as its folder has it
    says: str            # the sentence, as it stands in the source; line breaks do not count
    quotes: tuple
    run: str = ""
    cell: str = ""
    bench: str = ""
    also: tuple = ()     # further sources, which measure the same and must show it too

    @property
    def sources(self):
        """Return all sources; every one must show its quotations."""
        return Source(self.quotes, self.run, self.cell, self.bench), *self.also

    def faults(self):
        """Return what is wrong with this claim, a line each: nothing, when all is well."""
        found = [] if flat(self.says) in flat(text_of(self.tp)) else [f"{self.tp} does not say: {self.says}"]
        for source in self.sources:
            shown = [flat(text) for text in source.evidence(self.tp)]
            found += [f"{self.tp}: {source.place} does not show: {quote}" for quote in source.quotes
                      if not all(flat(quote) in text for text in shown)]
            found += [] if source.quotes else [f"nothing is quoted for: {self.says}"]
        return found

    def unshown(self):
        """Return the percentages and points of the sentence that no quotation shows, rounded, or as a difference."""
        quoted = " ".join(flat(quote) for source in self.sources for quote in source.quotes)
        values = [float(number) for number in NUMBER.findall(quoted.replace("−", "-"))]
        values += [100 * value for value in values if abs(value) <= 1]
        values += [a - b for a in values for b in values]
        return [number for number in measured(BOUND.sub("", flat(self.says)))
                if not any(abs(abs(value) - float(number)) <= 0.501 * 10 ** -len(number.partition(".")[2])
                           for value in values)]


# A number of a run is a percentage, a number of points or of BLEU, or both ends of a range of such; or a number with a
# range in brackets, as tables have it: 85 (81–86).
NUMBER = re.compile(r"\d+(?:\.\d+)?")
UNIT = r"\s?(?:%|percent\b|points?\b(?!:)|BLEU\b)"
RANGE = rf"\s?\(({NUMBER.pattern})\s?–\s?({NUMBER.pattern})\)"
MEASURED = re.compile(rf"(?:({NUMBER.pattern})\s?(?:–|-|to|and|or)\s?)?({NUMBER.pattern})"
                      rf"(?:{UNIT}(?:{RANGE})?|{RANGE})")

# A bound that a sentence compares with is not printed by a run.
BOUND = re.compile(rf"\b(?:below|above|under|over|not|than|least|most|level is) {NUMBER.pattern}{UNIT}")

# Such numbers need no run where they are …
EXEMPT = {
    "a definition": re.compile(r"chance level|\bmeans\b"),
    "the design of a run": re.compile(r"\d % of the (steps|training|examples|data)|teacher-forcing ratio"),
    "an example": re.compile(r"Tiny example"),
    "a paper's": re.compile(r"arXiv|\b(19\d\d|20(?!00)[0-3]\d)\b|\bA paper\b"),
}


def measured(text):
    """Return the numbers of a text that stand before a unit of measurement, as they are written."""
    return [number for pair in MEASURED.findall(text) for number in pair if number]


def unclaimed(tp, claims):
    """Return the sentences of a TP with a measured number that is part of no claim, model answers and rubrics too."""
    said = sorted((flat(claim.says) for claim in claims if claim.tp == tp), key=len, reverse=True)
    found = []
    for text in prose(tp):
        for claim in said:
            text = text.replace(claim, "…." if claim.endswith(".") else "…")
        found += [sentence for sentence in SENTENCE.split(text) if MEASURED.search(sentence)
                  and not any(exempt.search(sentence) for exempt in EXEMPT.values())]
    return found


def few(n):
    """Return the line that stands beneath a table of fewer than five seeds: what ranges that lie apart are worth."""
    if n >= 5:
        return ""
    return (f"Of two groups of {n} runs that do not differ, one lies above the other as a whole in {chance(n):.0%} of "
            "such tables, by chance.\n\n")


def chance(n):
    """Return how often two groups of `n` runs that do not differ lie apart in their ranges, one group above the other.

    Of the (2n over n) ways to deal 2n results into two groups, two put all of one group above the other.
    """
    return 2 / math.comb(2 * n, n)


def text_of(tp):
    """What a TP says: the text of its source, without the marks of comments."""
    source = (ROOT / "solutions" / tp / f"{tp}.py").read_text(encoding="utf-8")
    return re.sub(r"^# ?", "", source, flags=re.M)


# Who writes one of these phrases says what was seen in a run.
SEEN = re.compile(r"\b(in our runs?|in (a|one|five|four|three) runs? of ours|we (measured|had\b(?! it))|runs of ours|"
                  r"in our tables?|our three seeds|more measurement)\b", re.IGNORECASE)


def unsupported(tp, claims):
    """Return the sentences of a TP that say what was seen in a run, and are part of no claim."""
    said = [flat(claim.says) for claim in claims if claim.tp == tp]
    sentences = [sentence for text in prose(tp) for sentence in SENTENCE.split(text)]
    return [sentence for sentence in sentences if SEEN.search(sentence)
            and not any(sentence in claim or claim in sentence for claim in said)]


SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*-])")


def prose(tp):
    """Return the texts of a TP, each in one line, without hints; a question has its model answer and rubric."""
    return [flat(re.sub(r"<details>.*?</details>", "", cell.source, flags=re.S))
            for cell in load_source(find(ROOT), tp).by_role("text", "answer")]


def flat(text):
    """Text with every run of white space as one space."""
    return " ".join(text.split())


def printed(tp, cell_id, kind="text/plain"):
    """What a cell of the executed notebook of a TP shows, as text: of each output, the part of this kind if it has one.

    Of HTML, the words and the alternative texts.
    """
    notebook = nbformat.read(ROOT / "solutions" / tp / f"{tp}.ipynb", 4)
    outputs = next(cell.outputs for cell in notebook.cells if cell.get("id") == cell_id)
    parts = [output.get("data", {"text/plain": output.get("text", "")}) for output in outputs]
    return "\n".join(words(part[kind]) if kind == "text/html" and kind in part else part.get("text/plain", "")
                     for part in parts)


def words(page):
    """Return the words of a piece of HTML, and the alternative texts of its pictures."""
    page = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.S)
    return html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r'<[^>]*\balt="([^"]*)"[^>]*>', r" \1 ", page)))


# Runs

def module(name):
    """The module of a run."""
    return importlib.import_module(f"bench.evidence.{name}")


def digest(name):
    """Return the digest of what a run does: its code, that of `bench` which it imports, and the sentences it loads.

    No docstrings, no reports, no SEEDS. Of the corpus it takes the first sentences of the grammar, in which any change
    of it shows.
    """
    code = code_of(module(name).__name__)
    return hashlib.sha256((code + sentences() * bool(re.search(r"\bcorpus\.", code))).encode()).hexdigest()[:16]


@cache
def sentences():
    """Return the beginning of the clean and of the hard corpus, as text."""
    return "".join(repr(pair) for difficulty in (CLEAN, HARD)
                   for pair in itertools.islice(corpus.stream(0, difficulty), 2_000))


def code_of(name):
    """Return what runs of a module of `bench`, in one layout, and of those that it imports, but for tables."""
    tree = ast.parse(inspect.getsource(importlib.import_module(name)))
    package = name.rpartition(".")[0]
    others = [resolve_name("." * node.level + (node.module or alias.name), package)
              for node in tree.body if isinstance(node, ast.ImportFrom) and node.level for alias in node.names]
    tree.body = [node for node in tree.body
                 if getattr(node, "name", "") != "report" and not ast.unparse(node).startswith("SEEDS = ")]
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass()]
    return "".join([ast.unparse(tree), *(code_of(other) for other in dict.fromkeys(others) if other not in LEFT_OUT)])


def stored(name):
    """What is kept of a run: `{"code": digest, "machine": …, "results": [...]}`; no results where there is nothing."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"results": []}


def is_stale(name):
    """Whether a run has changed since its results were kept, or some of them are missing."""
    kept, part = stored(name), module(name)
    wanted = [(design, seed) for design in plain(part.DESIGNS) for seed in part.SEEDS]
    have = [(result["design"], result["seed"]) for result in kept["results"]]
    return kept.get("code") != digest(name) or any(pair not in have for pair in wanted) or len(have) != len(wanted)


def plain(designs):
    """Designs as JSON gives them back."""
    return json.loads(json.dumps([vars(design) for design in designs]))


def percent(values, digits=1):
    """Shares of several runs as text, in percent: the middle one, the lowest and the highest."""
    return spread([100 * value for value in values], f"{{:.{digits}f}}")


def report(name):
    """The tables of a run, in Markdown, from what is kept of it."""
    return module(name).report(stored(name)["results"])


# The page

def page(claims, runs):
    """The page in Markdown: a chapter for each TP, then the tables of all runs."""
    text = OPENING
    for tp in sorted({claim.tp for claim in claims}):
        text += f"## {tp}\n\n"
        for claim in (claim for claim in claims if claim.tp == tp):
            text += f"> {flat(claim.says)}\n\n"
            for source in claim.sources:
                shown = "; ".join(f"`{flat(quote)}`" for quote in source.quotes)
                text += f"Rests on {source.place}, which shows {shown}. Again: `{source.command(tp)}`\n\n"
    text += "## The runs\n\n"
    for name in runs:
        text += (f"### {name}\n\n{inspect.getdoc(module(name))}\n\n{report(name)}\n{few(len(module(name).SEEDS))}"
                 f"*{stored(name)['machine']}. Again: `python -m bench.evidence {name}`.*\n\n")
    return text.rstrip("\n") + "\n"
