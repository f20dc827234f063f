"""Branches that keep away from singularities, under conditions that vary over named axes.

`f(w, x, y)` is `sqrt(w * x) + w / x` where `x > 0`, and 0 elsewhere; `w` is shared. Its derivatives
are finite, though those of the branch that is not taken are not. Oracles are closed forms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import grad, jvp
from axonym_compile import jit
from axonym_core import lax
from axonym_mapping import vmap, xmap

pytestmark = pytest.mark.usefixtures("backend")

W = np.float32(2.0)
XS = np.array([-1.0, 0.0, 4.0, 1.0], np.float32)
YS = np.array([0.5, -2.0, 1.0, 3.0], np.float32)
TAKEN = XS > 0


def singular(w: Any, x: Any) -> Any:
    return lax.sqrt(w * x) + w / x


def slope_in_w(x: Any) -> Any:
    safe = np.where(x > 0, x, 1.0)
    return np.where(x > 0, np.sqrt(safe / W) / 2 + 1 / safe, 0.0)


SLOPES = slope_in_w(XS)


# What the branch adds to that; (extra, d/dy of the sum over all indices).
EXTRAS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "nothing": (lambda x, y: y * 0, 0.0),
    "sum of a constant": (lambda x, y: lax.psum(np.float32(1.0), "i"), 0.0),
    "sum of another operand": (lambda x, y: lax.psum(y, "i"), TAKEN.sum()),
    "sum of the same operand": (lambda x, y: lax.psum(x * y, "i"), TAKEN.sum() * XS),
    "sum in a call": (lambda x, y: jit(lambda a: lax.psum(a, "i") * 2)(y), 2 * TAKEN.sum()),
    "largest": (lambda x, y: lax.pmax(y, "i"), TAKEN.sum() * (YS == 3.0)),
    "index": (lambda x, y: y * lax.axis_index("i"), TAKEN * np.arange(4)),
}


def by_cond(extra: Any) -> Any:
    def f(w: Any, x: Any, y: Any) -> Any:
        return lax.cond(x > 0, lambda: singular(w, x) + extra(x, y), lambda: 0.0)

    return f


def by_switch(extra: Any) -> Any:
    def f(w: Any, x: Any, y: Any) -> Any:
        which = lax.convert_element_type(x > 0, np.int32) * 2
        zero = lambda *_: 0.0  # noqa: E731
        return lax.switch(
            which, [zero, zero, lambda w, x, y: singular(w, x) + extra(x, y)], w, x, y
        )

    return f


def in_a_call(extra: Any) -> Any:
    return jit(by_cond(lambda x, y: extra(x, y)))


def in_a_loop(extra: Any) -> Any:
    f = by_cond(extra)

    def looped(w: Any, x: Any, y: Any) -> Any:
        return lax.scan(lambda c, _: (c + f(w, x, y), None), np.float32(0), None, 1)[0]

    return looped


@pytest.mark.parametrize("extra", EXTRAS)
@pytest.mark.parametrize("form", [by_cond, by_switch, in_a_call, in_a_loop])
def test_gradients_are_finite_in_both_readings(form: Any, extra: str) -> None:
    function, slope_y = EXTRAS[extra]
    f = form(function)

    each = vmap(grad(f, (0, 2)), (None, 0, 0), axis_name="i")(W, XS, YS)
    total = vmap(grad(f, (0, 2), reduce_axes="i"), (None, 0, 0), (None, 0), axis_name="i")
    named = xmap(grad(f, reduce_axes="i"), ({}, {0: "i"}, {0: "i"}), {})
    outside = grad(lambda w: lax.reduce_sum(vmap(f, (None, 0, 0), axis_name="i")(w, XS, YS), (0,)))
    slope = vmap(
        lambda w, x, y: jvp(lambda v: f(v, x, y), (w,), (np.float32(1),))[1],
        (None, 0, 0),
        axis_name="i",
    )

    np.testing.assert_allclose(each[0], SLOPES, rtol=1e-6)
    np.testing.assert_allclose(each[1], np.broadcast_to(slope_y, 4), rtol=1e-6)
    np.testing.assert_allclose(total(W, XS, YS)[0], SLOPES.sum(), rtol=1e-6)
    np.testing.assert_allclose(total(W, XS, YS)[1], np.broadcast_to(slope_y, 4), rtol=1e-6)
    np.testing.assert_allclose(named(W, XS, YS), SLOPES.sum(), rtol=1e-6)
    np.testing.assert_allclose(outside(W), SLOPES.sum(), rtol=1e-6)
    np.testing.assert_allclose(slope(W, XS, YS), SLOPES, rtol=1e-6)


@pytest.mark.parametrize("names", [("i", "j"), ("i", None), (None, "i"), (None, None)])
@pytest.mark.parametrize("reduced", ["x", "y", "xy"])
def test_conditions_over_some_of_two_axes(names: tuple[Any, Any], reduced: str) -> None:
    """The condition hangs on `x` (the inner axis), on `y` (the outer one) or on both."""
    outer, inner = names
    pick = {"x": lambda x, y: x, "y": lambda x, y: y, "xy": lambda x, y: x * y}[reduced]

    def f(w: Any, x: Any, y: Any) -> Any:
        z = pick(x, y)
        return lax.cond(z > 0, lambda: singular(w, z), lambda: 0.0)

    along = vmap(vmap(grad(f), (None, 0, None), axis_name=inner), (None, None, 0), axis_name=outer)
    z = pick(XS[None, :], YS[:, None]) * np.ones((4, 4))
    wanted = slope_in_w(z)

    np.testing.assert_allclose(along(W, XS, YS), wanted, rtol=1e-6)
    np.testing.assert_allclose(jit(along)(W, XS, YS), wanted, rtol=1e-6)
    mapped = vmap(vmap(f, (None, 0, None), axis_name=inner), (None, None, 0), axis_name=outer)
    total = grad(lambda w: lax.reduce_sum(mapped(w, XS, YS), (0, 1)))(W)
    np.testing.assert_allclose(total, wanted.sum(), rtol=1e-5)


@pytest.mark.parametrize("size", [0, 1])
def test_axes_of_no_or_one_index(size: int) -> None:
    f = by_cond(lambda x, y: lax.psum(y, "i"))
    xs, ys = XS[:size], YS[:size]

    each = vmap(grad(f), (None, 0, 0), axis_name="i")(W, xs, ys)
    total = vmap(grad(f, reduce_axes="i"), (None, 0, 0), None, axis_name="i")(W, xs, ys)

    np.testing.assert_allclose(each, np.zeros(size))
    np.testing.assert_allclose(total, 0.0)


def test_branch_that_nobody_takes() -> None:
    f = by_cond(lambda x, y: lax.psum(y, "i"))
    none = -np.abs(XS)

    np.testing.assert_allclose(vmap(grad(f), (None, 0, 0), axis_name="i")(W, none, YS), [0.0] * 4)


def test_singular_value_that_takers_read_shows() -> None:
    """What a taker reads of another index is not replaced: the sum of roots is NaN with one."""

    def f(x: Any) -> Any:
        return lax.cond(x > 0, lambda: lax.psum(lax.sqrt(x), "i"), lambda: np.float32(0))

    np.testing.assert_array_equal(vmap(f, axis_name="i")(XS), [0, 0, np.nan, np.nan])


# Functions whose derivative is NaN where the branch is not taken: what is thrown away has no zero
# that wins. The value and the slope where it is taken.
SINGULAR: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "1 / x": (lambda v: 1 / v, lambda v: -1 / v**2),
    "sin(x) / x": (lambda v: lax.sin(v) / v, lambda v: (v * np.cos(v) - np.sin(v)) / v**2),
    "x log(x)": (lambda v: v * lax.log(v), lambda v: np.log(v) + 1),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_derivatives_that_are_nan_elsewhere_stay_there(name: str) -> None:
    fun, slope = SINGULAR[name]

    def f(w: Any, x: Any) -> Any:
        return lax.cond(x > 0, lambda: fun(w * x), lambda: 0.0)

    safe = np.where(TAKEN, XS, 1.0)
    wanted = np.where(TAKEN, slope(W * safe) * safe, 0.0)
    each = grad(f, reduce_axes=())
    total = grad(f, reduce_axes=("i",))

    for form in (lambda g: g, jit):
        np.testing.assert_allclose(vmap(form(each), (None, 0))(W, XS), wanted, rtol=1e-5)
        named = vmap(form(each), (None, 0), axis_name="i")(W, XS)
        np.testing.assert_allclose(named, wanted, rtol=1e-5)
        summed = vmap(form(total), (None, 0), None, axis_name="i")(W, XS)
        np.testing.assert_allclose(summed, wanted.sum(), rtol=1e-5)
        outside = form(grad(lambda w: lax.reduce_sum(vmap(f, (None, 0))(w, XS), (0,))))(W)
        np.testing.assert_allclose(outside, wanted.sum(), rtol=1e-5)
