"""Words of the CMU dictionary read aloud, on one split by word: networks, the joint n-gram model, and both together.

`python -m bench.pronunciation` trains the model that is shipped, and writes it beside the course's helper package.
What is trained is kept in artefacts/spellers/ after each epoch, so that a run that was stopped goes on.
"""

import ast
import functools
import json
import re
import resource
import subprocess
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn

from autograder import course
from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from tp import pronunciation

from .measure import spread, store, stored, table
from .spellers import KEPT, Recipe, teacher_forcing, trained

TITLE = "From spelling to sound"
ROOT = Path(__file__).resolve().parent.parent
NGRAMS = KEPT / "joint-ngrams.fst"
BEST = 20  # pronunciations of a word that the joint n-gram model offers to a network
LENGTHS = ((1, 5), (6, 8), (9, 11), (12, 40))

TEN = Recipe("network, 2 000 steps", steps=2000, dropout=0.1, falls=0.3)
HOUR = replace(TEN, title="network, 18 000 steps", steps=18_000, falls=0.0, dropout=0.15, batches=((0.0, 256),))
SHIPPED = replace(HOUR, title="the shipped network", steps=22_000, hidden=192, combined=384, peak=3e-3)
SOME = replace(TEN, title="network, 1 000 steps", steps=1000)
TRANSFORMER = replace(SOME, title="Transformer, 1 000 steps", embedding=128, layers=(2, 3))
FEW = replace(TEN, title="network, 300 steps", steps=300, batches=((0.0, 256),))
RECIPES = {"ten-minutes": TEN, "hour": HOUR, "some": SOME, "transformer": TRANSFORMER, "few": FEW,
           "without-dropout": replace(FEW, title="network, 300 steps without dropout", dropout=0.0),
           "without-smoothing": replace(FEW, title="network, 300 steps without label smoothing", smoothing=0.0),
           "without-alignment": replace(FEW, title="network, 300 steps without CTC", aligned=0.0)}
SEEDS = {"hour": 1, **dict.fromkeys(("few", "without-dropout", "without-smoothing", "without-alignment"), 5)}
PEAKS = (1e-3, 2e-3, 4e-3, 8e-3)

# Rates that others report, in %: system, source, dictionary and split, WER, PER.
OLD, NEW = "CMUdict PRONALSYL 2007: 106 837 training and 12 000 test words", "a newer CMUdict, without stress"
UNNAMED = "CMUdict; the list of kr-MATAGI/G2P-Test, from which the rates are, does not name the split"
PUBLISHED = (
    ("bidirectional LSTM, alignments given", "Yao and Zweig 2015, arXiv 1506.00196", OLD, "23.55", "5.45"),
    ("attention, several models together", "Toshniwal and Livescu 2016, arXiv 1610.06540", OLD, "20.24", "4.69"),
    ("Transformer", "Yolchuyeva, Németh and Gyires-Tóth 2019, arXiv 2004.06338", UNNAMED, "22.1", "5.23"),
    ("phonetisaurus", "README of cmusphinx/g2p-seq2seq", OLD, "24.4", "–"),
    ("Transformer, 2 layers, width 256", "README of cmusphinx/g2p-seq2seq", OLD, "20.2", "–"),
    ("phonetisaurus", "README of cmusphinx/g2p-seq2seq", NEW, "33.89", "–"),
    ("Transformer, 2 layers, width 256", "README of cmusphinx/g2p-seq2seq", NEW, "about 31", "–"))


def notebook(name="tp7_pronunciation"):
    """Return the names of a session's solution: the networks and the error rates are those of the notebooks."""
    return SimpleNamespace(**load_oracle(course.find(ROOT), name).namespace)


@functools.cache
def kinds():
    """Return the kinds of words of session 7's notebook: name → what the spelling contains, a regular expression."""
    cell = load_source(course.find(ROOT), "tp7_pronunciation").cell("demo", "hard-words")
    return ast.literal_eval(ast.parse(cell.source).body[0].value)


# Networks

def speller(nb):
    """Return what builds the network of a recipe."""
    return lambda recipe: nb.Speller(**recipe.sizes, dropout=recipe.dropout)


