"""Arrays made from a shape and one value.

Without a dtype they have the default floating-point one. The functions named `..._like` take shape
and dtype of another array, but not its named axes: what they return is the same at every index of
those.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

from axonym_core.arrays import Array, as_ints
from axonym_core.errors import ShapeError
from axonym_core.operators import scalar_of
from axonym_core.primitives.shape import broadcast_in_dim_p
from axonym_core.types import aval_of, dtypes

from ..arguments.operands import convert, dtype_beside, exact
from .construction import aval_like, placed

__all__ = [
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


def _constant(name: str, shape: Any, value: int, dtype: Any, device: Any) -> Array:
    wanted = dtypes.default_float_dtype() if dtype is None else dtypes.as_dtype(dtype)
    out = broadcast_in_dim_p.bind(
        scalar_of(value, wanted), shape=as_ints(shape, name, "shape"), broadcast_dimensions=()
    )
    return placed(name, out, device)


def zeros(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """Array of zeros.

    Args:
        shape: An integer or a sequence of integers.
        dtype: Element type; the default floating-point dtype if None.
        device: Where to put it.

    Raises:
        ShapeError: A size is negative.
        TypeError: A size is no integer.

    Example:
        >>> zeros((2, 2))
        Array([[0., 0.],
               [0., 0.]], dtype=float32)
    """
    return _constant("zeros", shape, 0, dtype, device)


def ones(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """Array of ones; arguments and errors are those of `zeros`.

    Example:
        >>> ones(3, int)
        Array([1, 1, 1], dtype=int32)
    """
    return _constant("ones", shape, 1, dtype, device)


def empty(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """Array of zeros: there is no uninitialised memory here. Arguments are those of `zeros`.

    Example:
        >>> empty(2)
        Array([0., 0.], dtype=float32)
    """
    return _constant("empty", shape, 0, dtype, device)


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """Array with one value everywhere, or with an array repeated.

    Args:
        shape: An integer or a sequence of integers.
        fill_value: Number, or array that broadcasts to `shape`.
        dtype: Element type; by default that of `fill_value`.
        device: Where to put it.

    Raises:
        ShapeError: `fill_value` does not broadcast to `shape`.

    Example:
        >>> full((2, 2), 7)
        Array([[7, 7],
               [7, 7]], dtype=int32)
    """
    sizes = as_ints(shape, "full", "shape")
    value = exact("full", fill_value)
    wanted = dtypes.result_type(value) if dtype is None else dtypes.as_dtype(dtype)
    return placed("full", _spread("full", convert(value, wanted), sizes), device)


def _spread(name: str, value: Any, sizes: tuple[int, ...]) -> Array:
    old = aval_of(value).shape
    lead = len(sizes) - len(old)
    if lead < 0 or any(a not in (1, b) for a, b in zip(old, sizes[lead:], strict=True)):
        raise ShapeError(f"{name}: fill_value of shape {old} does not broadcast to {sizes}")
    return broadcast_in_dim_p.bind(
        value, shape=sizes, broadcast_dimensions=tuple(range(lead, len(sizes)))
    )


def _constant_like(name: str, a: Any, value: Any, dtype: Any, shape: Any, device: Any) -> Array:
    aval = aval_like(a, name)
    sizes = aval.shape if shape is None else as_ints(shape, name, "shape")
    wanted = aval.dtype if dtype is None else dtype_beside(dtype, aval.dtype)
    number = convert(exact(name, value), wanted)
    return placed(name, _spread(name, number, sizes), device)


def zeros_like(a: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Array:
    """Zeros of the shape and dtype of another array.

    Args:
        a: Array, or anything with a shape and a dtype.
        dtype: Element type in the place of that of `a`.
        shape: Shape in the place of that of `a`.
        device: Where to put it.

    Example:
        >>> zeros_like(ones(2, "int8"))
        Array([0, 0], dtype=int8)
    """
    return _constant_like("zeros_like", a, 0, dtype, shape, device)


def ones_like(a: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Array:
    """Ones of the shape and dtype of another array; arguments are those of `zeros_like`.

    Example:
        >>> ones_like(zeros(2, "int8"))
        Array([1, 1], dtype=int8)
    """
    return _constant_like("ones_like", a, 1, dtype, shape, device)


def empty_like(a: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Array:
    """Zeros of the shape and dtype of another array; arguments are those of `zeros_like`.

    Example:
        >>> empty_like(ones(2, "int8"))
        Array([0, 0], dtype=int8)
    """
    return _constant_like("empty_like", a, 0, dtype, shape, device)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None, device: Any = None
) -> Array:
    """One value everywhere, in the shape and dtype of another array.

    Args:
        a: Array, or anything with a shape and a dtype.
        fill_value: Number, or array that broadcasts to the shape.
        dtype: Element type in the place of that of `a`.
        shape: Shape in the place of that of `a`.
        device: Where to put it.

    Example:
        >>> full_like(zeros(2), 7)
        Array([7., 7.], dtype=float32)
    """
    return _constant_like("full_like", a, fill_value, dtype, shape, device)
