"""What makes the corpus of `tp.corpus` harder: switches, all of them off in its clean setting.

    corpus.load(6000, 500, 500, difficulty=HARD)
    corpus.load(6000, 500, 500, difficulty=Difficulty(senses=True))
"""

import hashlib
import itertools
from dataclasses import dataclass

from .lexicon import ADJECTIVES, FREQUENCIES, NEGATIONS, NOUNS, TIMES, TWO_SENSE_NOUNS, TWO_SENSE_VERBS, VERBS

MIN_WORDS, MAX_WORDS = 3, 20    # a side, final mark not counted


@dataclass(frozen=True)
class Difficulty:
    """The switches. What training never has stands in the validation and test parts as often as the grammar says it."""
    senses: bool = False        # words with two senses, decided by the context: "the bat sleeps", "I buy the bat"
    references: bool = False    # a second valid translation: other words, or another place for "demain"
    rare: float = 0.0           # how often a person has a name and a noun a number; training lacks a tenth of these
    noise: float = 0.0          # the share of English words that are misspelt
    longest: int = MAX_WORDS    # English words in the longest sentence of training
    combinations: bool = False  # training lacks a fifth of all pairs of an adjective and its noun


CLEAN = Difficulty()
HARD = Difficulty(senses=True, references=True, rare=0.15, noise=0.02, longest=12, combinations=True)

# What may be hard about a sentence; the last three never stand in training.
TRAITS = ("sense", "rare word", "typo", "unknown word", "new combination", "longer")
HELD_OUT = frozenset(TRAITS[3:])


def name(rng):
    """A name of three syllables, and its gender: "mirela", f; "tadino", m. None is a word of either language."""
    syllables = [consonant + vowel for consonant in "bdfgklmnprstv" for vowel in "aeiou"]
    gender = rng.choice("fm")
    return rng.choice(syllables) + rng.choice(syllables) + rng.choice("dlnrs") + {"f": "a", "m": "o"}[gender], gender


def number(rng):
    """A number of two or three digits, as text."""
    return str(rng.randint(10, 999))


def is_held_out(text, share):
    """Whether training may not have it: so for the given share of all texts, the same ones for any seed."""
    digest = hashlib.blake2b(text.encode(), digest_size=4).digest()
    return int.from_bytes(digest) < share * 2 ** 32


_KNOWN = {form for noun in (*NOUNS, *TWO_SENSE_NOUNS) for form in (noun.singular, noun.plural)}
_KNOWN |= {form for verb in (*VERBS, *TWO_SENSE_VERBS) for form in (verb.base, verb.third, verb.past)}
_KNOWN |= {adjective.english for adjective in ADJECTIVES} | {*FREQUENCIES, *NEGATIONS}
_KNOWN |= {time for time, _ in itertools.chain(*TIMES.values())}


def misspelt(word, rng):
    """A word of the lexicon with two letters in each other's place, one left out or one twice; its first letter stays.

    Short words, names and numbers come back as they are, and so does a word that would become another one.
    """
    if len(word) < 4 or word not in _KNOWN:
        return word
    at = rng.randrange(1, len(word) - 1)
    middle = rng.choice((word[at + 1] + word[at], word[at] * 2 + word[at + 1], word[at + 1]))
    wrong = word[:at] + middle + word[at + 2:]
    return word if wrong in _KNOWN else wrong
