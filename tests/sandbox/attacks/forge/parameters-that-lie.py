# Makes modules have no parameters, so that no weights can be set.
from torch import nn

nn.Module.named_parameters = lambda self, *a, **k: []
