"""Element-wise operations: arithmetic, functions, comparisons, bits, selection, conversion.

One rule of shapes serves them all: **operands have one shape, or rank 0.** A rank-0 operand stands
for an array filled with it (so a number in a program stays a number), and there is no other
broadcasting. One rule of dtypes serves nearly all: operands have one dtype, out of those that the
operation is defined for. The table at the end of the module says which.

    >>> add_p.out_avals((ShapedArray((3,), "float32"), ShapedArray((), "float32")), {})
    f32[3]

Integers behave as two's complement numbers of their width do in hardware: sums and products wrap,
`div` truncates towards zero and gives -1 (all bits set) where the divisor is 0, `rem` gives the
dividend there, shifts by the width or more shift everything out.

Promotion and NumPy's broadcasting are for the layers above (`axonym_core.operators.promotion`).
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..errors import DTypeError, ShapeError
from ..programs.primitive import ALL, Primitive
from ..types import dtypes
from ..types.avals import Shape, ShapedArray
from ..types.dtypes import COMPLEXES, FLOATS, INEXACT, INTEGERS, bool_


class RoundingMethod(enum.IntEnum):
    """Where `lax.round` sends numbers half-way between two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1

    def __repr__(self) -> str:
        return self.name


class _Kind(NamedTuple):
    """Dtypes that an operation accepts, in words, and what to do with others."""

    accepted: frozenset[Any] | None
    words: str
    cure: str
    opaque: bool = False  # whether extended dtypes are among them


_TO_FLOAT: Final = "convert first, for example lax.convert_element_type(x, 'float32')"
_TO_INT: Final = "convert first, for example lax.convert_element_type(x, 'int32')"
_PARTS: Final = "take lax.real, lax.imag or lax.abs of it first"

_any = _Kind(None, "any dtype", "")
_numbers = _Kind(
    INTEGERS | INEXACT,
    "numbers",
    "for truth values use lax.bitwise_and, bitwise_or, bitwise_xor, bitwise_not, or convert "
    "them with lax.convert_element_type(x, 'int32')",
)
_plain = _Kind(INTEGERS | INEXACT | {bool_}, "numbers and truth values", "convert it first", True)
_ordered = _Kind(INTEGERS | FLOATS | {bool_}, "real numbers", _PARTS)
_real_numbers = _Kind(INTEGERS | FLOATS, "real numbers", _TO_FLOAT + ", or " + _PARTS)
_inexact = _Kind(INEXACT, "floating-point and complex numbers", _TO_FLOAT)
_floats = _Kind(FLOATS, "floating-point numbers", _TO_FLOAT + "; of a complex number " + _PARTS)
_complex = _Kind(COMPLEXES, "complex numbers", "convert it with convert_element_type to complex64")
_integers = _Kind(INTEGERS, "integers", _TO_INT)
_bits = _Kind(INTEGERS | {bool_}, "integers and truth values", _TO_INT + ", or compare (x != 0)")
_parts = _Kind(frozenset((dtypes.float32, dtypes.float64)), "float32 or float64 numbers", _TO_FLOAT)


def _require_kind(name: str, dtype: Any, kind: _Kind) -> None:
    if kind.accepted is None or dtype in kind.accepted:
        return
    if not (kind.opaque and dtypes.is_extended(dtype)):
        raise DTypeError(f"lax.{name} takes {kind.words}, got {dtype}; {kind.cure}")


def common_shape(name: str, avals: tuple[ShapedArray, ...]) -> Shape:
    """Shape of an element-wise operation's result.

    Args:
        name: Name of the `lax` function, for the message.
        avals: Types of the operands.

    Raises:
        ShapeError: Two operands that are not of rank 0 differ in shape.
    """
    shape: Shape = ()
    for aval in avals:
        if aval.shape:
            if not shape:
                shape = aval.shape
            elif shape != aval.shape:
                raise ShapeError(
                    f"lax.{name} takes operands of one shape (or rank 0), got "
                    f"{', '.join(map(str, avals))}; broadcast them first, with "
                    "lax.broadcast_in_dim, or use operators or axonym.numpy, which broadcast"
                )
    return shape


def _common_dtype(name: str, avals: tuple[ShapedArray, ...]) -> Any:
    dtype = avals[0].dtype
    for aval in avals:
        if aval.dtype != dtype:
            raise DTypeError(
                f"lax.{name} takes operands of one dtype, got {', '.join(map(str, avals))}; "
                "convert them with lax.convert_element_type, or use operators or axonym.numpy, "
                "which promote"
            )
    return dtype


def _real_part(dtype: Any) -> Any:
    if dtype in COMPLEXES:
        return dtypes.float32 if dtype == dtypes.complex64 else dtypes.float64
    return dtype


def _truth(dtype: Any) -> Any:
    return bool_


