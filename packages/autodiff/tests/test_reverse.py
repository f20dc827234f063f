"""`vjp`, `grad`, `value_and_grad`, `linear_transpose`: values, trees, arguments, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_autodiff import (
    NotDifferentiableError,
    NotLinearError,
    grad,
    jvp,
    linear_transpose,
    value_and_grad,
    vjp,
)
from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.errors import AxisNameError, ShapeError, TreeStructureError
from axonym_core.types import dtypes


def loss(params: Any, x: Any) -> Any:
    return lax.reduce_sum(lax.tanh(lax.dot(x, params["w"]) + params["b"]), (0, 1))


def inputs(seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    return {"w": random.standard_normal((4, 3)), "b": random.standard_normal((2, 3))}, (
        random.standard_normal((2, 4))
    )


def test_gradient_has_the_tree_of_its_argument_and_the_right_numbers() -> None:
    params, x = inputs()
    value, gradient = value_and_grad(loss)(params, x)
    z = x @ params["w"] + params["b"]
    slope = 1 - np.tanh(z) ** 2
    np.testing.assert_allclose(value, np.tanh(z).sum())
    np.testing.assert_allclose(gradient["w"], x.T @ slope)
    np.testing.assert_allclose(gradient["b"], slope)


def test_several_arguments_negative_positions_and_keywords() -> None:
    f = lambda a, b, *, c: a * b * c  # noqa: E731
    assert [float(g) for g in grad(f, (0, -1))(2.0, 3.0, c=4.0)] == [12.0, 8.0]
    assert float(grad(f, -1)(2.0, 3.0, c=4.0)) == 8.0


def test_auxiliary_output_is_returned_and_not_differentiated() -> None:
    def f(x: Any) -> Any:
        return x * x, {"seen": x + 1}

    value, aux = value_and_grad(f, has_aux=True)(3.0)[0]
    assert (float(value), float(aux["seen"])) == (9.0, 4.0)
    gradient, aux = grad(f, has_aux=True)(3.0)
    assert (float(gradient), float(aux["seen"])) == (6.0, 4.0)
    with pytest.raises(TypeError, match="must return a pair"):
        grad(lambda x: x * x, has_aux=True)(3.0)


def test_an_argument_that_is_not_used_has_gradient_zero() -> None:
    gradient = grad(lambda t: t["a"] * 2.0)({"a": 1.0, "b": np.ones((2, 3))})
    assert gradient["b"].shape == (2, 3)
    assert not np.asarray(gradient["b"]).any()


def test_derivatives_of_higher_order() -> None:
    f = lax.sin
    for order, want in enumerate((np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x))):
        f = grad(f)
        np.testing.assert_allclose(f(np.float64(0.7)), want(0.7), err_msg=str(order))


@given(
    st.lists(st.sampled_from(["sin", "square", "scale", "product"]), max_size=6), st.integers(0, 99)
)
@settings(max_examples=40)
def test_reverse_agrees_with_forward_on_random_programs(ops: list[str], seed: int) -> None:
    random = np.random.default_rng(seed)
    x, t, ct = random.standard_normal((3, 5))

    def f(x: Any) -> Any:
        first = x
        for op in ops:
            match op:
                case "sin":
                    x = lax.sin(x)
                case "square":
                    x = x * x
                case "scale":
                    x = x * 0.5
                case _:
                    x = x * first
        return x

    _, tangent = jvp(f, (x,), (t,))
    (back,) = vjp(f, x)[1](ct)
    np.testing.assert_allclose(np.dot(back, t), np.dot(ct, tangent), rtol=1e-9, atol=1e-9)


def test_integer_arguments_of_vjp_have_float0_cotangents() -> None:
    value, pull = vjp(lambda x, n: x * n, 3.0, np.float32(4))
    value, pull = vjp(lambda x, k: lax.mul(x, lax.convert_element_type(k, "float32")), 3.0, 4)
    x_ct, k_ct = pull(np.float32(1))
    assert (float(value), float(x_ct)) == (12.0, 4.0)
    assert k_ct.dtype == dtypes.float0


def test_complex_functions_need_holomorphic() -> None:
    z = np.complex128(0.6 - 0.8j)
    np.testing.assert_allclose(grad(lambda u: u * u * u, holomorphic=True)(z), 3 * z**2)
    with pytest.raises(NotDifferentiableError, match="holomorphic=True"):
        grad(lambda u: u * u)(z)
    with pytest.raises(NotDifferentiableError, match="complex arguments"):
        grad(lambda u: u * u, holomorphic=True)(1.0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: grad(lambda x: x)(np.ones(3)), NotDifferentiableError, r"scalar.*f64\[3\].*sum"),
        (lambda: grad(lambda x: (x, x))(1.0), NotDifferentiableError, "one scalar"),
        (lambda: grad(lambda x: x)(3), NotDifferentiableError, "int64.*astype"),
        (lambda: grad(lambda x: x, 2)(3.0), ValueError, "argnums has 2"),
        (lambda: grad(lambda x, y: x, (0, 0))(3.0, 1.0), ValueError, "twice"),
        (lambda: grad(lambda x: x, "x")(3.0), TypeError, "must be integers"),
        (lambda: grad(3.0), TypeError, "must be a function"),
        (lambda: grad(lambda x: lax.lt(x, 1.0))(3.0), NotDifferentiableError, "floating-point"),
        (lambda: vjp(lambda x: x, 1.0)[1]((1.0, 2.0)), TreeStructureError, "one cotangent per"),
        (lambda: vjp(lambda x: x, 1.0)[1](np.ones(2)), ShapeError, r"shape \(2,\)"),
        (
            lambda: vjp(lambda x: x, np.float32(1))[1](np.array(1.0)),
            NotDifferentiableError,
            "float64.*astype",
        ),
        (lambda: grad(lambda x: x, reduce_axes=("b",))(1.0), AxisNameError, "'b' is not in scope"),
        (lambda: grad(lambda x: x, reduce_axes=("b", "b"))(1.0), AxisNameError, "twice"),
    ],
)
def test_bad_input_is_refused_with_the_mend(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_transpose_of_a_linear_function_is_the_transposed_matrix() -> None:
    a = np.arange(6.0).reshape(2, 3)
    transpose = linear_transpose(lambda x: lax.dot(a, x), ShapeDtypeStruct((3,), "float64"))
    np.testing.assert_allclose(transpose(np.array([1.0, 10.0]))[0], a.T @ [1.0, 10.0])


@pytest.mark.parametrize(
    "fun",
    [lambda x: x * x, lambda x: 1.0 / x, lambda x: lax.sin(x), lambda x: lax.dot(x, x)],
    ids=["product", "reciprocal", "sin", "dot"],
)
def test_transposing_what_is_not_linear_is_refused(fun: Any) -> None:
    with pytest.raises(NotLinearError, match="linear"):
        linear_transpose(fun, np.ones(3))(fun(np.ones(3)))


def test_transposing_an_integer_argument_is_refused() -> None:
    with pytest.raises(NotDifferentiableError, match="int"):
        linear_transpose(lambda x: x, 3)


def test_gradient_stages_and_its_program_has_no_use_of_the_input_beyond_need() -> None:
    jaxpr = make_jaxpr(grad(lambda x: x * 3.0))(1.0)
    assert jaxpr.out_avals[0].shape == ()


def test_non_finite_values_pass_through() -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0])
    (back,) = vjp(lambda x: x * x, x)[1](np.ones(4))
    np.testing.assert_array_equal(back, 2 * x)


def test_empty_and_0d_arrays() -> None:
    (back,) = vjp(lambda x: lax.sin(x), np.ones((0, 3)))[1](np.ones((0, 3)))
    assert back.shape == (0, 3)
    assert float(grad(lambda x: lax.reduce_sum(x, (0,)) + 1.0)(np.ones(0)).size) == 0


def test_negative_strides_are_no_matter() -> None:
    x = np.arange(6.0)[::-2]
    np.testing.assert_allclose(grad(lambda x: lax.reduce_sum(x * x, (0,)))(x), 2 * x)
