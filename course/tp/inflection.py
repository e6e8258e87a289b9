"""Make the forms of the words of the corpus: verbs, agreement, elision and contraction, capitals."""

from .lexicon import ALLER, AVOIR, BE, ETRE, ETRE_PAST, MODALS

_BEFORE_VOWEL = {"le": "l'", "la": "l'", "je": "j'", "ne": "n'", "de": "d'", "me": "m'", "que": "qu'",
                 "ce": "cet", "ma": "mon", "sa": "son"}
_CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


class Word:
    """An English word at its place: two "the" are two objects."""
    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text


def english_verb(verb, tense, person, adverb, question):
    """Return the helper or None, the other words, and the words that two French ones come from.

    These two are the finite verb and the form of the verb itself, where a helper is finite.
    """
    main = [Word(verb.base)] + ([Word(verb.particle)] if verb.particle else [])
    if tense == "future":
        helper, going, to = Word(_english_be("present", person)), Word("going"), Word("to")
        return helper, [going, to] + main, (helper, going, to), tuple(main)
    if tense in ("can", "must"):
        helper = Word("cannot" if tense == "can" and adverb == "not" else tense)
        return helper, main, (helper,), tuple(main)
    if verb is BE and tense != "want":
        helper = Word(_english_be(tense, person))
        return helper, [], (helper,), (helper,)
    words, sources, forms = main, tuple(main), (verb.base, verb.third, verb.past)
    if tense == "want":
        want = Word("want")
        words, sources, forms = [want, Word("to")] + main, (want,), ("want", MODALS["want"][0], None)
    if question or adverb == "not":
        helper = Word("did" if tense == "past" else "does" if person == 1 else "do")
        return helper, words, sources + (helper,) if tense == "past" else sources, tuple(main)
    words[0].text = forms[2] if tense == "past" else forms[1] if person == 1 else forms[0]
    return None, words, sources, tuple(main)


def french_verb(verb, tense, subject, pronoun):
    """Return the finite verb, and a list with what follows it."""
    person = subject.person
    if tense == "future":
        return ALLER[person], [verb.infinitive]
    if tense in MODALS:
        return MODALS[tense][1][person], [verb.infinitive]
    if tense == "present":
        return verb.present[person], []
    if verb is BE:
        return ETRE_PAST[person], []
    # With être the participle agrees with the subject, with avoir with an object that stands before it.
    agrees = subject if verb.auxiliary == "être" else pronoun
    ending = ("e" if agrees.gender == "f" else "") + ("s" if agrees.plural else "") if agrees else ""
    return (ETRE if verb.auxiliary == "être" else AVOIR)[person], [verb.participle + ending]


def overlap(person, other):
    """Return whether two grammatical persons have somebody in common, as "we" and "me" have."""
    return person == other or {person, other} == {0, 2}


def _english_be(tense, person):
    if tense == "past":
        return "was" if person in (0, 1) else "were"
    return ("am", "is", "are", "are", "are")[person]


def agreed(adjective, gender, plural):
    """Return the form of an adjective that agrees with its noun."""
    return adjective[(1 if gender == "m" else 2) + (2 if plural else 0)]


def starts_with_vowel(word):
    """Return whether a French word elides the one before it."""
    return word[0] in "aeiouhéêèîôœ"


def joined(french):
    """Elide and contract French words, (text, English words it comes from) each; return a list of the same kind."""
    words = []
    for (text, sources), (following, _) in zip(french, french[1:] + [("", ())], strict=True):
        if text in _BEFORE_VOWEL and following and starts_with_vowel(following):
            text = _BEFORE_VOWEL[text]
        if words and (words[-1][0], text) in _CONTRACTED:
            text, sources = _CONTRACTED[words[-1][0], text], words.pop()[1] + sources
        words.append((text, sources))
    return words


def written(words, names):
    """Return words as one writes them: capitals, no space after an elision or before a full stop."""
    text = " ".join("I" if word == "i" else word.title() if word in names else word for word in words)
    text = text.replace("' ", "'").replace(" .", ".")
    if words[0] != "est-ce":
        text = text.replace(" ?", "?")
    return text[0].upper() + text[1:]