def _complex_of(dtype: Any) -> Any:
    return dtypes.complex64 if dtype == dtypes.float32 else dtypes.complex128


_function_names: Final = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}
_function_names["not"] = "bitwise_not"


def _elementwise(
    name: str,
    kind: _Kind,
    result: Callable[[Any], Any] | None = None,
    *,
    linear: Sequence[int] = (),
    separately: bool = False,
    cheap: bool = False,
) -> Primitive:
    """Primitive of operands of one dtype; `result` gives the result's dtype where it differs."""
    function = _function_names.get(name, name)

    def shape_rule(*avals: ShapedArray, **params: Any) -> ShapedArray:
        dtype = _common_dtype(function, avals)
        _require_kind(function, dtype, kind)
        shape = common_shape(function, avals)
        weak = all([aval.weak_type for aval in avals])
        if result is not None:
            dtype = result(dtype)
        return ShapedArray(shape, dtype, weak and dtype != bool_)

    return Primitive(
        name, shape_rule, kind="elementwise", linear=linear, separately=separately, cheap=cheap
    )


def _convert_element_type(
    x: ShapedArray, *, new_dtype: np.dtype[Any], weak_type: bool
) -> ShapedArray:
    if dtypes.is_extended(x.dtype) or dtypes.is_extended(new_dtype):
        raise DTypeError(
            f"lax.convert_element_type: {x.dtype} and {new_dtype} do not convert into each other; "
            "PRNG keys have functions of their own for that (random.key_data, wrap_key_data)"
        )
    if x.dtype in COMPLEXES and new_dtype not in COMPLEXES:
        raise DTypeError(
            f"convert_element_type from {x.dtype} to {new_dtype} would lose the imaginary part; "
            + _PARTS
        )
    return ShapedArray(x.shape, new_dtype, weak_type)


_UNCASTABLE = frozenset((dtypes.int4, dtypes.uint4, bool_))


