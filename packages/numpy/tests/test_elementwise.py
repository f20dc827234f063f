"""Element-wise functions against NumPy over edge inputs."""

from __future__ import annotations

import numpy as np
import pytest

import axonym_numpy as anp
from axonym_core.errors import DTypeError, ShapeError

F32, F64 = np.float32, np.float64
INF, NAN = np.inf, np.nan

REALS = {
    "ordinary": np.array([-2.5, -1.0, -0.5, 0.5, 1.0, 2.5], F32),
    "special": np.array([NAN, INF, -INF, 0.0, -0.0, 1e-40, 3e38, -3e38], F32),
    "double": np.array([-1e300, 1e-300, 0.3, -0.0, NAN], F64),
    "half": np.array([-2.0, -0.0, 0.5, 6e4, INF], np.float16),
    "empty": np.zeros((0, 3), F32),
    "scalar": np.array(0.75, F32),
    "reversed": np.arange(6, dtype=F32).reshape(2, 3)[::-1, ::-2],
}
INTEGERS = {
    "int32": np.array([-(2**31), -7, -1, 0, 1, 7, 2**31 - 1], np.int32),
    "int8": np.array([-128, -3, 0, 5, 127], np.int8),
    "uint8": np.array([0, 1, 128, 255], np.uint8),
    "int64": np.array([-(2**63), 0, 2**62], np.int64),
    "empty": np.zeros((2, 0), np.int32),
}
BOOLS = {"bool": np.array([True, False, True])}

FLOAT_UNARY = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "deg2rad",
    "rad2deg",
    "degrees",
    "radians",
    "sinc",
    "rint",
    "fabs",
    "spacing",
]
ANY_UNARY = [
    "absolute",
    "negative",
    "positive",
    "sign",
    "square",
    "floor",
    "ceil",
    "trunc",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "real",
    "imag",
    "conj",
    "logical_not",
    "isposinf",
    "isneginf",
]


def numpy_result(name, *args):
    with np.errstate(all="ignore"):
        return getattr(np, name)(*args)


@pytest.mark.parametrize("case", REALS)
@pytest.mark.parametrize("name", [*FLOAT_UNARY, *ANY_UNARY])
def test_unary_functions_of_floats_agree_with_numpy(same, name, case):
    x = REALS[case]
    if name == "spacing" and case in ("half", "special", "double"):
        x = np.abs(x[np.isfinite(x) & (x != 0)])  # NumPy loses the sign of some halves
    want = numpy_result(name, x)
    tolerance = 2e-3 if x.dtype == np.float16 else 3e-6
    if name in ("deg2rad", "radians", "log2", "log10", "sinc", "rad2deg", "degrees"):
        tolerance = max(tolerance, 1e-6)
    if case == "special" and name in ("sin", "cos", "tan", "sinc"):
        x, want = x[:-2], want[:-2]  # arguments of 3e38 depend on how pi is reduced
    same(getattr(anp, name)(x), want, rtol=tolerance, atol=1e-7, dtype=want.dtype)


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "rint", "negative", "absolute", "sqrt"])
def test_the_sign_of_zero_is_kept(name):
    x = np.array([-0.0, 0.0, -0.25, 0.25], F32)
    x = np.abs(x) if name == "sqrt" else x
    got, want = np.asarray(getattr(anp, name)(x)), getattr(np, name)(x)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("name", FLOAT_UNARY)
def test_integers_and_truth_values_go_to_the_default_float(name):
    for x in (np.array([0, 1], np.int8), np.array([True, False]), np.int64(1)):
        assert getattr(anp, name)(x).dtype == F32


@pytest.mark.parametrize("case", [*INTEGERS, *BOOLS])
@pytest.mark.parametrize("name", ANY_UNARY)
def test_unary_functions_of_integers_agree_with_numpy(same, name, case):
    x = {**INTEGERS, **BOOLS}[case]
    if case == "bool" and name in ("negative", "sign"):
        with pytest.raises(DTypeError):
            getattr(anp, name)(x)
        return
    if case == "bool" and name in ("positive", "square", "conj"):
        same(getattr(anp, name)(x), x)  # NumPy refuses, or counts in int8
        return
    if name == "signbit":
        want = x < 0
    elif name in ("floor", "ceil", "trunc"):
        want = x  # NumPy before 2.1 gives floating-point numbers
    elif name in ("isposinf", "isneginf"):
        want = np.zeros(x.shape, bool)
    else:
        want = numpy_result(name, x)
    same(getattr(anp, name)(x), want, dtype=want.dtype)


BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "fmod",
    "power",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "arctan2",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "copysign",
    "nextafter",
    "heaviside",
]
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
LOGICAL = ["logical_and", "logical_or", "logical_xor"]
EDGES = np.array([NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 7.0], F32)


@pytest.mark.parametrize("name", [*BINARY, *COMPARISONS, *LOGICAL])
def test_binary_functions_agree_with_numpy_on_all_pairs_of_edges(same, name):
    x, y = EDGES[:, None], EDGES[None, :]
    want = numpy_result(name, x, y)
    if name == "nextafter":
        same(getattr(anp, name)(x, y), want, rtol=0, atol=0)
        return
    same(getattr(anp, name)(x, y), want, rtol=3e-6)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "minimum", "fmax"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_integer_arithmetic_wraps_as_numpys(same, name, dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 0, 1, 3], dtype)
    want = numpy_result(name, x[:, None], x)
    same(getattr(anp, name)(x[:, None], x), want, dtype=dtype)


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
def test_integer_division_agrees_with_numpy_at_zero_and_extremes(same, name, dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 0, 1, 3, 7], dtype)
    y = np.array([0, 1, 3, info.max, *([-1, -3, info.min] if info.min else [])], dtype)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x[:, None], y)
    if name == "floor_divide" and info.min:
        keep = ~((x[:, None] == info.min) & (y == -1))  # overflows, and NumPy's answer varies
        np.testing.assert_array_equal(np.asarray(anp.floor_divide(x[:, None], y))[keep], want[keep])
        return
    same(getattr(anp, name)(x[:, None], y), want, dtype=dtype)


def test_divmod_gives_quotient_and_remainder(same):
    q, r = anp.divmod(np.array([7, -7], np.int32), 2)
    same(q, [3, -4])
    same(r, [1, 1])


def test_powers_of_integers_and_negative_exponents(same):
    same(anp.power(np.array([2, -3], np.int32), 3), [8, -27], dtype=np.int32)
    same(anp.power(2.0, np.array([-1.0, 0.0], F32)), [0.5, 1.0])
    same(anp.float_power(np.array([2, 4], np.int32), -1), [0.5, 0.25], dtype=F32)
    with pytest.raises(DTypeError, match="negative"):
        anp.power(np.array([2], np.int32), -1)


def test_promotion_follows_the_lattice_and_numbers_are_weak():
    half = np.ones(2, np.float16)
    assert anp.add(half, 1.5).dtype == np.float16
    assert anp.add(half, np.float64(1.5)).dtype == np.float16
    assert anp.add(half, np.ones(2, F32)).dtype == F32
    assert anp.add(np.int8(1), np.uint8(1)).dtype == np.int16
    assert anp.exp(anp.bfloat16(1)).dtype == anp.bfloat16
    assert anp.logaddexp(half, 1.0).dtype == np.float16
    assert anp.hypot(half, np.float64(2)).dtype == np.float16
    assert anp.sin(np.ones(1, F64)).dtype == F64


def test_operands_broadcast_and_unlike_shapes_are_refused(same):
    x, y = np.ones((3, 1), F32), np.arange(4, dtype=F32)
    for name in ("add", "hypot", "logaddexp", "copysign", "fmax", "isclose", "heaviside"):
        assert getattr(anp, name)(x, y).shape == (3, 4)
        with pytest.raises(ShapeError, match=r"\(3,\)"):
            getattr(anp, name)(np.ones(3, F32), y)


@pytest.mark.parametrize("name", ["add", "exp", "maximum", "equal", "where", "bitwise_and", "sum"])
def test_lists_and_strings_are_refused_by_name(name):
    args = {"exp": ([1.0],), "sum": ([1.0],), "where": ([True], 1, 0)}.get(name, ([1.0], 2.0))
    with pytest.raises(TypeError, match=rf"{name}.*asarray"):
        getattr(anp, name)(*args)


