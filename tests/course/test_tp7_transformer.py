"""What TP 7 promises of the student's own Transformer: equal to PyTorch's parts, causal, the same with a cache."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.model.oracle import oracle
from conftest import REPOSITORY


@pytest.fixture
def names():
    """The names of the solution notebook."""
    torch.manual_seed(0)
    return oracle(REPOSITORY, "tp7_transformer").namespace


def test_attention_is_that_of_torch(names):
    query, key, value = torch.randn(2, 3, 5, 16), torch.randn(2, 3, 7, 16), torch.randn(2, 3, 7, 16)
    mask = torch.rand(2, 1, 5, 7) < 0.7
    mask[..., 0] = True
    ours, theirs = names["attend"](query, key, value, mask)[0], F.scaled_dot_product_attention(query, key, value, mask)
    assert torch.allclose(ours, theirs, atol=1e-5)


def test_heads_are_those_of_torch(names):
    ours, theirs = names["MultiHeadAttention"](24, 4), nn.MultiheadAttention(24, 4, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.W_q.weight, ours.W_k.weight, ours.W_v.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.W_q.bias, ours.W_k.bias, ours.W_v.bias]))
        theirs.out_proj.weight.copy_(ours.W_o.weight)
        theirs.out_proj.bias.copy_(ours.W_o.bias)
    x, mask = torch.randn(3, 6, 24), names["causal_mask"](6)
    said = ours(x, *ours.remember(x), mask)
    expected, weights = theirs(x, x, x, attn_mask=~mask, average_attn_weights=False)
    assert torch.allclose(said, expected, atol=1e-5) and torch.allclose(ours.attention_weights, weights, atol=1e-5)


@pytest.mark.parametrize("way", ["none", "sinusoidal", "learned", "rotary", "ALiBi"])
def test_a_decoder_writes_the_same_with_a_cache_and_sees_no_future(names, way):
    decoder = names["Decoder"](11, 16, 4, 2, cross=False, positions=names["WAYS"][way])
    ids, caches = torch.randint(0, 11, (2, 12)), [names["Cache"]() for _ in decoder.blocks]
    with torch.no_grad():
        one_by_one = torch.cat([decoder(ids[:, t:t + 1], caches=caches) for t in range(12)], dim=1)
        assert torch.allclose(decoder(ids), one_by_one, atol=1e-5)
    assert names["leaks"](decoder, ids[0], 11) == []


def test_one_head_of_keys_is_enough_for_all_heads_of_queries(names):
    attention, x = names["MultiHeadAttention"](16, 4, kv_heads=1), torch.randn(2, 5, 16)
    keys, values = attention.remember(x)
    assert keys.shape == values.shape == (2, 1, 5, 4) and attention(x, keys, values).shape == (2, 5, 16)


def test_only_relative_positions_survive_a_shift(names):
    """Turned queries and keys have the same products wherever they stand; waves that are added do not."""
    query, key = torch.randn(1, 1, 1, 8), torch.randn(1, 1, 1, 8)
    products = [(names["rotate"](query, start + 3) * names["rotate"](key, start)).sum() for start in (0, 50)]
    assert torch.isclose(*products, atol=1e-4)
    waves = names["sinusoidal"](54, 8)
    added = [((query[0, 0, 0] + waves[start + 3]) * (key[0, 0, 0] + waves[start])).sum() for start in (0, 50)]
    assert not torch.isclose(*added, atol=1e-2)


@pytest.mark.parametrize("a, b, n", [(23, 14, 2), (99, 99, 2), (487, 623, 3), (7, 80, 3), (0, 5, 1)])
def test_the_working_ends_in_the_product(names, a, b, n):
    """The lowest digit of each row, and all that is left after the last, are the product."""
    rows, text = [], names["working"](a, b, n)
    sizes = [1 + 3 * n] + [2 + 6 * n] * (n - 1)
    for size in sizes:
        rows.append(text[:size])
        text = text[size:]
    lowest = [row[2] if i == 0 else row[5] for i, row in enumerate(rows)]
    if n == 1:
        left = rows[0][3]
    else:
        left = "".join(rows[-1][5 + 6 * column] for column in range(1, n)) + rows[-1][-1]
    assert text == "" and int(("".join(lowest) + left)[::-1]) == a * b
