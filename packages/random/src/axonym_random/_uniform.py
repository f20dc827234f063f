"""Numbers that are all equally likely: floating-point numbers in an interval, integers in a range.

A floating-point number is made of as many bits as its dtype has digits, put into the digits of a
number between 1 and 2, less 1. So every multiple of the spacing of numbers in [1, 2) is equally
likely, 0 is possible and 1 is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from axonym_compile import library_jit
from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.types import aval_of, dtypes

from ._arguments import (
    as_float_dtype,
    as_int_dtype,
    as_operand,
    as_shape,
    count,
    shape_with,
    spread,
)
from ._keys import KeyLike, check_key
from ._streams import draw_bits, split_pair
from .errors import DistributionError, RandomDTypeError

# Bits drawn for a number of each dtype: at least as many as it has digits.
_WIDTHS: Final = {
    dtypes.bfloat16: 8,
    dtypes.float16: 16,
    dtypes.float32: 32,
    dtypes.float64: 64,
}
_UNSIGNED: Final = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


def uniform(
    key: KeyLike,
    shape: int | Sequence[int] = (),
    dtype: Any = float,
    minval: Any = 0.0,
    maxval: Any = 1.0,
) -> Array:
    """Draw numbers uniformly from the interval from `minval` (included) to `maxval` (excluded).

    Args:
        key: A key.
        shape: Shape of the result.
        dtype: Floating-point dtype of 16, 32 or 64 bits; float32 by default.
        minval: Lower end: a number, or an array that broadcasts to `shape`.
        maxval: Upper end: a number, or an array that broadcasts to `shape`.

    Returns:
        Array of the shape and dtype. Where the ends are equal, it holds that value.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape, or the ends do not broadcast to it.
        RandomDTypeError: `dtype` is none of these.
        DistributionError: The ends are Python numbers and no interval, or one whose length is no
            number of the dtype.

    Example:
        >>> import axonym_random as random
        >>> x = random.uniform(random.key(0), (1000,), minval=-1.0)
        >>> bool(((x >= -1) & (x < 1)).tolist()[0]), x.dtype
        (True, dtype('float32'))
    """
    check_key(key, "uniform")
    found = as_float_dtype(dtype, "uniform")
    if _is_number(minval) and _is_number(maxval):
        sizes = as_shape(shape, "uniform")
        if minval == 0 and maxval == 1:
            return _unit(key, shape=sizes, dtype=found)
        _check_interval(minval, maxval, found)
    else:
        sizes = shape_with(shape, "uniform", (("minval", minval), ("maxval", maxval)))
    ends = (as_operand(end, found) for end in (minval, maxval))
    return _between(key, *ends, shape=sizes, dtype=found)


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | np.number) and not isinstance(x, np.ndarray)


def _check_interval(minval: Any, maxval: Any, dtype: np.dtype[Any]) -> None:
    with np.errstate(all="ignore"):
        length = dtype.type(maxval) - dtype.type(minval)
    if not 0 <= length < np.inf:
        raise DistributionError(
            f"uniform: minval={minval} and maxval={maxval} are no interval of a length that "
            f"{dtype} can hold; minval must not be greater than maxval"
        )


def unit(key: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Numbers from [0, 1), inside a program."""
    digits = dtypes.finfo(dtype).nmant
    width = _WIDTHS[dtype]
    unsigned = _UNSIGNED[dtype.itemsize]
    drawn = draw_bits(key, shape, width)
    kept = lax.shift_right_logical(drawn, drawn.dtype.type(width - digits))
    if kept.dtype != unsigned:
        kept = lax.convert_element_type(kept, unsigned)
    one = np.ones((), dtype)
    from_one_to_two = lax.bitcast_convert_type(lax.bitwise_or(kept, one.view(unsigned)[()]), dtype)
    return lax.sub(from_one_to_two, one[()])