def transformer(session):
    """Return what builds the Transformer of session 6, with dropout behind each part of a block and each embedding."""
    def build(recipe):
        sizes, n_heads = (recipe.embedding,), recipe.embedding // 32
        encoder = session.Encoder(pronunciation.N_LETTERS, *sizes, n_heads, recipe.layers[0])
        decoder = session.Decoder(pronunciation.N_SOUNDS, *sizes, n_heads, recipe.layers[1])
        model = session.Transformer(encoder, decoder)
        for part in model.modules():
            if isinstance(part, session.MultiHeadAttention | nn.Embedding) or part in feed_forwards(model):
                part.register_forward_hook(lambda part, _, result: F.dropout(result, recipe.dropout, part.training))
        return model
    return build


def feed_forwards(model):
    """Return the feed-forward networks of all blocks."""
    return [block.feed_forward for stack in (model.encoder, model.decoder) for block in stack.blocks]


def forced(model, letters, sounds, dropout):
    """Run a Transformer with teacher forcing: logits (B, T, V) and the encoder's vectors (B, S, D)."""
    memory, mask = model.encoder(letters)
    return model.decoder(sounds, model.decoder.remember(memory), mask), memory


@torch.no_grad()
def transformer_says(model, words, longest=28):
    """Return the greedy pronunciation of each word."""
    memory, mask = model.encoder(pronunciation.letter_ids(words))
    remembered, tokens = model.decoder.remember(memory), torch.full((len(words), 1), pronunciation.START)
    while tokens.shape[1] <= longest and not (tokens == pronunciation.END).any(1).all():
        last = model.decoder(tokens, remembered, mask)[:, -1].argmax(-1)
        tokens = torch.cat([tokens, last[:, None]], dim=1)
    return [pronunciation.read_sounds(row[1:]) for row in tokens]


@torch.no_grad()
def together_say(models, words, longest=28):
    """Return the greedy pronunciation of each word after the mean of the probabilities of several networks."""
    read = [model.encode(pronunciation.letter_ids(words)) for model in models]
    states = [hdec for _, _, hdec in read]
    tokens, written = torch.full((len(words),), pronunciation.START), []
    while len(written) < longest and not (written and (torch.stack(written) == pronunciation.END).any(0).all()):
        steps = [model.step(tokens, hdec, henc_ts, mask)
                 for model, hdec, (henc_ts, mask, _) in zip(models, states, read, strict=True)]
        states = [hdec for _, hdec, _ in steps]
        tokens = torch.stack([logits.softmax(-1) for logits, _, _ in steps]).mean(0).argmax(-1)
        written.append(tokens)
    return [pronunciation.read_sounds(row) for row in torch.stack(written, 1)]


def in_batches(say, words, size=500):
    """Return what `say` makes of all words; words of like length are said together."""
    order, found = sorted(words, key=len), {}
    for i in range(0, len(order), size):
        found |= zip(order[i:i + size], say(order[i:i + size]), strict=True)
    return [found[word] for word in words]


def greedy(nb, model, words):
    """Return the greedy pronunciation of each word."""
    return in_batches(lambda part: nb.pronounce(model, part)[0], words)


def rates(nb, found, dictionary, words):
    """Return WER and PER of what was found for some words, and wrong ones and all by number of letters and by kind."""
    wer, per = nb.error_rates(found, [dictionary[word] for word in words])
    wrong = [said not in dictionary[word] for word, said in zip(words, found, strict=True)]

    def count(chosen):
        return [sum(bad for bad, one in zip(wrong, chosen, strict=True) if one), sum(chosen)]

    return {"WER": wer, "PER": per, "words": len(words),
            "lengths": {f"{low}-{high}": count([low <= len(word) <= high for word in words]) for low, high in LENGTHS},
            "kinds": {kind: count([bool(re.search(spelling, word)) for word in words])
                      for kind, spelling in kinds().items()}}


def weights_of(model):
    """Return how many numbers a network has learned."""
    return sum(parameter.numel() for parameter in model.parameters())


# The joint n-gram model

def joint_ngrams(dictionary, words):
    """Train Phonetisaurus with its defaults, and keep its model; return the CPU seconds."""
    import phonetisaurus

    def seconds():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    start = seconds()
    phonetisaurus.train({word: dictionary[word] for word in words}, NGRAMS)
    return seconds() - start


