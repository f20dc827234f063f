"""Sorting orders as NumPy does, NaN last, and keeps what it says it keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_core import lax
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.settings import config

DTYPES = [np.bool_, np.int8, np.uint32, np.int64, np.float16, np.float32, np.float64]


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


@pytest.mark.parametrize("dtype", [*DTYPES, np.complex64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("dimension", [0, 1, -1])
@pytest.mark.parametrize("is_stable", [True, False])
def test_sort_is_numpys(dtype: Any, dimension: int, is_stable: bool) -> None:
    rng = np.random.default_rng(0)
    x = (rng.integers(-5, 5, (4, 5)) + 1j * rng.integers(-5, 5, (4, 5))).real.astype(dtype)
    out = lax.sort(x, dimension, is_stable)
    assert out.dtype == dtype
    np.testing.assert_array_equal(np.asarray(out), np.sort(x, dimension))


def test_nan_comes_last_and_zeros_are_equal() -> None:
    x = np.array([np.nan, 0.0, -np.inf, -0.0, np.inf, np.copysign(np.nan, -1), -1.0])
    out, where = lax.sort((x, np.arange(7)))
    assert where.tolist() == [2, 6, 1, 3, 4, 0, 5]
    np.testing.assert_array_equal(np.asarray(out)[:5], [-np.inf, -1, 0, 0, np.inf])
    assert np.signbit(np.asarray(out)[2:4]).tolist() == [False, True]


def test_complex_numbers_are_ordered_by_real_then_imaginary_part() -> None:
    x = np.array([1 + 2j, 1 - 1j, 0 + 5j, complex(np.nan, 0), complex(1, np.nan)])
    _, where = lax.sort((x, np.arange(5)))
    assert where.tolist() == [2, 1, 0, 4, 3]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers()), max_size=8),
    st.integers(1, 3),
)
@settings(max_examples=50)
def test_several_keys_order_as_tuples_do(rows: list[tuple[int, int, int]], num_keys: int) -> None:
    columns = [np.array([r[i] % 5 for r in rows], np.int32) for i in range(3)]
    with config.override(backend="numpy"):
        out = lax.sort(columns, num_keys=num_keys)
    plain = [tuple(int(c[i]) for c in columns) for i in range(len(rows))]
    expected = sorted(plain, key=lambda row: row[:num_keys])
    assert list(zip(*(o.tolist() for o in out), strict=True)) == expected


def test_values_go_with_their_keys() -> None:
    keys, values = np.array([[3, 1, 2], [1, 1, 0]]), np.arange(6.0).reshape(2, 3)
    k, v = lax.sort_key_val(keys, values)
    assert k.tolist() == [[1, 2, 3], [0, 1, 1]]
    assert v.tolist() == [[1.0, 2.0, 0.0], [5.0, 3.0, 4.0]]


@pytest.mark.parametrize("dtype", [*DTYPES, ml_dtypes.bfloat16])
@pytest.mark.parametrize("k", [0, 1, 3, 6])
def test_top_k_is_the_head_of_a_descending_stable_sort(dtype: Any, k: int) -> None:
    x = np.random.default_rng(0).integers(0, 5, (4, 6)).astype(dtype)
    values, where = lax.top_k(x, k)
    order = np.argsort(-x.astype(np.int64), axis=-1, kind="stable")[:, :k]
    assert values.dtype == dtype
    assert where.dtype == np.int32
    np.testing.assert_array_equal(np.asarray(where), order)
    np.testing.assert_array_equal(np.asarray(values), np.take_along_axis(x, order, -1))


def test_top_k_takes_nan_for_the_largest() -> None:
    x = np.array([1.0, np.copysign(np.nan, -1), np.inf, -np.inf, np.nan, -0.0, 0.0], np.float32)
    _, where = lax.top_k(x, 7)
    assert where.tolist() == [1, 4, 2, 0, 6, 5, 3]


def test_top_k_along_another_axis() -> None:
    x = np.random.default_rng(0).normal(size=(3, 5, 4))
    values, where = lax.top_k(x, 2, axis=1)
    expected = np.flip(np.sort(x, 1), 1)[:, :2]
    np.testing.assert_array_equal(np.asarray(values), expected)
    np.testing.assert_array_equal(np.take_along_axis(x, np.asarray(where), 1), expected)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lax.sort(np.ones(3), 1), ShapeError, "sort: dimension=1"),
        (lambda: lax.sort(np.float32(1)), ShapeError, "sort: dimension=-1"),
        (lambda: lax.sort(()), ShapeError, "empty sequence"),
        (lambda: lax.sort((np.ones(3), np.ones(2))), ShapeError, "of one shape"),
        (lambda: lax.sort(np.ones(3), num_keys=2), ShapeError, "num_keys=2"),
        (lambda: lax.top_k(np.ones(3), 4), ShapeError, "top_k: k=4"),
        (lambda: lax.top_k(np.ones(3), -1), ShapeError, "top_k: k=-1"),
        (lambda: lax.top_k(np.ones(3) + 1j, 1), DTypeError, "no order"),
        (lambda: lax.top_k(np.float64(3), 1), ShapeError, "0-d"),
    ],
)
def test_bad_arguments_are_named(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