def test_clip_agrees_with_numpy(same):
    x = np.array([-5.0, 0.5, 5.0, NAN, INF], F32)
    same(anp.clip(x, -1, 1), np.clip(x, -1, 1))
    same(anp.clip(x, None, 1), np.clip(x, None, 1))
    same(anp.clip(x, 0), np.clip(x, 0, None))
    same(anp.clip(x), x)
    same(anp.clip(x, 2, 1), np.clip(x, 2, 1))
    same(
        anp.clip(np.arange(5), np.array([1, 1, 1, 4, 4]), 3),
        np.clip(np.arange(5), [1, 1, 1, 4, 4], 3),
    )
    same(anp.clip(x, min=np.full((2, 1), -1.0, F32)), np.clip(np.stack([x, x]), -1, None))


@pytest.mark.parametrize("decimals", [-3, -2, -1, 0, 1, 2, 3])
def test_round_agrees_with_numpy(same, decimals):
    x = np.array([1250.0, 1350.0, 0.125, -0.375, 2.5, -3.5, 1e30, NAN, INF], F32)
    same(anp.round(x, decimals), np.round(x, decimals), rtol=1e-6)
    n = np.array([1250, 1350, -1250, -1350, 49, 51, 7], np.int32)
    same(anp.round(n, decimals), np.round(n, decimals), dtype=np.int32)
    z = np.array([1.255 + 2.5j], np.complex64)
    same(anp.round(z, decimals), np.round(z, decimals))


def test_nan_to_num_replaces_by_the_largest_numbers(same):
    x = np.array([NAN, INF, -INF, 1.0], F32)
    same(anp.nan_to_num(x), np.nan_to_num(x))
    same(anp.nan_to_num(x, nan=7, posinf=8, neginf=9), [7, 8, 9, 1])
    z = np.array([complex(NAN, INF)], np.complex64)
    same(anp.nan_to_num(z), np.nan_to_num(z))
    same(anp.nan_to_num(np.arange(3)), np.arange(3))
    assert anp.nan_to_num(np.ones(1, np.float16)).dtype == np.float16


def test_ldexp_does_not_overflow_on_the_way(same):
    assert float(anp.ldexp(np.float16(0.5), 16)) == 32768
    assert float(anp.ldexp(np.float32(2.0**-100), 200)) == 2.0**100
    assert float(anp.ldexp(np.float32(2.0**100), -200)) == 2.0**-100
    x = np.array([0.0, -0.0, 1.5, -3.0, INF, NAN], F32)
    for e in (-300, -40, 0, 7, 300, 10**9):
        same(anp.ldexp(x, e), numpy_result("ldexp", x, min(e, 10**6)))
    same(anp.ldexp(np.ones(2, F64), np.array([1000, -1000])), [2.0**1000, 2.0**-1000])
    with pytest.raises(DTypeError, match="integers"):
        anp.ldexp(1.0, 1.5)


def test_frexp_and_modf_take_numbers_apart(same):
    x = np.array([0.0, -0.0, 1.0, -12.0, 0.3, 1e-30, 3e38, INF, NAN], F32)
    for got, want in zip(anp.frexp(x), np.frexp(x), strict=True):
        same(got, np.where(np.isfinite(x), want, x if want.dtype == F32 else 0))
    tiny = np.array([1e-40, 5e-324], F64)
    for got, want in zip(anp.frexp(tiny), np.frexp(tiny), strict=True):
        same(got, want)
    y = np.array([1.5, -1.5, 2.0, -0.0, INF, -INF], F32)
    for got, want in zip(anp.modf(y), np.modf(y), strict=True):
        same(got, want)
        np.testing.assert_array_equal(np.signbit(np.asarray(got)), np.signbit(want))


def test_hypot_keeps_its_range(same):
    big, small = F32(3e38), F32(1e-38)
    same(anp.hypot(big * F32(0.6), big * F32(0.8)), big, rtol=1e-6)
    same(anp.hypot(small, small), small * 2**0.5, rtol=1e-5, atol=0)
    same(anp.hypot(NAN, INF), INF)


