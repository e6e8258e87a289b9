"""English-French sentence pairs with gold word alignments, made by a small grammar.

The grammar speaks both languages at once: each French word is written down together with the English
words that it comes from, so that the alignment is known by construction. It has what makes translation
more than a word list: gender and number agreement, adjectives before and after the noun, negation around
the verb, elision and contraction (l', du, aux), pronouns that move before the verb, compound tenses.

    corpus = load(1000, 100, 100, seed=0)
    corpus.train[0].source, corpus.train[0].target     # 'She does not …', 'Elle ne … pas …'

A `tp.difficulty.Difficulty` makes the same grammar harder.
"""

import hashlib
import itertools
import random
from typing import NamedTuple

from . import lexicon
from .difficulty import CLEAN, HELD_OUT, MAX_WORDS, MIN_WORDS, TRAITS, is_held_out, misspelt, name, number
from .inflection import Word, agreed, english_verb, french_verb, joined, overlap, starts_with_vowel, written
from .lexicon import (
    ADJECTIVES,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    FREQUENCIES,
    MODALS,
    NEGATIONS,
    NOUNS,
    OTHERS,
    PREPOSITIONS,
    PRONOUNS,
    TIMES,
    TWO_SENSE_NOUNS,
    TWO_SENSE_VERBS,
    VERBS,
)

_TENSES = ("present",) * 5 + ("past",) * 4 + ("future", *MODALS)
_NOUNS = {kind: [noun for noun in NOUNS if noun.kind == kind]
          for kind in ("person", "animal", "food", "thing", "place")}
_FRAMES = ("alone", "object", "give", "to")
_VERBS = {frame: [verb for verb in VERBS if verb.frame == frame] for frame in _FRAMES}
_TWO_SENSE_VERBS = {frame: [verb for verb in TWO_SENSE_VERBS if verb.frame == frame] for frame in _FRAMES}
_BEFORE = {kind: [a for a in ADJECTIVES if a.place == "before" and kind in a.kinds] for kind in _NOUNS}
_MOODS = [a for a in ADJECTIVES if {"person", "animal"} <= a.kinds]
_AFTER = {kind: [a for a in ADJECTIVES if a.place == "after" and kind in a.kinds] for kind in _NOUNS}
# English says "the sad young woman" and "the rich old king", but "the beautiful sad woman" and "the big red car".
_MOOD_FIRST = {"small", "big", "young", "old"}
_WEIGHTS = {"the": 8, "a": 5}      # of the determiners; each of the others has 1
_PARTITIVE = frozenset({"a", "many"})   # not after "of", "to" and "near"


class Pair(NamedTuple):
    """One sentence in both languages.

    `alignment[t]` holds the positions of the English words that French word t comes from: one position is a
    sure link; where there are several, each is as good as another ("du" comes from "of" and from "the").
    """
    source: str            # "She does not see the red apple."
    target: str            # "Elle ne voit pas la pomme rouge."
    source_words: tuple    # ("she", "does", "not", …, "."): lower case, elided words apart
    target_words: tuple    # ("elle", "ne", "voit", …, ".")
    alignment: tuple       # T tuples of positions in source_words
    lemmas: tuple          # its nouns, adjectives and verbs, without their endings
    traits: tuple = ()     # what is hard about it, of `tp.difficulty.TRAITS`
    other: "Pair | None" = None   # the same English with another valid translation, where there is one

    @property
    def references(self):
        """The one or two valid translations, as tuples of words."""
        return [self.target_words] + ([self.other.target_words] if self.other else [])


class Corpus(NamedTuple):
    """Three lists of `Pair`, with no family of sentences in two of them; `load` says what a family is."""
    train: list
    validation: list
    test: list


def load(train=40_000, validation=1_000, test=1_000, seed=0, difficulty=CLEAN):
    """A `Corpus` of so many distinct pairs in each part; the same `seed` gives the same pairs.

    Sentences with the same nouns, adjectives and verbs, in the same order, are a family and lie on the same side of
    the split: a test sentence is never a training sentence in another tense. No training sentence has one of the traits
    `tp.difficulty.HELD_OUT`.
    """
    parts, wanted = ([], [], []), (train, validation, test)
    for pair in stream(seed, difficulty):
        side = _side(pair)
        if side == 0 and HELD_OUT.intersection(pair.traits):
            continue
        if len(parts[side]) < wanted[side]:
            parts[side].append(pair)
        elif all(len(part) >= n for part, n in zip(parts, wanted, strict=True)):
            return Corpus(*parts)


