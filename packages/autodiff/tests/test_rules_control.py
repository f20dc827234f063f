"""Derivatives of scan, cond, while and jit calls, against finite differences and unrolled loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axonym_autodiff import NotLinearError, grad, jvp, linear_transpose, linearize, vjp
from axonym_autodiff.testing import check_grads
from axonym_core import lax, make_jaxpr
from axonym_core.primitives.calls import jit_p

RANDOM = np.random.default_rng(0)
XS = RANDOM.standard_normal((5, 3))
W = RANDOM.standard_normal((3, 3))
C = RANDOM.standard_normal(3)


def body(w: Any, c: Any, x: Any) -> tuple[Any, Any]:
    c = lax.tanh(lax.dot(c, w) + x)
    return c, c * x


def looped(w: Any, c: Any, xs: Any, reverse: bool = False) -> Any:
    return lax.scan(lambda c, x: body(w, c, x), c, xs, reverse=reverse)


def unrolled(w: Any, c: Any, xs: Any, reverse: bool = False) -> Any:
    ys = []
    for x in np.asarray(xs)[::-1] if reverse else xs:
        c, y = body(w, c, x)
        ys.append(lax.expand_dims(y, (0,)))
    return c, lax.concatenate(ys[::-1] if reverse else ys, 0)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_agrees_with_the_unrolled_loop(reverse: bool) -> None:
    f = lambda w, c: looped(w, c, XS, reverse)  # noqa: E731
    g = lambda w, c: unrolled(w, c, XS, reverse)  # noqa: E731
    (out, pull), (want, want_pull) = vjp(f, W, C), vjp(g, W, C)
    for a, b in zip(out, want, strict=True):
        np.testing.assert_allclose(a, b)
    cts = (np.ones(3), np.ones((5, 3)))
    for a, b in zip(pull(cts), want_pull(cts), strict=True):
        np.testing.assert_allclose(a, b)


def test_scan_to_second_order() -> None:
    check_grads(looped, (W, C, XS), order=2, atol=1e-5, rtol=1e-5)


def test_scan_with_a_carry_that_becomes_differentiable_in_a_later_step() -> None:
    def f(x: Any) -> Any:
        return lax.scan(lambda c, _: ((c[1], c[2], c[2] * x), None), (0.0, 1.0, 1.0), None, 4)[0][0]

    # The third component is x**k after k steps, and reaches the first two steps later.
    np.testing.assert_allclose(grad(f)(3.0), 6.0)
    np.testing.assert_allclose(jvp(f, (3.0,), (1.0,))[1], 6.0)


def test_scan_with_integers_in_its_carry() -> None:
    def f(x: Any) -> Any:
        step = lambda c, _: ((c[0] + 1, c[1] * x + lax.convert_element_type(c[0], "float64")), c[0])  # noqa: E731
        return lax.scan(step, (0, x), None, 3)[0][1]

    check_grads(f, (np.float64(1.5),), order=2)


def test_scan_of_no_steps_is_the_identity() -> None:
    f = lambda w, c: looped(w, c, XS[:0])[0]  # noqa: E731
    w_ct, c_ct = vjp(f, W, C)[1](np.ones(3))
    assert not np.asarray(w_ct).any()
    np.testing.assert_allclose(c_ct, np.ones(3))


def test_values_that_do_not_change_in_a_loop_are_not_stacked() -> None:
    big = np.ones((100, 100))

    def f(w: Any) -> Any:
        step = lambda c, _: (lax.dot(lax.sin(w), c), None)  # noqa: E731
        return lax.reduce_sum(lax.scan(step, np.ones(100), None, 7)[0], (0,))

    jaxpr = make_jaxpr(grad(f))(big)
    stacked = [v.aval for e in jaxpr.eqns for v in e.outvars if v.aval.shape == (7, 100, 100)]
    assert stacked == []


def test_linear_transpose_of_a_loop_with_a_counter() -> None:
    f = lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2.0, x)  # noqa: E731
    assert float(linear_transpose(f, 1.0)(1.0)[0]) == 8.0


@pytest.mark.parametrize("pred", [True, False])
def test_cond_differentiates_the_branch_taken(pred: bool) -> None:
    def f(x: Any, y: Any) -> Any:
        return lax.cond(pred, lambda x: lax.sin(x) * y, lambda x: x * x, x)

    check_grads(f, (np.float64(0.4), np.float64(2.0)), order=2)


def test_cond_on_a_traced_condition_stages_both_branches() -> None:
    f = lambda x: lax.cond(x > 0, lambda: lax.exp(x), lambda: x)  # noqa: E731
    for x in (0.5, -0.5):
        check_grads(f, (np.float64(x),), order=2)


def test_switch_with_branches_of_unlike_residuals() -> None:
    def f(i: int, x: Any) -> Any:
        return lax.switch(
            i, [lambda x: x * 2.0, lambda x: lax.sin(x) * lax.exp(x), lambda x: 0.0 * x + 1.0], x
        )

    for i in range(3):
        check_grads(lambda x, i=i: f(i, x), (np.float64(0.4),), order=2)


def test_while_has_forward_mode_and_says_why_it_has_no_reverse_mode() -> None:
    f = lambda x: lax.while_loop(lambda s: s < 100.0, lambda s: s * x, x)  # noqa: E731
    np.testing.assert_allclose(jvp(f, (3.0,), (1.0,))[1], 5 * 3.0**4)
    np.testing.assert_allclose(linearize(f, 3.0)[1](2.0), 2 * 5 * 3.0**4)
    with pytest.raises(NotLinearError, match=r"while_loop.*fori_loop with Python integers"):
        grad(f)(3.0)


def test_while_whose_state_has_an_undifferentiated_part() -> None:
    f = lambda x: lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] * x), (0, x))[1]  # noqa: E731
    np.testing.assert_allclose(jvp(f, (1.5,), (1.0,))[1], 5 * 1.5**4, rtol=1e-6)


def test_fori_loop_with_python_bounds_has_both_modes() -> None:
    check_grads(
        lambda x: lax.fori_loop(1, 5, lambda i, c: c * x, np.float64(1)),
        (np.float64(1.1),),
        order=2,
    )


def call(fun: Any, *args: Any) -> Any:
    """A staged call, as `jit` makes it."""
    jaxpr = make_jaxpr(fun)(*args)
    return lambda *xs: jit_p.bind(*xs, jaxpr=jaxpr, name="call")


def test_calls_agree_with_the_function_to_second_order() -> None:
    f = lambda x, y: lax.sin(x) * lax.exp(y)  # noqa: E731
    check_grads(
        lambda x, y: call(f, np.float32(0), np.float32(0))(x, y)[0] * x,
        (np.float32(0.4), np.float32(0.2)),
        1,
        atol=1e-2,
        eps=1e-2,
        rtol=1e-2,
    )
    x, y = np.array(0.4), np.array(0.2)
    check_grads(lambda x, y: call(f, x, y)(x, y)[0], (x, y), order=2)


def test_derivative_of_a_call_is_staged_once_for_both_uses() -> None:
    jaxpr = make_jaxpr(lambda x: lax.sin(x))(np.array(1.0))
    twice = lambda x: jit_p.bind(jit_p.bind(x, jaxpr=jaxpr, name="f")[0], jaxpr=jaxpr, name="f")[0]  # noqa: E731
    staged = make_jaxpr(grad(twice))(np.array(1.0))
    programs: dict[str, set[int]] = {}
    for eqn in staged.eqns:
        if eqn.primitive is jit_p:
            programs.setdefault(eqn.params["name"], set()).add(id(eqn.params["jaxpr"]))
    assert all(len(same) == 1 for same in programs.values()), programs
