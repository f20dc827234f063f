"""Ties of extremes over names and dimensions together are shared by all that attain the extreme."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym.numpy as anp
from axonym_autodiff import grad, jvp
from axonym_compile import jit
from axonym_core import lax
from axonym_mapping import vmap, xmap

pytestmark = pytest.mark.usefixtures("backend")

ROWS = np.array([[3.0, 3.0], [3.0, 2.0], [1.0, 0.0]])
CUBE = np.array([[[2.0, 1.0], [2.0, 2.0]], [[0.0, 2.0], [1.0, 2.0]], [[0.0, 0.0], [0.0, 2.0]]])

# Functions of one row, which is 1-d, and of the name of the axis along which the rows lie.
LARGEST: dict[str, Callable[[Any, Any], Any]] = {
    "numpy max": lambda x, name: anp.max(x, axis=(0, name)),
    "numpy min": lambda x, name: -anp.min(-x, axis=(name, 0)),
    "pmax": lambda x, name: lax.pmax(x, (name, 0)),
    "pmin": lambda x, name: -lax.pmin(-x, (0, name)),
    "reduce_max": lambda x, name: lax.reduce_max(x, (0,), name),
    "infinity norm": lambda x, name: anp.linalg.vector_norm(x, axis=(0, name), ord=np.inf),
}


def shares(x: np.ndarray) -> np.ndarray:
    winners = x == x.max()
    return winners / winners.sum()


@pytest.mark.parametrize("name", LARGEST)
def test_all_winners_share_equally(name: str) -> None:
    def f(x: Any) -> Any:
        return LARGEST[name](x, "i")

    direction = np.arange(6.0).reshape(3, 2) + 1
    over = vmap(f, out_axes=None, axis_name="i")
    total = vmap(grad(f, reduce_axes="i"), axis_name="i")
    slope = vmap(lambda x, t: jvp(f, (x,), (t,))[1], out_axes=None, axis_name="i")

    np.testing.assert_allclose(over(ROWS), 3.0)
    np.testing.assert_allclose(total(ROWS), shares(ROWS))
    np.testing.assert_allclose(jit(total)(ROWS), shares(ROWS))
    np.testing.assert_allclose(grad(over)(ROWS), shares(ROWS))
    np.testing.assert_allclose(
        xmap(grad(f, reduce_axes="i"), ["i", ...], ["i", ...])(ROWS), shares(ROWS)
    )
    # Each index has a maximum of its own, and each is in the gradient.
    np.testing.assert_allclose(vmap(grad(f), axis_name="i")(ROWS), 3 * shares(ROWS))
    np.testing.assert_allclose(slope(ROWS, direction), (shares(ROWS) * direction).sum())
    np.testing.assert_allclose(
        jvp(over, (ROWS,), (direction,))[1], (shares(ROWS) * direction).sum()
    )


@pytest.mark.parametrize("way", ["pmax", "numpy max"])
def test_ties_over_two_names_and_a_dimension_inside_and_outside_of_maps(way: str) -> None:
    """The gradient is taken inside of both maps, between them, and outside."""

    def f(x: Any) -> Any:
        return lax.pmax(x, ("i", "j", 0)) if way == "pmax" else anp.max(x, axis=("j", 0, "i"))

    inner = vmap(f, out_axes=None, axis_name="j")
    wanted = shares(CUBE)

    inside = vmap(vmap(grad(f, reduce_axes=("i", "j")), axis_name="j"), axis_name="i")
    between = vmap(grad(inner, reduce_axes="i"), axis_name="i")
    outside = grad(vmap(inner, out_axes=None, axis_name="i"))

    for gradient in (inside, between, outside, jit(between)):
        np.testing.assert_allclose(gradient(CUBE), wanted)


def test_ties_with_a_value_that_all_indices_share() -> None:
    def f(w: Any, x: Any) -> Any:
        return anp.max(anp.stack([w, x]), axis=(0, "i"))

    of_w, of_x = vmap(grad(f, (0, 1), reduce_axes="i"), (None, 0), (None, 0), axis_name="i")(
        np.asarray(2.0), np.array([2.0, 1.0, 2.0])
    )

    np.testing.assert_allclose(of_w, 3 / 5)
    np.testing.assert_allclose(of_x, [1 / 5, 0, 1 / 5])


def test_infinite_tangents_of_losers_do_not_show() -> None:
    x, t = np.array([1.0, 2.0]), np.array([np.inf, 3.0])
    slope = vmap(
        lambda x, t: jvp(lambda v: lax.pmax(v, "i"), (x,), (t,))[1], out_axes=None, axis_name="i"
    )

    np.testing.assert_allclose(slope(x, t), 3.0)
