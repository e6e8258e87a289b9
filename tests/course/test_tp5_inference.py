"""The solution of TP 5 is the oracle of its checks: here it is held against facts that it was not made from."""

import itertools

import pytest
import torch

from autograder.model.oracle import oracle
from conftest import REPOSITORY
from tp import decoding, plots


@pytest.fixture(scope="module")
def tp5():
    return oracle(REPOSITORY, "tp5_inference").namespace


@pytest.fixture(params=["Seq2seq", "Seq2seqAttention"])
def model(tp5, request):
    """A small untrained model with strong weights, so that its answers end at different steps."""
    torch.manual_seed(3)
    model = tp5[request.param](latent_dim=12, embedding_size=7)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=1.5)
    return model


def questions(B, S=6):
    return torch.randint(0, 16, (S, B), generator=torch.Generator().manual_seed(B))


def test_a_beam_of_one_is_greedy_decoding(tp5, model):
    encoder_tokens = questions(40)
    greedy = tp5["decode_sequence"](model, encoder_tokens)
    for b in range(encoder_tokens.shape[1]):
        for alpha in (0.0, 1.0):
            hypotheses, _, _ = tp5["beam_search"](model, encoder_tokens[:, b:b + 1], 1, alpha)
            alone = tp5["padded"](hypotheses, len(greedy))[:, 0]
            assert alone.tolist() == greedy[:, b].tolist()


def test_a_wide_beam_finds_the_best_answer_of_all(tp5):
    """Against all sequences of a vocabulary of four, scored with the training pass."""
    torch.manual_seed(5)
    model = tp5["Seq2seq"](latent_dim=6, embedding_size=4)
    model.decoder = tp5["DecoderLSTM"](4, 4, 6)
    model.GO, model.EOS, model.max_length = 3, 0, 4
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=1.5)
    for b in range(5):
        encoder_tokens = questions(5)[:, b:b + 1]
        scores = {}
        for sequence in itertools.product(range(4), repeat=4):
            end = sequence.index(0) + 1 if 0 in sequence else 4
            said = torch.tensor(sequence[:end])[:, None]
            logits, _ = tp5["training_pass"](model, encoder_tokens, said)
            scores[sequence[:end]] = logits.log_softmax(-1).gather(-1, said[..., None]).sum().item()
        for alpha in (0.0, 0.7):
            best = max(scores, key=lambda said: scores[said] / len(said) ** alpha)
            hypotheses, normalised, _ = tp5["beam_search"](model, encoder_tokens, 4 ** 4, alpha)
            assert tuple(hypotheses[:len(best), 0].tolist()) == best
            assert normalised[0].item() == pytest.approx(scores[best] / len(best) ** alpha, abs=1e-4)


def test_with_all_coins_the_teacher_speaks(tp5, model):
    encoder_tokens, target_tokens = questions(9), torch.randint(0, 14, (5, 9))
    coins = torch.ones(5, 9, dtype=torch.bool)
    forced, _ = tp5["training_pass"](model, encoder_tokens, target_tokens)
    torch.testing.assert_close(tp5["scheduled_sampling_pass"](model, encoder_tokens, target_tokens, coins), forced)
    free = tp5["scheduled_sampling_pass"](model, encoder_tokens, target_tokens, ~coins).argmax(-1)
    greedy = tp5["padded"](tp5["decode_sequence"](model, encoder_tokens), 5)
    until_the_end = (greedy == model.EOS).cumsum(0) - (greedy == model.EOS).long() == 0
    assert torch.equal(free[until_the_end], greedy[until_the_end])


def test_a_whole_answer_is_right_with_the_teacher_exactly_when_it_is_right_alone(tp5, model):
    """What the text claims, on answers that the model finds itself, half of them spoilt."""
    encoder_tokens = questions(60)
    target_tokens = tp5["padded"](tp5["decode_sequence"](model, encoder_tokens), 5)
    target_tokens[0, ::2] = (target_tokens[0, ::2] + 1) % 13 + 1
    forced = tp5["training_pass"](model, encoder_tokens, target_tokens)[0].argmax(-1)
    alone = tp5["padded"](tp5["decode_sequence"](model, encoder_tokens), 5)
    ends = (target_tokens == model.EOS).any(0)
    reached = ends & ~((target_tokens == model.EOS).cumsum(0)[-2] > 0)  # no padding after the end
    assert torch.equal((forced == target_tokens).all(0)[reached], (alone == target_tokens).all(0)[reached])


def test_a_model_opens_from_a_path_and_answers_alike(tp5, tmp_path):
    torch.manual_seed(1)
    model = tp5["Seq2seq"](latent_dim=9, embedding_size=5)
    tp5["save_model"](model, tmp_path / "calculator.pt")
    again = tp5["load_model"](tmp_path / "calculator.pt")
    assert torch.equal(tp5["decode_sequence"](model, questions(8)), tp5["decode_sequence"](again, questions(8)))
    assert tp5["answer"](again, "94+8") == tp5["answer"](model, "94+8")


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
