"""Gather, scatter and dynamic slices mean what loops over index vectors mean."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.errors import AxisNameError, DTypeError, IndexingError, ShapeError
from axonym_core.lax.dynamic_slices import wrap_negative
from axonym_core.settings import config

NDArray = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def loop_gather(
    x: NDArray, indices: NDArray, n: lax.GatherDimensionNumbers, sizes: Any, mode: str, fill: Any
) -> NDArray:
    """One window at a time, by the definition."""
    batch = indices.shape[:-1]
    dropped = (*n.collapsed_slice_dims, *n.operand_batching_dims)
    parts = np.empty((*batch, *[s for d, s in enumerate(sizes) if d not in dropped]), x.dtype)
    for at in itertools.product(*map(range, batch)):
        start = [0] * x.ndim
        for k, d in enumerate(n.start_index_map):
            start[d] = int(indices[(*at, k)])
        for d, b in zip(n.operand_batching_dims, n.start_indices_batching_dims, strict=True):
            start[d] = at[b]
        fits = all(0 <= s <= m - w for s, m, w in zip(start, x.shape, sizes, strict=True))
        if mode == "fill" and not fits:
            parts[at] = fill
            continue
        start = [min(max(s, 0), m - w) for s, m, w in zip(start, x.shape, sizes, strict=True)]
        box = tuple(slice(s, s + w) for s, w in zip(start, sizes, strict=True))
        parts[at] = np.squeeze(x[box], dropped)
    order = [d for d in range(parts.ndim) if d not in n.offset_dims]
    return np.moveaxis(parts, range(parts.ndim), (*order, *n.offset_dims))


def loop_scatter(
    x: NDArray, indices: NDArray, updates: NDArray, n: lax.ScatterDimensionNumbers,
    mode: str, combine: Any,
) -> NDArray:  # fmt: skip
    """One window at a time, by the definition."""
    out = x.copy()
    batch = indices.shape[:-1]
    dropped = (*n.inserted_window_dims, *n.operand_batching_dims)
    windows = [d for d in range(x.ndim) if d not in dropped]
    order = [d for d in range(updates.ndim) if d not in n.update_window_dims]
    updates = updates.transpose(*order, *n.update_window_dims)
    sizes = [1] * x.ndim
    for d, size in zip(windows, updates.shape[len(batch) :], strict=True):
        sizes[d] = size
    for at in itertools.product(*map(range, batch)):
        start = [0] * x.ndim
        for k, d in enumerate(n.scatter_dims_to_operand_dims):
            start[d] = int(indices[(*at, k)])
        for d, b in zip(n.operand_batching_dims, n.scatter_indices_batching_dims, strict=True):
            start[d] = at[b]
        fits = all(0 <= s <= m - w for s, m, w in zip(start, x.shape, sizes, strict=True))
        if mode == "drop" and not fits:
            continue
        start = [min(max(s, 0), m - w) for s, m, w in zip(start, x.shape, sizes, strict=True)]
        box = tuple(slice(s, s + w) for s, w in zip(start, sizes, strict=True))
        out[box] = combine(out[box], updates[at].reshape(sizes))
    return out


# operand shape, indices shape, collapsed dims, index map, offset dims, window, batching dims
CASES = [
    ((5,), (3, 1), (0,), (0,), (), (1,), (), ()),
    ((5, 4), (3, 1), (0,), (0,), (1,), (1, 4), (), ()),
    ((5, 4), (2, 3, 1), (1,), (1,), (0,), (5, 1), (), ()),
    ((5, 4, 3), (3, 2), (0, 2), (2, 0), (0,), (1, 2, 1), (), ()),
    ((5, 4, 3), (6, 2), (1,), (0, 1), (0, 2), (2, 1, 3), (), ()),
    ((5, 4), (1,), (0,), (0,), (0,), (1, 4), (), ()),
    ((5, 4), (2,), (), (1, 0), (0, 1), (2, 3), (), ()),
    ((2, 5, 3), (4, 2, 1), (1,), (1,), (2,), (1, 1, 3), (0,), (1,)),
    ((2, 5, 3), (3, 2, 1), (), (1,), (1,), (1, 2, 1), (0, 2), (1, 0)),
    ((), (3, 0), (), (), (), (), (), ()),
    ((4,), (2, 0), (), (), (0,), (3,), (), ()),
    ((4,), (0, 1), (0,), (0,), (), (1,), (), ()),
]


@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gather_reads_one_window_for_each_index_vector(case: Any, mode: str) -> None:
    shape, ishape, collapsed, index_map, offset, window, batching, ibatching = case
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape).astype(np.float32)
    indices = rng.integers(-2, 7, size=ishape)
    n = lax.GatherDimensionNumbers(offset, collapsed, index_map, batching, ibatching)
    got = lax.gather(x, indices, n, window, mode=mode, fill_value=-1)
    wanted = loop_gather(np.asarray(x), indices, n, window, mode, -1)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(np.asarray(got), wanted)


COMBINES = {
    "scatter": lambda old, new: new,
    "scatter_add": np.add,
    "scatter_mul": np.multiply,
    "scatter_min": np.minimum,
    "scatter_max": np.maximum,
}


@pytest.mark.parametrize("name", COMBINES)
@pytest.mark.parametrize("mode", ["clip", "drop", None])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_scatter_writes_one_window_for_each_index_vector(case: Any, mode: Any, name: str) -> None:
    shape, ishape, inserted, index_map, offset, window, batching, ibatching = case
    rng = np.random.default_rng(1)
    x = np.asarray(rng.normal(size=shape).astype(np.float64))
    indices = rng.integers(-2, 7, size=ishape)
    n = lax.ScatterDimensionNumbers(offset, inserted, index_map, batching, ibatching)
    like = loop_gather(x, indices, lax.GatherDimensionNumbers(*n), window, "clip", 0)
    updates = rng.normal(size=like.shape)
    got = getattr(lax, name)(x, indices, updates, n, mode=mode)
    wanted = loop_scatter(x, indices, updates, n, mode or "drop", COMBINES[name])
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (np.float32, np.nan),
        (ml_dtypes.bfloat16, np.nan),
        (np.int8, -128),
        (np.uint8, 255),
        (np.bool_, True),
    ],
)
def test_fill_without_a_value_is_what_stands_out_most(dtype: Any, value: Any) -> None:
    rows = lax.GatherDimensionNumbers((), (0,), (0,))
    out = lax.gather(np.zeros(2, dtype), np.array([[0], [9]]), rows, (1,), mode="fill")
    assert out.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(np.asarray(out).astype(float), [0, float(value)])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint32, np.uint64, np.int64])
def test_indices_of_any_integer_dtype_clip_without_wrapping_round(dtype: Any) -> None:
    rows = lax.GatherDimensionNumbers((), (0,), (0,))
    x = np.arange(1000.0)
    largest = np.iinfo(dtype).max
    indices = np.array([[3], [largest]], dtype)
    out = lax.gather(x, indices, rows, (1,), mode="clip")
    np.testing.assert_array_equal(np.asarray(out), [3, min(largest, 999)])


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=2), st.integers(0, 4), st.integers(0, 3))
@settings(max_examples=50)
def test_dynamic_slices_move_inside_and_count_negative_starts_from_the_end(
    starts: list[int], rows: int, columns: int
) -> None:
    x = np.arange(12.0).reshape(4, 3)
    sizes = (rows, columns)
    first = [
        min(max(s + n if s < 0 else s, 0), n - w)
        for s, n, w in zip(starts, x.shape, sizes, strict=True)
    ]
    box = tuple(slice(f, f + w) for f, w in zip(first, sizes, strict=True))
    np.testing.assert_array_equal(np.asarray(lax.dynamic_slice(x, starts, sizes)), x[box])
    traced = [lax.full((), s, "int8") for s in starts]
    np.testing.assert_array_equal(np.asarray(lax.dynamic_slice(x, traced, sizes)), x[box])
    wanted = x.copy()
    wanted[box] = -1
    update = np.full(sizes, -1.0)
    np.testing.assert_array_equal(np.asarray(lax.dynamic_update_slice(x, update, traced)), wanted)


def test_dynamic_slices_along_one_dimension() -> None:
    x = np.arange(12.0).reshape(4, 3)
    i = lax.full((), 1, "int32")
    same = np.testing.assert_array_equal
    same(np.asarray(lax.dynamic_slice_in_dim(x, i, 2, axis=1)), x[:, 1:])
    same(np.asarray(lax.dynamic_index_in_dim(x, i, axis=1)), x[:, 1:2])
    same(np.asarray(lax.dynamic_index_in_dim(x, i, axis=-1, keepdims=False)), x[:, 1])
    wanted = x.copy()
    wanted[:, 1:] = 0
    update = np.zeros((4, 2))
    same(np.asarray(lax.dynamic_update_slice_in_dim(x, update, i, 1)), wanted)
    wanted = x.copy()
    wanted[1] = 5
    same(np.asarray(lax.dynamic_update_index_in_dim(x, np.full(3, 5.0), i, 0)), wanted)


def test_start_indices_may_be_one_array() -> None:
    x = np.arange(12.0).reshape(4, 3)
    starts = lax.iota("int32", 2)
    np.testing.assert_array_equal(np.asarray(lax.dynamic_slice(x, starts, (1, 2))), x[:1, 1:])


def test_negative_starts_are_left_alone_on_request() -> None:
    i = lax.full((), -1, "int32")
    out = lax.dynamic_slice(np.arange(4.0), (i,), (2,), allow_negative_indices=False)
    np.testing.assert_array_equal(np.asarray(out), [0, 1])


def test_wrapping_adds_the_size_to_negative_indices_only() -> None:
    assert wrap_negative(-1, 4) == 3
    unsigned = wrap_negative(np.array([250], np.uint8), 300)
    np.testing.assert_array_equal(np.asarray(unsigned), [250])


def test_a_fill_value_of_nan_is_the_default_so_that_equal_programs_are_equal() -> None:
    rows = lax.GatherDimensionNumbers((), (0,), (0,))
    program = make_jaxpr(
        lambda x, i: lax.gather(x, i, rows, (1,), mode="fill", fill_value=float("nan"))
    )(np.zeros(2), np.array([[9]]))
    assert program.eqns[0].params["fill_value"] is None


def test_operands_are_not_written_to() -> None:
    x = np.zeros(3)
    single = lax.ScatterDimensionNumbers((), (0,), (0,))
    lax.scatter(x, np.array([[0]]), np.ones(1), single)
    lax.dynamic_update_slice(x, np.ones(1), (0,))
    assert not x.any()


def test_modes_are_known_by_several_names() -> None:
    from_any = lax.GatherScatterMode.from_any
    assert from_any("fill") is from_any("drop") is lax.GatherScatterMode.FILL_OR_DROP
    with pytest.raises(IndexingError, match="mode='wrap' is not an indexing mode; use one of"):
        from_any("wrap")


ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))
X = np.ones((4, 3), np.float32)
I = np.zeros((2, 1), np.int32)  # noqa: E741  # what it is


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lax.gather(X, I.astype(float), ROWS, (1, 3)), DTypeError, "must be integers"),
        (lambda: lax.gather(X, I, ROWS, (1,)), ShapeError, r"slice_sizes=\(1,\)"),
        (lambda: lax.gather(X, I, ROWS, (2, 3)), ShapeError, r"slice_sizes\[0\]=2 must be 1"),
        (lambda: lax.gather(X, I, ROWS, (1, 4)), ShapeError, r"slice_sizes\[1\]=4"),
        (lambda: lax.gather(X, I, ROWS._replace(offset_dims=()), (1, 3)), ShapeError, "offset"),
        (lambda: lax.gather(X, I, ROWS._replace(start_index_map=(0, 1)), (1, 3)), ShapeError,
         "1 components"),
        (lambda: lax.gather(X, I, ROWS._replace(collapsed_slice_dims=(5,)), (1, 3)), ShapeError,
         "collapsed_slice_dims"),
        (lambda: lax.gather(X, I, "rows", (1, 3)), TypeError, "lax.GatherDimensionNumbers"),
        (lambda: lax.gather(X, I, ROWS, (1, 3), fill_value=lax.full((), 1.0)), TypeError,
         "fill_value must be a Python or NumPy number"),
        (lambda: lax.scatter(X, I, np.ones((2, 4), np.float32),
                             lax.ScatterDimensionNumbers(*ROWS)), ShapeError, "is larger than"),
        (lambda: lax.scatter(X, I, np.ones((3, 3), np.float32),
                             lax.ScatterDimensionNumbers(*ROWS)), ShapeError, "indices of shape"),
        (lambda: lax.scatter(X, I, np.ones((2, 3)), lax.ScatterDimensionNumbers(*ROWS)),
         DTypeError, "must have one dtype"),
        (lambda: lax.scatter_add(X > 0, I, np.ones((2, 3), bool),
                                 lax.ScatterDimensionNumbers(*ROWS)), DTypeError, "numbers"),
        (lambda: lax.scatter_max(X * 1j, I, np.ones((2, 3), np.complex64),
                                 lax.ScatterDimensionNumbers(*ROWS)), DTypeError, "no order"),
        (lambda: lax.dynamic_slice(X, (0,), (1, 1)), ShapeError, "needs 2 start indices"),
        (lambda: lax.dynamic_slice(X, (0, 0), (5, 1)), ShapeError, "size 5 in dimension 0"),
        (lambda: lax.dynamic_slice(X, (0.5, 0), (1, 1)), DTypeError, r"start_indices\[0\]"),
        (lambda: lax.dynamic_update_slice(X, np.ones((1, 1)), (0, 0)), DTypeError, "one dtype"),
        (lambda: lax.scatter_add(X, I, np.ones((2, 3), np.float32),
                                 lax.ScatterDimensionNumbers(*ROWS), axis_names="b"),
         AxisNameError, "'b' is not in scope"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_the_reason(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_scatter_add_over_a_named_axis_does_not_vary_over_it() -> None:
    named = {"b": 4}
    table = ShapeDtypeStruct((5, 3), "float32")
    indices = ShapeDtypeStruct((2, 1), "int32", named_shape=named)
    updates = ShapeDtypeStruct((2, 3), "float32", named_shape=named)
    n = lax.ScatterDimensionNumbers(*ROWS)
    total = make_jaxpr(
        lambda t, i, u: lax.scatter_add(t, i, u, n, axis_names=("b",)), axis_env=[("b", 4)]
    )(table, indices, updates)
    assert not total.out_avals[0].named
    assert total.axes_used == {"b"}
    each = make_jaxpr(lambda t, i, u: lax.scatter_add(t, i, u, n), axis_env=[("b", 4)])(
        table, indices, updates
    )
    assert dict(each.out_avals[0].named_shape) == named
