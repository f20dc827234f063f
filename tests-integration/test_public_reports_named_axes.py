"""Programs from public bug reports about named axes, written anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agreement import same

import axonym as ax
import axonym.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.usefixtures("wide")
def test_interpolation_under_xmap_has_slopes() -> None:
    """jax-ml/jax#5848: a sampling function could not be differentiated under xmap.

    Linear interpolation at x between cells i and i+1: value (1-w) a_i + w a_(i+1); slope in x is
    a_(i+1) - a_i; slopes in a are 1-w and w.
    """

    def sample(a: Any, x: Any) -> Any:
        i = anp.floor(x).astype(anp.int32)
        w = x - i
        return (1 - w) * a[i] + w * a[i + 1]

    many = ax.xmap(sample, in_axes=(["b", ...], ["b", ...]), out_axes=["b", ...])
    a = anp.array([[0.0, 1.0, 4.0], [9.0, 16.0, 25.0]])
    x = anp.array([0.25, 1.5])
    v, (ga, gx) = ax.value_and_grad(lambda a, x: many(a, x).sum(), (0, 1))(a, x)
    same(v, 0.25 + 20.5)
    same(ga, [[0.75, 0.25, 0.0], [0.0, 0.5, 0.5]])
    same(gx, [1.0, 9.0])


@pytest.mark.usefixtures("wide")
def test_each_example_has_a_gradient_of_the_shared_position_table() -> None:
    """meta-pytorch/opacus#841: it got batch size 1.

    Example b reads token rows ids[b] and all position rows 0..T-1: by hand the slope of sum(r_b *
    (tok + pos)) to pos row t is r_bt for each example, and their sum in total.
    """
    ids = anp.array([[0, 2], [1, 1], [2, 0]])
    r = anp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    where = anp.arange(2)[None]

    def loss(tok: Any, pos: Any, i: Any, w: Any) -> Any:
        return anp.sum(w[:, None] * (tok[i] + pos[where][0]))

    tok, pos = (anp.zeros((3, 1)), anp.zeros((4, 1)))
    gt, gp = ax.vmap(ax.grad(loss, (0, 1)), (None, None, 0, 0))(tok, pos, ids, r)
    same(gp[..., 0], [[1.0, 2.0, 0, 0], [3.0, 4.0, 0, 0], [5.0, 6.0, 0, 0]])
    same(gt[..., 0], [[1.0, 0, 2.0], [0, 7.0, 0], [6.0, 0, 5.0]])
    same(gp.sum(0)[:, 0], [9.0, 12.0, 0, 0])


def test_variance_over_the_batch_is_never_negative() -> None:
    """google/flax#1491: mean of squares minus square of mean.

    The variance of values that are all equal is 0, of values around 1e4 with spread 1 it is 1; it
    can never be negative.
    """
    x = np.full((4, 64), 11000.0, np.float32)
    y = (10000.0 + np.tile([-1.0, 1.0], (4, 32))).astype(np.float32)

    def norm(v: Any) -> Any:
        m = ax.lax.pmean(v.mean(), "b")
        s = ax.lax.pmean(((v - m) ** 2).mean(), "b")
        return (s, (v - m) / anp.sqrt(s + 1e-05))

    f = ax.vmap(norm, axis_name="b")
    v = [
        anp.var(anp.asarray(x)),
        anp.var(anp.asarray(y)),
        anp.std(anp.asarray(y), axis=1)[0],
        f(anp.asarray(y))[0][0],
    ]
    assert all(bool(t >= 0) for t in v)
    assert v[0] < 0.001
    assert abs(v[1] - 1) < 0.01
    assert abs(v[2] - 1) < 0.01
    assert abs(v[3] - 1) < 0.01
    assert bool(anp.isfinite(f(anp.asarray(x))[1]).all())


@pytest.mark.usefixtures("wide")
def test_statistics_over_a_mapped_axis_are_those_of_the_whole_batch() -> None:
    """google/flax#2417, google-deepmind/dm-haiku#813: uneven weights gave others.

    Synced batch norm over a named axis is batch norm of the whole batch: values, gradients of the
    shared scale (summed over the axis), and of the inputs equal the unmapped program.
    """
    r = np.random.RandomState(0)
    X = anp.asarray(r.randn(4, 3), anp.float64)
    N = anp.array([3, 1, 2, 3])
    T = anp.asarray(r.randn(4, 3), anp.float64)

    def part(w: Any, x: Any, n: Any, t: Any) -> Any:
        k = anp.arange(3) < n
        tot = ax.lax.psum(n, "b")
        m = ax.lax.psum(anp.sum(x, where=k), "b") / tot
        s = ax.lax.psum(anp.sum((x - m) ** 2, where=k), "b") / tot
        return anp.sum((w * (x - m) / anp.sqrt(s + 0.001) - t) ** 2, where=k)

    def whole(w: Any, X: Any) -> Any:
        K = anp.arange(3)[None] < N[:, None]
        m = anp.mean(X, where=K)
        s = anp.mean((X - m) ** 2, where=K)
        return anp.sum((w * (X - m) / anp.sqrt(s + 0.001) - T) ** 2, where=K)

    def glob(w: Any, X: Any) -> Any:
        return ax.vmap(part, (None, 0, 0, 0), axis_name="b")(w, X, N, T).sum()

    ref = [np.asarray(g) for g in ax.grad(whole, (0, 1))(1.5, X)]
    same(
        [glob(1.5, X), *ax.grad(glob, (0, 1))(1.5, X), *ax.jit(ax.grad(glob, (0, 1)))(1.5, X)],
        [float(whole(1.5, X)), *ref, *ref],
        rtol=1e-4,
        atol=1e-6,
    )


@pytest.mark.usefixtures("wide")
def test_contrastive_loss_over_a_mapped_batch_sees_the_other_lanes() -> None:
    """Terms of the other lanes missed.

    vturrisi/solo-learn#258, facebookresearch/vissl#474, huggingface/accelerate#1154.

    The per-lane loss -log softmax over all lanes' embeddings, written with the batch axis,
    differentiated by the same library without named axes, and by central differences in one
    entry.
    """
    r = np.random.RandomState(0)
    A, B, W = (anp.asarray(r.randn(*s), anp.float64) for s in ((4, 3), (4, 3), (3, 2)))

    def lane(W: Any, a: Any, b: Any) -> Any:
        i, n = (ax.lax.axis_index("b"), ax.lax.psum(1, "b"))
        z, y = (a @ W, b @ W)
        allz = ax.lax.psum(anp.where(anp.arange(n)[:, None] == i, y, 0.0), "b")
        s = allz @ z
        return ax.nn.logsumexp(s) - s[i]

    def batch(W: Any) -> Any:
        s = A @ W @ (B @ W).T
        return (ax.nn.logsumexp(s, axis=1) - anp.diagonal(s)).sum()

    def mapped(W: Any) -> Any:
        return ax.vmap(lane, (None, 0, 0), axis_name="b")(W, A, B).sum()

    E = np.zeros((3, 2))
    E[1, 0] = 1e-05
    fd = (float(batch(W + E)) - float(batch(W - E))) / 2e-05
    g = ax.grad(mapped)(W)
    same(mapped(W), float(batch(W)), rtol=1e-4, atol=1e-6)
    same(g, np.asarray(ax.grad(batch)(W)), rtol=1e-4, atol=1e-6)
    same(g[1, 0], fd, rtol=1e-4, atol=1e-6)
    same(ax.jvp(mapped, (W,), (anp.asarray(E),))[1] * 100000.0, fd, rtol=1e-4, atol=1e-6)


def test_state_that_differs_by_lane_is_not_returned_unmapped() -> None:
    """patrick-kidger/equinox#705: leaked, or refused with a tracer error.

    A state that differs by lane cannot be returned unmapped: the message must say so and name
    out_axes; averaging it first is accepted.
    """

    def step(s: Any, x: Any) -> Any:
        return (ax.lax.cond(x.sum() > 0, lambda: s * 0.5 + x, lambda: s), x.sum())

    X = anp.array([[1.0, 1.0], [-1.0, -1.0]])
    s = anp.array([2.0, 4.0])
    with pytest.raises(ValueError, match="out_axes"):
        ax.vmap(step, (None, 0), (None, 0))(s, X)
    averaged = ax.vmap(
        lambda s, x: (ax.lax.pmean(step(s, x)[0], "b"), x.sum()),
        (None, 0),
        (None, 0),
        axis_name="b",
    )(s, X)
    same(averaged, ([2.0, 3.5], [2.0, -2.0]))


@pytest.mark.usefixtures("wide")
def test_sums_over_positional_axes_beside_names() -> None:
    """jax-ml/jax#10917: failed in the gradient.

    A positional axis in psum sums that axis of the value: per lane row sums, and with the name
    the grand total; gradients are ones (times nothing) for the sum to one scalar.
    """
    x = anp.arange(6.0).reshape(2, 3)
    total = ax.vmap(lambda r: ax.lax.psum(r, ("i", 0)), axis_name="i")(x)
    rows = ax.vmap(ax.value_and_grad(lambda r: ax.lax.psum(r * r, (0,)).sum()), axis_name="i")(x)

    same(total, [15.0, 15.0])
    same(rows, ([5.0, 50.0], [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]))


def test_sums_over_groups_of_lanes() -> None:
    """google/flax#42: statistics over parts of a mapped axis were asked for.

    Groups (0,1) and (2,3): sums 1 and 5 in each member.
    """
    x = anp.arange(4.0)
    groups = [[0, 1], [2, 3]]
    nested = ax.vmap(ax.vmap(lambda v: ax.lax.psum(v, "g"), axis_name="g"), axis_name="r")
    grouped = ax.vmap(lambda v: ax.lax.psum(v, "b", axis_index_groups=groups), axis_name="b")

    same(nested(x.reshape(2, 2)).reshape(4), [1.0, 1.0, 5.0, 5.0])
    same(grouped(x), [1.0, 1.0, 5.0, 5.0])
