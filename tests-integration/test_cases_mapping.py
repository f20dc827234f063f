"""Programs about loops, branches and mapped axes from public bug reports, written anew.

Each test names the reports. Where a report speaks of several things and some of them are not there
yet (permutations, meshes), the test has the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from agreement import raised, same

import axonym as ax
import axonym.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")


# Control flow and batching


def test_loops_of_no_steps() -> None:
    """jax-ml/jax#994, jax-ml/jax#2412, jax-ml/jax#11810: shape errors for empty inputs."""

    def body(c: Any, x: Any) -> Any:
        return c + x, {"y": c * anp.ones((2,)), "k": anp.int32(1)}

    nothing = anp.zeros((0,))
    carry, ys = ax.lax.scan(body, 4.0, nothing)

    same(carry, 4.0)
    assert ys["y"].shape == (0, 2)
    assert ys["k"].dtype == np.int32
    same(ax.grad(lambda c: ax.lax.scan(body, c, nothing)[0])(4.0), 1.0)
    assert ax.lax.map(lambda x: x * x, anp.zeros((0, 3))).shape == (0, 3)
    same(ax.lax.fori_loop(5, 5, lambda i, v: v * 0.0, 7.0), 7.0)


def test_each_lane_loops_and_branches_for_itself() -> None:
    """jax-ml/jax#441, jax-ml/jax#1263: no batching rule."""

    def length(n: Any) -> Any:
        def step(state: Any) -> Any:
            k, count = state
            return anp.where(k % 2 == 0, k // 2, 3 * k + 1), count + 1

        return ax.lax.while_loop(lambda s: s[0] != 1, step, (n, 0))[1]

    def plain(n: int) -> int:
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    rows = anp.arange(8.0).reshape(2, 4)
    chosen = ax.vmap(lambda p, y: ax.lax.cond(p, lambda: y, lambda: -y))(
        anp.array([True, False]), rows
    )

    same(ax.vmap(length)(anp.arange(1, 12)), [plain(i) for i in range(1, 12)])
    same(chosen, [[0.0, 1, 2, 3], [-4.0, -5, -6, -7]])


def test_axes_of_vmap_go_where_they_are_asked_to() -> None:
    """jax-ml/jax#13214, patrick-kidger/equinox#900: wrong order; lists refused."""
    x = np.arange(24.0).reshape(2, 3, 4)
    wanted = np.stack([x[:, j] * 2 + x[:, j].sum(0) for j in range(3)])
    for out in (0, 1, 2, -1):
        found = ax.vmap(lambda m: m * 2 + m.sum(0), in_axes=1, out_axes=out)(anp.array(x))
        same(found, np.moveaxis(wanted, 0, out))

    nested = ax.vmap(lambda d, k: d["a"] * k + d["b"], in_axes=({"a": 0, "b": None}, None))
    same(nested({"a": anp.arange(3.0), "b": 5.0}, 2.0), [5.0, 7.0, 9.0])
    same(ax.vmap(lambda a, b: a + b, in_axes=[None, 0])(1.0, anp.arange(2.0)), [1.0, 2.0])
    same(ax.vmap(lambda a, *, b: a - b)(anp.arange(3.0), b=anp.ones(3)), [-1.0, 0, 1.0])


def test_misuse_of_vmap_is_refused_and_empty_calls_are_not() -> None:
    """jax-ml/jax#6372, jax-ml/jax#5021, jax-ml/jax#21671: one lane was picked in silence."""
    v = anp.arange(3.0)

    assert raised(lambda: ax.vmap(lambda t: t, in_axes=True)(v)) == "TypeError"
    assert raised(lambda: ax.vmap(lambda t: t, in_axes=None)(1.0)) == "ValueError"
    assert raised(lambda: ax.vmap(lambda t: t, out_axes=None)(v)) == "ValueError"
    assert raised(lambda: ax.vmap(lambda a, b: a)(v, anp.arange(4.0))) == "ValueError"
    assert raised(lambda: ax.vmap(lambda a: a, in_axes=2)(v)) == "ValueError"
    same(ax.vmap(lambda: 5.0, axis_size=3)(), [5.0] * 3)
    same(ax.vmap(lambda t: 1.0, out_axes=None)(v), 1.0)


def test_batches_of_truth_values_and_of_nothing() -> None:
    """jax-ml/jax#1101, jax-ml/jax#3883: missing rule for boolean argmax; empty batches failed."""
    m = anp.array([[False, True, True], [False, False, False]])

    same(ax.vmap(anp.argmax)(m), [1, 0])
    same(ax.vmap(anp.any)(m), [True, False])
    assert ax.vmap(lambda r: r.sum() * 2)(anp.zeros((0, 4))).shape == (0,)
    same(ax.vmap(lambda s: ax.lax.dynamic_slice(s, [], []))(anp.arange(3)), [0, 1, 2])
    same(ax.vmap(lambda i: anp.arange(4)[i])(anp.array([3, -1])), [3, 3])


def test_index_of_a_branch_is_clamped_in_batches_too() -> None:
    """jax-ml/jax#490: out-of-range indices under vmap."""
    branches = [lambda v: v + 1, lambda v: v * 10, lambda v: -v]

    def pick(i: Any, v: Any) -> Any:
        return ax.lax.switch(i, branches, v)

    same([pick(i, 3.0) for i in (-5, 0, 1, 2, 99)], [4.0, 4.0, 30.0, -3.0, -3.0])
    same(ax.vmap(pick)(anp.array([0, 2, 7]), anp.array([1.0, 2.0, 3.0])), [2.0, -2.0, -3.0])
    same(ax.grad(lambda v: pick(7, v))(3.0), -1.0)


# Named axes


def test_total_gradient_may_be_returned_once_or_to_each_lane() -> None:
    """jax-ml/jax#3970, jax-ml/jax#19970: psum of the gradient was written by hand, or forgotten."""
    xs = anp.array([1.0, 2.0, 3.0])

    def fun(w: Any, x: Any) -> Any:
        return (w * x) ** 2

    def mapped(f: Any, out: Any) -> Any:
        return ax.vmap(f, (None, 0), out, axis_name="i")(2.0, xs)

    same(mapped(ax.grad(fun), 0), [4.0, 16.0, 36.0])
    same(mapped(ax.grad(fun, reduce_axes=("i",)), 0), [56.0] * 3)
    same(mapped(ax.grad(fun, reduce_axes=("i",)), None), 56.0)


def test_reduce_axes_means_the_same_in_vjp_and_linear_transpose() -> None:
    """jax-ml/jax#19970: the option was in three places."""

    def lane(x: Any) -> Any:
        def fun(w: Any) -> Any:
            return anp.array([1.0, 3.0]) * (w * x)

        ct = anp.array([1.0, 10.0]) * x
        _, pull = ax.vjp(fun, 2.0, reduce_axes=("i",))
        transpose = ax.linear_transpose(fun, 2.0, reduce_axes=("i",))
        return pull(ct)[0], transpose(ct)[0]

    same(ax.vmap(lane, axis_name="i")(anp.array([1.0, 2.0])), ([155.0] * 2,) * 2)


def test_collectives_of_values_that_all_lanes_share() -> None:
    """jax-ml/jax#5515, jax-ml/jax#6576: the axis was not bound, since nothing mapped met it."""
    lax = ax.lax
    x = anp.arange(4.0)

    def over(fun: Any) -> Any:
        return ax.vmap(fun, axis_name="i")(x)

    same(over(lambda v: v * 0 + lax.psum(1, "i")), [4.0] * 4)
    same(over(lambda v: lax.pmin(7, "i") + v * 0), [7.0] * 4)
    same(over(lambda v: lax.pmean(3.0, "i") + v * 0), [3.0] * 4)
    same(ax.jit(lambda: over(lambda v: lax.pmax(2, "i") + v))(), [2.0, 3.0, 4.0, 5.0])
    nobody = ax.vmap(
        lambda: lax.psum(anp.array(3.0) ** 2, "i"), out_axes=None, axis_name="i", axis_size=100
    )
    same(nobody(), 900.0)


def test_collectives_inside_of_loops_and_branches() -> None:
    """jax-ml/jax#804, jax-ml/jax#6292, jax-ml/jax#11892: the axis was not bound there."""
    x = anp.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])

    def lane(row: Any) -> Any:
        def body(c: Any, v: Any) -> Any:
            y = ax.lax.cond(v > 2, lambda: ax.lax.pmax(v, "i"), lambda: c)
            return c + ax.lax.psum(v, "i"), y

        return ax.lax.scan(body, 0.0, row)

    carry, ys = ax.vmap(lane, axis_name="i")(x)

    same(carry, [66.0, 66.0])
    same(ys, [[0.0, 11.0, 30.0], [10.0, 20.0, 30.0]])


