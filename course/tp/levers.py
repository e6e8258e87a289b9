"""The better recipe of session 2: its samples, its training, its measure. Components can be taken away one by one.

A model is a `Calculator` of the notebook; what is held out for its validation is what it is measured on.
"""

import numpy as np
import torch

from .arithmetic import answers, backwards, draw_split, expressions
from .training import live, one_cycle

__all__ = ["SHOWN", "ask", "samples", "share_right", "train"]

# Questions that the notebook always prints. Their pairs of numbers are never trained on.
SHOWN = ("94+8", "999+1")
SHOWN_PAIRS = {frozenset(map(int, question.split("+"))) for question in SHOWN}


def samples(rng, n, question_backwards=True, answer_backwards=True, even_lengths=True, training=True):
    """`n` sums and differences of numbers below 1000 with their answers: two arrays (N,) of strings.

    With `even_lengths` numbers of one, two and three digits are equally frequent; without, all numbers are. No pair of
    numbers is drawn both in training and for a test, and no pair of `SHOWN` in training.
    """
    a, symbol, b = draw_split(rng, n + n // 8 + 8, training, operators="+-", even_lengths=even_lengths)
    if training:
        chosen = [i for i, pair in enumerate(zip(a.tolist(), b.tolist(), strict=True))
                  if frozenset(pair) not in SHOWN_PAIRS][:n]
    else:
        chosen = slice(n)
    a, symbol, b = a[chosen], symbol[chosen], b[chosen]
    X, y = expressions(a, symbol, b, invert=question_backwards), answers(a, symbol, b)
    return X, backwards(y) if answer_backwards else y


def train(build, steps, title="", question_backwards=True, answer_backwards=True, even_lengths=True, seed=0):
    """A model, trained for `steps` batches of 64 fresh samples; returns it with the view of its training.

    `build(X, y)` makes it, for questions and answers of which the last 1000 are held out, drawn with even lengths. The
    recipe: Adam with a short memory (β₂ = 0.98), one cycle of the learning rate, gradients cut to a norm of 1.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    order = {"question_backwards": question_backwards, "answer_backwards": answer_backwards}
    (X, y), (X_test, y_test) = samples(rng, 3000, **order), samples(rng, 1000, **order, training=False)
    model = build([*X, *X_test], [*y, *y_test])
    model.input_reversed, model.answer_reversed = question_backwards, answer_backwards
    model.optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    view = live(steps=steps, title=title)
    for step in view:
        model.optimizer.param_groups[0]["lr"] = one_cycle(view.progress())
        encoder_input, decoder_input, target = model.encode(*samples(rng, 64, **order, even_lengths=even_lengths))
        loss = model.loss(model(encoder_input, decoder_input), target)
        model.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        model.optimizer.step()
        view.log(loss=loss.detach())
        if step % 200 == 0:
            view.log(val_loss=model.validation_loss())
            view.sample(f"{SHOWN[0]} → {ask(model, SHOWN[0])}")
    return model, view


def ask(model, question):
    """What the model answers, free running; question and answer are strings as a person writes them."""
    written = model.answer([question[::-1] if model.input_reversed else question])[0]
    return written[::-1] if model.answer_reversed else written


def share_right(model, operator, digits=None):
    """Exact match, free running, on the held-out questions with this operator.

    With `digits`, on those alone whose shorter number has so many digits.
    """
    pairs = [(question, truth) for question, truth in zip(model.X_val, model.y_val, strict=True)
             if operator in question and digits in (None, min(map(len, question.split(operator))))]
    written = model.answer([question for question, _ in pairs])
    return sum(said == truth for said, (_, truth) in zip(written, pairs, strict=True)) / len(pairs)
