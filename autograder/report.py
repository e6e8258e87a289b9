"""What the class did not understand: one page for the instructor, one for a student who asks, and grades as CSV.

Everything comes from the recorded verdicts and from nbgrader's gradebook; nothing is judged again. Names, notes and
messages may be a student's own words: they are escaped, and nothing of theirs is a link, a picture or a script.
"""

import importlib
import io
import re
from collections import Counter
from html import escape
from pathlib import Path
from statistics import mean, median

from . import grades
from .records import Records

FOLDER = Path("gradebook") / "report"
VERDICTS = {"passed": "passed", "partial": "in part", "failed": "failed", "missing": "not written", "error": "error",
            "timeout": "timed out", "crashed": "crashed"}

STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #1f2430; --soft: #555b6b; --line: #c9ccd6; --bar: #0b62a4; --link: #0a4c80 }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171f; --ink: #eceef3; --soft: #b4bac8; --line: #454b5a; --bar: #6db8f2; --link: #c4e3fb } }
body { background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, "Liberation Sans", Arial, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1, h2, h3 { line-height: 1.2; margin: 2rem 0 .6rem }
h2 { border-top: 1px solid var(--line); padding-top: 1.5rem }
a { color: var(--link) }
.wide { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-size: .92rem }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem }
th, td { padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: break-word; max-width: 34rem }
tbody th { font-weight: 600 }
.number { text-align: right; font-variant-numeric: tabular-nums }
figure { display: inline-block; margin: 0 .8rem 1rem 0; max-width: 100%; vertical-align: top }
figcaption { font-weight: 600 }
svg { display: block; max-width: 100%; height: auto }
"""


def write(course, tps: list[str]) -> Path:
    """Write the page of the class and the CSV files; returns where the page is."""
    folder = course.root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with course.gradebook() as gradebook:
        table = grades.read(gradebook, tps)
    grades.write(table, folder)
    path = folder / "index.html"
    path.write_text(class_page(read(course.root, tps), table), encoding="utf-8")
    return path


def write_student(course, tps: list[str], student: str) -> Path:
    """Write one student's page; returns where it is."""
    folder = course.root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with course.gradebook() as gradebook:
        table = grades.read(gradebook, tps)
    path = folder / f"student-{student}.html"
    found = [v for verdicts in read(course.root, tps).values() for v in verdicts if v["student"] == student]
    path.write_text(student_page(student, found, table), encoding="utf-8")
    return path


def graded(root: Path) -> list[str]:
    """The TPs of which there are verdicts."""
    return sorted(path.name for path in (root / "gradebook" / "verdicts").glob("*/") if any(path.glob("[!.]*.json")))


def read(root: Path, tps: list[str]) -> dict[str, list[dict]]:
    """TP → the verdicts on it, by student."""
    records = Records(root)
    found = {tp: [records.load(tp, path.stem) for path in sorted((root / "gradebook" / "verdicts" / tp).glob("[!.]*.json"))] for tp in tps}
    return {tp: [verdict for verdict in verdicts if verdict] for tp, verdicts in found.items()}


# The page of the class


def class_page(verdicts: dict[str, list[dict]], table: grades.Grades) -> str:
    """The whole page; ``verdicts`` by TP."""
    count = sum(map(len, verdicts.values()))
    unread = sum(grade.unread for grade in table.of.values())
    waiting = f"<p>In {_count(unread, 'submission')} a person still has to read written answers: their grades are without those points.</p>" if unread else ""
    body = [
        "<h1>Class report</h1>",
        f"<p>{_count(count, 'submission')} graded, of {_count(len(verdicts), 'TP')}. "
        'All grades: <a href="grades.csv">as a table</a>, <a href="moodle.csv">for Moodle</a>, <a href="canvas.csv">for Canvas</a>.</p>',
        waiting,
        "<h2>Who needs a look</h2>",
        _looks(verdicts, table),
        *(_tp(tp, found) for tp, found in verdicts.items()),
    ]
    return _page("Class report", body)


def _looks(verdicts, table):
    rows = [(v["student"], tp, "; ".join(concerns(v))) for tp, found in verdicts.items() for v in found if concerns(v)]
    for tp, found in verdicts.items():
        handed = {v["student"] for v in found} | {student for student, name in table.of if name == tp}
        rows += [(student, tp, "handed in nothing") for student, *_ in table.students if student not in handed]
    if not rows:
        return "<p>Nobody: every submission could be read, held some work, and ran to its end in the sandbox.</p>"
    return _table("Crashed, timed out, not readable, nothing written, nothing handed in, or graded without isolation", ("student", "TP", "why"), sorted(rows))


