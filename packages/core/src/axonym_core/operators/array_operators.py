"""Operators of arrays: what `x + y`, `x < y`, `x @ y` and the others mean, as NumPy defines them.

Each takes operands of unlike dtypes and shapes, promotes and broadcasts them, and binds a
primitive. For an operand that is no array and no number it returns `NotImplemented`, so that Python
asks the other operand, or says what it says of any two objects.

Operators are what traced programs are made of, so two cases take a short way: operands of one and
the same type (types are interned: one comparison of pointers tells), and an array beside a Python
number of a kind that its dtype holds.
"""

from __future__ import annotations

import operator as python_operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..arrays.array import Array
from ..errors import DTypeError, ShapeError
from ..primitives import elementwise as p
from ..primitives.contractions import dot_general_p
from ..primitives.shape import squeeze_p, transpose_p
from ..programs.primitive import Primitive
from ..types.avals import ShapedArray, aval_of
from ..types.dtypes import COMPLEXES, FLOATS, INEXACT, INTEGERS, SIGNED, DType, bool_, iinfo, int32
from ..types.python_numbers import strong_type, weak_scalar
from . import promotion

__all__ = [
    "absolute",
    "add",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "divide_with_remainder",
    "equal",
    "floor_divide",
    "greater",
    "greater_equal",
    "invert",
    "left_shift",
    "less",
    "less_equal",
    "matmul",
    "multiply",
    "negative",
    "not_equal",
    "power",
    "remainder",
    "right_shift",
    "subtract",
    "true_divide",
]

Operator = Callable[[Any, Any], Any]


# By dtype: the range of Python numbers that convert without overflow or a warning, the scalar type,
# and whether it holds floats.
_Quick = tuple[float, float, type[Any], bool]
_quick: Final[dict[DType, _Quick]] = {
    **{d: (-60000, 60000, strong_type(d), True) for d in FLOATS if d.itemsize > 1},
    **{d: (-60000, 60000, strong_type(d), True) for d in COMPLEXES},
    **{d: (-128 if d in SIGNED else 0, 127, d.type, False) for d in INTEGERS if iinfo(d).bits >= 8},
}


def _beside(aval: ShapedArray, number: Any, quick: dict[DType, _Quick]) -> Any:
    """A Python float or int as an operand beside an array; None where that takes more thought."""
    rule = quick.get(aval.dtype)
    if rule is None:
        return None
    low, high, scalar, holds_floats = rule
    if low <= number <= high and (holds_floats or type(number) is int):
        return weak_scalar(number, aval.dtype) if aval.weak_type else scalar(number)
    return None


def _binary(
    name: str,
    primitive: Primitive,
    special: Operator | None = None,
    special_dtypes: frozenset[DType] = frozenset(),
) -> Operator:
    """Operator of a primitive; `special` takes over for operands that promote to certain dtypes."""
    bind = primitive.bind
    quick = {d: rule for d, rule in _quick.items() if d not in special_dtypes}

    def operator(x: Any, y: Any) -> Any:
        kind = type(y)
        aval: Any
        if kind is float or kind is int:
            aval = getattr(x, "aval", None)
            if aval is not None:
                scalar = _beside(aval, y, quick)
                if scalar is not None:
                    return bind(x, scalar)
        elif type(x) is float or type(x) is int:
            aval = getattr(y, "aval", None)
            if aval is not None:
                scalar = _beside(aval, x, quick)
                if scalar is not None:
                    return bind(scalar, y)
        else:
            aval = getattr(x, "aval", None)
            if (
                aval is not None
                and (not special_dtypes or aval.dtype not in special_dtypes)
                and aval is getattr(y, "aval", None)
            ):
                return bind(x, y)
        if not (promotion.is_arraylike(x) and promotion.is_arraylike(y)):
            return NotImplemented
        x, y = promotion.promote_numbers(x, y) or promotion.promote_args(name, x, y)
        if special is not None and aval_of(x).dtype in special_dtypes:
            return special(x, y)
        return bind(x, y)

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = f"`{name}(x, y)` of arrays and numbers, promoted and broadcast as by NumPy."
    return operator


_BOOL: Final = frozenset((bool_,))


def _refuse_bool(x: Any, y: Any) -> Any:
    raise DTypeError(
        f"subtract: {aval_of(x)} - {aval_of(y)}: truth values have no difference; use x ^ y, "
        "or convert them to integers with astype"
    )


def _lexicographic(strict: Primitive, primitive: Primitive) -> Operator:
    """Comparison of complex numbers: by real part, then by imaginary part."""

    def special(x: Any, y: Any) -> Any:
        xr, yr = p.real_p.bind(x), p.real_p.bind(y)
        among_equals = primitive.bind(p.imag_p.bind(x), p.imag_p.bind(y))
        tie = p.and_p.bind(p.eq_p.bind(xr, yr), among_equals)
        return p.or_p.bind(strict.bind(xr, yr), tie)

    return special


