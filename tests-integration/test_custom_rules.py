"""Custom derivative rules in combination with every transformation.

The rules are wrong on purpose, by a factor of ten: falling back to the true derivative shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import (
    custom_jvp,
    custom_vjp,
    grad,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)
from axonym_compile import jit
from axonym_core import lax, make_jaxpr
from axonym_mapping import vmap, xmap

pytestmark = pytest.mark.usefixtures("backend")

AT = np.float32(0.7)
XS = np.array([0.2, 0.7, 1.1], np.float32)


@custom_jvp
def by_jvp(x: Any) -> Any:
    return lax.sin(x)


by_jvp.defjvp(lambda p, t: (by_jvp(*p), lax.cos(p[0]) * t[0] * 10.0))


@custom_vjp
def by_vjp(x: Any) -> Any:
    return lax.sin(x)


by_vjp.defvjp(lambda x: (by_vjp(x), lax.cos(x)), lambda c, ct: (ct * c * 10.0,))

RULES: dict[str, Callable[[Any], Any]] = {"custom_jvp": by_jvp, "custom_vjp": by_vjp}


def slope(x: Any) -> Any:
    return 10.0 * np.cos(x)


@pytest.fixture(params=RULES)
def rule(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return RULES[request.param]


def in_scan(f: Any) -> Any:
    """`f(f(x))`, as a loop."""
    return lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0]


def in_fori_loop(f: Any) -> Any:
    return lambda x: lax.fori_loop(0, 2, lambda _, c: f(c), x)


TWICE: dict[str, Callable[[Any], Any]] = {
    "plain": lambda f: lambda x: f(f(x)),
    "jit": lambda f: jit(lambda x: f(f(x))),
    "jit of each": lambda f: lambda x: jit(f)(jit(f)(x)),
    "inline": lambda f: jit(lambda x: f(f(x)), inline=True),
    "scan": in_scan,
    "scan of jit": lambda f: in_scan(jit(f)),
    "jit of scan": lambda f: jit(in_scan(f)),
    "fori_loop": in_fori_loop,
    "cond": lambda f: lambda x: lax.cond(x > 0, lambda y: f(f(y)), lambda y: y, x),
    "switch": lambda f: lambda x: lax.switch(1, [lambda y: y, lambda y: f(f(y))], x),
    "cond in scan": lambda f: in_scan(lambda c: lax.cond(c > 0, f, lambda y: y, c)),
    "vmap": lambda f: lambda x: vmap(lambda y: f(f(y)))(lax.broadcast(x, (1,)))[0],
}


@pytest.mark.parametrize("way", TWICE)
def test_rule_is_used_in_reverse_mode(way: str, rule: Any) -> None:
    fun = TWICE[way](rule)

    np.testing.assert_allclose(fun(AT), np.sin(np.sin(AT)), rtol=1e-5)
    np.testing.assert_allclose(grad(fun)(AT), slope(AT) * slope(np.sin(AT)), rtol=1e-5)


@pytest.mark.parametrize("way", TWICE)
def test_rule_is_used_in_forward_mode(way: str, rule: Any) -> None:
    fun = TWICE[way](rule)
    wanted = 2.0 * slope(AT) * slope(np.sin(AT))

    np.testing.assert_allclose(jvp(fun, (AT,), (np.float32(2.0),))[1], wanted, rtol=1e-5)
    np.testing.assert_allclose(linearize(fun, AT)[1](np.float32(2.0)), wanted, rtol=1e-5)
    compiled = jit(lambda x: jvp(fun, (x,), (np.float32(2.0),))[1])
    np.testing.assert_allclose(compiled(AT), wanted, rtol=1e-5)


@pytest.mark.parametrize("way", TWICE)
def test_rule_is_used_in_each_lane(way: str, rule: Any) -> None:
    fun = TWICE[way](rule)
    wanted = slope(XS) * slope(np.sin(XS))

    np.testing.assert_allclose(vmap(grad(fun))(XS), wanted, rtol=1e-5)
    np.testing.assert_allclose(jit(vmap(grad(fun), axis_name="i"))(XS), wanted, rtol=1e-5)
    total = grad(lambda xs: lax.reduce_sum(vmap(fun)(xs), (0,)))(XS)
    np.testing.assert_allclose(total, wanted, rtol=1e-5)


def test_while_loop_in_forward_mode(rule: Any) -> None:
    def fun(x: Any) -> Any:
        return lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, rule(s[1])), (0, x))[1]

    wanted = slope(XS) * slope(np.sin(XS))

    found = vmap(lambda x: jvp(fun, (x,), (np.float32(1.0),))[1])(XS)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_second_derivative_is_that_of_the_rule(rule: Any) -> None:
    wanted = -10.0 * np.sin(AT)

    np.testing.assert_allclose(grad(grad(rule))(AT), wanted, rtol=1e-5)
    np.testing.assert_allclose(jit(grad(jit(grad(jit(rule)))))(AT), wanted, rtol=1e-5)
    np.testing.assert_allclose(jvp(grad(rule), (AT,), (np.float32(1.0),))[1], wanted, rtol=1e-5)
    np.testing.assert_allclose(vmap(grad(grad(rule)))(XS), -10.0 * np.sin(XS), rtol=1e-5)


def test_rule_and_collectives(rule: Any) -> None:
    def loss(w: Any, x: Any) -> Any:
        return lax.psum(rule(w * x), "i")

    w = np.float32(0.5)
    each = slope(w * XS) * XS
    for fun in (loss, jit(loss)):
        own = vmap(grad(fun), (None, 0), axis_name="i")(w, XS)
        total = vmap(grad(fun, reduce_axes="i"), (None, 0), None, axis_name="i")(w, XS)
        named = xmap(grad(fun, reduce_axes="i"), ({}, {0: "i"}), {})(w, XS)

        np.testing.assert_allclose(own, 3 * each, rtol=1e-5)
        np.testing.assert_allclose(total, each.sum(), rtol=1e-5)
        np.testing.assert_allclose(named, each.sum(), rtol=1e-5)


def test_rules_with_several_arguments_and_trees() -> None:
    @custom_vjp
    def scale(params: Any, x: Any) -> Any:
        return {"y": params["w"] * x, "n": params["b"] + x}

    scale.defvjp(
        lambda params, x: (scale(params, x), (params, x)),
        lambda saved, ct: ({"w": ct["y"] * saved[1] * 7.0, "b": None}, ct["n"] * 3.0),
    )

    def loss(params: Any, x: Any) -> Any:
        out = scale(params, x)
        return out["y"] + out["n"] * 2.0

    params = {"w": np.float32(2.0), "b": np.float32(1.0)}
    value, (of_params, of_x) = value_and_grad(loss, (0, 1))(params, AT)

    np.testing.assert_allclose(value, 2 * AT + 2 * (1 + AT), rtol=1e-6)
    np.testing.assert_allclose([of_params["w"], of_params["b"], of_x], [7 * AT, 0, 6], rtol=1e-6)
    lanes = vmap(grad(loss), (None, 0))(params, XS)
    np.testing.assert_allclose(lanes["w"], 7 * XS, rtol=1e-6)
    np.testing.assert_allclose(lanes["b"], 0 * XS)
    both = grad(lambda p: lax.reduce_sum(vmap(loss, (None, 0))(p, XS), (0,)))(params)
    np.testing.assert_allclose(both["w"], 7 * XS.sum(), rtol=1e-6)


def test_rule_inside_of_a_rule(rule: Any) -> None:
    @custom_jvp
    def outer(x: Any) -> Any:
        return rule(x) * 2.0

    outer.defjvp(lambda p, t: jvp(lambda x: rule(x) * 3.0, p, t))

    np.testing.assert_allclose(grad(outer)(AT), 3 * slope(AT), rtol=1e-5)
    np.testing.assert_allclose(jit(grad(jit(outer)))(AT), 3 * slope(AT), rtol=1e-5)


def test_integers_pass_through_rules() -> None:
    @custom_jvp
    def power(x: Any, k: Any) -> Any:
        return lax.convert_element_type(k, np.float32) * x

    power.defjvp(lambda p, t: (power(*p), t[0] * 5.0))

    def both(x: Any) -> Any:
        return power(x, np.int32(3))

    np.testing.assert_allclose(grad(both)(AT), 5.0)
    np.testing.assert_allclose(vmap(grad(power), (0, None))(XS, np.int32(3)), [5.0] * 3)
    np.testing.assert_allclose(
        vmap(grad(power), (None, 0))(AT, np.arange(3, dtype=np.int32)), [5.0] * 3
    )


def test_value_that_the_function_closes_over_has_its_own_derivative() -> None:
    def loss(w: Any) -> Any:
        @custom_vjp
        def scaled(x: Any) -> Any:
            return w * x

        scaled.defvjp(lambda x: (w * x, None), lambda _, ct: (ct,))
        return jit(scaled)(AT)

    np.testing.assert_allclose(grad(loss)(np.float32(3.0)), AT)


def test_staged_program_keeps_the_rule(rule: Any) -> None:
    jaxpr = make_jaxpr(rule)(AT)

    assert [e.primitive.name for e in jaxpr.eqns] == [
        "custom_jvp_call" if rule is by_jvp else "custom_vjp_call"
    ]


def test_pullback_can_be_used_twice(rule: Any) -> None:
    _, pull = vjp(lambda x: rule(x) * x, AT)
    first, second = pull(np.float32(1.0))[0], pull(np.float32(2.0))[0]

    np.testing.assert_allclose(second, 2 * np.asarray(first), rtol=1e-6)


@custom_vjp
def product_and_double(w: Any, x: Any) -> Any:
    return w * x, 2.0 * w


product_and_double.defvjp(
    lambda w, x: (product_and_double(w, x), (w, x)),
    lambda res, ct: (ct[0] * res[1] + 2.0 * ct[1], ct[0] * res[0]),
)

LANES = np.array([1.0, 10.0, 100.0])


@pytest.mark.parametrize("call", [lambda f: f, jit], ids=["plain", "jit"])
@pytest.mark.parametrize("name", ["i", None])
def test_several_results_of_which_some_vary(call: Any, name: Any) -> None:
    f = call(product_and_double)
    w = np.asarray(3.0)

    def outside(w: Any) -> Any:
        products, double = vmap(f, (None, 0), (0, None if name else 0), axis_name=name)(w, LANES)
        return lax.reduce_sum(products, (0,)) + (double if name else double[0])

    np.testing.assert_allclose(grad(outside)(w), 113.0)
    np.testing.assert_allclose(jvp(outside, (w,), (w,))[1], 3 * 113.0)
    np.testing.assert_allclose(jit(grad(outside))(w), 113.0)


@pytest.mark.parametrize("call", [lambda f: f, jit], ids=["plain", "jit"])
def test_several_results_in_both_readings(call: Any) -> None:
    f = call(product_and_double)
    w = np.asarray(3.0)

    def loss(w: Any, x: Any) -> Any:
        product, double = f(w, x)
        return lax.psum(product, "i") + double

    def total(fun: Any) -> Any:
        gradient = grad(fun, (0, 1), reduce_axes="i")
        return vmap(gradient, (None, 0), (None, 0), axis_name="i")(w, LANES)

    of_w, of_x = total(loss)
    np.testing.assert_allclose(of_w, 113.0)
    np.testing.assert_allclose(of_x, [3.0, 3.0, 3.0])
    np.testing.assert_allclose(total(lambda w, x: f(w, x)[1])[0], 2.0)
    np.testing.assert_allclose(total(lambda w, x: lax.psum(f(w, x)[0], "i"))[0], 111.0)
    each = vmap(grad(loss), (None, 0), axis_name="i")(w, LANES)
    np.testing.assert_allclose(each, 3 * LANES + 2)
    slope = vmap(lambda w, x: jvp(loss, (w, x), (w, x))[1], (None, 0), None, axis_name="i")(
        w, LANES
    )
    np.testing.assert_allclose(slope, 3 * 113.0 + 3 * 111.0)


def test_several_results_over_two_axes() -> None:
    """`w * x * y`, `w * x` and `w` vary over both axes, over one, and over none."""

    @custom_vjp
    def f(w: Any, x: Any, y: Any) -> Any:
        return w * x * y, w * x, w * 1.0

    f.defvjp(
        lambda w, x, y: (f(w, x, y), (w, x, y)),
        lambda r, ct: (
            ct[0] * r[1] * r[2] + ct[1] * r[1] + ct[2],
            ct[0] * r[0] * r[2] + ct[1] * r[0],
            ct[0] * r[0] * r[1],
        ),
    )
    w, ys = np.asarray(3.0), np.array([2.0, 5.0])

    def loss(w: Any, x: Any, y: Any) -> Any:
        both, one, none = f(w, x, y)
        return lax.psum(both, ("i", "j")) + lax.psum(one, "i") + none

    def over(fun: Any, out: Any) -> Any:
        inner = vmap(fun, (None, 0, None), out[0], axis_name="i")
        return vmap(inner, (None, None, 0), out[1], axis_name="j")(w, LANES, ys)

    of_w, of_x, of_y = over(
        grad(loss, (0, 1, 2), reduce_axes=("i", "j")), ((None, 0, None), (None, None, 0))
    )
    np.testing.assert_allclose(of_w, 111.0 * 7 + 111.0 + 1)
    np.testing.assert_allclose(of_x, [3.0 * 7 + 3.0] * 3)
    np.testing.assert_allclose(of_y, [3.0 * 111.0] * 2)
    # Each index of `j` has its own copies: the sum over both axes is in the loss of each.
    of_w = over(grad(loss, reduce_axes="i"), (None, 0))
    np.testing.assert_allclose(of_w, 2 * 111.0 * ys + 111.0 + 1)


def test_rule_of_a_sum_over_the_axis() -> None:
    @custom_vjp
    def f(w: Any, x: Any) -> Any:
        return lax.psum(w * x, "i")

    f.defvjp(lambda w, x: (f(w, x), (w, x)), lambda r, ct: (ct * r[1], ct * r[0]))
    w = np.asarray(3.0)
    of_w, of_x = vmap(grad(f, (0, 1), reduce_axes="i"), (None, 0), (None, 0), axis_name="i")(
        w, LANES
    )
    slope = vmap(lambda w, x: jvp(f, (w, x), (w, x))[1], (None, 0), None, axis_name="i")(w, LANES)
    outside = grad(lambda w: vmap(f, (None, 0), None, axis_name="i")(w, LANES))(w)

    np.testing.assert_allclose([of_w, slope, outside], [111.0, 2 * 333.0, 111.0])
    np.testing.assert_allclose(of_x, [3.0] * 3)


def test_a_backward_rule_may_call_functions_with_rules_of_their_own() -> None:
    @custom_jvp
    def doubled(x: Any) -> Any:
        return 2.0 * x

    doubled.defjvp(lambda primals, tangents: (doubled(*primals), 2.0 * tangents[0]))

    @custom_vjp
    def f(w: Any, x: Any) -> Any:
        return w * x, 2.0 * w

    def bwd(residuals: Any, cts: Any) -> Any:
        w, x = residuals
        half = doubled(cts[0]) / 2.0
        return half * x + 2.0 * cts[1], half * w

    f.defvjp(lambda w, x: (f(w, x), (w, x)), bwd)

    def loss(w: Any, x: Any) -> Any:
        product, twice = f(w, x)
        return lax.psum(product, "i") + twice

    x = np.array([1.0, 10.0, 100.0], np.float32)
    for g in (loss, jit(loss)):
        gradient = vmap(grad(g, reduce_axes=("i",)), (None, 0), None, axis_name="i")
        assert float(gradient(1.0, x)) == 113.0
