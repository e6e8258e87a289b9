"""Random inputs of a check: tensors of torch, or arrays of numpy if course.toml says so."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..runtime import arrays


class TorchInputs:
    """Random tensors, float32 by default."""

    def __init__(self, seed: int):
        self.torch = arrays.require_torch()
        self.generator = self.torch.Generator().manual_seed(seed)

    def normal(self, *shape: int, scale: float = 1.0, dtype: Any = None) -> Any:
        return (self.torch.randn(shape, generator=self.generator) * scale).to(dtype or self.torch.float32)

    def uniform(self, *shape: int) -> Any:
        return self.torch.rand(shape, generator=self.generator)

    def integers(self, low: int, high: int, *shape: int) -> Any:
        values = self.torch.randint(low, high, shape, generator=self.generator)
        if values.numel() > 1:
            places = self.torch.randperm(values.numel(), generator=self.generator)[:2]
            values.view(-1)[places] = self.torch.tensor([low, high - 1])
        return values

    def one_hot(self, size: int, *shape: int) -> Any:
        return self.torch.nn.functional.one_hot(self.integers(0, size, *shape), size).float()


class NumpyInputs:
    """Random arrays, float64 by default."""

    def __init__(self, seed: int):
        self.generator = np.random.Generator(np.random.PCG64(seed))

    def normal(self, *shape: int, scale: float = 1.0, dtype: Any = None) -> Any:
        return np.asarray(self.generator.standard_normal(shape) * scale, dtype or np.float64)

    def uniform(self, *shape: int) -> Any:
        return self.generator.random(shape)

    def integers(self, low: int, high: int, *shape: int) -> Any:
        values = np.asarray(self.generator.integers(low, high, shape))
        if values.size > 1:
            values.flat[self.generator.permutation(values.size)[:2]] = low, high - 1
        return values

    def one_hot(self, size: int, *shape: int) -> Any:
        return np.eye(size)[self.integers(0, size, *shape)]
