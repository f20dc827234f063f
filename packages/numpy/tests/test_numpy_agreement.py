"""Values and calls of NumPy that once differed: each is compared with NumPy's own."""

from __future__ import annotations

import cmath
import math
import warnings

import numpy as np
import pytest

import axonym_numpy as anp
from axonym_core import config
from axonym_core.errors import ArgumentTypeError, ShapeError
from axonym_numpy import nn

F32 = np.float32
X = np.array([[3.0, 1.0, 2.0], [0.5, -1.0, 4.0]], F32)

REDUCTIONS = "sum prod max min amax amin any all mean std var ptp argmax argmin median average"
REDUCTIONS += " count_nonzero nansum nanprod nanmax nanmin nanmean nanstd nanvar nanmedian"
OPTIONS = [
    {},
    {"axis": 0},
    {"axis": 1, "keepdims": True},
    {"dtype": np.float64},
    {"ddof": 1},
    {"where": X > 0},
    {"initial": 9.0},
    {"initial": 9.0, "where": X > 0},
]
OTHERS = {
    "cumsum": {"axis": 0},
    "cumprod": {},
    "round": {"decimals": 1},
    "around": {},
    "trace": {},
    "ravel": {},
    "squeeze": {},
    "transpose": {},
    "nonzero": {},
    "argsort": {"axis": 0},
    "sort": {},
    "diagonal": {},
    "swapaxes": {"axis1": 0, "axis2": 1},
    "reshape": {"shape": (3, 2)},
    "repeat": {"repeats": 2, "axis": 1},
    "take": {"indices": np.array([0, 1])},
    "clip": {"a_min": 0, "a_max": 2},
    "percentile": {"q": 30},
    "cumulative_sum": {"axis": 0},
}


@pytest.mark.parametrize("name", REDUCTIONS.split())
def test_numpys_reductions_take_our_arrays(name: str) -> None:
    reduce = getattr(np, name)
    for options in OPTIONS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                want = reduce(X, **options)
            except (TypeError, ValueError):
                continue
            np.testing.assert_allclose(reduce(anp.asarray(X), **options), want, rtol=1e-6)


@pytest.mark.parametrize("name", OTHERS)
def test_numpys_other_functions_take_our_arrays(name: str) -> None:
    f, options = getattr(np, name), OTHERS[name]
    np.testing.assert_allclose(f(anp.asarray(X), **options), f(X, **options), rtol=1e-6)


@pytest.mark.parametrize("name", ["sum", "mean", "std", "max", "argmax", "cumsum", "stack", "take"])
def test_an_array_to_write_to_is_refused_by_name(name: str) -> None:
    args = {"stack": ([X, X],), "take": (X, np.array([0]))}.get(name, (X,))
    with pytest.raises(ArgumentTypeError, match=f"{name}: out= is refused"):
        getattr(anp, name)(*args, out=np.zeros(3))


def test_arguments_by_position_are_those_of_numpy() -> None:
    y = np.array([[1.0, -2.0, 0.5]], F32)
    for f, g, args in (
        (anp.cov, np.cov, (X, y)),
        (anp.cov, np.cov, (X, y, True, True)),
        (anp.cov, np.cov, (X.T, y, False)),
        (anp.cov, np.cov, (X, None, True, False, 0)),
        (anp.cov, np.cov, (X, None, True, False, None, np.array([1, 2, 3]))),
        (anp.cov, np.cov, (X, None, True, False, None, None, np.array([0.5, 1, 2]))),
        (anp.cov, np.cov, (X, None, 1, 0, 1, np.array([1, 2, 1]), np.array([0.5, 1, 2]))),
        (anp.corrcoef, np.corrcoef, (X, y)),
        (anp.corrcoef, np.corrcoef, (X.T, y, False)),
        (anp.var, np.var, (X, 0, np.float64, None, 1, True)),
        (anp.std, np.std, (X, 0, None, None, 1)),
        (anp.nanvar, np.nanvar, (X, 1, None, None, 1)),
        (anp.nanstd, np.nanstd, (X, 1, None, None, 1)),
        (anp.sum, np.sum, (X, 0, None, None, True, 2.0)),
        (anp.mean, np.mean, (X, 0, None, None, True)),
        (anp.max, np.max, (X, 0, None, True, 2.0)),
        (anp.median, np.median, (X, 0, None, False, True)),
        (anp.quantile, np.quantile, (X, 0.3, 0, None, False, "lower", True)),
        (anp.stack, np.stack, ([X, X], 1)),
        (anp.concatenate, np.concatenate, ([X, X], 1)),
        (anp.take, np.take, (X, np.array([5, -1]), None, None, "clip")),
        (anp.isin, np.isin, (X, np.array([1.0, 4.0], F32), False, True)),
        (anp.trace, np.trace, (X, 1, 0, 1, None)),
    ):
        np.testing.assert_allclose(f(*args), g(*args), rtol=1e-5, err_msg=f"{f.__name__}{args}")


def test_spread_about_a_known_mean() -> None:
    mean = np.array([[1.0, 0.0, 2.0]], F32)
    for name in ("var", "std"):
        for where in (True, X > -5):
            want = getattr(np, name)(X, axis=0, where=where, mean=mean, correction=1)
            mask = None if where is True else where
            got = getattr(anp, name)(X, axis=0, where=mask, mean=mean, correction=1)
            np.testing.assert_allclose(got, want, rtol=1e-6)
    with pytest.raises(ShapeError, match="var: mean has shape"):
        anp.var(X, 0, mean=np.zeros(2, F32))


