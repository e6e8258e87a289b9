"""(f) How a class grows, behind the judges: what looking through it and entering cost, and where one writer ends it.

Nothing is judged: **workers are simulated**, each gives everybody the same verdict after a fixed time, as if it had a
core of its own. In a large class most are graded already, and were filled into the gradebook in bulk; the last ones
are entered as `autograder grade` enters them.
"""

import importlib
import importlib.util
import logging
import math
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from nbgrader.api import Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook, new_uuid
from sqlalchemy import func, insert

from autograder.classroom import samples
from autograder.classroom.grading import grade_class
from autograder.classroom.nbgrader.config import find_alembic
from autograder.classroom.nbgrader.term import Term
from autograder.judging.verdict import ExerciseResult, Verdict
from autograder.model.source import load_source
from autograder.publish import notebooks
from autograder.runtime.findings import CheckResult
from autograder.sandbox.options import Options

from . import postgres
from .grading import COURSE, TP
from .measure import spread, table
from .simulated import Simulated

TITLE = "How a class grows"
SIZES, NEW = [10, 100, 1000, 10_000], 100  # submissions, and how many of them at most are entered
SIDE_BY_SIDE = [1, 2, 4, 8]
JUDGEMENT = 0.4  # seconds
OPTIONS = Options()


class Class:
    """A class of n of which all but `new` are graded; a context manager that gives the seconds of what it does."""

    def __init__(self, n, new, database=None):
        self.n, self.new, self.database = n, min(n, new), database

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="classes-")
        course = samples.classroom_in(Path(self._folder.name) / "course", COURSE, [TP])
        if self.database:
            with open(course.root / "nbgrader_config.py", "a") as file:
                file.write(f"c.CourseDirectory.db_url = {self.database!r}\n")
        self.term = Term(course)
        first, *others = [f"student-{i:05}" for i in range(self.n)]
        notebook = notebooks.filled(COURSE, TP, notebooks.solved(COURSE, TP))
        path = samples.hand_in(course, first, TP, notebook)
        for student in others:
            link = path.parents[1].with_name(student) / TP / path.name
            link.parent.mkdir(parents=True)
            link.hardlink_to(path)
        self.term.register(TP)
        handed = self.term.submitted([TP])
        self.verdict = right(handed[0].read())
        store = self.term.store
        if graded := handed[:self.n - self.new]:
            for one in graded:
                entry = store.record(submission := one.read(), self.verdict, store.key(submission, OPTIONS))
                if one.student == first:
                    self.term.enter(one, entry)
                else:
                    store.save(replace(entry, entered=True))
            fill_in(self.term, first, [one.student for one in graded[1:]])
        return self

    def __exit__(self, *error):
        self._folder.cleanup()

    def graded(self, executor, judgement=0.0):
        """Grade it: clock seconds to see what is there, and clock and CPU seconds of this process for what is new."""
        moments = [(time.monotonic(), 0.0)]
        seen = self.n - self.new

        def each(graded, done, total):
            if done == seen:
                moments.append((time.monotonic(), time.process_time()))

        if not seen:
            moments.append((time.monotonic(), time.process_time()))
        done = grade_class(self.term, [TP], OPTIONS, Simulated(executor, self.verdict, judgement), each=each)
        clock, cpu = time.monotonic(), time.process_time()
        with self.term.gradebook() as gradebook:
            # score by score it takes minutes
            points = gradebook.stock.db.query(func.sum(Grade.auto_score)).scalar() or 0
        if any(one.problem for one in done) or not math.isclose(points, self.n * self.verdict.points):
            raise RuntimeError(f"{points:g} points for {self.n} submissions, {[one.problem for one in done][:3]}")
        return {"n": self.n, "new": self.new, "seeing": moments[1][0] - moments[0][0],
                "entering": clock - moments[1][0], "CPU": cpu - moments[1][1]}


def right(handed):
    """The verdict on a submission in which everything is right."""
    source = load_source(COURSE, TP)
    results = tuple(ExerciseResult(name, source.points(name), source.points(name), "passed",
                                   (CheckResult("values", True, "Right values."),)) for name in source.exercises)
    return Verdict.graded(handed, "0" * 32, OPTIONS, results)


def fill_in(term, like, students):
    """Give students what the student `like` has in the gradebook, in bulk."""
    def columns(row):
        return {column.key: getattr(row, column.key) for column in row.__table__.columns}

    with term.gradebook() as gradebook:
        submission = gradebook.stock.find_submission(TP, like)
        [notebook] = submission.notebooks
        work, page = columns(submission), columns(notebook)
        kinds = {Grade: [columns(row) for row in notebook.grades],
                 Comment: [columns(row) for row in notebook.comments]}
        rows = {kind: [] for kind in (Student, SubmittedAssignment, SubmittedNotebook, Grade, Comment)}
        for student in students:
            work_id, page_id = new_uuid(), new_uuid()
            rows[Student].append({"id": student})
            rows[SubmittedAssignment].append(work | {"id": work_id, "student_id": student})
            rows[SubmittedNotebook].append(page | {"id": page_id, "assignment_id": work_id})
            for kind, cells in kinds.items():
                rows[kind] += [cell | {"id": new_uuid(), "notebook_id": page_id} for cell in cells]
        for kind, values in rows.items():
            if values:
                gradebook.stock.db.execute(insert(kind), values)
        gradebook.stock.db.commit()


