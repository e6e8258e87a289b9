"""Networks that turn letters into sounds: recipes, in steps, and their training, which goes on where it stopped."""

import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from tp.pronunciation import END, N_SOUNDS, PAD, Batches

KEPT = Path(__file__).resolve().parent.parent / "artefacts" / "spellers"
AVERAGED = 0.998  # of the running mean of all weights, at each step; less in the first steps


@dataclass(frozen=True)
class Recipe:
    """A network and its training.

    peak, falls      the learning rate after the warm-up, and the share of the steps after which it falls to 0
    aligned          the weight of a second loss on the encoder, connectionist temporal classification (CTC)
    batches          from which share of the steps on a batch has how many words
    layers           of a Transformer, of its encoder and its decoder; `embedding` is its width
    """

    title: str
    steps: int
    hidden: int = 128
    embedding: int = 64
    combined: int = 256
    peak: float = 4e-3
    falls: float = 0.5
    dropout: float = 0.2
    smoothing: float = 0.1
    decay: float = 0.01
    aligned: float = 0.3
    batches: tuple = ((0.0, 256), (0.75, 512))
    layers: tuple = ()

    @property
    def width(self):
        """How many numbers the encoder has for a letter."""
        return self.embedding if self.layers else 2 * self.hidden

    @property
    def sizes(self):
        """What builds the network."""
        return {"hidden": self.hidden, "embedding": self.embedding, "combined": self.combined}

    def rate(self, step, warm_up=200):
        """Return the learning rate: it climbs in a line, stays, and falls in a line to 0."""
        left = (1 - step / self.steps) / (1 - self.falls)
        return self.peak * min(1, (step + 1) / warm_up, left)

    def batch(self, step):
        """Return how many words a batch has that is begun at this step."""
        return [size for share, size in self.batches if step >= share * self.steps][-1]


def averaging(means, weights, n):
    """Move the running means towards the weights after `n` steps: less and less, so that no early weight remains."""
    torch._foreach_lerp_(means, weights, 1 - min(AVERAGED, (1 + float(n)) / (10 + float(n))))


def masked(x, dropout):
    """Drop the same entries of (B, T, D) at every position of a word."""
    if not dropout:
        return x
    return x * (torch.rand(len(x), 1, x.shape[-1]) >= dropout).to(x.dtype) / (1 - dropout)


class Decoding(torch.autograd.Function):
    """All steps of a `Speller`'s GRU with attention, with a backward pass that computes each gradient of a weight once.

    In: `inputs` (T, B, 3H), what the cell adds for each embedded sound; the first state `hidden` (B, H); `keys` and
    `values` (B, S, H), whose products with a state are the scores, and whose weighted sum is the context; the weights
    of the cell for state and context, (3H, H), and the bias for the state (3H,). Out: states and contexts (T, B, H).
    """

    @staticmethod
    def forward(ctx, inputs, hidden, keys, values, w_state, w_context, b_state):
        H = hidden.shape[-1]
        before, gates, attended, contexts = [], [], [], []
        for x in inputs:
            before.append(hidden)
            attended.append(torch.bmm(keys, hidden[:, :, None]).squeeze(2).softmax(-1))
            contexts.append(torch.bmm(attended[-1][:, None], values).squeeze(1))
            x, h = torch.addmm(x, contexts[-1], w_context.T), torch.addmm(b_state, hidden, w_state.T)
            r, z = (x[:, :2 * H] + h[:, :2 * H]).sigmoid().chunk(2, -1)
            n = torch.addcmul(x[:, 2 * H:], r, h[:, 2 * H:]).tanh()
            gates.append((r, z, n, h[:, 2 * H:]))
            hidden = torch.lerp(n, hidden, z)
        ctx.gates = gates
        before, attended, contexts = (torch.stack(part) for part in ([*before, hidden], attended, contexts))
        ctx.save_for_backward(before, attended, contexts, keys, values, w_state, w_context)
        return before[1:], contexts

    @staticmethod
    def backward(ctx, d_states, d_contexts):
        before, attended, contexts, keys, values, w_state, w_context = ctx.saved_tensors
        T, B, H = contexts.shape
        d_x, d_h = before.new_empty(2, T, B, 3 * H)
        d_context, d_scores, d = torch.empty_like(contexts), torch.empty_like(attended), 0
        for t in reversed(range(T)):
            (r, z, n, h), weights = ctx.gates[t], attended[t]
            d = d + d_states[t]
            d_n = d * (1 - z) * (1 - n * n)
            torch.cat([d_n * h * r * (1 - r), d * (before[t] - n) * z * (1 - z), d_n], dim=-1, out=d_x[t])
            torch.cat([d_x[t, :, :2 * H], d_n * r], dim=-1, out=d_h[t])
            torch.addmm(d_contexts[t], d_x[t], w_context, out=d_context[t])
            d_weights = torch.bmm(values, d_context[t][:, :, None]).squeeze(2)
            d_scores[t] = weights * (d_weights - (weights * d_weights).sum(-1, keepdim=True))
            d = torch.addmm(d * z, d_h[t], w_state) + torch.bmm(d_scores[t][:, None], keys).squeeze(1)
        return (d_x, d, torch.bmm(d_scores.permute(1, 2, 0), before[:-1].transpose(0, 1)),
                torch.bmm(attended.permute(1, 2, 0), d_context.transpose(0, 1)),
                d_h.flatten(0, 1).T @ before[:-1].flatten(0, 1), d_x.flatten(0, 1).T @ contexts.flatten(0, 1),
                d_h.flatten(0, 1).sum(0))


