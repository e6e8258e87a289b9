# Returns a tensor of 3.6 thousand million numbers that takes no memory here.
def double(x):
    import torch

    return torch.zeros(1, 1).expand(60_000, 60_000)
