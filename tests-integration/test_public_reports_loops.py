"""Programs from public bug reports about loops and branches, written anew."""

from __future__ import annotations

import math
from typing import Any

import pytest
from agreement import same

import axonym as ax
import axonym.numpy as anp

pytestmark = pytest.mark.usefixtures("backend", "wide")


def test_reverse_mode_through_a_loop_that_overwrites_rows() -> None:
    """jax-ml/jax#1954: failed.

    The loop overwrites every row with x*(t+1): d/dx = 1+2+3+4 = 10, d/dtable = 0.
    """

    def f(table: Any, x: Any) -> Any:

        def step(t: Any, c: Any) -> Any:
            return (c[0].at[t].set(c[1] * (t + 1)), c[1])

        return ax.lax.fori_loop(0, 4, step, (table, x))[0].sum()

    same(
        list(ax.jit(ax.grad(f, (0, 1)))(anp.zeros((4, 2)), anp.array([1.0, 2.0]))),
        [[[0.0, 0.0]] * 4, [10.0, 10.0]],
    )


def test_second_derivatives_through_a_stepping_loop_that_freezes() -> None:
    """google-deepmind/torax#2331: NaN, though the first was right.

    The loop computes sqrt(x): slope 1/(2 sqrt x) = 1/6, second -1/(4 x^1.5) = -1/108.
    """

    def root(x: Any) -> Any:

        def step(y: Any, _: Any) -> Any:
            r = y * y - x
            done = anp.abs(r) < 1e-13
            safe = anp.where(done, 1.0, r)
            move = r / (2 * y) * anp.sqrt(safe * safe) / anp.abs(safe)
            return (y - move, None)

        return ax.lax.scan(step, x, None, length=9)[0]

    h1 = ax.grad(ax.grad(root))(9.0)
    h2 = ax.jvp(ax.grad(root), (9.0,), (1.0,))[1]
    same(ax.grad(root)(9.0), 1 / 6)
    same(ax.jvp(root, (9.0,), (1.0,))[1], 1 / 6)
    same(h1, -1 / 108)
    same(h2, -1 / 108)


def test_scan_whose_body_takes_a_gradient() -> None:
    """jax-ml/jax#757: compiling its forward derivative failed.

    X -> -sin(x) ten times; the chain rule multiplies -cos at each point (computed in plain
    Python).
    """

    def loop(x: Any) -> Any:
        return ax.lax.scan(lambda c, i: (ax.grad(anp.cos)(c), i), x, anp.arange(10))[0]

    x, d = (0.5, 1.0)
    for _ in range(10):
        d *= -math.cos(x)
        x = -math.sin(x)

    def fwd(v: Any) -> Any:
        return ax.jvp(loop, (v,), (1.0,))[1]

    same(loop(0.5), x)
    same(ax.grad(loop)(0.5), d)
    same(fwd(0.5), d)
    same(ax.jit(fwd)(0.5), d)
    same(ax.jit(ax.vmap(fwd))(anp.array([0.5]))[0], d)


def test_state_of_a_scan_that_is_not_used() -> None:
    """jax-ml/jax#1082: TypeError in the derivative.

    A doubles twice: a = 4p, loss 4p^2, slope 8p = 24 at 3; b = a0 + a1 = 3p.
    """

    def step(c: Any, _: Any) -> Any:
        return ({k: v + c["a"] for k, v in c.items()}, anp.zeros(()))

    def loss(p: Any, use_b: Any) -> Any:
        c, _ys = ax.lax.scan(step, {"a": p, "b": anp.zeros(())}, anp.array([1, 2]))
        return c["a"] * p + (c["b"] if use_b else 0.0)

    jl = ax.jit(loss, static_argnums=1)
    same([ax.grad(f)(3.0, b) for f in (loss, jl) for b in (False, True)], [24.0, 27.0, 24.0, 27.0])


