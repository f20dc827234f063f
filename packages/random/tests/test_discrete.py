"""Coins, signs, integers and categories."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import axonym_random as random
from axonym_compile import jit
from axonym_core import config
from axonym_random.errors import DistributionError, RandomDTypeError, RandomShapeError

INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def chi2(counts: np.ndarray, expected: np.ndarray) -> float:
    """Pearson's statistic, less its mean, in units of its deviation."""
    degrees = len(counts) - 1
    return float((((counts - expected) ** 2 / expected).sum() - degrees) / np.sqrt(2 * degrees))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_coins_are_true_with_the_given_probability(p: float) -> None:
    n = 50000
    heads = np.asarray(random.bernoulli(random.key(0), p, (n,)))

    assert heads.dtype == np.bool_
    assert abs(heads.mean() - p) < 4 * np.sqrt(p * (1 - p) / n)


def test_certain_coins() -> None:
    assert not np.asarray(random.bernoulli(random.key(0), 0.0, (5000,))).any()
    assert np.asarray(random.bernoulli(random.key(0), 1.0, (5000,))).all()


def test_probabilities_may_be_an_array() -> None:
    p = np.float32([[0.0], [1.0]])

    assert random.bernoulli(random.key(0), p).tolist() == [[False], [True]]
    drawn = np.asarray(random.bernoulli(random.key(0), p, (50, 2, 3)))
    assert not drawn[:, 0].any()
    assert drawn[:, 1].all()
    assert random.bernoulli(random.key(0)).shape == ()
    assert random.bernoulli(random.key(0), np.zeros((0, 2), np.float32)).shape == (0, 2)


def test_coins_of_every_dtype_of_probabilities() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        drawn = np.asarray(random.bernoulli(random.key(0), dtype(0.25), (20000,)))
        assert abs(drawn.mean() - 0.25) < 0.0125


def test_known_coins() -> None:
    drawn = random.bernoulli(random.key(0), 0.5, (6,)).tolist()
    assert drawn == [u < 0.5 for u in random.uniform(random.key(0), (6,)).tolist()]


def test_probabilities_that_are_none_are_refused() -> None:
    for p in (1, True, np.int32(0)):
        with pytest.raises(RandomDTypeError, match=r"bernoulli: p is of type .*floating-point"):
            random.bernoulli(random.key(0), p)
    with pytest.raises(RandomShapeError, match=r"p has shape \(2,\), .* shape=\(3,\)"):
        random.bernoulli(random.key(0), np.float32([0.5, 0.5]), (3,))


@pytest.mark.parametrize("dtype", ["int8", "int32", "float16", "bfloat16", "float64", "complex64"])
def test_signs_are_balanced(dtype: str) -> None:
    signs = np.asarray(random.rademacher(random.key(0), (10000,), dtype))

    assert signs.dtype.name == dtype
    assert set(signs.tolist()) == {1, -1}
    assert abs(signs.astype(complex).mean()) < 4 / 100