def test_custom_rules_that_sum_over_the_axis() -> None:
    """jax-ml/jax#7047: a crash, since the rule had no mapped input."""

    def summed(v: Any) -> Any:
        return ax.lax.psum(v, "i")

    total = ax.custom_vjp(summed)
    total.defvjp(lambda v: (summed(v), None), lambda _, ct: (summed(ct),))
    marked = ax.custom_jvp(summed)
    marked.defjvp(lambda p, t: (marked(p[0]), summed(t[0])))

    shared = ax.vmap(lambda: total(2.0), axis_name="i", axis_size=4)()
    pulled = ax.vmap(lambda v: ax.grad(lambda u: total(u) * v)(v), axis_name="i")
    pushed = ax.vmap(lambda v: ax.jvp(marked, (v,), (v,))[1], axis_name="i")

    same(shared, [8.0] * 4)
    same(pulled(anp.array([1.0, 2.0, 4.0])), [7.0] * 3)
    same(pushed(anp.array([1.0, 2.0])), [3.0, 3.0])


def test_unknown_axis_is_named() -> None:
    """jax-ml/jax#3120: an AttributeError about an internal object."""
    x = anp.arange(3.0)
    attempts: list[Callable[[], Any]] = [
        lambda: ax.vmap(lambda v: ax.lax.psum(v, "rows"))(x),
        lambda: ax.lax.pmean(x, "rows"),
        lambda: ax.jit(lambda v: ax.lax.axis_index("rows") + v)(x),
        lambda: ax.vmap(lambda v: ax.lax.pmax(v, "rows"), axis_name="cols")(x),
    ]
    for attempt in attempts:
        with pytest.raises(NameError, match="'rows'"):
            attempt()


