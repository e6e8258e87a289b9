"""One loop for every training of the course: a budget, a bar, curves, and samples that get better.

    view = tp.live(seconds=60, title="with attention")
    for step in view:
        ...
        view.log(loss=loss)
        if step % 100 == 0:
            view.sample(decode(model))
    view.plot()

In a notebook at which somebody sits, a bar, the curves and the last samples are kept up to date;
anywhere else nothing moves, and one summary is printed at the end.
"""

import html
import math
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from itertools import cycle

from autograder.runtime import rich_output  # what draws is imported where it is drawn: matplotlib takes its time

__all__ = ["live", "one_cycle", "quick"]

QUICK_SECONDS = 1.0
QUICK_STEPS = 3
REFRESH = 2.0  # seconds between two drawings of the curves
TRAINING, VALIDATION = ("#0B62A4", "-"), ("#B34700", "--")  # a colour and a dash each, in all sessions
LINES = [TRAINING, VALIDATION, ("#00694E", ":"), ("#7A2E9D", "-.")]


def quick():
    """Whether all is to run and nothing to be learned.

    So it is with TP_QUICK=1 in the environment, and in nbgrader's Validate, which wants to see checks.
    """
    return os.environ.get("TP_QUICK") == "1" or os.environ.get("NBGRADER_EXECUTION") == "validate"


def one_cycle(progress, peak=6e-3, rise=0.08):
    """The learning rate when the fraction `progress` of a training is over, from 0 to 1.

    It climbs along a cosine from a twenty-fifth of `peak` to `peak` for the fraction `rise`, then falls to 0.
    """
    if progress < rise:
        return peak * (1 - 0.96 * (1 + math.cos(math.pi * progress / rise)) / 2)
    return peak * (1 + math.cos(math.pi * (progress - rise) / (1 - rise))) / 2


def live(steps=None, seconds=None, title="", every=50, summarised=True):
    """A `View` to iterate over: 0, 1, 2, … until `steps` or `seconds` (wall clock) run out.

    `every` is the number of steps over which a mean is taken. When the run is `quick`,
    budgets are cut to one second and three steps. With `summarised=False` no summary is printed at the end.
    Raises `ValueError` without a budget.
    """
    return View(steps, seconds, title, every, summarised)