def _ordering(name: str, strict: Primitive, primitive: Primitive) -> Operator:
    return _binary(name, primitive, _lexicographic(strict, primitive), COMPLEXES)


add: Final = _binary("add", p.add_p, p.or_p.bind, _BOOL)
subtract: Final = _binary("subtract", p.sub_p, _refuse_bool, _BOOL)
multiply: Final = _binary("multiply", p.mul_p, p.and_p.bind, _BOOL)
bitwise_and: Final = _binary("bitwise_and", p.and_p)
bitwise_or: Final = _binary("bitwise_or", p.or_p)
bitwise_xor: Final = _binary("bitwise_xor", p.xor_p)
equal: Final = _binary("equal", p.eq_p)
not_equal: Final = _binary("not_equal", p.ne_p)
less: Final = _ordering("less", p.lt_p, p.lt_p)
less_equal: Final = _ordering("less_equal", p.lt_p, p.le_p)
greater: Final = _ordering("greater", p.gt_p, p.gt_p)
greater_equal: Final = _ordering("greater_equal", p.gt_p, p.ge_p)
left_shift: Final = _binary("left_shift", p.shift_left_p)
_arithmetic_shift: Final = _binary("right_shift", p.shift_right_arithmetic_p)
_logical_shift: Final = _binary("right_shift", p.shift_right_logical_p)
_divide_inexact: Final = _binary("true_divide", p.div_p)


def _operands(x: Any, y: Any) -> bool:
    return promotion.is_arraylike(x) and promotion.is_arraylike(y)


def right_shift(x: Any, y: Any) -> Any:
    """`x >> y`: filled with the sign bit where the result's dtype is signed, else with zeros."""
    if not _operands(x, y):
        return NotImplemented
    x, y = promotion.promote_numbers(x, y) or promotion.promote_args("right_shift", x, y)
    return (_arithmetic_shift if aval_of(x).dtype in SIGNED else _logical_shift)(x, y)


def true_divide(x: Any, y: Any) -> Any:
    """`x / y`; of integers in the default floating-point dtype."""
    a = getattr(x, "aval", None) or getattr(y, "aval", None)
    if a is not None and a.dtype in INEXACT:
        return _divide_inexact(x, y)
    if not _operands(x, y):
        return NotImplemented
    numbers = promotion.promote_numbers(x, y)
    if numbers is None:
        x, y = promotion.promote_args_inexact("true_divide", x, y)
    elif aval_of(numbers[0]).dtype in INEXACT:
        x, y = numbers
    else:
        x, y = [promotion.as_number(v, float) for v in numbers]
    return p.div_p.bind(x, y)


def negative(x: Any) -> Any:
    """`-x`."""
    if aval_of(x).dtype == bool_:
        raise DTypeError(
            f"negative: truth values have no negation -x, got {aval_of(x)}; use ~x, or convert "
            "them to integers with astype"
        )
    return p.neg_p.bind(x)


def absolute(x: Any) -> Any:
    """`abs(x)`; truth values are returned as they are."""
    return x if aval_of(x).dtype == bool_ else p.abs_p.bind(x)


def invert(x: Any) -> Any:
    """`~x`: all bits inverted; logical not of truth values."""
    return p.not_p.bind(x)


def _nonzero_number(y: Any) -> bool:
    return isinstance(y, bool | int | float | np.generic) and bool(y)


def _promote_division(name: str, x: Any, y: Any) -> tuple[Any, Any, DType]:
    x, y = promotion.promote_numbers(x, y) or promotion.promote_args(name, x, y)
    dtype = aval_of(x).dtype
    if dtype == bool_:  # NumPy's divide truth values as 8-bit integers
        dtype = np.dtype(np.int8)
        x, y = [p.convert_element_type_p.bind(v, new_dtype=dtype, weak_type=False) for v in (x, y)]
    if dtype in COMPLEXES:
        raise DTypeError(
            f"{name}: complex numbers have no quotient rounded down, got {aval_of(x)} and "
            f"{aval_of(y)}; use x / y, or divide the real parts"
        )
    return x, y, dtype


def _number(value: float, like: Any) -> Any:
    return promotion.number_like(value, aval_of(like))


def _signs_differ(remainder: Any, y: Any) -> Any:
    """Where a truncated remainder has another sign than the divisor, and is not 0."""
    zero = _number(0, remainder)
    if _nonzero_number(y):
        return (p.lt_p if y > 0 else p.gt_p).bind(remainder, zero)
    differ = p.ne_p.bind(p.lt_p.bind(remainder, zero), p.lt_p.bind(y, zero))
    return p.and_p.bind(differ, p.ne_p.bind(remainder, zero))


