"""The training loop: its budget, its records, and what an interrupt does."""

import itertools
import signal

import pytest
import torch
import tqdm.auto

import tp
from tp import training


@pytest.fixture(autouse=True)
def full_budgets(monkeypatch):
    monkeypatch.delenv("TP_QUICK", raising=False)


class Clock:
    """A clock that moves only when told to."""

    now = 100.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(training, "time", clock)
    return clock


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_steps_are_counted_from_zero(steps):
    view = tp.live(steps=steps)
    assert list(view) == list(range(steps))
    assert view.progress() == 1.0


def test_seconds_end_the_loop(clock):
    view, seen = tp.live(seconds=10), []
    for _ in view:
        seen.append(view.progress())
        clock.now += 2.5
    assert seen == [0, 0.25, 0.5, 0.75]


def test_whichever_budget_ends_first_counts(clock):
    view, seen = tp.live(steps=100, seconds=10), []
    for step in view:
        seen.append(view.progress())
        clock.now += 4 if step == 2 else 0.3
    assert all(a <= b for a, b in itertools.pairwise(seen))
    assert view.step < 100 and view.elapsed() >= 10


@pytest.mark.parametrize("budget, interrupted, full", [
    ({"steps": 100, "seconds": 10}, False, True), ({"steps": 3, "seconds": 99}, False, True),
    ({"seconds": 10}, False, True), ({"steps": 100}, True, False),
])
def test_the_bar_is_full_when_either_budget_is_used_up(monkeypatch, clock, budget, interrupted, full):
    """tqdm paints a bar red that is closed before it is full."""
    closed = []

    class Bar(tqdm.auto.tqdm):
        def close(self):
            closed.append((self.n, self.total))
            super().close()

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    monkeypatch.setattr(training.rich_output, "is_interactive", lambda: True)
    for step in tp.live(**budget):
        clock.now += 0.7
        if interrupted and step == 5:
            break
    n, total = closed[0]
    assert (n == total) == full


def test_a_budget_is_needed():
    with pytest.raises(ValueError, match="budget"):
        tp.live()


@pytest.mark.parametrize("variable, value", [("TP_QUICK", "1"), ("NBGRADER_EXECUTION", "validate")])
def test_quick_mode_caps_both_budgets(monkeypatch, clock, variable, value):
    assert not tp.quick()
    monkeypatch.setenv(variable, value)
    assert len(list(tp.live(steps=10_000))) == 3
    assert len(list(tp.live(steps=2, seconds=1000))) == 2
    view = tp.live(seconds=1000)
    for _ in view:
        clock.now += 0.75
    assert view.step == 2


def test_what_is_logged_is_kept_with_its_step():
    view = tp.live(steps=5, every=3)
    for step in view:
        view.log(loss=torch.tensor(float(step), requires_grad=True))
        if step % 2:
            view.log(exact_match=step / 10)
    assert view.history == {"loss": [(i, float(i)) for i in range(5)], "exact_match": [(1, 0.1), (3, 0.3)]}
    assert view.mean("loss") == pytest.approx((2 + 3 + 4) / 3)
    assert view.smoothed("loss") == [0, 1, 2, 3, 4]  # few values stand for themselves


def test_the_strong_line_lies_within_the_raw_band_from_its_first_value_on():
    view = tp.live(steps=400)
    for step in view:
        view.log(loss=0.99**step + 0.02 * (-1)**step)
    raw, strong = ([value for _, value in view.history["loss"]], view.smoothed("loss"))
    assert strong[0] == raw[0] and len(strong) == len(raw)
    assert all(abs(line - 0.99**step) < 0.021 for step, line in enumerate(strong[:-view.every]))
    assert strong[-1] == pytest.approx(sum(raw[-26:]) / 26)
    assert f"loss {strong[-1]:.4g}" in view.summary() and f"to {strong[-1]:.3g}" in view.alt()


def test_training_and_validation_look_the_same_in_every_run():
    looks = []
    for names in (["loss", "val_loss"], ["val_loss", "other_loss", "loss"]):
        view = tp.live(steps=3)
        for step in view:
            view.log(**{name: step for name in names})
        looks.append({line.get_label(): (line.get_color(), line.get_linestyle())
                      for line in view.figure().axes[0].lines})
    assert looks[0].items() < looks[1].items()
    assert looks[0] == {"loss": training.TRAINING, "val loss": training.VALIDATION}
    assert len(set(looks[1].values())) == 3


def test_interrupt_ends_after_the_step_and_the_view_goes_on_later(capsys, clock):
    before = signal.getsignal(signal.SIGINT)
    view, done = tp.live(steps=6, seconds=100), []
    for step in view:
        if step == 2:
            signal.raise_signal(signal.SIGINT)
        clock.now += 1
        done.append(step)
    assert done == [0, 1, 2] and "Stopping after this step" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before
    clock.now += 1000  # a long break costs nothing
    assert view.progress() == 0.5
    done += list(view)
    assert done == [0, 1, 2, 3, 4, 5]


def test_second_interrupt_is_an_ordinary_one():
    view = tp.live(steps=5)
    with pytest.raises(KeyboardInterrupt):
        for _ in view:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)


def test_an_error_in_the_loop_is_not_swallowed_and_leaves_the_handler_as_it_was():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError):
        for _ in tp.live(steps=5):
            raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is before


def test_breaking_off_is_allowed_and_keeps_the_time(clock):
    view = tp.live(seconds=10)
    for step in view:
        clock.now += 1
        if step == 3:
            break
    clock.now += 500
    assert view.elapsed() == 4


def test_quiet_when_nobody_watches(capsys):
    for _ in tp.live(steps=3):
        pass
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.parametrize("summarised", [True, False])
def test_a_summary_can_be_left_out(monkeypatch, capsys, summarised):
    monkeypatch.setattr("tp.training.rich_output.ipython_kernel", lambda: "a kernel at which nobody sits")
    for _ in tp.live(steps=3, summarised=summarised):
        pass
    assert capsys.readouterr().out.startswith("3 steps in") == summarised


def test_samples_tell_a_story_from_first_to_last():
    view = tp.live(steps=101)
    for step in view:
        view.sample(f"94+8={step}")
    lines = view.story(3).splitlines()
    assert [line.split()[-1] for line in lines] == ["94+8=0", "94+8=50", "94+8=100"]
    assert tp.live(steps=1).story() == ""


def test_curves_share_a_panel_when_they_share_their_last_word():
    view = tp.live(steps=9, title="a run")
    for step in view:
        view.log(loss=9 - step, exact_match=step)
        if step % 3 == 0:
            view.log(val_loss=10 - step)
    picture = view.plot()
    panels = {ax.get_ylabel(): {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
              for ax in picture.figure.axes}
    assert panels == {
        "loss": {"loss": [[i, 9 - i] for i in range(9)], "val loss": [[i, 10 - i] for i in (0, 3, 6)]},
        "exact match": {"exact match": [[i, i] for i in range(9)]},
    }
    assert "a run" in picture.alt and "loss goes from 9 to" in picture.alt


def test_nothing_logged_means_nothing_to_plot():
    assert tp.live(steps=1).plot() is None


def test_a_mean_is_of_steps_and_not_of_all_that_was_logged_now_and_then(rng):
    view, losses = tp.live(steps=300, seconds=100), rng.normal(size=300)
    for step in view:
        view.log(loss=losses[step])
        if step % 100 == 0:
            view.log(val_loss=3.0 - step / 100)
    assert view.mean("loss") == pytest.approx(losses[-view.every:].mean())
    assert view.mean("val_loss") == 1.0 and "val loss 1" in view.summary()
