"""Keys are elements of arrays: whatever only moves elements takes them, and nothing else does.

The oracle is NumPy on the words of the keys, as structured elements.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym import lax, random
from axonym.errors import AxonymError, NotDifferentiableError

MASK = np.array([True, False, True, False, False, True])
ORDER = np.array([3, 1, 0])

# By name: the same function of keys, and of NumPy's array of their elements.
MOVES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "reshape": (lambda k: anp.reshape(k, (2, 3)), lambda e: e.reshape(2, 3)),
    "method reshape": (lambda k: k.reshape(3, -1), lambda e: e.reshape(3, 2)),
    "transpose": (lambda k: k.reshape(2, 3).T, lambda e: e.reshape(2, 3).T),
    "moveaxis": (
        lambda k: anp.moveaxis(k.reshape(1, 2, 3), 2, 0),
        lambda e: np.moveaxis(e.reshape(1, 2, 3), 2, 0),
    ),
    "ravel": (lambda k: anp.ravel(k.reshape(2, 3)), lambda e: e),
    "squeeze": (lambda k: anp.squeeze(k[None]), lambda e: e),
    "expand_dims": (lambda k: anp.expand_dims(k, (0, 2)), lambda e: e[None, :, None]),
    "broadcast_to": (lambda k: anp.broadcast_to(k, (2, 6)), lambda e: np.broadcast_to(e, (2, 6))),
    "concatenate": (
        lambda k: anp.concatenate([k[:2], k[4:]]),
        lambda e: np.concatenate([e[:2], e[4:]]),
    ),
    "stack": (lambda k: anp.stack([k, k[::-1]], 1), lambda e: np.stack([e, e[::-1]], 1)),
    "hstack": (lambda k: anp.hstack([k, k]), lambda e: np.hstack([e, e])),
    "vstack": (lambda k: anp.vstack([k, k]), lambda e: np.vstack([e, e])),
    "append": (lambda k: anp.append(k, k[:1]), lambda e: np.append(e, e[:1])),
    "split": (lambda k: anp.split(k, 3)[1], lambda e: np.split(e, 3)[1]),
    "where": (lambda k: anp.where(MASK, k, k[::-1]), lambda e: np.where(MASK, e, e[::-1])),
    "select": (lambda k: lax.select(MASK, k, k[::-1]), lambda e: np.where(MASK, e, e[::-1])),
    "take": (lambda k: anp.take(k, ORDER), lambda e: np.take(e, ORDER)),
    "take_along_axis": (
        lambda k: anp.take_along_axis(k, anp.asarray(ORDER), 0),
        lambda e: np.take_along_axis(e, ORDER, 0),
    ),
    "integer": (lambda k: k[-2], lambda e: e[-2]),
    "slice": (lambda k: k[4:0:-2], lambda e: e[4:0:-2]),
    "indices": (lambda k: k[ORDER], lambda e: e[ORDER]),
    "dynamic index": (lambda k: lax.dynamic_index_in_dim(k, 2, 0, False), lambda e: e[2]),
    "dynamic slice": (lambda k: lax.dynamic_slice(k, (2,), (3,)), lambda e: e[2:5]),
    "set": (lambda k: k.at[ORDER].set(k[:3]), lambda e: _with(e, ORDER, e[:3])),
    "set one": (lambda k: k.at[1].set(k[0]), lambda e: _with(e, 1, e[0])),
    "update slice": (
        lambda k: lax.dynamic_update_slice(k, k[:2], (3,)),
        lambda e: _with(e, slice(3, 5), e[:2]),
    ),
    "roll": (lambda k: anp.roll(k, 2), lambda e: np.roll(e, 2)),
    "flip": (lambda k: anp.flip(k), lambda e: e[::-1]),
    "rot90": (lambda k: anp.rot90(k.reshape(2, 3)), lambda e: np.rot90(e.reshape(2, 3))),
    "tile": (lambda k: anp.tile(k, (2, 1)), lambda e: np.tile(e, (2, 1))),
    "repeat": (lambda k: anp.repeat(k, 2), lambda e: np.repeat(e, 2)),
    "pad": (lambda k: lax.pad(k, k[0], [(1, 2, 0)]), lambda e: np.r_[e[:1], e, e[:1], e[:1]]),
    "zeros_like": (anp.zeros_like, np.zeros_like),
    "full_like": (lambda k: anp.full_like(k, k[3]), lambda e: np.full_like(e, e[3])),
    "asarray": (anp.asarray, lambda e: e),
    "array": (lambda k: anp.array([k[0], k[5]]), lambda e: e[[0, 5]]),
    "copy": (lambda k: k.copy(), lambda e: e),
    "atleast_2d": (anp.atleast_2d, np.atleast_2d),
    "unpacked": (lambda k: anp.stack([*k]), lambda e: e),
    "sorted by numbers": (
        lambda k: lax.sort_key_val(anp.asarray([5, 3, 4, 1, 0, 2]), k)[1],
        lambda e: e[[4, 3, 5, 1, 2, 0]],
    ),
    "scan over": (lambda k: lax.scan(lambda c, x: (x, c), k[0], k)[1], lambda e: e[[0, *range(5)]]),
    "cond": (lambda k: lax.cond(True, lambda k: k[::-1], lambda k: k, k), lambda e: e[::-1]),
    "while": (
        lambda k: lax.fori_loop(0, 2, lambda i, k: anp.roll(k, i + 1), k),
        lambda e: np.roll(e, 3),
    ),
    "cond in a map": (
        lambda k: ax.vmap(lambda p, x: lax.cond(p, lambda x: k[0], lambda x: x, x), axis_name="j")(
            anp.asarray(MASK), k
        ),
        lambda e: np.where(MASK, e[0], e),
    ),
    "map over": (lambda k: ax.vmap(lambda x, y: (y, x))(k, k[::-1])[0], lambda e: e[::-1]),
    "gather over a name": (
        lambda k: ax.vmap(lambda x: k[lax.axis_index("i")], axis_name="i")(k),
        lambda e: e,
    ),
}


def _with(elements: Any, where: Any, new: Any) -> Any:
    out = elements.copy()
    out[where] = new
    return out


def elements(keys: Any) -> Any:
    """NumPy's array with the pair of words of each key as an element."""
    data = np.asarray(random.key_data(keys))
    pair = np.dtype([("first", np.uint32), ("second", np.uint32)])
    return np.ascontiguousarray(data).view(pair).reshape(data.shape[:-1])


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("name", MOVES)
def test_what_moves_elements_moves_keys(name: str, backend: str) -> None:
    move, of_elements = MOVES[name]
    with ax.config.override(backend=backend):
        keys = random.split(random.key(7), 6)
        expected = of_elements(elements(keys))

        for moved in (move(keys), ax.jit(move)(keys)):
            assert moved.dtype == keys.dtype
            np.testing.assert_array_equal(elements(moved), expected)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("name", [n for n in MOVES if n not in ("unpacked", "zeros_like")])
