"""What session 6 promises: parts equal to PyTorch's, causal, the same with a cache; explanations that add up."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tp
from autograder.model.oracle import load_oracle
from conftest import REPOSITORY


@pytest.fixture
def names():
    """The names of the solution notebook."""
    torch.manual_seed(0)
    return load_oracle(REPOSITORY, "tp6_transformer").namespace


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
    result = ours(x, *ours.remember(x), mask)
    expected, weights = theirs(x, x, x, attn_mask=~mask, average_attn_weights=False)
    assert torch.allclose(result, expected, atol=1e-5) and torch.allclose(ours.attention_weights, weights, atol=1e-5)


@pytest.mark.parametrize("way", ["none", "sinusoidal", "learned", "rotary", "ALiBi"])
def test_a_decoder_writes_the_same_with_a_cache_and_sees_no_future(names, way):
    decoder = names["Decoder"](11, 16, 4, 2, cross=False, positions=names["WAYS"][way])
    ids, caches = torch.randint(0, 11, (2, 12)), [names["Cache"]() for _ in decoder.blocks]
    with torch.no_grad():
        one_by_one = torch.cat([decoder(ids[:, t:t + 1], caches=caches) for t in range(12)], dim=1)
        assert torch.allclose(decoder(ids), one_by_one, atol=1e-5)
        changed = ids.clone()
        changed[:, 7] = (ids[:, 7] + 1) % 11
        assert torch.allclose(decoder(changed)[:, :7], decoder(ids)[:, :7], atol=1e-6)


def test_one_head_of_keys_is_enough_for_all_heads_of_queries(names):
    attention, x = names["MultiHeadAttention"](16, 4, kv_heads=1), torch.randn(2, 5, 16)
    keys, values = attention.remember(x)
    assert keys.shape == values.shape == (2, 1, 5, 4) and attention(x, keys, values).shape == (2, 5, 16)


def test_only_relative_positions_survive_a_shift(names):
    """Rotated queries and keys have the same products at all positions; added sinusoids do not."""
    query, key = torch.randn(1, 1, 1, 8), torch.randn(1, 1, 1, 8)
    products = [(names["rotate"](query, start + 3) * names["rotate"](key, start)).sum() for start in (0, 50)]
    assert torch.isclose(*products, atol=1e-4)
    waves = names["sinusoidal"](54, 8)
    added = [((query[0, 0, 0] + waves[start + 3]) * (key[0, 0, 0] + waves[start])).sum() for start in (0, 50)]
    assert not torch.isclose(*added, atol=1e-2)


@pytest.fixture
def translator(names):
    """A small translator with weights that are not trained, a source (1, 5) and a target (1, 4)."""
    names["english"] = names["french"] = names["Words"]([["a", "b", "c", "d", "e", "f"]])
    model = names["build"](D=16, n_heads=2)
    return model, torch.tensor([[4, 5, 6, 7, 8]]), torch.tensor([[6, 4, 9, 2]])


def test_log_prob_of_the_embedded_source_is_that_of_the_model(names, translator):
    model, source, target = translator
    log_prob = names["log_prob_of"](model, source, target)(model.encoder.embedding(source))
    expected = model(source, target).log_softmax(-1)[0, range(4), target[0]]
    assert torch.allclose(log_prob[0], expected, atol=1e-5)


def test_integrated_gradients_add_up_to_the_difference_of_log_probabilities(names, translator):
    """Completeness (Sundararajan et al. 2017)."""
    model, source, target = translator
    x, log_prob = model.encoder.embedding(source)[0].detach(), names["log_prob_of"](model, source, target)
    baseline = 0.2 * torch.randn_like(x)
    with torch.no_grad():
        difference = (log_prob(x[None]) - log_prob(baseline[None]))[0]
    assert torch.allclose(names["integrated_gradients"](log_prob, x, baseline, 100).sum(1), difference, atol=1e-3)


def test_the_vectors_behind_the_norms_add_up_to_what_the_heads_write(names, translator):
    """One position of the source: its norm is that of all that arrives, without the bias of `W_o`."""
    model, source, target = translator
    cross = model.decoder.blocks[0].cross
    with tp.trace(model) as seen:
        model(source[:, :1], target)
    values = cross.split(cross.W_v(seen["encoder.norm"]))[0]
    norms = names["read_norms"](cross.attention_weights[0], values, cross.W_o.weight)
    written = seen["decoder.blocks.0.cross"][0] - cross.W_o.bias
    assert torch.allclose(norms[:, 0], written.norm(dim=-1), atol=1e-5)


def test_a_patched_word_restores_all_and_a_word_that_is_the_same_nothing(names, translator):
    model, source, target = translator
    corrupt = source.clone()
    corrupt[0, 2] = 9
    shares = names["restored"](model, source, corrupt, target, "encoder.embedding",
                               lambda logits: logits[0, 1, 4] - logits[0, 1, 5])
    assert torch.allclose(shares, torch.tensor([0.0, 0, 1, 0, 0]), atol=1e-4)


def test_a_head_ablated_by_zero_adds_nothing(names, translator):
    model, source, target = translator
    part = model.decoder.blocks[0].cross
    with tp.trace(model, {"decoder.blocks.0.cross.W_o:in": names["ablate"]([1], 8, torch.zeros(16))}):
        patched = model(source, target)
    with torch.no_grad():
        part.W_o.weight[:, 8:] = 0
    assert torch.allclose(patched, model(source, target), atol=1e-6)


def test_the_shares_of_all_parts_and_the_bias_are_the_difference_of_the_logits(names, translator):
    model, source, target = translator
    readout = model.decoder.readout
    for module in model.decoder.modules():
        if isinstance(module, nn.LayerNorm):
            nn.init.normal_(module.weight), nn.init.normal_(module.bias)
    parts = names["written"](model, source, target)
    with torch.no_grad():
        direction = readout.weight[4] - readout.weight[5]
        shares = names["logit_shares"](torch.stack(list(parts.values())), model.decoder.norm, direction)
        logits = model(source, target)[0]
        rest = model.decoder.norm.bias @ direction + readout.bias[4] - readout.bias[5]
    assert torch.allclose(shares.sum(0) + rest, logits[:, 4] - logits[:, 5], atol=1e-4)


@pytest.fixture
def reader(names):
    """A causal model of two blocks and two heads, without biases in its attention, and ids (3, 5)."""
    model = names["Decoder"](11, 16, 2, 2, cross=False, positions=names["Learned"])
    for block in model.blocks:
        for part in (block.attention.W_q, block.attention.W_k, block.attention.W_v, block.attention.W_o):
            nn.init.zeros_(part.bias)
    return model, torch.randint(0, 11, (3, 5))


@torch.no_grad()
def test_both_circuits_of_all_heads_are_what_attention_does(names, reader):
    """The weights are the softmax of the scores; what all heads write is the sum of their OV circuits."""
    (model, ids), written = reader, 0
    with tp.trace(model) as seen:
        model(ids[:1])
    attention, x = model.blocks[0].attention, seen["blocks.0.attention.W_k:in"][0]
    for k in range(2):
        scores = names["qk_circuit"](attention, k, x, x).masked_fill(~names["causal_mask"](5), -torch.inf)
        assert torch.allclose(scores.softmax(-1), attention.attention_weights[0, k], atol=1e-5)
        written = written + attention.attention_weights[0, k] @ names["ov_circuit"](attention, k, x, torch.eye(16))
    assert torch.allclose(written, seen["blocks.0.attention"][0], atol=1e-5)


@torch.no_grad()
def test_a_path_with_the_head_s_own_output_changes_nothing_and_all_heads_by_turns_are_another_run(names, reader):
    model, ids = reader
    with tp.trace(model) as seen:
        model(ids)
    first, second = model.blocks
    z, stream = seen["blocks.0.attention.W_o:in"], seen["blocks.0"]
    same = names["along"](stream, z, z, first.attention, 1, second.norms[0])
    assert torch.allclose(same, seen["blocks.1.attention.W_k:in"], atol=1e-5)
    other = z.roll(1, dims=0)
    for k in range(2):
        stream = names["along"](stream, z, other, first.attention, k, nn.Identity())
    assert torch.allclose(stream - seen["blocks.0"], first.attention.W_o(other) - first.attention.W_o(z), atol=1e-5)


def test_a_probe_reads_labels_that_lie_apart(names):
    labels = torch.arange(20) % 3 == 0
    x = torch.randn(20, 4) + 9 * labels[:, None]
    direction, threshold = names["probe"](x, labels)
    assert ((x @ direction > threshold) == labels).all()