def stream(seed=0, difficulty=CLEAN):
    """Distinct `Pair`s without end, always the same ones for the same `seed`."""
    grammar, seen = _Grammar(random.Random(seed), difficulty), set()
    while True:
        pair = grammar.sentence()
        words = len(pair.source_words) - 1, len(pair.target_words) - 1
        if MIN_WORDS <= min(words) and max(words) <= MAX_WORDS and pair.source not in seen:
            seen.add(pair.source)
            yield pair


def _side(pair):
    """0, 1 or 2 (of every ten families of sentences eight, one and one), the same for any seed."""
    digest = hashlib.blake2b(" ".join(pair.lemmas).encode(), digest_size=4).digest()
    return (0, 0, 0, 0, 0, 0, 0, 0, 1, 2)[int.from_bytes(digest) % 10]


class _Phrase(NamedTuple):
    english: list      # of Word
    french: list       # of (text, words it comes from)
    gender: str = "m"
    plural: bool = False
    person: int = 1    # index into a verb's forms: je, il, nous, vous, ils


class _Grammar:
    def __init__(self, rng, difficulty):
        self.rng, self.difficulty = rng, difficulty
        self.wording = 0    # a bit for each choice between two French ways to say the same
        self.lemmas, self.traits, self.names = [], set(), set()

    # The rules, from the sentence down. Each takes the choices it depends on and speaks both languages:
    # a list of English words, and a list of French words, each with the English words it comes from.

    def sentence(self):
        """The next `Pair`. Where two references are wanted, it is said twice, each time with the other French words."""
        if not self.difficulty.references:
            return self.said()
        wording, before = self.rng.getrandbits(64), self.rng.getstate()
        self.wording = wording
        pair = self.said()
        self.rng.setstate(before)
        self.wording = ~wording
        other = self.said()
        return pair if other.target == pair.target else pair._replace(other=other)

    def said(self):
        self.lemmas, self.traits, self.names = [], set(), set()
        mark = Word("?" if self.chance(.04) else ".")
        question = mark if mark.text == "?" else None
        tense = self.pick(_TENSES)
        adverb = self.adverb(tense, question)
        english, french = self.clause(tense, adverb, question)
        if tense in TIMES and adverb in (None, "not") and self.chance(.25):
            front = question is None and self.chance(.5)
            french_front = front if question else self.either(front, not front)
            english, french = self.add_time(english, french, tense, front, french_front)
        elif question is None and self.chance(.15):
            conjunction, translation = self.pick(CONJUNCTIONS)
            word = Word(conjunction)
            more_english, more_french = self.clause(tense := self.pick(_TENSES), self.adverb(tense, None), None)
            english = english + [word] + more_english
            french = french + [(text, (word,)) for text in self.worded(translation).split()] + more_french
        if len(english) > self.difficulty.longest:
            self.traits.add("longer")
        self.misspell(english)
        pair = _pair(english + [mark], french + [(mark.text, (mark,))], self.lemmas, self.names)
        return pair._replace(traits=tuple(trait for trait in TRAITS if trait in self.traits))

    def misspell(self, english):
        if not self.difficulty.noise:
            return
        for word in english:
            if self.chance(self.difficulty.noise):
                right, word.text = word.text, misspelt(word.text, self.rng)
                self.traits |= {"typo"} if word.text != right else set()

    def add_time(self, english, french, tense, front, french_front):
        text, translation = self.pick(TIMES[tense])
        word = Word(text)
        time = [(part, (word,)) for part in self.worded(translation).split()]
        return ([word] + english if front else english + [word]), (time + french if french_front else french + time)

    def clause(self, tense, adverb, question):
        """A statement, or the question that ends in the mark `question`."""
        negated = adverb in NEGATIONS
        without = frozenset({"every"} if negated else ())
        subject = self.subject(without, relative=question is None)
        frame = self.rng.choices(("be", "alone", "object", "give", "to"), (20, 20, 38, 12, 10))[0]
        if frame == "be":
            english, french = self.verb_group(subject, BE, tense, adverb, question)
            rest = self.place(without) if self.chance(.3) else self.predicate(subject)
            return english + rest.english, french + rest.french
        verb = self.verb(frame)
        pronoun = None
        if frame == "object" and "person" in verb.objects and self.chance(.35):
            pronoun = self.pick([p for p in PRONOUNS if not overlap(p.person, subject.person)])
        english, french = self.verb_group(subject, verb, tense, adverb, question, pronoun)
        rest = []
        if verb.objects and not pronoun:
            partitive = _PARTITIVE if verb.base in lexicon.DEFINITE_OBJECT else frozenset()
            rest.append(self.noun_phrase(self.pick(verb.objects), verb.objects, without | partitive, negated))
        if frame in ("give", "to"):
            rest.append(self.preposition("to", "à", self.noun_phrase("person", ("person",), without | _PARTITIVE)))
        if self.chance(.2):
            rest.append(self.place(without, PREPOSITIONS if verb.base != "leave" else PREPOSITIONS[-1:]))
        for phrase in rest:
            english, french = english + phrase.english, french + phrase.french
        return english, french

    def adverb(self, tense, question):
        if not question and self.chance(.3):
            return self.pick(("not", "not", "never"))
        if tense in ("present", "past") and self.chance(.15):
            return self.pick(tuple(FREQUENCIES))
        return None

    def subject(self, without, relative):
        if self.chance(.4):
            pronoun = self.pick(PRONOUNS)
            word = Word(pronoun.subject)
            return _Phrase([word], [(pronoun.fr_subject, (word,))], pronoun.gender, pronoun.plural, pronoun.person)
        kind = self.pick(("person", "person", "animal"))
        noun = self.noun_phrase(kind, ("person", "animal"), without)
        if not (relative and self.chance(.15)) or noun.english[0].text in self.names:
            return noun
        who, verb = Word("who" if kind == "person" else "that"), self.verb("alone")
        english, french = self.verb_group(noun._replace(english=[who], french=[("qui", (who,))]), verb,
                                          self.pick(("present", "past")))
        return noun._replace(english=noun.english + english, french=noun.french + french)

    def verb(self, frame):
        """A verb of this frame; where words with two senses are wanted, one of these now and then."""
        two_sense = self.unsaid(_TWO_SENSE_VERBS[frame]) if self.difficulty.senses and self.chance(.25) else []
        verb = self.pick(two_sense or self.unsaid(_VERBS[frame]))
        self.traits |= {"sense"} if verb in TWO_SENSE_VERBS and self.difficulty.senses else set()
        self.lemmas.append(verb.base)
        return self.worded(verb)

    def verb_group(self, subject, verb, tense, adverb=None, question=None, pronoun=None):
        """Subject and verb, with the adverb between its parts and an object pronoun.

        English puts a helper (does, is, can) before the subject of a question; French puts "est-ce que".
        English puts the pronoun after the verb, French before it; "ne … pas" stands around the finite verb.
        """
        helper, words, sources, main = english_verb(verb, tense, subject.person, adverb, question)
        between = [Word(adverb)] if adverb else []
        if helper and helper.text == "cannot":
            english, between = subject.english + [helper] + words, [helper]
        elif helper and question:
            english = [helper] + subject.english + between + words
        else:
            english = subject.english + ([helper] if helper else []) + between + words

        finite, remainder = french_verb(verb, tense, subject, pronoun)
        french = list(subject.french)
        if question:
            asked = (helper, question)
            french = [("est-ce", asked), ("que", asked)] + french
        before, after = [], []
        if adverb in NEGATIONS:
            before = [("ne", (between[0], helper) if helper and helper is not between[0] else (between[0],))]
            after = [(NEGATIONS[adverb], (between[0],))]
        elif adverb:
            after = [(self.worded(FREQUENCIES[adverb]), (between[0],))]
        tail = [(text, main) for text in remainder]
        if pronoun:
            word = Word(pronoun.object)
            english = english + [word]
            clitic = [(pronoun.fr_object, (word,))]
            if tense in ("present", "past"):
                before = before + clitic
            else:
                tail = clitic + tail
        return english, french + before + [(finite, sources)] + after + tail

    def predicate(self, subject):
        adjective = self.worded(self.pick(self.unsaid(_MOODS)))
        self.lemmas.append(adjective.english)
        word = Word(adjective.english)
        return _Phrase([word], [(agreed(adjective, subject.gender, subject.plural), (word,))])

    def place(self, without, prepositions=PREPOSITIONS):
        english, french = self.pick(prepositions)
        kind = "person" if english == "with" else "place"
        return self.preposition(english, self.worded(french), self.noun_phrase(kind, (kind,), without | _PARTITIVE))

    def preposition(self, english, french, phrase):
        word = Word(english)
        return phrase._replace(english=[word] + phrase.english,
                               french=[(text, (word,)) for text in french.split("_")] + phrase.french)

    def noun_phrase(self, kind, kinds, without, negated=False):
        """Determiner, adjectives and noun: "the small red cars", "les petites voitures rouges"; or a name.

        `kind` is that of the noun, `kinds` are all that could stand in its place; it has none of the determiners
        `without`.
        """
        if kind == "person" and self.difficulty.rare and self.chance(self.difficulty.rare):
            return self.named()
        noun = self.noun(kind, kinds)
        rows = {key: row for key, row in DETERMINERS.items() if key not in without
                and not (key in lexicon.POSSESSIVES and noun.singular in lexicon.NEVER_POSSESSED)}
        key = self.rng.choices(list(rows), [_WEIGHTS.get(key, 1) for key in rows])[0]
        row = rows[key]
        if self.difficulty.rare and self.chance(self.difficulty.rare):
            key = self.rare_word(number(self.rng))
            row = ("-", key, "-", "-", key)
        one = row[1] == "-" or (key in lexicon.POSSESSIVES and noun.singular in lexicon.PARENTS)
        plural = row[0] == "-" or (not one and self.chance(.4))
        before, after = ([self.worded(self.pick([adjective for adjective in adjectives[kind] if adjective.english
                                                 not in lexicon.NEVER_TOGETHER.get(noun.singular, ())]))]
                         if adjectives[kind] and self.chance(.2) else [] for adjectives in (_BEFORE, _AFTER))
        self.lemmas += [word.english for word in before + after] + [noun.singular]
        if self.difficulty.combinations and any(is_held_out(f"{adjective.english} {noun.singular}", .2)
                                                for adjective in before + after):
            self.traits.add("new combination")

        determiner = Word(row[1] if plural else row[0])
        translation = row[4] if plural else row[3] if noun.gender == "f" else row[2]
        if key == "a":
            if negated:
                determiner.text, translation = "any" if plural else "a", "de"
            elif plural and before:
                translation = "de"
        noun_word = Word(noun.plural if plural else noun.singular)
        translated = noun.fr_plural if plural else noun.fr_singular
        first, last = [Word(a.english) for a in before], [Word(a.english) for a in after]
        french = [(text, (determiner,)) for text in translation.split("_")]
        for adjective, word in zip(before, first, strict=True):
            ahead_of_vowel = noun.gender == "m" and not plural and starts_with_vowel(translated)
            french.append((adjective.before_vowel if ahead_of_vowel
                           else agreed(adjective, noun.gender, plural), (word,)))
        french.append((translated, (noun_word,)))
        french += [(agreed(adjective, noun.gender, plural), (word,))
                   for adjective, word in zip(after, last, strict=True)]
        turned = before and after and before[0].english in _MOOD_FIRST and "thing" not in after[0].kinds
        english = [determiner, *(last + first if turned else first + last), noun_word]
        phrase = _Phrase(english, french, noun.gender, plural, 4 if plural else 1)
        if kind in ("thing", "place") and key == "the" and self.chance(.3):
            owner = self.preposition("of", "de", self.noun_phrase("person", ("person",), without | _PARTITIVE))
            phrase = phrase._replace(english=phrase.english + owner.english, french=phrase.french + owner.french)
        return phrase

    def noun(self, kind, kinds):
        """A noun of this kind; one with two senses only where no other of its senses could stand."""
        if self.difficulty.senses and self.chance(.3):
            possible = [noun for noun in TWO_SENSE_NOUNS if noun.kind in kinds]
            decided = self.unsaid([noun for noun in possible if noun.kind == kind
                                   and sum(other.singular == noun.singular for other in possible) == 1])
            if decided:
                self.traits.add("sense")
                return self.pick(decided)
        return self.worded(self.pick(self.unsaid(_NOUNS[kind])))

    def unsaid(self, entries):
        """Those that the sentence does not have yet, and that go with the verbs it has."""
        out = {*self.lemmas, *itertools.chain(*(lexicon.NEVER_OBJECTS.get(lemma, ()) for lemma in self.lemmas))}
        return [entry for entry in entries if entry[0] not in out]

    def named(self):
        """A person's name: it stands in both languages as it is."""
        text, gender = name(self.rng)
        self.names.add(self.rare_word(text))
        self.lemmas.append("somebody")
        word = Word(text)
        return _Phrase([word], [(text, (word,))], gender)

    def rare_word(self, text):
        self.traits |= {"rare word", "unknown word"} if is_held_out(text, .1) else {"rare word"}
        return text

    def worded(self, entry):
        """An entry of the lexicon, or another one that says the same, as the wording of this sentence has it."""
        return self.either(entry, OTHERS.get(entry if isinstance(entry, str) else entry[0], entry))

    def either(self, first, second):
        if not self.difficulty.references:
            return first
        self.wording, bit = self.wording >> 1, self.wording & 1
        return second if bit else first

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, choices):
        return choices[int(self.rng.random() * len(choices))]


def _pair(english, french, lemmas, names):
    """Elide and contract the French, put "an" for "a", and write down where each word comes from."""
    for word, following in itertools.pairwise(english):
        if word.text == "a" and following.text[0] in "aeiou":
            word.text = "an"
    words = joined(french)
    place = {word: i for i, word in enumerate(english)}
    source_words, target_words = tuple(word.text for word in english), tuple(text for text, _ in words)
    alignment = tuple(tuple(sorted({place[source] for source in sources})) for _, sources in words)
    source, target = (written(side, names) for side in (source_words, target_words))
    return Pair(source, target, source_words, target_words, alignment, tuple(lemmas))
