"""Element-wise operations evaluate as NumPy's, or as hardware does where NumPy differs."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.arrays import as_concrete
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.primitives import elementwise as p
from axonym_core.settings import config
from axonym_core.types import dtypes


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e-3, -1e-3, 40.0, np.inf, -np.inf, np.nan]
FLOATS = [ml_dtypes.bfloat16, np.float16, np.float32, np.float64]
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]

UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": np.negative,
    "sign": np.sign,
    "abs": np.abs,
    "square": np.square,
    "floor": np.floor,
    "ceil": np.ceil,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "erf": np.vectorize(math.erf, otypes=[float]),
    "erfc": np.vectorize(math.erfc, otypes=[float]),
    "reciprocal": lambda x: 1 / x,
}
NOT_COMPLEX = {"floor", "ceil", "cbrt", "erf", "erfc"}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "mul_no_nan": lambda x, y: np.where((x == 0) | (y == 0), np.zeros_like(x), x * y),
    "div": np.divide,
    "rem": np.fmod,
    "pow": np.power,
    "max": np.maximum,
    "min": np.minimum,
    "atan2": np.arctan2,
}
COMPARISONS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def quietly(function: Callable[..., Any], *args: Any) -> Any:
    with np.errstate(all="ignore"):
        return function(*args)


def assert_close(actual: Any, expected: Any, dtype: Any) -> None:
    assert actual.dtype == dtype
    rtol = 4 * float(dtypes.finfo(dtype).eps)
    wide = np.complex128 if dtypes.is_complex(np.dtype(dtype)) else np.float64
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            np.asarray(actual).astype(wide),
            np.asarray(expected).astype(dtype).astype(wide),
            rtol=rtol,
            atol=rtol / 8,
        )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_float_equal_numpy_at_edges(name: str, dtype: Any) -> None:
    x = np.array(EDGES, dtype)

    expected = quietly(UNARY[name], x.astype(np.float64))

    assert_close(getattr(lax, name)(x), expected, dtype)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", sorted(UNARY.keys() - NOT_COMPLEX - {"abs"}))
def test_functions_of_one_complex_number_equal_numpy(name: str, dtype: Any) -> None:
    x = np.array([0.3 + 0.2j, -0.5 + 0.1j, 0.2 - 2j, 1.5 + 1j], dtype)

    assert_close(getattr(lax, name)(x), UNARY[name](x), dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_floats_equal_numpy_at_edges(name: str, dtype: Any) -> None:
    x, y = (a.ravel() for a in np.meshgrid(EDGES, EDGES))
    x, y = x.astype(dtype), y.astype(dtype)

    expected = quietly(BINARY[name], x.astype(np.float64), y.astype(np.float64))

    assert_close(getattr(lax, name)(x, y), expected, dtype)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, np.bool_])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_equal_numpy(name: str, dtype: Any) -> None:
    values = np.array([0, 1, 2, 5, 1, 0]).astype(dtype)
    x, y = values, values[::-1]

    out = getattr(lax, name)(x, y)

    assert out.dtype == np.bool_
    np.testing.assert_array_equal(out, COMPARISONS[name](x, y))


def test_comparisons_with_nan_are_false_but_for_ne() -> None:
    x = np.array([np.nan], np.float32)

    assert [bool(getattr(lax, name)(x, x)[0]) for name in COMPARISONS] == [
        False,
        True,
        False,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3)])
@pytest.mark.parametrize("name", ["exp", "erf", "sign", "erf_inv", "digamma", "logistic"])
def test_shapes_and_dtypes_are_kept(name: str, shape: tuple[int, ...]) -> None:
    out = getattr(lax, name)(np.full(shape, 0.5, np.float16))

    assert (out.shape, out.dtype) == (shape, np.float16)


def test_operands_may_be_strided_and_read_only() -> None:
    x = np.arange(12.0).reshape(3, 4)[::-1, ::2]
    x.flags.writeable = False

    np.testing.assert_array_equal(lax.add(x, x), 2 * x)
    np.testing.assert_array_equal(lax.neg(x), -x)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "rem", "max", "pow", "eq", "lt"])
def test_an_operand_of_rank_0_stands_for_a_full_array(name: str) -> None:
    x, y = np.array([1.0, 2.0, 4.0], np.float32), np.float32(2)
    function = getattr(lax, name)

    np.testing.assert_array_equal(function(x, y), function(x, np.full(3, y)))
    np.testing.assert_array_equal(function(y, x), function(np.full(3, y), x))
    assert function(y, y).shape == ()


# Integers.


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_division_truncates_and_survives_zero_and_overflow(dtype: Any) -> None:
    limits = np.iinfo(dtype)
    values = [limits.min, limits.max, 0, 1, 7, limits.max // 3]
    values += [-7, -1] if limits.min else []
    pairs = [(a, b) for a in values for b in values]
    x, y = (np.array(column, dtype) for column in zip(*pairs, strict=True))

    quotient = [
        (-1 if limits.min else limits.max)
        if b == 0
        else abs(a) // abs(b) * (1 if a * b > 0 else -1)
        for a, b in pairs
    ]
    remainder = [
        a if b == 0 else int(math.fmod(a, b)) if abs(a) < 2**53 else None for a, b in pairs
    ]
    wrapped = [q - 2 * (limits.max + 1) if q > limits.max else q for q in quotient]

    assert np.asarray(lax.div(x, y)).tolist() == wrapped
    for got, want in zip(np.asarray(lax.rem(x, y)).tolist(), remainder, strict=True):
        assert want is None or got == want


def test_division_of_the_most_negative_integer_wraps() -> None:
    x, y = np.int32(-(2**31)), np.int32(-1)

    assert (int(lax.div(x, y)), int(lax.rem(x, y))) == (-(2**31), 0)


@given(st.integers(-128, 127), st.integers(0, 127))
@settings(max_examples=50)
def test_integer_power_wraps(base: int, exponent: int) -> None:
    with config.override(backend="numpy"):
        expected = (base**exponent + 128) % 256 - 128

        assert int(lax.pow(np.int8(base), np.int8(exponent))) == expected
        assert int(lax.integer_pow(np.int8(base), exponent)) == expected


def test_integers_to_negative_powers_keep_the_integer_part() -> None:
    x = np.array([2, 1, -1, -1, 0, -3], np.int32)
    y = np.array([-1, -5, -2, -3, -1, -2], np.int32)

    assert np.asarray(lax.pow(x, y)).tolist() == [0, 1, 1, -1, 0, 0]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts_by_the_width_or_more_shift_everything_out(dtype: Any) -> None:
    bits = np.iinfo(dtype).bits
    x = np.array([np.iinfo(dtype).max, 1, np.iinfo(dtype).min], dtype)
    sign = [0 if v >= 0 else -1 for v in x.tolist()]
    if not np.iinfo(dtype).min:  # the arithmetic shift reads the bits as signed
        sign = [np.iinfo(dtype).max if int(v) >> (bits - 1) else 0 for v in x]

    for amount in (bits, bits + 1, np.iinfo(dtype).max):
        y = np.full(3, amount, dtype)
        assert np.asarray(lax.shift_left(x, y)).tolist() == [0, 0, 0]
        assert np.asarray(lax.shift_right_logical(x, y)).tolist() == [0, 0, 0]
        assert np.asarray(lax.shift_right_arithmetic(x, y)).tolist() == sign


def test_shifts_move_bits() -> None:
    x = np.array([-8, 5], np.int8)

    assert np.asarray(lax.shift_left(x, np.int8(2))).tolist() == [-32, 20]
    assert np.asarray(lax.shift_right_arithmetic(x, np.int8(1))).tolist() == [-4, 2]
    assert np.asarray(lax.shift_right_logical(x, np.int8(1))).tolist() == [124, 2]


@pytest.mark.parametrize("dtype", [*INTEGERS, np.bool_])
def test_bit_operations_equal_numpy(dtype: Any) -> None:
    x, y = np.array([0, 1, 6, 1]).astype(dtype), np.array([1, 1, 3, 0]).astype(dtype)

    np.testing.assert_array_equal(lax.bitwise_and(x, y), x & y)
    np.testing.assert_array_equal(lax.bitwise_or(x, y), x | y)
    np.testing.assert_array_equal(lax.bitwise_xor(x, y), x ^ y)
    np.testing.assert_array_equal(lax.bitwise_not(x), ~x)


@pytest.mark.parametrize("dtype", [*INTEGERS, ml_dtypes.int4, ml_dtypes.uint4])
def test_population_count_counts_the_bits_of_the_type(dtype: Any) -> None:
    limits = dtypes.iinfo(dtype)
    x = np.array([0, 1, limits.max, limits.min], object).astype(
        np.int64 if limits.min else np.uint64
    )

    counts = np.asarray(lax.population_count(x.astype(dtype))).astype(int).tolist()

    assert counts == [0, 1, limits.bits - (limits.min < 0), int(limits.min < 0)]


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4])
def test_integers_of_4_bits_wrap(dtype: Any) -> None:
    x = np.array([7, 5, 3]).astype(dtype)

    assert (
        np.asarray(lax.add(x, x)).astype(int).tolist()
        == np.array([14, 10, 6]).astype(dtype).astype(int).tolist()
    )
    assert lax.mul(x, x).dtype == dtype


# Rounding, extrema, selection.


def test_round_breaks_ties_as_asked() -> None:
    x = np.array([0.5, 1.5, -0.5, -2.5, 0.49999997, np.inf, np.nan, 8388609.0], np.float32)

    away = lax.round(x)
    even = lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)

    np.testing.assert_array_equal(away, [1, 2, -1, -3, 0, np.inf, np.nan, 8388609])
    np.testing.assert_array_equal(even, [0, 2, 0, -2, 0, np.inf, np.nan, 8388609])


def test_clamp_keeps_to_the_bounds_and_the_upper_one_wins() -> None:
    x = np.array([-5, 0, 3, 9], np.int32)

    assert np.asarray(lax.clamp(0, x, 4)).tolist() == [0, 0, 3, 4]
    assert np.asarray(lax.clamp(5, x, np.full(4, 4, np.int32))).tolist() == [4, 4, 4, 4]


def test_select_n_chooses_by_number_and_clamps_it() -> None:
    cases = [np.full(4, k, np.float32) for k in (10, 20, 30)]
    which = np.array([0, 2, 7, -3], np.int32)

    assert np.asarray(lax.select_n(which, *cases)).tolist() == [10, 30, 30, 10]
    assert np.asarray(lax.select_n(np.int32(1), *cases)).tolist() == [20] * 4
    assert np.asarray(lax.select_n(which, 1.0, 2.0)).tolist() == [1, 2, 2, 1]
    assert np.asarray(lax.select(np.array([True, False]), 1, 2)).tolist() == [1, 2]


def test_nextafter_reaches_the_neighbour() -> None:
    for dtype in (*FLOATS, ml_dtypes.float8_e4m3fn):
        one = np.ones(2, dtype)
        up = lax.nextafter(one, np.array([2, 0]).astype(dtype))
        eps = float(dtypes.finfo(dtype).eps)
        assert np.asarray(up).astype(float).tolist() == [1 + eps, 1 - eps / 2]


# Conversions.


@pytest.mark.parametrize("dtype", [*INTEGERS, ml_dtypes.int4])
def test_floats_outside_of_an_integer_type_go_to_its_ends(dtype: Any) -> None:
    limits = dtypes.iinfo(dtype)
    x = np.array([np.inf, -np.inf, 1e30, -1e30, np.nan, 2.9, 0.0])

    out = np.asarray(lax.convert_element_type(x, dtype)).astype(object)

    ends = [int(limits.max), int(limits.min)]
    assert [int(v) for v in out] == [*ends, *ends, 0, 2, 0]


def test_conversion_between_all_dtypes_gives_the_dtype_asked_for() -> None:
    every = [d for d in dtypes.DTYPES.values() if not dtypes.is_complex(d)]
    for old in every:
        for new in every:
            out = lax.convert_element_type(np.ones(2, np.float32).astype(old), new)
            assert out.dtype == new
            assert np.asarray(out).astype(np.float32).tolist() == [1, 1]


def test_conversion_to_bool_asks_whether_it_is_not_zero() -> None:
    for x in (np.array([0.0, -0.0, 0.5, np.nan]), np.array([0, 0, 1j, 2])):
        assert np.asarray(lax.convert_element_type(x, bool)).tolist() == [False, False, True, True]


def test_conversion_of_complex_numbers_to_real_ones_is_refused() -> None:
    with pytest.raises(DTypeError, match=r"lose the imaginary part; take lax\.real"):
        lax.convert_element_type(np.ones(2, np.complex64), np.float32)


def test_a_conversion_that_changes_nothing_is_nothing() -> None:
    x = as_concrete(np.ones(2, np.float32))

    assert lax.convert_element_type(x, np.float32) is x
    assert len(make_jaxpr(lambda v: lax.convert_element_type(v, "float32"))(x).eqns) == 0


def test_bitcast_goes_forth_and_back() -> None:
    x = np.array([1.0, -2.5, np.inf], np.float32)

    bits = lax.bitcast_convert_type(x, np.uint32)
    parts = lax.bitcast_convert_type(x, np.uint8)

    np.testing.assert_array_equal(bits, x.view(np.uint32))
    assert parts.shape == (3, 4)
    np.testing.assert_array_equal(lax.bitcast_convert_type(bits, np.float32), x)
    np.testing.assert_array_equal(lax.bitcast_convert_type(parts, np.float32), x)


def test_bitcast_refuses_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match="last dimension must have size 4"):
        lax.bitcast_convert_type(np.zeros((2, 3), np.uint8), np.float32)
    with pytest.raises(DTypeError, match="new_dtype is bool"):
        lax.bitcast_convert_type(np.zeros(2, np.uint8), bool)


# Complex numbers.


def test_complex_numbers_come_apart_and_together() -> None:
    x, y = np.array([1.0, 2.0], np.float32), np.array([3.0, -4.0], np.float32)
    z = lax.complex(x, y)

    assert z.dtype == np.complex64
    np.testing.assert_array_equal(lax.real(z), x)
    np.testing.assert_array_equal(lax.imag(z), y)
    np.testing.assert_array_equal(lax.conj(z), x - 1j * y)
    np.testing.assert_allclose(lax.abs(z), np.hypot(x, y))
    np.testing.assert_array_equal(lax.conj(x), x)
    assert lax.abs(z).dtype == np.float32


def test_the_sign_of_a_complex_number_has_modulus_1_or_0() -> None:
    z = np.array([3 + 4j, 0, -2j], np.complex64)

    np.testing.assert_allclose(lax.sign(z), [0.6 + 0.8j, 0, -1j], rtol=1e-6)


# Special functions.


def test_erf_inv_inverts_erf_to_the_last_digits() -> None:
    y = np.array([0.0, 1e-12, 0.1, -0.5, 0.75, 0.999, 1 - 1e-12, 2.0, 1.0, -1.0])

    x = np.asarray(lax.erf_inv(y))

    np.testing.assert_allclose(np.asarray(lax.erf(x[:-3])), y[:-3], rtol=1e-14)
    np.testing.assert_array_equal(x[-3:], [np.nan, np.inf, -np.inf])


def test_digamma_has_known_values_and_obeys_its_recurrence() -> None:
    gamma = 0.57721566490153286
    x = np.array([0.01, 0.3, 2.5, 9.99, 40.0, -0.5, -3.7, -1e4 - 0.25])

    known = lax.digamma(np.array([1.0, 0.5, 2.0]))
    step = np.asarray(lax.digamma(x + 1)) - np.asarray(lax.digamma(x))

    np.testing.assert_allclose(known, [-gamma, -gamma - 2 * math.log(2), 1 - gamma], rtol=1e-14)
    np.testing.assert_allclose(step, 1 / x, rtol=1e-7)


def test_polygamma_has_known_values() -> None:
    zeta3 = 1.2020569031595942

    out = lax.polygamma(np.array([1.0, 1.0, 2.0, 3.0, 0.0]), np.array([1.0, 0.5, 1.0, 1.0, 1.0]))

    expected = [math.pi**2 / 6, math.pi**2 / 2, -2 * zeta3, math.pi**4 / 15, -0.57721566490153286]
    np.testing.assert_allclose(out, expected, rtol=1e-13)


def test_polygamma_below_zero_obeys_the_reflection_formula() -> None:
    x = np.array([-0.3, -2.6, -7.1])

    total = np.asarray(lax.polygamma(1.0, 1 - x)) + np.asarray(lax.polygamma(1.0, x))

    np.testing.assert_allclose(total, (math.pi / np.sin(math.pi * x)) ** 2, rtol=1e-12)
    poles = np.asarray(lax.polygamma(np.array([1.0, 2.0, 1.5]), np.array([-1.0, 0.0, 1.0])))
    np.testing.assert_array_equal(poles, [np.inf, np.nan, np.nan])


def test_lgamma_is_infinite_at_its_poles() -> None:
    x = np.array([0.0, -1.0, -np.inf, np.inf, np.nan, 0.5])

    expected = [np.inf, np.inf, np.inf, np.inf, np.nan, math.log(math.pi) / 2]
    np.testing.assert_allclose(lax.lgamma(x), expected, rtol=1e-15)


# Types.


def test_numbers_take_the_dtype_of_the_array_beside_them() -> None:
    for dtype in (*FLOATS, ml_dtypes.float8_e5m2):
        x = np.ones(2, dtype)
        assert lax.add(x, 2.0).dtype == dtype
        assert lax.mul(2, x).dtype == dtype
        assert lax.max(x, np.float64(0)).dtype == dtype
    assert lax.add(np.ones(2, np.uint8), 2).dtype == np.uint8
    # NumPy's doubles are Python's floats, and as weak.
    assert repr(lax.add(np.float64(1), np.float64(2)).aval) == "~f32[]"
    assert lax.add(np.array(1.0), np.float64(2)).dtype == np.float64


def test_a_number_in_a_traced_program_is_a_literal_of_the_arrays_dtype() -> None:
    jaxpr = make_jaxpr(lambda x: lax.mul(x, 2.0))(ShapeDtypeStruct((3,), "bfloat16"))

    assert len(jaxpr.eqns) == 1
    assert jaxpr.eqns[0].invars[1].aval.str_short() == "bf16[]"


def test_results_are_weakly_typed_where_all_operands_are() -> None:
    assert lax.add(1.0, 2.0).weak_type
    assert not lax.add(np.float32(1), 2.0).weak_type
    assert lax.add(lax.add(1, 2), 3).weak_type
    assert not lax.lt(1.0, 2.0).weak_type
    assert lax.convert_element_type(np.int8(1), "float32", weak_type=True).weak_type


def test_results_vary_over_the_named_axes_of_all_operands() -> None:
    x = ShapeDtypeStruct((3,), "float32", named_shape={"i": 4})
    y = ShapeDtypeStruct((), "float32", named_shape={"j": 5})

    jaxpr = make_jaxpr(lax.add, axis_env=[("i", 4), ("j", 5)])(x, y)

    assert jaxpr.out_avals[0].str_short() == "f32[3;i:4,j:5]"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: lax.add(np.ones(3), np.ones(4)),
            ShapeError,
            r"lax\.add takes operands of one shape .*f64\[3\], f64\[4\]; broadcast them first",
        ),
        (
            lambda: lax.mul(np.ones(3), np.ones(3, np.float32)),
            DTypeError,
            r"lax\.mul takes operands of one dtype.*f64\[3\], f32\[3\]; convert",
        ),
        (
            lambda: lax.add(np.ones(3, bool), np.ones(3, bool)),
            DTypeError,
            r"lax\.add takes numbers, got bool; for truth values use lax\.bitwise_and",
        ),
        (
            lambda: lax.sin(np.ones(3, int)),
            DTypeError,
            r"lax\.sin takes floating-point and complex numbers, got int64; convert first",
        ),
        (
            lambda: lax.lt(np.ones(3, complex), 1.0),
            DTypeError,
            r"lax\.lt takes real numbers, got complex128; take lax\.real",
        ),
        (
            lambda: lax.bitwise_and(np.ones(3), np.ones(3)),
            DTypeError,
            r"lax\.bitwise_and takes integers and truth values, got float64",
        ),
        (
            lambda: lax.add(np.ones(3, np.int32), 1.5),
            DTypeError,
            r"lax\.add: the number 1\.5 does not fit int32",
        ),
        (
            lambda: lax.add(np.ones(3, np.int8), 300),
            DTypeError,
            r"the integer 300 does not fit int8, which holds -128 to 127",
        ),
        (
            lambda: lax.select_n(np.ones(3, bool), 1.0, 2.0, 3.0),
            DTypeError,
            r"which is bool and there are 3 cases",
        ),
        (
            lambda: lax.select_n(np.ones(3, np.float32), 1.0, 2.0),
            DTypeError,
            r"which is float32; it takes bool .* or int32",
        ),
        (lambda: lax.select_n(np.int32(0)), ShapeError, "at least one case"),
        (
            lambda: lax.integer_pow(np.ones(3, np.int32), -1),
            DTypeError,
            r"integers have no negative powers",
        ),
        (lambda: lax.real(np.ones(3)), DTypeError, r"lax\.real takes complex numbers"),
        (
            lambda: lax.complex(np.ones(3, np.float16), np.ones(3, np.float16)),
            DTypeError,
            r"lax\.complex takes float32 or float64 numbers",
        ),
    ],
)
def test_bad_operands_are_refused_by_name(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_large_numbers_beside_narrow_floats_become_infinite_without_a_warning() -> None:
    assert np.isinf(np.asarray(lax.add(np.zeros(1, np.float16), 1e10))[0])
    assert np.isinf(np.asarray(lax.add(np.zeros(1, np.float32), 10**400))[0])


# Constants for derivatives, copies.


def test_stop_gradient_returns_the_values_and_keeps_trees() -> None:
    x = as_concrete(np.ones(2, np.float32))
    n = as_concrete(np.ones(2, np.int32))

    out = lax.stop_gradient({"x": x, "n": n, "s": "text", "t": (1.5, None)})

    assert out["n"] is n
    assert (out["s"], out["t"]) == ("text", (1.5, None))
    assert lax.stop_gradient(x) is x
    assert str(make_jaxpr(lax.stop_gradient)(x).eqns[0].primitive) == "stop_gradient"


def test_a_copy_has_a_buffer_of_its_own() -> None:
    x = as_concrete(np.ones(2, np.float32))

    y: Any = lax.copy(x)

    assert y.buffer is not x.buffer  # type: ignore[attr-defined]  # a concrete array
    np.testing.assert_array_equal(y, x)


def test_every_element_wise_primitive_has_an_evaluation_rule() -> None:
    from axonym_core.numpy_backend import evaluation_rules

    primitives = [v for k, v in vars(p).items() if k.endswith("_p")]

    assert len(primitives) >= 70
    assert [v.name for v in primitives if v not in evaluation_rules] == []
