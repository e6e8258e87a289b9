"""The switches that make the corpus of session 5 harder: what each adds, and what training then never has."""

import hashlib
import itertools
import random
import re

import pytest
from test_corpus import tokenized

from tp import corpus, lexicon
from tp.difficulty import CLEAN, HARD, HELD_OUT, TRAITS, Difficulty, is_held_out, misspelt, name

ALONE = {"senses": Difficulty(senses=True), "references": Difficulty(references=True), "rare": Difficulty(rare=.3),
         "noise": Difficulty(noise=.2), "combinations": Difficulty(combinations=True), "all": HARD}


@pytest.fixture(scope="module")
def streams():
    seed = random.randrange(10 ** 6)
    return {switch: list(itertools.islice(corpus.stream(seed, difficulty), 700))
            for switch, difficulty in ALONE.items()}


@pytest.fixture(scope="module")
def hard():
    return corpus.load(2000, 300, 300, seed=random.randrange(10 ** 6), difficulty=HARD)


def both(pairs):
    """The pairs, and their second translations as pairs of their own."""
    return [one for pair in pairs for one in (pair, pair.other) if one]


def test_the_clean_corpus_is_the_one_of_the_published_numbers():
    parts = corpus.load(1000, 100, 100, seed=0)
    text = "".join(repr(tuple(pair)[:6]) for part in parts for pair in part)
    assert hashlib.sha256(text.encode()).hexdigest() == \
        "553dcc4ca39a86ad1ede77136a7d2eed0f6d736851038176df16c1f7d669c09d"
    assert not any(pair.traits or pair.other for part in parts for pair in part)
    assert parts == corpus.load(1000, 100, 100, 0, CLEAN)


def test_the_hard_corpus_is_the_one_of_the_published_numbers():
    parts = corpus.load(300, 50, 50, seed=0, difficulty=HARD)
    assert hashlib.sha256(repr(parts).encode()).hexdigest() == \
        "602a6d6abed228f88aac1cf707426afb678f3d6e8ff79f2fa1ecdbf93c5798d8"


@pytest.mark.parametrize("switch", ALONE)
def test_alignments_stay_gold(streams, switch):
    for pair in both(streams[switch]):
        assert tokenized(pair.source) == pair.source_words and tokenized(pair.target) == pair.target_words
        assert len(pair.alignment) == len(pair.target_words)
        places = range(len(pair.source_words))
        assert all(links and set(links) <= set(places) for links in pair.alignment)
        unused = set(places) - set(itertools.chain(*pair.alignment))
        assert {pair.source_words[s][:1] for s in unused} <= {"t", "d"}, pair   # to, do, does, and "dose"


def test_hard_sentences_have_the_length_of_clean_ones(streams):
    for pair in both(streams["all"]):
        assert 3 <= len(pair.source_words) - 1 <= 20
        assert 3 <= len(pair.target_words) - 1 <= 22  # another word for a clean one may be longer, as *à côté de*


@pytest.mark.parametrize("switch", ["references", "all"])
def test_two_references_are_two_translations_of_one_sentence(streams, switch):
    with_two = [pair for pair in streams[switch] if pair.other]
    assert len(with_two) > 0.4 * len(streams[switch])
    for pair in with_two:
        assert pair.other.source_words == pair.source_words and pair.other.target != pair.target
        assert pair.other.lemmas == pair.lemmas and pair.references == [pair.target_words, pair.other.target_words]


@pytest.mark.parametrize("switch", ["references", "senses", "all"])
def test_both_references_obey_the_grammar(streams, switch):
    """Elision and contraction, and each adjective in the gender of the noun beside it."""
    wrong = re.compile(r"\b(le|la|je|ne|de|que|me) [aeiouhéêèîôœ]|\b(de|à) les? |\b(ma|sa|ce) [aeiouhéêèîôœ]")
    others = [entry for entry in lexicon.OTHERS.values() if not isinstance(entry, str)]
    nouns = [entry for entry in (*lexicon.NOUNS, *lexicon.TWO_SENSE_NOUNS, *others) if isinstance(entry, lexicon.Noun)]
    gender = {form: noun.gender for noun in nouns for form in (noun.fr_singular, noun.fr_plural)}
    forms = {"m": set(), "f": set()}
    for adjective in [*lexicon.ADJECTIVES, *(entry for entry in others if isinstance(entry, lexicon.Adjective))]:
        forms["m"] |= {adjective.m, adjective.m_plural, adjective.before_vowel}
        forms["f"] |= {adjective.f, adjective.f_plural}
    beside = 0
    for pair in both(streams[switch]):
        assert not wrong.search(pair.target.lower()), pair.target
        for a, b in itertools.pairwise(pair.target_words):
            adjective, noun = (a, b) if b in gender else (b, a)
            if noun in gender and adjective in forms["m"] | forms["f"]:
                beside += 1
                assert adjective in forms[gender[noun]], pair.target
    assert beside > 100


