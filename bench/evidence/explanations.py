"""Explanations of a translator, scored against gold links, against an intervention, and where the two part.

The plain recurrent translator of session 5 (1000 steps of 64 pairs) and the Transformer of session 6 (1500 steps),
built and trained as in their notebooks, on 40 000 pairs of the corpus with words of two senses. The explanations are
those of session 6, on the right translations of 500 held-out sentences. The *top link* of a French
word is the English word with the largest number. *Precision*: the share of French words whose top link is a gold link.
*Recall*: the share of linked English words that a French word linked to them has as its top link. *Agreement*: the
share of French words with the same top link as the intervention. *Rank correlation*: Spearman's, of the numbers of a
French word with those of resampling, in the mean. Attention weights are the mean of the heads. Weight × norm takes, in
the recurrent model, what the output layer makes of each weighted vector. Integrated gradients have 8 pieces and start
at zero. An intervention replaces one embedded English word: by zeros, by the mean of all embedded words, or by 8 words
drawn at random (resampling); *resampling again* draws 8 others, so its agreement shows how much resampling varies
from draw to draw. *Any word* is the precision of a word drawn at random, *same position* that of the diagonal.

Planted cases are further held-out sentences, at most 40 of a kind, with a French word whose form hangs on an English
word that it does not translate, its *cause*: a noun of two senses hangs on the verb before it (in this grammar the
objects that the verb takes decide), *le*, *la*, *un* and *une* on their noun, an adjective behind a form of *be* on its
subject. *Est-ce* and *que* translate the helper and the question mark, and have no such cause. An effect is that of
resampling, in nats.
"""

import time
from dataclasses import dataclass
from functools import cache

import torch

from autograder import course
from autograder.model.oracle import load_oracle
from tp import corpus, live, trace
from tp.difficulty import Difficulty
from tp.lexicon import ADJECTIVES, FREQUENCIES, NEGATIONS, NOUNS, PRONOUNS, TWO_SENSE_NOUNS, TWO_SENSE_VERBS, VERBS

from ..measure import spread, table
from .ledger import ROOT, percent

SEEDS = (0, 1, 2, 3, 4)
SENTENCES, PLANTED = 500, 40
RECURRENT, ATTENTIVE = "recurrent, session 5", "Transformer, session 6"
STEPS = {RECURRENT: 1000, ATTENTIVE: 1500}
EXPLANATIONS = ("attention weight", "weight × norm", "gradient × input", "integrated gradients", "zero ablation",
                "mean ablation", "resampling", "resampling again")
CASES = {"two senses": "noun of two senses", "article": "le, la, un, une", "near": "adjective, 2 or 3 words behind",
         "far": "adjective, 4 words or more behind", "est-ce": "est-ce", "que": "que (est-ce que)"}


@dataclass(frozen=True)
class Design:
    """Which of the two."""

    model: str


DESIGNS = [Design(RECURRENT), Design(ATTENTIVE)]


@cache
def parts_of():
    """The corpus, drawn once."""
    return corpus.load(40_000, 500, 4_000, difficulty=Difficulty(senses=True))


def run(design, seed):
    """Train and explain once: CPU seconds, right sentences, the scores of each explanation, the planted cases."""
    seconds, right, explained = (recurrent if design.model == RECURRENT else attentive)(seed)
    tp6, test = load_oracle(course.find(ROOT), "tp6_transformer").namespace, parts_of().test
    maps = {name: [] for name in EXPLANATIONS}
    for pair in test[:SENTENCES]:
        for name, one in explained(pair).items():
            maps[name].append(one)
    gold = [pair.alignment for pair in test[:SENTENCES]]
    sizes = [next(iter(maps.values()))[k].shape for k in range(SENTENCES)]
    diagonal = [torch.eye(S)[torch.arange(T).clamp(max=S - 1)] for T, S in sizes]
    links = {name: tp6["top_links"](found, gold) for name, found in maps.items()}
    scores = {name: {"precision": tp6["aligned"]([one[None] for one in found], gold).item(),
                     "recall": tp6["recall"](found, gold),
                     **{other: same(links[name], links[other]) for other in ("mean ablation", "resampling")},
                     "correlation": correlation(found, maps["resampling"], gold)}
              for name, found in maps.items()}
    scores["same place"] = {"precision": tp6["aligned"]([one[None] for one in diagonal], gold).item(),
                            "recall": tp6["recall"](diagonal, gold)}
    chances = [len(words) / S for (_, S), alignment in zip(sizes, gold, strict=True) for words in alignment]
    scores["any word"] = {"precision": sum(chances) / len(chances)}
    return {"seconds": seconds, "right": right, "words": len(links["resampling"]), "scores": scores,
            "planted": parted(test[SENTENCES:], explained)}