def by_size(n, new, repeats, database=nullcontext):
    """What seeing and entering cost in a class of n, with workers that need no time."""
    found = []
    for _ in range(repeats):
        with database() as address, Class(n, new, address) as group, ThreadPoolExecutor(1) as executor:
            found.append(group.graded(executor))
        print(f"  {n}, {found[-1]['new']} of them new: {found[-1]['entering']:.1f} s", flush=True)
    return found


def by_workers(n, new, executor):
    """A class that is all new, graded by so many workers."""
    with Class(new, new) as group, executor(n) as workers:
        found = group.graded(workers, JUDGEMENT) | {"workers": n}
    print(f"  {n} at once: {found['entering']:.1f} s", flush=True)
    return found


def threads(n):
    """What `--jobs n` judges with."""
    return ThreadPoolExecutor(n)


@contextmanager
def dask(n):
    """Dask workers, each in a process of its own, reached over TCP; each has the verdict's classes before it begins."""
    from distributed import Client, LocalCluster

    workers = LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=None,
                           silence_logs=logging.ERROR)
    with workers, Client(workers) as client:
        client.wait_for_workers(n)
        client.run(importlib.import_module, "autograder.judging.verdict")
        yield client.get_executor(pure=False)


def measure(quick, repeats, folder):
    find_alembic()
    new = 2 if quick else NEW
    sizes, numbers = ([2, 4], [1, 2]) if quick else (SIZES, SIDE_BY_SIDE)
    results = {"size": [run for n in sizes for run in by_size(n, new, repeats if n < max(sizes) else 1)],
               "threads": [by_workers(n, new, threads) for n in numbers]}
    if importlib.util.find_spec("distributed"):
        results["Dask"] = [by_workers(n, new, dask) for n in numbers]
    if not postgres.missing():
        results["PostgreSQL"] = by_size(min(new, 100), new, repeats, lambda: postgres.server(durable=True))
    return results


def report(results, picture):
    sizes = {}
    for run in results["size"]:
        sizes.setdefault(run["n"], []).append(run)
    rows = [[n, spread([run["seeing"] for run in runs], "{:.2f}") if n > runs[0]["new"] else "", *_each(runs),
             f"{n * statistics.median(run['entering'] / run['new'] for run in runs) / 60:.1f}"]
            for n, runs in sizes.items()]
    new = max(run["new"] for run in results["size"])
    text = (f"The cost of a class of `{TP}` apart from judging. **Workers are simulated**: they return the same "
            f"verdict, all right, for everybody. In a class of more than {new} the last {new} are new, and the others "
            "are graded already. *Reading* means to read every submission and find its verdict. The last column "
            "is extrapolated: all submissions of the class, one after the other.\n\n")
    text += table(["submissions in the gradebook", "reading all, s", "entering one, CPU s", "entering one, s",
                   "entering all, minutes"], rows)
    figure, axes = picture(1, 2, "classes")
    seconds = [statistics.median(run["CPU"] / run["new"] for run in runs) for runs in sizes.values()]
    axes[0].plot(list(sizes), seconds, marker="o")
    axes[0].set(xscale="log", ylim=(0, 1.2 * max(seconds)), xlabel="submissions in the gradebook",
                ylabel="entering one, CPU seconds")
    kinds = {"threads": "`--jobs`", "Dask": "Dask workers"}
    rows = []
    for kind, name in kinds.items():
        runs = results.get(kind, [])
        rows += [[f"{name}, {run['workers']}", f"{_rate(run):.0f}", f"{run['workers'] * 60 / JUDGEMENT:.0f}",
                  f"{100 * run['CPU'] / run['entering']:.0f}"] for run in runs]
        axes[1].plot([run["workers"] for run in runs], [_rate(run) for run in runs], marker="o",
                     label=name.strip("`"))
    axes[1].set(ylim=(0, 1.1 * max(map(_rate, results["threads"]))), xlabel="at once", ylabel="submissions a minute")
    header = ["at once", "submissions a minute", "limit of the workers", "the grader's CPU, % of a core"]
    text += (f"\nSimulated workers that take {JUDGEMENT:g} s for each submission, each as if on a core of its own, and "
             "one writer:\n\n" + table(header, rows))
    if "Dask" not in results:
        text += "\nDask was not measured: distributed is not installed.\n"
    if "PostgreSQL" in results:
        runs = results["PostgreSQL"]
        rows = [[name, *_each(runs)] for name, runs in
                (("SQLite", sizes[runs[0]["n"]]), ("PostgreSQL, on the same machine", runs))]
        text += (f"\nA class of {runs[0]['n']} in two gradebooks. CPU seconds are the grader's, not the server's:\n\n"
                 + table(["gradebook", "entering one, CPU s", "entering one, s"], rows))
    else:
        text += "\nPostgreSQL was not measured: it is not installed.\n"
    return text + "\n" + figure("CPU seconds of entering one submission against the size of the class, and submissions "
                                "a minute against the number of workers.")


def _each(runs):
    """CPU and clock seconds of entering one submission."""
    return [spread([run[kind] / run["new"] for run in runs], "{:.3f}") for kind in ("CPU", "entering")]


def _rate(run):
    return 60 * run["new"] / run["entering"]
