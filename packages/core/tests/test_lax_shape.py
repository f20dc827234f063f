"""Functions that move elements give what NumPy gives, and refuse what does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.arrays import as_concrete
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.settings import config

DTYPES = [np.bool_, np.int8, np.uint64, np.float16, ml_dtypes.bfloat16, np.float32, np.complex64]


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def numbers(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


def same(got: Any, wanted: np.ndarray[Any, Any]) -> None:
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    np.testing.assert_array_equal(np.asarray(got), wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_function_keeps_dtype_and_moves_elements_as_numpy(dtype: Any) -> None:
    x = numbers((2, 3, 4), dtype)
    same(lax.transpose(x, (2, 0, 1)), x.transpose(2, 0, 1))
    same(lax.reshape(x, (4, 6)), x.reshape(4, 6))
    same(lax.rev(x, (0, -1)), x[::-1, :, ::-1])
    same(lax.slice(x, (0, 1, 1), (2, 3, 4), (1, 2, 2)), x[0:2, 1:3:2, 1:4:2])
    same(lax.slice_in_dim(x, -2, None, axis=-1), x[..., -2:])
    same(lax.index_in_dim(x, -1, 1, keepdims=False), x[:, -1])
    same(lax.concatenate([x, x[:, :1]], 1), np.concatenate([x, x[:, :1]], 1))
    same(lax.expand_dims(x, (0, -1)), x[None, ..., None])
    same(lax.squeeze(x[:, :1], (-2,)), x[:, 0])
    same(lax.collapse(x, 1), x.reshape(2, 12))
    same(lax.broadcast(x, (5,)), np.broadcast_to(x, (5, 2, 3, 4)))
    same(lax.broadcast_in_dim(x, (2, 5, 3, 4), (0, 2, 3)), np.repeat(x[:, None], 5, 1))
    first, second = lax.split(x, (1, 2), 1)
    same(first, x[:, :1])
    same(second, x[:, 1:])
    (y, z) = lax.optimization_barrier((x, x[0]))
    same(y, x)
    same(z, x[0])


@given(
    st.integers(0, 5),
    st.integers(-4, 4),
    st.integers(-4, 4),
    st.integers(0, 3),
)
@settings(max_examples=50)
def test_pad_is_padding_between_then_around(n: int, low: int, high: int, interior: int) -> None:
    x = numbers((n,)) + 1
    between = np.zeros((max(n + (n - 1) * interior, 0),), np.float32)
    between[:: interior + 1] = x
    padded = np.concatenate([np.zeros(max(low, 0)), between, np.zeros(max(high, 0))])
    total = len(between) + low + high
    if total < 0:
        with pytest.raises(ShapeError, match="removes more than there is"):
            lax.pad(x, 0.0, [(low, high, interior)])
        return
    wanted = padded[max(-low, 0) : max(-low, 0) + total].astype(np.float32)
    same(lax.pad(x, 0.0, [(low, high, interior)]), wanted)


def test_pad_takes_the_value_of_a_traced_or_typed_scalar() -> None:
    same(lax.pad(numbers((2,), np.int8), np.int8(7), [(1, 0, 0)]), np.array([7, 0, 1], np.int8))
    with pytest.raises(DTypeError, match=r"lax\.pad"):
        lax.pad(numbers((2,), np.int8), 0.5, [(1, 0, 0)])


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, ml_dtypes.bfloat16, np.complex64])
def test_iota_counts_along_one_dimension(dtype: Any) -> None:
    same(lax.iota(dtype, 4), np.arange(4).astype(dtype))
    wanted = np.broadcast_to(np.arange(3)[:, None], (2, 3, 4)).astype(dtype)
    same(lax.broadcasted_iota(dtype, (2, 3, 4), 1), wanted)


def test_full_honours_the_dtype_and_is_weak_without_one() -> None:
    same(lax.full((2, 3), 1, "int8"), np.ones((2, 3), np.int8))
    same(lax.full((), 1.5, ml_dtypes.bfloat16), np.asarray(1.5, ml_dtypes.bfloat16))
    same(lax.full((0, 2), np.nan, np.float64), np.full((0, 2), np.nan))
    same(lax.full(3, np.array(2.0)), np.full(3, 2.0))
    same(lax.full(3, np.float64(2)), np.full(3, 2.0, np.float32))
    same(lax.full((2,), as_concrete(np.float64(2.7)), "int32"), np.array([2, 2], np.int32))
    assert lax.full((2,), 1.0).weak_type
    assert not lax.full((2,), 1.0, "float32").weak_type
    with pytest.raises(DTypeError, match="does not fit"):
        lax.full((2,), 300, "int8")
    with pytest.raises(ShapeError, match="must be a scalar"):
        lax.full((2,), np.ones(2))


def test_full_like_copies_shape_dtype_and_weakness() -> None:
    x = lax.full((2,), 1.0)
    assert lax.full_like(x, 3).weak_type
    same(lax.full_like(x, 3), np.array([3, 3], np.float32))
    same(lax.full_like(x, 3, "int8", (1,)), np.array([3], np.int8))
    same(lax.zeros_like_array(numbers((2,), np.uint16)), np.zeros(2, np.uint16))


def test_nothing_is_done_where_nothing_changes() -> None:
    x = as_concrete(numbers((2, 3)))
    assert lax.reshape(x, (2, 3)) is x
    assert lax.transpose(x, (0, 1)) is x
    assert lax.squeeze(x, ()) is x
    assert lax.expand_dims(x, ()) is x
    assert lax.rev(x, ()) is x
    assert lax.slice(x, (0, 0), (2, 3)) is x
    assert lax.broadcast_in_dim(x, (2, 3), (0, 1)) is x
    assert lax.pad(x, 0.0, [(0, 0, 0)] * 2) is x
    assert lax.concatenate([x], 0) is x


def test_arrays_without_elements_and_without_dimensions() -> None:
    empty = numbers((0, 3))
    same(lax.transpose(empty, (1, 0)), empty.T)
    same(lax.reshape(empty, (3, 0, 2)), empty.reshape(3, 0, 2))
    same(lax.pad(empty, 1.0, [(1, 1, 2), (0, 0, 0)]), np.ones((2, 3), np.float32))
    same(lax.concatenate([empty, empty], 0), empty)
    same(lax.broadcast_in_dim(np.ones((1,), np.float32), (0,), (0,)), np.ones((0,), np.float32))
    scalar = np.float32(3)
    same(lax.reshape(scalar, (1, 1)), np.full((1, 1), scalar))
    same(lax.transpose(scalar, ()), np.asarray(scalar))
    same(lax.pad(scalar, 0.0, ()), np.asarray(scalar))
    assert lax.split(empty, (), 0) == []


def test_views_of_arrays_with_negative_strides() -> None:
    x = numbers((4, 4))[::-1, ::2]
    same(lax.rev(x, (0,)), x[::-1])
    same(lax.reshape(x, (8,)), x.reshape(8))


def test_results_do_not_share_memory_with_a_writable_operand() -> None:
    x = numbers((4,))
    y = lax.broadcast_in_dim(x, (2, 4), (1,))
    z = lax.transpose(x, (0,))
    x[0] = 99
    assert np.asarray(y)[0, 0] == 0
    assert np.asarray(z)[0] == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: lax.reshape(x, (5,)), r"reshape: new_sizes=\(5,\) has 5 elements.*has 6"),
        (lambda x: lax.reshape(x, (-1,)), "negative dimension"),
        (lambda x: lax.transpose(x, (0, 0)), "is not a permutation"),
        (lambda x: lax.squeeze(x, (0,)), r"dimension 0 of size 2"),
        (lambda x: lax.squeeze(x, (2,)), "squeeze: dimensions=2 is not a dimension"),
        (lambda x: lax.expand_dims(x, (0, 0)), "names a dimension twice"),
        (lambda x: lax.rev(x, (3,)), "rev: dimensions=3 is not a dimension"),
        (lambda x: lax.slice(x, (0, 0), (2, 4)), r"limit_indices\[1\]=4"),
        (lambda x: lax.slice(x, (0,), (2,)), "slice: start_indices"),
        (lambda x: lax.slice(x, (0, 0), (2, 3), (1, 0)), r"strides\[1\]=0 must be 1 or more"),
        (lambda x: lax.concatenate([], 0), "operands is empty"),
        (lambda x: lax.concatenate([x, x[:1]], 1), "only that one may differ"),
        (lambda x: lax.split(x, (1, 2), 0), "add up to 3"),
        (lambda x: lax.pad(x, 0.0, [(0, 0, 0)]), "padding_config"),
        (lambda x: lax.pad(x, 0.0, [(0, 0, -1), (0, 0, 0)]), "negative interior"),
        (lambda x: lax.broadcast_in_dim(x, (2, 4), (0, 1)), "only dimensions of size 1"),
        (lambda x: lax.broadcast_in_dim(x, (3, 2), (1, 0)), "must increase"),
        (lambda x: lax.index_in_dim(x, 2), "out of bounds"),
        (lambda x: lax.collapse(x, 2), "select no dimension"),
        (lambda x: lax.broadcast_shapes((2,), (3,)), "do not broadcast together"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(call: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        call(numbers((2, 3)))


def test_dtypes_are_not_promoted() -> None:
    with pytest.raises(DTypeError, match="concatenate: the operands have different dtypes"):
        lax.concatenate([numbers((2,)), numbers((2,), np.int8)], 0)
    with pytest.raises(DTypeError, match="iota"):
        lax.iota(bool, 3)


def test_sizes_must_be_integers() -> None:
    with pytest.raises(TypeError, match=r"reshape: new_sizes=\(2\.0, 3\) must hold integers"):
        lax.reshape(numbers((2, 3)), (2.0, 3))
    with pytest.raises(TypeError, match="Shapes and list indices must be known"):
        make_jaxpr(lambda n: lax.full((n,), 0))(3)


def test_results_vary_over_the_axes_of_all_operands() -> None:
    batch = {"b": 4}
    x = ShapeDtypeStruct((2,), "float32", named_shape=batch)
    y = ShapeDtypeStruct((2,), "float32")
    out = make_jaxpr(
        lambda x, y: (lax.concatenate([x, y], 0), lax.reshape(y, (1, 2))), axis_env=[("b", 4)]
    )(x, y)
    assert [dict(a.named_shape) for a in out.out_avals] == [batch, {}]
    barrier = make_jaxpr(lambda *xs: lax.optimization_barrier(xs), axis_env=[("b", 4)])(x, y)
    assert [dict(a.named_shape) for a in barrier.out_avals] == [batch, {}]
