"""Compiled sorting gives what the NumPy backend gives, to the order of equal elements."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from axonym_core import lax
from axonym_core.settings import config

DTYPES = [
    np.bool_,
    np.int8,
    np.uint32,
    np.int64,
    np.float16,
    ml_dtypes.bfloat16,
    np.float32,
    np.float64,
]
SPECIAL = [np.nan, 0.0, -np.inf, -0.0, np.inf, np.copysign(np.nan, -1), -1.0, 1e-40, -1e-40, 2.0]


def agree(f: Any, *args: Any) -> None:
    with config.override(backend="xla"):
        compiled = f(*args)
    with config.override(backend="numpy"):
        expected = f(*args)
    for got, want in zip(compiled, expected, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        exact = np.complex128 if np.iscomplexobj(np.asarray(want)) else None
        if got.dtype == ml_dtypes.bfloat16:
            exact = np.float64
        np.testing.assert_array_equal(np.asarray(got, exact), np.asarray(want, exact))


@pytest.mark.parametrize("dtype", [*DTYPES, np.complex64, np.complex128])
@pytest.mark.parametrize("dimension", [0, 1])
def test_stable_sorts(dtype: Any, dimension: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, (6, 5)).astype(dtype)
    where = np.arange(30, dtype=np.int32).reshape(6, 5)
    agree(lambda v, i: lax.sort((v, i), dimension), x, where)
    agree(lambda v: [lax.sort(v, dimension)], x)
    agree(lambda v: [lax.sort(v, dimension, is_stable=False)], x)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_sorts_of_special_values(dtype: Any) -> None:
    x = np.array(SPECIAL, dtype)
    agree(lambda v: lax.sort((v, np.arange(10))), x)
    agree(lambda v: [lax.sort(v)], x)
    agree(lambda v: [lax.sort(v, is_stable=False)], x)


def test_sorts_of_complex_special_values() -> None:
    parts = np.array([np.nan, 0.0, -0.0, np.inf, 1.0])
    x = np.array([complex(a, b) for a in parts for b in parts], np.complex64)
    agree(lambda v: lax.sort((np.arange(25), v), num_keys=1), x)
    agree(lambda v: [lax.sort((v, np.arange(25)))[1]], x)


@pytest.mark.parametrize("num_keys", [1, 2, 3])
def test_sorts_with_several_keys(num_keys: int) -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 20)
    b = rng.choice(np.array([0.0, -0.0, np.nan, 1.0], np.float32), 20)
    c = rng.choice(np.array([1j, 1.0, -1j], np.complex64), 20)
    agree(lambda *v: lax.sort(v, num_keys=num_keys), a, b, c, np.arange(20))


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 0), (0, 3)])
def test_sorts_of_nothing(shape: Any) -> None:
    x = np.zeros(shape, np.float32)
    agree(lambda v: [lax.sort(v)], x)
    agree(lambda v: [lax.sort(v, is_stable=False)], x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [0, 1, 4, 9])
def test_top_k(dtype: Any, k: int) -> None:
    x = np.random.default_rng(0).integers(0, 5, (3, 9)).astype(dtype)
    agree(lambda v: lax.top_k(v, k), x)
    agree(lambda v: lax.top_k(v, min(k, 3), axis=0), x)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_top_k_of_special_values(dtype: Any) -> None:
    agree(lambda v: lax.top_k(v, 10), np.array(SPECIAL, dtype))


def test_top_k_of_extreme_integers() -> None:
    for dtype in (np.int32, np.uint32, np.int64, np.uint64, np.int16, np.uint8):
        info = np.iinfo(dtype)
        x = np.array([info.min, info.max, 0, info.max - 1, info.min + 1, 1], dtype)
        agree(lambda v: lax.top_k(v, 6), x)
