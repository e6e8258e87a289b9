# Returns a tensor of many numbers that takes no memory here.
# costs: kernel
# restriction: descriptions
def double(x):
    import torch

    return torch.zeros(1, 1).expand(16_000, 16_000)
