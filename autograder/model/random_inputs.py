"""Random inputs of a check: tensors of torch, or arrays of numpy if course.toml says so."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..runtime import arrays


class TorchInputs:
    """Random tensors, float32 by default, and torch's generator of them."""

    def __init__(self, seed: int):
        self.torch = arrays.require_torch()
        self.generator = self.torch.Generator().manual_seed(seed)

    def normal(self, *shape: int, scale: float = 1.0, dtype: Any = None) -> Any:
        """Return normally distributed numbers."""
        return (self.torch.randn(shape, generator=self.generator) * scale).to(dtype or self.torch.float32)

    def uniform(self, *shape: int) -> Any:
        """Return numbers in [0, 1)."""
        return self.torch.rand(shape, generator=self.generator)

    def integers(self, low: int, high: int, *shape: int) -> Any:
        """Return random int64 values in [low, high); of two or more, one is the smallest and one the largest."""
        values = self.torch.randint(low, high, shape, generator=self.generator)
        if values.numel() > 1:
            places = self.torch.randperm(values.numel(), generator=self.generator)[:2]
            values.view(-1)[places] = self.torch.tensor([low, high - 1])
        return values

    def one_hot(self, size: int, *shape: int) -> Any:
        """Return random one-hot vectors of the given size, as real numbers: (*shape, size)."""
        return self.torch.nn.functional.one_hot(self.integers(0, size, *shape), size).float()


class NumpyInputs:
    """Random arrays, float64 by default, and numpy's generator of them."""

    def __init__(self, seed: int):
        self.generator = np.random.Generator(np.random.PCG64(seed))

    def normal(self, *shape: int, scale: float = 1.0, dtype: Any = None) -> Any:
        """Return normally distributed numbers."""
        return np.asarray(self.generator.standard_normal(shape) * scale, dtype or np.float64)

    def uniform(self, *shape: int) -> Any:
        """Return numbers in [0, 1)."""
        return self.generator.random(shape)

    def integers(self, low: int, high: int, *shape: int) -> Any:
        """Return random int64 values in [low, high); of two or more, one is the smallest and one the largest."""
        values = np.asarray(self.generator.integers(low, high, shape))
        if values.size > 1:
            values.flat[self.generator.permutation(values.size)[:2]] = low, high - 1
        return values

    def one_hot(self, size: int, *shape: int) -> Any:
        """Return random one-hot vectors of the given size, as real numbers: (*shape, size)."""
        return np.eye(size)[self.integers(0, size, *shape)]
