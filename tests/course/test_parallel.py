"""What session 5 is given to make batches: tokens, vocabularies, files of pairs, batches by length."""

import random

import pytest

from tp import corpus, parallel


@pytest.mark.parametrize("text, tokens", [
    ("Est-ce qu’ils n'ont pas mangé ?", ["est-ce", "qu'", "ils", "n'", "ont", "pas", "mangé", "?"]),
    ("E\u0301te\u0301, 12 mois.", ["été", ",", "12", "mois", "."]),
    ("- a-, -b", ["-", "a", "-", ",", "-", "b"]),
    ("", []),
])
def test_a_sentence_is_cut_into_words_and_marks(text, tokens):
    assert parallel.tokenize(text) == tokens


def test_a_vocabulary_numbers_by_frequency_then_by_alphabet():
    vocabulary = parallel.Vocabulary([["b", "a", "b"], ["c", "a"]])
    assert vocabulary.tokens == ["<pad>", "<sos>", "<eos>", "<unk>", "a", "b", "c"] and len(vocabulary) == 7
    assert vocabulary.encode(["a", "z"]) == [4, parallel.UNK, parallel.EOS]
    assert vocabulary.decode([parallel.SOS, 5, 3, parallel.EOS, 4]) == ["b", "<unk>"]
    assert parallel.Vocabulary([["b", "a", "b"]], min_count=2).tokens[4:] == ["b"]


def test_what_is_written_to_a_file_is_read_back(tmp_path, capsys):
    pairs, path = corpus.load(30, 1, 1).train, tmp_path / "pairs.tsv"
    parallel.write_pairs(pairs, path)
    with open(path, "a", encoding="utf-8") as file:
        file.write("no tab\n")
    assert parallel.read_pairs(path) == [(pair.source, pair.target) for pair in pairs]
    assert capsys.readouterr().out == "30 pairs read as utf-8; 1 line left out: no tab (first: line 31).\n"


def test_a_data_set_has_the_corpus_s_own_words():
    pairs = corpus.load(50, 1, 1).train
    vocabularies = [parallel.Vocabulary([getattr(pair, side) for pair in pairs])
                    for side in ("source_words", "target_words")]
    dataset = parallel.PairDataset(pairs, *vocabularies)
    assert dataset[0] == (vocabularies[0].encode(pairs[0].source_words), vocabularies[1].encode(pairs[0].target_words))
    assert dataset.lengths == [len(pair.source_words) + 1 for pair in pairs] and len(dataset) == 50


def test_batches_are_sorted_within_pools_and_lose_nothing(seed):
    assert parallel.length_batches([9, 3, 5, 4], [2, 0, 3, 1], 1, pool=2) == [[2], [0], [1], [3]]
    rng = random.Random(seed)
    lengths = [rng.randint(3, 20) for _ in range(100)]
    order = rng.sample(range(100), 100)
    batches = parallel.length_batches(lengths, order, 7)
    assert sorted(number for batch in batches for number in batch) == list(range(100))
    mixed = [order[i:i + 7] for i in range(0, 100, 7)]
    assert parallel.padding_share(lengths, batches) < parallel.padding_share(lengths, mixed)
    assert parallel.padding_share([2, 4], [[0, 1]]) == 0.25
