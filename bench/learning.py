"""(a) How well a recipe calculates after so many CPU seconds.

Every answer is decoded greedily and counts only if it is right as a whole. The two operands of a test expression
were never seen together in training, in neither order and with no operator.

Axes by letter: T = timesteps, B = batch, V = vocabulary, H = hidden.
"""

import json
import math
import time
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from tp import arithmetic
from tp.arithmetic import DECODER_ALPHABET, ENCODER_ALPHABET

from . import division, working
from .measure import spread, store, stored, table
from .writer import Writer

TITLE = "Exact match against CPU seconds"
TICKS = [10, 30, 100, 300]


@dataclass(frozen=True)
class Recipe:
    """How to train. What differs between the recipes is here, and nothing else differs."""

    title: str
    operators: str
    seconds: float                 # CPU seconds of training
    cell: str = "GRU"              # or LSTM, or Transformer: session 6's, without an encoder
    hidden: int = 128
    embedding: int = 32            # numbers per character; 0: one-hot
    batch: int = 64
    learning_rate: float = 6e-3    # at its highest
    cycle: bool = True             # the learning rate rises for `warm_up` of the time, then falls along a cosine
    warm_up: float = 0.08
    keep: float = 0.0              # update gates start that much more closed: a state is kept longer
    beta2: float = 0.999           # Adam's memory of squared gradients
    clip: float = 0.0              # largest norm of the gradient; 0: no limit
    samples: int = 0               # size of a fixed training set; 0: every batch is fresh
    least_digit_first: bool = True
    working: bool = False          # the answer comes after its working
    attention: bool = False        # the decoder looks at the expression and its own text, then reads out in two layers
    easy_first: float = 0.0        # share of the time with + and - only
    weights: tuple = ()            # how often each operator is drawn, if not equally often

    @property
    def divides(self):
        """Whether the answer is a quotient or a remainder, behind its working."""
        return self.working and self.operators in "/%"


# Where ours agree; docs/benchmarks/learning.md says what each of these is worth.
OURS = dict(batch=128, learning_rate=1e-2, keep=1.0, clip=1.0, beta2=0.98)
TRANSFORMER = dict(cell="Transformer", batch=32, learning_rate=3e-3, clip=1.0, beta2=0.98)
CLASSIC = dict(operators=arithmetic.OPERATORS, seconds=100, embedding=0, cycle=False, samples=75_000,
               least_digit_first=False)

RECIPES = {
    "classic-gru": Recipe("classic GRU, 256 units", hidden=256, learning_rate=0.01, **CLASSIC),
    "classic-lstm": Recipe("classic LSTM, 64 units", cell="LSTM", hidden=64, learning_rate=0.001, **CLASSIC),
    "plus-minus-60": Recipe("ours, + −", "+-", 60, **OURS),
    "plus-minus-180": Recipe("ours, + −, longer", "+-", 180, **OURS),
    "five-600": Recipe("ours, all five", arithmetic.OPERATORS, 600, easy_first=0.25, weights=(3, 3, 0.5, 0.5, 5),
                       **OURS),
    "product-180": Recipe("ours, * with scratchpad", "*", 180, working=True, attention=True, **OURS),
    "quotient-600": Recipe("ours, / with scratchpad", "/", 600, working=True, attention=True, **OURS | dict(batch=64)),
    "remainder-180": Recipe("ours, % with scratchpad", "%", 180, working=True, attention=True, **OURS | dict(batch=64)),
    "product-180-transformer": Recipe("Transformer, * with scratchpad", "*", 180, working=True,
                                      **TRANSFORMER | dict(batch=64)),
    "quotient-600-transformer": Recipe("Transformer, / with scratchpad", "/", 600, working=True, **TRANSFORMER),
    "remainder-180-transformer": Recipe("Transformer, % with scratchpad", "%", 180, working=True, **TRANSFORMER),
    "plus-minus-60-transformer": Recipe("Transformer, + −", "+-", 60, **TRANSFORMER | dict(batch=128)),
}
WORKINGS = {"*": (working.product, working.PRODUCT), "/": (division.quotient, division.QUOTIENT),
            "%": (division.remainder, division.REMAINDER)}  # operator → what writes, its longest text


