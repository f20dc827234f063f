"""Arguments of this package's functions: arrays, numbers and settings, checked at the door.

Functions take arrays, NumPy arrays and numbers, and no lists: a list that is converted element by
element at every call is a loop in disguise. `asarray` converts one when that is meant.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, Final, NoReturn

import numpy as np

from axonym_core.arrays import Array, ConcreteArray, as_concrete
from axonym_core.errors import ArgumentTypeError, ConcretizationError, DTypeError, ShapeError
from axonym_core.operators import (
    is_arraylike,
    is_number,
    promote_dtypes,
    promote_dtypes_inexact,
    scalar_of,
    settled,
)
from axonym_core.primitives.elementwise import convert_element_type_p, ne_p
from axonym_core.types import INEXACT, DType, ShapedArray, aval_of, dtypes, python_number

from ..errors import ArgumentError

__all__ = [
    "array_in",
    "array_of",
    "arrays_of",
    "as_bool",
    "check_number",
    "choice",
    "concrete_of",
    "convert",
    "dtype_beside",
    "exact",
    "inexact",
    "numeric",
    "python_number",
    "real_dtype",
    "refuse_operands",
    "refuse_out",
    "sequence_of",
    "settled_pair",
    "size_of",
]


_PARTS = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}


def array_of(name: str, x: Any, argument: str = "argument 0") -> Array:
    """Array of an operand. Arrays and tracers pass; NumPy arrays and numbers are converted.

    Args:
        name: Name of the function, for the message.
        x: What the caller gave.
        argument: Name of the argument, for the message.

    Raises:
        TypeError: `x` is neither an array nor a number.
    """
    if isinstance(x, Array):
        return settled(x)  # type: ignore[no-any-return]  # an array in, an array out
    if not is_arraylike(x):
        raise ArgumentTypeError(
            f"{name}: {argument} is a {type(x).__name__}; it takes arrays and numbers, so convert "
            "it first, for example with axonym.numpy.asarray"
        )
    return as_concrete(settled(x))


def inexact(name: str, x: Any) -> Any:
    """Operand in a floating-point or complex dtype: integers go to the default one.

    Raises:
        TypeError: `x` is neither an array nor a number.
    """
    if isinstance(x, Array) and x.aval.dtype in INEXACT and not x.aval.is_number:
        return x
    return promote_dtypes_inexact(name, x)[0]


def numeric(name: str, x: Any) -> Any:
    """Operand of any dtype; numbers and NumPy arrays are left as they are.

    Raises:
        TypeError: `x` is neither an array nor a number.
    """
    if isinstance(x, Array):
        return settled(x)
    return promote_dtypes(name, x)[0]


def exact(name: str, x: Any, argument: str = "argument 0") -> Any:
    """Operand that will be converted to a known dtype: a number keeps all its bits until then.

    Raises:
        TypeError: `x` is neither an array nor a number.
    """
    return x if is_arraylike(x) else array_of(name, x, argument)


def arrays_of(name: str, *xs: Any) -> list[Any]:
    """Arrays of operands; numbers among them have the dtype that all have together.

    Raises:
        TypeError: An operand is neither an array nor a number.
    """
    if any([is_number(x) for x in xs]):
        xs = tuple(promote_dtypes(name, *xs))
    return [array_of(name, x, f"argument {i}") for i, x in enumerate(xs)]


def real_dtype(dtype: DType) -> DType:
    """Dtype of the parts of complex numbers; a real dtype itself."""
    return _PARTS.get(dtype, dtype)


def settled_pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Operands of a function: two numbers, of which neither decides, have the default width."""
    return (settled(x), settled(y)) if is_number(x) and is_number(y) else (x, y)


def array_in(name: str, x: Any, dtype: DType, argument: str = "argument 0") -> Array:
    """Array of an operand in a dtype, which a number is rounded to once.

    Raises:
        TypeError: `x` is neither an array nor a number.
    """
    return array_of(name, convert(exact(name, x, argument), dtype), argument)


def convert(x: Any, dtype: DType) -> Any:
    """Operand in a dtype, strong."""
    if not isinstance(x, Array | np.ndarray):
        return scalar_of(x, dtype)
    aval: ShapedArray = aval_of(x)
    if aval.dtype == dtype and not aval.weak_type:
        return x
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=False)


_WIDE: Final = frozenset((np.dtype("int64"), np.dtype("uint64"), np.dtype("f8"), np.dtype("c16")))
_IN_64_BITS: Final = {int: np.dtype("int64"), float: np.dtype("f8"), complex: np.dtype("c16")}