def between(
    key: Any, minval: Any, maxval: Any, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    """Numbers from [minval, maxval), inside a program.

    Args:
        key: A key.
        minval: Number or array in the dtype, 0-d or of the shape.
        maxval: The same.
        shape: The shape.
        dtype: The dtype.
    """
    # Compilers add up the constants of `(x - 1) * length + minval`, and lose a `minval` that is
    # small beside 1: without this a 0 would come through to a logarithm.
    return lax.max(minval, _scaled(key, minval, maxval, shape, dtype))


def _scaled(
    key: Any, minval: Any, maxval: Any, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    numbers = isinstance(minval, np.generic) and isinstance(maxval, np.generic)
    length = maxval - minval if numbers else lax.sub(maxval, minval)
    return lax.add(lax.mul(unit(key, shape, dtype), length), minval)


def _between_program(
    key: Any, minval: Any, maxval: Any, *, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    low, high = (spread(end, shape, dtype) for end in (minval, maxval))
    drawn = _scaled(key, low, high, shape, dtype)
    # Rounding may have led to the upper end, which does not belong to the interval.
    last = lax.nextafter(lax.stop_gradient(high), lax.stop_gradient(low))
    return lax.max(low, lax.select_n(lax.lt(drawn, high), _filled(last, shape), drawn))


def _filled(x: Any, shape: tuple[int, ...]) -> Any:
    return x if aval_of(x).shape == shape else lax.broadcast_in_dim(x, shape, ())


def _unit_program(key: Any, *, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    return unit(key, shape, dtype)


_unit = library_jit(_unit_program, static_argnames=("shape", "dtype"))
_between = library_jit(_between_program, static_argnames=("shape", "dtype"))


def randint(
    key: KeyLike,
    shape: int | Sequence[int],
    minval: Any,
    maxval: Any,
    dtype: Any = int,
) -> Array:
    """Draw integers uniformly from the range from `minval` (included) to `maxval` (excluded).

    Args:
        key: A key.
        shape: Shape of the result.
        minval: Lower end: an integer, or an array of integers that broadcasts to `shape`.
        maxval: Upper end: an integer, or an array of integers that broadcasts to `shape`. Python
            integers may be one more than the largest integer of the dtype.
        dtype: Integer dtype of 8, 16, 32 or 64 bits; int32 by default.

    Returns:
        Array of the shape and dtype. An element whose ends are arrays and leave nothing between
        them is `minval`; of ranges that go beyond the dtype, what is in it is drawn.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape, or the ends do not broadcast to it.
        RandomDTypeError: `dtype` is none of these, or the ends are no integers.
        DistributionError: The ends are Python integers and leave nothing between them, or are
            beyond the dtype.

    Note:
        The remainder of 64 random bits (128 for dtypes of 64 bits) is taken, or of 32 (64) where
        there are more than 2**16 (2**32) integers to choose from. In the latter case some are more
        likely than others, by a factor of up to `1 + n / 2**32` (`1 + n / 2**64`) for `n` integers;
        where that matters, draw int64.

    Example:
        >>> import axonym_random as random
        >>> sorted(set(random.randint(random.key(0), (100,), 1, 7).tolist()))
        [1, 2, 3, 4, 5, 6]
    """
    check_key(key, "randint")
    found = as_int_dtype(dtype, "randint")
    for name, end in (("minval", minval), ("maxval", maxval)):
        if isinstance(end, bool) or not dtypes.is_integer(aval_of(end).dtype):
            raise RandomDTypeError(
                f"randint: {name} is of type {aval_of(end)}; it has to be an integer: convert it"
            )
    ends = (("minval", minval), ("maxval", maxval))
    sizes = shape_with(shape, "randint", ends)
    limits = dtypes.iinfo(found)
    if not (isinstance(minval, int) and isinstance(maxval, int)):
        for name, end in ends:
            if isinstance(end, int) and not limits.min <= end <= limits.max:
                raise DistributionError(
                    f"randint: {name}={end} is beyond {found}, which ends at {limits.min} and "
                    f"{limits.max}; choose a wider dtype"
                )
        operands = (as_operand(end, found) if isinstance(end, int) else end for _, end in ends)
        return _ranges(key, *operands, shape=sizes, dtype=found)
    if count(sizes) and not limits.min <= minval < maxval <= limits.max + 1:
        raise DistributionError(
            f"randint: there is no integer of dtype {found} from minval={minval} (included) to "
            f"maxval={maxval} (excluded), or not every one is of this dtype; let minval be less "
            f"than maxval, both from {limits.min} to {limits.max + 1}"
        )
    unsigned = _words(found)
    half = 2 ** (unsigned.itemsize * 4)
    modulus = half * half
    span = max(maxval - minval, 1)
    multiplier = (half % span) ** 2 % modulus % span
    low = int(minval) % 2 ** (found.itemsize * 8)
    return _range(
        key,
        np.array(low, _UNSIGNED[found.itemsize]).view(found)[()],
        unsigned.type(span % modulus),
        unsigned.type(multiplier),
        shape=sizes,
        dtype=found,
        full=span == modulus,
    )


def _words(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Dtype of the bits from which integers of a dtype are made."""
    return _UNSIGNED[max(dtype.itemsize, 4)]


def _draw(
    key: Any, span: Any, multiplier: Any, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    """Integers from 0 to `span - 1`: the remainder of two words, the first counting for more."""
    first, second = split_pair(key)
    width = _words(dtype).itemsize * 8
    high, low = (draw_bits(k, shape, width) for k in (first, second))
    upper = lax.mul(lax.rem(high, span), multiplier)
    return lax.rem(lax.add(upper, lax.rem(low, span)), span)


def _draw_word(key: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """The words that `_draw` takes the lower remainder of."""
    return draw_bits(split_pair(key)[1], shape, _words(dtype).itemsize * 8)


def _range_program(
    key: Any,
    low: Any,
    span: Any,
    multiplier: Any,
    *,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    full: bool,
) -> Array:
    # In a full range every word will do, and their number is no number of their dtype.
    word = _draw_word(key, shape, dtype) if full else _draw(key, span, multiplier, shape, dtype)
    return lax.add(low, lax.convert_element_type(word, dtype))


_range = library_jit(_range_program, static_argnames=("shape", "dtype", "full"))


def _ranges_program(
    key: Any, minval: Any, maxval: Any, *, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    unsigned = _words(dtype)
    low = _filled(spread(_clipped(minval, dtype), shape, dtype), shape)
    high = _filled(spread(_clipped(maxval, dtype), shape, dtype), shape)
    # Conversion wraps around, and so does the difference: it is right in unsigned words.
    span = lax.sub(*(lax.convert_element_type(end, unsigned) for end in (high, low)))
    largest = dtypes.iinfo(dtype).max
    if dtypes.iinfo(aval_of(maxval).dtype).max > largest:
        # The upper end is excluded unless it lies beyond the dtype; then the largest one is drawn.
        beyond = lax.gt(maxval, aval_of(maxval).dtype.type(largest))
        beyond = spread(lax.convert_element_type(beyond, unsigned), shape, unsigned)
        span = lax.add(span, beyond)
        some = lax.bitwise_or(lax.gt(high, low), lax.ne(beyond, unsigned.type(0)))
    else:
        some = lax.gt(high, low)
    span = lax.select_n(some, lax.full_like(span, 1), span)
    every = lax.eq(span, unsigned.type(0))  # as many as there are words
    span = lax.select_n(every, span, lax.full_like(span, 1))
    half = unsigned.type(2 ** (unsigned.itemsize * 4))
    root = lax.rem(_filled(half, shape), span)
    multiplier = lax.rem(lax.mul(root, root), span)
    offset = lax.select_n(
        every, _draw(key, span, multiplier, shape, dtype), _draw_word(key, shape, dtype)
    )
    return lax.add(low, lax.convert_element_type(offset, dtype))


def _clipped(end: Any, dtype: np.dtype[Any]) -> Any:
    """An end of a range, brought into the dtype's own range."""
    own, wanted = dtypes.iinfo(aval_of(end).dtype), dtypes.iinfo(dtype)
    kind = aval_of(end).dtype.type
    if own.max > wanted.max:
        end = lax.min(end, kind(wanted.max))
    if own.min < wanted.min:
        end = lax.max(end, kind(wanted.min))
    return end


_ranges = library_jit(_ranges_program, static_argnames=("shape", "dtype"))
