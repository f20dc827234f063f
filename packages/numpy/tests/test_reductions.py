"""Reductions against NumPy over edge inputs, and their errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import axonym_numpy as anp
from axonym_core.errors import AxisNameError, DTypeError, ShapeError
from axonym_numpy.errors import ArgumentError

F32 = np.float32
NAN, INF = np.nan, np.inf
CASES = {
    "matrix": np.array([[1.0, -2.5, 3.0], [4.0, 0.5, -6.0]], F32),
    "special": np.array([[NAN, INF, -INF], [0.0, -0.0, 1.0]], F32),
    "empty_rows": np.zeros((0, 3), F32),
    "empty_columns": np.zeros((3, 0), F32),
    "scalar": np.array(2.5, F32),
    "int8": np.array([[100, 100, -128], [1, 0, 7]], np.int8),
    "uint8": np.array([[200, 100, 0], [1, 2, 255]], np.uint8),
    "bool": np.array([[True, False, True], [False, False, False]]),
    "half": np.array([[1.0, 2.0, 3.0], [60000.0, 60000.0, 1.0]], np.float16),
    "double": np.array([[1e200, 1.0, -1e200], [0.1, 0.2, 0.3]]),
    "complex": np.array([[1 + 2j, -1j, 3], [0, 1, 2]], np.complex64),
    "reversed": np.arange(24, dtype=F32).reshape(2, 3, 4)[::-1, :, ::-2],
}
AXES = [None, 0, -1, (0, 1), ()]


def dtype_of_sum(dtype):
    if dtype == np.bool_ or (dtype.kind == "i" and dtype.itemsize < 4):
        return np.int32
    return np.uint32 if dtype.kind == "u" and dtype.itemsize < 4 else dtype


def axes_of(x):
    return [a for a in AXES if a is None or max(np.atleast_1d(a), default=-1) < x.ndim > 0] or [
        None
    ]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of means of nothing
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "any", "all"])
def test_reductions_agree_with_numpy(same, name, case):
    x = CASES[case]
    for axis in axes_of(x):
        for keepdims in (False, True):
            options = {}
            if name in ("sum", "prod"):
                options = {"dtype": dtype_of_sum(x.dtype)}
            wide = x.astype(F32) if x.dtype == np.float16 and name in ("mean", "var", "std") else x
            if name in ("mean", "var", "std") and x.dtype.kind in "biu":
                wide = x.astype(np.float64)
            with np.errstate(all="ignore"):
                want = getattr(np, name)(wide, axis=axis, keepdims=keepdims, **options)
                want = np.asarray(want)
                if x.dtype == np.float16 and name in ("mean", "var", "std", "sum", "prod"):
                    if name in ("sum", "prod"):
                        want = getattr(np, name)(x.astype(F32), axis=axis, keepdims=keepdims)
                    want = want.astype(np.float16)
            got = getattr(anp, name)(x, axis, keepdims=keepdims)
            same(got, want, rtol=2e-3 if x.dtype == np.float16 else 5e-6)
            if name in ("mean", "var", "std") and x.dtype.kind in "biu":
                assert got.dtype == F32
            elif name in ("sum", "prod"):
                assert got.dtype == dtype_of_sum(x.dtype)


@pytest.mark.parametrize("case", [c for c in CASES if c != "complex"])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "ptp"])
def test_extrema_agree_with_numpy(same, name, case):
    x = CASES[case]
    if name == "ptp" and x.dtype.kind == "b":
        return  # truth values have no difference
    for axis in axes_of(x):
        if name.startswith("arg") and isinstance(axis, tuple):
            continue
        empty = x.size == 0
        with np.errstate(all="ignore"):
            try:
                want = getattr(np, name)(x, axis=axis)
            except ValueError:
                with pytest.raises(ShapeError, match=f"{'max|min' if name == 'ptp' else name}"):
                    getattr(anp, name)(x, axis)
                assert empty
                continue
        got = getattr(anp, name)(x, axis)
        same(got, want)
        if name.startswith("arg"):
            assert got.dtype == np.int32
            same(
                getattr(anp, name)(x, axis, keepdims=True),
                getattr(np, name)(x, axis=axis, keepdims=True),
            )
        else:
            assert got.dtype == x.dtype


def test_where_and_initial_agree_with_numpy(same):
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], F32)
    k = np.array([[True, False, True], [False, False, True]])
    same(anp.sum(x, axis=1, where=k), [4, 6])
    same(anp.sum(x, axis=1, where=k, initial=10), [14, 16])
    same(anp.prod(x, axis=0, where=k), np.prod(x, axis=0, where=k))
    same(anp.mean(x, axis=1, where=k), [2, 6])
    same(anp.max(x, axis=1, where=k, initial=-9.0), [3, 6])
    same(anp.min(x, where=np.array([False, True, False]), initial=3.5), 2)
    same(anp.var(x, axis=1, where=k), [1, 0])
    same(anp.std(x, where=k, ddof=1), np.std(x, where=k, ddof=1))
    same(anp.any(x > 4, axis=1, where=k), [False, True])
    same(anp.all(x > 4, axis=1, where=k), [False, True])
    same(anp.max(np.zeros((0,), F32), initial=3.0), 3)
    same(anp.sum(x, where=False), 0)
    same(anp.mean(x, where=np.zeros(3, bool)), NAN)
    same(anp.sum(x, where=k[:, :1]), np.sum(x, where=k[:, :1]))
    with pytest.raises(ShapeError, match="where"):
        anp.sum(x, where=np.ones(2, bool))
    with pytest.raises(TypeError, match="truth values"):
        anp.sum(x, where=np.ones(3))
    with pytest.raises(TypeError, match="initial"):
        anp.max(x, where=k)


def test_the_dtype_argument_says_where_sums_are_made():
    x = np.full(3, 200, np.uint8)
    assert anp.sum(x, dtype="uint8").tolist() == 600 % 256
    assert anp.sum(x, dtype=float).dtype == F32
    assert anp.mean(x, dtype="float64").dtype == np.float64
    assert anp.prod(np.float16(2), dtype="float64").dtype == np.float64
    assert anp.sum(np.ones(2), dtype="bfloat16").dtype == anp.bfloat16


def test_means_of_halves_do_not_overflow(same):
    x = np.full(100, 60000.0, np.float16)
    same(anp.mean(x), 60000.0, dtype=np.float16)
    assert anp.mean(anp.full((1000,), 3.0, "bfloat16")).dtype == anp.bfloat16


def test_bad_axes_are_refused_by_name():
    x = np.ones((2, 3), F32)
    with pytest.raises(ShapeError, match=r"sum: axis=2 is not a dimension.*f32\[2,3\]"):
        anp.sum(x, 2)
    with pytest.raises(ShapeError, match="twice"):
        anp.sum(x, (0, -2))
    with pytest.raises(AxisNameError, match="'batch' is not in scope"):
        anp.sum(x, (0, "batch"))
    with pytest.raises(TypeError, match="truth value"):
        anp.sum(x, True)
    with pytest.raises(TypeError, match=r"slice|dict"):
        anp.sum(x, {})
    with pytest.raises(ShapeError, match="several"):
        anp.argmax(x, (0, 1))
    with pytest.raises(ShapeError, match="no dimensions"):
        anp.sum(np.float32(1), 0)
    with pytest.raises(DTypeError, match="complex"):
        anp.max(np.ones(1, np.complex64))
    same_as_list = anp.sum(x, [0, 1])
    assert same_as_list.shape == ()
    assert anp.sum(x, np.int64(1)).shape == (2,)


def test_count_nonzero_counts(same):
    x = np.array([[0, 1, 2], [0, 0, 5]])
    same(anp.count_nonzero(x), 3, dtype=np.int32)
    same(anp.count_nonzero(x, axis=1, keepdims=True), [[2], [1]])
    same(anp.count_nonzero(np.array([NAN, 0.0])), 1)


NAN_CASES = {
    "some": np.array([[NAN, 2.0, 4.0], [9.0, NAN, -1.0]], F32),
    "row": np.array([[NAN, NAN], [1.0, INF]], F32),
    "infinite": np.array([[NAN, -INF], [-INF, -INF]], F32),
    "none": np.array([[1.0, 2.0], [3.0, 4.0]], F32),
    "integers": np.array([[1, 2], [3, 4]], np.int32),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", NAN_CASES)
@pytest.mark.parametrize(
    "name", ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian"]
)
def test_nan_reductions_agree_with_numpy(same, name, case):
    x = NAN_CASES[case]
    for axis in (None, 0, 1):
        same(getattr(anp, name)(x, axis), getattr(np, name)(x, axis=axis), rtol=1e-5)
        same(
            getattr(anp, name)(x, axis, keepdims=True),
            getattr(np, name)(x, axis=axis, keepdims=True),
            rtol=1e-5,
        )


def test_nan_positions_leave_nan_out(same):
    x = np.array([[NAN, -INF, 3.0], [NAN, NAN, NAN], [1.0, NAN, 1.0]], F32)
    same(anp.nanargmax(x, 1), [2, -1, 0])
    same(anp.nanargmin(x, 1), [1, -1, 0])
    same(anp.nanargmax(np.array([NAN, -INF], F32)), 1)
    same(anp.nancumsum(x[0]), np.nancumsum(x[0]))
    same(anp.nancumprod(x[2]), np.nancumprod(x[2]))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("case", [c for c in CASES if c not in ("half",)])
def test_cumulative_operations_agree_with_numpy(same, name, case):
    x = CASES[case]
    dtype = dtype_of_sum(x.dtype)
    for axis in (None, 0, -1) if x.ndim else (None,):
        with np.errstate(all="ignore"):
            want = getattr(np, name)(x, axis=axis, dtype=dtype)
        same(getattr(anp, name)(x, axis), want, dtype=dtype)


def test_array_api_sums_may_begin_with_nothing(same):
    x = np.array([[1, 2], [3, 4]], np.int32)
    same(anp.cumulative_sum(x, axis=1, include_initial=True), [[0, 1, 3], [0, 3, 7]])
    same(anp.cumulative_prod(x, axis=0), [[1, 2], [3, 8]])
    with pytest.raises(ValueError, match="axis"):
        anp.cumulative_sum(x)


def test_differences_agree_with_numpy(same):
    x = np.array([[1.0, 4.0, 9.0], [2.0, 0.0, 1.0]], F32)
    for n in range(5):
        for axis in (0, 1):
            same(anp.diff(x, n, axis), np.diff(x, n, axis))
    same(anp.diff(x, prepend=0, append=x), np.diff(x, prepend=0, append=x))
    same(anp.diff(np.array([True, False, False])), [True, False])
    same(anp.diff(np.array([3, 1], np.uint8)), [254])
    same(anp.ediff1d(x, 9, 7), np.ediff1d(x, 9, 7))
    same(anp.trapezoid(x, axis=0), np.trapezoid(x, axis=0))
    same(anp.trapezoid(x, x=np.array([0.0, 1.0, 5.0])), np.trapezoid(x, x=[0, 1, 5]))
    same(anp.trapezoid(np.zeros((0,), F32)), 0)
    for got, want in zip(anp.gradient(x), np.gradient(x), strict=True):
        same(got, want)
    places = np.array([0.0, 1.0, 4.0], F32)
    same(anp.gradient(x, places, axis=1), np.gradient(x, places, axis=1), rtol=1e-5)
    same(anp.gradient(x[0], 2.0), np.gradient(x[0], 2.0))


def test_averages_agree_with_numpy(same):
    x = np.arange(6, dtype=F32).reshape(2, 3)
    w = np.array([1.0, 2.0, 0.0], F32)
    same(anp.average(x), 2.5)
    same(anp.average(x, 1, w), np.average(x, 1, w))
    same(anp.average(x, weights=x), np.average(x, weights=x))
    for got, want in zip(anp.average(x, 1, w, True), np.average(x, 1, w, True), strict=True):
        same(got, want)
    got = anp.average(x, 0, returned=True)
    same(got[1], [2, 2, 2])
    with pytest.raises(ShapeError, match="weights"):
        anp.average(x, 0, w)
    same(anp.cov(x), np.cov(x))
    same(anp.cov(x.T, rowvar=False, ddof=0), np.cov(x.T, rowvar=False, ddof=0))


METHODS = [
    "linear",
    "lower",
    "higher",
    "midpoint",
    "nearest",
    "hazen",
    "weibull",
    "median_unbiased",
]
METHODS += ["normal_unbiased", "interpolated_inverted_cdf"]


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_agree_with_numpy(same, method):
    x = np.array([[3.0, 1.0, 2.0, 8.0], [5.0, INF, -INF, 0.0], [NAN, 1.0, 2.0, 3.0]], F32)
    q = np.array([[0.0, 0.1, 0.25], [0.5, 0.9, 1.0]])
    with np.errstate(all="ignore"):
        for axis in (0, 1, None):
            want = np.quantile(x[:2].astype(float), q, axis=axis, method=method)
            finite = np.isfinite(want)  # NumPy itself makes NaN of some infinite neighbours
            got = np.asarray(anp.quantile(x[:2], q, axis, method=method))
            assert got.shape == want.shape
            np.testing.assert_allclose(got[finite], want[finite], rtol=1e-5)
            traced = np.asarray(anp.quantile(x[:2], anp.asarray(q, F32), axis, method=method))
            np.testing.assert_allclose(traced[finite], want[finite], rtol=1e-5, atol=1e-5)
        want = np.nanquantile(x[[0, 2]].astype(float), 0.4, axis=1, method=method)
        same(anp.nanquantile(x[[0, 2]], 0.4, 1, method=method), want, rtol=1e-5)
    assert np.isnan(np.asarray(anp.quantile(x, 0.5, 1, method=method))[2])


def test_medians_agree_with_numpy(same):
    same(anp.median(np.array([INF, INF, INF])), INF)
    same(anp.median(np.array([1.0, 2.0, INF])), 2)
    same(anp.median(np.array([1.0, NAN, 3.0])), NAN)
    same(anp.median(np.arange(10)), 4.5, dtype=F32)
    same(anp.median(np.zeros((0, 3), F32), 0), [NAN] * 3)
    same(anp.median(np.arange(6.0).reshape(2, 3), (0, 1), keepdims=True), [[2.5]])
    same(anp.nanmedian(np.array([[NAN, NAN], [1, 2]], F32), 1), [NAN, 1.5])
    same(anp.percentile(np.array([4.0, 1.0, 3.0]), np.array([0.0, 50.0, 100.0])), [1, 3, 4])
    same(anp.quantile(np.array([1.0, 2.0]), 0.5, keepdims=True), [1.5])
    with pytest.raises(ArgumentError, match="method='liner'"):
        anp.quantile(np.ones(2), 0.5, method="liner")
    with pytest.raises(ValueError, match="q=2"):
        anp.quantile(np.ones(2), 2)
    with pytest.raises(ShapeError, match="no element"):
        anp.quantile(np.ones(0), 0.5)


@settings(max_examples=50)
@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.int32, np.int8]),
        hnp.array_shapes(min_dims=1, max_dims=3, max_side=4),
        elements=st.integers(-20, 20),
    ),
    st.integers(-3, 2),
    st.booleans(),
)
def test_any_small_array_reduces_as_in_numpy(x, axis, keepdims):
    if not -x.ndim <= axis < x.ndim:
        axis = None
    for name in ("sum", "mean", "max", "argmin", "std", "median"):
        got = np.asarray(getattr(anp, name)(x, axis, keepdims=keepdims))
        want = np.asarray(getattr(np, name)(x, axis=axis, keepdims=keepdims))
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