def test_dtypes_without_signs_are_refused() -> None:
    for dtype in ("uint8", "bool"):
        with pytest.raises(RandomDTypeError, match=f"rademacher: dtype={dtype} has no -1"):
            random.rademacher(random.key(0), (), dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_equally_likely(dtype: str) -> None:
    low, n = (3, 20000) if dtype.startswith("u") else (-4, 20000)
    drawn = np.asarray(random.randint(random.key(5), (n,), low, low + 11, dtype))

    assert drawn.dtype == np.dtype(dtype)
    assert drawn.min() == low
    assert drawn.max() == low + 10
    counts = np.bincount(drawn.astype(np.int64) - low, minlength=11)
    assert chi2(counts, np.full(11, n / 11)) < 4


@pytest.mark.parametrize("dtype", INTEGERS)
def test_all_integers_of_a_dtype_can_be_drawn(dtype: str) -> None:
    limits = np.iinfo(dtype)
    drawn = np.asarray(random.randint(random.key(5), (20000,), limits.min, limits.max + 1, dtype))
    scaled = (drawn.astype(np.float64) - float(limits.min)) / float(limits.max - limits.min)

    assert abs(scaled.mean() - 0.5) < 4 / np.sqrt(12 * 20000)
    if limits.bits == 8:
        assert len(set(drawn.tolist())) == 256


def test_the_default_dtype_of_integers_is_the_configured_one() -> None:
    assert random.randint(random.key(0), (), 0, 5).dtype == np.int32
    with config.override(default_int_bits=64):
        assert random.randint(random.key(0), (), 0, 5).dtype == np.int64


@given(st.integers(-(2**31), 2**31 - 1), st.integers(1, 2**32), st.integers(0, 2**32))
@settings(max_examples=30)
def test_integers_stay_in_any_range(low: int, length: int, seed: int) -> None:
    high = min(low + length, 2**31)
    drawn = np.asarray(random.randint(random.key(seed), (50,), low, high)).astype(np.int64)
    assert (drawn >= low).all()
    assert (drawn < high).all()


@given(st.integers(-(2**31), 2**31 - 1), st.integers(1, 2**32), st.integers(0, 2**32))
@settings(max_examples=15)
def test_ends_in_arrays_give_the_same_integers(low: int, length: int, seed: int) -> None:
    high = min(low + length, 2**31 - 1)
    if low < high:
        key = random.key(seed)
        of_numbers = random.randint(key, (5,), low, high).tolist()
        assert random.randint(key, (5,), np.int32(low), np.int32(high)).tolist() == of_numbers
        assert random.randint(key, (5,), np.int64(low), high).tolist() == of_numbers


def test_each_element_may_have_its_own_range() -> None:
    low, high = np.array([[0], [10]]), np.array([1, 20, 5])
    drawn = np.asarray(random.randint(random.key(0), (300, 2, 3), low, high))

    assert (drawn[:, 0] >= 0).all()
    assert (drawn[:, 0] < high).all()
    assert set(drawn[:, 1, 1].tolist()) == set(range(10, 20))
    assert (drawn[:, 1, [0, 2]] == 10).all()  # nothing between the ends


def test_ranges_in_arrays_end_where_the_dtype_ends() -> None:
    key = random.key(0)
    drawn = np.asarray(random.randint(key, (5000,), np.int64(-(10**6)), np.int64(10**6), "int8"))
    assert (drawn.min(), drawn.max()) == (-128, 127)

    drawn = np.asarray(random.randint(key, (5000,), np.int64(-(2**40)), np.int64(2**40), "int32"))
    assert drawn.min() < -(2**30)
    assert drawn.max() > 2**30


def test_ends_may_be_traced() -> None:
    drawn = jit(lambda k, n: random.randint(k, (100,), 0, n))(random.key(0), 6)
    assert set(drawn.tolist()) == set(range(6))
    assert drawn.tolist() == random.randint(random.key(0), (100,), 0, 6).tolist()


def test_known_integers() -> None:
    assert random.randint(random.key(0), (8,), 0, 100).tolist() == [
        89,
        0,
        12,
        73,
        71,
        47,
        32,
        23,
    ]


def test_ranges_without_integers_are_refused() -> None:
    for low, high in ((5, 5), (5, 2), (0, 129), (-200, 0)):
        with pytest.raises(DistributionError, match=f"minval={low} .* maxval={high}"):
            random.randint(random.key(0), (2,), low, high, "int8")
    with pytest.raises(DistributionError, match=r"minval=300 is beyond int8"):
        random.randint(random.key(0), (2,), 300, np.int32(400), "int8")
    assert random.randint(random.key(0), (0,), 0, 0).shape == (0,)


def test_ends_that_are_no_integers_are_refused() -> None:
    for end in (1.0, True, np.float32(3)):
        with pytest.raises(RandomDTypeError, match=r"randint: maxval is of type .* integer"):
            random.randint(random.key(0), (2,), 0, end)
    for dtype in ("float32", "bool", "int4"):
        with pytest.raises(RandomDTypeError, match=f"randint: dtype={dtype} is none"):
            random.randint(random.key(0), (2,), 0, 2, dtype)
    with pytest.raises(RandomShapeError, match=r"minval has shape \(2,\)"):
        random.randint(random.key(0), (3,), np.arange(2), 5)


def test_categories_come_with_their_probabilities() -> None:
    p = np.array([0.1, 0.2, 0.0, 0.7])
    with np.errstate(divide="ignore"):
        logits = np.log(p).astype(np.float32)
    n = 20000
    drawn = np.asarray(random.categorical(random.key(0), logits, shape=(n,)))

    assert drawn.dtype == np.int32
    counts = np.bincount(drawn, minlength=4)
    assert counts[2] == 0
    assert chi2(counts[[0, 1, 3]], n * p[[0, 1, 3]]) < 4


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_any_dimension_may_hold_the_categories(axis: int) -> None:
    logits = np.full((2, 3, 4), -np.inf, np.float32)
    chosen = np.random.default_rng(0).integers(0, logits.shape[axis], logits.shape)
    index = np.expand_dims(np.take(chosen, 0, axis), axis)
    np.put_along_axis(logits, index, 0.0, axis)

    drawn = random.categorical(random.key(0), logits, axis)
    assert drawn.tolist() == np.squeeze(index, axis).tolist()
    many = np.asarray(random.categorical(random.key(0), logits, axis, (5, *drawn.shape)))
    assert (many == np.squeeze(index, axis)).all()


def test_distinct_categories() -> None:
    logits = np.zeros((3, 5), np.float32)
    drawn = np.asarray(random.categorical(random.key(0), logits, shape=(4, 3), replace=False))

    assert drawn.shape == (4, 3)
    assert all(len(set(column.tolist())) == 4 for column in drawn.T)
    first = np.asarray(
        random.categorical(
            random.key(1), np.zeros((2000, 5), np.float32), shape=(1, 2000), replace=False
        )
    )
    assert chi2(np.bincount(first[0], minlength=5), np.full(5, 400)) < 4
    with pytest.raises(DistributionError, match="6 distinct indices of 5"):
        random.categorical(random.key(0), logits, shape=(6, 3), replace=False)


def test_categories_of_empty_arrays() -> None:
    assert random.categorical(random.key(0), np.zeros((0, 4), np.float32)).shape == (0,)
    assert random.categorical(random.key(0), np.zeros(4, np.float32), shape=(0,)).shape == (0,)
    with pytest.raises(RandomShapeError, match=r"axis=1 of logits .* is empty"):
        random.categorical(random.key(0), np.zeros((4, 0), np.float32))


def test_logits_that_do_not_fit_are_refused() -> None:
    key, logits = random.key(0), np.zeros((3, 4), np.float32)
    with pytest.raises(RandomDTypeError, match="categorical: logits is of type"):
        random.categorical(key, np.zeros((3, 4), np.int32))
    with pytest.raises(RandomShapeError, match="no dimension axis=2"):
        random.categorical(key, logits, 2)
    with pytest.raises(RandomShapeError, match="no dimension axis=-1"):
        random.categorical(key, np.float32(1))
    for shape in ((), (5,), (3, 5), (4,)):
        with pytest.raises(RandomShapeError, match=r"must end in \(3,\)"):
            random.categorical(key, logits, shape=shape)