def same(first, second):
    """The share of French words with the same top link."""
    return sum(map(int.__eq__, first, second)) / len(first)


def correlation(maps, others, gold):
    """Spearman's rank correlation of the rows of two maps, in the mean over all French words."""
    found = [torch.corrcoef(torch.stack([row.argsort().argsort(), other.argsort().argsort()]).float())[0, 1].item()
             for one, two, alignment in zip(maps, others, gold, strict=True)
             for row, other, _ in zip(one, two, alignment, strict=False)]
    return sum(found) / len(found)


def recurrent(seed):
    """Session 5's translator: CPU seconds, the share of right sentences, pair → its maps (T, S)."""
    tp5, parts = load_oracle(course.find(ROOT), "tp5_translation").namespace, parts_of()
    for name, side in (("source_vocabulary", "source"), ("target_vocabulary", "target")):
        tp5[name] = tp5["Vocabulary"]([tp5["tokenize"](getattr(pair, side)) for pair in parts.train])
    train_set, test_set = (tp5["PairDataset"](pairs, tp5["source_vocabulary"], tp5["target_vocabulary"])
                           for pairs in (parts.train, parts.test))
    model, started = tp5["build"](seed=seed), time.process_time()
    tp5["learn"](model, train_set, live(steps=STEPS[RECURRENT]), seed=seed)
    seconds = time.process_time() - started
    model.requires_grad_(False)
    said = tp5["translate"](model, [pair.source for pair in parts.test[:SENTENCES]])
    right = sum(tuple(words) == pair.target_words for words, pair in zip(said, parts.test, strict=False)) / SENTENCES
    ids_of = {pair.source: ids for pair, ids in zip(parts.test, test_set.ids, strict=True)}
    vectors = words_of_training(model, train_set.ids)

    def explained(pair):
        source, lengths, target = tp5["collate"]([ids_of[pair.source]])
        with torch.no_grad():
            weights = model(source, lengths, target, [True] * len(target))[1][:, 0]
        x, henc_ts = model.encoder.embedding(source)[:, 0].detach(), model.encoder(source, lengths)[0][:, 0].detach()

        def said(x):
            with trace(model, {"encoder.embedding": x.transpose(0, 1)}):
                logits, _ = model(source.expand(-1, len(x)), lengths.expand(len(x)), target.expand(-1, len(x)),
                                  [True] * len(target))
            chosen = target.expand(-1, len(x))[..., None]
            return logits.log_softmax(dim=-1).gather(-1, chosen)[..., 0].T

        output = model.decoder.readout.weight[:, -henc_ts.shape[-1]:]   # what reads the context
        return ways(weights[None], henc_ts[None], output, said, x, vectors)

    return seconds, right, explained


def attentive(seed):
    """Session 6's translator: the same three."""
    tp6, parts = load_oracle(course.find(ROOT), "tp6_transformer").namespace, parts_of()
    model, seconds, rows = trained(seed)
    model.requires_grad_(False)
    right = tp6["sentences_right"](model, tp6["rows_of"](parts.test[:SENTENCES]), tp6["greedy"])
    vectors, cross = words_of_training(model, rows), model.decoder.blocks[-1].cross

    def explained(pair):
        source, target = tp6["padded"](tp6["rows_of"]([pair]))
        with torch.no_grad(), trace(model) as seen:
            model(source, target)
        values = cross.split(cross.W_v(seen["encoder.norm"]))[0]
        return ways(cross.attention_weights[0], values, cross.W_o.weight, tp6["log_prob_of"](model, source, target),
                    seen["encoder.embedding"][0], vectors)

    return seconds, sum(right) / len(right), explained