def test_complex_functions_agree_with_numpy(same):
    z = np.array([1 + 2j, -1.5 - 0.5j, 3j, -2.0, 0j], np.complex64)
    for name in [
        "exp",
        "log",
        "sqrt",
        "sin",
        "cos",
        "tanh",
        "square",
        "reciprocal",
        "absolute",
        "angle",
        "conj",
    ]:
        x = z[:-1] if name in ("log", "reciprocal") else z
        same(getattr(anp, name)(x), numpy_result(name, x), rtol=2e-5, atol=1e-6)
    same(anp.logaddexp(z, z[::-1]), np.log(np.exp(z) + np.exp(z[::-1])), rtol=1e-4)
    same(anp.iscomplex(z), np.iscomplex(z))
    same(anp.isreal(z), np.isreal(z))
    same(anp.angle(np.array([-1.0, 1.0, NAN], F32), deg=True), [180, 0, NAN])
    same(anp.sinc(z), np.sinc(z), rtol=1e-4)
    assert anp.iscomplexobj(z)
    assert anp.isrealobj(1.0)
    for name in ("maximum", "arctan2", "floor_divide", "fabs", "signbit", "heaviside", "copysign"):
        with pytest.raises(DTypeError):
            getattr(anp, name)(*((z,) if name in ("fabs", "signbit") else (z, z)))


def test_isclose_agrees_with_numpy(same):
    a = np.array([1.0, 1.0, INF, INF, NAN, 0.0, 1e10], F32)
    b = np.array([1.0 + 1e-6, 1.1, INF, 1.0, NAN, 1e-9, -INF], F32)
    same(anp.isclose(a, b), np.isclose(a, b))
    same(anp.isclose(b, a), np.isclose(b, a))
    same(anp.isclose(a, b, equal_nan=True), np.isclose(a, b, equal_nan=True))
    same(anp.isclose(a, b, rtol=0.2, atol=1), np.isclose(a, b, rtol=0.2, atol=1))
    same(anp.isclose(np.arange(3), 1), np.isclose(np.arange(3), 1))
    assert bool(anp.allclose(a, a)) is False
    assert bool(anp.allclose(a, a, equal_nan=True)) is True


def test_whole_arrays_compare():
    x = np.array([1.0, NAN], F32)
    assert not anp.array_equal(x, x)
    assert anp.array_equal(x, x, equal_nan=True)
    assert not anp.array_equal(x, x[:1])
    assert anp.array_equal(np.zeros((0, 2)), np.zeros((0, 2)))
    assert anp.array_equiv(np.ones((2, 3)), np.ones(3))
    assert not anp.array_equiv(np.ones((2, 3)), np.ones(2))


def test_bits_agree_with_numpy(same):
    x = np.array([1, -1, 6, -128], np.int8)
    shifts = np.array([9, 40, 7, 3], np.int8)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        same(getattr(anp, name)(x, shifts), getattr(np, name)(x, shifts), dtype=np.int8)
    same(anp.left_shift(x, shifts), np.left_shift(x, shifts), dtype=np.int8)
    same(anp.right_shift(x, shifts), np.right_shift(x, shifts), dtype=np.int8)
    unsigned = np.array([1, 200], np.uint8)
    same(anp.right_shift(unsigned, np.uint8(9)), [0, 0])
    same(anp.invert(unsigned), np.invert(unsigned))
    same(anp.bitwise_not(np.array([True, False])), [False, True])
    same(anp.bitwise_count(x), np.bitwise_count(x), dtype=np.uint8)
    with pytest.raises(DTypeError):
        anp.bitwise_and(1.0, 2.0)


def test_aliases_of_the_array_api_are_the_functions():
    pairs = "acos:arccos asin:arcsin atan:arctan atan2:arctan2 acosh:arccosh asinh:arcsinh"
    pairs += " atanh:arctanh pow:power abs:absolute true_divide:divide mod:remainder"
    pairs += (
        " bitwise_invert:invert bitwise_left_shift:left_shift conjugate:conj amax:max fix:trunc"
    )
    for pair in pairs.split():
        alias, name = pair.split(":")
        assert getattr(anp, alias) is getattr(anp, name)


def test_narrow_floats_have_all_functions():
    x = anp.asarray([0.5, 2.0], anp.bfloat16)
    for name in ("exp", "log", "sin", "tanh", "sqrt", "hypot", "ldexp", "signbit", "nan_to_num"):
        args = {"hypot": (x, x), "ldexp": (x, 2)}.get(name, (x,))
        out = getattr(anp, name)(*args)
        assert out.dtype == (np.bool_ if name == "signbit" else anp.bfloat16)
    assert anp.ldexp(anp.asarray([0.5], anp.float8_e4m3fn), 2).tolist() == [2.0]
