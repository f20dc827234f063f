"""Collectives over dimensions beside names, and within groups of indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axonym as ax
from axonym import lax
from axonym.errors import ArgumentValueError, AxisNameError, ShapeError

X = np.array([[1.0, 5.0, 2.0], [7.0, 3.0, 4.0], [0.5, 6.0, 8.0], [9.0, 2.5, 1.5]])
REDUCTIONS = {"psum": np.sum, "pmean": np.mean, "pmax": np.max, "pmin": np.min}
GROUPS: list[Any] = [
    [[0, 1], [2, 3]],
    [[0, 3], [1, 2]],
    [[3], [1, 0, 2]],
    [[2], [0], [3], [1]],
    [[3, 1, 0, 2]],
    [(), [0, 1, 2], (3,)],
]

pytestmark = pytest.mark.usefixtures("backend")


def within(name: str, groups: Any, x: Any = X) -> Any:
    out = np.empty_like(x)
    for group in groups:
        if len(group):
            out[list(group)] = REDUCTIONS[name](x[list(group)], axis=0)
    return out


@pytest.mark.parametrize("name", REDUCTIONS)
def test_dimensions_are_reduced_beside_names(name: str) -> None:
    f, whole = getattr(lax, name), REDUCTIONS[name]
    for axis_name in (("i", 0), (0, "i"), ("i", -1)):
        got = ax.vmap(lambda r, a=axis_name: f(r, a), axis_name="i", out_axes=None)(X)
        np.testing.assert_allclose(got, whole(X))
    for axis_name in (0, (0,), -1, np.int64(0)):
        got = ax.vmap(lambda r, a=axis_name: f(r, a), axis_name="i")(X)
        np.testing.assert_allclose(got, whole(X, axis=1))
    np.testing.assert_allclose(f(X, (0, 1)), whole(X))
    np.testing.assert_allclose(ax.jit(lambda x: f(x, 1))(X), whole(X, axis=1))
    tree = ax.vmap(lambda r: f({"a": r, "b": r[None]}, ("i", 0)), axis_name="i", out_axes=None)(X)
    np.testing.assert_allclose(tree["a"], whole(X))
    np.testing.assert_allclose(tree["b"], whole(X, axis=0))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_derivatives_over_dimensions_beside_names_are_those_of_the_whole_reduction(
    name: str,
) -> None:
    f, whole = getattr(lax, name), REDUCTIONS[name]
    eps = 1e-6
    slope = np.zeros_like(X)
    for index in np.ndindex(*X.shape):
        step = np.zeros_like(X)
        step[index] = eps
        slope[index] = (whole(X + step) - whole(X - step)) / (2 * eps)
    loss = lambda r: f(r, ("i", 0))  # noqa: E731
    total = ax.vmap(ax.grad(loss, reduce_axes=("i",)), axis_name="i")(X)
    np.testing.assert_allclose(total, slope, atol=1e-8)
    # Each of the four indices has a copy of the result, and each copy counts.
    np.testing.assert_allclose(ax.vmap(ax.grad(loss), axis_name="i")(X), 4 * slope, atol=1e-8)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_stay_within_groups(name: str, groups: Any) -> None:
    f = getattr(lax, name)
    reduce = lambda r: f(r, "i", axis_index_groups=groups)  # noqa: E731
    want = within(name, groups)
    for call in (ax.vmap(reduce, axis_name="i"), ax.jit(ax.vmap(reduce, axis_name="i"))):
        np.testing.assert_allclose(call(X), want)
    moved = ax.vmap(reduce, in_axes=1, out_axes=1, axis_name="i")(X.T)
    np.testing.assert_allclose(moved, want.T)
    outer = ax.vmap(ax.vmap(reduce, axis_name="i"), axis_name="j")(np.stack([X, -X]))
    np.testing.assert_allclose(outer, [want, within(name, groups, -X)])
    inner = ax.vmap(ax.vmap(reduce), axis_name="i")(X)
    np.testing.assert_allclose(inner, want)
    same = ax.vmap(lambda r: f(np.ones(2), "i", axis_index_groups=groups), axis_name="i")(X)
    np.testing.assert_allclose(same, within(name, groups, np.ones((4, 2))))
    named = ax.xmap(reduce, in_axes=["i", ...], out_axes=["i", ...])(X)
    np.testing.assert_allclose(named, want)


@pytest.mark.parametrize("reduce_axes", [(), ("i",)])
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_derivatives_within_groups_are_those_of_the_positional_program(
    name: str, groups: Any, reduce_axes: Any
) -> None:
    f = getattr(lax, name)
    weights = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, 1.0], [-1.0, 2.0, 4.0], [0.25, 1.5, -0.5]])

    def loss(w: Any, r: Any, c: Any) -> Any:
        return lax.reduce_sum(f(w * r, "i", axis_index_groups=groups) * c, (0,))

    def whole(w: Any) -> float:
        return float(np.sum(within(name, groups, w * X) * weights))

    eps = 1e-6
    each = np.zeros(4)
    for k in range(4):
        step = np.zeros((4, 1))
        step[k] = eps
        each[k] = (whole(1.0 + step) - whole(1.0 - step)) / (2 * eps)
    grad = ax.grad(loss, reduce_axes=reduce_axes)
    got = ax.vmap(grad, (None, 0, 0), axis_name="i")(1.0, X, weights)
    want = np.full(4, each.sum()) if reduce_axes else each
    np.testing.assert_allclose(got, want, atol=1e-7)
    np.testing.assert_allclose(
        ax.vmap(grad, (0, 0, 0), axis_name="i")(np.ones(4), X, weights), each, atol=1e-7
    )
    tangent = ax.jvp(
        lambda w: ax.vmap(loss, (None, 0, 0), axis_name="i")(w, X, weights), (1.0,), (1.0,)
    )
    np.testing.assert_allclose(np.sum(np.asarray(tangent[1])), each.sum(), atol=1e-7)


def test_ties_within_a_group_share_equally() -> None:
    x = np.array([2.0, 2.0, 1.0, 2.0])
    loss = lambda v: lax.pmax(v, "i", axis_index_groups=[[0, 1, 2], [3]])  # noqa: E731
    got = ax.vmap(ax.grad(loss), axis_name="i")(x)
    np.testing.assert_allclose(got, [1.5, 1.5, 0.0, 1.0])  # three copies of the first maximum


def test_python_numbers_stay_numbers_where_groups_are_of_one_size() -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append(lax.psum(1, "i", axis_index_groups=[[0, 1], [2, 3]]))
        seen.append(lax.pmean(0.1, "i"))
        return x + lax.psum(1, "i", axis_index_groups=[[0], [1, 2, 3]])

    np.testing.assert_array_equal(ax.vmap(f, axis_name="i")(np.zeros(4)), [1, 3, 3, 3])
    assert seen == [2, 0.1]


def test_axes_of_size_0_and_groups_of_nothing() -> None:
    empty = np.zeros((0, 3))
    for name in REDUCTIONS:
        f = getattr(lax, name)
        for groups in ([], [[]]):
            reduce = lambda r, f=f, g=groups: f(r, "i", axis_index_groups=g)  # noqa: E731
            assert ax.vmap(reduce, axis_name="i")(empty).shape == (0, 3)
    got = ax.vmap(lambda r: lax.psum(r, ("i", 0)), axis_name="i", out_axes=None)(empty)
    assert float(got) == 0.0


def test_integers_that_name_an_axis_are_names_unless_they_are_dimensions_too() -> None:
    x = np.array([1.0, 2.0, 4.0])
    total = ax.vmap(lambda v: lax.psum(v, 0), axis_name=0, out_axes=None)(x)
    assert float(total) == 7.0
    with pytest.raises(AxisNameError, match="both a dimension"):
        ax.vmap(lambda r: lax.psum(r, 0), axis_name=0)(X)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: lax.psum(r, ("i", 1)), ShapeError, "axis_name=1 is not a dimension"),
        (lambda r: lax.pmax(r, (0, -1)), ShapeError, "twice"),
        (lambda r: lax.pmean(1.0, 0), ShapeError, "0-d"),
        (lambda r: lax.axis_index(0), AxisNameError, "0 is no name"),
        (lambda r: lax.axis_size(0), AxisNameError, "x.shape"),
        (lambda r: lax.psum(r, "j"), AxisNameError, "axis_name='j'"),
        (lambda r: lax.psum(r, True), AxisNameError, "True is no name"),
        (lambda r: lax.psum(r, ("i", 0), axis_index_groups=[[0]]), ArgumentValueError, "one named"),
        (lambda r: lax.psum(r, "i", axis_index_groups=[[0, 1]]), ArgumentValueError, "once"),
        (lambda r: lax.psum(r, "i", axis_index_groups=[[0, 1, 2, 3, 3]]), ValueError, "once"),
        (lambda r: lax.psum(r, "i", axis_index_groups=[0, 1, 2, 3.5]), TypeError, "integers"),
        (lambda r: lax.pmin(r, "i", axis_index_groups=7), TypeError, "axis_index_groups"),
    ],
)
def test_what_cannot_be_reduced_is_refused(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        ax.vmap(call, axis_name="i")(X)
    assert isinstance(raised.value, ax.errors.AxonymError)


def test_values_that_all_indices_share_count_once_for_each_index_of_all_axes() -> None:
    def both(x: Any) -> Any:
        inner = ax.vmap(lambda y: lax.psum(x, ("a", "b")) + 0 * y, axis_name="b")
        return ax.vmap(lambda y: inner(np.zeros(3)) + 0 * y, axis_name="a")(np.zeros(2))

    np.testing.assert_array_equal(both(np.float64(5.0)), np.full((2, 3), 30.0))
