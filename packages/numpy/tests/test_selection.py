"""Selection, sorting, sets and histograms against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import axonym_numpy as anp
from axonym_compile import jit
from axonym_core import make_jaxpr
from axonym_core.errors import ConcretizationError, DTypeError, ShapeError
from axonym_numpy.errors import ArgumentError

F32 = np.float32
NAN, INF = np.nan, np.inf
X = np.array([[3.0, 1.0, NAN], [-0.0, INF, 2.0]], F32)


def test_where_agrees_with_numpy(same):
    k = np.array([[True, False, True]])
    same(anp.where(k, X, 0.0), np.where(k, X, 0), dtype=F32)
    same(anp.where(k, X, X[:1]), np.where(k, X, X[:1]))
    same(anp.where(np.array([0, 2, 0]), 1, np.int8(5)), [5, 1, 5], dtype=np.int8)
    same(anp.where(True, X, 0), X)
    same(anp.where(k[0], np.float16(1), X), np.where(k[0], 1, X), dtype=F32)
    same(anp.where(np.zeros((0, 1), bool), X[:, :1].T, 1.0), np.zeros((0, 2)))
    for got, want in zip(anp.where(X > 0), np.where(X > 0), strict=True):
        same(got, want)
    with pytest.raises(ArgumentError, match="both"):
        anp.where(k, X)
    with pytest.raises(ShapeError, match="where"):
        anp.where(k, np.ones(2), 0)
    assert anp.where(k, 1.0, 0.0).weak_type


def test_select_takes_the_first_condition(same):
    x = np.arange(6)
    same(anp.select([x < 2, x < 4], [x, x * 10], -1), np.select([x < 2, x < 4], [x, x * 10], -1))
    with pytest.raises(ArgumentError, match="2 conditions and 1"):
        anp.select([x < 2, x < 4], [x])


def test_take_agrees_with_numpy_within_bounds(same):
    x = np.arange(24).reshape(2, 3, 4)
    for axis in (0, 1, -1, None):
        for index in (np.array([1, 0, -1]), np.array([[0, 1], [1, 0]]), 1, np.zeros((0,), int)):
            same(anp.take(x, index, axis), np.take(x, index, axis))
    same(anp.take(x, np.array([5, -7]), 1, mode="clip"), x[:, [2, 0]])
    same(anp.take(x, np.array([5, -7]), 1, mode="wrap"), np.take(x, [5, -7], 1, mode="wrap"))
    same(anp.take(np.ones(2, F32), np.array([0, 9])), [1, NAN])
    same(anp.take(np.ones(2, F32), np.array([0, 9]), fill_value=-1), [1, -1])
    same(anp.take(x, np.uint8(1), 0), x[1])
    with pytest.raises(DTypeError, match="integers"):
        anp.take(x, 1.0)
    with pytest.raises(ArgumentError, match="mode='raise'"):
        anp.take(x, 1, mode="raise")


def test_along_axis_functions_agree_with_numpy(same):
    x = np.arange(24).reshape(2, 3, 4)
    for axis in (0, 1, 2, -1):
        index = np.argsort(-x, axis)
        same(anp.take_along_axis(x, index, axis), np.take_along_axis(x, index, axis))
        part = np.take(index, [0], axis)
        same(anp.take_along_axis(x, part, axis), np.take_along_axis(x, part, axis))
        want = x.copy()
        np.put_along_axis(want, part, 99, axis)
        same(anp.put_along_axis(x, part, 99, axis), want)
    same(anp.take_along_axis(x, np.array([5, -1]), None), [5, 23])
    narrow = np.array([[[1], [0], [2]]])
    same(anp.take_along_axis(x, narrow, 2), np.take_along_axis(x, narrow, 2))
    same(anp.take_along_axis(np.ones((1, 2), F32), np.array([[7]]), 1), [[NAN]])
    same(anp.take_along_axis(x, np.full((2, 1, 4), 7), 1, mode="clip"), x[:, 2:])
    same(anp.take_along_axis(x[0], np.array([[-1], [0], [1]], np.int8), 1), [[3], [4], [9]])
    same(anp.put_along_axis(x[0], np.array([5]), 7, None), np.where(x[0] == 5, 7, x[0]))
    with pytest.raises(ShapeError, match="number of dimensions"):
        anp.take_along_axis(x, np.array([0]), 0)
    with pytest.raises(ShapeError, match="dimension 0"):
        anp.take_along_axis(x, np.zeros((3, 1, 4), int), 1)
    with pytest.raises(ArgumentError, match="inplace"):
        anp.put_along_axis(x, narrow, 0, 2, inplace=True)


def test_compress_takes_where_a_mask_holds(same):
    x = np.arange(12).reshape(3, 4)
    same(anp.compress(np.array([True, False, True]), x, 0), x[[0, 2]])
    same(anp.compress(np.array([False, True]), x), [1])
    same(anp.compress(np.array([True, False, True]), x, 0, size=3), [*x[[0, 2]], [0] * 4])


@pytest.mark.parametrize("dtype", [F32, np.float16, np.int8, np.uint8, bool, np.complex64])
def test_sorting_agrees_with_numpy(same, dtype):
    x = (np.random.default_rng(0).integers(0, 5, (3, 7)) - (0 if dtype == np.uint8 else 2)).astype(
        dtype
    )
    if dtype in (F32, np.float16):
        x[0, 3], x[1, 0], x[2, 1] = NAN, INF, -INF
    for axis in (0, 1, -1, None):
        same(anp.sort(x, axis), np.sort(x, axis), dtype=dtype)
        same(anp.argsort(x, axis), np.argsort(x, axis, kind="stable"), dtype=np.int32)
    same(anp.sort(x, descending=True), np.sort(x)[:, ::-1])
    best_first = np.asarray(anp.argsort(x, descending=True))
    same(np.take_along_axis(x, best_first, -1), np.sort(x)[:, ::-1])
    same(anp.partition(x, 3), np.sort(x))
    same(anp.argpartition(x, 3), np.argsort(x, kind="stable"))
    same(anp.sort(x[:, :0]), x[:, :0])


def test_descending_positions_keep_the_order_of_equals(same):
    same(anp.argsort(np.array([1, 2, 1, 2, 0]), descending=True), [1, 3, 0, 2, 4])


def test_other_sorts(same):
    keys = (np.array([1, 5, 1, 4, 3]), np.array([9, 4, 0, 4, 0]))
    same(anp.lexsort(keys), np.lexsort(keys))
    same(anp.sort_complex(np.array([3.0, 1.0])), [1, 3], dtype=np.complex128)
    with pytest.raises(ArgumentError, match="kind"):
        anp.sort(X, kind="bogus")
    with pytest.raises(ArgumentError, match="order"):
        anp.sort(X, order="x")
    with pytest.raises(ShapeError, match="kth=9"):
        anp.partition(X, 9)
    with pytest.raises(ShapeError, match="sort"):
        anp.sort(X, 2)


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_agrees_with_numpy(same, side):
    h = np.array([0.0, 1.0, 1.0, 2.5, NAN, NAN], F32)
    q = np.array([[-1.0, 0.0, 1.0], [2.6, INF, NAN]], F32)
    same(anp.searchsorted(h, q, side), np.searchsorted(h, q, side), dtype=np.int32)
    same(anp.searchsorted(h[:0], q, side), np.zeros((2, 3), int))
    for n in range(1, 9):
        edges = np.arange(n) // 2
        same(
            anp.searchsorted(edges, np.arange(-1, n), side),
            np.searchsorted(edges, np.arange(-1, n), side),
        )
    same(anp.searchsorted(h, 1, side), np.searchsorted(h, 1, side))
    order = np.array([2, 0, 1])
    same(anp.searchsorted(h[:3][[1, 2, 0]], q, side, order), np.searchsorted(h[:3], q, side))
    same(jit(lambda v: anp.searchsorted(h, v, side))(q), np.searchsorted(h, q, side))


def test_digitize_agrees_with_numpy(same):
    x = np.array([0.2, 6.4, 3.0, 1.6, -1, 9])
    for bins in (
        np.array([0.0, 1.0, 2.5, 4.0, 9.0]),
        np.array([9.0, 3.0, 1.6, 0.0]),
        np.array([1.0]),
    ):
        for right in (False, True):
            same(anp.digitize(x, bins, right), np.digitize(x, bins, right))


def test_positions_agree_with_numpy(same):
    x = np.array([[0, 1, 0], [2, 0, 3]])
    for got, want in zip(anp.nonzero(x), np.nonzero(x), strict=True):
        same(got, want, dtype=np.int32)
    same(anp.argwhere(x), np.argwhere(x))
    same(anp.flatnonzero(x), np.flatnonzero(x))
    rows, columns = anp.nonzero(x, size=5, fill_value=(-1, 7))
    same(rows, [0, 1, 1, -1, -1])
    same(columns, [1, 0, 2, 7, 7])
    same(anp.nonzero(x, size=2)[1], [1, 0])
    same(anp.nonzero(np.zeros((0, 3)), size=2, fill_value=4)[0], [4, 4])
    same(anp.argwhere(np.float32(3)), np.argwhere(np.float32(3)))
    same(jit(lambda v: anp.flatnonzero(v > 0, size=4, fill_value=6))(x), [1, 3, 5, 6])
    with pytest.raises(ConcretizationError, match=r"nonzero.*size="):
        make_jaxpr(lambda v: anp.nonzero(v))(np.ones(3))
    with pytest.raises(ArgumentError, match="0-d"):
        anp.nonzero(1.0)


def test_unique_agrees_with_numpy(same):
    x = np.array([[3.0, NAN, 1.0], [NAN, 3.0, -0.0]], F32)
    for options in (
        {},
        {"return_index": True},
        {"return_inverse": True, "return_counts": True},
        {"return_index": True, "return_inverse": True, "return_counts": True},
    ):
        got, want = anp.unique(x, **options), np.unique(x, **options)
        for a, b in zip(got, want, strict=True) if options else [(got, want)]:
            same(a, b)
    rows = np.array([[1, 2], [1, 2], [0, 5]])
    same(anp.unique(rows, axis=0), np.unique(rows, axis=0))
    same(anp.unique(x, equal_nan=False), np.unique(x, equal_nan=False))
    same(anp.unique_values(rows), [0, 1, 2, 5])
    same(anp.unique_counts(rows)[1], [1, 2, 2, 1])
    same(anp.unique_inverse(rows)[1], [[1, 2], [1, 2], [0, 3]])
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        got, want = getattr(anp, name)(rows), getattr(np, name)(rows)
        assert got._fields == want._fields
        for field, value in want._asdict().items():
            np.testing.assert_array_equal(getattr(got, field), value)


@pytest.mark.parametrize("size", [0, 2, 4, 7])
def test_unique_of_a_given_size_cuts_and_fills(same, size):
    x = np.array([[3, 1], [3, 7], [1, 0]])
    values, index, inverse, counts = jit(
        lambda v: anp.unique(v, True, True, True, size=size, fill_value=-5)
    )(x)
    want = [0, 1, 3, 7][:size] + [-5] * (size - 4)
    same(values, want)
    same(counts, ([1, 2, 2, 1] + [0] * 3)[:size])
    same(index[: min(size, 4)], [5, 1, 0, 3][:size])
    same(inverse, [[2, 1], [2, 3], [1, 0]])
    nans = anp.unique(np.array([NAN, 1.0, NAN]), size=3, return_counts=True)[1]
    same(nans, [1, 2, 0])


def test_isin_tells_members(same):
    x = np.array([[1.0, 2.0], [NAN, 3.0]])
    tests = np.array([3.0, 1.0, NAN])
    same(anp.isin(x, tests), np.isin(x, tests))
    same(anp.isin(x, tests, invert=True), np.isin(x, tests, invert=True))
    same(anp.isin(x, np.zeros(0)), np.zeros((2, 2), bool))


def test_bincount_agrees_with_numpy(same):
    x = np.array([0, 1, 1, 3], np.int32)
    w = np.array([0.5, 1.0, 2.0, 4.0], F32)
    same(anp.bincount(x), np.bincount(x), dtype=np.int32)
    same(anp.bincount(x, w), np.bincount(x, w), dtype=F32)
    same(anp.bincount(x, minlength=6), np.bincount(x, minlength=6))
    same(anp.bincount(np.zeros((0,), int)), np.zeros(0))
    same(anp.bincount(np.array([200], np.uint8)), np.bincount([200]))
    same(anp.bincount(np.array([True, False, True])), [1, 2])
    same(jit(lambda v: anp.bincount(v, length=2))(np.array([0, 1, 1, 3, -1])), [1, 2])
    with pytest.raises(ArgumentError, match="-1"):
        anp.bincount(np.array([-1]))
    with pytest.raises(ConcretizationError, match="length="):
        make_jaxpr(lambda v: anp.bincount(v))(x)
    with pytest.raises(DTypeError):
        anp.bincount(w)
    with pytest.raises(ShapeError, match="weights"):
        anp.bincount(x, w[:2])


def test_histograms_agree_with_numpy(same):
    x = np.array([1.0, 2.0, 2.0, 3.5, 4.0, 9.0], F32)
    w = np.arange(6, dtype=F32)
    edges = np.array([0.0, 2.0, 4.0, 5.0])
    for options in (
        {},
        {"bins": 3},
        {"bins": 4, "range": (0, 4)},
        {"bins": edges},
        {"bins": 5, "weights": w},
        {"bins": edges, "density": True},
    ):
        for got, want in zip(anp.histogram(x, **options), np.histogram(x, **options), strict=True):
            same(got, want, rtol=1e-5)
    same(anp.histogram_bin_edges(x, 4), np.histogram_bin_edges(x, 4))
    same(anp.histogram(x[:0], 2)[0], [0, 0])
    same(anp.histogram(np.full(3, 5.0), 2)[1], [4.5, 5, 5.5])
    assert jit(lambda v: anp.histogram(v, 3)[0])(x).shape == (3,)
    with pytest.raises(ArgumentError, match="auto"):
        anp.histogram(x, "auto")


def test_interp_agrees_with_numpy(same):
    xp, fp = np.array([1.0, 2.0, 4.0], F32), np.array([3.0, 2.0, 0.0], F32)
    x = np.array([[0.0, 1.0, 1.5], [4.0, 5.0, 3.0]], F32)
    same(anp.interp(x, xp, fp), np.interp(x, xp, fp))
    same(anp.interp(x, xp, fp, left=-1, right=9), np.interp(x, xp, fp, -1, 9))
    same(anp.interp(x, xp, fp, period=3.5), np.interp(x, xp, fp, period=3.5), rtol=1e-5)
    same(anp.interp(x, xp[:1], fp[:1]), np.interp(x, xp[:1], fp[:1]))
    same(anp.interp(x, xp, fp * 1j), np.interp(x, xp, fp * 1j))
    same(anp.interp(2.5, xp, fp), np.interp(2.5, xp, fp))
    with pytest.raises(ShapeError, match="xp"):
        anp.interp(x, xp, fp[:2])


@settings(max_examples=50)
@given(
    hnp.arrays(
        np.int32, hnp.array_shapes(min_dims=1, max_dims=2, max_side=6), elements=st.integers(-4, 4)
    ),
    st.integers(0, 8),
)
def test_positions_of_any_array_agree(x, size):
    want = np.argwhere(x)
    np.testing.assert_array_equal(np.asarray(anp.argwhere(x)), want)
    got = np.asarray(anp.argwhere(x, size=size, fill_value=-9))
    filled = np.full((size, x.ndim), -9)
    filled[: min(size, len(want))] = want[:size]
    np.testing.assert_array_equal(got, filled)


def test_interp_takes_a_number_beside_float64_tables(same):
    xp = np.array([0.0, 1.0, 2.0])
    same(anp.interp(0.25, xp, 3 * xp), np.interp(0.25, xp, 3 * xp))
