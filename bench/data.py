"""(c) Making and encoding 100 000 expressions: the classic loops against whole arrays."""

import random
from functools import partial

import numpy as np

from tp import arithmetic

from .measure import cpu_seconds, spread, table

TITLE = "Generating and encoding expressions"


def classic(n_samples):
    """The way it is usually written: a loop over samples, a loop over characters, one-hot float32 for everything."""
    X, Y = [], []
    for _ in range(n_samples):
        a, b, symbol = random.randint(1, 999), random.randint(1, 999), random.choice("+-*/%")
        value = calculated(a, symbol, b)
        X.append((str(a) + symbol + str(b))[::-1])
        Y.append("=" + (f"{value:.5f}" if symbol == "/" else str(value)) + "\n")
    source, target = sorted(set("".join(X))), sorted(set("".join(Y)))
    source_index = dict((character, i) for i, character in enumerate(source))
    target_index = dict((character, i) for i, character in enumerate(target))
    longest_x, longest_y = max(len(x) for x in X), max(len(y) for y in Y)
    encoder_input = np.zeros((longest_x, n_samples, len(source)), dtype="float32")
    decoder_input = np.zeros((longest_y, n_samples, len(target)), dtype="float32")
    decoder_target = np.zeros((longest_y, n_samples, len(target)), dtype="float32")
    for i in range(n_samples):
        for t, character in enumerate(X[i]):
            encoder_input[t, i, source_index[character]] = 1.0
        for t, character in enumerate(Y[i]):
            decoder_input[t, i, target_index[character]] = 1.0
            if t > 0:
                decoder_target[t - 1, i, target_index[character]] = 1.0
    return encoder_input, decoder_input, decoder_target


def calculated(a, symbol, b):
    """The answer to one expression, by a table of functions."""
    functions = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b, "%": lambda: a % b}
    return functions[symbol]()


def ours(n_samples):
    return arithmetic.encoded(*arithmetic.draw(np.random.default_rng(), n_samples))


def measure(quick, repeats, folder):
    n_samples = 2_000 if quick else 100_000
    results = {"n_samples": n_samples}
    for name, make in [("classic", classic), ("ours", ours)]:
        results[name] = {"seconds": cpu_seconds(partial(make, n_samples), repeats),
                         "megabytes": sum(array.nbytes for array in make(n_samples)) / 1e6}
    return results


def report(results, picture):
    rows = [[title, spread(results[name]["seconds"]), f"{results[name]['megabytes']:.1f}"]
            for name, title in [("classic", "loops, one-hot float32"), ("ours", "whole arrays, int8 ids")]]
    ratio = np.median(results["classic"]["seconds"]) / np.median(results["ours"]["seconds"])
    size = results["classic"]["megabytes"] / results["ours"]["megabytes"]
    return (table([f"{results['n_samples']} expressions", "CPU seconds", "megabytes kept"], rows)
            + f"\nWhole arrays take {ratio:.0f} times less time and {size:.0f} times less memory. All quotients are "
            "formatted in one call, and operands are looked up in a table of numerals.\n")
