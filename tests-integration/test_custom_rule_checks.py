"""What custom rules return is compared with what their function returns, wherever they are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import CustomRuleError, custom_jvp, custom_vjp, grad, jvp, vjp
from axonym_compile import jit
from axonym_core import lax
from axonym_core.errors import TreeStructureError
from axonym_mapping import vmap

pytestmark = pytest.mark.usefixtures("backend")

X = np.array([0.5, 1.0], np.float32)


def total(f: Any) -> Any:
    """Sum of all that a function returns."""

    def of(x: Any) -> Any:
        out = f(x)
        parts = out if isinstance(out, tuple) else (out,)
        sums = [lax.reduce_sum(p, tuple(range(p.ndim))) for p in parts]
        return sum(lax.convert_element_type(s, np.float32) for s in sums)

    return of


USES: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(total(f))(X),
    "jvp": lambda f: jvp(total(f), (X,), (X,)),
    "jit of grad": lambda f: jit(grad(total(f)))(X),
    "grad of jit": lambda f: grad(total(jit(f)))(X),
    "grad of vmap": lambda f: grad(lambda x: total(vmap(f))(x))(np.stack([X, X])),
    "vmap of grad": lambda f: vmap(grad(total(f)), axis_name="i")(np.stack([X, X])),
    "scan": lambda f: grad(
        lambda x: lax.reduce_sum(lax.scan(lambda c, _: (first(f(c)), None), x, None, 2)[0], (0,))
    )(X),
    "cond": lambda f: grad(lambda x: total(lambda y: lax.cond(y[0] > 0, f, f, y))(x))(X),
}


def first(out: Any) -> Any:
    return out[0] if isinstance(out, tuple) else out


def doubled(x: Any) -> Any:
    return x * 2


def two(x: Any) -> Any:
    return x * 2, lax.reduce_sum(x, (0,))


# A function, and what its rule returns in the place of its result.
WRONG_RESULTS: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "shape": (doubled, lambda x: x[0], CustomRuleError, r"f32\[.*f32\[2"),
    "longer": (doubled, lambda x: lax.concatenate([x, x], 0), CustomRuleError, r"f32\[4.*f32\[2"),
    "dtype": (
        doubled,
        lambda x: lax.convert_element_type(x, np.float64),
        CustomRuleError,
        r"f64\[2.*f32\[2.*astype\('float32'\)",
    ),
    "integer": (
        doubled,
        lambda x: lax.convert_element_type(x, np.int32),
        CustomRuleError,
        r"i32\[2.*f32\[2",
    ),
    "complex": (
        doubled,
        lambda x: lax.convert_element_type(x, np.complex64),
        CustomRuleError,
        r"c64\[2.*f32\[2",
    ),
    "tuple": (doubled, lambda x: (x, x), TreeStructureError, "structure"),
    "one of two": (two, lambda x: x, TreeStructureError, "structure"),
    "order of two": (two, lambda x: two(x)[::-1], CustomRuleError, r"at \[0\].*f32\[.*f32\[2"),
    "dict for tuple": (two, lambda x: dict(enumerate(two(x))), TreeStructureError, "structure"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("wrong", WRONG_RESULTS)
def test_result_of_a_jvp_rule_fits_the_function(wrong: str, use: str) -> None:
    fun, other, error, message = WRONG_RESULTS[wrong]
    f = custom_jvp(fun)
    f.defjvp(lambda p, t: (other(*p), other(*t)))

    with pytest.raises(error, match=message) as raised:
        USES[use](f)
    assert fun.__name__ in str(raised.value)
    assert "rule" in str(raised.value)


@pytest.mark.parametrize("use", [u for u in USES if u != "jvp"])
@pytest.mark.parametrize("wrong", WRONG_RESULTS)
def test_result_of_a_forward_rule_fits_the_function(wrong: str, use: str) -> None:
    fun, other, error, message = WRONG_RESULTS[wrong]
    f = custom_vjp(fun)
    f.defvjp(lambda x: (other(x), x), lambda x, ct: (x,))

    with pytest.raises(error, match=message) as raised:
        USES[use](f)
    assert f"forward rule of {fun.__name__}" in str(raised.value)


WRONG_DERIVATIVES: dict[str, tuple[Any, type[Exception], str]] = {
    "shape": (lambda t: t[0], CustomRuleError, r"f32\[.*f32\[2.*; shapes must agree"),
    "dtype": (
        lambda t: lax.convert_element_type(t, np.float64),
        CustomRuleError,
        r"f64\[2.*f32\[2.*astype\('float32'\)",
    ),
    "narrower": (
        lambda t: lax.convert_element_type(t, np.float16),
        CustomRuleError,
        r"f16\[2.*f32\[2",
    ),
    "complex": (
        lambda t: lax.convert_element_type(t, np.complex64),
        CustomRuleError,
        r"c64\[2.*f32\[2",
    ),
    "structure": (lambda t: [t], TreeStructureError, "doubled"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("wrong", WRONG_DERIVATIVES)
def test_tangent_of_a_jvp_rule_fits_the_result(wrong: str, use: str) -> None:
    other, error, message = WRONG_DERIVATIVES[wrong]
    f = custom_jvp(doubled)
    f.defjvp(lambda p, t: (doubled(*p), other(*t)))

    with pytest.raises(error, match=message) as raised:
        USES[use](f)
    assert "the rule of doubled returned a tangent" in str(raised.value)


@pytest.mark.parametrize("use", [u for u in USES if u != "jvp"])
@pytest.mark.parametrize("wrong", WRONG_DERIVATIVES)
def test_cotangent_of_a_backward_rule_fits_the_argument(wrong: str, use: str) -> None:
    other, error, message = WRONG_DERIVATIVES[wrong]
    f = custom_vjp(doubled)
    f.defvjp(lambda x: (doubled(x), None), lambda _, ct: (other(ct),))

    with pytest.raises(error, match=message) as raised:
        USES[use](f)
    assert "the backward rule of doubled returned" in str(raised.value)
    assert "argument 0 (x)" in str(raised.value)


def test_cotangent_in_a_tree_is_named_by_its_path() -> None:
    @custom_vjp
    def layer(params: Any, x: Any) -> Any:
        return params["w"] * x + params["b"]

    layer.defvjp(
        lambda params, x: (layer(params, x), x),
        lambda x, ct: ({"w": x * ct, "b": np.float32(1)}, ct),
    )
    with pytest.raises(CustomRuleError, match=r"argument 0 \(params\) at \['b'\]"):
        vjp(layer, {"w": X, "b": X}, X)[1](X)


@pytest.mark.parametrize(
    "ct",
    [
        lambda x: ({"a": x, "b": None}, None),
        lambda x: ({"a": x, "b": (None, None)}, None),
        lambda x: ({"a": x, "b": (None, x * 0)}, None),
    ],
    ids=["subtree", "leaves", "one leaf"],
)
def test_none_stands_for_no_cotangent_at_every_level(ct: Any) -> None:
    @custom_vjp
    def f(tree: Any, nothing: Any) -> Any:
        return tree["a"] * 1.0

    f.defvjp(lambda tree, nothing: (tree["a"] * 1.0, None), lambda _, c: ct(c * 7.0))
    found = grad(lambda t: lax.reduce_sum(f(t, None), (0,)))({"a": X, "b": (X, X)})

    np.testing.assert_array_equal(found["a"], [7.0, 7.0])
    np.testing.assert_array_equal(found["b"], [[0, 0]] * 2)


def test_none_in_an_argument_has_none_as_its_cotangent() -> None:
    @custom_vjp
    def f(pair: Any) -> Any:
        return pair[0] * 1.0

    f.defvjp(lambda pair: (pair[0] * 1.0, None), lambda _, c: ((c * 7.0, None),))

    assert float(grad(lambda x: f((x, None)))(2.0)) == 7.0


def test_one_array_is_no_cotangent_for_a_tree() -> None:
    @custom_vjp
    def f(pair: Any) -> Any:
        return pair["x"] * 1.0

    f.defvjp(lambda pair: (pair["x"], None), lambda _, c: (c,))
    with pytest.raises(TreeStructureError, match="argument 0"):
        grad(lambda x: f({"x": x}))(2.0)


def test_weak_types_give_way() -> None:
    f = custom_jvp(doubled)
    f.defjvp(lambda p, t: (p[0] * 2, t[0] * np.float32(2)))
    constant = custom_jvp(lambda x: 3.0)
    constant.defjvp(lambda p, t: (3.0, 0.0))
    half = custom_vjp(lambda x: x * 2)
    half.defvjp(lambda x: (x * 2, None), lambda _, ct: (5.0,))

    assert jvp(f, (1.5,), (1.0,))[1].dtype == np.float32
    assert [float(v) for v in jvp(constant, (1.5,), (1.0,))] == [3.0, 0.0]
    gradient = grad(lambda x: lax.convert_element_type(half(x), np.float32))(np.float16(1))
    assert (gradient.dtype, float(gradient)) == (np.float16, 5.0)


def test_function_that_decides_by_values_needs_no_staging() -> None:
    f = custom_jvp(lambda x: x if x > 0 else -x)
    f.defjvp(lambda p, t: (abs(p[0]), t[0] if p[0] > 0 else -t[0]))

    assert float(grad(f)(-2.0)) == -1.0
