"""Keys: where the bits of random numbers come from.

A key of the generator threefry is a pair of 32-bit words. Keys are elements of arrays: an array of
the dtype `key<fry>` has one key as each of its elements, which it holds as 64 bits. It is an array
like any other wherever elements are only moved, so every transformation and every function that
reshapes, joins, selects or indexes takes it.

    >>> import axonym_random as random
    >>> keys = random.split(random.key(0), 3)
    >>> keys.shape, keys.dtype
    ((3,), key<fry>)
    >>> first, *rest = keys

Keys are no numbers: arithmetic and conversion to NumPy refuse them, and `key_data` gives the words
to whoever needs them. Raw keys, `uint32[2]` arrays as `PRNGKey` makes them, are accepted wherever a
key is.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias, final

import numpy as np

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.operators import as_array
from axonym_core.types import aval_of, dtypes

from .errors import KeyArrayError, KeyTypeError

IMPLEMENTATION: Final = "threefry2x32"
"""Name of the generator."""


@final
class KeyDType(dtypes.ExtendedDType):
    """The dtype of keys. There is one, as there is one generator.

    A key is stored as one number of 64 bits, whose low half is the first word: the bits of keys
    are those of pairs of words.
    """

    __slots__ = ()

    name = "key<fry>"
    storage = dtypes.uint64
    type = dtypes.prng_key
    reading = "random.key_data(key) gives the words of a key"

    def shown(self, stored: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The two words of each key."""
        return np.ascontiguousarray(stored.reshape(*stored.shape, 1)).view("<u4")

    def __eq__(self, other: object) -> bool:
        return type(other) is KeyDType

    def __hash__(self) -> int:
        return hash(KeyDType)


KEY_DTYPE: Final = KeyDType()

KeyLike: TypeAlias = Array | np.ndarray[Any, Any]
"""What functions take as a key: an array of keys, or of pairs of words."""

_WORD: Final = np.uint64(32)


def is_key(key: Any) -> bool:
    """Whether it is an array of keys, and not of words."""
    return isinstance(key, Array) and key.aval.dtype == KEY_DTYPE


def words(key: Any) -> tuple[Any, Any]:
    """First and second words of keys, typed or raw, each of the shape of the keys."""
    if is_key(key):
        bits = lax.bitcast_convert_type(key, dtypes.uint64)
        return tuple(  # type: ignore[return-value]  # of two
            lax.convert_element_type(half, dtypes.uint32)
            for half in (bits, lax.shift_right_logical(bits, _WORD))
        )
    last = aval_of(key).ndim - 1
    return lax.index_in_dim(key, 0, last, False), lax.index_in_dim(key, 1, last, False)


def data(key: Any) -> Any:
    """Words of keys, typed or raw, as one array `uint32[..., 2]`."""
    return lax.bitcast_convert_type(key, dtypes.uint32) if is_key(key) else as_array(key)


def made_of(first: Any, second: Any) -> Any:
    """Keys of their words."""
    low, high = (lax.convert_element_type(word, dtypes.uint64) for word in (first, second))
    bits = lax.bitwise_or(low, lax.shift_left(high, _WORD))
    return lax.bitcast_convert_type(bits, KEY_DTYPE)


def like(key: Any, first: Any, second: Any) -> Any:
    """Keys of words: typed if `key` is, else raw."""
    keys = made_of(first, second)
    return keys if is_key(key) else data(keys)


def check_keys(key: Any, function: str) -> Any:
    """Return `key` if it is an array of keys, typed or raw.

    Args:
        key: What the caller gave.
        function: Name of the function, for the message.

    Raises:
        KeyTypeError: It is neither a typed key nor an array of pairs of uint32 words.
    """
    if isinstance(key, Array | np.ndarray):
        aval = aval_of(key)
        if aval.dtype == KEY_DTYPE or (aval.dtype == dtypes.uint32 and aval.shape[-1:] == (2,)):
            return key
        what = f"an array of type {aval}"
    else:
        what = f"{key!r} of type {type(key).__name__}"
    raise KeyTypeError(
        f"{function}: key is {what}; it has to be a key, as key(seed) makes it, or a raw key "
        "u32[2], as PRNGKey(seed) makes it"
    )


def check_key(key: Any, function: str) -> Any:
    """Return `key` if it is a single key, typed or raw.

    Raises:
        KeyTypeError: It is no key.
        KeyArrayError: It is an array of keys.
    """
    check_keys(key, function)
    shape = key.shape if is_key(key) else key.shape[:-1]
    if shape:
        raise KeyArrayError(
            f"{function}: key is an array of keys of shape {shape}, and one key is needed; map "
            f"the function over them (vmap), or choose one (keys[0])"
        )
    return key