class Couple(nn.Module):
    """Encoder and decoder on ids, joined by the encoder's last state, and by attention if the recipe says so."""

    def __init__(self, recipe):
        super().__init__()
        self.source = characters(len(ENCODER_ALPHABET), recipe.embedding)
        self.target = characters(len(DECODER_ALPHABET), recipe.embedding)
        cell = getattr(nn, recipe.cell)
        self.encoder = cell(self.source.embedding_dim, recipe.hidden)
        self.decoder = cell(self.target.embedding_dim, recipe.hidden)
        H, V = recipe.hidden, len(DECODER_ALPHABET)
        self.query = nn.Linear(H, H) if recipe.attention else None
        self.output = (nn.Sequential(nn.Linear(2 * H, H), nn.ReLU(), nn.Linear(H, V)) if recipe.attention
                       else nn.Linear(H, V))
        if recipe.cell == "GRU":
            for gru in (self.encoder, self.decoder):
                gru.bias_hh_l0.data[recipe.hidden:2 * recipe.hidden] += recipe.keep

    def forward(self, encoder_ids, decoder_input):
        """(T_enc, B), (T_dec, B) → logits (T_dec, B, V): teacher forcing."""
        henc_ts, state = self.encoder(self.source(encoder_ids))
        hdec_ts, _ = self.decoder(self.target(decoder_input), state)
        return self.read_out(hdec_ts, [henc_ts, hdec_ts])

    def read_out(self, hdec_ts, memory):
        """States of the decoder (T_dec, B, H) → logits (T_dec, B, V).

        They are the last T_dec of `memory`, a list of (…, B, H); each sees itself and what is before it.
        """
        if self.query is not None:
            memory, H = torch.cat(memory), hdec_ts.shape[-1]
            scores = torch.einsum("tbh,sbh->bts", self.query(hdec_ts), memory) / math.sqrt(H)
            past = torch.ones(len(hdec_ts), len(memory), dtype=torch.bool).tril(len(memory) - len(hdec_ts))
            attention_weights = scores.masked_fill(~past, -math.inf).softmax(dim=-1)
            hdec_ts = torch.cat([hdec_ts, torch.einsum("bts,sbh->tbh", attention_weights, memory)], dim=-1)
        return self.output(hdec_ts)

    @torch.no_grad()
    def write(self, encoder_ids, timesteps):
        """(T_enc, B) → ids (timesteps, B): free running, always the likeliest character."""
        henc_ts, state = self.encoder(self.source(encoder_ids))
        written, memory = [torch.full(encoder_ids.shape[1:], DECODER_ALPHABET.index(arithmetic.GO))], [henc_ts]
        for _ in range(timesteps):
            hdec_ts, state = self.decoder(self.target(written[-1][None]), state)
            memory.append(hdec_ts)
            written.append(self.read_out(hdec_ts, memory)[0].argmax(-1))
        return torch.stack(written[1:])


def model_of(recipe):
    """An untrained network as the recipe wants it."""
    if recipe.cell != "Transformer":
        return Couple(recipe)
    return Writer(division.ROW if recipe.divides else 0)


def characters(vocabulary, embedding):
    """What the network sees of a character: a learned row, or a one-hot one (padding: zeros)."""
    if embedding:
        return nn.Embedding(vocabulary + 1, embedding)
    return nn.Embedding.from_pretrained(torch.eye(vocabulary + 1)[:, :vocabulary], freeze=True)


def encoded(recipe, a, symbol, b, **drawn):
    """Operands and operators → ids as the recipe wants them, `(T_enc, N)` and `(T_dec + 1, N)`.

    With `rng` the digits of a division are drawn among the possible ones.
    """
    if not recipe.working:
        return arithmetic.encoded(a, symbol, b, operators=recipe.operators, least_digit_first=recipe.least_digit_first)
    write, length = WORKINGS[recipe.operators]
    encoder_ids = arithmetic.encode(arithmetic.expressions(a, symbol, b), ENCODER_ALPHABET, 7)
    return encoder_ids, arithmetic.encode_answers(write(a, b, **drawn), length + 2)


def training_batches(recipe, rng, progress):
    """Batches without end: encoder ids, decoder input, target; `progress()` is the share of the time that is over."""
    if recipe.samples:
        stored = encoded(recipe, *arithmetic.draw_split(rng, recipe.samples, operators=recipe.operators))
    while True:
        if recipe.samples:
            chosen = rng.permutation(recipe.samples)
            encoder_ids, decoder_ids = stored[0][:, chosen], stored[1][:, chosen]
        else:
            easy = progress() < recipe.easy_first
            sample = arithmetic.draw_split(rng, 32 * recipe.batch, operators="+-" if easy else recipe.operators,
                                           weights=None if easy else recipe.weights or None)
            # many at once: a twentieth of the time it takes one by one
            encoder_ids, decoder_ids = encoded(recipe, *sample, **{"rng": rng} if recipe.divides else {})
        decoder_input, target = arithmetic.shifted(decoder_ids)
        columns = [tensor.split(recipe.batch, dim=1)
                   for tensor in (encoder_ids.int(), decoder_input.int(), target.long())]
        yield from zip(*columns, strict=True)


def learning_rate(recipe, progress):
    if not recipe.cycle:
        return recipe.learning_rate
    if progress < recipe.warm_up:
        return recipe.learning_rate * max(0.02, progress / recipe.warm_up)
    fallen = (progress - recipe.warm_up) / (1 - recipe.warm_up)
    return recipe.learning_rate * (0.01 + 0.99 * (1 + math.cos(math.pi * fallen)) / 2)


def optimizer_of(recipe, model):
    """Return Adam on what of the model is trained."""
    return torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=recipe.learning_rate,
                            betas=(0.9, recipe.beta2), fused=True)


