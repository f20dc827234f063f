"""`custom_jvp` and `custom_vjp`: rules are used as written, everywhere, and checked."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import CustomRuleError, custom_jvp, custom_vjp, grad, jvp, vjp
from axonym_autodiff.testing import check_grads
from axonym_core import lax
from axonym_core.errors import TreeStructureError


def wrong_jvp() -> Any:
    """Sine with the derivative 10: a rule that cannot be mistaken for the true derivative."""

    @custom_jvp
    def f(x: Any) -> Any:
        return lax.sin(x)

    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0] * 10.0))
    return f


def wrong_vjp() -> Any:
    @custom_vjp
    def f(x: Any) -> Any:
        return lax.sin(x)

    f.defvjp(lambda x: (f(x), None), lambda res, ct: (ct * 10.0,))
    return f


@pytest.mark.parametrize("make", [wrong_jvp, wrong_vjp])
def test_rule_is_used_plainly_in_loops_and_in_branches(make: Any) -> None:
    f = make()
    assert float(grad(f)(1.0)) == 10.0
    assert float(grad(lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 2)[0])(1.0)) == 100.0
    assert float(grad(lambda x: lax.cond(True, f, lambda y: y, x))(1.0)) == 10.0
    assert float(jvp(f, (1.0,), (1.0,))[1]) == 10.0
    assert float(grad(lambda x: f(f(x)))(1.0)) == 100.0
    assert float(grad(grad(f))(1.0)) == 0.0


def test_right_rules_pass_the_checker_to_second_order() -> None:
    @custom_jvp
    def f(x: Any, y: Any) -> Any:
        return lax.sin(x) * y

    f.defjvps(lambda t, out, x, y: t * lax.cos(x) * y, lambda t, out, x, y: t * lax.sin(x))
    check_grads(f, (np.float64(0.3), np.float64(2.0)), order=2)

    @custom_vjp
    def g(x: Any, y: Any) -> Any:
        return lax.sin(x) * y

    g.defvjp(
        lambda x, y: (g(x, y), (x, y)),
        lambda res, ct: (ct * lax.cos(res[0]) * res[1], ct * lax.sin(res[0])),
    )
    check_grads(g, (np.float64(0.3), np.float64(2.0)), order=2)


def test_trees_keywords_and_defaults() -> None:
    @custom_vjp
    def f(params: Any, scale: Any = 2.0) -> Any:
        return {"out": params["a"] * params["b"] * scale}

    f.defvjp(
        lambda params, scale: (f(params, scale), (params, scale)),
        lambda res, ct: ({"a": ct["out"] * 100.0, "b": None}, None),
    )
    gradient = grad(lambda p: f(p, scale=3.0)["out"])({"a": 2.0, "b": 5.0})
    assert (float(gradient["a"]), float(gradient["b"])) == (100.0, 0.0)
    assert float(f({"a": 2.0, "b": 5.0})["out"]) == 20.0


def test_nondiff_arguments_come_first_in_the_backward_rule() -> None:
    seen: list[Any] = []

    @partial(custom_vjp, nondiff_argnums=(0, 2))
    def apply(f: Any, x: Any, tag: str) -> Any:
        return f(x)

    def fwd(f: Any, x: Any, tag: str) -> Any:
        seen.append(("fwd", callable(f), tag))
        return f(x), x

    def bwd(f: Any, tag: str, res: Any, ct: Any) -> Any:
        seen.append(("bwd", callable(f), tag))
        return (ct * 100.0,)

    apply.defvjp(fwd, bwd)
    assert float(grad(lambda x: apply(lax.sin, x, "hello"))(0.3)) == 100.0
    assert seen == [("fwd", True, "hello"), ("bwd", True, "hello")]


def test_integer_arguments_need_no_cotangent() -> None:
    @custom_vjp
    def pick(v: Any, k: Any) -> Any:
        return v * lax.convert_element_type(k, "float32")

    pick.defvjp(lambda v, k: (pick(v, k), None), lambda res, ct: (ct * 7.0, None))
    assert float(grad(pick)(2.0, 3)) == 7.0


def test_python_control_flow_on_values_works_outside_of_staging() -> None:
    @custom_jvp
    def f(x: Any) -> Any:
        return x if x > 0 else -x

    f.defjvp(
        lambda primals, tangents: (f(*primals), tangents[0] if primals[0] > 0 else -tangents[0])
    )
    assert (float(f(-2.0)), float(grad(f)(-2.0)), float(grad(f)(2.0))) == (2.0, -1.0, 1.0)


@pytest.mark.parametrize(
    ("rule", "error", "message"),
    [
        (lambda p, t: p[0], CustomRuleError, "must return a pair"),
        (lambda p, t: (p[0], (t[0], t[0])), TreeStructureError, "tangent of structure"),
        (lambda p, t: (p[0], np.ones(3)), CustomRuleError, "shapes must agree"),
    ],
)
def test_wrong_jvp_rules_are_refused(rule: Any, error: type, message: str) -> None:
    @custom_jvp
    def f(x: Any) -> Any:
        return x * 1.0

    with pytest.raises(CustomRuleError, match="has no rule; define one with defjvp"):
        f(1.0)
    f.defjvp(rule)
    with pytest.raises(error, match=message):
        grad(f)(1.0)


@pytest.mark.parametrize(
    ("fwd", "bwd", "error", "message"),
    [
        (lambda x: x, lambda r, ct: (ct,), CustomRuleError, "pair"),
        (lambda x: (x, None), lambda r, ct: ct, CustomRuleError, "tuple of 1"),
        (lambda x: (x, None), lambda r, ct: (ct, ct), CustomRuleError, "2 of them"),
        (lambda x: (x, None), lambda r, ct: ({"a": ct},), TreeStructureError, "argument 0"),
        (lambda x: (x, None), lambda r, ct: (np.ones(2),), CustomRuleError, "shapes must agree"),
    ],
)
def test_wrong_vjp_rules_are_refused(fwd: Any, bwd: Any, error: type, message: str) -> None:
    @custom_vjp
    def f(x: Any) -> Any:
        return x * 1.0

    with pytest.raises(CustomRuleError, match="has no rule; define one with defvjp"):
        f(1.0)
    f.defvjp(fwd, bwd)
    with pytest.raises(error, match=message):
        vjp(f, 1.0)[1](1.0)


def test_value_that_a_function_closes_over_has_the_derivative_of_the_function() -> None:
    def outer(x: Any) -> Any:
        @custom_jvp
        def f(y: Any) -> Any:
            return y * x

        f.defjvp(lambda primals, tangents: (primals[0] * x, tangents[0] * x * 10.0))
        return lax.scan(lambda c, _: (f(c), None), 1.0, None, 2)[0]

    # d/dx f(f(1)) = f(1) + 10 x * d/dx f(1): the rule speaks for the argument, ten times too much
    assert float(grad(outer)(3.0)) == 3.0 + 30.0 * 1.0
    assert float(jvp(outer, (3.0,), (1.0,))[1]) == 33.0
