"""Words of the CMU dictionary read aloud, all on one split by word: networks by time, and the joint n-gram model.

`python -m bench.pronunciation` trains the model that is shipped, and writes it beside the course's helper package.
"""

import json
import math
import resource
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn

from autograder import course
from autograder.model.oracle import oracle
from tp import pronunciation

from .measure import spread, store, stored, table

TITLE = "From spelling to sound"
ROOT = Path(__file__).resolve().parent.parent
KEPT = 0.998  # of the running mean of all weights, at each step


@dataclass(frozen=True)
class Recipe:
    """A network and its training; `batches` says from which share of the time on a batch has how many words."""

    title: str
    seconds: float
    hidden: int
    embedding: int
    combined: int
    peak: float = 3e-3
    dropout: float = 0.2
    smoothing: float = 0.1
    decay: float = 0.01
    batches: tuple = ((0.0, 128), (0.4, 256), (0.75, 512))

    @property
    def sizes(self):
        """What builds the network."""
        return {"hidden": self.hidden, "embedding": self.embedding, "combined": self.combined}


SHIPPED = Recipe("the shipped network", 1145, 136, 64, 256)
RECIPES = {"one-minute": Recipe("network, one minute", 60, 64, 32, 96, peak=4e-3, dropout=0.0)}


def notebook():
    """The names of session 7's solution: the network and the error rates are those of the notebook."""
    return SimpleNamespace(**oracle(course.find(ROOT), "tp7_pronunciation").namespace)


def learning_rate(recipe, progress, warm_up=0.03):
    """The rate climbs in a line, then falls along a cosine to 0."""
    if progress < warm_up:
        return recipe.peak * max(0.02, progress / warm_up)
    return recipe.peak * (1 + math.cos(math.pi * min(1, (progress - warm_up) / (1 - warm_up)))) / 2


def train(nb, recipe, seed, dictionary, words):
    """Train once: the running mean of the weights as a network, and CPU seconds, steps and epochs."""
    torch.manual_seed(seed)
    model = nb.Speller(**recipe.sizes, dropout=recipe.dropout).to(nb.device)
    average = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(KEPT))
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.peak, betas=(0.9, 0.98), weight_decay=recipe.decay,
                                  fused=True)
    batches, spent, steps, epochs = pronunciation.Batches(dictionary, words, seed), 0.0, 0, 0
    while spent < recipe.seconds:
        epochs += 1
        size = [n for share, n in recipe.batches if spent >= share * recipe.seconds][-1]
        for letters, sounds in batches.epoch(size):
            start = time.process_time()
            optimizer.param_groups[0]["lr"] = learning_rate(recipe, spent / recipe.seconds)
            loss = F.cross_entropy(model(letters, sounds[:, :-1]).flatten(0, 1), sounds[:, 1:].flatten(),
                                   ignore_index=pronunciation.PAD, label_smoothing=recipe.smoothing)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            average.update_parameters(model)
            steps += 1
            spent += time.process_time() - start
            if spent >= recipe.seconds:
                break
    return average.module, {"seconds": spent, "steps": steps, "epochs": epochs}


def said_by(nb, model, words, size=500):
    """The greedy pronunciation of each word."""
    order, found = sorted(words, key=len), {}
    for i in range(0, len(order), size):
        found |= zip(order[i:i + size], nb.pronounce(model, order[i:i + size])[0], strict=True)
    return [found[word] for word in words]


def rates(nb, found, dictionary, words):
    """WER and PER of what was found for some words."""
    wer, per = nb.error_rates(found, [dictionary[word] for word in words])
    return {"WER": wer, "PER": per, "words": len(words)}


def weights_of(model):
    """How many numbers a network has learned."""
    return sum(parameter.numel() for parameter in model.parameters())


def joint_ngrams(nb, dictionary, train_words, words):
    """Phonetisaurus with its defaults: CPU seconds of training, and its rates."""
    import phonetisaurus

    def seconds():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    with tempfile.TemporaryDirectory() as folder:
        start, path = seconds(), Path(folder) / "model.fst"
        phonetisaurus.train({word: dictionary[word] for word in train_words}, path)
        spent, found = seconds() - start, dict(phonetisaurus.predict(words, path))
    return {"seconds": spent, **rates(nb, [tuple(found.get(word, ())) for word in words], dictionary, words)}