@cache
def trained(seed):
    """A Transformer of session 6 on this corpus, trained once: the model, CPU seconds, its training rows of ids."""
    tp6, parts = load_oracle(course.find(ROOT), "tp6_transformer").namespace, parts_of()
    tp6["english"] = tp6["Words"](pair.source_words for pair in parts.train)
    tp6["french"] = tp6["Words"](pair.target_words for pair in parts.train)
    rows = tp6["rows_of"](parts.train)
    model, started = tp6["build"](seed=seed), time.process_time()
    tp6["learn"](model, rows, live(steps=STEPS[ATTENTIVE]), seed=seed)
    return model, time.process_time() - started, rows


def words_of_training(model, rows):
    """The mean (1, D) of embedded words of training, and twice 8 of them drawn at random, (16, D)."""
    ids = torch.tensor([number for source, _ in rows[:2000] for number in source])
    vectors = model.encoder.embedding.weight.detach()[ids]
    drawn = torch.randint(len(ids), (16,), generator=torch.Generator().manual_seed(0))
    return vectors.mean(dim=0, keepdim=True), vectors[drawn]


def ways(weights, values, W_o, said, x, vectors):
    """Name of an explanation → its map (T, S). `weights` (h, T, S), `values` (h, S, d), `W_o` (D, h · d)."""
    tp6, (mean, drawn) = load_oracle(course.find(ROOT), "tp6_transformer").namespace, vectors
    plain, *between = slopes(said, torch.stack([x, *(((step + 0.5) / 8) * x for step in range(8))]))
    effects = effects_of_each(said, x, torch.cat([0 * mean, mean, drawn]))
    maps = (weights.mean(dim=0), tp6["read_norms"](weights, values, W_o), (plain * x).sum(dim=-1),
            (sum(between) / 8 * x).sum(dim=-1), effects[0], effects[1], effects[2:10].mean(dim=0),
            effects[10:].mean(dim=0))
    return {name: one.detach() for name, one in zip(EXPLANATIONS, maps, strict=True)}


def slopes(said, points):
    """Session 6's function of this name at N points (N, S, D) at once: (N, T, S, D)."""
    copies = points.detach().repeat_interleave(T := said(points[:1]).shape[1], dim=0).requires_grad_()
    numbers = said(copies).unflatten(0, (-1, T)).diagonal(dim1=1, dim2=2).sum()
    return torch.autograd.grad(numbers, copies)[0].unflatten(0, (-1, T))


@torch.no_grad()
def effects_of_each(said, x, others):
    """Session 6's effects of replacing a word of `x` (S, D) by each of the `others` (N, D): (N, T, S)."""
    S, N = len(x), len(others)
    changed = x.repeat(N, S, 1, 1)
    for s in range(S):
        changed[:, s, s] = others
    after = said(changed.flatten(0, 1)).unflatten(0, (N, S))
    return (said(x[None]) - after).transpose(1, 2)


# The planted cases

NOUN_FORMS = {form for noun in (*NOUNS, *TWO_SENSE_NOUNS) for form in (noun.singular, noun.plural)}
TWO_SENSES = {form for noun in TWO_SENSE_NOUNS for form in (noun.singular, noun.plural)}
TRANSITIVE = {form for verb in (*VERBS, *TWO_SENSE_VERBS) if verb.objects
              for form in (verb.base, verb.third, verb.past)}
BEFORE_ADJECTIVE = {"is", "are", "am", "was", "were", "be", "been", *NEGATIONS, *FREQUENCIES}
SUBJECTS = {pronoun.subject for pronoun in PRONOUNS}


def planted(pair):
    """The cases in a pair: (its kind of `CASES`, position of the French word, position of its cause or None)."""
    words, nouns = pair.source_words, [i for i, word in enumerate(pair.source_words) if word in NOUN_FORMS]
    for t, (french, links) in enumerate(zip(pair.target_words, pair.alignment, strict=True)):
        i = links[0]
        if french == "est-ce" or (french == "que" and pair.target_words[t - 1] == "est-ce"):
            yield french, t, None
        elif french in ("le", "la", "un", "une") and words[i] in ("the", "a", "an"):
            yield "article", t, next(n for n in nouns if n > i)
        elif words[i] in TWO_SENSES and i > 1 and words[i - 2] in TRANSITIVE and i - 1 not in nouns:
            yield "two senses", t, i - 2
        elif words[i] in AGREEING and words[i - 1] in BEFORE_ADJECTIVE:
            n = max((n for n in nouns if n < i), default=None)
            if n is not None and not SUBJECTS.intersection(words[n:i]):
                yield "near" if i - n < 4 else "far", t, n