def concerns(verdict: dict) -> list[str]:
    """Why a person should look at a submission; empty when there is no reason."""
    found = []
    if verdict.get("unreadable"):
        found.append(f"cannot be read: {verdict['unreadable']}")
    elif all(e["verdict"] == "missing" for e in verdict["exercises"]):
        found.append("nothing written")
    for word in ("crashed", "timeout"):
        names = [e["exercise"] for e in verdict["exercises"] if e["verdict"] == word]
        if names:
            found.append(f"{VERDICTS[word]}: {', '.join(names)}")
    if verdict["isolation"] == "none":
        found.append("graded without isolation")
    return found


def _tp(tp, verdicts):
    read = [v for v in verdicts if not v.get("unreadable")]
    scores, top = [v["score"] for v in verdicts], max(v["max_score"] for v in verdicts)
    full = sum(v["score"] == v["max_score"] for v in verdicts)
    text = (f"{_count(len(verdicts), 'submission')}: median {_number(median(scores))} of {_number(top)} automatic points, mean {_number(mean(scores))}; "
            f"{_count(full, 'has', 'have')} full marks.")
    if len(read) < len(verdicts):
        text += f" {_count(len(verdicts) - len(read), 'file')} could not be read and {'is' if len(verdicts) - len(read) == 1 else 'are'} left out below."
    body = [f"<h2>{escape(tp)}</h2>", f"<p>{text}</p>", _figure(*_score_plot(verdicts))]
    if read:
        body += [_figure(*_exercise_plot(read)), _figure(*_time_plot(read)), "<h3>Exercises</h3>", _exercises(read),
                 "<h3>Mistakes by name</h3>", _mistakes(tp, read), "<h3>Checks</h3>", _checks(read), "<h3>Time</h3>", _times(read)]
    return "\n".join(body)


def _exercises(verdicts):
    rows = []
    for name, results in _by_exercise(verdicts).items():
        outcomes = Counter(result["verdict"] for result in results)
        rows.append((name, _number(results[0]["max_score"]), _number(mean(result["score"] for result in results)),
                     _percent(outcomes["passed"], len(results)), *(str(outcomes[word] or "–") for word in VERDICTS)))
    return _table("How many submissions have which result", ("exercise", "points", "mean", "pass rate", *VERDICTS.values()), rows)


def _checks(verdicts):
    passed, asked, says = Counter(), Counter(), {}
    for exercise, results in _by_exercise(verdicts).items():
        for check in (check for result in results for check in result["checks"]):
            key = exercise, check["check"]
            asked[key] += 1
            passed[key] += check["passed"]
            if check["passed"]:
                says[key] = check["message"]
    rows = [(exercise, check, _percent(passed[exercise, check], n), f"{passed[exercise, check]} of {n}", says.get((exercise, check), "")) for (exercise, check), n in asked.items()]
    return _table("What each check asks for, and how many submissions pass it", ("exercise", "check", "pass rate", "passed", "what it asks for"), rows)


def _mistakes(tp, verdicts):
    students, first = {}, {}
    for verdict in verdicts:
        for exercise in verdict["exercises"]:
            for check in exercise["checks"]:
                if check["mistake"]:
                    key = exercise["exercise"], check["mistake"]
                    students.setdefault(key, set()).add(verdict["student"])
                    first.setdefault(key, check["message"])
    if not students:
        return "<p>None of the mistakes we know by name.</p>"
    known = _sentences(tp)
    ordered = sorted(students, key=lambda key: (-len(students[key]), key))
    return _table("Wrong work that the judge recognised, the most frequent first",
                  ("students", "exercise", "mistake", "what the student reads"),
                  [(str(len(students[key])), *key, known.get(key, first[key])) for key in ordered], name=2)


def _sentences(tp):
    """(exercise, mistake) → what a teacher says about it."""
    try:
        module = importlib.import_module(f"autograder.mistakes.{tp}")
    except ModuleNotFoundError:
        return {}
    return {(mistake.exercise, mistake.name): mistake.says for mistake in module.MISTAKES}


def _times(verdicts):
    longest = sorted(verdicts, key=lambda v: -v["seconds"])[:5]
    text = f"<p>The judge took {_number(median(v['seconds'] for v in verdicts))} seconds for a submission (median), {_number(sum(v['seconds'] for v in verdicts))} for all.</p>"
    return text + _table("The longest", ("student", "seconds"), [(v["student"], _number(v["seconds"])) for v in longest])


def _by_exercise(verdicts):
    """Exercise → its results, in the order of the TP."""
    found = {}
    for verdict in verdicts:
        for result in verdict["exercises"]:
            found.setdefault(result["exercise"], []).append(result)
    return found


# The page of a student