class View:
    """A training run: what was logged, how much of its budget is used, and the loop itself.

    `history` is name → list of (step, value), `samples` a list of (step, text). An interrupt ends the
    loop after the step in hand; iterating over the same view again goes on where it stopped.
    """

    def __init__(self, steps, seconds, title, every, summarised=True):
        if steps is None and seconds is None:
            raise ValueError("live() needs a budget: steps=… or seconds=…")
        if quick():
            steps = QUICK_STEPS if steps is None else min(steps, QUICK_STEPS)
            seconds = QUICK_SECONDS if seconds is None else min(seconds, QUICK_SECONDS)
        self.steps, self.seconds, self.title, self.every = steps, seconds, title, every
        self.summarised = summarised
        self.history, self.samples = {}, []
        self.step = 0
        self._spent = 0.0       # seconds used by earlier rounds of the loop
        self._started = None    # when the present round began, None between rounds
        self._stop = False

    # -- the loop

    def __iter__(self):
        self._stop = False
        self._started = time.perf_counter()
        display = Display(self)
        try:
            with interrupts_stop(self):
                while not self._stop and self.progress() < 1:
                    yield self.step
                    self.step += 1
                    display.refresh()
        finally:
            self._spent, self._started = self.elapsed(), None
            display.close()

    def elapsed(self):
        """Seconds spent in the loop, pauses between two rounds of it not counted."""
        return self._spent + (0 if self._started is None else time.perf_counter() - self._started)

    def progress(self):
        """The fraction of the budget that is used, from 0 to 1: what a schedule needs."""
        used = [0.0]
        if self.steps is not None:
            used.append(self.step / self.steps if self.steps else 1.0)
        if self.seconds is not None:
            used.append(self.elapsed() / self.seconds if self.seconds else 1.0)
        return min(max(used), 1.0)

    # -- what happened

    def log(self, **values):
        """Keep values of this step, name=value: numbers, or tensors () or (1,) on any device.

        Raises `RuntimeError` where a tensor has more than one element.
        """
        for name, value in values.items():
            value = value.item() if hasattr(value, "item") else float(value)
            self.history.setdefault(name, []).append((self.step, value))

    def mean(self, name):
        """The mean of what was logged as `name` in its last `every` steps. Raises `KeyError` where nothing was."""
        until = self.history[name][-1][0]
        last = [value for step, value in self.history[name][-self.every:] if step > until - self.every]
        return sum(last) / len(last)

    def sample(self, text):
        """Keep a decoded sample of this step."""
        self.samples.append((self.step, str(text)))

    def summary(self):
        """Title, steps, time in seconds, and where each curve ends, in one line."""
        ends = [f"{name.replace('_', ' ')} {self.smoothed(name)[-1]:.4g}" for name in self.history]
        line = " · ".join([f"{self.step} steps in {self.elapsed():.1f} s", *ends])
        return f"{self.title}: {line}" if self.title else line

    def story(self, n=4):
        """At most n samples from the first to the last, a line each."""
        if not self.samples:
            return ""
        last = len(self.samples) - 1
        picked = sorted({round(last * i / max(n - 1, 1)) for i in range(n)})
        samples = (self.samples[i] for i in picked)
        return "\n".join(f"step {step:>5}  {rich_output.visible(text)}" for step, text in samples)

    # -- curves

    def plot(self):
        """Show the curves and return them as a `Picture`; None where nothing was logged.

        Pale is each value, strong a centred mean of them; `loss` and `val_loss` share a panel.
        """
        from . import plots

        if self.history:
            return plots.show(self.figure(), self.alt())

    def figure(self):
        """The curves as a matplotlib figure, a panel (3.6 × 2.7 inches) for each last word of the names."""
        from matplotlib.figure import Figure

        panels = {}
        for name in self.history:
            panels.setdefault(name.split("_")[-1], []).append(name)
        figure = Figure(figsize=(3.6 * len(panels) + 0.4, 2.7), layout="constrained", facecolor="white")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for ax, (label, names) in zip(axes, panels.items(), strict=True):
            others = cycle(LINES[2:] if any(name.startswith("val_") for name in names) else LINES)
            for name in names:
                colour, dash = VALIDATION if name.startswith("val_") else \
                    TRAINING if f"val_{name}" in self.history else next(others)
                steps, values = zip(*self.history[name], strict=True)
                if len(values) > 2 * self.every:
                    ax.plot(steps, values, color=colour, alpha=0.18, linewidth=0.8)
                ax.plot(steps, self.smoothed(name), color=colour, linestyle=dash, linewidth=1.8,
                        marker="o" if len(values) < 12 else None, markersize=3.5, label=name.replace("_", " "))
            ax.set_xlabel("step")
            ax.set_ylabel(label if len(names) > 1 else names[0].replace("_", " "))
            if len(names) > 1:
                ax.legend(frameon=False)
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(alpha=0.25)
        if self.title:
            figure.suptitle(self.title, fontsize=11)
        return figure

    def smoothed(self, name):
        """What is drawn of the values of `name`: each value itself while there are only a few, else a centred mean.

        The mean is over `every` values around each. Where there are fewer before it, as many are taken after it, so
        that the line begins at the first value; at the end it is over the last values alone.
        """
        values = [value for _, value in self.history[name]]
        if len(values) <= 2 * self.every:
            return values
        sums = [0.0]
        for value in values:
            sums.append(sums[-1] + value)
        reach = [min(self.every // 2, i) for i in range(len(values))]
        spans = [(i - near, min(i + near + 1, len(values))) for i, near in enumerate(reach)]
        return [(sums[end] - sums[start]) / (end - start) for start, end in spans]

    def alt(self):
        """The curves in words: where each begins and ends."""
        lines = {name.replace("_", " "): self.smoothed(name) for name in self.history}
        said = [f"{name} goes from {line[0]:.3g} to {line[-1]:.3g}" for name, line in lines.items()]
        return f"Curves over {self.step} steps{': ' + self.title if self.title else ''}. " + "; ".join(said) + "."


class Display:
    """What is seen of a view while it runs: everything if somebody watches, the summary if not."""

    def __init__(self, view):
        self.view = view
        self.bar = self.handle = None
        self.in_notebook = rich_output.is_interactive()
        self.next = REFRESH
        if not self.in_notebook and not (rich_output.ipython_kernel() is None and sys.stderr.isatty()):
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:  # a kernel with little more than torch: no bar, and the summary at the end
            return
        # the bar counts what is said: steps where their number is known, seconds otherwise
        self.bar = tqdm(total=view.steps or view.seconds, initial=self.used(), desc=view.title or None, leave=False,
                        bar_format="{l_bar}{bar}| {elapsed}<{remaining}{postfix}")

    def used(self):
        """What the bar counts: steps, or seconds where the number of steps is not known."""
        return self.view.elapsed() if self.view.steps is None else self.view.step

    def refresh(self):
        """Move the bar after a step, and draw the curves anew when it is time to."""
        if self.bar is None:
            return
        view = self.view
        self.bar.update(self.used() - self.bar.n)
        if view.elapsed() < self.next:
            return
        begin = time.perf_counter()
        rate = view.step / max(view.elapsed(), 1e-9)
        self.bar.set_postfix_str(f"{rate:.3g} steps/s")
        if self.in_notebook and view.history:
            self.draw()
        # drawing may take a twentieth of the time, not more
        self.next = view.elapsed() + max(REFRESH, 20 * (time.perf_counter() - begin))

    def draw(self):
        """Show the curves and the last samples, in the place of those shown before."""
        from IPython.display import display

        from . import plots

        view = self.view
        bundle = plots.Picture(view.figure(), view.alt()).bundle()
        bundle["text/html"] += f"<pre>{html.escape(view.summary() + chr(10) + view.story())}</pre>"
        if self.handle is None:
            self.handle = display(bundle, raw=True, display_id=True)
        else:
            self.handle.update(bundle, raw=True)

    def close(self):
        """Take bar and curves away, and print the summary and a few samples where they can be read."""
        view = self.view
        if self.bar is not None:
            if view.progress() >= 1:  # by steps or by seconds: a budget that is used up is a bar that is full
                self.bar.update(self.bar.total - self.bar.n)
            self.bar.close()
        if self.handle is not None:
            self.handle.update({"text/plain": "", "text/html": ""}, raw=True)
        if view.summarised and (self.in_notebook or rich_output.ipython_kernel() is not None or self.bar is not None):
            print("\n".join(filter(None, [view.summary(), view.story()])))


@contextmanager
def interrupts_stop(view):
    """While this lasts, the first interrupt asks the view to stop, the second one is an ordinary interrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.getsignal(signal.SIGINT)

    def stop(number, frame):
        view._stop = True
        signal.signal(signal.SIGINT, previous)
        print("Stopping after this step. Iterate over the same view to go on.", file=sys.stderr)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
