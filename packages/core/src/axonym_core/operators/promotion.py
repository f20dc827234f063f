"""Promotion of operands: one dtype by the lattice, one shape by NumPy's broadcasting.

Primitives take operands of one dtype and of one shape (or rank 0). What stands between them and a
user's mixture of arrays, NumPy arrays and numbers is here, and operators and `axonym.numpy` use it.

Two things are kept as they are. A number stays a number: a Python scalar beside a `bfloat16` array
becomes a `bfloat16` *scalar*, so that a traced program shows it as a literal and nothing is
computed for it. And rank-0 operands stay rank 0, since element-wise primitives take them so.

    >>> promote_args("add", np.zeros(3, np.float16), 2)
    [array([0., 0., 0.], dtype=float16), np.float16(2.0)]

Which dtype a mixture gives is the business of `axonym_core.types.type_lattice`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

from ..errors import ArgumentTypeError, DTypeError, ShapeError
from ..primitives.elementwise import bitcast_convert_type_p, convert_element_type_p
from ..primitives.shape import broadcast_in_dim_p
from ..types import dtypes
from ..types.avals import Shape, ShapedArray, scalar_aval
from ..types.dtypes import (
    COMPLEXES,
    FLOATS,
    INEXACT,
    INTEGERS,
    DType,
    default_float_dtype,
    dtype_and_weak,
    float16,
    float32,
    float64,
    iinfo,
    lattice_result,
)

__all__ = [
    "broadcast_args",
    "is_arraylike",
    "match_scalars",
    "number_like",
    "promote_args",
    "promote_args_inexact",
    "promote_dtypes",
    "promote_dtypes_inexact",
    "scalar_of",
]

PYTHON_SCALARS: Final = frozenset((bool, int, float, complex))
"""Types of Python's own numbers, whose dtype is weak."""

WEAK_SCALARS: Final = PYTHON_SCALARS | {np.float64, np.complex128}
"""Types of numbers whose dtype is weak: Python's, and those of NumPy that derive from them."""

_RANK: Final = {bool: 0, int: 1, float: 2, np.float64: 2, complex: 3, np.complex128: 3}
_SMALL: Final = 60000.0  # within the range of float16
_QUICK: Final = frozenset((float16, float32, float64))


def _kind_of(dtype: DType) -> type:
    if dtype in FLOATS:
        return float
    if dtype in INTEGERS:
        return int
    return complex if dtype in COMPLEXES else bool


def is_arraylike(x: Any) -> bool:
    """Whether `x` is an operand: an array, a tracer, a NumPy array or scalar, or a number."""
    return (
        type(x) in PYTHON_SCALARS
        or hasattr(x, "aval")
        or isinstance(x, np.ndarray | np.generic | bool | int | float | complex)
    )


def scalar_of(value: Any, dtype: DType) -> Any:
    """NumPy scalar of a number, in a dtype whose kind can hold it.

    Args:
        value: A Python number or a NumPy scalar.
        dtype: The dtype of the result. Floating-point numbers are rounded to it, to infinity if
            they are too large. Of an extended dtype there is the element 0 alone.

    Raises:
        DTypeError: An integer is out of the dtype's range.

    Example:
        >>> scalar_of(2, np.dtype(np.float32))
        np.float32(2.0)
    """
    kind = type(value)
    if dtype in _QUICK:
        # Only beyond this range can NumPy warn of an overflow.
        if (kind is float or kind is int) and -_SMALL < value < _SMALL:
            return dtype.type(value)
    elif dtype in INTEGERS:
        value = int(value)
        limits = iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise DTypeError(
                f"the integer {value} does not fit {dtype}, which holds {limits.min} to "
                f"{limits.max}; convert the array to a wider dtype with astype, or the number to "
                "an array with a dtype of its own"
            )
        return dtype.type(value)
    elif dtypes.is_extended(dtype):
        return _opaque(value, dtype)
    with np.errstate(all="ignore"):
        try:
            return np.asarray(value, np.complex128 if dtype in COMPLEXES else None).astype(dtype)[
                ()
            ]
        except (OverflowError, TypeError):  # integers beyond 64 bits have no NumPy dtype
            return np.asarray(_as_float(value), np.float64).astype(dtype)[()]


