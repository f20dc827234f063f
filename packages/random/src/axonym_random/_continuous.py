"""Distributions of floating-point numbers.

Each is a function of numbers from an interval, chosen so that its ends, where the function would be
infinite, cannot be drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from axonym_compile import library_jit
from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.types import dtypes

from ._arguments import (
    as_float_dtype,
    as_operand,
    as_shape,
    shape_with,
    spread,
)
from ._keys import KeyLike, check_key
from ._streams import split_pair
from ._uniform import between, unit

_SQRT2: Final = math.sqrt(2)

# Floating-point dtype of the real and the imaginary part.
_PARTS: Final = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}


def normal(key: KeyLike, shape: int | Sequence[int] = (), dtype: Any = float) -> Array:
    """Draw numbers from the standard normal distribution: mean 0, variance 1.

    Args:
        key: A key.
        shape: Shape of the result.
        dtype: Floating-point dtype of 16, 32 or 64 bits, or complex dtype; float32 by default.

    Returns:
        Array of the shape and dtype. Complex numbers have independent parts of variance 1/2.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape.
        RandomDTypeError: `dtype` is none of these.

    Example:
        >>> import axonym_random as random
        >>> random.normal(random.key(0), (2, 3)).shape
        (2, 3)
    """
    check_key(key, "normal")
    found = dtypes.as_dtype(dtype)
    if found not in _PARTS:
        found = as_float_dtype(found, "normal")
    return _normal(key, shape=as_shape(shape, "normal"), dtype=found)


def _normal_program(key: Any, *, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    part = _PARTS.get(dtype)
    if part is None:
        one = dtype.type(1)
        above_minus_one = np.nextafter(-one, dtype.type(0))
        drawn = between(key, above_minus_one, one, shape, dtype)
        return lax.mul(lax.erf_inv(drawn), dtype.type(_SQRT2))
    real, imag = (_normal_program(k, shape=shape, dtype=part) for k in split_pair(key))
    return lax.div(lax.complex(real, imag), dtype.type(_SQRT2))


_normal = library_jit(_normal_program, static_argnames=("shape", "dtype"))


def truncated_normal(
    key: KeyLike,
    lower: Any,
    upper: Any,
    shape: int | Sequence[int] | None = None,
    dtype: Any = float,
) -> Array:
    """Draw numbers from the standard normal distribution, given that they lie between two bounds.

    Args:
        key: A key.
        lower: Lower bound: a number, or an array that broadcasts to `shape`.
        upper: Upper bound: a number, or an array that broadcasts to `shape`.
        shape: Shape of the result; by default the shape to which the bounds broadcast.
        dtype: Floating-point dtype of 16, 32 or 64 bits; float32 by default.

    Returns:
        Array of the shape and dtype, of numbers strictly between the bounds.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape, or the bounds do not broadcast to it.
        RandomDTypeError: `dtype` is none of these.

    Example:
        >>> import axonym_random as random
        >>> x = random.truncated_normal(random.key(0), -2.0, 2.0, (100,))
        >>> max(abs(v) for v in x.tolist()) < 2
        True
    """
    check_key(key, "truncated_normal")
    found = as_float_dtype(dtype, "truncated_normal")
    bounds = (("lower", lower), ("upper", upper))
    sizes = shape_with(shape, "truncated_normal", bounds)
    operands = (as_operand(bound, found) for _, bound in bounds)
    return _truncated_normal(key, *operands, shape=sizes, dtype=found)


def _truncated_normal_program(
    key: Any, lower: Any, upper: Any, *, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    root = dtype.type(_SQRT2)
    low, high = (spread(bound, shape, dtype) for bound in (lower, upper))
    least, most = (lax.erf(lax.div(bound, root)) for bound in (low, high))
    drawn = lax.mul(lax.erf_inv(between(key, least, most, shape, dtype)), root)
    infinity = dtype.type(np.inf)
    inside = (
        lax.nextafter(lax.stop_gradient(low), infinity),
        lax.nextafter(lax.stop_gradient(high), -infinity),
    )
    return lax.min(lax.max(drawn, inside[0]), inside[1])


_truncated_normal = library_jit(_truncated_normal_program, static_argnames=("shape", "dtype"))


def _from_unit(transform: Callable[[Array], Array]) -> Any:
    """Program of a distribution that is a function of numbers from [0, 1)."""

    def program(key: Any, *, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return transform(unit(key, shape, dtype))

    return library_jit(program, static_argnames=("shape", "dtype"))


def _from_positive(transform: Callable[[Array], Array]) -> Any:
    """Program of a distribution that is a function of numbers from (0, 1)."""

    def program(key: Any, *, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return transform(positive_unit(key, shape, dtype))

    return library_jit(program, static_argnames=("shape", "dtype"))


def positive_unit(key: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Numbers from (0, 1), inside a program: the smallest normal number stands for 0."""
    tiny = dtype.type(dtypes.finfo(dtype).tiny)
    return between(key, tiny, dtype.type(1), shape, dtype)


