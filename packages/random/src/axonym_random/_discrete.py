"""Distributions of a few values: coins, signs and categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from axonym_compile import library_jit
from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.types import aval_of, dtypes

from ._arguments import (
    as_operand,
    as_shape,
    count,
    float_parameter,
    shape_with,
    spread,
)
from ._continuous import gumbel_of, positive_unit
from ._keys import KeyLike, check_key
from ._uniform import unit
from .errors import DistributionError, RandomDTypeError, RandomShapeError


def bernoulli(key: KeyLike, p: Any = 0.5, shape: int | Sequence[int] | None = None) -> Array:
    """Draw booleans that are true with a given probability.

    Args:
        key: A key.
        p: The probability: a floating-point number, or an array that broadcasts to `shape`.
        shape: Shape of the result; by default the shape of `p`.

    Returns:
        Array of booleans: never true where `p` is 0, always where it is 1.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape, or `p` does not broadcast to it.
        RandomDTypeError: `p` is no floating-point number.

    Example:
        >>> import axonym_random as random
        >>> heads = random.bernoulli(random.key(0), 0.3, (1000,))
        >>> 250 < sum(heads.tolist()) < 350
        True
    """
    check_key(key, "bernoulli")
    dtype = float_parameter(p, "bernoulli", "p")
    sizes = shape_with(shape, "bernoulli", (("p", p),))
    return _bernoulli(key, as_operand(p, dtype), shape=sizes, dtype=dtype)


def _bernoulli_program(key: Any, p: Any, *, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    return lax.lt(unit(key, shape, dtype), spread(p, shape, dtype))


_bernoulli = library_jit(_bernoulli_program, static_argnames=("shape", "dtype"))


def rademacher(key: KeyLike, shape: int | Sequence[int] = (), dtype: Any = int) -> Array:
    """Draw signs: 1 or -1, equally likely.

    Args:
        key: A key.
        shape: Shape of the result.
        dtype: Signed integer or floating-point dtype; int32 by default.

    Returns:
        Array of the shape and dtype.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape.
        RandomDTypeError: `dtype` has no -1.

    Example:
        >>> import axonym_random as random
        >>> sorted(set(random.rademacher(random.key(0), (20,)).tolist()))
        [-1, 1]
    """
    check_key(key, "rademacher")
    found = dtypes.as_dtype(dtype)
    if not (dtypes.is_signed(found) or dtypes.is_inexact(found)):
        raise RandomDTypeError(
            f"rademacher: dtype={found} has no -1; choose a signed integer or a floating-point "
            "dtype"
        )
    return _rademacher(key, shape=as_shape(shape, "rademacher"), dtype=found)


def _rademacher_program(key: Any, *, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    draw = dtypes.default_float_dtype()
    heads = lax.lt(unit(key, shape, draw), draw.type(0.5))
    one = np.ones((), dtype)[()]
    return lax.sub(lax.mul(lax.convert_element_type(heads, dtype), one + one), one)


_rademacher = library_jit(_rademacher_program, static_argnames=("shape", "dtype"))


def categorical(
    key: KeyLike,
    logits: Any,
    axis: int = -1,
    shape: int | Sequence[int] | None = None,
    replace: bool = True,
) -> Array:
    """Draw indices with probabilities that are proportional to the exponentials of `logits`.

    Args:
        key: A key.
        logits: Array of floating-point numbers: logarithms of probabilities, up to a constant.
            `-inf` stands for probability 0.
        axis: The dimension of `logits` that the indices refer to.
        shape: Shape of the result. It ends in what is left of `logits.shape` without the axis (or
            in what that broadcasts to), and is that by default; dimensions before it count draws.
        replace: Whether the draws that dimensions in front count may agree; without it they are
            distinct.

    Returns:
        Array of indices (int32).

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape, or does not fit `logits`; there is no such axis, or
            it is empty.
        RandomDTypeError: `logits` are no floating-point numbers.
        DistributionError: More distinct draws are asked for than there are indices.

    Example:
        >>> import numpy as np
        >>> import axonym_random as random
        >>> logits = np.log(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], np.float32) + 1e-30)
        >>> drawn = random.categorical(random.key(0), logits, shape=(100, 2))
        >>> sorted({i for i, _ in drawn.tolist()}), sorted({i for _, i in drawn.tolist()})
        ([0, 1], [2])
    """
    check_key(key, "categorical")
    dtype = float_parameter(logits, "categorical", "logits")
    own = aval_of(logits).shape
    if not own or not -len(own) <= axis < len(own):
        raise RandomShapeError(
            f"categorical: logits has shape {own}, so there is no dimension axis={axis}; give an "
            "array with one dimension for the categories"
        )
    axis %= len(own)
    batch = own[:axis] + own[axis + 1 :]
    sizes = batch if shape is None else as_shape(shape, "categorical")
    tail = sizes[len(sizes) - len(batch) :]
    if len(sizes) < len(batch) or any(a not in (1, b) for a, b in zip(batch, tail, strict=True)):
        raise RandomShapeError(
            f"categorical: shape={sizes} must end in {batch}, the shape of logits without "
            f"axis={axis}; dimensions before it count draws"
        )
    if own[axis] == 0 and count(sizes):
        raise RandomShapeError(
            f"categorical: axis={axis} of logits of shape {own} is empty, so there is nothing to "
            "draw"
        )
    draws = count(sizes[: len(sizes) - len(batch)])
    if replace:
        return _categorical(key, logits, axis=axis, shape=sizes, dtype=dtype)
    if tail != batch:
        raise RandomShapeError(
            f"categorical: without replacement, shape={sizes} must end in exactly {batch}"
        )
    if draws > own[axis]:
        raise DistributionError(
            f"categorical: shape={sizes} asks for {draws} distinct indices of {own[axis]}; draw "
            "fewer, or with replace=True"
        )
    return _distinct(key, logits, axis=axis, shape=sizes, dtype=dtype)


def _categorical_program(
    key: Any, logits: Any, *, axis: int, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    own = aval_of(logits).shape
    lead = len(shape) - (len(own) - 1)
    full = (*shape[: lead + axis], own[axis], *shape[lead + axis :])
    noise = gumbel_of(positive_unit(key, full, dtype))
    return lax.argmax(lax.add(noise, spread(logits, full, dtype)), lead + axis, dtypes.int32)


_categorical = library_jit(_categorical_program, static_argnames=("axis", "shape", "dtype"))


def _distinct_program(
    key: Any, logits: Any, *, axis: int, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    own = aval_of(logits).shape
    batch = len(own) - 1
    draws = count(shape[: len(shape) - batch])
    noise = gumbel_of(positive_unit(key, own, dtype))
    _, best = lax.top_k(lax.add(noise, spread(logits, own, dtype)), draws, axis=axis)
    order = (axis, *range(axis), *range(axis + 1, len(own)))
    return lax.reshape(lax.transpose(best, order), shape)


_distinct = library_jit(_distinct_program, static_argnames=("axis", "shape", "dtype"))
