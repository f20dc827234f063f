"""Reductions and cumulative operations evaluate as NumPy's do, and refuse what makes no sense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.errors import AxisNameError, DTypeError, ShapeError
from axonym_core.settings import config


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


NUMERIC = [np.int8, np.uint16, np.int64, np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]
REDUCTIONS = {
    "reduce_sum": (np.add, NUMERIC + COMPLEX),
    "reduce_prod": (np.multiply, NUMERIC + COMPLEX),
    "reduce_max": (np.maximum, [*NUMERIC, np.bool_]),
    "reduce_min": (np.minimum, [*NUMERIC, np.bool_]),
    "reduce_and": (np.bitwise_and, [np.bool_, np.int8, np.uint16, np.int64]),
    "reduce_or": (np.bitwise_or, [np.bool_, np.int8, np.uint16, np.int64]),
}
CUMULATIVE = {
    "cumsum": (np.add, NUMERIC + COMPLEX),
    "cumprod": (np.multiply, NUMERIC + COMPLEX),
    "cummax": (np.maximum, [*NUMERIC, np.bool_]),
    "cummin": (np.minimum, [*NUMERIC, np.bool_]),
    "cumlogsumexp": (np.logaddexp, [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]),
}


def sample(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(len(shape) + 7)
    x = (
        rng.integers(-3, 4, shape)
        if np.dtype(dtype).kind not in "ub"
        else rng.integers(0, 3, shape)
    )
    if np.dtype(dtype).kind == "c":
        return (x + 1j * rng.integers(-3, 4, shape)).astype(dtype)
    return x.astype(dtype)


def wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x.astype(np.float64) if x.dtype in (np.float16, ml_dtypes.bfloat16, np.float32) else x


def by_name(table: dict[str, Any]) -> list[Any]:
    return [
        pytest.param(name, ufunc, dtype, id=f"{name}-{np.dtype(dtype).name}")
        for name, (ufunc, dtypes) in table.items()
        for dtype in dtypes
    ]


@pytest.mark.parametrize(("name", "ufunc", "dtype"), by_name(REDUCTIONS))
@pytest.mark.parametrize("axes", [(), (0,), (1, 2), (-1, 0), (0, 1, 2)])
def test_reduces_as_the_ufunc_does(
    name: str, ufunc: np.ufunc, dtype: Any, axes: tuple[int, ...]
) -> None:
    x = sample((2, 3, 4), dtype)
    out = getattr(lax, name)(x, axes)
    expected = wide(x)
    for axis in sorted((a % 3 for a in axes), reverse=True):
        expected = ufunc.reduce(expected, axis=axis, dtype=expected.dtype)
    assert out.dtype == dtype
    np.testing.assert_array_equal(wide(np.asarray(out)), wide(expected.astype(dtype)))


@pytest.mark.parametrize(("name", "ufunc", "dtype"), by_name(CUMULATIVE))
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumulates_as_the_ufunc_does(
    name: str, ufunc: np.ufunc, dtype: Any, axis: int, reverse: bool
) -> None:
    x = sample((3, 4), dtype)
    out = getattr(lax, name)(x, axis, reverse)
    flipped = np.flip(wide(x), axis) if reverse else wide(x)
    expected = ufunc.accumulate(flipped, axis=axis, dtype=flipped.dtype)
    expected = (np.flip(expected, axis) if reverse else expected).astype(dtype)
    assert out.dtype == dtype
    rtol = 1e-6 if name == "cumlogsumexp" else 0
    np.testing.assert_allclose(wide(np.asarray(out)), wide(expected), rtol=rtol)


@pytest.mark.parametrize(
    ("name", "dtype", "identity"),
    [
        ("reduce_sum", np.float32, 0),
        ("reduce_prod", np.int32, 1),
        ("reduce_max", np.float32, -np.inf),
        ("reduce_max", ml_dtypes.bfloat16, -np.inf),
        ("reduce_max", np.int8, -128),
        ("reduce_max", np.bool_, False),
        ("reduce_max", ml_dtypes.float8_e4m3fn, -448),
        ("reduce_min", np.float64, np.inf),
        ("reduce_min", np.uint8, 255),
        ("reduce_and", np.bool_, True),
        ("reduce_and", np.uint8, 255),
        ("reduce_or", np.bool_, False),
    ],
)
def test_an_empty_reduction_gives_the_identity(name: str, dtype: Any, identity: Any) -> None:
    out = np.asarray(getattr(lax, name)(np.zeros((2, 0), dtype), (1,)))
    assert out.dtype == dtype
    assert out.astype(np.float64).tolist() == [identity, identity]


def test_sums_in_sixteen_bits_are_rounded_once() -> None:
    ones = np.ones(5000, ml_dtypes.bfloat16)
    assert float(lax.reduce_sum(ones, (0,))) == float(ml_dtypes.bfloat16(5000))
    assert float(lax.cumsum(ones)[-1]) == float(ml_dtypes.bfloat16(5000))


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min"])
def test_nan_propagates(name: str) -> None:
    out = getattr(lax, name)(np.array([[1.0, np.nan, 2.0], [1.0, 3.0, 2.0]]), (1,))
    assert np.isnan(np.asarray(out)).tolist() == [True, False]


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_cumulative_extremes_are_nan_from_a_nan_on(name: str) -> None:
    out = getattr(lax, name)(np.array([1.0, np.nan, 2.0]))
    assert np.isnan(np.asarray(out)).tolist() == [False, True, True]


def test_cumlogsumexp_of_infinities() -> None:
    x = np.array([-np.inf, -np.inf, 0.0, np.inf, np.inf], np.float32)
    assert lax.cumlogsumexp(x).tolist() == [-np.inf, -np.inf, 0.0, np.inf, np.inf]


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4])
def test_four_bit_integers_are_reduced_and_wrap(dtype: Any) -> None:
    x = np.array([1, 7, 3, 7, 5]).astype(dtype)
    wide = x.astype(np.int64)
    for name, ufunc in (("sum", np.add), ("prod", np.multiply), ("max", np.maximum)):
        reduced = getattr(lax, f"reduce_{name}")(x, (0,))
        running = getattr(lax, f"cum{name}")(x)
        assert (reduced.dtype, running.dtype) == (x.dtype, x.dtype)
        assert int(reduced) == int(ufunc.reduce(wide).astype(dtype))
        expected = ufunc.accumulate(wide).astype(dtype).astype(int)
        np.testing.assert_array_equal(np.asarray(running).astype(int), expected)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", [*NUMERIC, np.bool_])
@pytest.mark.parametrize("axis", [0, -1])
def test_positions_of_extremes_are_numpys(name: str, dtype: Any, axis: int) -> None:
    x = sample((5, 6), dtype)
    out = getattr(lax, name)(x, axis, np.int32)
    assert out.dtype == np.int32
    np.testing.assert_array_equal(np.asarray(out), getattr(np, name)(wide(x), axis))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_nan_is_the_extreme(name: str) -> None:
    x = np.array([[3.0, np.nan, 9.0, np.nan], [4.0, 4.0, 4.0, 4.0]])
    assert getattr(lax, name)(x, 1, np.uint8).tolist() == [1, 0]


def test_operands_are_left_alone() -> None:
    x = np.asfortranarray(np.arange(12.0).reshape(3, 4))[::-1, ::-2]
    before = x.copy()
    for name in ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min"):
        getattr(lax, name)(x, (0,))
    for name in CUMULATIVE:
        getattr(lax, name)(x, 1, True)
    np.testing.assert_array_equal(x, before)


@given(
    shape=st.lists(st.integers(0, 3), min_size=1, max_size=4),
    data=st.data(),
)
@settings(max_examples=50)
def test_sums_over_any_dimensions_are_numpys(shape: list[int], data: st.DataObject) -> None:
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True))
    x = np.random.default_rng(0).normal(size=shape)
    with config.override(backend="numpy"):
        out = lax.reduce_sum(x, axes)
    np.testing.assert_allclose(np.asarray(out), x.sum(tuple(axes)), rtol=1e-12, atol=1e-12)


def test_weak_numbers_stay_weak() -> None:
    assert lax.reduce_sum(2.0, ()).weak_type
    assert not lax.reduce_sum(np.float32(2.0), ()).weak_type


def test_a_named_sum_no_longer_varies() -> None:
    x = ShapeDtypeStruct((3,), np.float32, named_shape={"i": 4, "j": 2})
    jaxpr = make_jaxpr(
        lambda v: lax.reduce_sum(v, (0,), axis_names="i"), axis_env=[("i", 4), ("j", 2)]
    )(x)
    assert str(jaxpr.out_avals[0]) == "f32[;j:2]"
    assert "i" in jaxpr.axes_used


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: lax.reduce_sum(x, (2,)), ShapeError, "reduce_sum: axes"),
        (lambda x: lax.reduce_max(x, (0, -2)), ShapeError, "names a dimension twice"),
        (lambda x: lax.cumsum(x, 5), ShapeError, "cumsum: axis=5"),
        (lambda x: lax.argmax(x, 3, np.int32), ShapeError, "argmax: axis=3"),
        (lambda x: lax.argmax(x, 0, np.float32), DTypeError, "index_dtype=float32"),
        (lambda x: lax.reduce_sum(x > 0, (0,)), DTypeError, "reduce_sum: operand is bool"),
        (lambda x: lax.reduce_or(x, (0,)), DTypeError, "reduce_or: operand is float64"),
        (lambda x: lax.reduce_max(x + 1j, (0,)), DTypeError, "no order"),
        (lambda x: lax.cumlogsumexp(x.astype(int)), DTypeError, "cumlogsumexp: operand is int64"),
        (lambda x: lax.argmin(x[:0], 0, np.int32), ShapeError, "argmin: dimension 0 .* is empty"),
        (
            lambda x: lax.argmax(np.zeros(300), 0, np.int8),
            DTypeError,
            "cannot count 300 elements",
        ),
        (lambda x: lax.reduce_sum(x, (0,), axis_names="i"), AxisNameError, "'i' is not in scope"),
    ],
)
def test_bad_arguments_are_named(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(np.ones((2, 3)))
