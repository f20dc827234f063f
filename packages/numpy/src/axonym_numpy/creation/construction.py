"""Arrays from what is not one yet: numbers, nested lists, NumPy arrays, other libraries' arrays.

Which dtype results when none is given: NumPy arrays keep theirs, 64 bits included. Python numbers
in lists have none, so lists of them get the default dtype of their kind (32 bits unless
configured), and a number by itself is weak. Data is copied, so that no later write to a NumPy
array shows in an array of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from axonym_core import lax
from axonym_core.arrays import Array, ConcreteArray, as_concrete, backends
from axonym_core.errors import ArgumentTypeError, DTypeError, IntegerRangeError, ShapeError
from axonym_core.operators import WEAK_SCALARS, is_arraylike, scalar_of, settled
from axonym_core.primitives.elementwise import convert_element_type_p, copy_p
from axonym_core.primitives.shape import concatenate_p, reshape_p
from axonym_core.types import ShapedArray, ShapeDtypeStruct, as_host, aval_of, dtypes, type_of

from ..arguments.operands import array_of, convert, dtype_beside, exact
from ..errors import ArgumentError

__all__ = ["array", "asarray", "astype", "copy", "from_dlpack", "frombuffer"]

_MOST_DIMENSIONS: Final = 64  # as in NumPy


def placed(name: str, x: Array, device: Any) -> Array:
    """Array on a device; where that is None, or where the array lies there, itself.

    Raises:
        ArgumentError: The array is being traced.
    """
    if device is None:
        return x
    if not isinstance(x, ConcreteArray):
        raise ArgumentError(
            f"{name}: device={device} cannot be chosen for a value of type {x.aval} that is being "
            "traced; leave it out, and place the arguments of the transformed function"
        )
    if x.device == device:
        return x
    return backends.current().from_host(np.asarray(x), x.aval, device)


def array(
    object: Any, dtype: Any = None, copy: bool = True, *, ndmin: int = 0, device: Any = None
) -> Array:
    """Array from a number, a nested sequence of numbers and arrays, or another array.

    Args:
        object: Number, array of any library, or nested lists and tuples of these.
        dtype: Element type; by default that of the data, or the default of its kind for Python
            numbers.
        copy: Whether to copy an array of ours too. Other data is always copied.
        ndmin: Least number of dimensions; leading ones of size 1 are added.
        device: Where to put the data; the default device if None.

    Returns:
        Array of the shape of `object`.

    Raises:
        DTypeError: There is no such dtype, or a number does not fit it.
        ShapeError: Rows of a nested sequence differ in shape.
        TypeError: `object` holds something that is no number.

    Example:
        >>> array([[1, 2], [3, 4]], ndmin=3).shape
        (1, 2, 2)
        >>> array([0.5, 1.5])
        Array([0.5, 1.5], dtype=float32)
    """
    out = asarray(object, dtype, device=device)
    if copy and out is object:
        out = copy_p.bind(out)  # arrays never change, but a copy outlives the original's donation
    if out.ndim < ndmin:
        out = reshape_p.bind(out, new_sizes=(1,) * (ndmin - out.ndim) + out.shape)
    return out


def asarray(a: Any, dtype: Any = None, *, copy: bool | None = None, device: Any = None) -> Array:
    """Array of anything that is one, or can be made one; an array of ours is returned as it is.

    Args:
        a: Number, array of any library, or nested lists and tuples of these.
        dtype: Element type; by default that of the data, or the default of its kind for Python
            numbers.
        copy: False refuses data that would have to be copied, which is all that is not an array
            of ours.
        device: Where to put the data; the default device if None.

    Returns:
        Array of the shape of `a`.

    Raises:
        ArgumentError: `copy=False` and the data would have to be copied.
        DTypeError: There is no such dtype, or a number does not fit it.
        ShapeError: Rows of a nested sequence differ in shape.
        TypeError: `a` holds something that is no number.

    Example:
        >>> asarray([1, 2, 3])
        Array([1, 2, 3], dtype=int32)
        >>> asarray(np.ones(2)).dtype
        dtype('float64')
    """
    if dtype is None:
        wanted = None
    elif isinstance(a, Array | np.ndarray):
        wanted = dtype_beside(dtype, a.dtype)
    else:
        wanted = dtypes.as_dtype(dtype)
    if copy is False and not isinstance(a, Array):
        raise ArgumentError(
            f"asarray: copy=False, but a {type(a).__name__} has to be copied into an array of "
            "ours; leave copy out"
        )
    if isinstance(a, Array):
        out = settled(a) if wanted is None else convert(a, wanted)
    elif is_arraylike(a):
        out = _from_number_or_numpy(as_host(a), wanted)
    elif isinstance(a, list | tuple):
        out = _from_sequence(a, wanted)
    else:
        out = _from_buffer(a, wanted)
    return placed("asarray", out, device)


def _from_number_or_numpy(a: Any, wanted: dtypes.DType | None) -> Array:
    if wanted is None:
        return as_concrete(settled(a))
    if isinstance(a, np.ndarray):
        own = dtypes.as_dtype(a.dtype, "a.dtype")
        if own == wanted:
            return as_concrete(a)
        converted: Array = convert_element_type_p.bind(a, new_dtype=wanted, weak_type=False)
        return converted
    return as_concrete(scalar_of(_checked(a, wanted), wanted))


def _checked(number: Any, wanted: dtypes.DType) -> Any:
    if isinstance(number, complex) and wanted not in dtypes.COMPLEXES:
        raise DTypeError(
            f"the complex number {number} does not fit {wanted}; take its real part, or give a "
            "complex dtype"
        )
    return number


def _leaves(a: Any, path: str, found: list[Any], depth: int = 1) -> None:
    if depth > _MOST_DIMENSIONS:
        raise ShapeError(
            f"asarray: a is nested more than {_MOST_DIMENSIONS} deep, or holds itself; arrays have "
            "no more dimensions than that"
        )
    for i, x in enumerate(a):
        if isinstance(x, list | tuple):
            _leaves(x, f"{path}[{i}]", found, depth + 1)
        elif is_arraylike(x):
            found.append(as_host(x))
        else:
            raise ArgumentTypeError(
                f"asarray: a{path}[{i}] is a {type(x).__name__}, not a number or an array: {x!r}"
            )


def _from_sequence(a: Sequence[Any], wanted: dtypes.DType | None) -> Array:
    leaves: list[Any] = []
    _leaves(a, "", leaves)
    if wanted is None:
        wanted = _common_dtype(leaves)
    if any(isinstance(x, Array | np.ndarray) for x in leaves):
        return _stack(a, wanted, "")
    try:
        host = np.array(a, dtype=None if leaves else np.float64)
    except ValueError:
        raise ShapeError(_ragged(a)) from None
    except OverflowError:
        raise IntegerRangeError(f"asarray: an integer in a does not fit {wanted}") from None
    return as_concrete(_host_converted(host, wanted))


def _common_dtype(leaves: list[Any]) -> dtypes.DType:
    """Dtype of a nested sequence: numbers are counted by type, for there may be many."""
    if not leaves:
        return dtypes.default_float_dtype()
    kinds: dict[Any, Any] = {}
    for x in leaves:
        kind = type(x)
        if kind in WEAK_SCALARS or kind is bool or isinstance(x, np.generic):
            kinds.setdefault(kind, x)
        else:
            kinds.setdefault(aval_of(x).strip_weak_type() if x.ndim else aval_of(x), x)
    return dtypes.result_type(*kinds.values())


def _host_converted(host: np.ndarray[Any, Any], wanted: dtypes.DType) -> np.ndarray[Any, Any]:
    """Convert numbers of a list, refusing what the dtype cannot hold."""
    if host.dtype == object:  # integers of more than 64 bits
        if wanted in dtypes.INEXACT:
            return host.astype(np.complex128 if wanted in dtypes.COMPLEXES else np.float64).astype(
                wanted
            )
        raise IntegerRangeError(
            f"asarray: an integer in the sequence does not fit {wanted}; give a wider dtype, such "
            "as 'float64'"
        )
    if wanted in dtypes.INTEGERS and host.dtype.kind in "iu" and host.size:
        limits = dtypes.iinfo(wanted)
        low, high = int(host.min()), int(host.max())
        if low < limits.min or high > limits.max:
            raise IntegerRangeError(
                f"asarray: the integer {low if low < limits.min else high} does not fit {wanted}, "
                f"which holds {limits.min} to {limits.max}; give a wider dtype, such as 'int64'"
            )
    if host.dtype.kind == "c" and wanted not in dtypes.COMPLEXES:
        raise DTypeError(
            f"asarray: complex numbers do not fit {wanted}; take their real parts first, or give a "
            "complex dtype"
        )
    with np.errstate(all="ignore"):
        return host.astype(wanted)


def _stack(a: Any, wanted: dtypes.DType, path: str) -> Array:
    """Nested sequences that hold arrays: join them level by level."""
    if not isinstance(a, list | tuple):
        own = a if is_arraylike(a) else np.asarray(a)
        return array_of("asarray", convert(own, wanted))
    rows = [_stack(x, wanted, f"{path}[{i}]") for i, x in enumerate(a)]
    if not rows:
        return as_concrete(np.zeros((0,), wanted))
    for i, row in enumerate(rows):
        if row.shape != rows[0].shape:
            raise ShapeError(
                f"asarray: a{path}[0] has shape {rows[0].shape} and a{path}[{i}] has shape "
                f"{row.shape}; rows of an array have one shape"
            )
    rows = [reshape_p.bind(row, new_sizes=(1, *row.shape)) for row in rows]
    out = rows[0] if len(rows) == 1 else concatenate_p.bind(*rows, dimension=0)
    return out


def _ragged(a: Sequence[Any]) -> str:
    for i, row in enumerate(a):
        if np.shape(row) != np.shape(a[0]):
            return (
                f"asarray: a[0] has shape {np.shape(a[0])} and a[{i}] has shape {np.shape(row)}; "
                "rows of an array have one shape"
            )
    return "asarray: the rows of a are ragged; rows of an array have one shape"


def _from_buffer(a: Any, wanted: dtypes.DType | None) -> Array:
    """Objects that hand out a buffer, and sequences that are no lists."""
    try:
        host = np.asarray(memoryview(a))
    except TypeError:
        if isinstance(a, Sequence) and not isinstance(a, str):
            return _from_sequence([a[i] for i in range(len(a))], wanted)
        raise ArgumentTypeError(
            f"asarray: a {type(a).__name__} is no array and no number: {a!r}; give numbers, "
            "arrays, or nested lists of these"
        ) from None
    return _from_number_or_numpy(host, wanted)


def copy(a: Any) -> Array:
    """The same values in a new array.

    Args:
        a: Array or number.

    Returns:
        Array of the shape and dtype of `a`.

    Example:
        >>> copy(np.array([1.0, 2.0]))
        Array([1., 2.], dtype=float64)
    """
    return copy_p.bind(array_of("copy", a))  # type: ignore[no-any-return]  # bind is untyped


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """Convert to another dtype.

    Floating-point numbers are truncated when they become integers, and those out of range go to
    the nearest end; a complex number keeps its real part.

    Args:
        x: Array or number.
        dtype: The new dtype; None is `float`. Python's `int`, `float` and `complex` keep the width
            of an array of 64-bit numbers, and give the default width otherwise.
        copy: Has no effect: arrays never change.
        device: Where to put the result.

    Returns:
        Array of the shape of `x`.

    Raises:
        DTypeError: There is no such dtype.

    Example:
        >>> astype(asarray([1.7, -1.7]), int)
        Array([ 1, -1], dtype=int32)
    """
    x = exact("astype", x)
    own = dtypes.result_type(x)
    wanted = dtype_beside(float if dtype is None else dtype, own)
    if own in dtypes.COMPLEXES and wanted not in dtypes.COMPLEXES:
        x = array_of("astype", x)
        x = (x != 0) if wanted == dtypes.bool_ else lax.real(x)
    return placed("astype", array_of("astype", convert(x, wanted)), device)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Array of another library, through the DLPack protocol. The data is copied.

    Args:
        x: Object with a method `__dlpack__`.
        device: Where to put the data.
        copy: False is refused, since the data is copied.

    Raises:
        ArgumentError: `copy=False`.
        TypeError: The object has no method `__dlpack__`.

    Example:
        >>> from_dlpack(np.arange(3, dtype=np.int8))
        Array([0, 1, 2], dtype=int8)
    """
    if copy is False:
        raise ArgumentError("from_dlpack: copy=False, but the data is copied; leave copy out")
    if not hasattr(x, "__dlpack__"):
        raise ArgumentTypeError(
            f"from_dlpack: a {type(x).__name__} has no method __dlpack__; use asarray"
        )
    if isinstance(x, Array):
        return placed("from_dlpack", x, device)
    return placed("from_dlpack", as_concrete(np.from_dlpack(x)), device)


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """Array of the numbers in a buffer of bytes. The data is copied.

    Args:
        buffer: Object with the buffer protocol, such as `bytes`.
        dtype: Element type.
        count: How many numbers; -1 for all.
        offset: Bytes to leave out at the start.

    Example:
        >>> frombuffer(bytes([1, 2, 3]), "uint8")
        Array([1, 2, 3], dtype=uint8)
    """
    return as_concrete(np.frombuffer(buffer, dtypes.as_dtype(dtype), count, offset))


def aval_like(x: Any, name: str) -> ShapedArray:
    """Type of an array, or of anything with a shape and a dtype.

    Raises:
        TypeError: `x` has none.
    """
    if is_arraylike(x):
        return aval_of(settled(x))
    if isinstance(x, ShapeDtypeStruct):
        return type_of(x)
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return ShapedArray(tuple(x.shape), dtypes.as_dtype(x.dtype))
    return array_of(name, x).aval