def measure(quick, repeats, folder, only=None):
    """Every system on the same test words; finished runs are kept in `folder`. `only`: names of rows."""
    nb, dictionary = notebook(), pronunciation.load()
    train_words, _, words = pronunciation.split(dictionary)
    words = words[:200] if quick else words
    results = stored(folder, "pronunciation").get("results", {})
    if "joint-ngrams" not in results and not quick and pronunciation.installed("phonetisaurus", "__init__.py"):
        results["joint-ngrams"] = joint_ngrams(nb, dictionary, train_words, words)
        store(folder, "pronunciation", results)
    for name, recipe in RECIPES.items():
        if only and name not in only:
            continue
        recipe = Recipe(**asdict(recipe) | {"seconds": 2.0}) if quick else recipe
        plain = json.loads(json.dumps(asdict(recipe)))
        runs = [run for run in results.get(name, []) if run["recipe"] == plain]
        for seed in set(range(repeats)) - {run["seed"] for run in runs}:
            model, spent = train(nb, recipe, seed, dictionary, train_words)
            runs.append({"recipe": plain, "seed": seed, **spent, "weights": weights_of(model),
                         **rates(nb, said_by(nb, model, words), dictionary, words)})
            results[name] = sorted(runs, key=lambda run: run["seed"])
            store(folder, "pronunciation", results)
    results["shipped"] = shipped(nb, dictionary, words)
    return results


def shipped(nb, dictionary, words):
    """The rates of the model that comes with the course, and what its training took."""
    sizes, state = pronunciation.shipped()
    model = nb.Speller(**sizes)
    model.load_state_dict(state)
    about = json.loads((ROOT / "course" / "tp" / "pronunciation.json").read_text(encoding="utf-8"))
    return {"seconds": about["seconds"], "steps": about["steps"], "weights": weights_of(model),
            **rates(nb, said_by(nb, model, words), dictionary, words)}


def report(results, picture):
    """A line for each system, by the CPU seconds of its training."""
    rows = []
    for name, title in (("joint-ngrams", "joint n-gram model, phonetisaurus 0.3.0"),
                        *((name, recipe.title) for name, recipe in RECIPES.items()), ("shipped", SHIPPED.title)):
        runs = results.get(name, [])
        runs = runs if isinstance(runs, list) else [runs]
        if runs:
            rows.append([title, spread([run["seconds"] for run in runs], "{:.0f}"),
                         runs[0].get("weights", "–"), runs[0].get("steps", "–") if len(runs) == 1 else
                         spread([run["steps"] for run in runs], "{:.0f}"),
                         spread([100 * run["WER"] for run in runs], "{:.1f}"),
                         spread([100 * run["PER"] for run in runs], "{:.1f}"), len(runs)])
    return table(["system", "CPU seconds of training", "weights", "steps", "WER, %", "PER, %", "seeds"], rows)


def ship():
    """Train the model that is shipped, and write it in half precision."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    nb, dictionary = notebook(), pronunciation.load()
    train_words, validation_words, _ = pronunciation.split(dictionary)
    model, spent = train(nb, SHIPPED, 0, dictionary, train_words)
    write(nb, model, spent, dictionary, validation_words)


def write(nb, model, spent, dictionary, words):
    """Write a network in half precision, and beside it how it was made."""
    folder, state = ROOT / "course" / "tp", model.cpu().state_dict()
    numbers = torch.cat([weight.flatten() for weight in state.values()]).half().numpy()
    (folder / "pronunciation.bin").write_bytes(numbers.tobytes())
    about = {"command": "python -m bench.pronunciation", "seed": 0, "sizes": SHIPPED.sizes, **spent,
             "validation WER": rates(nb, said_by(nb, model, words), dictionary, words)["WER"],
             "weights": [[name, list(weight.shape)] for name, weight in state.items()]}
    (folder / "pronunciation.json").write_text(json.dumps(about) + "\n", encoding="utf-8")


if __name__ == "__main__":
    ship()
