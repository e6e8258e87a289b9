"""What session 5 promises: a BLEU like sacrebleu's, searches that find the best, batches mixed anew, copied words."""

import itertools
import random

import pytest
import torch

from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from conftest import REPOSITORY
from tp import corpus
from tp.parallel import EOS, UNK, PairDataset, Vocabulary


@pytest.fixture(scope="module")
def notebook():
    return load_oracle(REPOSITORY, "tp5_translation").namespace


@pytest.mark.parametrize("seed", range(40))
def test_bleu_by_hand_equals_sacrebleu(notebook, seed):
    sacrebleu = pytest.importorskip("sacrebleu")
    rng = random.Random(seed)
    kinds = "abcde"[:rng.randint(1, 5)]
    references = [[rng.choice(kinds) for _ in range(rng.randint(0, 12))] for _ in range(rng.randint(1, 8))]
    hypotheses = [tokens[:rng.randint(0, 14)] + [rng.choice(kinds) for _ in range(rng.randint(0, 3))]
                  for tokens in references]
    if seed % 4 == 0:
        hypotheses[0] = []  # nothing said
    if seed % 5 == 0:
        hypotheses = [tokens[:2] for tokens in hypotheses]  # too short for trigrams
    said, wanted = ([" ".join(tokens) for tokens in texts] for texts in (hypotheses, references))
    theirs = sacrebleu.corpus_bleu(said, [wanted], tokenize="none", smooth_method="none", force=True).score
    assert notebook["corpus_bleu"](hypotheses, references) == pytest.approx(theirs, abs=1e-6)


def small_model(notebook, seed, V=7, hidden_size=6):
    """A random translator with distinct opinions, which never says PAD or SOS."""
    torch.manual_seed(seed)
    decoder = notebook["PlainDecoder"](V, 5, hidden_size, notebook["DotScore"]())
    model = notebook["Translator"](notebook["Encoder"](9, 5, hidden_size), decoder)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.7)
        model.decoder.readout.bias[:2] = -50
    return model


def log_probability(model, source, lengths, ids):
    """Of a hypothesis (a list of ids), with the model forced to say it."""
    target = torch.tensor(ids)[:, None]
    logits, _ = model(source, lengths, target, [True] * len(ids))
    return logits.log_softmax(-1).gather(-1, target[..., None]).sum().item()


def upto_eos(ids):
    return ids[:ids.index(2) + 1] if 2 in ids else ids


@pytest.mark.parametrize("seed", range(6))
def test_a_beam_of_one_is_greedy_and_a_full_beam_finds_the_best(notebook, seed):
    model, source, lengths = small_model(notebook, seed), torch.tensor([[4], [7], [5], [2]]), torch.tensor([4])
    said, _ = notebook["greedy"](model, source, lengths, max_length=3)
    narrow, total = notebook["beam_search"](model, source, lengths, width=1, max_length=3)
    assert upto_eos(narrow) == upto_eos(said[:, 0].tolist())
    assert total == pytest.approx(log_probability(model, source, lengths, upto_eos(narrow)), abs=1e-4)
    best, total = notebook["beam_search"](model, source, lengths, width=150, max_length=3)
    every = {tuple(upto_eos(list(ids))) for ids in itertools.product(range(2, 7), repeat=3)}
    scores = {ids: log_probability(model, source, lengths, list(ids)) for ids in every}
    assert tuple(upto_eos(best)) == max(scores, key=scores.get)
    assert total == pytest.approx(max(scores.values()), abs=1e-4)


def test_greedy_treats_the_sentences_of_a_batch_as_it_does_each_alone(notebook):
    model = small_model(notebook, seed=1)
    rows = [([4, 7, 5, 2], [2]), ([6, 2], [2]), ([8, 4, 2], [2])]
    source, lengths, _ = notebook["collate"](rows)
    together, weights = notebook["greedy"](model, source, lengths, max_length=8)
    assert weights[:, 1, 2:].abs().max() == 0 and torch.allclose(weights.sum(-1), torch.ones(()))
    for b, row in enumerate(rows):
        alone, _ = notebook["greedy"](model, *notebook["collate"]([row])[:2], max_length=8)
        assert upto_eos(together[:, b].tolist()) == upto_eos(alone[:, 0].tolist())


def test_each_round_has_other_batches_and_none_longer_than_the_curriculum_allows(notebook, seed):
    pairs = corpus.load(300, 1, 1, seed=seed % 1000).train
    dataset = PairDataset(pairs, *(Vocabulary(getattr(pair, side) for pair in pairs)
                                   for side in ("source_words", "target_words")))
    batches = notebook["batches_of"](dataset, 10, longest=lambda: 9, seed=seed)
    a_round = -(-sum(length <= 9 for length in dataset.lengths) // 10)
    first, second = ([tuple(sorted(map(tuple, source.T.tolist()))) for source, *_ in itertools.islice(batches, a_round)]
                     for _ in range(2))
    assert first != second and set(first) != set(second)
    sentences = [sorted(ids for batch in batches for ids in batch if EOS in ids) for batches in (first, second)]
    strip = [sorted(ids[:ids.index(EOS) + 1] for ids in one) for one in sentences]
    assert strip[0] == strip[1] and max(map(len, strip[0])) <= 9


def test_a_copied_word_is_the_english_one_of_largest_weight(notebook, seed):
    pairs = corpus.load(40, 1, 1, seed=seed % 1000).train
    vocabularies = [Vocabulary(getattr(pair, side) for pair in pairs) for side in ("source_words", "target_words")]
    dataset = PairDataset(pairs, *vocabularies)
    torch.manual_seed(seed)
    model = notebook["build"](vocabularies=vocabularies, hidden_size=8)
    with torch.no_grad():
        model.decoder.readout.bias[UNK] = 50    # it knows no word
    *_, left = notebook["evaluate"](model, dataset, vocabularies[1])
    *_, copied = notebook["evaluate"](model, dataset, vocabularies[1], copying=True)
    for pair, ids, before, after in zip(pairs, dataset.ids, left, copied, strict=True):
        assert set(before.split()) == {"<unk>"}
        weights = notebook["greedy"](model, *notebook["collate"]([ids])[:2])[1][:, 0]
        words = [*pair.source_words, "<eos>"]
        assert after.split() == [words[s] for s in weights.argmax(-1).tolist()][:len(after.split())]


def test_a_word_that_is_masked_has_no_say(notebook, seed):
    exec(load_source(REPOSITORY, "tp5_translation").cell("demo", "right-without").solution, notebook)
    model = small_model(notebook, seed % 1000)
    sentence, lengths, target = notebook["collate"]([([4, 7, 5, 2], [3, 6, 2])])
    weights = model(sentence, lengths, target, [True] * 3)[1][:, 0]
    before = notebook["right_without"](model, sentence, target, weights)
    kept = model.encoder.forward
    largest = weights.argmax(-1)[0].item()

    def changed(source, lengths):
        henc_ts, hdec_init = kept(source, lengths)
        henc_ts = henc_ts.clone()
        henc_ts[largest] = 100 * torch.randn_like(henc_ts[largest])
        return henc_ts, hdec_init

    model.encoder.forward = changed
    assert notebook["right_without"](model, sentence, target, weights)[0] == before[0]