def dtype_beside(dtype: Any, own: DType) -> DType:
    """A dtype that a caller names for what becomes of an array.

    Python's `int`, `float` and `complex` say a kind, and no width: 64 bits stay 64 bits.

    Args:
        dtype: A dtype, or what names one.
        own: The array's dtype.
    """
    if own in _WIDE and isinstance(dtype, type):
        return _IN_64_BITS.get(dtype) or dtypes.as_dtype(dtype)
    return dtypes.as_dtype(dtype)


def as_bool(name: str, x: Any) -> Any:
    """Truth values of an operand: whether it is not 0."""
    x = numeric(name, x)
    dtype = aval_of(x).dtype
    if dtype == np.bool_:
        return x
    if dtypes.is_extended(dtype):
        raise DTypeError(f"{name}: elements of {dtype} are neither true nor false")
    zero = type(x)(0) if isinstance(x, int | float | complex) else scalar_of(0, dtype)
    return ne_p.bind(x, zero)


def check_number(name: str, argument: str, x: Any) -> None:
    """Require one number: a Python or NumPy number, or a 0-d array.

    Raises:
        ShapeError: It is an array with dimensions.
        TypeError: It is neither.
    """
    if not is_arraylike(x):
        raise ArgumentTypeError(f"{name}: {argument} is a {type(x).__name__}; give a number")
    if aval_of(x).shape:
        raise ShapeError(f"{name}: {argument} has type {aval_of(x)}; give a number, or a 0-d array")


def refuse_operands(name: str, x: Any, y: Any) -> NoReturn:
    """Raise the error for operands of which one is neither an array nor a number."""
    promote_dtypes(name, x, y)
    raise ArgumentTypeError(f"{name}: cannot combine a {type(x).__name__} and a {type(y).__name__}")


def refuse_out(name: str) -> NoReturn:
    """Raise the error for an array to write a result to, which is never changed here."""
    raise ArgumentTypeError(
        f"{name}: out= is refused, since arrays are immutable; leave it out and use the result"
    )


def choice(name: str, argument: str, given: Any, known: Iterable[str]) -> str:
    """Check that a setting is one of the known ones.

    Raises:
        ArgumentError: It is not.
    """
    known = tuple(known)
    if not isinstance(given, str) or given not in known:
        raise ArgumentError(
            f"{name}: {argument}={given!r} is not known; give one of {', '.join(map(repr, known))}"
        )
    return given


def sequence_of(name: str, argument: str, xs: Any) -> list[Any]:
    """Operands of a function that takes several arrays in a sequence, or stacked in one array.

    Raises:
        ArgumentError: There are none.
        TypeError: It is no sequence, or an entry is neither an array nor a number.
    """
    if isinstance(xs, Array | np.ndarray):
        if xs.ndim == 0:
            raise ArgumentTypeError(
                f"{name}: {argument} is one 0-d array; give a sequence of arrays"
            )
        xs = [xs[i] for i in range(xs.shape[0])]
    elif not isinstance(xs, Sequence):
        raise ArgumentTypeError(
            f"{name}: {argument} is a {type(xs).__name__}; give a list or tuple of arrays"
        )
    if not xs:
        raise ArgumentError(f"{name}: {argument} is empty; give at least one array")
    return [exact(name, x) for x in xs]


def size_of(name: str, argument: str, given: Any) -> int:
    """Number of elements: an integer of 0 or more, known while tracing.

    Raises:
        ArgumentError: It is negative.
        TypeError: It is no integer.
    """
    try:
        size = operator.index(given)
    except TypeError as error:
        if isinstance(given, Array):
            raise
        raise ArgumentTypeError(
            f"{name}: {argument}={given!r} must be an integer, got {type(given).__name__}"
        ) from error
    if size < 0:
        raise ArgumentError(f"{name}: {argument}={size} is negative; give 0 or more")
    return size


def concrete_of(name: str, x: Any, cure: str) -> np.ndarray[Any, Any]:
    """NumPy array of an operand whose numbers the shape of the result depends on.

    Args:
        name: Name of the function, for the message.
        x: What the caller gave.
        cure: What to do where the operand is traced.

    Raises:
        ConcretizationError: It is being traced.
    """
    x = array_of(name, x)
    if not isinstance(x, ConcreteArray):
        raise ConcretizationError(
            f"{name}: the shape of the result depends on the numbers of the argument of type "
            f"{x.aval}, which is being traced; {cure}"
        )
    return np.asarray(x)
