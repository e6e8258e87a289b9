"""Session 3's solution, held against facts that it was not made from."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from autograder.model.oracle import load_oracle
from conftest import REPOSITORY
from tp.arithmetic import math_expressions_generation


@pytest.fixture(scope="module")
def names():
    return load_oracle(REPOSITORY, "tp3_attention").namespace


@pytest.fixture
def sizes(seed, rng):
    """T, S, B, V, H, all distinct, B at least 3; what torch draws follows from the seed too."""
    torch.manual_seed(seed)
    return rng.choice(np.arange(3, 10), 5, replace=False).tolist()


@pytest.fixture
def model(names, seed):
    torch.manual_seed(seed)
    X, y = math_expressions_generation(60, n_digits=2, operators="+-", seed=0)
    return names["Seq2seq"](X, y, hidden_size=16, attention=True, device="cpu")


def test_loops_and_product_equal_what_torch_has_built_in(names, sizes):
    T, S, B, _, H = sizes
    hdec_ts, henc_ts = torch.randn(B, T, H, dtype=torch.float64), torch.randn(B, S, H, dtype=torch.float64)
    built_in = F.scaled_dot_product_attention(hdec_ts, henc_ts, henc_ts, scale=1.0)
    for name in ("attention_loops", "batched_attention"):
        context_vectors, attention_weights = names[name](hdec_ts, henc_ts)
        torch.testing.assert_close(context_vectors, built_in)
        torch.testing.assert_close(attention_weights.sum(-1), torch.ones(B, T, dtype=torch.float64))
    time_first, _ = names["attend"](hdec_ts.transpose(0, 1), henc_ts.transpose(0, 1))
    torch.testing.assert_close(time_first.transpose(0, 1), built_in)


def test_context_does_not_depend_on_the_order_of_the_encoder_states(names, sizes):
    T, S, B, V, H = sizes
    decoder = names["DecoderRNN"](H, V, "cpu", attention=True)
    answer, start, henc_ts, order = torch.randn(T, B, V), torch.randn(1, B, H), torch.randn(S, B, H), torch.randperm(S)
    output, _ = decoder(answer, start, henc_ts)
    weights = decoder.attention_weights
    shuffled, _ = decoder(answer, start, henc_ts[order])
    torch.testing.assert_close(shuffled, output)
    torch.testing.assert_close(decoder.attention_weights, weights[..., order])


def test_a_single_encoder_state_leaves_nothing_to_choose(names, sizes):
    T, _, B, V, H = sizes
    decoder, henc_ts = names["DecoderRNN"](H, V, "cpu", attention=True), torch.randn(1, B, H)
    one, _ = decoder(torch.randn(T, B, V), torch.randn(1, B, H), henc_ts)
    other, _ = decoder(torch.randn(T, B, V), torch.randn(1, B, H), henc_ts)
    torch.testing.assert_close(one, other)  # the context alone predicts, and it is the same
    assert (decoder.attention_weights == 1).all()


def test_a_free_run_forced_with_its_own_answer_is_the_same_run(model):
    encoder_input = model.encoder_input_val
    with torch.no_grad():
        output = model(encoder_input, teacher_enforce=False)
        weights = model.attention_weights
        go = torch.full_like(output[:1, :, 0], model.decoder_char_index["="], dtype=torch.long)
        own = F.one_hot(torch.cat([go, output.argmax(-1)])[:-1], output.shape[-1]).float()
        torch.testing.assert_close(model(encoder_input, own), output)
        torch.testing.assert_close(model.attention_weights, weights)