def offered(words):
    """Return for each word the best pronunciations of the joint n-gram model: (log-probability, sounds), best first."""
    import phonetisaurus

    found = {word: [] for word in words}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"{word}\n" for word in words))
        file.flush()
        lines = subprocess.run(
            ["phonetisaurus-g2pfst", f"--model={NGRAMS}", f"--nbest={BEST}", f"--wordlist={file.name}"], check=True,
            env=phonetisaurus.guess_environment(), capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        word, score, *sounds = line.split("\t")
        found[word].append((-float(score), tuple(" ".join(sounds).split())))
    return found


@torch.no_grad()
def scores(models, pairs):
    """Return for each (word, sounds) the mean over some networks of its log-probability."""
    groups, found = {}, {}
    for word, sounds in pairs:
        groups.setdefault(len(word), []).append((word, sounds))
    for group in groups.values():
        for i in range(0, len(group), 1000):
            part = group[i:i + 1000]
            letters = pronunciation.letter_ids([word for word, _ in part])
            sounds = pronunciation.sound_ids([sounds for _, sounds in part])
            total = sum(F.cross_entropy(teacher_forcing(model, letters, sounds[:, :-1])[0].transpose(1, 2),
                                        sounds[:, 1:], ignore_index=pronunciation.PAD, reduction="none").sum(1)
                        for model in models) / len(models)
            found |= zip(part, (-total).tolist(), strict=True)
    return found


def best_of_both(models, words):
    """Return the pronunciation with the best sum of both log-probabilities."""
    candidates = offered(words)
    network = scores(models, {(word, sounds) for word, listed in candidates.items() for _, sounds in listed})
    return [max(candidates[word], key=lambda one: one[0] + network[word, one[1]], default=(0, ()))[1]
            for word in words]


# Measuring

def measure(quick, repeats, folder):
    """Measure every system on the same test words; finished runs are kept in `folder`."""
    nb, session, dictionary = notebook(), notebook("tp6_transformer"), pronunciation.load()
    train_words, _, words = pronunciation.split(dictionary)
    words = words[:200] if quick else words
    results = stored(folder, "pronunciation").get("results", {})
    with_ngrams = not quick and pronunciation.installed("phonetisaurus", "__init__.py")
    if with_ngrams and not NGRAMS.exists():
        NGRAMS.parent.mkdir(parents=True, exist_ok=True)
        seconds = joint_ngrams(dictionary, train_words)
        found = offered(words)
        results["joint-ngrams"] = {"seconds": seconds, **rates(
            nb, [found[word][0][1] if found[word] else () for word in words], dictionary, words)}
        store(folder, "pronunciation", results)
    for name, recipe in RECIPES.items():
        recipe = replace(recipe, steps=3) if quick else recipe
        plain = json.loads(json.dumps(asdict(recipe)))
        runs = [run for run in results.get(name, []) if run["recipe"] == plain]
        for seed in sorted(set(range(SEEDS.get(name, repeats))) - {run["seed"] for run in runs}):
            runs.append({"recipe": plain, "seed": seed,
                         **run_once(nb, session, name, recipe, seed, dictionary, train_words, words, folder, quick)})
            results[name] = sorted(runs, key=lambda run: run["seed"])
            store(folder, "pronunciation", results)
    results["shipped"] = shipped(nb, dictionary, words, train_words[:2000])
    store(folder, "pronunciation", results)
    if not quick:
        results["peaks"] = peaks(nb, session, dictionary, results.get("peaks", {}))
        models = {"ten-minutes": kept(nb, "ten-minutes", TEN, repeats), "hour": kept(nb, "hour", HOUR, 1, "average"),
                  "shipped": [loaded(nb)]}
        results |= several(nb, [*models["shipped"], *models["hour"]], dictionary, words, with_ngrams)
        searched = results.setdefault("searches", {})
        for name in models:
            if name == "shipped" or len(models[name]) > len(searched.get(name, [])):
                searched[name] = searches(nb, models[name], dictionary, words[:2000])
    return results


def kept(nb, name, recipe, seeds, part="model"):
    """Return the networks of a recipe that are kept: their last weights or, as `part` "average", the running mean."""
    models = []
    for path in (KEPT / f"{name}-{seed}.pt" for seed in range(seeds)):
        if path.exists():
            model, state = nb.Speller(**recipe.sizes), torch.load(path, weights_only=True)[part]
            model.load_state_dict({key: state[key if part == "model" else f"module.{key}"]
                                   for key in model.state_dict()})
            models.append(model.eval())
    return models


def loaded(nb):
    """Return the network that is shipped."""
    sizes, state = pronunciation.shipped()
    model = nb.Speller(**sizes)
    model.load_state_dict(state)
    return model.eval()


def several(nb, models, dictionary, words, with_ngrams):
    """Return the rates of networks together, the first of which is shipped, and of networks and n-grams."""
    found = {}
    if with_ngrams:
        found["shipped-with-ngrams"] = models[:1], best_of_both(models[:1], words)
    if len(models) > 1:
        found["together"] = models, in_batches(functools.partial(together_say, models), words)
        if with_ngrams:
            found["together-with-ngrams"] = models, best_of_both(models, words)
    return {name: {"networks": len(used), **rates(nb, said, dictionary, words)} for name, (used, said) in found.items()}


def searches(nb, models, dictionary, words):
    """Return the WER of each network by how it is searched: greedy, a beam, its scores normalised."""
    return [{"greedy": rates(nb, greedy(nb, model, words), dictionary, words)["WER"],
             **{name: rates(nb, [pronunciation.read_sounds(nb.beam_search(model, word, 4, alpha)[0][0])
                                 for word in words], dictionary, words)["WER"]
                for name, alpha in (("beam of 4", 0.0), ("beam of 4, normalised", 1.0))}}
            for model in models]


def run_once(nb, session, name, recipe, seed, dictionary, train_words, words, folder, quick):
    """Train once, and return what it took and its rates: of the last weights, and of their running mean."""
    place = folder / "spellers" if quick else KEPT
    if recipe.layers:
        training = trained(name, transformer(session), recipe, seed, dictionary, train_words, forced, folder=place)
        said = [in_batches(functools.partial(transformer_says, model), words) for model in networks(training)]
    else:
        training = trained(name, speller(nb), recipe, seed, dictionary, train_words, folder=place)
        said = [greedy(nb, model, words) for model in networks(training)]
    mean, last = (rates(nb, found, dictionary, words) for found in said)
    return {**training.spent, "weights": weights_of(training.model), **last, "mean": mean}


def peaks(nb, session, dictionary, found):
    """Return the PER of the Transformer on 1 000 validation words after 300 steps, by its peak learning rate.

    `found` are those that are known.
    """
    train_words, validation_words, _ = pronunciation.split(dictionary)
    words = validation_words[:1000]
    for peak in PEAKS:
        if str(peak) in found:
            continue
        training = trained(f"peak-{peak}", transformer(session), replace(TRANSFORMER, steps=300, peak=peak), 9,
                           dictionary, train_words, forced)
        said = in_batches(functools.partial(transformer_says, training.model.eval()), words)
        found = {**found, str(peak): rates(nb, said, dictionary, words)["PER"]}
    return found


def networks(training):
    """Return the mean of the weights and the last weights of a training, ready to be used."""
    return training.average.module.eval(), training.model.eval()


def shipped(nb, dictionary, words, seen):
    """Return the rates of the model that comes with the course, on training words too, and what its training took."""
    about = json.loads((ROOT / "course" / "tp" / "pronunciation.json").read_text(encoding="utf-8"))
    model = loaded(nb)
    return {"seconds": about["seconds"], "steps": about["steps"], "weights": weights_of(model),
            "taken": about["taken"], "validation WER": about["validation WER"],
            **rates(nb, greedy(nb, model, words), dictionary, words),
            "training words": rates(nb, greedy(nb, model, seen), dictionary, seen)}


def report(results, picture):
    """Write a line for each system, the rates by the length of the word, and how the networks were searched."""
    titles = {"joint-ngrams": "joint n-gram model, phonetisaurus 0.3.0",
              **{name: recipe.title for name, recipe in RECIPES.items()}, "shipped": SHIPPED.title,
              "together": "the shipped network and that of 18 000 steps together",
              "shipped-with-ngrams": "the shipped network and the n-gram model",
              "together-with-ngrams": "both networks and the n-gram model"}
    systems = {}
    for name, title in titles.items():
        if runs := results.get(name):
            runs = runs if isinstance(runs, list) else [runs]
            if "WER" in runs[0]:
                systems[title] = runs
            if "mean" in runs[0]:
                systems[f"{title}, running mean"] = [{**run, **run["mean"]} for run in runs]
    rows = []
    for title, runs in systems.items():
        taken = [spread([run[what] for run in runs], "{:.0f}") if what in runs[0] else "–"
                 for what in ("seconds", "steps")]
        rows.append([title, taken[0], runs[0].get("weights", "–"), taken[1],
                     *(spread([100 * run[what] for run in runs], "{:.1f}") for what in ("WER", "PER")), len(runs)])
    text = table(["system", "CPU seconds of training", "weights", "steps", "WER, %", "PER, %", "seeds"], rows)
    by_length = {f"{low}-{high}": f"{low} to {high}" if high < 40 else f"{low} and more" for low, high in LENGTHS}
    for what, columns, intro in (("lengths", by_length, "WER by the number of letters, %"),
                                 ("kinds", {kind: kind for kind in kinds()}, "WER by kind of word, %")):
        text += f"\n{intro}:\n\n" + table(
            ["system", *columns.values()],
            [[title, *(spread([100 * run[what][column][0] / run[what][column][1] for run in runs], "{:.1f}")
                       for column in columns)] for title, runs in systems.items() if what in runs[0]])
    if few := {run["seed"]: run["WER"] for run in results.get("few", [])}:
        text += "\nWER minus that of the network of 300 steps with the same seed, points: " + ", ".join(
            recipe.title.split("steps ")[1] + " "
            + spread([100 * (run["WER"] - few[run["seed"]]) for run in results[name] if run["seed"] in few], "{:+.1f}")
            for name, recipe in RECIPES.items() if name.startswith("without") and name in results) + ".\n"
    if swept := results.get("peaks"):
        text += ("\nPER of the Transformer on 1 000 validation words after 300 steps, by its peak learning rate: "
                 + ", ".join(f"{100 * per:.1f} % ({peak})" for peak, per in swept.items()) + ".\n")
    if seen := results.get("shipped", {}).get("training words"):
        validation = [f"{name} {100 * wer:.1f} %" for name, wer in results["shipped"]["validation WER"].items()]
        text += (f"\nOn {seen['words']} training words the shipped network has a WER of {100 * seen['WER']:.1f} %. "
                 f"On the validation words: {', '.join(validation)}.\n")
    if searched := results.get("searches"):
        text += "\nWER on 2 000 test words by how a network is searched, %:\n\n"
        text += table(["how", *(titles[name] for name in searched)],
                      [[how, *(spread([100 * run[how] for run in runs], "{:.1f}") for runs in searched.values())]
                       for how in next(iter(searched.values()))[0]])
    text += "\nWhat others report, on splits of their own, which cannot be compared with ours:\n\n"
    return text + table(["system", "source", "split", "WER, %", "PER, %"], PUBLISHED)


def ship():
    """Train the model that is shipped, and write its mean or its last weights, which the validation words decide."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    nb, dictionary = notebook(), pronunciation.load()
    train_words, validation_words, _ = pronunciation.split(dictionary)
    training = trained("shipped", speller(nb), SHIPPED, 0, dictionary, train_words)

    def wer(model):
        return rates(nb, greedy(nb, model, validation_words), dictionary, validation_words)["WER"]

    models = dict(zip(("mean", "last"), networks(training), strict=True))
    found = {name: wer(model) for name, model in models.items()}
    taken = min(found, key=found.get)
    write(models[taken], training.spent, {"taken": taken, "validation WER": found})
    found["in eight bits"] = wer(loaded(nb))
    write(models[taken], training.spent, {"taken": taken, "validation WER": found})


def packed(state):
    """Return the bytes of a state dict as `tp.pronunciation.shipped` reads them: large weights in eight bits."""
    floats, integers = [], []
    for weight in state.values():
        if weight.numel() < pronunciation.LARGE:
            floats.append(weight)
            continue
        blocks = F.pad(weight.flatten(), (0, -weight.numel() % pronunciation.BLOCK)).view(-1, pronunciation.BLOCK)
        floats.append(blocks.abs().amax(1).clamp(min=1e-12) / 127)
        integers.append((blocks / floats[-1][:, None]).round().to(torch.int8).flatten()[:weight.numel()])
    return b"".join(part.numpy().tobytes() for part in (*floats, *integers))


def write(model, spent, chosen, folder=ROOT / "course" / "tp"):
    """Write a network, mostly in eight bits, and beside it how it was made and why it was taken."""
    state = model.state_dict()
    (folder / "pronunciation.bin").write_bytes(packed(state))
    about = {"command": "python -m bench.pronunciation", "seed": 0, "sizes": SHIPPED.sizes, **spent, **chosen,
             "weights": [[name, list(weight.shape)] for name, weight in state.items()]}
    (folder / "pronunciation.json").write_text(json.dumps(about) + "\n", encoding="utf-8")


if __name__ == "__main__":
    ship()
