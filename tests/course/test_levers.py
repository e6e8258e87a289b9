"""The better recipe of session 2: its samples, what each lever changes, its measure."""

import numpy as np
import pytest
import torch
from torch import nn

from tp import levers
from tp.calculator import Calculator


class Counting(Calculator):
    """A model of a few numbers that keeps what it is asked; it writes nothing that is right."""

    def __init__(self, X, y):
        self.asked = []
        super().__init__(X, y, hidden_size=4, device="cpu")

    def parts(self, hidden_size):
        return nn.Linear(1, hidden_size), nn.Linear(1, self.decoder_vocabulary_size)

    def encode(self, X, y):
        self.asked.append([*X])
        return super().encode(X, y)

    def forward(self, encoder_input, decoder_input=None, teacher_enforce=True, inference=False):
        return torch.log_softmax(0 * decoder_input + self.decoder.bias, dim=-1)


@pytest.mark.parametrize("question_backwards", [True, False])
@pytest.mark.parametrize("answer_backwards", [True, False])
def test_a_lever_turns_its_side_around_and_nothing_else(question_backwards, answer_backwards):
    both = levers.samples(np.random.default_rng(3), 50, question_backwards, answer_backwards)
    asked, answered = (side if not turned else [text[::-1] for text in side]
                       for side, turned in zip(both, (question_backwards, answer_backwards), strict=True))
    assert [eval(question) for question in asked] == [int(answer) for answer in answered]
    plain = levers.samples(np.random.default_rng(3), 50, False, False)
    assert [*plain[0]] == [*asked] and [*plain[1]] == [*answered]


def test_no_pair_of_numbers_is_in_training_and_test():
    pairs = [{frozenset(question.replace("-", "+").split("+"))
              for question in levers.samples(np.random.default_rng(0), 2000, False, training=part)[0]}
             for part in (True, False)]
    assert not pairs[0] & pairs[1]


def test_the_questions_that_are_shown_are_never_trained_on():
    asked = {frozenset(map(int, question.replace("-", "+").split("+"))) for seed in range(60)
             for question in levers.samples(np.random.default_rng(seed), 1000, False)[0]}
    assert not asked & levers.SHOWN_PAIRS and {frozenset((9, 1)), frozenset((8, 90))} & asked


def test_a_model_is_asked_as_a_person_writes():
    model = Counting(["1+1"] * 12, ["2"] * 12)
    model.answer = lambda questions: [questions[0].replace("+", "")]
    for reads, writes, answer in ((True, True, "948"), (True, False, "849"), (False, True, "849")):
        model.input_reversed, model.answer_reversed = reads, writes
        assert levers.ask(model, "94+8") == answer


def test_a_seed_gives_the_same_training_and_another_seed_another(monkeypatch):
    monkeypatch.delenv("TP_QUICK", raising=False)
    (model, view), (same, _), (other, _) = (levers.train(Counting, 3, seed=seed) for seed in (0, 0, 1))
    assert model.asked == same.asked != other.asked and torch.equal(model.decoder.bias, same.decoder.bias)
    assert len(model.X_val) == 1000 and model.input_reversed and model.answer_reversed
    assert len(view.history["loss"]) == 3 and len(view.history["val_loss"]) == 1
    batches = [asked for asked in model.asked if len(asked) == 64]
    assert len(batches) == 3 and batches[0] != batches[1]


@pytest.mark.parametrize("operator, share", [("+", 0.5), ("-", 1.0)])
def test_the_share_of_right_answers_is_counted_by_operator(operator, share):
    model = Counting(["1+1"] * 9 + ["1+1", "2+2", "3-1"], ["2"] * 9 + ["2", "4", "2"])
    model.answer = lambda questions: ["2"] * len(questions)
    assert levers.share_right(model, operator) == levers.share_right(model, operator, digits=1) == share
