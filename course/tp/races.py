"""Races of session 3: the same recipe, the same number of steps, other models; and what they get right, by kind.

A task is a function `draw(rng, n, training=True)` → questions and answers, two lists or arrays (N,) of strings.
"""

from itertools import cycle

import numpy as np
import torch
from matplotlib.figure import Figure

from autograder.runtime import rich_output

from . import plots
from .arithmetic import answers, backwards, draw_split, expressions
from .training import live, one_cycle

__all__ = ["bars", "compare", "copies", "operation", "sums", "train"]


def sums(rng, n, training=True):
    """`n` sums and differences of numbers below 100, question and answer written backwards: two arrays (N,).

    No pair of numbers is drawn both in training and for a test.
    """
    a, symbol, b = draw_split(rng, n, training, n_digits=2, operators="+-")
    return expressions(a, symbol, b), backwards(answers(a, symbol, b))


def copies(rng, n, training=True):
    """`n` random strings of 6 to 14 letters; the answer is the question again."""
    letters, lengths = rng.choice(list("abcdefgh"), size=(n, 14)), rng.integers(6, 15, size=n)
    texts = ["".join(row[:length]) for row, length in zip(letters, lengths, strict=True)]
    return texts, texts


def operation(question):
    """Whether a question is a sum or a difference."""
    return "difference" if "-" in question else "sum"


def train(build, draw, steps, title, teacher_enforce=True, seed=0):
    """A model, trained for `steps` batches of 64 fresh samples from the task `draw`.

    `build(X, y)` makes it, a `Calculator` of the notebook, for questions and answers of which the last 2000 are held
    out. The recipe: Adam, one cycle of the learning rate with a long climb, gradients cut to a norm of 1.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    (X, y), (X_test, y_test) = draw(rng, 6000), draw(rng, 2000, training=False)
    model = build([*X, *X_test], [*y, *y_test])
    model.input_reversed = model.answer_reversed = draw is sums
    model.optimizer = torch.optim.Adam(model.parameters())
    view = live(steps=steps, title=title)
    for step in view:
        model.optimizer.param_groups[0]["lr"] = one_cycle(view.progress(), rise=0.3)
        encoder_input, decoder_input, target = model.encode(*draw(rng, 64))
        loss = model.loss(model(encoder_input, decoder_input, teacher_enforce), target)
        model.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        model.optimizer.step()
        view.log(loss=loss.detach())
        if step % 200 == 0:
            view.log(val_loss=model.validation_loss())
    return model


def compare(exact_match_by, models, groupings):
    """Show table and bars of exact match on held-out questions, free running.

    `exact_match_by(group_of, questions, written, truth)` counts. `models` is name → model, all asked the same
    questions; `groupings` is heading → function from a question to its group.
    """
    questions, truth = (next(iter(models.values())).X_val, next(iter(models.values())).y_val)
    written = {name: model.answer(questions) for name, model in models.items()}
    panels = {heading: {name: exact_match_by(group_of, questions, written[name], truth) for name in models}
              for heading, group_of in groupings.items()}
    columns = [(heading, group) for heading, group_of in groupings.items()
               for group in sorted(set(map(group_of, questions)))]
    counts = [sum(groupings[heading](question) == group for question in questions) for heading, group in columns]
    shares = ([name, *(f"{panels[heading][name][group]:.1%}" for heading, group in columns)] for name in models)
    rich_output.table([["(held-out questions)", *counts], *shares],
                      ["model", *(f"{heading} {group}" for heading, group in columns)])
    bars(panels)


# a colour and a hatching for each model
BARS = [("#0B62A4", ""), ("#B34700", "//"), ("#00694E", ".."), ("#7A2E9D", "\\\\"), ("#5C5C5C", "xx")]


def bars(panels):
    """Show shares as bars, a panel for each heading: `panels` is heading → {model: {group: share}}."""
    figure = Figure(figsize=(5.2 * len(panels), 3.6), layout="constrained", facecolor="white")
    sentences = []
    for ax, (heading, by_model) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        groups, width = sorted(next(iter(by_model.values()))), 0.8 / len(by_model)
        for i, ((name, by_group), (colour, hatch)) in enumerate(zip(by_model.items(), cycle(BARS), strict=False)):
            ax.bar(np.arange(len(groups)) + i * width, [by_group[group] for group in groups], width, label=name,
                   color=colour, hatch=hatch, edgecolor="white")
            sentences.append(f"{name}, by {heading}: "
                             + ", ".join(f"{group} {by_group[group]:.0%}" for group in groups) + ".")
        ax.set_xticks(np.arange(len(groups)) + 0.4 - width / 2, groups)
        ax.set(xlabel=heading, ylabel="exact match", ylim=(0, 1))
        ax.spines[["top", "right"]].set_visible(False)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    plots.show(figure, "Exact match, free running. " + " ".join(sentences))
