"""Compiled reductions give what the NumPy backend gives."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.errors import AxisNameError
from axonym_core.settings import config
from axonym_xla.lowering import lower_jaxpr

FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTEGERS = [np.int8, np.uint16, np.int32, np.uint64]
COMPLEX = [np.complex64, np.complex128]
BITS = [np.bool_, *INTEGERS]
DTYPES = {
    "reduce_sum": INTEGERS + FLOATS + COMPLEX,
    "reduce_prod": INTEGERS + FLOATS + COMPLEX,
    "reduce_max": BITS + FLOATS,
    "reduce_min": BITS + FLOATS,
    "reduce_and": BITS,
    "reduce_or": BITS,
    "argmax": BITS + FLOATS,
    "argmin": BITS + FLOATS,
    "cumsum": INTEGERS + FLOATS + COMPLEX,
    "cumprod": INTEGERS + FLOATS + COMPLEX,
    "cummax": BITS + FLOATS,
    "cummin": BITS + FLOATS,
    "cumlogsumexp": FLOATS,
}


def cases(*names: str) -> list[Any]:
    return [
        pytest.param(name, dtype, id=f"{name}-{np.dtype(dtype).name}")
        for name in names
        for dtype in DTYPES[name]
    ]


def sample(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.integers(0 if np.dtype(dtype).kind in "bu" else -3, 4, shape)
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


@pytest.mark.parametrize(
    ("name", "dtype"),
    cases("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"),
)
@pytest.mark.parametrize("axes", [(), (1,), (0, 1, 2)])
def test_reductions(name: str, dtype: Any, axes: tuple[int, ...]) -> None:
    agree(lambda x: getattr(lax, name)(x, axes), sample((2, 3, 4), dtype))


@pytest.mark.parametrize(
    ("name", "dtype"),
    cases("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"),
)
def test_empty_reductions(name: str, dtype: Any) -> None:
    agree(lambda x: getattr(lax, name)(x, (1,)), np.zeros((2, 0), dtype))


@pytest.mark.parametrize(("name", "dtype"), cases("argmax", "argmin"))
def test_positions_of_extremes(name: str, dtype: Any) -> None:
    agree(lambda x: getattr(lax, name)(x, 1, np.int32), sample((4, 9), dtype))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_nan_is_the_extreme(name: str) -> None:
    x = np.array([[3.0, np.nan, 9.0, np.nan], [np.inf, 4.0, -np.inf, 4.0]], np.float32)
    agree(lambda v: getattr(lax, name)(v, 1, np.uint8), x)
    agree(lambda v: getattr(lax, name)(v, 0, np.int8), np.zeros((128, 1), np.float32))


@pytest.mark.parametrize(
    ("name", "dtype"), cases("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
)
@pytest.mark.parametrize(("axis", "reverse"), [(0, False), (1, True)])
def test_cumulative_operations(name: str, dtype: Any, axis: int, reverse: bool) -> None:
    rtol = {np.float16: 2e-3, ml_dtypes.bfloat16: 2e-2}.get(dtype, 1e-6)
    x = sample((3, 40) if axis == 1 else (5, 3), dtype)
    agree(lambda v: getattr(lax, name)(v, axis, reverse), x, rtol=rtol)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"])
def test_cumulative_operations_of_special_values(name: str) -> None:
    x = np.array([-np.inf, -np.inf, 0.0, np.inf, np.inf, 2.0, np.nan, 1.0], np.float32)
    for part in (x, x[2:6], x[:3], x[:0]):
        agree(lambda v: getattr(lax, name)(v), part, rtol=1e-6)


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min"])
def test_nan_propagates(name: str) -> None:
    x = np.array([[1.0, np.nan, 2.0], [np.inf, 3.0, -np.inf]], np.float32)
    agree(lambda v: getattr(lax, name)(v, (1,)), x)
    agree(lambda v: getattr(lax, name)(v, (0,)), x)


def test_sums_in_sixteen_bits_are_rounded_once() -> None:
    ones = np.ones(5000, ml_dtypes.bfloat16)
    with config.override(backend="xla"):
        assert float(lax.reduce_sum(ones, (0,))) == float(ml_dtypes.bfloat16(5000))


def test_a_named_sum_must_be_mapped_before_it_is_compiled() -> None:
    x = ShapeDtypeStruct((3,), np.float32)
    jaxpr = make_jaxpr(lambda v: lax.reduce_sum(v, (0,), axis_names="i"), axis_env=[("i", 2)])(x)
    with pytest.raises(AxisNameError, match="named axes"):
        lower_jaxpr(jaxpr)