def test_initial_is_one_number() -> None:
    for reduce in (anp.sum, anp.prod, anp.max, anp.min, anp.nansum, anp.nanmax):
        with pytest.raises(ArgumentTypeError, match="initial is a range"):
            reduce(X, initial=range(3))
        with pytest.raises(ShapeError, match="initial has type"):
            reduce(X, initial=np.zeros(3, F32))
        assert reduce(X, initial=anp.asarray(F32(2))).shape == ()


def test_masked_arrays_are_refused() -> None:
    masked = np.ma.masked_array([1.0, 100.0, 3.0], [False, True, False])
    for f in (
        anp.sum,
        anp.asarray,
        anp.sin,
        lambda x: anp.ones(3) + x,
        lambda x: anp.where(x, 1, 0),
    ):
        with pytest.raises(ArgumentTypeError, match="masked array"):
            f(masked)
    np.testing.assert_allclose(anp.sum(masked.filled(0), where=~masked.mask), 4)


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_odd_padding_wider_than_the_array(mode: str, n: int) -> None:
    a = np.random.default_rng(n).integers(-9, 9, n)
    for width in ((0, 0), (1, 2), (3, 3), (7, 2), (2, 9), (13, 11), (5, 0), (0, 6)):
        for x in (a.astype(F32), a.astype(np.int32)):
            want = np.pad(x, width, mode, reflect_type="odd")
            np.testing.assert_array_equal(anp.pad(x, width, mode, reflect_type="odd"), want)
    inner = np.array([1.0, np.inf, 3.0], F32)
    want = np.pad(inner, 2, mode, reflect_type="odd")
    np.testing.assert_array_equal(anp.pad(inner, 2, mode, reflect_type="odd"), want)


def test_take_clips_negative_positions_to_the_first() -> None:
    x, at = np.arange(5.0), np.array([-1, -7, 2, 9, 0], np.int8)
    np.testing.assert_array_equal(anp.take(x, at, mode="clip"), np.take(x, at, mode="clip"))
    unsigned = at.astype(np.uint8)
    np.testing.assert_array_equal(
        anp.take(x, unsigned, mode="clip"), np.take(x, unsigned.astype(int), mode="clip")
    )


def test_take_may_refuse_positions_out_of_bounds() -> None:
    x = anp.arange(5.0)
    np.testing.assert_array_equal(x.take(np.array([-5, 4]), mode="raise"), [0, 4])
    for at in (np.array([5]), np.array([0, -6])):
        with pytest.raises(IndexError, match="take: index"):
            np.take(x, at)


def test_isin_with_64_bit_integers_by_default() -> None:
    with config.override(default_int_bits=64):
        np.testing.assert_array_equal(anp.isin(np.arange(4), np.array([1, 9])), [0, 1, 0, 0])


@pytest.mark.parametrize("dtype", [F32, np.float64])
def test_angles_of_real_numbers(dtype: type) -> None:
    x = np.array([-0.0, 0.0, 1.0, -2.0, np.inf, -np.inf, np.nan], dtype)
    np.testing.assert_allclose(anp.angle(x), np.angle(x), rtol=1e-6)
    np.testing.assert_allclose(anp.angle(x, deg=True), np.angle(x, deg=True), rtol=1e-6)


@pytest.mark.parametrize("name", ["log2", "log10"])
def test_logarithms_of_complex_zero_and_infinity(name: str) -> None:
    z = np.array([0j, complex(-0.0, 0.0), 1j, -4, complex(np.inf, 1), complex(1, -np.inf)], "c8")
    scale = math.log(2 if name == "log2" else 10)
    with np.errstate(all="ignore"):
        want = np.log(z)
    want.real, want.imag = want.real / scale, want.imag / scale
    np.testing.assert_allclose(getattr(anp, name)(z), want, rtol=1e-5)


def test_complex_softplus_is_the_principal_logarithm() -> None:
    z = np.array([5 + 7j, -3 + 4j, 2 - 9j, 0.5 + 3j, 30 - 100j, -40 + 50j])
    want = np.array([cmath.log(1 + cmath.exp(v)) for v in z])
    np.testing.assert_allclose(nn.softplus(z), want, rtol=1e-9)
    want = np.array([cmath.log(1 / (1 + cmath.exp(-v))) for v in z])
    np.testing.assert_allclose(nn.log_sigmoid(z), want, rtol=1e-9)


def test_activations_of_truth_values_are_those_of_0_and_1() -> None:
    for f, want in ((nn.hard_tanh, [0, 1]), (nn.relu6, [0, 1]), (nn.relu, [0, 1])):
        out = f(np.array([False, True]))
        assert out.dtype == np.int32
        assert out.tolist() == want


@pytest.mark.parametrize("kind", [int, float, complex])
@pytest.mark.parametrize("own", ["int64", "uint64", "float64", "complex128"])
def test_python_types_keep_64_bits(kind: type, own: str) -> None:
    x = np.array([1, 2], own)
    wide = np.dtype(kind)
    assert anp.asarray(x).astype(kind).dtype == wide
    if own != "complex128" or kind is complex:
        assert anp.asarray(x, dtype=kind).dtype == wide
    assert anp.zeros_like(x, kind).dtype == wide
    if kind is not int and (kind is complex or own != "complex128"):
        for reduce in (anp.sum, anp.prod, anp.mean, anp.cumsum):
            assert reduce(x, dtype=kind).dtype == wide
    narrow = np.array([1, 2], np.float16)
    assert anp.asarray(narrow).astype(kind).dtype.itemsize == wide.itemsize // 2
