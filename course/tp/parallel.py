"""Turn pairs of sentences into ids and batches, for session 5.

The ids of both vocabularies begin with four that stand for no word: `PAD` fills up short sentences, `SOS` starts the
decoder, `EOS` ends a sentence, `UNK` stands for every token that is not in the vocabulary.
"""

import re
import unicodedata
from collections import Counter
from typing import NamedTuple

from torch.utils.data import Dataset

from .pairs import PairFile

__all__ = ["EOS", "PAD", "SOS", "UNK", "PairDataset", "SentencePair", "Vocabulary", "length_batches", "padding_share",
           "read_pairs", "tokenize", "write_pairs"]

PAD, SOS, EOS, UNK = range(4)
SPECIALS = ["<pad>", "<sos>", "<eos>", "<unk>"]


class SentencePair(NamedTuple):
    """A sentence and its translation, two strings."""

    source: str
    target: str


def write_pairs(pairs, path):
    """Write pairs to a tab-separated file, UTF-8, a line each: `pair.source`, `pair.target`."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{pair.source}\t{pair.target}\n" for pair in pairs)


def read_pairs(path):
    """Read a tab-separated file: return a list of `SentencePair`, and print what was read and what was left out."""
    reader = PairFile(path)
    pairs = [SentencePair(*pair) for pair in reader]
    print(reader.report())
    return pairs


def tokenize(text):
    """Cut a sentence into a list of tokens: words in lower case, with hyphens inside, and marks.

    An apostrophe ends the token before it: `n'ont` is `n'`, `ont`. Accents are composed first (NFC).
    """
    text = unicodedata.normalize("NFC", text).replace("’", "'").lower()
    return re.findall(r"\w+(?:-\w+)*'?|[^\w\s]", text)


class Vocabulary:
    """The tokens of one language. `tokens`: id → token, a list; `ids`: token → id, a dict.

    Four special tokens come first, then those that occur at least `min_count` times in `sentences`, lists of tokens:
    the most frequent first, equally frequent ones in alphabetical order.
    """

    def __init__(self, sentences, min_count=1):
        counts = Counter(token for sentence in sentences for token in sentence)
        kept = [token for token in counts if counts[token] >= min_count]
        self.tokens = SPECIALS + sorted(kept, key=lambda token: (-counts[token], token))
        self.ids = {token: i for i, token in enumerate(self.tokens)}

    def __len__(self):
        return len(self.tokens)

    def encode(self, tokens):
        """Return the ids of a list of tokens, a list, with EOS at its end; unknown tokens become UNK."""
        return [self.ids.get(token, UNK) for token in tokens] + [EOS]

    def decode(self, ids):
        """Return the tokens of a list of ids up to the first EOS, without PAD and SOS."""
        ids = list(ids)
        ids = ids[:ids.index(EOS)] if EOS in ids else ids
        return [self.tokens[i] for i in ids if i not in (PAD, SOS)]


class PairDataset(Dataset):
    """Pairs of sentences as pairs of lists of ids. `lengths` counts the ids of each source, EOS included."""

    def __init__(self, pairs, source_vocabulary, target_vocabulary):
        self.pairs = pairs
        self.ids = [(source_vocabulary.encode(tokenize(pair.source)), target_vocabulary.encode(tokenize(pair.target)))
                    for pair in pairs]
        self.lengths = [len(source) for source, _ in self.ids]

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return self.ids[i]


def length_batches(lengths, order, batch_size, pool=20):
    """Cut `order`, a list of sentence numbers, into a list of batches of sentences of like length.

    Sentence i has `lengths[i]` ids. As many sentences as make `pool` batches are sorted by length and cut into batches;
    pools follow one another as in `order`.
    """
    batches = []
    for start in range(0, len(order), pool * batch_size):
        numbers = sorted(order[start:start + pool * batch_size], key=lambda i: lengths[i])
        batches += [numbers[i:i + batch_size] for i in range(0, len(numbers), batch_size)]
    return batches


def padding_share(lengths, batches):
    """Return the share of PAD, 0 … 1, in padded batches, lists of the numbers of sentences with these `lengths`."""
    full = sum(max(lengths[i] for i in batch) * len(batch) for batch in batches)
    return 1 - sum(lengths[i] for batch in batches for i in batch) / full
