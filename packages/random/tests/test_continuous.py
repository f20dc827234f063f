"""Floating-point distributions: moments, distribution functions, tails, dtypes and bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import axonym_random as random
from axonym_compile import jit
from axonym_core import config, make_jaxpr
from axonym_core.errors import DTypeError
from axonym_core.types import dtypes
from axonym_random.errors import DistributionError, RandomDTypeError, RandomShapeError

DTYPES = ["float16", "bfloat16", "float32", "float64"]
DRAWS: dict[str, Callable[..., Any]] = {
    "uniform": random.uniform,
    "normal": random.normal,
    "exponential": random.exponential,
    "gumbel": random.gumbel,
    "laplace": random.laplace,
    "logistic": random.logistic,
    "truncated_normal": lambda key, shape=(), dtype=float: random.truncated_normal(
        key, -1.0, 2.0, shape, dtype
    ),
}


def phi(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


CDFS: dict[str, Callable[[float], float]] = {
    "uniform": lambda x: x,
    "normal": phi,
    "exponential": lambda x: -math.expm1(-x),
    "gumbel": lambda x: math.exp(-math.exp(-x)),
    "laplace": lambda x: math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2,
    "logistic": lambda x: 1 / (1 + math.exp(-x)),
    "truncated_normal": lambda x: (phi(x) - phi(-1)) / (phi(2) - phi(-1)),
}
EULER = 0.5772156649015329
MOMENTS = {  # mean and variance
    "uniform": (1 / 2, 1 / 12),
    "normal": (0, 1),
    "exponential": (1, 1),
    "gumbel": (EULER, math.pi**2 / 6),
    "laplace": (0, 2),
    "logistic": (0, math.pi**2 / 3),
}


def as_float64(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(x).astype(np.float64)


def distance(sample: Any, cdf: Callable[[float], float]) -> float:
    """Largest distance of the distribution functions, times the root of the sample's size.

    For a sample of the distribution itself it exceeds 1.95 once in a thousand times.
    """
    ordered = np.sort(as_float64(sample).ravel())
    n = len(ordered)
    expected = np.array([cdf(x) for x in ordered])
    above = np.arange(1, n + 1) / n - expected
    below = expected - np.arange(n) / n
    return float(max(above.max(), below.max()) * np.sqrt(n))


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_samples_follow_the_distribution_function(name: str, dtype: str) -> None:
    sample = DRAWS[name](random.key(17), (20000,), dtype)
    assert distance(sample, CDFS[name]) < 1.95


def test_the_distance_tells_distributions_apart() -> None:
    sample = random.normal(random.key(17), (20000,))
    assert distance(np.asarray(sample) + 0.05, CDFS["normal"]) > 1.95
    assert distance(sample, CDFS["logistic"]) > 1.95


@pytest.mark.parametrize("name", MOMENTS)
def test_samples_have_the_moments_of_the_distribution(name: str) -> None:
    n = 50000
    sample = as_float64(DRAWS[name](random.key(23), (n,)))
    mean, variance = MOMENTS[name]

    assert abs(sample.mean() - mean) < 4 * math.sqrt(variance / n)
    assert abs(sample.var() / variance - 1) < 0.05


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_shape_and_dtype_are_those_asked_for(name: str, dtype: str) -> None:
    for shape, expected in (((), ()), ((2, 3), (2, 3)), ((0, 4), (0, 4)), (5, (5,)), ([2], (2,))):
        drawn = DRAWS[name](random.key(0), shape, dtype)
        assert (drawn.shape, drawn.dtype.name) == (expected, dtype)
        assert not drawn.weak_type


@pytest.mark.parametrize("name", DRAWS)
def test_the_default_dtype_is_the_configured_one(name: str) -> None:
    assert DRAWS[name](random.key(0)).dtype == np.float32
    with config.override(default_float_bits=64):
        assert DRAWS[name](random.key(0)).dtype == np.float64


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_number_is_infinite_or_nan(name: str, dtype: str) -> None:
    # Numbers of 16 bits are made of so few bits that every one of them is drawn.
    n = 300_000 if dtype in ("float16", "bfloat16") else 50_000
    assert np.isfinite(as_float64(DRAWS[name](random.key(1), (n,), dtype))).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_uniform_numbers_include_0_and_exclude_1(dtype: str) -> None:
    drawn = as_float64(random.uniform(random.key(1), (100_000,), dtype))
    assert drawn.min() >= 0
    assert drawn.max() < 1
    if dtype in ("float16", "bfloat16"):
        spacing = float(dtypes.finfo(dtype).eps)
        assert sorted(set(drawn.tolist())) == np.arange(0, 1, spacing).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_upper_end_is_not_drawn_though_rounding_leads_there(dtype: str) -> None:
    drawn = as_float64(random.uniform(random.key(1), (50_000,), dtype, 1000.0, 1008.0))
    assert drawn.min() >= 1000
    assert drawn.max() < 1008


@given(
    st.floats(-1e6, 1e6, width=32),
    st.floats(0, 1e6, width=32),
    st.sampled_from(["float32", "float64"]),
)
@settings(max_examples=25)
def test_uniform_numbers_stay_in_any_interval(low: float, length: float, dtype: str) -> None:
    low, high = (float(np.dtype(dtype).type(x)) for x in (low, low + length))
    drawn = as_float64(random.uniform(random.key(1), (100,), dtype, low, high))
    assert (drawn >= low).all()
    assert (drawn < high).all() or low == high


def test_an_empty_interval_gives_its_end() -> None:
    assert random.uniform(random.key(0), (2,), minval=3, maxval=3).tolist() == [3.0, 3.0]


def test_the_ends_may_be_arrays() -> None:
    low, high = np.float32([[0], [10]]), np.float32([1, 2, 30])
    drawn = np.asarray(random.uniform(random.key(0), (200, 2, 3), minval=low, maxval=high))
    inside = (drawn >= low) & (drawn < high)

    assert inside[:, 0].all()
    assert inside[:, 1, 2].all()
    # An interval the wrong way round has no numbers: its lower end stands for them.
    assert (drawn[:, 1, :2] == 10).all()


def test_ends_keep_the_precision_of_the_result() -> None:
    drawn = random.uniform(random.key(0), (), "float64", 0.1, 0.1)
    assert float(drawn) == 0.1
    drawn = random.truncated_normal(random.key(0), 0.1, 0.1 + 1e-12, (), "float64")
    assert 0.1 < float(drawn) < 0.1 + 1e-12


def test_compiled_and_traced_draws_are_the_same() -> None:
    key = random.key(4)
    for draw in (random.uniform, random.laplace):
        eager = draw(key, (5,)).tolist()
        assert jit(lambda k, draw=draw: draw(k, (5,)))(key).tolist() == eager
    between = jit(lambda k, a, b: random.uniform(k, (5,), minval=a, maxval=b))
    assert between(key, -1.0, 2.0).tolist() == pytest.approx(
        random.uniform(key, (5,), minval=-1.0, maxval=2.0).tolist(), rel=1e-6
    )


def test_draws_are_inlined_into_the_caller() -> None:
    program = make_jaxpr(lambda k: random.normal(k, (5,)))(random.key(0))
    assert {eqn.primitive.name for eqn in program.eqns} & {"jit", "erf_inv"} == {"erf_inv"}


def test_known_answers() -> None:
    key = random.key(0)

    assert random.uniform(key, (3,)).tolist() == [
        0.9476670026779175,
        0.9785798788070679,
        0.33229148387908936,
    ]
    assert random.normal(key, (3,)).tolist() == pytest.approx(
        [1.6226422, 2.0252647, -0.43359443], rel=1e-5
    )
    assert random.uniform(key, (2,), "float64").tolist() == [
        0.41845711171638644,
        0.21629545460551136,
    ]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_normal_numbers_have_independent_parts(dtype: str) -> None:
    drawn = np.asarray(random.normal(random.key(2), (20000,), dtype))

    assert drawn.dtype == np.dtype(dtype)
    for part in (drawn.real, drawn.imag):
        assert distance(part * math.sqrt(2), phi) < 1.95
    assert abs(np.corrcoef(drawn.real, drawn.imag)[0, 1]) < 4 / math.sqrt(20000)


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 1.0), (0.0, 5.0), (2.0, 3.0), (-np.inf, 0.0), (-np.inf, np.inf)]
)
def test_truncated_normal_numbers_lie_strictly_between_the_bounds(low: float, high: float) -> None:
    drawn = as_float64(random.truncated_normal(random.key(0), low, high, (20000,)))

    assert drawn.min() > low
    assert drawn.max() < high
    mass = phi(high) - phi(low)
    assert distance(drawn, lambda x: (phi(x) - phi(low)) / mass) < 1.95


def test_the_bounds_of_truncated_normal_give_the_shape() -> None:
    low = np.float32([[-1.0], [0.0]])
    assert random.truncated_normal(random.key(0), low, np.float32([1, 2, 3])).shape == (2, 3)


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("dtype", ["int32", "bool", "uint8", "float8_e4m3fn"])
def test_dtypes_without_such_numbers_are_refused(name: str, dtype: str) -> None:
    with pytest.raises(RandomDTypeError, match=f"{name}: dtype={dtype} .* float16, bfloat16"):
        DRAWS[name](random.key(0), (), dtype)


def test_dtypes_that_do_not_exist_are_refused() -> None:
    with pytest.raises(DTypeError, match="did you mean 'float32'"):
        random.uniform(random.key(0), (), "flaot32")
    with pytest.raises(RandomDTypeError):
        random.uniform(random.key(0), (), "complex64")


@pytest.mark.parametrize("name", ["uniform", "normal", "gumbel"])
def test_shapes_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(RandomShapeError, match=rf"{name}: shape=\(-1,\) has a negative size"):
        DRAWS[name](random.key(0), (-1,))
    with pytest.raises(RandomShapeError, match=f"{name}: shape=1.5 is no shape"):
        DRAWS[name](random.key(0), 1.5)


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, 0.0), (0.0, np.inf), (-3e38, 3e38), (np.nan, 1.0), (0.0, np.nan)]
)
def test_numbers_that_are_no_interval_are_refused(low: float, high: float) -> None:
    with pytest.raises(DistributionError, match=r"uniform: minval=.* are no interval"):
        random.uniform(random.key(0), (), "float32", low, high)


def test_parameters_that_do_not_fit_the_shape_are_refused() -> None:
    with pytest.raises(RandomShapeError, match=r"minval has shape \(2,\), .* shape=\(3,\)"):
        random.uniform(random.key(0), (3,), minval=np.zeros(2, np.float32))
    with pytest.raises(RandomShapeError, match=r"lower of shape \(2,\) and upper of shape \(3,\)"):
        random.truncated_normal(random.key(0), np.zeros(2), np.zeros(3))
