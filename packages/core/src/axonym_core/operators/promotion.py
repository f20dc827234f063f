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

from ..arrays.array import Array, as_concrete, register_method
from ..errors import ArgumentTypeError, DTypeError, ShapeError
from ..primitives.elementwise import bitcast_convert_type_p, convert_element_type_p
from ..primitives.shape import broadcast_in_dim_p
from ..types import dtypes, python_numbers
from ..types.avals import (
    Shape,
    ShapedArray,
    as_host,
    aval_of,
    is_of_other_library,
    scalar_aval,
)
from ..types.dtypes import INEXACT, DType, default_float_dtype, dtype_and_weak, lattice_result
from ..types.python_numbers import (
    PYTHON_SCALARS,
    WEAK_SCALARS,
    kind_of,
    python_number,
    settled,
    settled_aval,
    weak_scalar,
)

__all__ = [
    "PYTHON_SCALARS",
    "WEAK_SCALARS",
    "as_array",
    "as_number",
    "broadcast_args",
    "is_arraylike",
    "is_number",
    "join_types",
    "match_scalars",
    "number_like",
    "promote_args",
    "promote_args_inexact",
    "promote_dtypes",
    "promote_dtypes_inexact",
    "promote_numbers",
    "returned",
    "scalar_of",
    "settled",
    "strong",
]

_RANK: Final = {bool: 0, int: 1, float: 2, complex: 3}


def is_arraylike(x: Any) -> bool:
    """Whether `x` is an operand: an array, a tracer, a NumPy array or scalar, or a number."""
    return (
        type(x) in PYTHON_SCALARS
        or isinstance(x, Array | np.ndarray | np.generic | bool | int | float | complex)
        or is_of_other_library(x)
    )


def is_number(x: Any) -> bool:
    """Whether an operand is a number, Python's or a traced one, with all its 64 bits."""
    if type(x) in WEAK_SCALARS:
        return True
    aval = getattr(x, "aval", None)
    return type(aval) is ShapedArray and aval.is_number


def scalar_of(value: Any, dtype: DType) -> Any:
    """Scalar of a number, in a dtype whose kind can hold it.

    Args:
        value: A Python number or a NumPy scalar.
        dtype: The dtype of the result. Floating-point numbers are rounded to it, to infinity if
            they are too large. Of an extended dtype there is the element 0 alone.

    Raises:
        IntegerRangeError: An integer is out of the dtype's range.

    Example:
        >>> scalar_of(2, np.dtype(np.float32))
        np.float32(2.0)
    """
    if not dtypes.is_extended(dtype):
        return python_numbers.scalar_of(value, dtype)
    opaque: Any = dtype
    if value != 0:
        raise DTypeError(f"the number {value!r} is no element of {dtype}; {opaque.reading}")
    return bitcast_convert_type_p.bind(opaque.storage.type(0), new_dtype=dtype)


def as_number(x: Any, kind: type) -> Any:
    """Number as one of another of Python's types, with all its bits."""
    aval = getattr(x, "aval", None)
    if aval is None:
        return weak_scalar(x, scalar_aval(kind).dtype)
    dtype = scalar_aval(kind).dtype
    if aval.dtype == dtype:
        return x
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=True)


def as_array(x: Any) -> Array:
    """Array from an operand that a function returns unchanged: arrays and tracers pass."""
    x = settled(x)
    return x if isinstance(x, Array) else as_concrete(x)


def returned(x: Any) -> Any:
    """A result of a transformation: a number takes the default width and becomes an array."""
    return as_array(x) if isinstance(x, Array | int | float | complex) else x


def strong(x: Any) -> Any:
    """An operand, strong if it is a number, with all its bits; else as it is."""
    return _convert(x, aval_of(python_number(x)).dtype, False) if is_number(x) else x


def promote_numbers(x: Any, y: Any) -> tuple[Any, Any] | None:
    """Two numbers, of which one at least is traced, as numbers of one type; else None.

    Operators keep them exact, as Python's own would.
    """
    if not (is_number(x) and is_number(y)):
        return None
    if type(x) in WEAK_SCALARS and type(y) in WEAK_SCALARS:
        return None
    kind = max([kind_of(aval_of(v).dtype) for v in (x, y)], key=_RANK.__getitem__)
    return as_number(x, kind), as_number(y, kind)