def student_page(student: str, verdicts: list[dict], table: grades.Grades) -> str:
    """All that the judge said to one student, TP by TP."""
    body = [f"<h1>{escape(student)}</h1>"]
    for verdict in verdicts:
        tp = verdict["assignment"]
        body.append(f"<h2>{escape(tp)}</h2><p>{_number(verdict['score'])} of {_number(verdict['max_score'])} automatic points, device {escape(verdict['device'])}, "
                    f"isolation {escape(verdict['isolation'])}, seed <code>{escape(verdict['seed'])}</code>.</p>")
        grade = table.of.get((student, tp))
        if grade:
            unread = " Some written answers are not read yet." if grade.unread else ""
            body.append(f"<p>Grade: {_number(grade.automatic)} automatic + {_number(grade.written)} for written answers − {_number(grade.penalty)} for lateness "
                        f"= {_number(grade.total)} of {_number(table.max_scores[tp])}.{unread}</p>")
        if verdict["notes"]:
            body.append("<h3>Notes of the grader</h3><ul>" + "".join(f"<li>{_marked(note)}</li>" for note in verdict["notes"]) + "</ul>")
        rows = [(e["exercise"], f"{_number(e['score'])} of {_number(e['max_score'])}", c["check"], "passed" if c["passed"] else "not passed", c["message"])
                for e in verdict["exercises"] for c in e["checks"]]
        body.append("<h3>Checks</h3>" + _table("Each check, and what the judge says", ("exercise", "points", "check", "result", "reason"), rows))
    return _page(student, body)


# Pictures


def _score_plot(verdicts):
    shares = [10 * v["score"] / v["max_score"] for v in verdicts]
    counts = [sum(min(int(share), 9) == i for share in shares) for i in range(10)]
    figure, axes = _axes("share of the automatic points (%)", "submissions")
    axes.bar([10 * i + 5 for i in range(10)], counts, width=9, color=_BAR)
    axes.set_xticks(range(0, 101, 20))
    said = ", ".join(f"{n} from {10 * i} to {10 * i + 10} %" for i, n in enumerate(counts) if n)
    return "Scores", figure, f"Histogram of scores. Submissions by share of the automatic points: {said}."


def _exercise_plot(verdicts):
    rates = {name: 100 * mean(result["verdict"] == "passed" for result in results) for name, results in _by_exercise(verdicts).items()}
    figure, axes = _axes("submissions with full marks (%)", "", height=max(2.4, 0.9 + 0.24 * len(rates)), whole=None)
    names = list(rates)[::-1]
    axes.barh(names, [rates[name] for name in names], color=_BAR, height=0.7)
    axes.set_xlim(0, 100)
    return "Pass rate of each exercise", figure, "Bars, full marks by exercise: " + ", ".join(f"{name} {rate:.0f} %" for name, rate in rates.items()) + "."


def _time_plot(verdicts):
    seconds = [v["seconds"] for v in verdicts]
    figure, axes = _axes("seconds to grade", "submissions")
    axes.hist(seconds, bins=10, range=(0, max(seconds) or 1), color=_BAR, rwidth=0.9)
    return "Time used", figure, f"Histogram of the seconds that grading took: from {min(seconds):.3g} to {max(seconds):.3g}, median {median(seconds):.3g}."


_INK, _BAR = "#010203", "#040506"  # stand for colours of the style sheet, so that pictures follow light and dark


def _axes(x, y, height=2.4, whole="y"):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.25, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlabel=x, ylabel=y)
    axes.spines[["top", "right"]].set_visible(False)
    if whole:
        axes.locator_params(axis=whole, integer=True)
    for part in (*axes.spines.values(), axes.xaxis.label, axes.yaxis.label):
        part.set_color(_INK)
    axes.tick_params(color=_INK, labelcolor=_INK)
    return figure, axes


def _figure(title, figure, said):
    """A picture with its title and what it says in words; its text is text, its colours those of the page."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": said}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r' id="[\w.]+_\d+"', "", svg)  # nothing refers to them, and on one page they would not be unique
    svg = re.sub(r"font-family: [^;\"]+", "font-family: inherit", svg)
    svg = svg.replace(_INK, "currentColor").replace(_BAR, "var(--bar)")
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(said)}" ', 1)
    return f"<figure><figcaption>{escape(title)}</figcaption>{svg}</figure>"


# Words and tables


def _page(title, body):
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n")


def _table(caption, header, rows, name=0):
    """A table whose rows are named by the column ``name``; columns of numbers stand to the right."""
    numeric = [all(re.fullmatch(r"[\d.]+( %)?|–", row[i]) for row in rows) for i in range(len(header))]

    def cell(tag, text, i, scope=""):
        right = ' class="number"' if numeric[i] else ""
        return f"<{tag}{scope}{right}>{_marked(text)}</{tag}>"

    head = "".join(cell("th", text, i, ' scope="col"') for i, text in enumerate(header))
    lines = ["".join(cell("th", text, i, ' scope="row"') if i == name else cell("td", text, i) for i, text in enumerate(row)) for row in rows]
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption)}"><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def _marked(text):
    """Escaped text, with what stands in `backticks` as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _count(n, one, many=None):
    return f"{n} {one if n == 1 else many or one + 's'}"


def _number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _percent(part, whole):
    return f"{100 * part / whole:.0f} %"
