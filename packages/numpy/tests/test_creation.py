"""Arrays from shapes: constants, matrices, ranges and grids, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import axonym_numpy as anp
from axonym_core import ShapeDtypeStruct, make_jaxpr
from axonym_core.errors import ConcretizationError, DTypeError, ShapeError
from axonym_numpy.errors import ArgumentError

F32 = np.float32


@pytest.mark.parametrize("shape", [(), 3, (2, 3), (0, 2), np.int64(2)])
def test_constants_have_shape_value_and_default_dtype(same, shape):
    same(anp.zeros(shape), np.zeros(shape), dtype=F32)
    same(anp.ones(shape, "int8"), np.ones(shape), dtype=np.int8)
    same(anp.empty(shape), np.zeros(shape))
    same(anp.full(shape, 7), np.full(shape, 7), dtype=np.int32)
    same(anp.full(shape, 2.5, "float64"), np.full(shape, 2.5), dtype=np.float64)


def test_full_repeats_arrays(same):
    same(anp.full((2, 3), np.arange(3)), [[0, 1, 2]] * 2)
    assert not anp.full((2,), 1.0).weak_type
    with pytest.raises(ShapeError, match="fill_value"):
        anp.full((2,), np.ones(3))
    with pytest.raises(ShapeError, match="negative"):
        anp.zeros(-1)
    with pytest.raises(TypeError, match="shape"):
        anp.zeros(1.5)


def test_likes_take_shape_and_dtype(same):
    x = np.ones((2, 3), np.int8)
    same(anp.zeros_like(x), np.zeros((2, 3)), dtype=np.int8)
    same(anp.ones_like(x, float), np.ones((2, 3)), dtype=F32)
    same(anp.full_like(x, 5, shape=(1,)), [5], dtype=np.int8)
    same(anp.empty_like(2.5), 0.0, dtype=F32)
    assert anp.zeros_like(ShapeDtypeStruct((2,), "bfloat16")).dtype == anp.bfloat16
    with pytest.raises(TypeError, match="zeros_like"):
        anp.zeros_like([1])


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("m", [None, 0, 2, 4])
@pytest.mark.parametrize("k", [-9, -1, 0, 1, 9])
def test_patterns_agree_with_numpy(same, n, m, k):
    same(anp.eye(n, m, k), np.eye(n, m, k), dtype=F32)
    same(anp.tri(n, m, k), np.tri(n, m, k), dtype=F32)
    x = np.arange(n * (m or n), dtype=F32).reshape(n, m or n) + 1
    same(anp.tril(x, k), np.tril(x, k))
    same(anp.triu(x, k), np.triu(x, k))
    same(anp.diagonal(x, k), np.diagonal(x, k))
    same(anp.trace(x, k), np.trace(x, k))
    for got, want in zip(anp.tril_indices(n, k, m), np.tril_indices(n, k, m), strict=True):
        same(got, want)
    for got, want in zip(anp.triu_indices(n, k, m), np.triu_indices(n, k, m), strict=True):
        same(got, want)


def test_diagonals_of_stacks_and_matrices_from_vectors(same):
    x = np.arange(24).reshape(2, 3, 4)
    for axes in ((0, 1), (1, 2), (2, 0), (-1, -2)):
        for k in (-1, 0, 2):
            same(anp.diagonal(x, k, *axes), np.diagonal(x, k, *axes))
            same(anp.trace(x, k, *axes), np.trace(x, k, *axes))
    same(anp.tril(x), np.tril(x))
    for k in (-2, 0, 1):
        v = np.array([1, 2, 3], np.int8)
        same(anp.diag(v, k), np.diag(v, k), dtype=np.int8)
        same(anp.diag(v[:0], k), np.diag(v[:0], k))
        same(anp.diagflat(np.ones((2, 2)), k), np.diagflat(np.ones((2, 2)), k))
    same(anp.diag(x[0], 1), np.diag(x[0], 1))
    same(anp.identity(2, int), [[1, 0], [0, 1]])
    want = np.zeros((3, 3))
    np.fill_diagonal(want, [1, 2, 3])
    same(anp.fill_diagonal(anp.zeros((3, 3)), np.array([1, 2, 3])), want)
    same(anp.fill_diagonal(anp.zeros((2, 3)), 5), [[5, 0, 0], [0, 5, 0]])
    same(anp.vander(np.array([2.0, 3.0], F32), 3), np.vander([2, 3], 3))
    same(anp.vander(np.array([2, 3]), increasing=True), np.vander([2, 3], increasing=True))
    same(anp.triu(np.array([[True, True], [True, True]]), 1), [[False, True], [False, False]])
    with pytest.raises(ShapeError):
        anp.diag(x)
    with pytest.raises(ShapeError):
        anp.tril(np.ones(3))
    with pytest.raises(ShapeError, match="are one"):
        anp.diagonal(x, 0, 1, 1)
    with pytest.raises(ArgumentError):
        anp.fill_diagonal(anp.zeros((2, 2)), 1, inplace=True)


RANGES = [(5,), (0,), (-2,), (2, 8), (2, 8, 3), (5, 0, -2), (3, 3), (0, 5, -1), (5, 0), (0, 10, 4)]
RANGES += [(0.0, 1.0, 0.1), (1.0, 0.0, -0.25), (2.5,), (0, 1, 0.3), (-1.5, 4)]


@pytest.mark.parametrize("args", RANGES)
def test_arange_agrees_with_numpy(same, args):
    want = np.arange(*args)
    same(anp.arange(*args), want, rtol=1e-6, dtype=np.int32 if want.dtype.kind == "i" else F32)


def test_arange_takes_dtypes_and_refuses_what_never_ends(same):
    same(anp.arange(3, dtype=float), [0, 1, 2], dtype=F32)
    same(anp.arange(0.5, 3, dtype=int), np.arange(0.5, 3, dtype=int), dtype=np.int32)
    same(anp.arange(np.int8(3)), [0, 1, 2], dtype=np.int8)
    same(anp.arange(3, dtype="bfloat16"), [0, 1, 2], dtype=anp.bfloat16)
    same(anp.arange(np.float64(2)), [0, 1], dtype=F32)
    with pytest.raises(ArgumentError, match="step=0"):
        anp.arange(0, 1, 0)
    with pytest.raises(ArgumentError, match="never end"):
        anp.arange(0, np.inf)
    with pytest.raises(ConcretizationError, match="stop"):
        make_jaxpr(lambda n: anp.arange(0, n))(3)
    with pytest.raises(DTypeError, match="bool"):
        anp.arange(2, dtype=bool)
    with pytest.raises(TypeError, match="arange"):
        anp.arange("3")


@pytest.mark.parametrize("num", [0, 1, 2, 7, 10])
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace_agrees_with_numpy(same, num, endpoint):
    for start, stop in ((0, 1), (-3.5, 2), (5, 5), (1, -1)):
        want = np.linspace(start, stop, num, endpoint)
        same(anp.linspace(start, stop, num, endpoint), want, rtol=1e-6, dtype=F32)
    got, step = anp.linspace(0, 3, num, endpoint, retstep=True)
    with np.errstate(all="ignore"):
        want, want_step = np.linspace(0, 3, num, endpoint, retstep=True)
    same(got, want)
    same(step, want_step)
    a, b = np.arange(3.0), np.ones((2, 1))
    for axis in (0, 1, -1):
        want = np.linspace(a, b, num, endpoint, axis=axis)
        same(anp.linspace(a, b, num, endpoint, axis=axis), want, dtype=np.float64)


def test_linspace_returns_its_ends_exactly_and_rounds_integers_down(same):
    a, b = F32(-1.7320509), F32(3.1622777)
    for n in (2, 7, 10, 33, 101):
        x = np.asarray(anp.linspace(a, b, n))
        assert x[0] == a
        assert x[-1] == b
    same(anp.linspace(-3, 3, 4, dtype=int), np.linspace(-3, 3, 4, dtype=int), dtype=np.int32)
    for n in range(2, 12):
        same(anp.linspace(1, n, n, dtype=int), np.arange(1, n + 1))
        same(anp.linspace(0, 7, n, dtype=int), np.linspace(0, 7, n, dtype=int))
    same(anp.linspace(1 + 1j, 2, 3), np.linspace(1 + 1j, 2, 3), dtype=np.complex64)
    with pytest.raises(ArgumentError, match="num=-1"):
        anp.linspace(0, 1, -1)


def test_logarithmic_spaces_agree_with_numpy(same):
    same(anp.logspace(0, 3, 4), np.logspace(0, 3, 4), rtol=1e-5, dtype=F32)
    same(anp.logspace(0, 3, 4, False, 2.0), np.logspace(0, 3, 4, False, 2.0), rtol=1e-5)
    same(anp.geomspace(1, 1000, 4), np.geomspace(1, 1000, 4), rtol=1e-5, dtype=F32)
    same(anp.geomspace(-1, -8, 4), np.geomspace(-1, -8, 4), rtol=1e-5)
    same(anp.geomspace(8, 1, 3, False), np.geomspace(8, 1, 3, False), rtol=1e-5)
    with pytest.raises(ArgumentError, match="stop=0"):
        anp.geomspace(1, 0)


def test_grids_agree_with_numpy(same):
    a, b, c = np.arange(2), np.arange(3.0), np.array(5)
    for indexing in ("xy", "ij"):
        for sparse in (False, True):
            got = anp.meshgrid(a, b, c, indexing=indexing, sparse=sparse)
            want = np.meshgrid(a, b, c, indexing=indexing, sparse=sparse)
            for x, y in zip(got, want, strict=True):
                same(x, y)
    same(anp.meshgrid(a)[0], a)
    same(anp.indices((2, 3)), np.indices((2, 3)), dtype=np.int32)
    same(anp.indices(()), np.indices(()))
    for x, y in zip(anp.indices((2, 3), sparse=True), np.indices((2, 3), sparse=True), strict=True):
        same(x, y)
    same(anp.ix_(a, b)[1], np.ix_(a, b)[1])
    same(
        anp.fromfunction(lambda i, j: 10 * i + j, (2, 3)),
        np.fromfunction(lambda i, j: 10 * i + j, (2, 3)),
    )
    with pytest.raises(ShapeError, match="vectors"):
        anp.meshgrid(np.ones((2, 2)))
    with pytest.raises(ArgumentError, match="'xz'"):
        anp.meshgrid(a, indexing="xz")