def _opaque(value: Any, dtype: Any) -> Any:
    """Element of an extended dtype; the number 0 stands for the one whose bits are all 0."""
    if value != 0:
        raise DTypeError(f"the number {value!r} is no element of {dtype}; {dtype.reading}")
    return bitcast_convert_type_p.bind(dtype.storage.type(0), new_dtype=dtype)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _weak_scalar(value: Any, dtype: DType) -> Any:
    """Python number, or weakly typed array, of a number and the dtype it is to have."""
    kind = _kind_of(dtype)
    if kind is bool or scalar_aval(kind).dtype == dtype:
        return kind(value)
    return convert_element_type_p.bind(kind(value), new_dtype=dtype, weak_type=True)


def number_like(value: Any, aval: ShapedArray) -> Any:
    """Number as an operand beside an array: of its dtype, and weak where the array is.

    Args:
        value: A number of a kind that the dtype can hold.
        aval: Type of the array.

    Example:
        >>> number_like(2, ShapedArray((3,), np.float16))
        np.float16(2.0)
    """
    return _weak_scalar(value, aval.dtype) if aval.weak_type else scalar_of(value, aval.dtype)


def _type_of(name: str, position: int, x: Any) -> tuple[DType, bool]:
    aval = getattr(x, "aval", None)
    if aval is not None:
        return aval.dtype, aval.weak_type
    if not is_arraylike(x):
        raise ArgumentTypeError(
            f"{name}: argument {position} is a {type(x).__name__}; it takes arrays and numbers, so "
            "convert it first, for example with axonym.numpy.asarray"
        )
    return dtype_and_weak(x, f"{name}: argument {position}")


def _convert(x: Any, dtype: DType, weak: bool) -> Any:
    kind = type(x)
    if kind in WEAK_SCALARS:
        return _weak_scalar(x, dtype) if weak else scalar_of(x, dtype)
    aval = getattr(x, "aval", None)
    if aval is None:
        if isinstance(x, np.ndarray):
            if x.dtype == dtype and not weak:
                return x
        elif isinstance(x, np.generic) and not weak:
            return x if x.dtype == dtype else scalar_of(x, dtype)
        elif not weak:
            return scalar_of(x, dtype)
    elif aval.dtype == dtype and (aval.weak_type == weak or not weak):
        # A weak operand beside a strong one of its dtype needs no conversion: the result is strong.
        return x
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak)


def promote_dtypes(name: str, *args: Any) -> list[Any]:
    """Give operands their common dtype.

    Args:
        name: Name of the function whose arguments they are, for messages.
        *args: Arrays, tracers, NumPy arrays and scalars, Python scalars. Python scalars,
            `np.float64` and `np.complex128` scalars and weakly typed arrays are weak.

    Returns:
        The operands in the same order; numbers are still numbers.

    Raises:
        DTypeError: They have no common dtype, or a number does not fit it.
        TypeError: An argument is no array and no number.

    Example:
        >>> promote_dtypes("add", np.int8(1), np.ones(2, np.float16))
        [np.float16(1.0), array([1., 1.], dtype=float16)]
    """
    types = tuple([_type_of(name, i, x) for i, x in enumerate(args)])
    dtype, weak = lattice_result(types)
    return [_convert(x, dtype, weak) for x in args]


def promote_dtypes_inexact(name: str, *args: Any) -> list[Any]:
    """As `promote_dtypes`, with the default floating-point dtype in place of integers and booleans.

    Example:
        >>> promote_dtypes_inexact("exp", np.int8(1))
        [np.float32(1.0)]
    """
    types = tuple([_type_of(name, i, x) for i, x in enumerate(args)])
    dtype, weak = lattice_result(types)
    if dtype not in INEXACT:
        dtype = default_float_dtype()
    return [_convert(x, dtype, weak) for x in args]


@lru_cache(maxsize=4096)
def _broadcast_shape(name: str, shapes: tuple[Shape, ...]) -> Shape:
    rank = max(map(len, shapes))
    out = [1] * rank
    for shape in shapes:
        for i, size in enumerate(shape, rank - len(shape)):
            if size != 1:
                if out[i] not in (1, size):
                    raise ShapeError(
                        f"{name}: operands of shapes {', '.join(map(str, shapes))} do not "
                        f"broadcast together: dimension {i - rank} has sizes {out[i]} and {size}; "
                        "reshape one of them so that the sizes are equal or one of them is 1"
                    )
                out[i] = size
    return tuple(out)