def floor_divide(x: Any, y: Any) -> Any:
    """`x // y`: the quotient rounded down; of integers by 0 it is 0. Its derivative is zero."""
    if not _operands(x, y):
        return NotImplemented
    x, y, dtype = _promote_division("floor_divide", x, y)
    if dtype in FLOATS:
        return _floor_divide_floats(x, y)
    quotient = p.div_p.bind(x, y)
    if dtype in SIGNED:
        differ = _signs_differ(p.rem_p.bind(x, y), y)
        lower = p.sub_p.bind(quotient, _number(1, quotient))
        quotient = p.select_n_p.bind(differ, quotient, lower)
    if _nonzero_number(y):
        return quotient
    zero = _number(0, quotient)
    return p.select_n_p.bind(p.eq_p.bind(y, zero), quotient, zero)


def _floor_divide_floats(x: Any, y: Any) -> Any:
    # Dividing the dividend less the remainder gives a number next to an integer, which rounding
    # makes exact; x / y itself may have been rounded up past one.
    x, y = [v if isinstance(v, np.generic | float) else p.stop_gradient_p.bind(v) for v in (x, y)]
    remainder = p.rem_p.bind(x, y)
    quotient = p.div_p.bind(p.sub_p.bind(x, remainder), y)
    differ = _signs_differ(remainder, y)
    quotient = p.select_n_p.bind(differ, quotient, p.sub_p.bind(quotient, _number(1, quotient)))
    rounded = p.round_p.bind(quotient, rounding_method=p.RoundingMethod.TO_NEAREST_EVEN)
    if _nonzero_number(y):
        return rounded
    return p.select_n_p.bind(p.eq_p.bind(y, _number(0, rounded)), rounded, p.div_p.bind(x, y))


def remainder(x: Any, y: Any) -> Any:
    """`x % y`: with the sign of `y`; by 0 it is 0 for integers, NaN for floating-point numbers."""
    if not _operands(x, y):
        return NotImplemented
    x, y, dtype = _promote_division("remainder", x, y)
    truncated = p.rem_p.bind(x, y)
    out = truncated
    if dtype not in INTEGERS or dtype in SIGNED:
        differ = _signs_differ(truncated, y)
        out = p.select_n_p.bind(differ, truncated, p.add_p.bind(truncated, y))
    if dtype in FLOATS or _nonzero_number(y):
        return out
    zero = _number(0, out)
    return p.select_n_p.bind(p.eq_p.bind(y, zero), out, zero)


def divide_with_remainder(x: Any, y: Any) -> Any:
    """`divmod(x, y)`: the pair `x // y`, `x % y`."""
    if not _operands(x, y):
        return NotImplemented
    return floor_divide(x, y), remainder(x, y)


def power(x: Any, y: Any) -> Any:
    """`x ** y`; by multiplication where `y` is a Python or NumPy integer."""
    aval = getattr(x, "aval", None)
    if type(y) is int and aval is not None and aval.dtype in INEXACT:
        return p.integer_pow_p.bind(x, y=y)
    if not _operands(x, y):
        return NotImplemented
    if isinstance(y, int | np.integer):
        exponent = python_operator.index(y)
        exact = type(y) is int and type(aval) is ShapedArray and aval.is_number
        if not exact:
            x = promotion.promote_dtypes("power", x, y if isinstance(y, np.integer) else 0)[0]
        elif exponent < 0:
            x = promotion.as_number(x, float)
        if exponent < 0 and aval_of(x).dtype in INTEGERS:
            raise DTypeError(
                f"power: integers have no negative powers, got {aval_of(x)} ** {exponent}; convert "
                f"the base to a floating-point dtype: x.astype('float32') ** {exponent}"
            )
        return p.integer_pow_p.bind(x, y=exponent)
    x, y = promotion.promote_numbers(x, y) or promotion.promote_args("power", x, y)
    if aval_of(x).dtype == bool_:
        eight = np.dtype(np.int8)
        x, y = [p.convert_element_type_p.bind(v, new_dtype=eight, weak_type=False) for v in (x, y)]
    return p.pow_p.bind(x, y)


