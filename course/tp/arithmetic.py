"""Arithmetic as text: `94+8` in, `102` out.

A sample is an expression and its answer, both written as strings; a network sees characters, never numbers.
Everything here works on whole arrays of samples at once: there is no Python loop over samples.

Axes by letter: N = samples (or B = batch), T = timesteps, V = vocabulary. Ids are stored time first, as int8.
Operands `a` and `b` are positive int arrays (N,), operators `symbol` an array (N,) of characters.
"""

import re

import numpy as np
import torch

OPERATORS = "+-*/%"
GO, EOS = "=", "\n"
ENCODER_ALPHABET = "".join(sorted("0123456789" + OPERATORS))  # 15 characters
DECODER_ALPHABET = "".join(sorted("0123456789-." + GO + EOS))  # 14 characters, EOS is number 0


# ---------------------------------------------------------------- strings

def math_expressions_generation(n_samples=1000, n_digits=3, invert=True, operators=OPERATORS, seed=None):
    """Random expressions `X` and their answers `Y`, two lists of `n_samples` strings.

    Operands are uniform in 1 … 10^n_digits − 1, the operator is uniform in `operators`.
    With `invert` the expression is written backwards: `94+8` becomes `8+49`. The same `seed` gives the same
    samples; without one they are others each time.
    """
    a, symbol, b = draw(np.random.default_rng(seed), n_samples, n_digits, operators)
    return expressions(a, symbol, b, invert).tolist(), answers(a, symbol, b).tolist()


def draw(rng, n_samples, n_digits=3, operators=OPERATORS, weights=None, even_lengths=False):
    """Operands `a`, `b` (int64) and the operators between them as `(a, symbol, b)`, arrays (N,) with N = `n_samples`.

    `rng` is a numpy `Generator`. `weights`, one for each of the `operators`, say how often each is wanted, if not
    equally often. With `even_lengths` the number of digits is drawn first, uniform in 1 … `n_digits`, so that short
    numbers are as frequent as long ones.
    """
    if even_lengths:
        digits = rng.integers(1, n_digits + 1, size=(2, n_samples))
        a, b = rng.integers(10**(digits - 1), 10**digits)
    else:
        a, b = rng.integers(1, 10**n_digits, size=(2, n_samples))
    shares = None if weights is None else np.array(weights) / np.sum(weights)
    symbol = rng.choice(list(operators), size=n_samples, p=shares)
    return a, symbol, b


def expressions(a, symbol, b, invert=True):
    """The expressions as an array (N,) of strings, written backwards with `invert`."""
    text = np.char.add(np.char.add(_numerals(a), symbol), _numerals(b))
    return backwards(text) if invert else text


def answers(a, symbol, b):
    """What Python itself answers, as an array (N,) of strings: quotients with 5 decimals, the others as integers."""
    whole = np.select([symbol == "+", symbol == "-", symbol == "*", symbol == "%"], [a + b, a - b, a * b, a % b])
    longest = max(len(str(np.abs(whole).max())) + 1, len(str(a.max())) + 6)
    text, quotient = whole.astype(f"U{longest}"), symbol == "/"
    # One formatting of all quotients at once: rounding them as arrays first would change the last decimal of some.
    text[quotient] = ("%.5f " * quotient.sum() % tuple((a / b)[quotient].tolist())).split()
    return text


def _numerals(numbers):
    """Positive integers as strings."""
    largest = numbers.max(initial=0)
    kind = f"U{len(str(largest))}"
    if largest < len(numbers):  # looking each up in a table is faster than converting each
        return np.arange(largest + 1).astype(kind)[numbers]
    return numbers.astype(kind)


def backwards(strings):
    """Each of the `strings` (N,) read from its end, as an array (N,)."""
    strings = np.asarray(strings)
    characters = _characters(strings)
    source = np.char.str_len(strings)[:, None] - 1 - np.arange(characters.shape[1])
    turned = np.take_along_axis(characters, np.maximum(source, 0), axis=1)
    return np.where(source >= 0, turned, 0).astype(np.uint32).view(strings.dtype)[:, 0]


def _characters(strings):
    """The character codes (N, length) behind an array of strings; 0 after the end of a string."""
    return np.ascontiguousarray(strings).view(np.uint32).reshape(len(strings), -1)


# ---------------------------------------------------------------- ids

def encode(strings, alphabet, length=None):
    """Strings (N,) → ids `(T, N)`, int8, on T = `length` timesteps (the longest string if not given).

    The padding after a string has the id `len(alphabet)`, one past the last character. Raises `ValueError` where a
    string has a character outside of `alphabet`, or more than `length` of them.
    """
    strings = np.asarray(strings, dtype=str)
    characters = _characters(strings)
    characters = characters[:, characters.any(axis=0)]
    numbers = np.full(128, -1, dtype=np.int8)
    numbers[[ord(character) for character in alphabet]] = range(len(alphabet))
    numbers[0] = len(alphabet)
    ids = numbers[np.minimum(characters.T, 127)]
    if (ids < 0).any():
        unknown = "".join(sorted(set("".join(strings)) - set(alphabet)))
        raise ValueError(f"{unknown!r} is outside the alphabet {alphabet!r}")
    missing = (length or len(ids)) - len(ids)
    if missing < 0:
        raise ValueError(f"a string of {len(ids)} characters does not fit into {length} timesteps")
    return torch.from_numpy(np.pad(ids, ((0, missing), (0, 0)), constant_values=len(alphabet)))