def _settled(x: Array) -> Any:
    dtype = settled_aval(x.aval).dtype
    if dtype == x.aval.dtype:
        return x
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=True)


register_method("_settled", _settled)


def number_like(value: Any, aval: ShapedArray) -> Any:
    """Number as an operand beside an array: of its dtype, and weak where the array is.

    Args:
        value: A number of a kind that the dtype can hold.
        aval: Type of the array.

    Example:
        >>> number_like(2, ShapedArray((3,), np.float16))
        np.float16(2.0)
    """
    return weak_scalar(value, aval.dtype) if aval.weak_type else scalar_of(value, aval.dtype)


def _type_of(name: str, position: int, x: Any) -> tuple[DType, bool]:
    aval = getattr(x, "aval", None)
    if type(aval) is ShapedArray:
        return _strength(aval)
    if not is_arraylike(x):
        raise ArgumentTypeError(
            f"{name}: argument {position} is a {type(x).__name__}; it takes arrays and numbers, so "
            "convert it first, for example with axonym.numpy.asarray"
        )
    if type(x) is not np.ndarray and not isinstance(x, np.generic | int | float | complex):
        return aval_of(x).dtype, False
    return dtype_and_weak(x, f"{name}: argument {position}")


def join_types(a: ShapedArray, b: ShapedArray) -> tuple[DType, bool]:
    """Dtype that two values of one variable have together, and whether it is weak.

    It is that of promotion, except that numbers keep their bits among themselves.
    """
    if a.is_number and b.is_number:
        kind = max([kind_of(v.dtype) for v in (a, b)], key=_RANK.__getitem__)
        return scalar_aval(kind).dtype, True
    return lattice_result(tuple([_strength(v) for v in (a, b)]))


def _strength(aval: ShapedArray) -> tuple[DType, bool]:
    return settled_aval(aval).dtype, aval.weak_type


def _convert(x: Any, dtype: DType, weak: bool) -> Any:
    kind = type(x)
    if kind in WEAK_SCALARS:
        return weak_scalar(x, dtype) if weak else scalar_of(x, dtype)
    aval = getattr(x, "aval", None)
    if type(aval) is not ShapedArray:
        x = as_host(x)
        if isinstance(x, np.ndarray):
            if x.dtype == dtype and not weak:
                return x
        elif isinstance(x, np.generic) and not weak:
            return x if x.dtype == dtype else scalar_of(x, dtype)
        elif not weak:
            return scalar_of(x, dtype)
    elif aval.dtype == dtype and (aval.weak_type == weak or not (weak or aval.is_number)):
        # A weak operand beside a strong one of its dtype needs no conversion: the result is strong.
        # But a number would lose its bits where it is used alone.
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
    if isinstance(x, Array):
        return x.aval.shape
    return np.shape(x) if isinstance(x, np.ndarray | np.generic) else aval_of(x).shape


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
    if (
        type(first) is ShapedArray
        and not first.is_number
        and all([getattr(x, "aval", None) is first for x in args])
    ):
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
        type(first) is ShapedArray
        and first.dtype in INEXACT
        and not first.is_number
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
        if not is_number(array):
            break
    else:
        return promote_dtypes(name, *args)
    dtype, weak = _type_of(f"lax.{name}", 0, array)
    rank = _RANK[kind_of(dtype)]
    matched = []
    for x in args:
        if x is not array and is_number(x):
            if _RANK[kind_of(_type_of(name, 0, x)[0])] > rank:
                raise DTypeError(
                    f"lax.{name}: the number {x!r} does not fit {dtype}, the dtype of the operand "
                    f"beside it; convert that with lax.convert_element_type, or give a number of "
                    f"type {kind_of(dtype).__name__}"
                )
            x = _convert(x, dtype, weak)
        matched.append(x)
    return matched