def broadcast_args(name: str, *args: Any) -> list[Any]:
    """Give operands their common shape by NumPy's rules; rank-0 operands stay as they are.

    Args:
        name: Name of the function whose arguments they are, for messages.
        *args: Arrays and numbers.

    Returns:
        The operands in the same order.

    Raises:
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> [np.shape(x) for x in broadcast_args("add", np.ones(3), 2.0)]
        [(3,), ()]
    """
    shapes = [() if type(x) in PYTHON_SCALARS else _shape_of(x) for x in args]
    first: Shape = ()
    for shape in shapes:
        if shape and shape != first:
            if first:
                break
            first = shape
    else:
        return list(args)
    common = _broadcast_shape(name, tuple(shapes))
    rank = len(common)
    return [
        x
        if not shape or shape == common
        else broadcast_in_dim_p.bind(
            x, shape=common, broadcast_dimensions=tuple(range(rank - len(shape), rank))
        )
        for x, shape in zip(args, shapes, strict=True)
    ]


def _shape_of(x: Any) -> Shape:
    aval = getattr(x, "aval", None)
    return aval.shape if aval is not None else np.shape(x)


def promote_args(name: str, *args: Any) -> list[Any]:
    """Give operands one dtype and one shape (or rank 0), as element-wise primitives take them.

    Args:
        name: Name of the function whose arguments they are, for messages.
        *args: Arrays, tracers, NumPy arrays and scalars, Python scalars.

    Returns:
        The operands in the same order; numbers are still numbers, rank 0 is still rank 0.

    Raises:
        DTypeError: They have no common dtype, or a number does not fit it.
        ShapeError: The shapes do not broadcast together.
        TypeError: An argument is no array and no number.

    Example:
        >>> promote_args("add", np.float16(1), 2)
        [np.float16(1.0), np.float16(2.0)]
    """
    first: ShapedArray | None = getattr(args[0], "aval", None)
    if first is not None and all([getattr(x, "aval", None) is first for x in args]):
        return list(args)
    return broadcast_args(name, *promote_dtypes(name, *args))


def promote_args_inexact(name: str, *args: Any) -> list[Any]:
    """As `promote_args`, with the default floating-point dtype in place of integers and booleans.

    Example:
        >>> promote_args_inexact("true_divide", np.int8(1), 2)
        [np.float32(1.0), np.float32(2.0)]
    """
    first: ShapedArray | None = getattr(args[0], "aval", None)
    if (
        first is not None
        and first.dtype in INEXACT
        and all([getattr(x, "aval", None) is first for x in args])
    ):
        return list(args)
    return broadcast_args(name, *promote_dtypes_inexact(name, *args))


def match_scalars(name: str, *args: Any) -> list[Any]:
    """Give the numbers among the operands of a `lax` function the dtype of the arrays.

    Nothing else is promoted: arrays of unlike dtypes are the primitive's to refuse.

    Args:
        name: Name of the `lax` function, for messages.
        *args: Its operands.

    Returns:
        The operands in the same order.

    Raises:
        DTypeError: A number is of a kind that the dtype cannot hold, or out of its range.

    Example:
        >>> match_scalars("add", np.ones(1, np.float16), 2)
        [array([1.], dtype=float16), np.float16(2.0)]
    """
    for array in args:
        if type(array) not in WEAK_SCALARS:
            break
    else:
        return _match_numbers(name, args)
    dtype, weak = _type_of(f"lax.{name}", 0, array)
    rank = _RANK[_kind_of(dtype)]
    matched = []
    for x in args:
        kind = type(x)
        if kind in WEAK_SCALARS and x is not array:
            if _RANK[kind] > rank:
                raise DTypeError(
                    f"lax.{name}: the number {x!r} does not fit {dtype}, the dtype of the operand "
                    f"beside it; convert that with lax.convert_element_type, or give a number of "
                    f"type {_kind_of(dtype).__name__}"
                )
            if kind in PYTHON_SCALARS or x.dtype != dtype:
                x = _weak_scalar(x, dtype) if weak else scalar_of(x, dtype)
        matched.append(x)
    return matched


def _match_numbers(name: str, args: tuple[Any, ...]) -> list[Any]:
    """Numbers alone: NumPy's keep their dtype, Python's promote among themselves."""
    for x in args:
        if type(x) not in PYTHON_SCALARS:
            dtype = dtype_of_wide(args)
            return [x if type(x) is dtype.type else scalar_of(x, dtype) for x in args]
    return promote_dtypes(name, *args)


def dtype_of_wide(args: tuple[Any, ...]) -> DType:
    """Dtype of 64-bit NumPy numbers beside Python's: complex where any is complex."""
    kind = max([_RANK[type(x)] for x in args])
    return np.dtype(np.complex128) if kind == 3 else float64
