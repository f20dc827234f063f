"""Convolution, correlation, unwrapping, polynomials, indices and sets against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import axonym_numpy as anp
from axonym_core import make_jaxpr
from axonym_core.errors import ConcretizationError, DTypeError, ShapeError
from axonym_numpy.errors import ArgumentError

F32 = np.float32


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("n", "m"), [(5, 3), (3, 5), (4, 4), (1, 3), (6, 2), (1, 1)])
def test_convolutions_agree_with_numpy(same, mode, n, m):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=n).astype(F32), rng.normal(size=m).astype(F32)
    same(anp.convolve(x, y, mode), np.convolve(x, y, mode), rtol=1e-5, atol=1e-6)
    same(anp.correlate(x, y, mode), np.correlate(x, y, mode), rtol=1e-5, atol=1e-6)
    i, j = (x * 10).astype(np.int32), (y * 10).astype(np.int32)
    same(anp.convolve(i, j, mode), np.convolve(i, j, mode), dtype=np.int32)
    z = (x + 1j * x[::-1]).astype(np.complex64)
    same(anp.correlate(z, y * 1j, mode), np.correlate(z, y * 1j, mode), rtol=1e-5, atol=1e-5)


def test_convolution_errors_say_what_was_given():
    with pytest.raises(ShapeError, match="vectors"):
        anp.convolve(np.ones((2, 2)), np.ones(2))
    with pytest.raises(ShapeError, match="one element"):
        anp.convolve(np.ones(0), np.ones(2))
    with pytest.raises(ArgumentError, match="mode='ful'"):
        anp.convolve(np.ones(2), np.ones(2), "ful")


def test_unwrap_agrees_with_numpy(same):
    p = np.array([[0.0, 4.0, 8.0, 1.0], [3.0, -3.0, 3.2, 9.5]], F32)
    for axis in (0, 1):
        same(anp.unwrap(p, axis=axis), np.unwrap(p, axis=axis), rtol=1e-5, atol=1e-5)
    same(anp.unwrap(p, period=4), np.unwrap(p, period=4), rtol=1e-5, atol=1e-5)
    same(anp.unwrap(p, 5.0), np.unwrap(p, 5.0), rtol=1e-5, atol=1e-5)
    same(anp.unwrap(p[:, :0]), p[:, :0])


def test_polynomials_are_evaluated(same):
    p, x = np.array([2.0, -1.0, 0.5], F32), np.array([[0.0, 1.0], [-2.0, 3.0]], F32)
    same(anp.polyval(p, x), np.polyval(p, x))
    same(anp.polyval(p[:0], x), np.zeros((2, 2)))
    same(anp.polyval(np.array([1, 2]), 3), 5)


def test_correlation_coefficients_agree_with_numpy(same):
    x = np.random.default_rng(0).normal(size=(3, 8)).astype(F32)
    same(anp.corrcoef(x), np.corrcoef(x), rtol=1e-5, atol=1e-6)
    same(anp.corrcoef(x.T, rowvar=False), np.corrcoef(x), rtol=1e-5, atol=1e-6)
    same(anp.corrcoef(x[0]), 1.0, rtol=1e-5)


def test_flat_and_multiple_indices_are_inverses(same):
    shape = (2, 3, 4)
    flat = np.arange(24).reshape(4, 6)
    parts = anp.unravel_index(flat, shape)
    for got, want in zip(parts, np.unravel_index(flat, shape), strict=True):
        same(got, want)
    same(anp.ravel_multi_index(parts, shape), flat)
    beyond = (np.array([5]), np.array([-1]), np.array([9]))
    for mode in ("clip", "wrap"):
        same(
            anp.ravel_multi_index(beyond, shape, mode),
            np.ravel_multi_index(beyond, shape, mode=mode),
        )
    ij = (np.array([1]), np.array([2]))
    same(anp.ravel_multi_index(ij, (2, 3), order="F"), np.ravel_multi_index(ij, (2, 3), order="F"))
    same(anp.unravel_index(np.array([-1, 99]), (2, 3))[1], [2, 2])
    with pytest.raises(DTypeError, match="integers"):
        anp.unravel_index(1.5, shape)
    with pytest.raises(ShapeError, match="2 index arrays"):
        anp.ravel_multi_index(ij, shape)


def test_indices_of_patterns_agree_with_numpy(same):
    x = np.ones((3, 4))
    for name in ("tril_indices_from", "triu_indices_from"):
        for got, want in zip(getattr(anp, name)(x, 1), getattr(np, name)(x, 1), strict=True):
            same(got, want)
    for got, want in zip(anp.diag_indices(3, 3), np.diag_indices(3, 3), strict=True):
        same(got, want)
    same(anp.diag_indices_from(x[:, :3])[1], [0, 1, 2])
    assert anp.s_[1:, ...] == np.s_[1:, ...]
    with pytest.raises(ShapeError):
        anp.diag_indices_from(x)
    with pytest.raises(ShapeError, match="matrix"):
        anp.tril_indices_from(x[0])


def test_grids_may_be_written_as_slices(same):
    same(anp.mgrid[0:3, 1:5:2], np.mgrid[0:3, 1:5:2])
    same(anp.mgrid[0:1:5j], np.mgrid[0:1:5j])
    for got, want in zip(anp.ogrid[0:3, 0:1:3j], np.ogrid[0:3, 0:1:3j], strict=True):
        same(got, want)
    with pytest.raises(ArgumentError, match="no slice"):
        anp.mgrid[3]


def test_sets_agree_with_numpy(same):
    a, b = np.array([3, 1, 1, 5], np.int32), np.array([[5, 2], [3, 3]], np.int32)
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        same(getattr(anp, name)(a, b), getattr(np, name)(a, b), dtype=np.int32)
    for got, want in zip(
        anp.intersect1d(a, b, return_indices=True),
        np.intersect1d(a, b, return_indices=True),
        strict=True,
    ):
        same(got, want)
    same(anp.union1d(a, b, size=5, fill_value=-1), [1, 2, 3, 5, -1])
    with pytest.raises(ConcretizationError, match="setdiff1d"):
        make_jaxpr(lambda x: anp.setdiff1d(x, b))(a)


def test_scalars_are_told():
    assert anp.isscalar(1)
    assert anp.isscalar(np.float32(1))
    assert anp.isscalar(anp.asarray(1))
    assert not anp.isscalar(anp.ones(1))
    assert not anp.isscalar("1")
    assert isinstance(anp.ones(1), anp.ndarray)
    assert anp.bool is anp.bool_
