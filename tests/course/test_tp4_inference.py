"""The solution of session 4 is the oracle of its checks: here it is held against facts that it was not made from."""

import itertools

import pytest
import torch

from autograder.model.oracle import load_oracle
from conftest import REPOSITORY
from tp import decoding, plots


@pytest.fixture(scope="module")
def session():
    return load_oracle(REPOSITORY, "tp4_inference").namespace


class AttentionDecoder(torch.nn.Module):
    """A decoder with attention, as in session 3, around the student's: the context goes beside the hidden state."""

    def __init__(self, recurrence, latent_dim, vocabulary_size):
        super().__init__()
        self.recurrence = recurrence
        self.recurrence.dense_final = torch.nn.Identity()
        self.dense_tanh = torch.nn.Linear(2 * latent_dim, 64)
        self.dense_final = torch.nn.Linear(64, vocabulary_size)

    def forward(self, decoder_tokens, states, henc_ts):
        hdec_ts, states = self.recurrence(decoder_tokens, states)
        weights = torch.einsum("tbh,sbh->tbs", hdec_ts, henc_ts).softmax(-1)
        context_vectors = torch.einsum("tbs,sbh->tbh", weights, henc_ts)
        return self.dense_final(torch.tanh(self.dense_tanh(torch.cat([hdec_ts, context_vectors], -1)))), states


@pytest.fixture(params=["without attention", "with attention"])
def model(session, request):
    """A small untrained model with large weights, so that its answers end at different steps."""
    torch.manual_seed(3)
    model = session["Seq2seq"](latent_dim=12, embedding_size=7)
    if request.param == "with attention":
        model.decoder = AttentionDecoder(model.decoder, 12, model.decoder.dense_final.out_features)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=1.5)
    return model


def questions(B, S=6):
    return torch.randint(0, 16, (S, B), generator=torch.Generator().manual_seed(B))


def test_a_beam_of_one_is_greedy_decoding(session, model):
    encoder_tokens = questions(40)
    greedy = session["decode_sequence"](model, encoder_tokens)
    for b in range(encoder_tokens.shape[1]):
        for alpha in (0.0, 1.0):
            hypotheses, _, _ = session["beam_search"](model, encoder_tokens[:, b:b + 1], 1, alpha)
            alone = session["padded"](hypotheses, len(greedy))[:, 0]
            assert alone.tolist() == greedy[:, b].tolist()


def test_a_wide_beam_finds_the_best_answer_of_all(session):
    """Against all sequences of a vocabulary of four, scored with the training pass."""
    torch.manual_seed(5)
    model = session["Seq2seq"](latent_dim=6, embedding_size=4)
    model.decoder = session["DecoderLSTM"](4, 4, 6)
    model.GO, model.EOS, model.max_length = 3, 0, 4
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=1.5)
    for b in range(5):
        encoder_tokens = questions(5)[:, b:b + 1]
        scores = {}
        for sequence in itertools.product(range(4), repeat=4):
            end = sequence.index(0) + 1 if 0 in sequence else 4
            said = torch.tensor(sequence[:end])[:, None]
            logits, _ = session["training_pass"](model, encoder_tokens, said)
            scores[sequence[:end]] = logits.log_softmax(-1).gather(-1, said[..., None]).sum().item()
        for alpha in (0.0, 0.7):
            best = max(scores, key=lambda said: scores[said] / len(said) ** alpha)
            hypotheses, normalised, _ = session["beam_search"](model, encoder_tokens, 4 ** 4, alpha)
            assert tuple(hypotheses[:len(best), 0].tolist()) == best
            assert normalised[0].item() == pytest.approx(scores[best] / len(best) ** alpha, abs=1e-4)


def test_scheduled_sampling_lies_between_teacher_forcing_and_free_running(session, model):
    encoder_tokens, target_tokens = questions(9), torch.randint(0, 14, (5, 9))
    forced = torch.ones(5, 9, dtype=torch.bool)
    logits, _ = session["training_pass"](model, encoder_tokens, target_tokens)
    torch.testing.assert_close(session["scheduled_sampling_pass"](model, encoder_tokens, target_tokens, forced), logits)
    free = session["scheduled_sampling_pass"](model, encoder_tokens, target_tokens, ~forced).argmax(-1)
    greedy = session["padded"](session["decode_sequence"](model, encoder_tokens), 5)
    until_the_end = (greedy == model.EOS).cumsum(0) - (greedy == model.EOS).long() == 0
    assert torch.equal(free[until_the_end], greedy[until_the_end])


def test_a_whole_answer_is_right_with_the_teacher_exactly_when_it_is_right_alone(session, model):
    """What the text claims, on answers that the model finds itself, half of them spoilt."""
    encoder_tokens = questions(60)
    target_tokens = session["padded"](session["decode_sequence"](model, encoder_tokens), 5)
    target_tokens[0, ::2] = (target_tokens[0, ::2] + 1) % 13 + 1
    forced = session["training_pass"](model, encoder_tokens, target_tokens)[0].argmax(-1)
    alone = session["padded"](session["decode_sequence"](model, encoder_tokens), 5)
    ends = (target_tokens == model.EOS).any(0)
    reached = ends & ~((target_tokens == model.EOS).cumsum(0)[-2] > 0)  # no padding after the end
    assert torch.equal((forced == target_tokens).all(0)[reached], (alone == target_tokens).all(0)[reached])


def test_a_beam_is_drawn_with_its_words(monkeypatch):
    shown = []
    monkeypatch.setattr(plots, "show", lambda figure, alt, data: shown.append((figure, alt, data)))
    history = [(torch.tensor([1, 2]), torch.tensor([0, 0]), torch.tensor([-0.5, -0.9])),
               (torch.tensor([2, 0]), torch.tensor([1, 1]), torch.tensor([-1.0, -1.2])),
               (torch.tensor([0, 0]), torch.tensor([1, 0]), torch.tensor([-1.2, -1.5]))]
    decoding.draw_beam(history, ["\n", "a", "b"], EOS=0, title="two letters", best=torch.tensor([2, 2, 0]))
    (figure, alt, (header, rows)), = shown
    assert alt == ("A beam search as a tree: two letters. At the end stand b EOS (-1.20); b b EOS (-1.50). "
                   "The path marked with a star is b b EOS.")
    assert rows[0] == [0, 1, "a", "-0.50", "given up later"] and rows[1] == [0, 2, "b", "-0.90", "yes"]
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "★ b\n-0.90" in texts and "a\n-0.50" in texts and sum(text.startswith("★") for text in texts) == 3
