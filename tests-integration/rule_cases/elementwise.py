"""Cases of the element-wise primitives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import scipy.special

from axonym import lax
from rule_cases.case import Case, complexes, spaced, truths, whole

INF, NAN = np.inf, np.nan
SPECIAL = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0]
BFLOAT16 = ml_dtypes.bfloat16

# Name; NumPy's word for it; where real numbers may lie; whether complex numbers are taken.
FUNCTIONS: list[tuple[str, Callable[..., Any], tuple[float, float], bool]] = [
    ("exp", np.exp, (-2, 2), True),
    ("exp2", lambda x: np.exp(x * np.log(2)) if x.dtype.kind == "c" else np.exp2(x), (-2, 2), True),
    ("expm1", np.expm1, (-2, 2), True),
    ("log", np.log, (0.2, 3), True),
    ("log1p", np.log1p, (-0.6, 3), True),
    ("sqrt", np.sqrt, (0.2, 3), True),
    ("rsqrt", lambda x: 1 / np.sqrt(x), (0.2, 3), True),
    ("cbrt", np.cbrt, (-3, 3), False),
    ("sin", np.sin, (-3, 3), True),
    ("cos", np.cos, (-3, 3), True),
    ("tan", np.tan, (-1.2, 1.2), True),
    ("asin", np.arcsin, (-0.9, 0.9), True),
    ("acos", np.arccos, (-0.9, 0.9), True),
    ("atan", np.arctan, (-3, 3), True),
    ("sinh", np.sinh, (-2, 2), True),
    ("cosh", np.cosh, (-2, 2), True),
    ("tanh", np.tanh, (-2, 2), True),
    ("asinh", np.arcsinh, (-3, 3), True),
    ("acosh", np.arccosh, (1.2, 4), True),
    ("atanh", np.arctanh, (-0.7, 0.7), True),
    ("logistic", lambda x: 1 / (1 + np.exp(-x)), (-3, 3), True),
    ("square", np.square, (-2, 2), True),
    ("neg", np.negative, (-2, 2), True),
    ("sign", np.sign, (-2, 2), False),
    ("abs", np.abs, (-2, 2), True),
    ("floor", np.floor, (-2.5, 2.45), False),
    ("ceil", np.ceil, (-2.5, 2.45), False),
    ("erf", scipy.special.erf, (-2, 2), False),
    ("erfc", scipy.special.erfc, (-2, 2), False),
    ("erf_inv", scipy.special.erfinv, (-0.7, 0.7), False),
    ("lgamma", scipy.special.gammaln, (0.3, 5), False),
    ("digamma", scipy.special.digamma, (0.3, 5), False),
]
LINEAR = {"neg"}


def _functions() -> Iterator[Case]:
    for name, reference, (low, high), takes_complex in FUNCTIONS:
        fun = getattr(lax, name)
        linear = ((0,),) if name in LINEAR else ()
        loose = 40.0 if name in ("lgamma", "digamma", "erf_inv") else 8.0
        for dtype, shape in (
            (np.float64, (2, 3)),
            (np.float32, (5,)),
            (BFLOAT16, (4,)),
            (np.float64, ()),
        ):
            x = spaced(shape, low, high).astype(dtype)
            smooth = dtype != BFLOAT16
            yield Case(name, fun, reference, (x,), linear=linear, smooth=smooth, loose=loose)
        yield Case(name, fun, reference, (np.zeros((0, 2), np.float32),), linear=linear)
        if takes_complex:
            for dtype in (np.complex128, np.complex64):
                yield Case(
                    name,
                    fun,
                    reference,
                    (complexes((2, 2)).astype(dtype),),
                    linear=linear,
                    loose=loose,
                )


def _special_points() -> Iterator[Case]:
    skip = {"erf_inv", "lgamma", "digamma"}
    for name, reference, _, _ in FUNCTIONS:
        if name not in skip:
            for dtype in (np.float32, np.float64):
                x = np.array(SPECIAL, dtype)
                yield Case(
                    name,
                    getattr(lax, name),
                    reference,
                    (x,),
                    "at special points",
                    smooth=False,
                    loose=8,
                )
    for dtype in (np.float32, np.float64):
        x = np.array([-1.0, 1.0, 0.0, NAN, 2.0], dtype)
        yield Case(
            "erf_inv", lax.erf_inv, scipy.special.erfinv, (x,), "at special points", smooth=False
        )
        x = np.array([1.0, 2.0, INF, NAN, 0.0], dtype)
        yield Case(
            "lgamma", lax.lgamma, scipy.special.gammaln, (x,), "at special points", smooth=False
        )

    def slopes(name: str, reference: Any, x: list[float], slope: list[float]) -> Case:
        point = np.array(x)
        return Case(
            name,
            getattr(lax, name),
            reference,
            (point,),
            "slopes",
            smooth=False,
            slopes=(np.array(slope),),
        )

    yield slopes("sqrt", np.sqrt, [0.0, 4.0], [INF, 0.25])
    yield slopes("log", np.log, [0.0, 2.0], [INF, 0.5])
    yield slopes("cbrt", np.cbrt, [0.0, 8.0], [INF, 1 / 12])
    yield slopes("abs", np.abs, [0.0, -3.0], [0.0, -1.0])
    yield slopes("exp", np.exp, [-INF, 0.0], [0.0, 1.0])
    yield slopes("tanh", np.tanh, [INF, -INF, 0.0], [0.0, 0.0, 1.0])
    yield slopes("logistic", scipy.special.expit, [INF, -INF, 0.0], [0.0, 0.0, 0.25])


def _divided(x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return x / y
    safe = np.where(y == 0, 1, y)
    quotient = (
        np.sign(x) * np.sign(safe) * (np.abs(x) // np.abs(safe))
        if x.dtype.kind == "i"
        else x // safe
    )
    return np.where(y == 0, np.array(-1).astype(x.dtype), quotient).astype(x.dtype)


def _remainder(x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return np.fmod(x, y)
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, 1, y)))


# Name; NumPy's word; ranges of the operands; groups in which it is linear; complex or not.
BINARY: list[
    tuple[
        str,
        Callable[..., Any],
        tuple[float, float],
        tuple[float, float],
        tuple[tuple[int, ...], ...],
        bool,
    ]
] = [
    ("add", np.add, (-2, 2), (-1, 3), ((0, 1),), True),
    ("sub", np.subtract, (-2, 2), (-1, 3), ((0, 1),), True),
    ("mul", np.multiply, (-2, 2), (-1, 3), ((0,), (1,)), True),
    ("div", _divided, (-2, 2), (0.5, 3), ((0,),), True),
    ("pow", np.power, (0.3, 2), (-2, 2.5), (), True),
    ("max", np.maximum, (-2, 2), (-1.93, 2.09), (), False),
    ("min", np.minimum, (-2, 2), (-1.93, 2.09), (), False),
    ("atan2", np.arctan2, (-2, 2), (-1.5, 3), (), False),
    ("rem", _remainder, (-2.4, 2.0), (0.71, 0.73), (), False),
]


def _binary() -> Iterator[Case]:
    for name, reference, left, right, linear, takes_complex in BINARY:
        fun = getattr(lax, name)
        x, y = spaced((2, 3), *left), spaced((2, 3), *right, seed=3)
        one, other = spaced((), *left), spaced((), *right, seed=3)
        yield Case(name, fun, reference, (x, y), linear=linear, loose=4)
        yield Case(name, fun, reference, (x, other), "scalar on the right", linear=linear, loose=4)
        yield Case(name, fun, reference, (one, y), "scalar on the left", linear=linear, loose=4)
        yield Case(name, fun, reference, (x.astype("f4"), y.astype("f4")), linear=linear, loose=4)
        yield Case(
            name,
            fun,
            reference,
            (x.astype(BFLOAT16), y.astype(BFLOAT16)),
            linear=linear,
            smooth=False,
        )
        yield Case(name, fun, reference, (np.zeros((2, 0)), np.zeros((2, 0))), linear=linear)
        if takes_complex:
            x, y = complexes((2, 2)), complexes((2, 2), seed=5)
            yield Case(name, fun, reference, (x, y), linear=linear, loose=8)
        if name != "atan2":
            low = 0 if name == "pow" else -4
            a, b = whole((9,), low, low + 9), np.roll(whole((9,), low, low + 9)[::-1], 2)
            yield Case(name, fun, reference, (a, np.minimum(b, 3) if name == "pow" else b))
        if name not in ("atan2", "pow"):
            yield Case(
                name, fun, reference, (whole((6,), 0, 9, np.uint8), whole((6,), 3, 8, np.uint8))
            )
        if name not in ("rem", "pow"):
            a, b = (np.array(v).reshape(-1) for v in np.meshgrid(SPECIAL, SPECIAL))
            yield Case(
                name,
                fun,
                reference,
                (a.astype("f4"), b.astype("f4")),
                "at special points",
                smooth=False,
            )
    x, y = np.array([3.0, 3.0]), np.array([3.0, 1.0])
    larger, smaller = np.array([0.5, 1.0]), np.array([0.5, 0.0])
    yield Case("max", lax.max, np.maximum, (x, y), "tie", smooth=False, slopes=(larger, smaller))
    yield Case("min", lax.min, np.minimum, (x, y), "tie", smooth=False, slopes=(smaller, larger))


def _where_zero_wins(x: Any, y: Any) -> Any:
    return np.where((x == 0) | (y == 0), 0, x * y)


def _products_in_which_zero_wins() -> Iterator[Case]:
    fun, reference, linear = lax.mul_no_nan, _where_zero_wins, ((0,), (1,))
    x, y = spaced((2, 3)), spaced((2, 3), -1, 3, seed=3)
    yield Case("mul_no_nan", fun, reference, (x, y), linear=linear)
    yield Case("mul_no_nan", fun, reference, (x, spaced(())), "scalar on the right", linear=linear)
    yield Case("mul_no_nan", fun, reference, (x.astype("f4"), y.astype("f4")), linear=linear)
    yield Case(
        "mul_no_nan",
        fun,
        reference,
        (complexes((2, 2)), complexes((2, 2), 5)),
        linear=linear,
        loose=8,
    )
    a, b = (np.array(v).reshape(-1) for v in np.meshgrid(SPECIAL, SPECIAL))
    yield Case("mul_no_nan", fun, reference, (a, b), "at special points", smooth=False)
    zero, infinite = np.array([0.0, 2.0]), np.array([INF, 3.0])
    slopes = (infinite, zero)
    yield Case(
        "mul_no_nan", fun, reference, (zero, infinite), "slopes", smooth=False, slopes=slopes
    )


def _comparisons() -> Iterator[Case]:
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        fun = getattr(lax, name)
        word = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal"}
        reference = getattr(np, {**word, "gt": "greater", "ge": "greater_equal"}[name])
        a, b = (np.array(v).reshape(-1) for v in np.meshgrid(SPECIAL, SPECIAL))
        yield Case(name, fun, reference, (a, b), "at special points", smooth=False)
        yield Case(name, fun, reference, (whole((2, 3)), whole((2, 3))[::-1].copy()))
        yield Case(name, fun, reference, (whole((2, 3)), whole(())), "scalar on the right")
        yield Case(name, fun, reference, (truths((5,)), truths((5,))[::-1].copy()))
        yield Case(name, fun, reference, (spaced((4,)), spaced((4,), seed=2)))
    z = np.array([1 + 1j, 1 - 1j, 2 + 1j, NAN + 1j])
    yield Case("eq", lax.eq, np.equal, (z, z[::-1].copy()), smooth=False)
    yield Case("ne", lax.ne, np.not_equal, (z, z[::-1].copy()), smooth=False)
    for dtype in (np.float32, np.float64):
        x = np.array(SPECIAL, dtype)
        yield Case("is_finite", lax.is_finite, np.isfinite, (x,), smooth=False)


def _shifted(shift: Callable[..., Any], fill: Callable[..., Any]) -> Callable[..., Any]:
    """A shift that shifts everything out by the width and more."""

    def reference(x: Any, y: Any) -> Any:
        bits = x.dtype.itemsize * 8
        inside = (y >= 0) & (y < bits)
        return np.where(inside, shift(x, np.where(inside, y, 0)), fill(x)).astype(x.dtype)

    return reference


def _logically(x: Any, y: Any) -> Any:
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    return np.right_shift(x.astype(unsigned), y.astype(unsigned)).astype(x.dtype)


def _arithmetically(x: Any, y: Any) -> Any:
    signed = np.dtype(f"i{x.dtype.itemsize}")
    return np.right_shift(x.astype(signed), y.astype(signed)).astype(x.dtype)


def _sign_bits(x: Any) -> Any:
    return np.where(x.astype(f"i{x.dtype.itemsize}") < 0, -1, 0)


def _counted(x: Any) -> Any:
    return np.bitwise_count(x.astype(f"u{x.dtype.itemsize}"))


def _bits() -> Iterator[Case]:
    for name, fun, reference in (
        ("and", lax.bitwise_and, np.bitwise_and),
        ("or", lax.bitwise_or, np.bitwise_or),
        ("xor", lax.bitwise_xor, np.bitwise_xor),
    ):
        yield Case(name, fun, reference, (truths((2, 3)), truths((2, 3))[::-1].copy()))
        yield Case(name, fun, reference, (whole((7,)), whole((7,), 3, 8)))
        yield Case(name, fun, reference, (whole((7,), 0, 9, np.uint8), whole((), 5, 6, np.uint8)))
    yield Case("not", lax.bitwise_not, np.invert, (truths((3,)),))
    yield Case("not", lax.bitwise_not, np.invert, (whole((2, 4), dtype=np.int64),))
    for name, fun, shift, fill in (
        ("shift_left", lax.shift_left, np.left_shift, np.zeros_like),
        ("shift_right_arithmetic", lax.shift_right_arithmetic, _arithmetically, _sign_bits),
        ("shift_right_logical", lax.shift_right_logical, _logically, np.zeros_like),
    ):
        for dtype in (np.int32, np.int8, np.uint8):
            x = (whole((2, 8), -4, 12) * 9).astype(dtype)
            y = np.resize([0, 1, 3, 7, 8, 31, 32, 40], (2, 8)).astype(dtype)
            yield Case(name, fun, _shifted(shift, fill), (x, y))
            yield Case(name, fun, _shifted(shift, fill), (x, np.array(2, dtype)))
    for dtype in (np.int32, np.uint8, np.int64):
        yield Case("population_count", lax.population_count, _counted, (whole((9,), dtype=dtype),))
    for old, new in ((np.float32, np.int32), (np.int64, np.float64), (np.float32, np.uint8)):

        def cast(x: Any, new: Any = new) -> Any:
            return lax.bitcast_convert_type(x, new)

        def bits(x: Any, old: Any = old, new: Any = new) -> Any:
            x = x.astype(old)
            parts = x.reshape(*x.shape, 1).view(new)
            return parts.reshape(x.shape) if parts.size == x.size else parts

        x = spaced((2, 3)).astype(old) if old == np.float32 else whole((2, 3), 0, 5, old)
        yield Case("bitcast_convert_type", cast, bits, (x,), f"to {np.dtype(new)}", smooth=False)


def _next(x: Any, y: Any) -> Any:
    return np.nextafter(x.astype(np.float32), y.astype(np.float32))


def _others() -> Iterator[Case]:
    x = spaced((2, 3))
    for n in (-2, -1, 0, 1, 2, 3, 7):

        def power(x: Any, n: int = n) -> Any:
            return lax.integer_pow(x, n)

        def powered(x: Any, n: int = n) -> Any:
            return (
                x**n
                if x.dtype.kind in "iu"
                else np.power(x, float(n))
                if x.dtype.kind == "f"
                else x**n
            )

        label = f"to the power {n}"
        yield Case("integer_pow", power, powered, (x,), label, loose=8)
        yield Case("integer_pow", power, powered, (complexes((3,)),), label, loose=100)
        if n >= 0:
            yield Case("integer_pow", power, powered, (whole((9,)),), label)
    zero = np.array([0.0, 2.0])
    for n, slope in ((1, [1.0, 1.0]), (2, [0.0, 4.0]), (0, [0.0, 0.0])):
        yield Case(
            *("integer_pow", lambda x, n=n: lax.integer_pow(x, n), lambda x, n=n: x**n, (zero,)),
            *(f"slopes to the power {n}", (), False, False, (np.array(slope),)),
        )
    points = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, -0.2, 1.2, INF, NAN])
    away = lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)  # noqa: E731
    for method, reference in ((0, away), (1, np.round)):

        def rounded(x: Any, method: int = method) -> Any:
            return lax.round(x, lax.RoundingMethod(method))

        for dtype in (np.float32, np.float64):
            yield Case(
                "round",
                rounded,
                reference,
                (points.astype(dtype),),
                f"method {method}",
                smooth=False,
            )
        yield Case("round", rounded, reference, (spaced((2, 3), -2.4, 2.3),), f"method {method}")
    a, b = (np.array(v, np.float32).reshape(-1) for v in np.meshgrid(SPECIAL, SPECIAL))
    yield Case("nextafter", lax.nextafter, _next, (a, b), smooth=False)
    low, high = spaced((2, 3), -1.6, -0.9, 1), spaced((2, 3), 0.5, 1.6, 2)
    clip = lambda low, x, high: np.minimum(np.maximum(x, low), high)  # noqa: E731
    yield Case("clamp", lax.clamp, clip, (low, x, high))
    yield Case("clamp", lax.clamp, clip, (np.array(-1.1), x, np.array(0.9)), "scalar bounds")
    yield Case("clamp", lax.clamp, clip, (np.array(-1.1), x, high), "one scalar bound")
    yield Case("clamp", lax.clamp, clip, (whole(()), whole((2, 5)), whole((), 2, 3)))
    yield Case(
        "clamp",
        lax.clamp,
        clip,
        (np.array(2, np.uint8), whole((6,), 0, 9, np.uint8), np.array(5, np.uint8)),
    )
    special = np.array(SPECIAL)
    yield Case(
        "clamp",
        lax.clamp,
        clip,
        (np.array(-0.5), special, np.array(0.5)),
        "at special points",
        smooth=False,
    )
    for m in (1, 2):
        yield Case(
            *("polygamma", lax.polygamma, scipy.special.polygamma),
            *((np.full(3, float(m)), spaced((3,), 0.4, 4)), "", (), False, False, None, 100.0),
        )
    yield Case(
        *(
            "polygamma",
            lambda x: lax.polygamma(np.float64(1), x),
            lambda x: scipy.special.polygamma(1, x),
        ),
        *((spaced((2, 3), 0.4, 4),), "of fixed order", (), True, True, None, 1000.0),
    )


def _selections() -> Iterator[Case]:
    choose = lambda which, *cases: np.choose(which.astype(int), cases)  # noqa: E731
    x, y, z = (spaced((2, 3), seed=k) for k in range(3))
    one = spaced(())
    yield Case("select_n", lax.select_n, choose, (truths((2, 3)), x, y), linear=((1, 2),))
    yield Case(
        "select_n", lax.select_n, choose, (whole((2, 3), 0, 3), x, y, z), linear=((1, 2, 3),)
    )
    yield Case(
        "select_n", lax.select_n, choose, (np.array(True), x, y), "one choice", linear=((1, 2),)
    )
    yield Case(
        "select_n", lax.select_n, choose, (truths((2, 3)), x, one), "scalar", linear=((1, 2),)
    )
    yield Case("select_n", lax.select_n, choose, (truths((5,)), whole((5,)), whole((5,), 7, 12)))
    z = complexes((2, 2))
    yield Case("select_n", lax.select_n, choose, (truths((2, 2)), z, -z), linear=((1, 2),))


_CONVERSIONS = [
    ("float64", "float32"),
    ("float32", "float64"),
    ("float32", "bfloat16"),
    ("float16", "float32"),
    ("complex128", "complex64"),
    ("float64", "complex128"),
    ("int32", "float32"),
    ("float64", "int32"),
    ("int32", "bool"),
    ("bool", "float32"),
    ("int64", "int8"),
    ("float32", "bool"),
    ("uint8", "int32"),
]


def _parts_and_conversions() -> Iterator[Case]:
    z = complexes((2, 3))
    for dtype in (np.complex128, np.complex64):
        point = z.astype(dtype)
        yield Case("real", lax.real, np.real, (point,), linear=((0,),))
        yield Case("imag", lax.imag, np.imag, (point,), linear=((0,),))
        yield Case("conj", lax.conj, np.conj, (point,), linear=((0,),))
    join = lambda x, y: x + 1j * y  # noqa: E731
    yield Case("complex", lax.complex, join, (z.real.copy(), z.imag.copy()), linear=((0, 1),))
    yield Case(
        "complex", lax.complex, join, (z.real.astype("f4"), np.array(2, "f4")), linear=((0, 1),)
    )
    yield Case("abs", lax.abs, np.abs, (np.array([3 + 4j, 0j]),), "at 0", smooth=False)
    yield Case("sign", lax.sign, lambda z: z / np.abs(z), (z,), loose=8)
    yield Case("sign", lax.sign, np.sign, (whole((6,)),))
    yield Case("abs", lax.abs, np.abs, (whole((6,)),))
    yield Case("neg", lax.neg, np.negative, (whole((6,), 0, 6, np.uint8),))
    yield Case("square", lax.square, np.square, (whole((6,)),))
    yield Case("copy", lax.copy, np.copy, (spaced((2, 3)),), linear=((0,),))
    for old, new in _CONVERSIONS:

        def convert(x: Any, new: str = new) -> Any:
            return lax.convert_element_type(x, new)

        def converted(x: Any, new: str = new) -> Any:
            kind = np.dtype(new if new != "bfloat16" else BFLOAT16)
            return x.astype(kind) if kind.kind in "iub" else x + (0j if kind.kind == "c" else 0)

        x = complexes((2, 3)) if old.startswith("complex") else spaced((2, 3), -2.4, 2.4)
        x = truths((2, 3)) if old == "bool" else whole((2, 3)) if "int" in old else x
        linear = ((0,),) if "int" not in old + new and "bool" not in old + new else ()
        smooth = new != "bfloat16" and old != "float16"
        yield Case(
            *(
                "convert_element_type",
                convert,
                converted,
                (x.astype(old),),
                f"to {new}",
                linear,
                smooth,
            ),
            *(False, None, 100.0 if "16" in old else 1.0),
        )


def _stopped() -> Iterator[Case]:
    zero = (np.zeros(3),)
    yield Case(
        "stop_gradient", lax.stop_gradient, np.copy, (spaced((3,)),), smooth=False, slopes=zero
    )


CASES = [
    *_functions(),
    *_special_points(),
    *_binary(),
    *_products_in_which_zero_wins(),
    *_comparisons(),
    *_bits(),
    *_others(),
    *_selections(),
    *_parts_and_conversions(),
    *_stopped(),
]