def matmul(x: Any, y: Any) -> Any:
    """`x @ y`: matrix product over the last two dimensions, the others broadcast.

    An operand of one dimension is a row on the left and a column on the right.

    Raises:
        ShapeError: An operand has rank 0, or the inner sizes differ.
    """
    if not _operands(x, y):
        return NotImplemented
    a, b = aval_of(x), aval_of(y)
    if not a.shape or not b.shape:
        raise ShapeError(
            f"matmul: operands need one dimension or more, got {a} and {b}; multiply by a scalar "
            "with x * y"
        )
    inner = b.shape[0] if b.ndim == 1 else b.shape[-2]
    if a.shape[-1] != inner:
        raise ShapeError(
            f"matmul: {a} @ {b}: the last dimension of the left operand ({a.shape[-1]}) and the "
            f"{'only' if b.ndim == 1 else 'second last'} one of the right ({inner}) must be equal; "
            "transpose one of them"
        )
    x, y = promotion.promote_dtypes("matmul", x, y)
    if aval_of(x).dtype == bool_:
        x, y = [p.convert_element_type_p.bind(v, new_dtype=int32, weak_type=False) for v in (x, y)]
        return p.ne_p.bind(_contract(x, y), np.int32(0))
    return _contract(x, y)


def _contract(x: Any, y: Any) -> Any:
    """Product of matrices; a batch dimension that one operand lacks is never repeated."""
    x_shape, y_shape = aval_of(x).shape, aval_of(y).shape
    x_batch, y_batch = x_shape[:-2], y_shape[:-2]
    rank = max(len(x_batch), len(y_batch))
    # Batch dimensions of the result, by position: shared ones are batch dimensions of the
    # contraction, those of one operand alone are free dimensions of it.
    x_dims = _aligned(x_batch, rank)
    y_dims = _aligned(y_batch, rank)
    shared, x_only, y_only, x_drop, y_drop = [], [], [], [], []
    for i, (m, n) in enumerate(zip(x_dims, y_dims, strict=True)):
        j, k = i - rank + len(x_batch), i - rank + len(y_batch)
        if m == n:
            shared.append((i, j, k))
        elif n is None or (n == 1 and m is not None):
            x_only.append((i, j))
            if n == 1:
                y_drop.append(k)
        elif m is None or m == 1:
            y_only.append((i, k))
            if m == 1:
                x_drop.append(j)
        else:
            raise ShapeError(
                f"matmul: {aval_of(x)} @ {aval_of(y)}: batch dimensions {x_batch} and {y_batch} do "
                "not broadcast together; make sizes equal or 1"
            )
    if x_drop:
        x = squeeze_p.bind(x, dimensions=tuple(x_drop))
    if y_drop:
        y = squeeze_p.bind(y, dimensions=tuple(y_drop))
    x_rank, y_rank = len(x_shape) - len(x_drop), len(y_shape) - len(y_drop)
    x_at = [j - sum([d < j for d in x_drop]) for _, j, _ in shared]
    y_at = [k - sum([d < k for d in y_drop]) for _, _, k in shared]
    contracting = ((x_rank - 1,), (max(y_rank - 2, 0),))
    out = dot_general_p.bind(
        x,
        y,
        dimension_numbers=(contracting, (tuple(x_at), tuple(y_at))),
        precision=None,
        preferred_element_type=None,
        axis_names=(),
    )
    # It has the shared dimensions, those of x alone, rows, those of y alone, columns.
    row, column = rank, rank + 1
    have = [i for i, _, _ in shared] + [i for i, _ in x_only]
    have += [row] if len(x_shape) > 1 else []
    have += [i for i, _ in y_only]
    have += [column] if len(y_shape) > 1 else []
    permutation = tuple(sorted(range(len(have)), key=have.__getitem__))
    if permutation == tuple(range(len(have))):
        return out
    return transpose_p.bind(out, permutation=permutation)


def _aligned(batch: tuple[int, ...], rank: int) -> list[int | None]:
    return [None] * (rank - len(batch)) + list(batch)


def _reflected(operator: Operator) -> Operator:
    return lambda self, other: operator(other, self)


_OPERATORS: Final[dict[str, Operator]] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "truediv": true_divide,
    "floordiv": floor_divide,
    "mod": remainder,
    "divmod": divide_with_remainder,
    "pow": power,
    "matmul": matmul,
    "and": bitwise_and,
    "or": bitwise_or,
    "xor": bitwise_xor,
    "lshift": left_shift,
    "rshift": right_shift,
}
_COMPARISONS: Final[dict[str, Operator]] = {
    "eq": equal,
    "ne": not_equal,
    "lt": less,
    "le": less_equal,
    "gt": greater,
    "ge": greater_equal,
}
_UNARY: Final[dict[str, Callable[[Any], Any]]] = {
    "neg": negative,
    "pos": lambda x: x,
    "abs": absolute,
    "invert": invert,
}

# Arrays know nothing of primitives: what `x + y` means is set here.
for _name, _operator in (_OPERATORS | _COMPARISONS | _UNARY).items():
    setattr(Array, f"__{_name}__", _operator)
for _name, _operator in _OPERATORS.items():
    setattr(Array, f"__r{_name}__", _reflected(_operator))