AGREEING = {adjective.english for adjective in ADJECTIVES if adjective.m != adjective.f}


def parted(pairs, explained):
    """Kind of case → how many; the effect of the cause by resampling, and the largest, in nats; each explanation's
    shares of words whose top link is a gold link, is the cause, and whose two largest hold the cause.
    """
    found = {kind: [] for kind in CASES}
    for pair in pairs:
        cases = [case for case in planted(pair) if len(found[case[0]]) < PLANTED]
        maps = explained(pair) if cases else {}
        for kind, t, cause in cases:
            effect = maps["resampling"][t]
            found[kind].append({"largest": effect.max().item(),
                                "effect": 0.0 if cause is None else effect[cause].item(),
                                **{name: [one[t].argmax().item() in pair.alignment[t], one[t].argmax().item() == cause,
                                          cause in one[t].topk(2).indices.tolist()] for name, one in maps.items()}})
    return {kind: {"n": len(cases),
                   **{name: sum(case[name] for case in cases) / len(cases) for name in ("effect", "largest")},
                   **{name: [sum(column) / len(cases) for column in zip(*(case[name] for case in cases), strict=True)]
                      for name in EXPLANATIONS}} for kind, cases in found.items()}


def report(results):
    """A line for each model and explanation; then the planted cases: the effects, and what each explanation finds."""
    scores, effects, cases = [], [], []
    for design in DESIGNS:
        runs = [run for run in results if run["design"] == vars(design)]
        if not runs:
            continue
        for name in (*EXPLANATIONS, "same place", "any word"):
            kinds = ("precision", "recall", "mean ablation", "resampling")
            label = name.replace("same place", "same position")  # the results are kept under the first
            scores.append([f"{design.model}: {label}", *(
                percent([run["scores"][name][kind] for run in runs]) if kind in runs[0]["scores"][name] else ""
                for kind in kinds), spread([run["scores"][name]["correlation"] for run in runs], "{:.2f}")
                if "correlation" in runs[0]["scores"][name] else ""])
        for kind, french in CASES.items():
            planted = [run["planted"][kind] for run in runs]
            effects.append([f"{design.model}: {french}", planted[0]["n"],
                            *(spread([one[effect] for one in planted], "{:.2f}") for effect in ("effect", "largest"))])
        for name in EXPLANATIONS:
            cases.append([f"{design.model}: {name}", *(
                " · ".join(percent([run["planted"][kind][name][which] for run in runs], 0) for which in whichs)
                for kind, whichs in (("two senses", (0, 2)), ("article", (0, 2)), ("near", (0, 2)), ("far", (0, 2)),
                                     ("est-ce", (0,)), ("que", (0,))))])
    pairs = []
    for first, second in (("weight × norm", "attention weight"), ("weight × norm", "integrated gradients"),
                          ("mean ablation", "weight × norm")):
        runs = [run["scores"] for run in results if run["design"]["model"] == ATTENTIVE]
        higher = sum(run[first]["resampling"] > run[second]["resampling"] for run in runs)
        pairs.append(f"{first} above {second} in {higher} of {len(runs)}")
    words = results[0]["words"]
    return (table(["model: explanation", "precision, %", "recall, %", "agreement with mean ablation, %",
                   "agreement with resampling, %", "rank correlation"], scores)
            + f"\n{words} French words in {SENTENCES} sentences. Right translations, in percent of these sentences: "
            + "; ".join(f"{design.model} " + percent([run["right"] for run in results if run["design"] == vars(design)])
                        for design in DESIGNS) + ".\n\n"
            + f"Agreement with resampling in the single runs of the {ATTENTIVE}: {'; '.join(pairs)}.\n\n"
            + table(["model: French word", "cases", "effect of the cause", "largest effect"], effects) + "\n"
            + table(["model: explanation", *(f"{french}: gold · cause" if cause else f"{french}: gold" for french, cause
                                             in zip(CASES.values(), (1, 1, 1, 1, 0, 0), strict=True))], cases)
            + "\n*gold*: the top link is a gold link, %. *cause*: the cause has one of the two largest numbers, %.\n\n")
