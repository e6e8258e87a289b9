"""The result of a self-check, as a card for the notebook and as text for a terminal.

Everything that a student's code made is escaped. Colours are mixed with that of the text around them, so that they can
be read in a light notebook and in a dark one.
"""

import html
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from . import messages
from .findings import Finding
from .place import Place
from .side_by_side import as_html
from .syntax import Span, code_lines

ABOVE, BELOW = 3, 1  # lines that are shown around a place
TICK = "✓"  # beside a line whose values are right

STYLE = """<style>
.tp-card { border-left: 4px solid #8888; padding: .1rem 0 .1rem .8rem; max-width: 46rem; line-height: 1.45;
  overflow-wrap: anywhere; }
.tp-card.ok { border-color: #0a8a68; } .tp-card.bad { border-color: #d0453a; }
.tp-card p { margin: .3rem 0; }
.tp-card .head { font-size: 1.08em; }
.tp-card.ok .head { color: color-mix(in srgb, #00855f 60%, currentColor); }
.tp-card.bad .head { color: color-mix(in srgb, #c8281d 60%, currentColor); }
.tp-card .soft { color: color-mix(in srgb, currentColor 75%, #808080); }
.tp-card summary { cursor: pointer; } .tp-card details { margin: .3rem 0; }
.tp-card dl { margin: .2rem 0 .2rem 1rem; display: block; width: auto; }
.tp-card dt { font-weight: 600; display: block; width: auto; float: none; padding: 0; }
.tp-card dd { margin: 0 0 .3rem; display: block; width: auto; float: none; padding: 0; }
.tp-card pre { font-family: var(--jp-code-font-family, ui-monospace, monospace); font-size: .9em; white-space: pre-wrap;
  overflow-wrap: anywhere; word-break: normal; margin: .2rem 0; padding: .3rem .5rem; border: 1px solid #8886;
  max-height: 14em; overflow-y: auto; }
.tp-card pre.tp-place { max-height: none; }
.tp-place .sign { display: inline-block; width: 1.4em; color: color-mix(in srgb, #00855f 60%, currentColor); }
.tp-place u { text-decoration: underline 2px #d0453a; text-underline-offset: 3px; }
.tp-beside { display: flex; flex-wrap: wrap; gap: .4rem 1.4rem; margin: .5rem 0; overflow-x: auto; }
.tp-card .tp-beside table { margin: 0; font-size: .8em; border-collapse: separate; border-spacing: 1px; }
.tp-beside caption { font-weight: 600; text-align: start; font-size: 1.2em; }
.tp-card .tp-beside :is(td, th) { padding: .2rem .3rem; text-align: center; font-weight: inherit;
  white-space: nowrap; }
.tp-card .tp-beside td:has(mark) { outline: 1.5px solid #000; outline-offset: -1.5px;
  box-shadow: inset 0 0 0 3px #fff; }
.tp-beside td { print-color-adjust: exact; } .tp-beside mark { background: none; color: inherit; }
</style>"""

# In JupyterLab and Notebook: a bar beside each cell to fill, which is one that can be edited above a check that cannot,
# and beside each question whose answer is blank. Elsewhere nothing of this is shown.
CELL_MARKER_STYLE = """<style>
.tp-yours { display: none; }
.jp-Notebook .tp-yours { display: block; margin: .2rem 0; }
.tp-yours::before,
.jp-Notebook .jp-MarkdownOutput > p:has(> em:first-child) + p:last-child:has(> em:only-child),
.jp-Notebook .jp-CodeCell:not(:has(.jp-mod-readOnly)):has(+ .jp-CodeCell .jp-mod-readOnly .cm-line:only-child)
  .jp-InputArea-editor { border-left: 5px solid #1a7fd4; }
.tp-yours::before { content: ""; padding-right: .5rem; }
</style><p class="tp-yours">Cells with this bar are yours to fill.</p>"""

INLINE_MARKUP = re.compile(r"`([^`]+)`|(?<![\w*])\*(\w(?:[^*\n]*[^*\s])?)\*(?![\w*])")


