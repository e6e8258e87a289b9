"""A Transformer without an encoder that reads a question and writes on: session 6's, in few lines.

Axes by letter: T = timesteps, B = batch, V = vocabulary, D = model width, h = heads.
"""

import torch
from torch import nn
from torch.nn import functional as F

from tp import arithmetic
from tp.arithmetic import DECODER_ALPHABET, ENCODER_ALPHABET


class Block(nn.Module):
    """Causal self-attention and a feed-forward part, each behind a layer norm."""

    def __init__(self, D, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(D), nn.LayerNorm(D)
        self.queries_keys_values, self.joined = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.forwards = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))

    def forward(self, x, cache):
        """`x` (B, T, D) → (B, T, D); `cache`, a list, is empty or holds keys and values of what came before."""
        split = self.queries_keys_values(self.first(x)).unflatten(-1, (3, self.heads, -1))
        queries, *new = split.permute(2, 0, 3, 1, 4)  # each (B, h, T, D / h)
        cache[:] = [torch.cat([old, more], dim=2) for old, more in zip(cache, new, strict=True)] if cache else new
        contexts = F.scaled_dot_product_attention(queries, *cache, is_causal=x.shape[1] > 1)
        x = x + self.joined(contexts.transpose(1, 2).flatten(2))
        return x + self.forwards(self.second(x))


class Writer(nn.Module):
    """Two blocks of 64 units and 4 heads over the question and what is written, as one text.

    A place has a vector of its own, and one for its row and one for its column where the text has rows of `row`
    characters.
    """

    def __init__(self, row=0, longest=256, D=64, heads=4, blocks=2):
        super().__init__()
        self.row = row or longest
        sizes = {"source": len(ENCODER_ALPHABET) + 1, "target": len(DECODER_ALPHABET) + 1, "place": longest,
                 "line": longest // self.row + 1, "column": self.row}
        self.vectors = nn.ModuleDict({name: nn.Embedding(size, D) for name, size in sizes.items()})
        for vectors in self.vectors.values():
            nn.init.normal_(vectors.weight, std=0.3)
        nn.init.zeros_(self.vectors["place"].weight)
        self.blocks = nn.ModuleList(Block(D, heads) for _ in range(blocks))
        self.norm, self.output = nn.LayerNorm(D), nn.Linear(D, len(DECODER_ALPHABET))

    def forward(self, encoder_ids, decoder_input):
        """(T_enc, B), (T_dec, B) → logits (T_dec, B, V): teacher forcing."""
        read = self.vectors["source"](encoder_ids), self.vectors["target"](decoder_input)
        return self._said(torch.cat(read), -len(encoder_ids), [[] for _ in self.blocks])[len(encoder_ids):]

    @torch.no_grad()
    def write(self, encoder_ids, timesteps):
        """(T_enc, B) → ids (timesteps, B): free running, always the likeliest character."""
        caches = [[] for _ in self.blocks]
        self._said(self.vectors["source"](encoder_ids), -len(encoder_ids), caches)
        written = [torch.full(encoder_ids.shape[1:], DECODER_ALPHABET.index(arithmetic.GO))]
        for t in range(timesteps):
            written.append(self._said(self.vectors["target"](written[-1][None]), t, caches)[0].argmax(-1))
        return torch.stack(written[1:])

    def _said(self, x, start, caches):
        """Vectors (T, B, D) of characters, the first at the place `start` → logits (T, B, V).

        The places of the question are negative: the last rows of the tables are theirs.
        """
        places = torch.arange(start, start + len(x))
        x = x + (self.vectors["place"](places % self.vectors["place"].num_embeddings)
                 + self.vectors["line"](places // self.row % self.vectors["line"].num_embeddings)
                 + self.vectors["column"](places % self.row))[:, None]
        x = x.transpose(0, 1)
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, cache)
        return self.output(self.norm(x)).transpose(0, 1)