def encode_answers(answers, length=None):
    """Answers (N,) → `decoder_ids` `(T + 1, N)`, int8, T + 1 = `length`: GO, the answer, EOS, padding.

    Raises `ValueError` as `encode` does.
    """
    return encode(np.char.add(np.char.add(GO, answers), EOS), DECODER_ALPHABET, length)


def shifted(decoder_ids):
    """`decoder_ids` `(T + 1, B)` → what the decoder reads and what it should say: `decoder_input`, `target` `(T, B)`.

    The target is one step ahead, and padded with EOS: a decoder that has finished says so until the last timestep.
    """
    decoder_input, target = decoder_ids[:-1], decoder_ids[1:]
    return decoder_input, target.masked_fill(target == len(DECODER_ALPHABET), DECODER_ALPHABET.index(EOS))


def decode(ids, alphabet=DECODER_ALPHABET):
    """Ids `(T, N)` → list of N strings, each up to its first EOS or padding, and without GO."""
    lines = np.array([*alphabet, EOS])[ids.cpu().numpy().astype(int)].T
    return ["".join(line).split(EOS, 1)[0].lstrip(GO) for line in lines.tolist()]


def one_hot(ids, size):
    """Ids of `encode`, `(T, B)` → float32 `(T, B, V)` with V = `size`; padding becomes a row of zeros.

    Raises `TypeError` for ids that are not int8, as those of `encode` are: of others nobody knows what the padding is.
    """
    if ids.dtype != torch.int8:
        raise TypeError(f"ids of dtype {ids.dtype} are not those of encode, which are int8")
    return (ids[..., None] == torch.arange(size, device=ids.device)).float()


# ---------------------------------------------------------------- held-out pairs

def held_out(a, b, share=0.25):
    """Which of the operand pairs are kept for validation, a boolean array (N,).

    What is kept depends on the two numbers of `a` and `b` (N,) only, not on their order and not on the operator:
    if `94+8` is held out, the network never trains on `8+94` or `94%8` either. The numbers are hashed in the manner
    of SplitMix64 (Steele, Lea and Flood 2014), so that `share` of all pairs are kept.
    """
    low, high = np.minimum(a, b).astype(np.uint64), np.maximum(a, b).astype(np.uint64)
    mixed = low * np.uint64(0x9E3779B97F4A7C15) + high * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(40)) < share * 2**24


def pairs_split(X, invert=True, share=0.25):
    """Positions in `X` of the training and of the held-out expressions: int arrays (N_train,) and (N_held_out,).

    `X` are N expressions, written backwards with `invert`. Raises `ValueError` where one has not two operands.
    """
    a, b = np.array([re.split(r"\D", x[::-1] if invert else x) for x in X], dtype=int).T
    kept = held_out(a, b, share)
    return np.flatnonzero(~kept), np.flatnonzero(kept)


def draw_split(rng, n_samples, training=True, n_digits=3, operators=OPERATORS, weights=None, share=0.25,
               even_lengths=False):
    """As `draw`, `(a, symbol, b)` of (N,) each, but training pairs only, or (`training=False`) held-out pairs only."""
    likely = 1 - share if training else share
    a, symbol, b = draw(rng, int(1.3 * n_samples / likely) + 100, n_digits, operators, weights, even_lengths)
    chosen = np.flatnonzero(held_out(a, b, share) != training)[:n_samples]
    return a[chosen], symbol[chosen], b[chosen]


# ---------------------------------------------------------------- samples for a network

def encoded(a, symbol, b, n_digits=3, operators=OPERATORS, invert=True, least_digit_first=False):
    """Operands and operators (N,) → `encoder_ids` `(T_enc, N)` and `decoder_ids` `(T_dec + 1, N)`, int8.

    T_enc and T_dec depend on `n_digits` and `operators` only, so that all batches have the same shape.
    With `least_digit_first` the answers are written backwards, as one computes them on paper;
    quotients stay as they are, because their first digit is the one to begin with. Raises `ValueError` where a
    sample does not fit into these timesteps.
    """
    texts = answers(a, symbol, b)
    if least_digit_first:
        texts = np.where(symbol == "/", texts, backwards(texts))
    longest = max({"+": n_digits + 1, "-": n_digits + 1, "*": 2 * n_digits, "%": n_digits, "/": n_digits + 6}[o]
                  for o in operators)
    encoder_ids = encode(expressions(a, symbol, b, invert), ENCODER_ALPHABET, 2 * n_digits + 1)
    return encoder_ids, encode_answers(texts, length=longest + 2)


def batches(batch_size, n_digits=3, operators=OPERATORS, weights=None, invert=True, least_digit_first=False,
            share=0.25, even_lengths=False, seed=None):
    """Fresh training batches without end, no held-out pair among them; drawn as by `draw`.

    A batch is `encoder_ids` `(T_enc, B)` and `decoder_ids` `(T_dec + 1, B)`, int8, with B = `batch_size`.
    """
    rng = np.random.default_rng(seed)
    while True:
        sample = draw_split(rng, batch_size, True, n_digits, operators, weights, share, even_lengths)
        yield encoded(*sample, n_digits, operators, invert, least_digit_first)
