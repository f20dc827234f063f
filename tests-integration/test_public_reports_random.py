"""Programs from public bug reports about keys and samples, written anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agreement import same

import axonym as ax
import axonym.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.usefixtures("wide")
def test_integers_over_the_whole_range_of_a_small_type() -> None:
    """jax-ml/jax#5785, jax-ml/jax#6389, jax-ml/jax#18766: all zeros: the bound wrapped around.

    Uniform over all 256 (or all 2^32) values: both ends occur in 20000 draws, the mean is near
    the middle.
    """
    k = ax.random.PRNGKey(0)
    a = ax.random.randint(k, (20000,), 0, 256, anp.uint8)
    b = ax.random.randint(k, (20000,), -128, 128, anp.int8)
    c = ax.random.randint(k, (2000,), 0, 2**32 - 1, anp.uint32)
    same(int(a.min()), 0, rtol=0.05)
    same(int(a.max()), 255, rtol=0.05)
    same(int(b.min()), -128, rtol=0.05)
    same(int(b.max()), 127, rtol=0.05)
    same(float(a.astype(float).mean()), 127.5, rtol=0.05)
    same(float(c.astype(float).mean()) / 2**31, 1.0, rtol=0.05)


def test_entries_of_weight_zero_are_never_drawn() -> None:
    """jax-ml/jax#25498: rounding of the sum let them be drawn.

    An entry of weight zero has probability zero.
    """
    n = 400000
    w = np.zeros(n, np.float32)
    w[: n // 2] = 1.0 / (n // 2)
    p = anp.asarray(w)
    i = ax.random.choice(ax.random.PRNGKey(0), n, (200000,), p=p)
    j = ax.random.choice(ax.random.PRNGKey(1), 6, (2, 3), replace=False)
    k = ax.random.choice(
        ax.random.PRNGKey(2), 4, (3,), replace=False, p=anp.array([0.5, 0.0, 0.25, 0.25])
    )
    same(int((w[np.asarray(i)] == 0).sum()), 0)
    same(sorted(int(t) for t in np.asarray(j).ravel()), [0, 1, 2, 3, 4, 5])
    same(sorted(int(t) for t in k), [0, 2, 3])


def test_mapping_over_no_keys() -> None:
    """jax-ml/jax#37859: spurious error.

    No lanes in, no lanes out.
    """

    def f(k: Any) -> Any:
        a, b = ax.random.split(k)
        return ax.random.normal(a, (3,)) + ax.random.uniform(b)

    ks = ax.random.split(ax.random.PRNGKey(0), 3)[:0]
    tk = ax.random.split(ax.random.key(1), 0)
    same(
        [
            list(ax.vmap(f)(ks).shape),
            list(ax.vmap(f)(tk).shape),
            list(ax.jit(ax.vmap(f))(tk).shape),
            list(ax.lax.map(f, tk).shape),
        ],
        [[0, 3]] * 4,
    )


def test_samples_have_the_shape_that_is_asked_for() -> None:
    """jax-ml/jax#13124: a shape that broadcasts the batch was ignored.

    The documented result shape is the one asked for; rows drawn from different keys differ
    somewhere.
    """
    k = ax.random.PRNGKey(0)
    a = ax.random.categorical(k, anp.ones((4, 1, 10)), axis=-1, shape=(4, 8))
    b = ax.random.categorical(
        k, anp.array([[0.0, -anp.inf], [-anp.inf, 0.0]]), axis=1, shape=(5, 2)
    )
    c = ax.random.categorical(k, anp.zeros((3, 7)), axis=0)
    p = ax.random.bernoulli(k, anp.array([[0.0], [1.0]]), (2, 6))
    same(list(a.shape), [4, 8])
    assert bool((a != a[:, :1]).any())
    same(b, [[0, 1]] * 5)
    same(list(c.shape), [7])
    same(p.astype(int), [[0] * 6, [1] * 6])


def test_empty_ranges_give_nothing_outside() -> None:
    """jax-ml/jax#222, jax-ml/jax#233: a huge negative number.

    An empty range must give an error or the lower bound (documented), never a number outside.
    """

    def one(lo: int, hi: int) -> bool:
        try:
            drawn = ax.random.randint(ax.random.PRNGKey(3), (50,), lo, hi)
        except ValueError:
            return True
        return bool((drawn == lo).all())

    u = ax.random.uniform(ax.random.PRNGKey(0), (1000,), minval=2.0, maxval=2.0)
    assert one(0, 0)
    assert one(5, 2)
    assert one(-3, -3)
    assert bool((u == 2).all())
    same(ax.jit(lambda a: ax.random.randint(ax.random.PRNGKey(1), (3,), a, a))(7), [7, 7, 7])


def test_keys_are_values_of_functions_that_move_elements() -> None:
    """jax-ml/jax#18767, jax-ml/jax#24481: refused.

    Keys are values of an array type: the functions that only move elements must take them,
    equality compares them, NumPy must refuse them.
    """
    k = ax.random.split(ax.random.key(0), 6)
    d = ax.random.key_data(k)

    c = anp.array([1, 0, 1, 0, 0, 1], bool)
    D = np.asarray(d)
    tests = [
        (lambda k: k.reshape(2, 3), D.reshape(2, 3, -1)),
        (lambda k: anp.reshape(k, (3, 2)), D.reshape(3, 2, -1)),
        (lambda k: anp.concatenate([k[:2], k[4:]]), D[[0, 1, 4, 5]]),
        (lambda k: anp.stack([k[0], k[5]]), D[[0, 5]]),
        (lambda k: anp.where(c, k, k[::-1]), np.where(np.asarray(c)[:, None], D, D[::-1])),
        (lambda k: anp.expand_dims(k, 0)[0], D),
        (lambda k: anp.broadcast_to(k[0], (2,)), D[[0, 0]]),
        (lambda k: k[anp.array([3, 1])], D[[3, 1]]),
        (lambda k: anp.take(k, anp.array([2, 0])), D[[2, 0]]),
        (lambda k: k.at[1].set(k[0]), D[[0, 0, 2, 3, 4, 5]]),
        (lambda k: anp.squeeze(k[None]), D),
        (lambda k: anp.roll(k, 1), np.roll(D, 1, 0)),
        (lambda k: anp.flip(k), D[::-1]),
        (
            lambda k: anp.ravel(k.reshape(2, 3).T),
            D.reshape(2, 3, -1).transpose(1, 0, 2).reshape(6, -1),
        ),
        (lambda k: ax.lax.select(c, k, k[::-1]), np.where(np.asarray(c)[:, None], D, D[::-1])),
        (lambda k: anp.tile(k[:1], 2), D[[0, 0]]),
        (lambda k: anp.repeat(k[:2], 2), D[[0, 0, 1, 1]]),
        (lambda k: anp.asarray(k), D),
        (lambda k: anp.array([k[0], k[1]]), D[:2]),
        (lambda k: ax.tree_util.tree_map(lambda *a: anp.stack(a), k[0], k[1]), D[:2]),
    ]
    for move, moved in tests:
        same(ax.random.key_data(move(k)), moved)
    assert bool((k == k).all())
    assert not bool(k[0] == k[1])
    with pytest.raises(TypeError):
        np.asarray(k)
