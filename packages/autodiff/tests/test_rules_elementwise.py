"""Derivatives of element-wise operations: right against differences, and free of NaN at edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import grad, jvp, vjp
from axonym_autodiff.rule_tables import jvp_rules, transpose_rules
from axonym_autodiff.rules.elementwise import unbroadcast
from axonym_core import lax, make_jaxpr
from axonym_core.primitives import elementwise as p
from axonym_core.settings import config
from axonym_core.types import ShapedArray


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


Function = Callable[..., Any]

ANY = np.array([-1.7, -0.4, 0.3, 0.8, 2.6])
POSITIVE = np.array([0.2, 0.7, 1.3, 2.6, 5.1])
UNIT = np.array([-0.9, -0.3, 0.1, 0.5, 0.95])

UNARY: dict[str, tuple[Function, np.ndarray[Any, Any]]] = {
    "neg": (lax.neg, ANY),
    "abs": (lax.abs, ANY),
    "sign": (lax.sign, ANY),
    "square": (lax.square, ANY),
    "floor": (lax.floor, ANY),
    "ceil": (lax.ceil, ANY),
    "round": (lax.round, ANY),
    "exp": (lax.exp, ANY),
    "exp2": (lax.exp2, ANY),
    "expm1": (lax.expm1, ANY),
    "log": (lax.log, POSITIVE),
    "log1p": (lax.log1p, POSITIVE - 1),
    "sqrt": (lax.sqrt, POSITIVE),
    "rsqrt": (lax.rsqrt, POSITIVE),
    "cbrt": (lax.cbrt, ANY),
    "sin": (lax.sin, ANY),
    "cos": (lax.cos, ANY),
    "tan": (lax.tan, ANY),
    "asin": (lax.asin, UNIT),
    "acos": (lax.acos, UNIT),
    "atan": (lax.atan, ANY),
    "sinh": (lax.sinh, ANY),
    "cosh": (lax.cosh, ANY),
    "tanh": (lax.tanh, ANY),
    "asinh": (lax.asinh, ANY),
    "acosh": (lax.acosh, POSITIVE + 1),
    "atanh": (lax.atanh, UNIT),
    "logistic": (lax.logistic, ANY),
    "erf": (lax.erf, ANY),
    "erfc": (lax.erfc, ANY),
    "erf_inv": (lax.erf_inv, UNIT),
    "lgamma": (lax.lgamma, ANY),
    "digamma": (lax.digamma, ANY),
    "polygamma": (lambda x: lax.polygamma(2.0, x), ANY),
    "reciprocal": (lax.reciprocal, ANY),
    "integer_pow_0": (lambda x: lax.integer_pow(x, 0), ANY),
    "integer_pow_1": (lambda x: lax.integer_pow(x, 1), ANY),
    "integer_pow_2": (lambda x: lax.integer_pow(x, 2), ANY),
    "integer_pow_5": (lambda x: lax.integer_pow(x, 5), ANY),
    "integer_pow_minus_3": (lambda x: lax.integer_pow(x, -3), ANY),
    "pow_fixed": (lambda x: lax.pow(x, 2.5), POSITIVE),
    "pow_fixed_base": (lambda x: lax.pow(2.5, x), ANY),
    "clamp": (lambda x: lax.clamp(-1.0, x, 1.0), ANY),
    "relu": (lambda x: lax.max(x, 0.0), ANY),
    "select": (lambda x: lax.select(lax.gt(x, 0.0), lax.exp(x), lax.square(x)), ANY),
    "copy": (lax.copy, ANY),
    "convert": (lambda x: lax.convert_element_type(x, "complex128"), ANY),
    "abs_of_complex": (lambda x: lax.abs(lax.complex(x, lax.sin(x))), ANY),
    "sign_of_complex": (lambda x: lax.imag(lax.sign(lax.complex(x, lax.exp(x)))), ANY),
}
OTHER = np.array([0.6, 1.9, -0.7, 1.2, 0.4])
BINARY: dict[str, tuple[Function, np.ndarray[Any, Any]]] = {
    "add": (lax.add, ANY),
    "sub": (lax.sub, ANY),
    "mul": (lax.mul, ANY),
    "mul_no_nan": (lax.mul_no_nan, ANY),
    "div": (lax.div, ANY),
    "rem": (lax.rem, ANY),
    "pow": (lax.pow, POSITIVE),
    "max": (lax.max, ANY),
    "min": (lax.min, ANY),
    "atan2": (lax.atan2, ANY),
    "complex": (lax.complex, ANY),
    "select_n": (lambda x, y: lax.select_n(np.array([0, 1, 1, 0, 1], np.int32), x, y), ANY),
    "clamp_low": (lambda x, y: lax.clamp(x, y, 0.5), ANY),
    "clamp_high": (lambda x, y: lax.clamp(-0.5, y, x), ANY),
}


def slope(f: Function, x: Any, t: Any) -> Any:
    """Derivative along `t`, by Richardson's extrapolation of central differences."""

    def difference(h: float) -> Any:
        return (np.asarray(f(x + h * t)) - np.asarray(f(x - h * t))) / (2 * h)

    return (4 * difference(1e-4) - difference(2e-4)) / 3