def exponential(key: KeyLike, shape: int | Sequence[int] = (), dtype: Any = float) -> Array:
    """Draw numbers from the exponential distribution of mean 1.

    Args:
        key: A key.
        shape: Shape of the result.
        dtype: Floating-point dtype of 16, 32 or 64 bits; float32 by default.

    Returns:
        Array of the shape and dtype, of numbers that are 0 or more.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape.
        RandomDTypeError: `dtype` is none of these.

    Example:
        >>> import axonym_random as random
        >>> min(random.exponential(random.key(0), (100,)).tolist()) >= 0
        True
    """
    return _drawn(_exponential, "exponential", key, shape, dtype)


_exponential = _from_unit(lambda u: lax.neg(lax.log1p(lax.neg(u))))


def gumbel(key: KeyLike, shape: int | Sequence[int] = (), dtype: Any = float) -> Array:
    """Draw numbers from the standard Gumbel distribution.

    The largest of `logits + gumbel(key, logits.shape)` is at index `i` with a probability that is
    proportional to `exp(logits[i])`.

    Args:
        key: A key.
        shape: Shape of the result.
        dtype: Floating-point dtype of 16, 32 or 64 bits; float32 by default.

    Returns:
        Array of the shape and dtype.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape.
        RandomDTypeError: `dtype` is none of these.

    Example:
        >>> import axonym_random as random
        >>> random.gumbel(random.key(0), (3,)).shape
        (3,)
    """
    return _drawn(_gumbel, "gumbel", key, shape, dtype)


def gumbel_of(u: Array) -> Array:
    """Gumbel numbers of numbers from (0, 1), inside a program."""
    return lax.neg(lax.log(lax.neg(lax.log(u))))


_gumbel = _from_positive(gumbel_of)


def laplace(key: KeyLike, shape: int | Sequence[int] = (), dtype: Any = float) -> Array:
    """Draw numbers from the Laplace distribution of mean 0 and scale 1.

    Args:
        key: A key.
        shape: Shape of the result.
        dtype: Floating-point dtype of 16, 32 or 64 bits; float32 by default.

    Returns:
        Array of the shape and dtype.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape.
        RandomDTypeError: `dtype` is none of these.

    Example:
        >>> import axonym_random as random
        >>> random.laplace(random.key(0), (3,)).shape
        (3,)
    """
    return _drawn(_laplace, "laplace", key, shape, dtype)


def _laplace_program(key: Any, *, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    one = dtype.type(1)
    above_minus_one = np.nextafter(-one, dtype.type(0))
    u = between(key, above_minus_one, one, shape, dtype)
    return lax.mul(lax.sign(u), lax.log1p(lax.neg(lax.abs(u))))


_laplace = library_jit(_laplace_program, static_argnames=("shape", "dtype"))


def logistic(key: KeyLike, shape: int | Sequence[int] = (), dtype: Any = float) -> Array:
    """Draw numbers from the logistic distribution of mean 0 and scale 1.

    Args:
        key: A key.
        shape: Shape of the result.
        dtype: Floating-point dtype of 16, 32 or 64 bits; float32 by default.

    Returns:
        Array of the shape and dtype.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape.
        RandomDTypeError: `dtype` is none of these.

    Example:
        >>> import axonym_random as random
        >>> random.logistic(random.key(0), (3,)).shape
        (3,)
    """
    return _drawn(_logistic, "logistic", key, shape, dtype)


_logistic = _from_positive(lambda u: lax.sub(lax.log(u), lax.log1p(lax.neg(u))))


def _drawn(program: Any, function: str, key: Any, shape: Any, dtype: Any) -> Array:
    check_key(key, function)
    sizes = as_shape(shape, function)
    return program(key, shape=sizes, dtype=as_float_dtype(dtype, function))  # type: ignore[no-any-return]  # jitted
