"""The page that says where each of the thirty-four points of a first course on translation is met.

Cells of tp6's source name the points they cover in their header (`covers="12,13"`). From these this module
writes docs/thirty-four-points.md: run `python -m autograder.thirty_four` after a change.
"""

import re
from pathlib import Path

from .source import ROOT, Source, SourceError, load

TP = "tp6_translation"
PAGE = ROOT / "docs" / "thirty-four-points.md"

POINTS = {
    "Environment": ("install what is needed", "import it", "compute on a GPU when there is one", "fix the seeds"),
    "Data": ("load a parallel corpus", "turn sentences into tokens and ids", "build a vocabulary for each side, with PAD, SOS, EOS and UNK",
             "make padded batches of sentences of like length"),
    "Encoder": ("build the encoder", "keep all of its hidden states, not one vector", "say what units and layers change"),
    "Attention": ("score the encoder's vectors against the decoder's state", "score by dot product and by the additive formula",
                  "make weights and a context of the scores, with no weight on padding"),
    "Decoder": ("say where attention enters", "make a step from context and state", "turn it into a distribution over tokens"),
    "Whole model": ("compose encoder, attention and decoder", "force with a teacher, by a ratio", "run it forward and keep the weights of each step"),
    "Training": ("ignore PAD in the cross-entropy", "optimise both parts with Adam", "write the loop", "log, and draw the curves"),
    "Evaluation": ("measure BLEU on validation sentences", "compute BLEU by hand", "compare with a model without attention, also by length"),
    "Attention weights": ("draw the heatmap of a pair", "read it", "extract it step by step"),
    "Experiments": ("vary the learning rate", "vary the hidden size", "vary the teacher-forcing ratio", "vary the scoring function"),
}

_ROLES = {"exercise": "exercise", "answer": "written answer", "given": "worked cell", "demo": "worked cell", "training": "worked cell", "text": "text"}
_ORDER = ("exercise", "written answer", "worked cell", "text")


def coverage(source: Source) -> dict[int, list[tuple[str, str, str]]]:
    """For each point the cells that cover it, as (kind, name, heading above it), exercises first."""
    found = {number: [] for number in range(1, 35)}
    heading = ""
    for cell in source.cells:
        titles = re.findall(r"^#{1,3} (.+)$", cell.released, re.M) if cell.is_markdown else []
        heading = titles[-1] if titles else heading
        for number in str(cell.metadata.get("covers", "")).replace(",", " ").split():
            if not number.isdigit() or int(number) not in found:
                raise SourceError(f"{source.name}: covers={cell.metadata['covers']!r} names no point from 1 to 34")
            found[int(number)].append((_ROLES[cell.role], cell.name or "", heading))
    for cells in found.values():
        cells.sort(key=lambda cell: _ORDER.index(cell[0]))
    return found


def page(source: Source) -> str:
    """The page in Markdown."""
    found = coverage(source)
    lines = ["# Thirty-four points, and where each is met", "",
             "What somebody should be able to do who has built a translator with attention, and the place in TP 6 where a student does it.",
             "An *exercise* is checked in the notebook and graded; a *written answer* is read by a person; a *worked cell* runs on what the student wrote.",
             "This page is made by `python -m autograder.thirty_four` from the source of the TP; do not edit it."]
    number = 0
    for group, points in POINTS.items():
        lines += ["", f"## {group}", "", "| | point | where |", "|---|---|---|"]
        for point in points:
            number += 1
            lines.append(f"| {number} | {point} | {_places(found[number])} |")
    return "\n".join(lines) + "\n"


def _places(cells):
    """The places of a point: what a student does there, the text only where there is nothing else."""
    done = [cell for cell in cells if cell[0] != "text"] or cells
    places = (f"{kind} `{name}` ({heading})" if name else f"{kind} ({heading})" for kind, name, heading in done)
    return "; ".join(dict.fromkeys(places))


def main(path: Path = PAGE) -> None:
    path.write_text(page(load(TP)), encoding="utf-8")


if __name__ == "__main__":
    main()