def test_it_moves_them_in_a_map_as_in_a_loop(name: str, backend: str) -> None:
    move = MOVES[name][0]
    with ax.config.override(backend=backend):
        keys = random.split(random.key(7), (3, 6))
        expected = np.stack([elements(move(row)) for row in keys])

        for axis_name in (None, "lanes"):
            mapped = ax.vmap(move, axis_name=axis_name)(keys)
            np.testing.assert_array_equal(elements(mapped), expected)
        columns = ax.vmap(move, in_axes=1)(anp.moveaxis(keys, 0, 1))
        np.testing.assert_array_equal(elements(columns), expected)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_permutations_and_choices_of_keys(backend: str) -> None:
    with ax.config.override(backend=backend):
        keys, key = random.split(random.key(7), 6), random.key(0)
        order = random.permutation(key, 6).tolist()

        moved = [
            (random.permutation(key, keys), elements(keys)[order]),
            (random.choice(key, keys, (4,)), elements(keys)[random.choice(key, 6, (4,)).tolist()]),
        ]
        for drawn, expected in moved:
            np.testing.assert_array_equal(elements(drawn), expected)
        rows = random.permutation(key, keys.reshape(2, 3), axis=1, independent=True)
        assert sorted(elements(rows).ravel().tolist()) == sorted(elements(keys).tolist())