def test_collectives_over_two_axes() -> None:
    """jax-ml/jax#4327, jax-ml/jax#4168: results differed between kinds of maps."""
    lax = ax.lax
    x = np.arange(6.0).reshape(2, 3)

    def both(fun: Any) -> Any:
        return ax.vmap(ax.vmap(fun, axis_name="j"), axis_name="i")(anp.array(x))

    def one(fun: Any, values: Any) -> Any:
        return ax.vmap(fun, axis_name="i")(anp.array(values))

    def position(v: Any) -> Any:
        return v * 0 + lax.axis_index("i") * 10 + lax.axis_index("j")

    same(both(lambda v: lax.psum(v, ("i", "j"))), np.full((2, 3), 15.0))
    same(both(lambda v: lax.psum(v, "i")), np.tile(x.sum(0), (2, 1)))
    same(both(lambda v: lax.pmean(v, "j")), np.repeat(x.mean(1, keepdims=True), 3, 1))
    same(both(lambda v: lax.pmax(-v, ("j",))), np.repeat(-x.min(1, keepdims=True), 3, 1))
    same(both(position), [[0.0, 1, 2], [10, 11, 12]])
    same(one(lambda k: lax.pmean(k, "i"), [1, 2]), [1.5, 1.5])
    same(one(lambda k: lax.psum(k, "i"), [True, True]), [2, 2])


def test_xmap_lays_out_results_as_named() -> None:
    """jax-ml/jax#5453, jax-ml/jax#6461: wrong order of axes in nested maps."""
    x, y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    fun = ax.xmap(
        lambda a, b: (a[None] * b).sum() + a,
        in_axes=({0: "r", 1: "k"}, {0: "k"}),
        out_axes={0: "k", 1: "r"},
    )
    rows = ax.xmap(lambda a: ax.lax.psum(a, "k"), in_axes=["r", "k"], out_axes=["r"])
    left_over = ax.xmap(lambda a: a, in_axes=["r", "k"], out_axes=["r"])
    unequal = ax.xmap(lambda a, b: a, in_axes=(["r"], ["r"]), out_axes=["r"])

    same(fun(anp.array(x), anp.array(y)), (x * y.sum(1)[None] + x).T)
    same(rows(anp.array(x)), x.sum(1))
    assert raised(lambda: left_over(anp.array(x))) == "ValueError"
    assert raised(lambda: unequal(anp.zeros(2), anp.zeros(3))) == "ValueError"


def test_xmap_inside_of_jit_and_vmap() -> None:
    """jax-ml/jax#5847, jax-ml/jax#17201: errors about None; loops broke when names changed."""
    columns = ax.xmap(lambda a: a.sum(), in_axes={1: "b"}, out_axes={0: "b"})
    blocks = np.arange(12.0).reshape(2, 3, 2)

    def series(m: Any) -> Any:
        """The first terms of the exponential, in a loop."""

        def step(term: Any, k: Any) -> Any:
            term = term @ m / k
            return term, term

        return anp.eye(2) + ax.lax.scan(step, anp.eye(2), anp.arange(1.0, 16.0))[1].sum(0)

    each = ax.xmap(series, in_axes=["b", ...], out_axes=["b", ...])
    diagonals = np.stack([np.diag([0.0, 1.0]), np.diag([2.0, -1.0]), np.zeros((2, 2))])
    wanted = [np.diag(np.exp(np.diag(d))) for d in diagonals]

    same(ax.jit(ax.vmap(columns))(anp.array(blocks)), blocks.sum(1))
    same(ax.jit(each)(anp.array(diagonals, anp.float32)), wanted, rtol=1e-4, atol=1e-5)
    gradient = ax.grad(lambda t: ax.jit(each)(t).sum())(anp.zeros((1, 2, 2)))
    same(gradient, np.ones((1, 2, 2)), rtol=1e-4)
