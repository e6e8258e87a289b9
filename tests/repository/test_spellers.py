"""The benchmark of session 7: it trains the notebook's network, goes on where it stopped, and joins networks."""

import itertools
import math
import random
from dataclasses import replace

import pytest
import torch
from torch import nn

from bench import pronunciation as bench
from bench import spellers
from tp import pronunciation

RECIPE = spellers.Recipe("tiny", steps=6, hidden=8, embedding=6, combined=10, batches=((0.0, 3),))


@pytest.fixture(scope="module")
def nb():
    """The names of the solution notebook."""
    return bench.notebook()


@pytest.fixture
def dictionary():
    """Twelve words of made-up sounds."""
    rng = random.Random(5)
    return {word: [tuple(rng.choices(pronunciation.SOUNDS, k=rng.randrange(1, 5)))]
            for word in ("ab", "cd", "ef", "abc", "bcd", "cde", "def", "fgh", "ghij", "hijk", "ijkl", "jklm")}


def batch(rng, B, S):
    letters = torch.tensor([[rng.randrange(1, pronunciation.N_LETTERS) for _ in range(S)] for _ in range(B)])
    return letters, pronunciation.sound_ids([tuple(rng.choices(pronunciation.SOUNDS, k=rng.randrange(1, 6)))
                                             for _ in range(B)])


@pytest.mark.parametrize("seed", range(3))
def test_the_fast_way_computes_what_the_notebooks_network_computes(nb, seed):
    rng = random.Random(seed)
    torch.manual_seed(seed)
    model = nb.Speller(rng.randrange(4, 12), rng.randrange(3, 9), rng.randrange(3, 9)).eval()
    letters, sounds = batch(rng, rng.randrange(1, 6), rng.randrange(1, 8))
    logits, henc_ts = spellers.teacher_forcing(model, letters, sounds[:, :-1])
    assert torch.allclose(logits, model(letters, sounds[:, :-1]), atol=1e-5)
    assert torch.allclose(henc_ts, model.encode(letters)[0], atol=1e-5)
    loss = torch.randn_like(logits)
    fast = torch.autograd.grad((loss * logits).sum(), [*model.parameters()])
    slow = torch.autograd.grad((loss * model(letters, sounds[:, :-1])).sum(), [*model.parameters()])
    assert all(torch.allclose(one, other, atol=1e-4) for one, other in zip(fast, slow, strict=True))


def test_the_second_loss_sums_over_all_alignments():
    """Two letters, two sounds at most from each: all ways to write one sound into four frames."""
    torch.manual_seed(0)
    layer, henc_ts = nn.Linear(3, 2 * pronunciation.N_SOUNDS), torch.randn(1, 2, 3)
    sounds = pronunciation.sound_ids([("K",)])
    frames = layer(henc_ts).view(4, -1).log_softmax(-1)
    k = pronunciation.FIRST + pronunciation.SOUNDS.index("K")
    ways = [way for way in itertools.product((0, k), repeat=4)
            if [one for one, _ in itertools.groupby(way) if one] == [k]]
    total = torch.stack([sum(frames[t, one] for t, one in enumerate(way)) for way in ways]).logsumexp(0)
    assert torch.allclose(spellers.aligned_loss(layer, henc_ts, sounds), -total, atol=1e-5)


def test_the_learning_rate_climbs_stays_and_falls():
    recipe = replace(RECIPE, steps=1000, falls=0.5, peak=2.0)
    assert recipe.rate(0) == 2.0 / 200 and recipe.rate(199) == recipe.rate(500) == 2.0
    assert math.isclose(recipe.rate(750), 1.0) and math.isclose(recipe.rate(999), 2.0 / 500)


