"""What functions close over, in every higher-order function under every open transformation.

Each function computes `w * x * x` of an argument `w` and of a value `x` that it closes over, which
an open transformation traces. Custom rules give ten times the derivative in `w`, to show that they
are used; in what is closed over, the derivative is that of the function. Oracles are closed forms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import (
    custom_jvp,
    custom_vjp,
    grad,
    jvp,
    linear_transpose,
    linearize,
    value_and_grad,
    vjp,
)
from axonym_compile import jit
from axonym_core import config, lax, make_jaxpr
from axonym_core.errors import TracerLeakError
from axonym_core.programs import eval_jaxpr
from axonym_mapping import vmap, xmap

W = np.asarray(2.0)
X = np.asarray(3.0)
XS = np.array([1.0, -2.0, 0.5])
SLOPE = 10.0  # of a custom rule, in multiples of the true one

Function = Callable[[Any], Any]


def by_jvp(x: Any) -> Function:
    f = custom_jvp(lambda w: w * x * x)
    f.defjvp(lambda p, t: (p[0] * x * x, t[0] * x * x * SLOPE))
    return f


def by_jvp_of_itself(x: Any) -> Function:
    @custom_jvp
    def f(w: Any) -> Any:
        return w * x * x

    f.defjvp(lambda p, t: (f(*p), f(t[0]) * SLOPE))
    return f


def by_vjp(x: Any) -> Function:
    f = custom_vjp(lambda w: w * x * x)
    f.defvjp(lambda w: (w * x * x, None), lambda _, ct: (ct * x * x * SLOPE,))
    return f


def by_vjp_with_residuals(x: Any) -> Function:
    f = custom_vjp(lambda w: w * x * x)
    f.defvjp(lambda w: (f(w), (x, {"x": x})), lambda r, ct: (ct * r[0] * r[1]["x"] * SLOPE,))
    return f


def by_vjp_of_a_derivative(x: Any) -> Function:
    f = custom_vjp(lambda w: w * x * x)
    f.defvjp(lambda w: vjp(lambda v: v * x * x, w), lambda pull, ct: (pull(ct)[0] * SLOPE,))
    return f


def by_rules_with_loops(x: Any) -> Function:
    def squared(v: Any) -> Any:
        return lax.scan(lambda c, _: (c * x, None), v, None, 2)[0]

    f = custom_vjp(squared)
    f.defvjp(lambda w: (squared(w), None), lambda _, ct: (jit(squared)(ct) * SLOPE,))
    return f


def by_rules_with_branches(x: Any) -> Function:
    def squared(v: Any) -> Any:
        return lax.cond(x * x >= 0, lambda: v * x * x, lambda: v)

    f = custom_jvp(squared)
    f.defjvp(lambda p, t: (squared(*p), squared(*t) * SLOPE))
    return f


def by_rule_in_a_rule(x: Any) -> Function:
    inner = by_jvp(x)
    f = custom_jvp(lambda w: inner(w))
    f.defjvp(lambda p, t: jvp(inner, p, t))
    return f


def by_jvp_in_vjp(x: Any) -> Function:
    inner = by_jvp(x)
    f = custom_vjp(lambda w: inner(w))
    f.defvjp(lambda w: vjp(inner, w), lambda pull, ct: pull(ct))
    return f


def by_traced_static_argument(x: Any) -> Function:
    @partial(custom_jvp, nondiff_argnums=(0,))
    def f(x: Any, w: Any) -> Any:
        return w * x * x

    f.defjvp(lambda x, p, t: (f(x, *p), t[0] * x * x * SLOPE))
    return lambda w: f(x, w)


def by_traced_static_argument_of_vjp(x: Any) -> Function:
    @partial(custom_vjp, nondiff_argnums=(1,))
    def f(w: Any, tree: Any) -> Any:
        return w * tree["x"] * tree["x"]

    f.defvjp(
        lambda w, tree: (f(w, tree), None),
        lambda tree, _, ct: (ct * tree["x"] * tree["x"] * SLOPE,),
    )
    return lambda w: f(w, {"x": x, "name": "kept"})


def by_function_argument(x: Any) -> Function:
    @partial(custom_jvp, nondiff_argnums=(0,))
    def apply(g: Any, w: Any) -> Any:
        return g(w)

    apply.defjvp(lambda g, p, t: (apply(g, *p), g(t[0]) * SLOPE))
    return lambda w: apply(lambda v: v * x * x, w)


def by_partial(x: Any) -> Function:
    f = custom_jvp(partial(lambda x, w: w * x * x, x))
    f.defjvp(partial(lambda x, p, t: (p[0] * x * x, t[0] * x * x * SLOPE), x))
    return f


class Layer:
    def __init__(self, x: Any) -> None:
        self.x = x
        self.apply = custom_vjp(self.plain)
        self.apply.defvjp(self.forward, self.backward)

    def plain(self, w: Any) -> Any:
        return w * self.x * self.x

    def forward(self, w: Any) -> Any:
        return self.plain(w), w

    def backward(self, _: Any, ct: Any) -> Any:
        return (self.plain(ct) * SLOPE,)


def by_method(x: Any) -> Function:
    return Layer(x).apply


def in_a_map(x: Any) -> Function:
    return lambda w: vmap(lambda v: by_vjp(x)(v))(lax.broadcast(w, (2,)))[1]


def in_a_loop(x: Any) -> Function:
    f = by_jvp(x)
    return lambda w: lax.scan(lambda c, _: (f(c), None), w, None, 1)[0]


CUSTOM: dict[str, Callable[[Any], Function]] = {
    f.__name__: f
    for f in (
        by_jvp,
        by_jvp_of_itself,
        by_vjp,
        by_vjp_with_residuals,
        by_vjp_of_a_derivative,
        by_rules_with_loops,
        by_rules_with_branches,
        by_rule_in_a_rule,
        by_jvp_in_vjp,
        by_traced_static_argument,
        by_traced_static_argument_of_vjp,
        by_function_argument,
        by_partial,
        by_method,
        in_a_map,
        in_a_loop,
    )
}

PLAIN: dict[str, Callable[[Any], Function]] = {
    "jit": lambda x: jit(lambda w: w * x * x),
    "inline jit": lambda x: jit(lambda w: w * x * x, inline=True),
    "jit in jit": lambda x: jit(lambda w: jit(lambda v: v * x)(w) * x),
    "scan": lambda x: lambda w: lax.scan(lambda c, _: (c * x, None), w, None, 2)[0],
    "scan outputs": lambda x: lambda w: lax.scan(lambda c, _: (c, w * x * x), 0, None, 2)[1][1],
    "fori_loop": lambda x: lambda w: lax.fori_loop(0, 2, lambda _, c: c * x, w),
    "map": lambda x: lambda w: lax.map(lambda v: v * x * x, lax.broadcast(w, (2,)))[1],
    "cond": lambda x: lambda w: lax.cond(w > 0, lambda: w * x * x, lambda: x * w * x),
    "cond on x": lambda x: lambda w: lax.cond(x > 0, lambda v: v * x * x, lambda v: x * v * x, w),
    "switch": lambda x: lambda w: lax.switch(1, [lambda v: v, lambda v: v * x * x, lambda v: x], w),
    "vmap": lambda x: lambda w: vmap(lambda v: v * x * x)(lax.broadcast(w, (2,)))[1],
    "named vmap": lambda x: (
        lambda w: vmap(lambda v: lax.pmean(v * x, "inner") * x, out_axes=None, axis_name="inner")(
            lax.broadcast(w, (2,))
        )
    ),
    "xmap": lambda x: (
        lambda w: xmap(lambda v: v * x * x, {0: "k"}, {0: "k"})(lax.broadcast(w, (2,)))[1]
    ),
    "vjp": lambda x: lambda w: vjp(lambda v: v * x * x, w)[1](w)[0],
    "linearize": lambda x: lambda w: linearize(lambda v: v * x * x, w)[1](w),
    "linear_transpose": lambda x: lambda w: linear_transpose(lambda v: v * x * x, w)(w)[0],
    "grad": lambda x: grad(lambda w: w * w * x * x / 2),
    "jvp": lambda x: lambda w: jvp(lambda v: v * x * x, (w,), (w,))[1],
}

ONLY_FORWARD: dict[str, Callable[[Any], Function]] = {
    "while_loop": lambda x: (
        lambda w: lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1] * x), (0, w))[1]
    ),
    "while_loop until x": lambda x: (
        lambda w: lax.while_loop(
            lambda s: s[0] < 2 + 0 * x, lambda s: (s[0] + 1, s[1] * x), (0.0, w)
        )[1]
    ),
    "fori_loop of unknown length": lambda x: (
        lambda w: lax.fori_loop(0, lax.add(np.int32(1), np.int32(1)), lambda _, c: c * x, w)
    ),
}

# make, slope -> (found, wanted), where slope is the rule's derivative in w over the true one
FORWARD: dict[str, Callable[[Any, float], tuple[Any, Any]]] = {
    "vmap": lambda make, _: (vmap(lambda x: make(x)(W))(XS), W * XS**2),
    "named vmap": lambda make, _: (vmap(lambda x: make(x)(W), axis_name="i")(XS), W * XS**2),
    "xmap": lambda make, _: (xmap(lambda x: make(x)(W), {0: "i"}, {0: "i"})(XS), W * XS**2),
    "vmap over both": lambda make, _: (vmap(lambda x, w: make(x)(w))(XS, XS), XS**3),
    "two maps": lambda make, _: (
        vmap(lambda x: vmap(lambda w: make(x)(w), axis_name="j")(XS), axis_name="i")(XS),
        XS[:, None] ** 2 * XS,
    ),
    "jit": lambda make, _: (jit(lambda x: make(x)(W))(X), W * X**2),
    "jit of vmap": lambda make, _: (jit(vmap(lambda x: make(x)(W)))(XS), W * XS**2),
    "vmap of jit": lambda make, _: (vmap(jit(lambda x: make(x)(W)))(XS), W * XS**2),
    "make_jaxpr": lambda make, _: (
        eval_jaxpr(make_jaxpr(lambda x: make(x)(W))(X), X)[0],
        W * X**2,
    ),
    "scan": lambda make, _: (
        lax.scan(lambda c, x: (c + make(x)(W), make(x)(c)), np.float64(0), XS),
        (W * (XS**2).sum(), W * np.array([0.0, 1.0, 5.0]) * XS**2),
    ),
    "cond": lambda make, _: (
        lax.cond(X > 0, lambda x: make(x)(W), lambda x: x, X),
        W * X**2,
    ),
    "vmapped cond": lambda make, _: (
        vmap(lambda x: lax.cond(x > 0, lambda: make(x)(W), lambda: x))(XS),
        np.where(XS > 0, W * XS**2, XS),
    ),
    "while": lambda make, _: (
        lax.while_loop(lambda s: s[0] < 5, lambda s: (make(s[1])(s[0]), s[1]), (W, X))[0],
        W * X**2,
    ),
    "jvp": lambda make, _: (jvp(lambda x: make(x)(W), (X,), (W,)), (W * X**2, 2 * W * X * W)),
    "jvp in both": lambda make, slope: (
        jvp(lambda x: make(x)(x), (X,), (W,))[1],
        (2 + slope) * X**2 * W,
    ),
    "linearize": lambda make, slope: (
        linearize(lambda x: make(x)(x), X)[1](W),
        (2 + slope) * X**2 * W,
    ),
    "jvp of vmap": lambda make, slope: (
        jvp(lambda w: vmap(lambda x: make(x)(w))(XS), (W,), (X,))[1],
        slope * XS**2 * X,
    ),
    "jvp of vmap in x": lambda make, _: (
        jvp(vmap(lambda x: make(x)(W), axis_name="i"), (XS,), (XS,))[1],
        2 * W * XS**2,
    ),
    "vmap of jvp": lambda make, slope: (
        vmap(lambda x: jvp(make(x), (W,), (X,))[1])(XS),
        slope * XS**2 * X,
    ),
    "vmap of jvp in x": lambda make, slope: (
        vmap(lambda x: jvp(lambda y: make(y)(y), (x,), (W,))[1], axis_name="i")(XS),
        (2 + slope) * XS**2 * W,
    ),
    "jit of jvp of jit": lambda make, slope: (
        jit(lambda x: jvp(jit(lambda y: make(y)(y)), (x,), (W,))[1])(X),
        (2 + slope) * X**2 * W,
    ),
    "tangents that are mapped": lambda make, _: (
        vmap(lambda t: jvp(lambda x: make(x)(W), (X,), (t,))[1], axis_name="i")(XS),
        2 * W * X * XS,
    ),
}

REVERSE: dict[str, Callable[[Any, float], tuple[Any, Any]]] = {
    "grad": lambda make, _: (grad(lambda x: make(x)(W))(X), 2 * W * X),
    "grad in both": lambda make, slope: (grad(lambda x: make(x)(x))(X), (2 + slope) * X**2),
    "grad with value": lambda make, _: (
        value_and_grad(lambda x: make(x)(W))(X),
        (W * X**2, 2 * W * X),
    ),
    "vjp": lambda make, _: (vjp(lambda x: make(x)(W), X)[1](W)[0], 2 * W * X * W),
    "jit of grad": lambda make, slope: (jit(grad(lambda x: make(x)(x)))(X), (2 + slope) * X**2),
    "grad of jit": lambda make, slope: (grad(jit(lambda x: make(x)(x)))(X), (2 + slope) * X**2),
    "grad in scan": lambda make, slope: (
        lax.scan(lambda c, x: (c, grad(make(x))(W)), 0, XS)[1],
        slope * XS**2,
    ),
    "grad of scan": lambda make, slope: (
        grad(lambda x: lax.scan(lambda c, _: (make(x)(c), None), W, None, 2)[0])(X),
        2 * W * X**3 + slope * X**2 * 2 * W * X,
    ),
    "grad of cond": lambda make, slope: (
        grad(lambda x: lax.cond(x > 0, lambda y: make(y)(y), lambda y: y, x))(X),
        (2 + slope) * X**2,
    ),
    "vmap of grad": lambda make, slope: (vmap(lambda x: grad(make(x))(W))(XS), slope * XS**2),
    "vmap of grad in x": lambda make, slope: (
        vmap(grad(lambda x: make(x)(x)), axis_name="i")(XS),
        (2 + slope) * XS**2,
    ),
    "grad of vmap": lambda make, slope: (
        grad(lambda w: lax.reduce_sum(vmap(lambda x: make(x)(w))(XS), (0,)))(W),
        slope * (XS**2).sum(),
    ),
    "grad of named vmap": lambda make, slope: (
        grad(lambda w: lax.reduce_sum(vmap(lambda x: make(x)(w), axis_name="i")(XS), (0,)))(W),
        slope * (XS**2).sum(),
    ),
    "grad of vmap in x": lambda make, slope: (
        grad(lambda xs: lax.reduce_sum(vmap(lambda x: make(x)(x))(xs), (0,)))(XS),
        (2 + slope) * XS**2,
    ),
    "jit of grad of vmap of jit": lambda make, slope: (
        jit(grad(lambda xs: lax.reduce_sum(vmap(jit(lambda x: make(x)(x)))(xs), (0,))))(XS),
        (2 + slope) * XS**2,
    ),
    "total gradient in w": lambda make, slope: (
        vmap(
            lambda x: grad(lambda w: make(x)(w), reduce_axes="i")(W),
            out_axes=None,
            axis_name="i",
        )(XS),
        slope * (XS**2).sum(),
    ),
    "total gradient in x": lambda make, slope: (
        vmap(
            lambda w: grad(lambda x: make(x)(w), reduce_axes="i")(X),
            out_axes=None,
            axis_name="i",
        )(XS),
        2 * X * XS.sum(),
    ),
    "mixed second derivative": lambda make, slope: (
        grad(lambda x: grad(make(x))(W))(X),
        slope * 2 * X,
    ),
    "second derivative": lambda make, slope: (grad(grad(lambda x: make(x)(W)))(X), 2 * W),
    "jvp of grad": lambda make, slope: (
        jvp(lambda x: grad(make(x))(W), (X,), (W,))[1],
        slope * 2 * X * W,
    ),
}


def check(way: Any, make: Callable[[Any], Function], slope: float) -> None:
    found, wanted = way(make, slope)
    for a, b in zip(
        found if isinstance(found, tuple) else (found,),
        wanted if isinstance(wanted, tuple) else (wanted,),
        strict=True,
    ):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-12)


@pytest.mark.parametrize("way", [*FORWARD, *REVERSE])
@pytest.mark.parametrize("function", [*CUSTOM, *PLAIN])
def test_closure_on_numpy(function: str, way: str) -> None:
    with config.override(backend="numpy"):
        check(
            {**FORWARD, **REVERSE}[way],
            {**CUSTOM, **PLAIN}[function],
            SLOPE if function in CUSTOM else 1.0,
        )


@pytest.mark.parametrize("way", FORWARD)
@pytest.mark.parametrize("function", ONLY_FORWARD)
def test_closure_of_a_loop_without_reverse_mode(function: str, way: str) -> None:
    with config.override(backend="numpy"):
        check(FORWARD[way], ONLY_FORWARD[function], 1.0)


@pytest.mark.parametrize("way", [w for w in {**FORWARD, **REVERSE} if "jit" in w])
@pytest.mark.parametrize("function", [*CUSTOM, *PLAIN])
def test_compiled_closure(function: str, way: str) -> None:
    with config.override(backend="xla"):
        check(
            {**FORWARD, **REVERSE}[way],
            {**CUSTOM, **PLAIN}[function],
            SLOPE if function in CUSTOM else 1.0,
        )


_shelf: dict[str, Any] = {}


def test_value_that_a_rule_finds_in_a_global_is_refused_by_what_it_is() -> None:
    f = custom_vjp(lambda w: w * _shelf["x"])
    f.defvjp(lambda w: (w * _shelf["x"], None), lambda _, ct: (ct * _shelf["x"],))

    def of(x: Any) -> Any:
        _shelf["x"] = x
        return f(W)

    with pytest.raises(TracerLeakError, match=r"outside of its transformation.*argument") as raised:
        vmap(of)(XS)
    assert "thread" not in str(raised.value)
    _shelf.clear()