def test_the_context_decides_between_two_senses():
    """The same English always has the same French, and each sense comes up where it belongs."""
    known, french = {}, {}
    for seed in range(3):
        for pair in itertools.islice(corpus.stream(seed, Difficulty(senses=True)), 1500):
            assert known.setdefault(pair.source, pair) == pair
            for word, links in zip(pair.target_words, pair.alignment, strict=True):
                for s in links:
                    french.setdefault(pair.source_words[s], set()).add(word)
    for noun in lexicon.TWO_SENSE_NOUNS:
        assert noun.fr_singular in french[noun.singular] and noun.fr_plural in french[noun.plural]
    for verb in lexicon.TWO_SENSE_VERBS:
        assert verb.infinitive in french[verb.base]
    for english, wanted, unwanted in ((r"\b(eat|grow)s? the chicken\b", "poulet", "poule"),
                                      (r"^The chicken \w+s\b", "poule", "poulet"),
                                      (r"^He left\.", "parti", "quitté")):
        found = [pair for pair in known.values()
                 if re.search(english, pair.source) and pair.source.count("chicken") < 2]
        assert all(wanted in pair.target_words and unwanted not in pair.target_words for pair in found)


def test_rare_words_stand_on_both_sides_and_some_are_unknown(hard):
    seen = {word for pair in hard.train for word in pair.source_words}
    for pair in itertools.chain(*hard):
        copied = {word for word in pair.source_words
                  if word.isdigit() or word.title() in pair.source.split()[1:]} - {"i"}
        assert copied <= set(pair.target_words)
        if "unknown word" in pair.traits:
            unknown = {word for word in pair.source_words if is_held_out(word, .1)} & set(pair.target_words)
            assert unknown - seen
    assert any("unknown word" in pair.traits for pair in hard.test)


def test_a_name_is_no_word_and_shows_its_gender():
    rng = random.Random(random.random())
    words = {word for pair in itertools.islice(corpus.stream(1), 300) for word in pair.source_words + pair.target_words}
    for text, gender in (name(rng) for _ in range(500)):
        assert text.isalpha() and text not in words and text[0] not in "aeiouh"
        assert text[-1] == {"m": "o", "f": "a"}[gender]


def test_a_typo_keeps_the_first_letter_and_makes_no_other_word():
    rng = random.Random(random.random())
    forms = [form for noun in lexicon.NOUNS for form in (noun.singular, noun.plural)]
    changed = 0
    for word in rng.choices(forms, k=1000):
        wrong = misspelt(word, rng)
        changed += wrong != word
        assert wrong[0] == word[0] and abs(len(wrong) - len(word)) <= 1 and (wrong == word or wrong not in forms)
    assert changed > 500
    assert [misspelt(word, rng) for word in ("cat", "mirela", "1234")] == ["cat", "mirela", "1234"]


def combinations(pair):
    """The pairs of an English adjective and its noun, as they stand in a sentence."""
    singular = {form: noun.singular for noun in (*lexicon.NOUNS, *lexicon.TWO_SENSE_NOUNS)
                for form in (noun.singular, noun.plural)}
    adjectives = {adjective.english for adjective in lexicon.ADJECTIVES}
    for i, word in enumerate(pair.source_words):
        for before in reversed(pair.source_words[:i] if word in singular else ()):
            if before not in adjectives:
                break
            yield before, singular[word]


def test_what_training_lacks_is_in_the_other_parts_only(hard):
    assert not any(HELD_OUT.intersection(pair.traits) for pair in hard.train)
    for part in hard[1:]:
        assert all(any(trait in pair.traits for pair in part) for trait in TRAITS)
    trained = {combination for pair in hard.train for combination in combinations(pair)}
    for pair in itertools.chain(hard.validation, hard.test):
        if "typo" not in pair.traits:
            assert ("new combination" in pair.traits) == bool(set(combinations(pair)) - trained
                                                             and any(is_held_out(f"{a} {n}", .2)
                                                                     for a, n in combinations(pair)))
    assert not any(is_held_out(f"{adjective} {noun}", .2) for adjective, noun in trained)


def test_training_has_no_sentence_longer_than_its_limit(hard):
    lengths = [[len(pair.source_words) - 1 for pair in part] for part in hard]
    assert max(lengths[0]) == HARD.longest
    for part, found in zip(hard[1:], lengths[1:], strict=True):
        assert [n > HARD.longest for n in found] == ["longer" in pair.traits for pair in part]


def test_the_parts_share_no_family_and_no_sentence(hard):
    for what in ("lemmas", "source"):
        sides = [{getattr(pair, what) for pair in part} for part in hard]
        assert not any(a & b for a, b in itertools.combinations(sides, 2))
