"""What session 2 gives its students to build on: the class around their `forward`, and the better recipe."""

import pytest
import torch
from torch import nn

from autograder.model.oracle import load_oracle
from conftest import REPOSITORY
from tp.arithmetic import math_expressions_generation


@pytest.fixture
def names():
    """The names of the solution notebook."""
    return load_oracle(REPOSITORY, "tp2_seq2seq").namespace


def small_model(names, n=40, **options):
    torch.manual_seed(0)
    X, y = math_expressions_generation(n, seed=5)
    return names["Seq2seq"](X, y, hidden_size=24, device="cpu", **options), X, y


def test_a_quarter_is_held_out_and_the_rest_is_encoded_time_first(names):
    model, X, y = small_model(names)
    T_enc, T_dec = max(map(len, X)), max(map(len, y)) + 2
    assert model.encoder_input_tr.shape == (T_enc, 30, model.encoder_vocabulary_size)
    assert model.decoder_input_tr.shape == model.target_tr.shape == (T_dec, 30, model.decoder_vocabulary_size)
    assert (model.X_val, model.y_val) == (X[30:], y[30:]) and model.target_val.shape[1] == 10


def test_alphabets_are_sorted_and_eos_is_number_zero(names):
    model, X, y = small_model(names)
    assert list(model.encoder_char_index) == sorted(set("".join(X)))
    assert list(model.decoder_char_index) == sorted(set("".join(y)) | {"=", "\n"})
    assert model.decoder_char_index[model.EOS] == 0
    assert model.decoder_index_char[model.decoder_char_index[model.GO]] == model.GO == "="


def test_the_target_is_what_exercise_1_makes_of_the_input(names):
    model, _, y = small_model(names)
    assert torch.equal(names["shifted_target"](model.decoder_input_tr), model.target_tr)
    read = "".join(model.decoder_index_char[i] for i in model.decoder_input_tr[:, 0].argmax(-1).tolist())
    assert read.startswith(f"={y[0]}\n")


def test_names_of_torch_keep_their_meaning(names):
    model, _, _ = small_model(names)
    assert model.eval() is model and not model.training
    assert sum(p.numel() for p in model.parameters()) > 1000


@pytest.mark.parametrize("teacher_enforce", [True, False])
def test_training_runs_in_both_modes(names, teacher_enforce):
    model, _, _ = small_model(names)
    view = model.fit(nb_epoch=2, batch_size=8, teacher_enforce=teacher_enforce)
    assert len(view.history["loss"]) == 8 and len(view.history["val_loss"]) == 8  # four in each epoch


def test_it_can_learn_a_few_answers_by_heart_and_then_gives_them(names, capsys):
    model, X, y = small_model(names, n=10)
    model.fit(nb_epoch=150, batch_size=8)
    assert model.answer(X[:8]) == y[:8]
    x, d, t = model.encoder_input_tr, model.decoder_input_tr, model.target_tr
    assert names["exact_match"](model(x, d), t) == names["exact_match"](model(x, d, False), t) == 1
    model.evaluate(2)
    printed = capsys.readouterr().out
    assert all(x[::-1] in printed and a in printed for x, a in zip(model.X_val, model.y_val, strict=True))


def test_an_embedding_is_a_row_look_up_in_front_of_the_gru(names, seed):
    torch.manual_seed(seed)
    T, B, V, D, H = 4, 3, 6, 5, 7
    embedded = names["EmbeddedGRU"](V, D, H)
    ids = torch.randint(V, (T, B))
    plain = nn.GRU(D, H)
    plain.load_state_dict({k: v for k, v in embedded.state_dict().items() if k != "embedding"})
    looked_up = plain(embedded.embedding[ids])
    for got, want in zip(embedded(nn.functional.one_hot(ids, V).float()), looked_up, strict=True):
        torch.testing.assert_close(got, want)
