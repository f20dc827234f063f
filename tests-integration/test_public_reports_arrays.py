"""Programs from public bug reports about indexing, sorting and products, written anew."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from agreement import same

import axonym as ax
import axonym.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.usefixtures("wide")
def test_einsum_with_a_repeated_letter_that_is_not_last() -> None:
    """tinygrad/tinygrad#18229: wrong axes.

    NumPy's einsum on the same array.
    """
    a = np.arange(18.0).reshape(3, 3, 2)
    v = np.array([2.0, 5.0])
    b = np.arange(54.0).reshape(3, 2, 3, 3)
    spec = [
        ("iij->ij", (a,)),
        ("iij->i", (a,)),
        ("iij,j->ij", (a, v)),
        ("iij->ji", (a,)),
        ("kjik,k->ij", (b, np.ones(3))),
    ]
    found = [anp.einsum(s, *map(anp.asarray, o)) for s, o in spec]
    found += [
        ax.grad(lambda t: anp.sum(anp.einsum("iij,j->i", t, anp.asarray(v)) ** 2))(anp.asarray(a))
    ]
    g = np.zeros_like(a)
    for i in range(3):
        g[i, i] = 2 * (a[i, i] @ v) * v
    wanted = [np.einsum(s, *o) for s, o in spec] + [g]
    same(found, wanted)


@pytest.mark.usefixtures("wide")
def test_einsum_broadcasts_ellipsis_dimensions_of_size_one() -> None:
    """jax-ml/jax#2189: not broadcast.

    NumPy's einsum.
    """
    x = np.arange(18.0).reshape(2, 1, 3, 3)
    y = np.arange(24.0).reshape(2, 4, 3)
    z = np.arange(3.0)
    spec = [
        ("...ij,...j", (x, y)),
        ("...ij,...j->...i", (x, y)),
        ("...j,j->...", (y, z)),
        ("i...,i...->...", (x, y[:, :1, None])),
    ]
    same(
        [anp.einsum(s, *map(anp.asarray, o)) for s, o in spec], [np.einsum(s, *o) for s, o in spec]
    )


@pytest.mark.usefixtures("wide")
def test_einsum_of_ten_operands_ends() -> None:
    """jax-ml/jax#24929: planning hung.

    NumPy's einsum; must end within the time limit.
    """
    f = "a,c,d,db,ab,cb,ac,cd,ad,b->dbc"
    r = np.random.RandomState(0)
    ops = [r.rand(*(2,) * len(s)) for s in f.split("->")[0].split(",")]
    same(anp.einsum(f, *map(anp.asarray, ops)), np.einsum(f, *ops), rtol=1e-4)


def test_truth_values_as_indices_add_an_axis() -> None:
    """jax-ml/jax#7918: x[True] was the first row.

    NumPy: True adds an axis of length 1, False one of length 0.
    """
    n = np.array([[1, 2], [3, 4]])
    x = anp.asarray(n)
    a = n.copy()
    a[True] = 9
    same(x[True], n[True])
    same(list(x[False].shape), [0, 2, 2])
    same(list(x[:, True].shape), [2, 1, 2])
    same(list(x[..., False].shape), [2, 2, 0])
    same(x.at[True].set(9), a)
    same(x.at[False].set(9), n)
    same(x[anp.array(True)], n[True])


def test_starts_of_unsigned_bytes() -> None:
    """jax-ml/jax#6122: read as signed.

    Index 128 (or 200) fits in uint8: the element at that place.
    """
    t = anp.arange(256)
    u = anp.array([128], anp.uint8)
    i = anp.array([3, 128, 200], anp.uint8)
    same(ax.lax.dynamic_slice(t, u, (1,))[0], 128)
    same(t[i], [3, 128, 200])
    same(ax.vmap(lambda k: ax.lax.dynamic_index_in_dim(t, k, keepdims=False))(i), [3, 128, 200])
    same(anp.take(t, i), [3, 128, 200])
    same(ax.lax.dynamic_update_slice(t * 0, anp.array([5]), u).sum(), 5)
    same(anp.argmax(ax.lax.dynamic_update_slice(t * 0, anp.array([5]), u)), 128)
    same(anp.take_along_axis(t, i, 0), [3, 128, 200])
    same(t.at[i].add(1000)[200], 1200)
    same(t[:200][anp.array([-1], anp.int8)][0], 199)
    same(ax.jit(lambda k: t[:130][k])(anp.array(-2, anp.int8)), 128)


def test_partitions_and_sorts_under_maps() -> None:
    """ml-explore/mlx#4116: the element that was asked for was forgotten.

    Row by row NumPy.
    """
    r = np.random.RandomState(0).permutation(24).reshape(2, 3, 4).astype(float)
    x = anp.asarray(r)
    p = ax.vmap(lambda v: anp.partition(v, 1, axis=-1))(x)[..., 1]
    q = ax.vmap(lambda v: anp.partition(v, -2, axis=0), in_axes=1, out_axes=1)(x)[0]
    a = ax.vmap(ax.vmap(lambda v: anp.argpartition(v, 2)))(x)[..., 2]
    t = ax.vmap(lambda v: ax.lax.top_k(v, 2)[0], in_axes=2, out_axes=-1)(x)
    s = np.sort(r, -1)
    same(p, s[..., 1])
    same(q, np.sort(r, 0)[0])
    same(a, np.argsort(r, -1)[..., 2])
    same(t, np.sort(r, 1)[:, ::-1][:, :2])
    same(ax.vmap(anp.argsort)(x[0]), np.argsort(r[0], -1))
    same(
        ax.vmap(anp.lexsort)(anp.stack([x[0], x[1]], 1)),
        np.stack([np.lexsort((r[0, i], r[1, i])) for i in range(3)]),
    )


def test_sorting_by_several_keys() -> None:
    """tillahoffmann/jax-mps#224: further keys were ignored.

    Plain Python: sorted by first key, then second, stably.
    """
    v = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0]
    w = [0.4, 0.1, 0.3, 0.2, 0.1, 0.1]
    i = list(range(6))

    def f(a: Any, b: Any, c: Any) -> Any:
        return ax.lax.sort((a, b, c), num_keys=2)

    V, W, K = map(anp.array, (v, w, i))
    ref = [list(t) for t in zip(*sorted(zip(v, w, i, strict=True)), strict=True)]
    g = ax.grad(lambda a, b: anp.sum(f(a, b, K)[1] * anp.arange(6.0)), (0, 1))(V, W)
    rank = [float(ref[2].index(k)) for k in i]
    same(f(V, W, K), ref)
    same(ax.jit(f)(V, W, K), ref)
    same(ax.vmap(f)(V[None], W[None], K[None]), [[t] for t in ref])
    same(anp.lexsort((W, V)), ref[2])
    same(g[0], [0.0] * 6)
    same(g[1], rank)


def test_mask_as_an_index_under_vmap_is_refused_with_the_cure() -> None:
    """pytorch/functorch#59: internal assertion.

    Counting form: sum over kept columns = x @ mask; asking for a data-dependent shape must be
    refused with the cure named.
    """
    x = anp.arange(6.0).reshape(2, 3)
    part = anp.array([[True, False], [True, True], [False, True]]).T
    counted = ax.vmap(lambda m: anp.sum(x, axis=-1, where=m))(part)

    same(counted, [[1.0, 7.0], [3.0, 9.0]])
    with pytest.raises(IndexError, match="where"):
        ax.vmap(lambda m: x[:, m].sum(-1))(part)


def test_values_under_vmap_have_the_shape_of_one_example() -> None:
    """pytorch/functorch#381: index errors without a hint.

    Inside vmap a value has its example's shape; so x.at[0] is the example's first entry.
    """
    X = anp.ones((10, 5))
    with pytest.raises(IndexError, match=r"1|5"):
        ax.vmap(ax.grad(lambda v: v.at[:, 0].add(3.0).sum()))(X)
    same(ax.vmap(ax.grad(lambda v: (v.at[0].add(3.0) ** 2).sum()))(X)[0], [8.0, 2.0, 2.0, 2.0, 2.0])


@pytest.mark.usefixtures("wide")
def test_percentiles_by_all_methods() -> None:
    """Midpoint was wrong, results not in order.

    numpy/numpy#7163, numpy/numpy#14685, jax-ml/jax#8513.

    NumPy on the same data, all interpolation methods that both have; the result rises with q.
    """
    d = np.array([0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 1, 1, 9, 9, 9, 8, 8, 7]) * 0.1
    q = np.arange(0, 101, 12.5)
    x = anp.asarray(d)
    ms = ("linear", "lower", "higher", "nearest", "midpoint")
    p = anp.percentile(x, anp.asarray(np.arange(0, 100.0)))
    g = ax.grad(lambda v: anp.percentile(v, 30.0))(anp.array([4.0, 1.0, 3.0, 2.0]))
    same(
        [anp.percentile(x, anp.asarray(q), method=m) for m in ms],
        [np.percentile(d, q, method=m) for m in ms],
    )
    assert bool((anp.diff(p) >= 0).all())
    same(
        anp.percentile(anp.array([[10, 7, 4], [3, 2, 1]]), 50, axis=0, keepdims=True),
        [[6.5, 4.5, 2.5]],
    )
    same(anp.nanpercentile(anp.array([[1.0, anp.nan], [3.0, 2.0]]), 50, axis=0), [2.0, 2.0])
    same(g, [0.0, 0.1, 0.0, 0.9])


def test_arrays_from_nested_lists() -> None:
    """jax-ml/jax#10662: orders of magnitude slower than NumPy.

    NumPy makes the same array; 300 x 300 Python numbers take well under ten seconds.
    """
    x = [list(range(300)) for _ in range(300)]
    t = time.perf_counter()
    a = anp.array(x)
    b = anp.array([[float(v) for v in r] for r in x])
    dt = time.perf_counter() - t
    c = anp.array([anp.ones(3), np.zeros(3), [1, 2, 3]])
    d = anp.array([1, 2.5, anp.float32(3)])
    e = anp.array([[anp.array(1.0), 2.0], (3, 4)])
    same(a.sum(), np.array(x).sum())
    assert b.dtype == anp.array(1.0).dtype
    assert dt < 10
    same(c, [[1, 1, 1], [0, 0, 0], [1, 2, 3]])
    same(d, [1.0, 2.5, 3.0])
    same(e, [[1.0, 2.0], [3.0, 4.0]])


def test_two_dynamic_slices_in_a_row_clamp_each() -> None:
    """jax-ml/jax#40849: merged without the inner clamp.

    Each dynamic slice clamps its own start: i into [0, 6], then j into [0, 3]; the element read
    is buf[i + j].
    """
    buf = anp.arange(10.0)

    def f(i: Any, j: Any) -> Any:
        return ax.lax.dynamic_slice(ax.lax.dynamic_slice(buf, (i,), (4,)), (j,), (1,))[0]

    ij = [(9, 0), (3, 5), (6, 0), (-20, 9), (2, -8)]
    jf = ax.jit(f)
    a = anp.array(ij)
    grad = ax.jit(
        ax.grad(
            lambda b, i, j: ax.lax.dynamic_slice(ax.lax.dynamic_slice(b, (i,), (4,)), (j,), (1,))[0]
        )
    )

    def clamp(v: Any, h: Any) -> Any:
        return min(max(v, 0), h)

    def neg(v: Any, n: Any) -> Any:
        return v + n if v < 0 else v

    r = [clamp(neg(i, 10), 6) + clamp(neg(j, 4), 3) for i, j in ij]
    same([f(*p) for p in ij], r)
    same([jf(*p) for p in ij], r)
    same(ax.jit(ax.vmap(f))(a[:, 0], a[:, 1]), r)
    same([int(anp.argmax(grad(buf, *p))) for p in ij], r)
