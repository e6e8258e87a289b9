"""How two papers start and feed their models, for session 5: Bahdanau et al. (1409.0473), Sutskever et al. (1409.3215).

The optimizers are torch's own. Parameters are told apart by the names that the notebook gives them.
"""

import torch
from torch import nn

__all__ = ["reversed_sources", "start_as_bahdanau", "start_as_sutskever"]


@torch.no_grad()
def start_as_bahdanau(model):
    """Set the weights of a model as in appendix B.1 of 1409.0473.

    U, U_z, U_r and the recurrent matrices of torch's layers become orthogonal; v_a and all biases are 0; W_a and U_a
    are drawn from N(0, 0.001²), all other weights from N(0, 0.01²).
    """
    for name, parameter in model.named_parameters():
        last = name.removesuffix(".weight").split(".")[-1]
        if "bias" in name or last == "v_a":
            parameter.zero_()
        elif last in ("U", "U_z", "U_r"):
            nn.init.orthogonal_(parameter)
        elif last.startswith("weight_hh"):  # the encoder's three matrices, stacked
            for square in parameter.chunk(3):
                nn.init.orthogonal_(square)
        else:
            parameter.normal_(std=0.001 if last in ("W_a", "U_a") else 0.01)


@torch.no_grad()
def start_as_sutskever(model):
    """Draw all weights of a model evenly from (−0.08, 0.08), as in section 3.4 of 1409.3215."""
    for parameter in model.parameters():
        parameter.uniform_(-0.08, 0.08)


def reversed_sources(source, lengths):
    """`source` (S, B) → a tensor (S, B) with the words of each sentence backwards.

    `lengths` (B,) counts EOS, which stays at its place, as does the padding.
    """
    source = source.clone()
    for b, length in enumerate(lengths.tolist()):
        source[:length - 1, b] = source[:length - 1, b].flip(0)
    return source