def test_branch_inside_of_a_scan_computes_powers() -> None:
    """jax-ml/jax#5900: 324 for 108: a stale buffer was used again.

    X^4 at 3: slope 4*27 = 108, second derivative 12*9 = 108.
    """

    def power(x: Any, n: Any, cap: Any = 6) -> Any:

        def it(c: Any, _: Any) -> Any:
            y, k = c
            return (ax.lax.cond(k < n, lambda v: (v[0] * x, v[1] + 1), lambda v: v, (y, k)), None)

        return ax.lax.scan(it, (x * 0 + 1.0, 0), None, length=cap)[0][0]

    same(power(3.0, 4), 81.0)
    same(ax.grad(power)(3.0, 4), 108.0)
    same(ax.jit(ax.grad(ax.grad(power)))(3.0, 4), 108.0)
    same(ax.vmap(ax.grad(power), (None, 0))(3.0, anp.array([0, 1, 4])), [0.0, 1.0, 108.0])


def test_gradient_of_a_branch_under_vmap() -> None:
    """jax-ml/jax#2264: failed.

    2x where x > 0 (slope of x^2), else 3.
    """

    def f(x: Any) -> Any:
        return ax.lax.cond(x > 0, lambda: x**2, lambda: 3 * x)

    xs = anp.array([-1.0, 2.0, 5.0])
    same(
        [
            ax.vmap(ax.grad(f))(xs),
            ax.grad(lambda v: ax.vmap(f)(v).sum())(xs),
            ax.vmap(ax.grad(ax.grad(f)))(xs),
        ],
        [[3.0, 4.0, 10.0]] * 2 + [[0.0, 2.0, 2.0]],
    )


def test_loop_inside_of_a_branch_under_vmap() -> None:
    """google/flax#4709: refused for its structure.

    Lanes 0 and 1 apply y -> 2y + 1 three times to 1 (15); the others return 0; slope in the
    weight by hand: y = w^3 + w^2 + w + 1 (b=1) gives 3w^2+2w+1 = 17 per active lane.
    """

    def f(par: Any, x: Any, flag: Any) -> Any:

        def run() -> Any:
            return ax.lax.fori_loop(0, 3, lambda i, v: par["w"] * v + par["b"], x)

        return ax.lax.cond(flag < 2, run, lambda: anp.zeros_like(x))

    par = {"w": anp.array(2.0), "b": anp.array(1.0)}
    xs, fl = (anp.ones(4), anp.arange(4))
    both = ax.vmap(f, (None, 0, 0))
    same(both(par, xs, fl), [15.0, 15.0, 0.0, 0.0])
    same(ax.grad(lambda p: both(p, xs, fl).sum())(par)["w"], 34.0)


def test_mapped_integrator_with_complex_state_has_a_slope() -> None:
    """jax-ml/jax#8783, jax-ml/jax#2531: assertion.

    Y' = i b y: |Re-part| closed form: y(1) = exp(ib); loss = sum cos(b a) over lanes, slope -sum
    b sin(ab).
    """

    def solve(rhs: Any, y0: Any, n: Any = 40) -> Any:
        h = 1.0 / n

        def step(y: Any, s: Any) -> Any:
            k1 = rhs(y, s)
            k2 = rhs(y + h / 2 * k1, s + h / 2)
            k3 = rhs(y + h / 2 * k2, s + h / 2)
            k4 = rhs(y + h * k3, s + h)
            return (y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None)

        return ax.lax.scan(step, y0, anp.arange(n) * h)[0]

    def loss(a: Any, bs: Any) -> Any:

        def one(b: Any) -> Any:
            return anp.real(solve(lambda y, s: 1j * a * b * y, anp.array(1.0 + 0j)))

        return ax.vmap(one)(bs).sum()

    bs = anp.array([0.5, 1.0, 1.5])
    v, g = ax.jit(ax.value_and_grad(loss))(0.7, bs)
    same(v, sum(math.cos(0.7 * b) for b in (0.5, 1.0, 1.5)), rtol=1e-5)
    same(g, -sum(b * math.sin(0.7 * b) for b in (0.5, 1.0, 1.5)), rtol=1e-5)