@pytest.mark.parametrize("name", UNARY)
def test_tangents_of_one_operand_equal_differences(name: str) -> None:
    f, x = UNARY[name]
    t = np.array([1.0, -2.0, 0.5, 3.0, 1.5])

    out, tangent = jvp(f, (x,), (t,))

    np.testing.assert_array_equal(out, f(x))
    np.testing.assert_allclose(tangent, slope(f, x, t), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", UNARY)
def test_second_derivatives_equal_differences_of_the_first(name: str) -> None:
    f, x = UNARY[name]
    one = np.ones_like(x)

    def first(v: Any) -> Any:
        return jvp(f, (v,), (one,))[1]

    np.testing.assert_allclose(
        jvp(first, (x,), (one,))[1], slope(first, x, one), rtol=1e-5, atol=1e-8
    )


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("which", ["x", "y", "both"])
def test_tangents_of_two_operands_equal_differences(name: str, which: str) -> None:
    f, x = BINARY[name]
    t = np.array([1.0, -2.0, 0.5, 3.0, 1.5])

    if which == "x":
        g, at, along = lambda v: f(v, OTHER), x, t
    elif which == "y":
        g, at, along = lambda v: f(x, v), OTHER, t
    else:
        g, at, along = lambda v: f(v, lax.mul(v, OTHER / x)), x, t

    np.testing.assert_allclose(
        jvp(g, (at,), (along,))[1], slope(g, at, along), rtol=1e-6, atol=1e-9
    )


def pairing(ct: Any, t: Any) -> float:
    return float(np.sum(np.real(np.asarray(ct) * np.asarray(t))))


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_cotangents_pair_with_tangents(name: str) -> None:
    rng = np.random.default_rng(0)
    f, x = UNARY[name] if name in UNARY else BINARY[name]
    primals = (x,) if name in UNARY else (x, OTHER)
    tangents = tuple([rng.normal(size=5) for _ in primals])

    out, tangent = jvp(f, primals, tangents)
    ct = rng.normal(size=5)
    if np.iscomplexobj(np.asarray(out)):
        ct = ct + 1j * rng.normal(size=5)
    cts = vjp(f, *primals)[1](ct)

    total = sum([pairing(c, t) for c, t in zip(cts, tangents, strict=True)])
    assert total == pytest.approx(pairing(ct, tangent), rel=1e-12)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("scalar", [0, 1])
def test_an_operand_of_rank_0_gets_the_sum_of_cotangents(name: str, scalar: int) -> None:
    f, x = BINARY[name]
    operands = [x, OTHER]
    operands[scalar] = np.asarray(operands[scalar][3])
    full = [np.broadcast_to(v, (5,)) for v in operands]
    ct = np.array([1.0, -2.0, 0.5, 3.0, 1.5])

    short = vjp(f, *operands)
    long = vjp(f, *full)
    ct = ct.astype(np.asarray(short[0]).dtype)
    got, want = short[1](ct), [np.asarray(c) for c in long[1](ct)]

    want[scalar] = np.asarray(want[scalar].sum())
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    # The tangent of the scalar alone has the shape of the result.
    alone = [np.zeros_like(v) for v in operands]
    alone[scalar] = np.ones(())
    _, tangent = jvp(f, tuple(operands), tuple(alone))
    assert np.shape(tangent) == (5,)


HOLOMORPHIC = [
    "neg",
    "square",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "logistic",
    "reciprocal",
    "integer_pow_5",
    "copy",
]
COMPLEX = np.array([0.3 + 0.4j, -0.5 + 0.2j, 1.2 - 0.8j, -0.7 - 1.1j, 0.2 + 1.5j])


@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_holomorphic_functions_have_one_slope_in_every_direction(name: str) -> None:
    f, _ = UNARY[name]
    one = np.ones_like(COMPLEX)

    _, along_real = jvp(f, (COMPLEX,), (one,))
    _, along_imaginary = jvp(f, (COMPLEX,), (1j * one,))

    np.testing.assert_allclose(along_real, slope(f, COMPLEX, one), rtol=1e-6)
    np.testing.assert_allclose(along_imaginary, 1j * np.asarray(along_real), rtol=1e-12)


@pytest.mark.parametrize("f", [lax.abs, lax.sign, lax.real, lax.imag, lax.conj])
def test_other_functions_of_complex_numbers_equal_differences(f: Function) -> None:
    t = np.array([1 - 2j, 0.5j, 3 + 0j, -1 + 1j, 2 - 0.3j])

    out, tangent = jvp(f, (COMPLEX,), (t,))
    ct = np.asarray(out) * (0.3 if np.isrealobj(np.asarray(out)) else 0.3 - 0.6j)
    (back,) = vjp(f, COMPLEX)[1](ct)

    np.testing.assert_allclose(tangent, slope(f, COMPLEX, t), rtol=1e-6, atol=1e-9)
    assert pairing(back, t) == pytest.approx(pairing(ct, tangent), rel=1e-12)


# Edges: where the derivative exists, it is not NaN.


def total(f: Function) -> Function:
    return lambda *args: lax.reduce_sum(f(*args), (0,))


def test_powers_at_zero_have_the_slopes_of_the_monomials() -> None:
    exponents = np.array([0.0, 1.0, 2.0, 3.0])

    def f(t: Any) -> Any:
        return lax.pow(t, exponents)

    _, first = jvp(f, (np.float64(0),), (np.float64(1),))
    _, second = jvp(lambda v: jvp(f, (v,), (np.float64(1),))[1], (np.float64(0),), (np.float64(1),))
    backward = grad(total(f), argnums=0)(np.float64(0))
    np.testing.assert_array_equal(first, [0, 1, 0, 0])
    np.testing.assert_array_equal(second, [0, 0, 2, 0])
    assert float(backward) == 1


def test_powers_of_zero_do_not_spoil_the_derivative_by_the_exponent() -> None:
    x, y = np.zeros(3), np.array([0.0, 1.0, 2.5])

    by_base, by_exponent = vjp(lax.pow, x, y)[1](np.ones(3))
    (infinite,) = vjp(lambda v: lax.pow(np.array([np.inf]), v), np.array([-2.0]))[1](np.ones(1))

    np.testing.assert_array_equal(by_base, [0, 1, 0])
    np.testing.assert_array_equal(by_exponent, [0, 0, 0])
    np.testing.assert_array_equal(infinite, [0])


def test_powers_with_fixed_exponents_at_zero() -> None:
    for exponent, expected in ((0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (0.5, np.inf)):
        assert float(grad(lambda x, e=exponent: lax.pow(x, e))(0.0)) == expected
    for power, slope_at_0 in ((0, 0.0), (1, 1.0), (2, 0.0)):
        assert float(grad(lambda x, n=power: lax.integer_pow(x, n))(0.0)) == slope_at_0


def test_ties_share_equally() -> None:
    for f in (lax.max, lax.min):
        assert [float(g) for g in grad(f, argnums=(0, 1))(2.0, 2.0)] == [0.5, 0.5]
    assert [float(g) for g in grad(lax.clamp, argnums=(0, 1, 2))(1.0, 1.0, 3.0)] == [0.5, 0.5, 0]
    assert [float(g) for g in grad(lax.clamp, argnums=(0, 1, 2))(1.0, 3.0, 3.0)] == [0, 0.5, 0.5]


def test_a_bound_that_wins_takes_the_whole_derivative() -> None:
    assert [float(g) for g in grad(lax.clamp, argnums=(0, 1, 2))(1.0, 0.0, 3.0)] == [1, 0, 0]
    assert [float(g) for g in grad(lax.clamp, argnums=(0, 1, 2))(1.0, 2.0, 3.0)] == [0, 1, 0]
    assert [float(g) for g in grad(lax.clamp, argnums=(0, 1, 2))(1.0, 9.0, 3.0)] == [0, 0, 1]


def test_an_infinite_slope_behind_a_choice_that_was_not_taken_vanishes() -> None:
    assert float(grad(lambda x: lax.sqrt(lax.max(x, 0.0)))(-1.0)) == 0
    assert float(grad(lambda x: lax.sqrt(lax.clamp(0.0, x, 1.0)))(-1.0)) == 0
    assert float(grad(lambda x: lax.log(lax.max(x, 0.0)))(-1.0)) == 0


def test_a_guarded_root_is_clean() -> None:
    def root_or_line(t: Any) -> Any:
        safe = lax.select(lax.gt(t, 1.0), t, 4.0)
        return lax.select(lax.gt(t, 1.0), lax.sqrt(safe), t)

    assert [float(grad(root_or_line)(t)) for t in (-3.0, 0.0)] == [1, 1]
    assert float(grad(root_or_line)(9.0)) == pytest.approx(1 / 6)


def test_the_modulus_has_a_finite_derivative_at_the_origin() -> None:
    assert complex(grad(lax.abs)(np.complex64(0))) == 0
    assert float(grad(lax.abs)(0.0)) == 0
    _, tangent = jvp(lax.sign, (np.complex64(0),), (np.complex64(1),))
    assert complex(tangent) == 0


def test_saturated_functions_have_slope_zero() -> None:
    for x in (-300.0, 300.0):
        assert float(grad(lax.logistic)(x)) == pytest.approx(0, abs=1e-30)
        assert float(grad(lax.tanh)(x)) == 0
        assert float(grad(lax.erf)(x)) == 0
    assert float(grad(lax.exp)(-np.inf)) == 0
    assert float(grad(lax.logistic)(0.0)) == 0.25


def test_large_operands_do_not_overflow_on_the_way() -> None:
    big = np.float32(1e30)

    assert float(grad(lax.asinh)(big)) == pytest.approx(1e-30, rel=1e-4)
    assert float(grad(lax.acosh)(big)) == pytest.approx(1e-30, rel=1e-4)
    for scale in (1e30, 1e-30):
        x, y = np.float32(3 * scale), np.float32(4 * scale)
        gx, gy = grad(lax.atan2, argnums=(0, 1))(x, y)
        assert float(gx) * scale == pytest.approx(0.16, rel=1e-5)
        assert float(gy) * scale == pytest.approx(-0.12, rel=1e-5)


def test_the_angle_of_the_origin_has_a_finite_derivative() -> None:
    assert [float(g) for g in grad(lax.atan2, argnums=(0, 1))(0.0, 0.0)] == [0, 0]


# Constants, conversions, types.


def test_nothing_passes_stop_gradient() -> None:
    assert float(grad(lambda x: lax.mul(lax.stop_gradient(x), x))(3.0)) == 3
    twice = grad(grad(lambda x: lax.mul(lax.stop_gradient(lax.square(x)), lax.square(x))))
    assert float(twice(3.0)) == 18


def test_floor_division_has_no_derivative_and_the_remainder_that_of_its_operand() -> None:
    one, zero = (np.array([1.0]), np.array([0.0]))
    x, y = np.array([-7.5]), np.array([2.0])

    from axonym_core import operators

    (qx, qy) = vjp(operators.floor_divide, x, y)[1](one)
    (rx, ry) = vjp(operators.remainder, x, y)[1](one)

    np.testing.assert_array_equal([qx, qy], [zero, zero])
    np.testing.assert_array_equal([rx, ry], [one, np.array([4.0])])


def test_derivatives_come_back_in_the_dtype_of_the_operand() -> None:
    def f(x: Any) -> Any:
        return lax.mul(lax.convert_element_type(x, "float64"), 3.0)

    out = grad(f)(np.float16(2))

    assert (out.dtype, float(out)) == (np.float16, 3)
    assert float(grad(lambda x: lax.convert_element_type(lax.floor(x), "int32") * x)(2.5)) == 2


def test_conversion_to_complex_is_undone_by_the_real_part() -> None:
    (ct,) = vjp(lambda x: lax.convert_element_type(x, "complex64"), np.float32(1))[1](
        np.complex64(2 + 5j)
    )

    assert (ct.dtype, float(ct)) == (np.float32, 2)


def test_weakly_typed_numbers_have_weakly_typed_tangents() -> None:
    for f in (lax.sin, lax.tanh, lax.logistic, lax.square, lambda x: lax.max(x, 0.0)):
        out, tangent = jvp(f, (1.0,), (1.0,))
        assert out.weak_type
        assert tangent.weak_type


def test_each_operand_costs_one_linear_equation() -> None:
    from axonym_autodiff import linearize

    for f in (lax.sin, lax.tanh, lax.log, lax.sqrt, lax.erf, lax.logistic, lax.asin, lax.square):
        _, linear = linearize(f, np.float32(0.5))
        assert len(make_jaxpr(linear)(np.float32(1)).eqns) == 1


def test_unbroadcast_sums_only_what_was_rank_0() -> None:
    ct = np.arange(6.0).reshape(2, 3)

    assert unbroadcast(ct, ShapedArray((2, 3), np.float64)) is ct
    assert float(unbroadcast(ct, ShapedArray((), np.float64))) == 15
    assert unbroadcast(np.float64(2), ShapedArray((), np.float64)) == 2


def test_every_element_wise_primitive_has_its_rules() -> None:
    primitives = [v for k, v in vars(p).items() if k.endswith("_p")]

    assert [v.name for v in primitives if v not in jvp_rules] == []
    assert [v.name for v in primitives if v.linear and v not in transpose_rules] == []
