"""Division written out in digits from −9 to 9, so that every character is easy to say from a few before it.

In a long division the next digit of the quotient hangs on a comparison of two whole numbers. Digits that may be
negative take that away (the idea of SRT division, which processors use in radix 2 or 4): the next digit is a guess, and
where it was too large or too small the remainder says so, and a later digit repairs it.

Axes by letter: N = samples. Operands `a`, `b` are int arrays (N,) from 1 to 999, `rng` is a numpy `Generator`.
"""

import numpy as np

from tp.arithmetic import answers

ROW = 22  # characters of a round: the digit with its sign, three columns of six, the sign of what remains
PLACES = 9  # three before the point, five behind it, and one that says how to round
QUOTIENT = PLACES * ROW + 1 + 4 * (PLACES - 1) + 1 + 9  # characters: rounds, repair, =, longest answer
REMAINDER = 3 * ROW + 3 * 3 + 1 + 3


def quotient(a, b, rng=None, doubt=0.2):
    """The working of `a / b`, `=` and the answer with its five decimals, as an array (N,) of strings.

    Nine rounds; then the digits are put right from the last to the first: sign and digit of the quotient, the digit
    that becomes of it, what it carries to the digit before it.
    With `rng`, a digit is drawn between those that are possible: up to `doubt` more or less than a / b is rounded.
    """
    digits, remainder, text = _rounds(a, b, PLACES, rng, doubt)
    answer = answers(a, np.full(a.shape, "/"), b)
    value = np.array([int(one.replace(".", "")) for one in answer.tolist()])
    carry = value - digits[:-1].T @ 10 ** np.arange(PLACES - 2, -1, -1)
    text.append(_signed(carry))
    for digit in digits[-2::-1]:
        total = digit + carry
        carry = total // 10
        text += [_sign(digit), _digits(digit), _digits(total % 10), _signed(carry)]
    return _joined(text, answer)


def remainder(a, b, rng=None, doubt=0.2):
    """The working of `a % b`, `=` and the answer from its least digit on, as an array (N,) of strings.

    Three rounds; where what remains is negative, b is added once: for each column the digit of b or 0, the sum, its
    carry. `rng` and `doubt` as in `quotient`.
    """
    _, rest, text = _rounds(a, b, 3, rng, doubt)
    added, carry = np.where(rest < 0, b, 0), np.zeros_like(a)
    for place in range(3):
        total = _at(rest % 1000, place) + _at(added, place) + carry
        carry = total // 10
        text += [_digits(_at(added, place)), _digits(total % 10), _digits(carry)]
    return _joined(text, np.array([str(one)[::-1] for one in (a % b).tolist()]))


def _rounds(a, b, count, rng, doubt):
    """The digits (count, N) of the quotient, what remains (N,), and the characters of the rounds.

    A round brings down the next digit of a. It begins with sign and size of its digit q. Then come for each digit of b:
    that digit, the last digit of its product with q plus carry, the carry; the digit from which that is taken away, or
    to which it is added where q is negative; the digit that remains, and what is borrowed or carried. A negative number
    stands as ten's complement. At the end: the highest digit before, and after (0, or 9 where the rest is negative).
    """
    digits, rest, text = [], np.zeros_like(a), []
    for i in range(count):
        rest = 10 * rest + (_at(a, 2 - i) if i < 3 else 0)
        shift = 0 if rng is None else rng.uniform(-doubt, doubt, a.shape)
        q = np.clip(np.floor(rest / b + 0.5 + shift), -9, 9).astype(int)
        digits.append(q)
        text += [_sign(q), _digits(q)]
        before, carry, borrow = rest % 10000, np.zeros_like(a), np.zeros_like(a)
        for place in range(3):
            product = np.abs(q) * _at(b, place) + carry
            carry = product // 10
            total = _at(before, place) - np.sign(q) * (product % 10) - np.where(q < 0, -borrow, borrow)
            borrow = (total // 10 != 0).astype(int)
            text += [_digits(_at(b, place)), _digits(product % 10), _digits(carry),
                     _digits(_at(before, place)), _digits(total % 10), _digits(borrow)]
        rest = rest - q * b
        text += [_digits(_at(before, 3)), _digits(_at(rest % 10000, 3))]
    return np.stack(digits), rest, text


def _at(numbers, place):
    """The digit that stands for 10^place."""
    return numbers // 10**place % 10


def _digits(numbers):
    """Numbers from −9 to 9 (N,) as characters, without their sign."""
    return np.abs(numbers) + ord("0")


def _sign(numbers):
    """A minus where a number is negative, else a 0."""
    return np.where(numbers < 0, ord("-"), ord("0"))


def _signed(numbers):
    """Numbers from −1 to 1 as one character each: a minus stands for −1."""
    return np.where(numbers < 0, ord("-"), ord("0") + numbers)


def _joined(columns, answer):
    """Columns of character codes, L times (N,), and answers (N,) → N strings: the columns, `=`, the answer."""
    working = np.stack(columns, axis=1).astype(np.uint32).view(f"U{len(columns)}")[:, 0]
    return np.char.add(np.char.add(working, "="), answer)
