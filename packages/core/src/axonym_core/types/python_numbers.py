"""Python numbers as operands: what they are until something decides their dtype.

A Python number keeps its value in 64 bits until it becomes strong (`ShapedArray.is_number`): beside
an array it is rounded once, to that array's dtype, and only where nothing else decides it takes the
default width of its kind. A traced number, an argument of a compiled function or the carry of a
loop, is a weak 0-d value of 64 bits and follows the same rule. `np.float64` and `np.complex128`
scalars are Python numbers by inheritance and count as such wherever a user gives them.

A number that has taken a width and is still weak, as beside a weak array, is a `float` (`int`,
`complex`) with a type of its own that carries its aval:

    >>> x = weak_scalar(0.1, np.dtype(np.float32))
    >>> x, x.aval
    (0.1, ~f32[])
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..errors import IntegerRangeError
from .avals import ShapedArray, scalar_aval
from .dtypes import (
    COMPLEXES,
    FLOATS,
    INTEGERS,
    DType,
    complex128,
    default_complex_dtype,
    default_float_dtype,
    default_int_dtype,
    float16,
    float32,
    float64,
    iinfo,
)

PYTHON_SCALARS: Final = frozenset((bool, int, float, complex))
"""Types of Python's own numbers, whose dtype is weak."""

WEAK_SCALARS: Final = PYTHON_SCALARS | {np.float64, np.complex128}
"""Types of numbers whose dtype is weak: Python's, and those of NumPy that derive from them."""


class StrongFloat64(np.float64):
    """`np.float64` as a strong operand: a number that met an array of that dtype."""

    __slots__ = ()
    aval = ShapedArray((), float64)


class StrongComplex128(np.complex128):
    """`np.complex128` as a strong operand: a number that met an array of that dtype."""

    __slots__ = ()
    aval = ShapedArray((), complex128)


_STRONG: Final = {float64: StrongFloat64, complex128: StrongComplex128}


def strong_type(dtype: DType) -> type[Any]:
    """Type of the NumPy scalars that are strong operands of a dtype."""
    return _STRONG.get(dtype, dtype.type)


_SMALL: Final = 60000.0  # within the range of float16
_QUICK: Final = frozenset((float16, float32, float64))


def kind_of(dtype: DType) -> type:
    """Python's type of the numbers of a dtype."""
    if dtype in FLOATS:
        return float
    if dtype in INTEGERS:
        return int
    return complex if dtype in COMPLEXES else bool


def python_number(x: Any) -> Any:
    """The Python number of a `np.float64` or `np.complex128` scalar; anything else passes."""
    kind = type(x)
    return x.item() if kind is np.float64 or kind is np.complex128 else x


def default_dtype(kind: type) -> DType:
    """The dtype of Python numbers of a type where nothing else decides."""
    if kind is float:
        return default_float_dtype()
    if kind is int:
        return default_int_dtype()
    return default_complex_dtype() if kind is complex else scalar_aval(bool).dtype


def settled_aval(aval: ShapedArray) -> ShapedArray:
    """Type of values of a type where nothing decides: of the default width if it is a number."""
    if aval.is_number:
        return aval.update(dtype=default_dtype(kind_of(aval.dtype)))
    return aval


def scalar_of(value: Any, dtype: DType) -> Any:
    """NumPy scalar of a number, in a dtype whose kind can hold it.

    Args:
        value: A Python number or a NumPy scalar.
        dtype: The dtype of the result. Floating-point numbers are rounded to it, to infinity if
            they are too large.

    Raises:
        IntegerRangeError: An integer is out of the dtype's range.

    Example:
        >>> scalar_of(2, np.dtype(np.float32))
        np.float32(2.0)
    """
    kind = type(value)
    if dtype in _QUICK:
        # Only beyond this range can NumPy warn of an overflow.
        if (kind is float or kind is int) and -_SMALL < value < _SMALL:
            return strong_type(dtype)(value)
    elif dtype in INTEGERS:
        return dtype.type(_checked(value, dtype))
    aval = getattr(value, "aval", None)
    with np.errstate(all="ignore"):
        if aval is not None and aval.dtype != dtype:  # rounded when it took that dtype
            value = aval.dtype.type(value)
        try:
            found = np.asarray(value).astype(dtype)[()]
        except (OverflowError, TypeError):  # integers beyond 64 bits have no NumPy dtype
            found = np.asarray(_as_float(value), np.float64).astype(dtype)[()]
    return _STRONG[dtype](found) if dtype in _STRONG else found


def _checked(value: Any, dtype: DType) -> int:
    number = int(value)
    limits = iinfo(dtype)
    if not limits.min <= number <= limits.max:
        raise IntegerRangeError(
            f"the integer {number} does not fit {dtype}, which holds {limits.min} to "
            f"{limits.max}; convert the array to a wider dtype with astype, or the number to "
            "an array with a dtype of its own"
        )
    return number


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


_weak_types: Final[dict[DType, type[Any]]] = {
    scalar_aval(kind).dtype: kind for kind in (bool, int, float, complex)
}


def _weak_type(dtype: DType) -> type[Any]:
    kind = kind_of(dtype)
    members = {
        "aval": ShapedArray((), dtype, True),
        "__reduce__": lambda self: (weak_scalar, (kind(self), dtype)),
        "__doc__": f"Python's {kind.__name__} as a weak operand of dtype {dtype}.",
        "__slots__": (),
    }
    return _weak_types.setdefault(dtype, type(f"weak_{dtype}", (kind,), members))


def weak_scalar(value: Any, dtype: DType) -> Any:
    """Number as a weak operand of a dtype.

    Args:
        value: A number of a kind that the dtype can hold.
        dtype: The dtype.

    Returns:
        A Python number; one of a type of its own, with the attribute `aval`, where the dtype is
        not the one of 64 bits that Python's own numbers have.

    Raises:
        IntegerRangeError: An integer is out of the dtype's range.
    """
    kind = _weak_types.get(dtype) or _weak_type(dtype)
    if dtype in INTEGERS:
        value = _checked(value, dtype)
    try:
        return kind(value)
    except OverflowError:  # an integer beyond the range of floats
        return kind(_as_float(value))


_KIND: Final = {int: int, float: float, complex: complex, np.float64: float, np.complex128: complex}


def settled(x: Any) -> Any:
    """An operand or a result: of the default width if it is a number, else as it is.

    So functions take numbers where no other operand decides their dtype, and transformations
    return them. They stay weak.

    Example:
        >>> settled(0.1).aval
        ~f32[]
    """
    kind = type(x)
    if kind in WEAK_SCALARS:
        return x if kind is bool else weak_scalar(x, default_dtype(_KIND[kind]))
    aval = getattr(x, "aval", None)
    # What arrays do about it is set by the operators, which lie above.
    return x._settled() if type(aval) is ShapedArray and aval.is_number else x