def _bitcast_convert_type(x: ShapedArray, *, new_dtype: np.dtype[Any]) -> ShapedArray:
    old = x.dtype
    if old == new_dtype:
        return x.strip_weak_type()
    for dtype, word in ((old, "operand"), (new_dtype, "new_dtype")):
        if dtype in COMPLEXES or dtype in _UNCASTABLE or dtype == dtypes.float0:
            raise DTypeError(
                f"lax.bitcast_convert_type: {word} is {dtype}, whose bits are not at hand; use "
                "integers of 8 bits or more and floating-point numbers, or convert_element_type"
            )
    if old.itemsize == new_dtype.itemsize:
        return ShapedArray(x.shape, new_dtype)
    if old.itemsize > new_dtype.itemsize:
        return ShapedArray((*x.shape, old.itemsize // new_dtype.itemsize), new_dtype)
    ratio = new_dtype.itemsize // old.itemsize
    if not x.shape or x.shape[-1] != ratio:
        raise ShapeError(
            f"lax.bitcast_convert_type from {old} to {new_dtype} joins {ratio} elements into one: "
            f"the operand's last dimension must have size {ratio}, but its type is {x}; reshape it"
        )
    return ShapedArray(x.shape[:-1], new_dtype)


def _select_n(which: ShapedArray, *cases: ShapedArray) -> ShapedArray:
    if not cases:
        raise ShapeError("lax.select_n takes at least one case besides which; got none")
    if which.dtype != bool_ and which.dtype != dtypes.int32:
        raise DTypeError(
            f"lax.select_n: which is {which.dtype}; it takes bool (for two cases) or int32, so "
            "compare first (x != 0), or convert with lax.convert_element_type(which, 'int32')"
        )
    if which.dtype == bool_ and len(cases) > 2:
        raise DTypeError(
            f"lax.select_n: which is bool and there are {len(cases)} cases; a truth value chooses "
            "between two, so give an int32"
        )
    dtype = _common_dtype("select_n", cases)
    shape = common_shape("select_n", (which, *cases))
    return ShapedArray(shape, dtype, all([case.weak_type for case in cases]))


def _integer_pow(x: ShapedArray, *, y: int) -> ShapedArray:
    _require_kind("integer_pow", x.dtype, _numbers)
    if y < 0 and x.dtype in INTEGERS:
        raise DTypeError(
            f"lax.integer_pow: {x.dtype} to the power {y}: integers have no negative powers; "
            + _TO_FLOAT
        )
    return x


def _same(x: ShapedArray) -> ShapedArray:
    return x


# Linear, or linear in each operand for itself.
neg_p = _elementwise("neg", _numbers, linear=ALL, cheap=True)
add_p = _elementwise("add", _numbers, linear=ALL, cheap=True)
sub_p = _elementwise("sub", _numbers, linear=ALL, cheap=True)
mul_p = _elementwise("mul", _numbers, linear=(0, 1), separately=True, cheap=True)
mul_no_nan_p = _elementwise("mul_no_nan", _numbers, linear=(0, 1), separately=True, cheap=True)
div_p = _elementwise("div", _numbers, linear=(0,), cheap=True)
real_p = _elementwise("real", _complex, _real_part, linear=ALL, cheap=True)
imag_p = _elementwise("imag", _complex, _real_part, linear=ALL, cheap=True)
conj_p = _elementwise("conj", _complex, linear=ALL, cheap=True)
complex_p = _elementwise("complex", _parts, _complex_of, linear=ALL, cheap=True)
convert_element_type_p = Primitive(
    "convert_element_type", _convert_element_type, kind="elementwise", linear=ALL, cheap=True
)
select_n_p = Primitive(
    "select_n", _select_n, kind="elementwise", linear=range(1, sys.maxsize), cheap=True
)
copy_p = Primitive("copy", _same, kind="elementwise", linear=ALL, cheap=True)

# Arithmetic.
rem_p = _elementwise("rem", _real_numbers)
pow_p = _elementwise("pow", _numbers)
integer_pow_p = Primitive("integer_pow", _integer_pow, kind="elementwise", cheap=True)
square_p = _elementwise("square", _numbers, cheap=True)
max_p = _elementwise("max", _ordered, cheap=True)
min_p = _elementwise("min", _ordered, cheap=True)
clamp_p = _elementwise("clamp", _ordered, cheap=True)
sign_p = _elementwise("sign", _numbers, cheap=True)
abs_p = _elementwise("abs", _numbers, _real_part, cheap=True)
floor_p = _elementwise("floor", _floats, cheap=True)
ceil_p = _elementwise("ceil", _floats, cheap=True)
round_p = _elementwise("round", _floats)
nextafter_p = _elementwise("nextafter", _floats)

# Functions.
exp_p = _elementwise("exp", _inexact)
exp2_p = _elementwise("exp2", _inexact)
expm1_p = _elementwise("expm1", _inexact)
log_p = _elementwise("log", _inexact)
log1p_p = _elementwise("log1p", _inexact)
sqrt_p = _elementwise("sqrt", _inexact)
rsqrt_p = _elementwise("rsqrt", _inexact)
cbrt_p = _elementwise("cbrt", _floats)
sin_p = _elementwise("sin", _inexact)
cos_p = _elementwise("cos", _inexact)
tan_p = _elementwise("tan", _inexact)
asin_p = _elementwise("asin", _inexact)
acos_p = _elementwise("acos", _inexact)
atan_p = _elementwise("atan", _inexact)
atan2_p = _elementwise("atan2", _floats)
sinh_p = _elementwise("sinh", _inexact)
cosh_p = _elementwise("cosh", _inexact)
tanh_p = _elementwise("tanh", _inexact)
asinh_p = _elementwise("asinh", _inexact)
acosh_p = _elementwise("acosh", _inexact)
atanh_p = _elementwise("atanh", _inexact)
logistic_p = _elementwise("logistic", _inexact)
erf_p = _elementwise("erf", _floats)
erfc_p = _elementwise("erfc", _floats)
erf_inv_p = _elementwise("erf_inv", _floats)
lgamma_p = _elementwise("lgamma", _floats)
digamma_p = _elementwise("digamma", _floats)
polygamma_p = _elementwise("polygamma", _floats)

# Comparisons.
eq_p = _elementwise("eq", _plain, _truth, cheap=True)
ne_p = _elementwise("ne", _plain, _truth, cheap=True)
lt_p = _elementwise("lt", _ordered, _truth, cheap=True)
le_p = _elementwise("le", _ordered, _truth, cheap=True)
gt_p = _elementwise("gt", _ordered, _truth, cheap=True)
ge_p = _elementwise("ge", _ordered, _truth, cheap=True)
is_finite_p = _elementwise("is_finite", _floats, _truth, cheap=True)

# Bits.
and_p = _elementwise("and", _bits, cheap=True)
or_p = _elementwise("or", _bits, cheap=True)
xor_p = _elementwise("xor", _bits)
not_p = _elementwise("not", _bits, cheap=True)
shift_left_p = _elementwise("shift_left", _integers)
shift_right_arithmetic_p = _elementwise("shift_right_arithmetic", _integers)
shift_right_logical_p = _elementwise("shift_right_logical", _integers)
population_count_p = _elementwise("population_count", _integers)
bitcast_convert_type_p = Primitive(
    "bitcast_convert_type",
    _bitcast_convert_type,
    kind="moving",  # of bits: one element may become several
    absent={"transpose": "not linear: gives bits"},
)

# The identity, with a derivative of zero: it costs an equation while tracing and nothing at run
# time.
stop_gradient_p = Primitive(
    "stop_gradient",
    _same,
    kind="elementwise",
    cheap=True,
    expand=lambda x: x,
    absent={"transpose": "its derivative is zero"},
)