@dataclass(frozen=True)
class Card:
    """The result of a self-check: a sign and a headline, and beneath it the findings and the passed checks."""

    exercise: str
    tally: str
    right: tuple[tuple[str, str], ...] = ()  # check, and what it asks for
    wrong: tuple[Finding, ...] = ()
    printed: str = ""  # by the student's code, in the first check that failed
    older: tuple[str, ...] = ()  # names whose last cell stopped before it defined them
    cells: tuple[str, ...] = ()  # of the student's, in which places lie
    hint: tuple[str, str] = ("", "")  # the next one: its title, and what it says
    stopped: bool = False  # it took too long

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to judge yet."""
        return not self.right and not self.wrong and not self.stopped

    @property
    def passed(self) -> bool:
        """Whether all is right."""
        return bool(self.right) and not self.wrong

    @property
    def sign(self) -> str:
        """A sign for right, in part, or wrong."""
        return "–" if self.quiet else "∞" if self.stopped else "✗" if not self.right else "◐" if self.wrong else "✓"

    @property
    def warning(self) -> str:
        """The warning that an older version is judged; empty where the newest is."""
        names = " and ".join(f"`{name}`" for name in self.older)
        return (f"The cell that you last ran for {names} stopped with an error: what is checked here is the version "
                "before it. Correct that cell, run it, then run this one again.") if names else ""

    @property
    def case_call(self) -> str:
        """The call that opens the first check that fails."""
        return f'tp.case("{self.exercise}", "{self.wrong[0].checks[0]}")' if self.wrong else ""

    def seen_by(self, finding: Finding) -> str:
        """Return how many checks fail because of a finding."""
        count, checks = len(finding.checks), len(self.right) + sum(len(failure.checks) for failure in self.wrong)
        if checks == 1:
            return "seen by the only check"
        return f"seen by {count} of {checks} checks"


def text(card: Card) -> str:
    """Return the card for a terminal."""
    lines = [f"{card.exercise}: {card.tally}"]
    if card.warning:
        lines.append(messages.wrapped(f"! {card.warning}", "  ", "    "))
    for finding in card.wrong:
        lines += messages.finding_lines(finding, card.seen_by(finding))
    if card.printed:
        lines += [f"    your code printed, in {card.wrong[0].checks[0]}:", textwrap.indent(card.printed, "      ")]
    lines += [messages.passed_line(check, sentence) for check, sentence in card.right]
    if card.wrong:
        lines.append(f"  look into it: {card.case_call}")
    if card.hint[0]:
        lines.append(f"  stuck? Open above the exercise: {card.hint[0]}")
    return "\n".join(lines)


def frame(label: str, head: str, body: str, kind: str = "") -> str:
    """Return a card as HTML: a ``label`` in plain text, ``head`` and ``body`` in HTML; ``kind`` is "ok" or "bad"."""
    return (f'{STYLE}<div class="tp-card {kind}" role="group" aria-label="{html.escape(label)}">'
            f'<p class="head">{head}</p>{body}</div>')


def page(card: Card) -> str:
    """Return the card for a notebook, as HTML."""
    name, tally = html.escape(card.exercise), marked(card.tally)
    if card.quiet:
        warning = f"<p>{marked(card.warning)}</p>" if card.warning else ""
        return f'{STYLE}<div class="tp-card"><p class="soft">{name}: {tally}</p>{warning}</div>'
    kind = "bad" if card.wrong or card.stopped else "" if card.older else "ok"
    parts = [f"<p>{marked(card.warning)}</p>"] if card.warning else []
    for number, finding in enumerate(card.wrong):
        parts.append(f"<p>{marked(messages.headline(finding, advise=True))}</p>")
        if finding.place:
            parts.append(placed(finding.place, card.cells))
        if number == 0 and finding.side_by_side:
            parts.append(as_html(finding.side_by_side))
        summary = card.seen_by(finding).capitalize()
        # without a cause, what the checks ask for is the most that can be said
        opened = "" if finding.fault or finding.relation or finding.place else " open"
        parts.append(f"<details{opened}><summary>{summary}</summary>{_listed(messages.details(finding))}</details>")
    if card.printed:
        check = html.escape(card.wrong[0].checks[0])
        parts.append(f'<p class="soft">Your code printed, in {check}:</p>'
                     f'<pre tabindex="0">{html.escape(card.printed)}</pre>')
    if card.right:
        summary = f"Right already: {', '.join(check for check, _ in card.right)}" if card.wrong else "What was checked"
        parts.append(f"<details><summary>{html.escape(summary)}</summary>{_listed(card.right)}</details>")
    if card.hint[0]:
        title, body = html.escape(card.hint[0]), with_tags(card.hint[1])
        parts.append(f"<details><summary>Stuck? {title}</summary><p>{body}</p></details>")
    if card.wrong:
        parts.append(f'<p class="soft">To look into it: <code>{html.escape(card.case_call)}</code></p>')
    head = f'<span aria-hidden="true">{card.sign}</span> <b>{name}</b>: {tally}'
    return frame(f"Check of {card.exercise}", head, "".join(parts), kind)


def placed(place: Place, cells: Sequence[str], graded: bool = False) -> str:
    """Return the cell with a place as HTML: the place is underlined, lines with the values of right answers are ticked.

    ``graded``: it stands beside numbers of other inputs.
    """
    locations = [spot for spot in place.locations if spot.cell < len(cells)]
    code = "".join(_underlined(cells[cell], [spot.span for spot in locations if spot.cell == cell],
                               place.matched_lines if cell == place.cell else ())
                   for cell in dict.fromkeys(spot.cell for spot in locations))
    legend = f'<p class="soft">{TICK}: all values on this line are those of a right answer.</p>' * (TICK in code)
    return f"<p>{marked(messages.place(place, graded=graded))}</p>{code}{legend}"


def _underlined(cell: str, spans: Sequence[Span], matched_lines: Sequence[int]) -> str:
    """Return the lines around places in a cell, the ``matched_lines`` ticked, as HTML."""
    lines = code_lines(cell)
    around = (range(max(0, first - ABOVE), min(len(lines), last + BELOW)) for first, _, last, _ in spans)
    shown = sorted(set().union(*around))
    margin = min((len(lines[i]) - len(lines[i].lstrip(" \t")) for i in shown if lines[i].strip()), default=0)
    rows = []
    for before, number in zip([None, *shown], shown, strict=False):
        if before not in (None, number - 1):
            rows.append('<span class="sign"> </span>…')
        data, done, text = lines[number][margin:].encode(), 0, ""
        for first, start, last, end in sorted(spans):
            if first <= number + 1 <= last:
                begins = max(done, start - margin) if number + 1 == first else done
                ends = max(begins, end - margin) if number + 1 == last else len(data)
                text += f"{_escaped(data[done:begins])}<u>{_escaped(data[begins:ends])}</u>"
                done = ends
        sign = "▸" if text else TICK if number + 1 in matched_lines else " "
        rows.append(f'<span class="sign">{sign}</span>{text}{_escaped(data[done:])}')
    return f'<pre class="tp-place" tabindex="0" aria-label="Your code">{chr(10).join(rows)}</pre>'


def _escaped(part: bytes) -> str:
    return html.escape(part.decode("utf-8", "replace"))


def _listed(pairs: Sequence[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{html.escape(name)}</dt><dd>{marked(text)}</dd>' for name, text in pairs)}</dl>"


def marked(text: str) -> str:
    """Return escaped text, its `code` and its *emphasis* as HTML."""
    return with_tags(html.escape(text))


def with_tags(escaped: str) -> str:
    """Return text that is escaped already, its `code` and its *emphasis* as HTML; a product `2*x*y` is neither."""
    return INLINE_MARKUP.sub(lambda mark: f"<code>{mark[1]}</code>" if mark[1] else f"<em>{mark[2]}</em>", escaped)
