"""The frame of sessions 2 and 3: strings become tensors and back, and both losses are drawn."""

import pytest
import torch
from torch import nn

from tp.calculator import Calculator


class Echo(Calculator):
    """Writes the characters of the decoder's input, one after the other; trained or not."""

    def parts(self, hidden_size):
        return nn.Linear(1, hidden_size), nn.Linear(1, self.decoder_vocabulary_size)

    def forward(self, encoder_input, decoder_input, teacher_enforce=True, inference=False):
        return torch.log_softmax(9 * decoder_input + self.decoder.bias, dim=-1)


QUESTIONS, ANSWERS = ["21+1", "3+4", "10-9", "8-88"] * 4, ["22", "7", "1", "-80"] * 4


def test_strings_become_tensors_shifted_by_one():
    model = Echo(QUESTIONS, ANSWERS, hidden_size=5, device="cpu")
    encoder_input, decoder_input, target = model.encode(["3+4"], ["7"])
    assert encoder_input.shape == (4, 1, len(set("".join(QUESTIONS)))) and not encoder_input[3].any()
    written = [model.decoder_index_char[row.argmax().item()] for row in decoder_input[:3, 0]]
    assert written == ["=", "7", "\n"] and not decoder_input[3:].any()
    assert torch.equal(target[:2], decoder_input[1:3]) and not target[2:].any()
    assert model.X_val == QUESTIONS[12:] and model.encoder_input_tr.shape[1] == 12
    assert len(model.encoder.weight) == 5


def test_what_is_written_is_cut_at_its_end_and_shown_as_a_person_writes_it(capsys):
    model = Echo(QUESTIONS, ANSWERS, device="cpu")
    assert model.answer(["3+4", "10-9"]) == ["=", "="]  # it reads GO and EOS
    model.evaluate(1)
    assert "1+12" in capsys.readouterr().out  # the question is written backwards, so it is turned


def test_training_keeps_both_losses(monkeypatch):
    monkeypatch.delenv("TP_QUICK", raising=False)
    model = Echo(QUESTIONS, ANSWERS, learning_rate=0.1, device="cpu")
    before = model.validation_loss().item()
    view = model.fit(nb_epoch=3, batch_size=5)
    assert [step for step, _ in view.history["val_loss"]] == [*range(9)] and len(view.history["loss"]) == 9
    after = model.validation_loss().item()
    assert view.history["val_loss"][-1][1] == pytest.approx(after) and after < before
