"""Random bits from keys, by the counter-based generator threefry2x32.

A key is a pair of words, `uint32[..., 2]`. There is no hidden state: equal keys give equal bits.
Keys for independent streams are made with `threefry_split` and `threefry_fold_in`. Typed keys and
distributions stand in `axonym.random`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.arguments import as_ints
from ..arrays.array import Array
from ..errors import DTypeError, ShapeError
from ..operators.promotion import as_array
from ..primitives.random_bits import check_key, random_bits_p, threefry2x32_p
from ..types import dtypes
from ..types.avals import aval_of
from .elementwise import convert_element_type, eq, select, shift_right_logical
from .shape import broadcast_in_dim, broadcasted_iota, iota, reshape, slice_in_dim, squeeze

__all__ = [
    "threefry2x32",
    "threefry_fold_in",
    "threefry_random_bits",
    "threefry_seed",
    "threefry_split",
]

_LOW_WORD = 0xFFFFFFFF


def threefry2x32(key1: Any, key2: Any, x1: Any, x2: Any) -> tuple[Array, Array]:
    """Encrypt pairs of counters with pairs of key words.

    Args:
        key1: First key words, uint32.
        key2: Second key words, uint32.
        x1: First counters, uint32.
        x2: Second counters, uint32. All four have one shape, or are scalars.

    Returns:
        Two uint32 arrays of random bits.

    Raises:
        DTypeError: An operand is not of dtype uint32.
        ShapeError: The operands differ in shape.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> zero = np.uint32(0)
        >>> [hex(int(word)) for word in lax.threefry2x32(zero, zero, zero, zero)]
        ['0x6b200159', '0x99ba4efe']
    """
    first, second = threefry2x32_p.bind(key1, key2, x1, x2)
    return first, second


def threefry_random_bits(key_data: Any, bit_width: int, shape: Sequence[int]) -> Array:
    """Array of random bits.

    Args:
        key_data: Key data, `uint32[..., 2]`.
        bit_width: Bits of each element: 8, 16, 32 or 64.
        shape: Shape of the bits of one key.

    Returns:
        Array of unsigned integers of that width, of shape `(*key_data.shape[:-1], *shape)`.

    Raises:
        DTypeError: The key is not of dtype uint32, or there are no integers of that width.
        ShapeError: The last dimension of the key is not of size 2, or a size is negative.

    Example:
        >>> from axonym_core import lax
        >>> lax.threefry_random_bits(lax.threefry_seed(0), 8, (3,)).shape
        (3,)
    """
    sizes = _as_shape("threefry_random_bits", shape)
    return random_bits_p.bind(key_data, shape=sizes, bit_width=operator.index(bit_width))  # type: ignore[no-any-return]  # Any by nature


def threefry_split(key_data: Any, shape: int | Sequence[int] = 2) -> Array:
    """Make independent keys of one key.

    Args:
        key_data: Key data, `uint32[..., 2]`.
        shape: How many keys, or the shape of an array of them.

    Returns:
        Key data of shape `(*key_data.shape[:-1], *shape, 2)`.

    Raises:
        DTypeError: The key is not of dtype uint32.
        ShapeError: The last dimension of the key is not of size 2, or a size is negative.

    Example:
        >>> from axonym_core import lax
        >>> lax.threefry_split(lax.threefry_seed(0), 3).shape
        (3, 2)
    """
    aval = aval_of(key_data)
    check_key("threefry_split", aval)
    sizes = _as_shape("threefry_split", shape)
    count = math.prod(sizes)
    if count > _LOW_WORD:
        raise ShapeError(f"threefry_split: shape={sizes} holds more than 2**32 keys; split twice")
    position = reshape(iota(dtypes.uint32, count), sizes)
    lead = aval.shape[:-1]
    words = _words(key_data)
    if lead:
        full = (*lead, *sizes)
        kept = tuple(range(len(lead)))
        words = [broadcast_in_dim(word, full, kept) for word in words]
        position = broadcast_in_dim(position, full, tuple(range(len(lead), len(full))))
    return _key(threefry2x32_p.bind(*words, np.uint32(0), position))


def threefry_fold_in(key_data: Any, data: Any) -> Array:
    """Make a key of a key and an integer.

    Args:
        key_data: Key data, `uint32[..., 2]`.
        data: Integer of at most 32 bits, or an array of them: one for each key, or many for one.
            Negative ones count from `2**32`.

    Returns:
        Key data: one key for each pair.

    Raises:
        DTypeError: The key is not of dtype uint32, or `data` are not integers.
        ShapeError: The last dimension of the key is not of size 2, or `data` do not fit the keys.
        OverflowError: `data` is a Python integer of more than 32 bits.

    Example:
        >>> from axonym_core import lax
        >>> lax.threefry_fold_in(lax.threefry_seed(0), 1).shape
        (2,)
    """
    check_key("threefry_fold_in", aval_of(key_data))
    if isinstance(data, int):
        if not -(2**31) <= data < 2**32:
            raise OverflowError(
                f"threefry_fold_in: data={data} does not fit 32 bits; fold in its parts one after "
                "the other"
            )
        data = np.uint32(data & _LOW_WORD)
    elif not dtypes.is_integer(aval_of(data).dtype):
        raise DTypeError(
            f"threefry_fold_in: data is {aval_of(data)}; it has to be an integer: convert it"
        )
    else:
        data = convert_element_type(data, dtypes.uint32)
    return _key(threefry2x32_p.bind(*_words(key_data), np.uint32(0), data))


def threefry_seed(seed: Any) -> Array:
    """Make a key of an integer.

    Args:
        seed: Integer. A Python integer may have up to 64 bits; one that fits 32 bits gives the same
            key as an int32 or uint32 array. Arrays of integers give arrays of keys.

    Returns:
        Key data, `uint32[*seed.shape, 2]`: the high and the low word of the seed.

    Raises:
        DTypeError: The seed is not an integer.
        OverflowError: A Python integer has more than 64 bits.

    Example:
        >>> from axonym_core import lax
        >>> lax.threefry_seed(1701).tolist()
        [0, 1701]
    """
    if isinstance(seed, int):
        if not -(2**63) <= seed < 2**64:
            raise OverflowError(f"threefry_seed: seed={seed} does not fit 64 bits; hash it first")
        narrow = -(2**31) <= seed < 2**32
        high = 0 if narrow else (seed >> 32) & _LOW_WORD
        return as_array(np.array([high, seed & _LOW_WORD], np.uint32))
    aval = aval_of(seed)
    if not dtypes.is_integer(aval.dtype):
        raise DTypeError(f"threefry_seed: seed is {aval}; it has to be an integer: convert it")
    low = convert_element_type(seed, dtypes.uint32)
    if aval.dtype.itemsize > 4:
        shifted = shift_right_logical(seed, aval.dtype.type(32))
        return _key((convert_element_type(shifted, dtypes.uint32), low))
    return _key((broadcast_in_dim(np.uint32(0), aval.shape, ()), low))


def _as_shape(function: str, shape: int | Sequence[int]) -> tuple[int, ...]:
    sizes = as_ints(shape, function, "shape")
    if any(d < 0 for d in sizes):
        raise ShapeError(f"{function}: shape={sizes} has a negative size; sizes are 0 or more")
    return sizes


def _words(key_data: Any) -> list[Array]:
    last = aval_of(key_data).ndim - 1
    return [squeeze(slice_in_dim(key_data, i, i + 1, axis=last), (last,)) for i in range(2)]


def _key(words: Sequence[Any]) -> Array:
    """Put two words beside each other in a new last dimension.

    Selected rather than concatenated: a compiler writes the rounds that made the words once for a
    selection and twice for a concatenation.
    """
    shape = aval_of(words[0]).shape
    pairs, dims = (*shape, 2), tuple(range(len(shape)))
    first, second = (broadcast_in_dim(word, pairs, dims) for word in words)
    return select(
        eq(broadcasted_iota(dtypes.uint32, pairs, len(shape)), np.uint32(0)), first, second
    )