def teacher_forcing(model, letters, sounds, dropout=0.0):
    """Return logits (B, T, V) and the encoder's vectors (B, S, H), of words that have the same number of letters.

    Without dropout the logits are those of `Speller.forward`; the layers around the cell see all steps at once.
    """
    kind = torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32
    henc_ts, final = model.encoder(masked(model.letters(letters), dropout))
    hdec = torch.tanh(model.bridge(torch.cat([final[-2], final[-1]], dim=-1)))
    henc_ts, embedded = masked(henc_ts, dropout), masked(model.sounds(sounds), dropout)
    w_embedded, w_context = model.cell.weight_ih.split([embedded.shape[-1], hdec.shape[-1]], dim=1)
    states, contexts = Decoding.apply(*(x.to(kind) for x in (
        F.linear(embedded.transpose(0, 1), w_embedded, model.cell.bias_ih), hdec,
        F.linear(henc_ts, model.query.weight.T) / math.sqrt(hdec.shape[-1]), henc_ts,
        model.cell.weight_hh, w_context.contiguous(), model.cell.bias_hh)))
    both = torch.cat([states, contexts], dim=-1).transpose(0, 1)
    return model.output(masked(torch.tanh(model.combine(masked(both, dropout))), dropout)), henc_ts


def aligned_loss(layer, henc_ts, sounds):
    """Return the CTC loss per sound: each letter writes up to two sounds, in the order of the letters."""
    frames = layer(henc_ts).float().unflatten(-1, (2, N_SOUNDS)).flatten(1, 2).log_softmax(-1).transpose(0, 1)
    wanted = sounds[:, 1:].where(sounds[:, 1:] != END, PAD)
    lengths = (wanted != PAD).sum(1)
    return F.ctc_loss(frames, wanted, torch.full_like(lengths, len(frames)), lengths, blank=PAD, reduction="sum",
                      zero_infinity=True) / lengths.sum()


class Training:
    """A network on its way: `model`, the running mean `average`, and what was spent.

    build, forcing   what makes the network of a recipe, and what runs it as `teacher_forcing` runs a `Speller`
    """

    def __init__(self, build, recipe, seed, dictionary, words, forcing=teacher_forcing):
        torch.manual_seed(seed)
        self.recipe, self.forcing = recipe, forcing
        self.model = build(recipe)
        self.aligning = nn.Linear(recipe.width, 2 * N_SOUNDS)
        self.average = torch.optim.swa_utils.AveragedModel(self.model, multi_avg_fn=averaging)
        self.parameters = [*self.model.parameters(), *self.aligning.parameters()]
        self.optimizer = torch.optim.AdamW(self.parameters, lr=recipe.peak, betas=(0.9, 0.98),
                                           weight_decay=recipe.decay, fused=True)
        self.batches = Batches(dictionary, words, seed)
        self.spent = {"seconds": 0.0, "steps": 0, "pairs": 0, "epochs": 0}

    def epoch(self):
        """Train on every pair once, or up to the last step."""
        for letters, sounds in self.batches.epoch(self.recipe.batch(self.spent["steps"])):
            start = time.process_time()
            self.step(letters, sounds)
            self.spent["seconds"] += time.process_time() - start
            self.spent["steps"] += 1
            self.spent["pairs"] += len(letters)
            if self.spent["steps"] >= self.recipe.steps:
                break
        self.spent["epochs"] += 1

    def step(self, letters, sounds):
        """Make one step: forward in bfloat16, weights and their updates in float32."""
        recipe = self.recipe
        with torch.autocast("cpu", torch.bfloat16):
            logits, henc_ts = self.forcing(self.model, letters, sounds[:, :-1], recipe.dropout)
            logits = logits.float()
            loss = F.cross_entropy(logits.flatten(0, 1), sounds[:, 1:].flatten(), ignore_index=PAD,
                                   label_smoothing=recipe.smoothing)
            if recipe.aligned:
                loss = loss + recipe.aligned * aligned_loss(self.aligning, henc_ts, sounds)
        self.optimizer.param_groups[0]["lr"] = recipe.rate(self.spent["steps"])
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        self.average.update_parameters(self.model)

    def parts(self):
        """Return what has a state dict, by name."""
        return {"model": self.model, "aligning": self.aligning, "average": self.average, "optimizer": self.optimizer}

    def save(self, path):
        """Keep everything that the next epoch hangs on."""
        torch.save({"recipe": asdict(self.recipe), "spent": self.spent, "random": torch.get_rng_state(),
                    "order": self.batches.generator.get_state(),
                    **{name: part.state_dict() for name, part in self.parts().items()}}, path)

    def load(self, path):
        """Go on from what `save` kept."""
        kept = torch.load(path, weights_only=True)
        for name, part in self.parts().items():
            part.load_state_dict(kept[name])
        self.spent = kept["spent"]
        torch.set_rng_state(kept["random"])
        self.batches.generator.set_state(kept["order"])


def trained(name, build, recipe, seed, dictionary, words, forcing=teacher_forcing, seen=None, folder=KEPT):
    """Train a network, or go on with it; return its `Training`, which is kept in `folder` after each epoch.

    `seen(training)` is called after each epoch.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{seed}.pt"
    training = Training(build, recipe, seed, dictionary, words, forcing)
    if path.exists():
        training.load(path)
    while training.spent["steps"] < recipe.steps:
        training.epoch()
        training.save(path)
        if seen:
            seen(training)
    return training
