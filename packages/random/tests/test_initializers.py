"""Initial values of weights: scales, distributions, dtypes and bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym_random as random
from axonym_random import initializers
from axonym_random.errors import DistributionError, KeyTypeError, RandomShapeError

SCALED = {  # variance times fan, and which fan of inputs and outputs
    "glorot_uniform": (1, lambda i, o: (i + o) / 2),
    "glorot_normal": (1, lambda i, o: (i + o) / 2),
    "lecun_uniform": (1, lambda i, o: i),
    "lecun_normal": (1, lambda i, o: i),
    "he_uniform": (2, lambda i, o: i),
    "he_normal": (2, lambda i, o: i),
}


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("shape", [(200, 100), (3, 3, 40, 60)])
def test_the_variance_is_that_of_the_fan(name: str, shape: tuple[int, ...]) -> None:
    init = getattr(initializers, name)()
    x = np.asarray(init(random.key(0), shape))
    places = np.prod(shape[:-2])
    scale, fan = SCALED[name]

    expected = scale / fan(shape[-2] * places, shape[-1] * places)
    assert x.shape == shape
    assert x.dtype == np.float32
    assert abs(x.var() / expected - 1) < 0.03
    assert abs(x.mean()) < 5 * np.sqrt(expected / x.size)


@pytest.mark.parametrize("name", ["glorot_uniform", "lecun_uniform", "he_uniform"])
def test_uniform_initializers_are_bounded(name: str) -> None:
    x = np.asarray(getattr(initializers, name)()(random.key(0), (100, 100)))
    assert np.abs(x).max() <= np.sqrt(3) * x.std() * 1.02


def test_dimensions_can_be_named() -> None:
    init = initializers.variance_scaling(
        1.0, "fan_in", "normal", in_axis=0, out_axis=(1, 2), batch_axis=3
    )
    assert abs(np.asarray(init(random.key(0), (50, 10, 10, 8))).var() * 50 - 1) < 0.05
    init = initializers.variance_scaling(1.0, "fan_out", "normal", 0, (1, 2), 3)
    assert abs(np.asarray(init(random.key(0), (50, 10, 10, 8))).var() * 100 - 1) < 0.05


def test_constants() -> None:
    assert initializers.zeros(None, (2, 1)).tolist() == [[0.0], [0.0]]
    assert initializers.ones(random.key(0), 2, "int8").dtype == np.int8
    init = initializers.constant(np.array([1, 2]), "float16")
    assert init(None, (2, 2)).tolist() == [[1, 2], [1, 2]]
    assert init(None, (2, 2)).dtype == np.float16
    assert init(None, (2,), "float64").dtype == np.float64
    assert float(initializers.constant(0.1, "float64")(None, ())) == 0.1


@pytest.mark.parametrize(
    ("make", "mean", "deviation"),
    [
        (initializers.uniform, 1.0, 2 / np.sqrt(12)),
        (initializers.normal, 0.0, 2.0),
        (initializers.truncated_normal, 0.0, 2 * 0.87962566),
    ],
)
def test_scales_are_those_given(make: Callable[..., Any], mean: float, deviation: float) -> None:
    x = np.asarray(make(2.0)(random.key(0), (20000,)))
    assert abs(x.mean() - mean) < 4 * deviation / np.sqrt(20000)
    assert abs(x.std() / deviation - 1) < 0.02


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_dtypes_are_given_to_the_maker_or_to_the_initializer(dtype: str) -> None:
    for make in (initializers.normal, initializers.uniform, initializers.truncated_normal):
        assert make(dtype=dtype)(random.key(0), (2,)).dtype.name == dtype
        assert make()(random.key(0), (2,), dtype).dtype.name == dtype
    for name in SCALED:
        make = getattr(initializers, name)
        assert make(dtype=dtype)(random.key(0), (2, 2)).dtype.name == dtype
        assert make()(random.key(0), (2, 2), dtype).dtype.name == dtype


def test_other_names() -> None:
    assert initializers.xavier_uniform is initializers.glorot_uniform
    assert initializers.xavier_normal is initializers.glorot_normal
    assert initializers.kaiming_uniform is initializers.he_uniform
    assert initializers.kaiming_normal is initializers.he_normal


def test_empty_weights_are_empty() -> None:
    assert initializers.he_normal()(random.key(0), (0, 4)).shape == (0, 4)


def test_bad_input_is_refused() -> None:
    with pytest.raises(RandomShapeError, match=r"shape=\(3,\) has no dimension in_axis=-2"):
        initializers.he_normal()(random.key(0), (3,))
    with pytest.raises(DistributionError, match="mode='fan' is not known"):
        initializers.variance_scaling(1.0, "fan", "normal")
    with pytest.raises(DistributionError, match="distribution='cauchy' is not known"):
        initializers.variance_scaling(1.0, "fan_in", "cauchy")
    with pytest.raises(KeyTypeError, match="normal: key is 0"):
        initializers.normal()(0, (3,))
