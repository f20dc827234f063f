"""The linear functions of `vjp`, `linearize` and `linear_transpose` are trees of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axonym_autodiff import custom_vjp, grad, linear_transpose, linearize, vjp
from axonym_compile import jit
from axonym_core import lax
from axonym_core.trees import tree_flatten, tree_map, tree_structure, tree_unflatten
from axonym_mapping import vmap

pytestmark = pytest.mark.usefixtures("backend")

XS = np.array([1.0, -2.0, 0.5])
X = np.asarray(0.7)
CT = np.asarray(3.0)


def f(x: Any) -> Any:
    return lax.sin(x) * x


def slope(x: Any) -> Any:
    return np.cos(x) * x + np.sin(x)


@custom_vjp
def wrong(x: Any) -> Any:
    return lax.sin(x)


wrong.defvjp(lambda x: (lax.sin(x), x), lambda x, ct: (ct * lax.cos(x) * 10.0,))


def pull_of(x: Any) -> Any:
    return vjp(f, x)[1]


def push_of(x: Any) -> Any:
    return linearize(f, x)[1]


def transposed(x: Any) -> Any:
    factor = lax.cos(x) * x + lax.sin(x)
    return linear_transpose(lambda v: v * factor, X)


MAPS = {"vjp": pull_of, "linearize": push_of, "linear_transpose": transposed}


def first(x: Any) -> Any:
    return x[0] if isinstance(x, tuple) else x


@pytest.fixture(params=MAPS)
def make(request: pytest.FixtureRequest) -> Any:
    return MAPS[request.param]


def test_they_cross_compiled_functions(make: Any) -> None:
    made = jit(make)
    apply = jit(lambda g, ct: first(g(ct)))

    np.testing.assert_allclose(first(made(X)(CT)), CT * slope(X))
    np.testing.assert_allclose(apply(make(X), CT), CT * slope(X))
    for x in map(np.asarray, XS):
        np.testing.assert_allclose(apply(made(x), CT), CT * slope(x))
    assert tree_structure(made(X)) == tree_structure(made(CT))


def test_they_are_taken_apart_and_put_together(make: Any) -> None:
    leaves, tree = tree_flatten(make(X))
    again = tree_unflatten(tree, leaves)

    assert leaves
    assert tree_structure(again) == tree
    np.testing.assert_allclose(first(again(CT)), CT * slope(X))
    none = tree_map(lambda leaf: leaf * 0, again)
    np.testing.assert_allclose(first(none(CT)), 0.0)


def test_they_are_carried_through_loops_and_chosen_by_branches(make: Any) -> None:
    def step(carry: Any, x: Any) -> Any:
        total, g = carry
        return (total + first(g(x)), g), None

    (total, _), _ = lax.scan(step, (np.float64(0), make(X)), XS)
    chosen = lax.cond(True, lambda g: first(g(CT)), lambda g: CT, make(X))

    np.testing.assert_allclose(total, slope(X) * XS.sum())
    np.testing.assert_allclose(chosen, CT * slope(X))


def test_they_are_made_and_applied_by_mapped_functions(make: Any) -> None:
    each = vmap(make)(XS)

    np.testing.assert_allclose(vmap(lambda g, ct: first(g(ct)))(each, XS), slope(XS) * XS)


def test_they_are_saved_by_forward_rules() -> None:
    g = custom_vjp(f)
    g.defvjp(lambda x: vjp(f, x), lambda pull, ct: pull(ct * 10.0))

    np.testing.assert_allclose(jit(grad(g))(X), 10 * slope(X))
    np.testing.assert_allclose(vmap(grad(jit(g)))(XS), 10 * slope(XS))


def test_pull_back_of_a_custom_rule_crosses_a_compiled_function() -> None:
    pull = jit(lambda x: vjp(wrong, x)[1])(X)

    np.testing.assert_allclose(jit(lambda g: g(CT)[0])(pull), CT * np.cos(X) * 10)


def test_pull_back_of_a_tree_with_auxiliary_results() -> None:
    def of(params: Any) -> Any:
        return {"y": params["a"] * params["b"]}, params["a"]

    def both(params: Any) -> Any:
        value, pull, aux = vjp(of, params, has_aux=True)
        return value["y"], aux, pull

    value, aux, pull = jit(both)({"a": X, "b": CT})
    (ct,) = pull({"y": np.float64(2.0)})

    np.testing.assert_allclose([value, aux, ct["a"], ct["b"]], [X * CT, X, 2 * CT, 2 * X])
