"""What is asked of the readers of session 1: which verbs they choose, and which sentences they write.

A reader takes ids (T, B) and a state, or None, and returns logits (T, B, V) and the new state.
"""

import random

import torch

__all__ = ["agreement", "write"]


@torch.no_grad()
def agreement(model, vocabulary, nouns, prepositions, verbs, nouns_between, pairs=100):
    """The share of right verbs, a number in 0 … 1, when all nouns in between have the other number.

    `vocabulary` is token → id; `nouns` and `verbs` are pairs (singular, plural) of words. `pairs` sentences begin with
    a noun in the singular, as many with one in the plural. The reader chooses the number whose verbs, taken together,
    are the more probable.
    """
    rng, right = random.Random(0), []
    verb_ids = torch.tensor([[vocabulary[verb[number]] for verb in verbs] for number in (0, 1)])
    for number in (0, 1):
        sentences = []
        for _ in range(pairs):
            words = [".", "the", rng.choice(nouns)[number]]
            for _ in range(nouns_between):
                words += [rng.choice(prepositions), "the", rng.choice(nouns)[1 - number]]
            sentences.append([vocabulary[word] for word in words])
        logits, _ = model(torch.tensor(sentences).T)
        by_number = logits[-1].softmax(-1)[:, verb_ids].sum(-1)  # (pairs, 2): P(singular), P(plural)
        right.append((by_number.argmax(-1) == number).float().mean())
    return torch.stack(right).mean().item()


@torch.no_grad()
def write(model, vocabulary, tokens=16, seed=0):
    """Let a reader write: draw a token, hand it back as the next input, and so on. Returns the text."""
    generator = torch.Generator().manual_seed(seed)
    names = {i: token for token, i in vocabulary.items()}
    token, state, words = torch.tensor([[vocabulary["."]]]), None, []
    for _ in range(tokens):
        logits, state = model(token, state)
        token = torch.multinomial(logits[0].softmax(-1), 1, generator=generator)
        words.append(names[token.item()])
    return " ".join(words)