def train_step(recipe, model, optimizer, batch, progress):
    """Train on one batch, at the learning rate of this share of the budget."""
    optimizer.param_groups[0]["lr"] = learning_rate(recipe, progress)
    encoder_ids, decoder_input, target = batch
    loss = F.cross_entropy(model(encoder_ids, decoder_input).flatten(0, 1), target.flatten())
    optimizer.zero_grad()
    loss.backward()
    if recipe.clip:
        nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
    optimizer.step()


def train(recipe, seed, points=8, tests=5000):
    """Train once; what came of it as a dictionary. Only training is counted as time, testing is not."""
    torch.manual_seed(seed)
    model = model_of(recipe)
    optimizer = optimizer_of(recipe, model)
    spent, steps, curve = 0.0, 0, []

    def progress():
        return spent / recipe.seconds

    batches = training_batches(recipe, np.random.default_rng(seed), progress)
    while spent < recipe.seconds:
        start = time.process_time()
        train_step(recipe, model, optimizer, next(batches), progress())
        steps += 1
        spent += time.process_time() - start
        if progress() >= (len(curve) + 1) / points:
            last = progress() >= 1
            curve.append({"seconds": spent, "steps": steps, **test(recipe, model, tests if last else tests // 10)})
    return {"recipe": asdict(recipe), "seed": seed, "curve": curve}


def test(recipe, model, n_samples):
    """Per operator: the share of answers that are right (`right`), and that begin rightly (`begins`).

    An answer begins rightly if it is as long as it should be, and its most significant digit is right.
    """
    right, begins = {}, {}
    rng = np.random.default_rng(1)
    for operator in recipe.operators:
        sample = arithmetic.draw_split(rng, n_samples, training=False, operators=operator)
        encoder_ids, decoder_ids = encoded(recipe, *sample)
        got, want = ([working.answer_of(text) for text in arithmetic.decode(ids)]
                     for ids in (model.write(encoder_ids.int(), len(decoder_ids) - 1), decoder_ids))
        first = 0 if operator == "/" or not recipe.least_digit_first else -1
        right[operator] = np.mean([g == w for g, w in zip(got, want, strict=True)])
        begins[operator] = np.mean([len(g) == len(w) and g[first] == w[first]
                                    for g, w in zip(got, want, strict=True)])
    return {"right": right, "begins": begins}


def measure(quick, repeats, folder, only=None):
    """All recipes, `repeats` seeds each. Finished runs are kept in `folder`, so that a long night may be interrupted:
    a run that is there already, with the recipe unchanged, is not repeated. `only`: names of recipes."""
    results = stored(folder, "learning").get("results", {})
    for name, recipe in RECIPES.items():
        if only and name not in only:
            continue
        if quick:
            recipe = Recipe(**{**asdict(recipe), "seconds": 2.0, "samples": min(recipe.samples, 500)})
        runs = [run for run in results.get(name, []) if run["recipe"] == json.loads(json.dumps(asdict(recipe)))]
        for seed in set(range(repeats)) - {run["seed"] for run in runs}:
            runs.append(train(recipe, seed, *((2, 50) if quick else ())))
            results[name] = sorted(runs, key=lambda run: run["seed"])
            store(folder, "learning", results)
    return results


def report(results, picture):
    rows = []
    for runs in results.values():
        recipe, ends = runs[0]["recipe"], [run["curve"][-1] for run in runs]
        for operator in recipe["operators"]:
            rows.append([recipe["title"], f"{recipe['seconds']:.0f}", f"`{operator}`",
                         spread([100 * end["right"][operator] for end in ends], "{:.2f}"),
                         spread([100 * end["begins"][operator] for end in ends], "{:.1f}"),
                         len(runs), spread([end["steps"] for end in ends], "{:.0f}")])
    figure, axes = picture(1, 5, "learning", sharey=True)
    for ax, operator in zip(axes, arithmetic.OPERATORS, strict=True):
        for colour, runs in enumerate(results.values()):
            if operator in runs[0]["recipe"]["operators"]:
                seconds = np.median([[p["seconds"] for p in run["curve"]] for run in runs], axis=0)
                right = np.array([[100 * p["right"][operator] for p in run["curve"]] for run in runs])
                ax.plot(seconds, np.median(right, axis=0), f"C{colour}o-", markersize=3,
                        label=runs[0]["recipe"]["title"])
                ax.fill_between(seconds, right.min(axis=0), right.max(axis=0), alpha=0.15, color=f"C{colour}")
        ax.set_title(operator)
        ax.set_xscale("log")
        ax.set_xticks(TICKS, TICKS)
        ax.minorticks_off()
        ax.set_xlabel("CPU seconds")
    axes[0].set_ylabel("exact match, %")
    header = ["recipe", "CPU seconds", "operator", "exact match, %", "right length and first digit, %", "seeds",
              "steps"]
    return (table(header, rows)
            + "\n" + figure("Exact match on held-out pairs against CPU seconds of training, one panel per operator; "
                            "line: median of the seeds, band: their range."))
