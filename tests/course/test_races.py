"""The races of session 3: their tasks, their recipe, and what is said of them."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from tp import plots, races, training


def test_a_sum_is_written_backwards_and_no_pair_is_in_training_and_test():
    rng = np.random.default_rng(0)
    pairs = []
    for part in (True, False):
        X, y = races.sums(rng, 400, training=part)
        for question, answer in zip(X, y, strict=True):
            assert eval(question[::-1]) == int(answer[::-1])
        pairs.append({frozenset(question.replace("-", "+").split("+")) for question in X})
        assert {races.operation(question) for question in X} == {"sum", "difference"}
    assert not pairs[0] & pairs[1]


def test_a_copy_is_the_question_of_6_to_14_letters():
    X, y = races.copies(np.random.default_rng(0), 300)
    assert X == y and {len(text) for text in X} == set(range(6, 15)) and set("".join(X)) == set("abcdefgh")


class Recorder(nn.Module):
    """A model of one number that keeps what it is asked."""

    def __init__(self, X, y):
        super().__init__()
        self.X, self.y, self.seen, self.rates = X, y, [], []
        self.number = nn.Parameter(torch.ones(()))

    def encode(self, X, y):
        self.seen += [*X]
        self.rates.append(self.optimizer.param_groups[0]["lr"])
        return X, y, y

    def forward(self, encoder_input, decoder_input, teacher_enforce):
        self.forced = teacher_enforce
        return self.number

    def loss(self, output, target):
        return 100 * output ** 2

    def validation_loss(self):
        return len(self.seen)


def test_every_batch_is_fresh_and_the_rate_climbs_then_falls(monkeypatch):
    monkeypatch.delenv("TP_QUICK", raising=False)
    model = races.train(Recorder, races.copies, 20, "", teacher_enforce=False, seed=3)
    assert len(model.X) == 8000 and len(model.seen) == 20 * 64 and len(set(model.seen)) > 1200
    assert model.forced is False and model.input_reversed is False
    peak = int(np.argmax(model.rates))
    assert peak == 6 and model.rates == sorted(model.rates[:peak + 1]) + sorted(model.rates[peak + 1:], reverse=True)
    assert model.number.item() == pytest.approx(1 - sum(model.rates), abs=2e-3)
    again = races.train(Recorder, races.copies, 20, "", seed=3)
    assert again.seen == model.seen and races.train(Recorder, races.sums, 2, "").input_reversed is True


@pytest.mark.parametrize("rise", [0.08, 0.3])
def test_one_cycle_has_its_peak_where_the_climb_ends(rise):
    rates = [training.one_cycle(i / 1000, peak=2.0, rise=rise) for i in range(1001)]
    assert rates[0] == pytest.approx(0.08) and max(rates) == rates[round(1000 * rise)] == pytest.approx(2.0)
    assert rates[-1] == pytest.approx(0.0, abs=1e-9)


class Answers:
    X_val, y_val = ["1+1", "2-1", "9+9"], ["2", "1", "18"]

    def __init__(self, *written):
        self.answer = lambda questions: list(written)


def test_models_are_compared_on_the_same_questions_by_group(capsys, monkeypatch):
    shown = []
    monkeypatch.setattr(plots, "show", lambda figure, alt: shown.append((figure, alt)))

    def right_by(group_of, questions, written, truth):
        groups = sorted(set(map(group_of, questions)))
        return {g: np.mean([w == r for q, w, r in zip(questions, written, truth, strict=True) if group_of(q) == g])
                for g in groups}

    races.compare(right_by, {"good": Answers("2", "1", "18"), "bad": Answers("2", "0", "0")},
                  {"operation": races.operation})
    said = capsys.readouterr().out
    rows = {line.split()[0]: line.split()[1:] for line in said.splitlines() if line.split()[0] in ("good", "bad")}
    assert rows == {"good": ["100.0%", "100.0%"], "bad": ["0.0%", "50.0%"]}
    (figure, alt), = shown
    assert "bad, by operation: difference 0%, sum 50%." in alt
    assert [bar.get_height() for bar in figure.axes[0].patches] == [1, 1, 0, 0.5]


def test_a_figure_that_a_notebook_draws_after_this_import_has_the_colours_of_the_course():
    """Whatever has not been imported yet by then: in a process of its own."""
    code = ("from tp import races; from matplotlib.figure import Figure; ax = Figure().subplots(); "
            "print(*(ax.plot([0, 1])[0].get_color() for _ in range(6)))")
    drawn = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert tuple(drawn) == plots.PALETTE
