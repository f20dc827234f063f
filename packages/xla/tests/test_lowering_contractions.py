"""Compiled products give what the NumPy backend gives."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from axonym_core import lax
from axonym_core.settings import config

CASES = [
    ((3, 4), (4, 5), (((1,), (0,)), ((), ()))),
    ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
    ((4, 3, 2, 6), (6, 2, 5, 4), (((0, 3), (3, 0)), ((2,), (1,)))),
    ((3,), (3,), (((0,), (0,)), ((), ()))),
    ((3,), (2,), (((), ()), ((), ()))),
    ((5, 2, 3), (2, 5, 4), (((1,), (0,)), ((0,), (1,)))),
    ((2, 0), (0, 3), (((1,), (0,)), ((), ()))),
    ((0, 2), (2, 3), (((1,), (0,)), ((), ()))),
]
DTYPES = [
    np.bool_,
    np.int8,
    np.uint32,
    np.int64,
    np.float16,
    ml_dtypes.bfloat16,
    np.float32,
    np.float64,
    np.complex64,
    np.complex128,
]


def sample(shape: Any, dtype: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.integers(0 if np.dtype(dtype).kind in "bu" else -3, 3, shape)
    return (x + 1j * rng.integers(-2, 3, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def agree(f: Any, *args: Any, rtol: float = 0) -> None:
    with config.override(backend="xla"):
        compiled = f(*args)
    with config.override(backend="numpy"):
        expected = f(*args)
    assert (compiled.dtype, compiled.shape) == (expected.dtype, expected.shape)
    kind = np.complex128 if np.iscomplexobj(np.asarray(expected)) else np.float64
    np.testing.assert_allclose(
        np.asarray(compiled).astype(kind), np.asarray(expected).astype(kind), rtol=rtol
    )


@pytest.mark.parametrize(("lhs_shape", "rhs_shape", "numbers"), CASES)
def test_dot_general_of_any_dimensions(lhs_shape: Any, rhs_shape: Any, numbers: Any) -> None:
    lhs, rhs = sample(lhs_shape, np.float32, 0), sample(rhs_shape, np.float32, 1)
    agree(lambda a, b: lax.dot_general(a, b, numbers), lhs, rhs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dot_general_of_any_dtype(dtype: Any) -> None:
    a, b = sample((2, 3, 4), dtype, 0), sample((2, 4, 5), dtype, 1)
    agree(lax.batch_matmul, a, b)


@pytest.mark.parametrize(
    ("dtype", "preferred"),
    [
        (np.int8, np.int32),
        (np.uint8, np.uint32),
        (np.int8, np.float32),
        (np.int32, np.float32),
        (np.float16, np.float32),
        (ml_dtypes.bfloat16, np.float32),
        (np.float32, np.float16),
        (np.float32, np.float64),
        (np.float64, ml_dtypes.bfloat16),
        (np.complex64, np.complex128),
    ],
)
def test_preferred_element_types(dtype: Any, preferred: Any) -> None:
    a, b = sample((3, 4), dtype, 0), sample((4, 5), dtype, 1)
    agree(lambda x, y: lax.dot(x, y, preferred_element_type=preferred), a, b)


def test_wide_results_of_narrow_integers_do_not_wrap() -> None:
    x = np.full(3, 100, np.int8)
    agree(lambda v: lax.dot(v, v, preferred_element_type=np.int32), x)
    agree(lambda v: lax.dot(v, v), x)


def test_products_of_sixteen_bits_are_accumulated_in_32() -> None:
    x = np.ones(4000, ml_dtypes.bfloat16)
    agree(lax.dot, x, x)


@pytest.mark.parametrize("precision", ["default", "high", ("highest", None)])
def test_precisions(precision: Any) -> None:
    x = sample((3, 3), np.float32, 0)
    agree(lambda v: lax.dot(v, v, precision=precision), x)