def test_a_training_that_was_stopped_goes_on_as_if_it_had_not(nb, dictionary, tmp_path):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    arguments = bench.speller(nb), RECIPE, 3, dictionary, [*dictionary]
    uninterrupted = spellers.trained("tiny", *arguments, folder=whole)

    def interrupt(training):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spellers.trained("tiny", *arguments, seen=interrupt, folder=stopped)
    torch.rand(5)
    continued = spellers.trained("tiny", *arguments, folder=stopped)
    assert continued.spent["steps"] == uninterrupted.spent["steps"] == 6
    for one, other in zip(continued.model.parameters(), uninterrupted.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_running_mean_forgets_the_first_weights():
    means = [torch.zeros(2)]
    for n in range(1, 101):
        spellers.averaging(means, [torch.ones(2)], torch.tensor(n))
    assert torch.allclose(means[0], torch.ones(2), atol=1e-6)
    for n in range(100_000, 100_010):
        spellers.averaging(means, [torch.zeros(2)], torch.tensor(n))
    assert torch.allclose(means[0], torch.full((2,), spellers.AVERAGED ** 10), atol=1e-5)


def test_the_shipped_file_holds_large_weights_in_eight_bits_and_small_ones_as_they_are(nb, tmp_path):
    torch.manual_seed(4)
    model = nb.Speller(33, 65, 67)
    bench.write(model, {"steps": 7}, {"taken": "last"}, tmp_path)
    _, found = pronunciation.shipped(tmp_path)
    assert list(found) == list(model.state_dict())
    numbers = 0
    for name, weight in model.state_dict().items():
        if weight.numel() < pronunciation.LARGE:
            assert torch.equal(found[name], weight), name
            numbers += 4 * weight.numel()
            continue
        pairs = zip(*(one.flatten().split(pronunciation.BLOCK) for one in (found[name], weight)), strict=True)
        assert all(((one - other).abs() <= 0.501 * other.abs().max() / 127).all() for one, other in pairs), name
        numbers += weight.numel() + 4 * math.ceil(weight.numel() / pronunciation.BLOCK)
    assert (tmp_path / "pronunciation.bin").stat().st_size == numbers


def test_a_kept_network_has_its_last_weights_or_their_mean(nb, dictionary, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "KEPT", tmp_path)
    training = spellers.trained("tiny", bench.speller(nb), RECIPE, 0, dictionary, [*dictionary], folder=tmp_path)
    mean, last = bench.networks(training)
    for part, model in (("average", mean), ("model", last)):
        (found,) = bench.kept(nb, "tiny", RECIPE, 2, part)
        for name, weight in model.state_dict().items():
            assert torch.equal(found.state_dict()[name], weight)


def test_several_networks_that_are_one_say_what_it_says(nb, dictionary):
    torch.manual_seed(1)
    model = nb.Speller(8, 6, 10).eval()
    words = ["abc", "bcd", "cde"]
    assert bench.together_say([model, model], words) == nb.pronounce(model, words)[0]


@torch.no_grad()
def test_scores_are_sums_of_log_probabilities(nb, dictionary):
    torch.manual_seed(2)
    model = nb.Speller(8, 6, 10).eval()
    pairs = [(word, listed[0]) for word, listed in dictionary.items()]
    found = bench.scores([model], pairs)
    for word, sounds in pairs:
        ids = pronunciation.sound_ids([sounds])
        logits = model(pronunciation.letter_ids([word]), ids[:, :-1]).log_softmax(-1)
        expected = logits[0, torch.arange(ids.shape[1] - 1), ids[0, 1:]].sum()
        assert math.isclose(found[word, sounds], float(expected), abs_tol=1e-4)


def test_the_transformer_learns_with_dropout_and_speaks_without(dictionary, tmp_path):
    recipe = replace(RECIPE, embedding=32, layers=(1, 1), dropout=0.5)
    training = spellers.trained("tiny", bench.transformer(bench.notebook("tp6_transformer")), recipe, 0, dictionary,
                                [*dictionary], bench.forced, folder=tmp_path)
    letters, sounds = batch(random.Random(0), 2, 3)
    model = training.model.train()
    assert not torch.equal(bench.forced(model, letters, sounds, 0)[0], bench.forced(model, letters, sounds, 0)[0])
    model.eval()
    assert torch.equal(bench.forced(model, letters, sounds, 0)[0], bench.forced(model, letters, sounds, 0)[0])
    said = bench.transformer_says(model, ["abc", "bcd"])
    assert len(said) == 2 and all(set(one) <= {*pronunciation.SOUNDS} for one in said)
