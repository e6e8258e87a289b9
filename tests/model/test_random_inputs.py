"""Random inputs of a check: their distributions and dtypes, and both ends of a range."""

import numpy as np
import pytest

from autograder.model.random_inputs import NumpyInputs, TorchInputs
from autograder.runtime import arrays


@pytest.mark.parametrize("kind, number, whole", [(TorchInputs, "float32", "int64"), (NumpyInputs, "float64", "int64")])
def test_inputs_are_of_their_distribution(kind, number, whole):
    inputs = kind(3)
    drawn = {"normal": inputs.normal(40, 50), "scaled": inputs.normal(40, 50, scale=3.0),
             "uniform": inputs.uniform(40, 50), "integers": inputs.integers(2, 6, 40, 5),
             "one_hot": inputs.one_hot(3, 40, 5)}
    as_numpy = {name: arrays.to_numpy(value) if kind is TorchInputs else value for name, value in drawn.items()}
    assert {name: value.dtype.name for name, value in as_numpy.items()} == {
        **dict.fromkeys(as_numpy, number), "integers": whole}
    assert [value.shape for value in as_numpy.values()] == [(40, 50)] * 3 + [(40, 5), (40, 5, 3)]
    assert abs(as_numpy["normal"].std() - 1) < 0.1 and abs(as_numpy["scaled"].std() - 3) < 0.3
    assert 0 <= as_numpy["uniform"].min() < 0.01 and 0.99 < as_numpy["uniform"].max() < 1
    assert set(as_numpy["integers"].ravel()) == {2, 3, 4, 5}
    assert set(as_numpy["one_hot"].ravel()) == {0, 1} and (as_numpy["one_hot"].sum(-1) == 1).all()
    assert set(np.flatnonzero(as_numpy["one_hot"]) % 3) == {0, 1, 2}
    for call in (lambda one: one.normal(9), lambda one: one.uniform(9), lambda one: one.integers(0, 99, 9)):
        first, again, other = (np.asarray(call(kind(seed))) for seed in (3, 3, 4))
        assert np.array_equal(first, again) and not np.array_equal(first, other)


@pytest.mark.parametrize("kind", [TorchInputs, NumpyInputs])
def test_both_ends_of_a_range_are_there(kind):
    for seed in range(20):
        assert set(np.asarray(kind(seed).integers(0, 1_000, 2)).ravel()) == {0, 999}
        rows = np.asarray(kind(seed).integers(5, 1_000, 2, 3))
        assert (rows.min(), rows.max()) == (5, 999)
        assert np.isin(rows, (5, 999)).sum() == 2, "all others are drawn"
    single = {int(np.asarray(kind(seed).integers(0, 3, 1))[0]) for seed in range(20)}
    assert single == {0, 1, 2}, "one number alone is any"


def test_numbers_may_be_of_another_dtype():
    assert TorchInputs(1).normal(2, dtype=arrays.torch_dtype("float64")).dtype == arrays.torch_dtype("float64")
    assert NumpyInputs(1).normal(2, dtype=np.float32).dtype == np.float32