NOT_MOVES: dict[str, Callable[[Any], Any]] = {
    "add": lambda k: k + k,
    "add a number": lambda k: k + 1,
    "multiply": lambda k: anp.multiply(k, k),
    "negate": lambda k: -k,
    "less": lambda k: k < k,
    "maximum": anp.maximum,
    "sum": anp.sum,
    "max": anp.max,
    "argmax": anp.argmax,
    "any": lambda k: lax.reduce_or(k, (0,)),
    "sort": anp.sort,
    "argsort": anp.argsort,
    "top_k": lambda k: lax.top_k(k, 1),
    "cumsum": anp.cumsum,
    "cummax": lax.cummax,
    "dot": lambda k: anp.dot(k, k),
    "sin": anp.sin,
    "bits": lambda k: k & k,
    "to truth": lambda k: k.astype(bool),
    "astype": lambda k: k.astype("uint64"),
    "scatter add": lambda k: k.at[0].add(k[0]),
    "scatter max": lambda k: k.at[0].max(k[0]),
    "set a number": lambda k: k.at[0].set(1),
    "fill with a number": lambda k: k.at[9].get(mode="fill", fill_value=1),
    "where with numbers": lambda k: anp.where(MASK, k, 0),
    "join with numbers": lambda k: anp.concatenate([k, anp.zeros(1, "uint32")]),
    "full of a number": lambda k: anp.full_like(k, 1),
    "index with": lambda k: anp.zeros(3)[k],
    "truth": lambda k: anp.where(k, 1, 2),
    "psum": lambda k: ax.vmap(lambda x: lax.psum(x, "i"), axis_name="i")(k),
    "pmax": lambda k: ax.vmap(lambda x: lax.pmax(x, "i"), axis_name="i")(k),
}


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("name", NOT_MOVES)
def test_what_calculates_refuses_keys(name: str, backend: str) -> None:
    function = NOT_MOVES[name]
    with ax.config.override(backend=backend):
        keys = random.split(random.key(7), 6)
        for call in (function, ax.jit(function), ax.vmap(lambda k: function(k[None]))):
            with pytest.raises(TypeError) as refused:
                call(keys)
            assert isinstance(refused.value, AxonymError) or "argument" in str(refused.value)


def test_a_key_array_is_one_leaf_and_travels_as_one() -> None:
    keys = random.split(random.key(7), 6)
    tree = {"rng": keys, "w": anp.ones(2)}

    assert len(ax.tree_util.tree_leaves(tree)) == 2
    assert ax.tree_util.tree_map(lambda x: x.shape, tree) == {"rng": (6,), "w": (2,)}
    for travelled in (
        copy.deepcopy(keys),
        pickle.loads(pickle.dumps(keys)),
        ax.device_put(keys),
        ax.device_get(keys),
        ax.jit(lambda t: t)(tree)["rng"],
    ):
        np.testing.assert_array_equal(elements(travelled), elements(keys))


def test_keys_go_between_backends() -> None:
    with ax.config.override(backend="numpy"):
        keys = random.split(random.key(7), 6)
    with ax.config.override(backend="xla"):
        moved = anp.flip(ax.device_put(keys))
    np.testing.assert_array_equal(elements(moved), elements(keys)[::-1])


def test_no_keys_are_keys_too() -> None:
    none = random.split(random.key(0), 0)

    assert anp.concatenate([none, none]).shape == (0,)
    assert ax.vmap(lambda k: random.normal(k, (2,)))(none).shape == (0, 2)


def test_keys_have_no_derivative_and_stand_beside_what_has() -> None:
    keys = random.split(random.key(7), 2)

    def loss(w: Any, keys: Any) -> Any:
        chosen = anp.where(w[0] > 0, keys[0], keys[1])
        return anp.sum(w * random.normal(chosen, (3,)))

    gradient = ax.grad(loss)(anp.ones(3), keys)
    np.testing.assert_allclose(gradient, random.normal(keys[0], (3,)), rtol=1e-6)
    with pytest.raises(NotDifferentiableError):
        ax.grad(loss, argnums=1)(anp.ones(3), keys)
