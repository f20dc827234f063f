"""Making keys: from seeds, from other keys, from words; and the bits of one.

There is no hidden state. A key stands for one stream of numbers, and is to be used once: two draws
from one key are not independent. `split` makes new keys of a key, `fold_in` one from a key and a
number, such as the number of a step or the index along a mapped axis.

Under a mapped axis a key that does not vary gives the same numbers at each index, like any other
unmapped argument. For numbers of their own, map over `split(key, n)`, or fold the index in:
`fold_in(key, lax.axis_index("batch"))`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from axonym_compile import library_jit
from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.types import aval_of, dtypes

from . import _keys
from ._arguments import as_shape, count
from ._keys import IMPLEMENTATION, KEY_DTYPE, KeyLike, check_key, check_keys
from .errors import (
    DistributionError,
    KeyArrayError,
    KeyTypeError,
    RandomDTypeError,
    RandomShapeError,
)

_LOW_WORD: Final = 0xFFFFFFFF
_IMPLEMENTATIONS: Final = (None, IMPLEMENTATION, "fry")


def key(seed: Any, *, impl: str | None = None) -> Array:
    """Make a key of a seed.

    Args:
        seed: Integer of at most 64 bits, or a 0-d integer array.
        impl: Name of the generator; there is one, `"threefry2x32"`.

    Returns:
        A key, of shape `()`.

    Raises:
        KeyTypeError: The seed is not an integer.
        KeyArrayError: The seed is an array of several.
        OverflowError: A Python integer has more than 64 bits.
        DistributionError: There is no generator of that name.

    Example:
        >>> import axonym_random as random
        >>> random.key_data(random.key(1701)).tolist()
        [0, 1701]
    """
    _check_implementation(impl, "key")
    return _seeded(seed, "key")


def PRNGKey(seed: Any, *, impl: str | None = None) -> Array:
    """Make a raw key of a seed: an array of two words, as programs before typed keys used them.

    Args:
        seed: Integer of at most 64 bits, or a 0-d integer array.
        impl: Name of the generator; there is one, `"threefry2x32"`.

    Returns:
        The words of `key(seed)`, `uint32[2]`.

    Raises:
        KeyTypeError: The seed is not an integer.
        KeyArrayError: The seed is an array of several.
        OverflowError: A Python integer has more than 64 bits.
        DistributionError: There is no generator of that name.

    Example:
        >>> import axonym_random as random
        >>> random.PRNGKey(0)
        Array([0, 0], dtype=uint32)
    """
    _check_implementation(impl, "PRNGKey")
    return key_data(_seeded(seed, "PRNGKey"))


def _check_implementation(impl: str | None, function: str) -> None:
    if impl not in _IMPLEMENTATIONS:
        raise DistributionError(
            f"{function}: impl={impl!r} is no generator; leave it out, or give {IMPLEMENTATION!r}"
        )


def _seeded(seed: Any, function: str) -> Array:
    if isinstance(seed, int) and not isinstance(seed, bool):
        return _wrap_program(lax.threefry_seed(seed))
    if isinstance(seed, Array | np.ndarray | np.generic):
        aval = aval_of(seed)
        if dtypes.is_integer(aval.dtype):
            if aval.shape:
                raise KeyArrayError(
                    f"{function}: seed is an array of shape {aval.shape}, and one seed is needed; "
                    f"map the function over them: vmap({function})(seeds)"
                )
            return _from_array(seed)
    raise KeyTypeError(
        f"{function}: seed is {seed!r} of type {type(seed).__name__}; it has to be an integer: "
        "convert it, or hash it"
    )


def _from_array_program(seed: Any) -> Array:
    return _wrap_program(lax.threefry_seed(seed))


_from_array = library_jit(_from_array_program)


def split(key: KeyLike, num: int | Sequence[int] = 2) -> Any:
    """Make independent keys of one key.

    Args:
        key: A key.
        num: How many keys, or the shape of an array of them.

    Returns:
        An array of keys of that shape, which can be unpacked, indexed and mapped over; for a raw
        key an array of raw keys, `uint32[*num, 2]`.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `num` is no shape, or holds more than 2**32 - 1 keys.

    Example:
        >>> import axonym_random as random
        >>> left, right = random.split(random.key(0))
        >>> random.split(left, (2, 3)).shape
        (2, 3)
    """
    check_key(key, "split")
    shape = as_shape(num, "split", "num")
    if count(shape) > _LOW_WORD:
        raise RandomShapeError(
            f"split: num={shape} is more than {_LOW_WORD} keys; split the keys once more instead"
        )
    return _split(key, shape=shape)


def _split_program(key: Any, *, shape: tuple[int, ...]) -> Any:
    position = lax.reshape(lax.iota(dtypes.uint32, count(shape)), shape)
    return _keys.like(key, *lax.threefry2x32(*_keys.words(key), np.uint32(0), position))


_split = library_jit(_split_program, static_argnames="shape")


def fold_in(key: KeyLike, data: Any) -> Any:
    """Make a key of a key and an integer.

    Args:
        key: A key.
        data: Integer of at most 32 bits (negative ones count from 2**32), or a 0-d integer array,
            of which the low 32 bits count.

    Returns:
        A key; a raw one for a raw key.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` or `data` is an array of several.
        RandomDTypeError: `data` is not an integer.
        OverflowError: A Python integer has more than 32 bits.

    Example:
        >>> import axonym_random as random
        >>> steps = [random.fold_in(random.key(0), step) for step in range(2)]
        >>> bool(steps[0] == steps[1])
        False
    """
    check_key(key, "fold_in")
    if isinstance(data, int) and not isinstance(data, bool):
        if not -(2**31) <= data < 2**32:
            raise OverflowError(
                f"fold_in: data={data} does not fit 32 bits; fold in its parts one after the other"
            )
        return _fold_in(key, np.uint32(data & _LOW_WORD))
    if not isinstance(data, Array | np.ndarray | np.generic) or not dtypes.is_integer(
        aval_of(data).dtype
    ):
        what = f"of type {aval_of(data)}" if hasattr(data, "dtype") else repr(data)
        raise RandomDTypeError(f"fold_in: data is {what}; it has to be an integer: convert it")
    if aval_of(data).shape:
        raise KeyArrayError(
            f"fold_in: data is an array of shape {aval_of(data).shape}, and one number is needed; "
            "map the function over them: vmap(fold_in, (None, 0))(key, data)"
        )
    return _fold_in(key, data)


def _fold_in_program(key: Any, data: Any) -> Any:
    number = lax.convert_element_type(data, dtypes.uint32)
    return _keys.like(key, *lax.threefry2x32(*_keys.words(key), np.uint32(0), number))


_fold_in = library_jit(_fold_in_program)


def bits(key: KeyLike, shape: int | Sequence[int] = (), dtype: Any = None) -> Array:
    """Draw random bits.

    Args:
        key: A key.
        shape: Shape of the result.
        dtype: Unsigned integer dtype of 8, 16, 32 or 64 bits; uint32 by default.

    Returns:
        Array of integers, each with as many independent bits as its dtype has.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape.
        RandomDTypeError: `dtype` is none of these.

    Example:
        >>> import axonym_random as random
        >>> random.bits(random.key(0), (2,), "uint8").dtype
        dtype('uint8')
    """
    check_key(key, "bits")
    found = dtypes.default_uint_dtype() if dtype is None else dtypes.as_dtype(dtype)
    if found not in _WIDTHS:
        raise RandomDTypeError(
            f"bits: dtype={found} is no dtype of bits; choose one of "
            f"{', '.join(d.name for d in _WIDTHS)}"
        )
    return _bits(key, shape=as_shape(shape, "bits"), width=_WIDTHS[found])


_WIDTHS: Final = {dtypes.uint8: 8, dtypes.uint16: 16, dtypes.uint32: 32, dtypes.uint64: 64}


def draw_bits(key: Any, shape: tuple[int, ...], width: int) -> Array:
    """Bits of a key, without a program of their own: for the programs of distributions."""
    return lax.threefry_random_bits(_keys.data(key), width, shape)


def _bits_program(key: Any, *, shape: tuple[int, ...], width: int) -> Array:
    return draw_bits(key, shape, width)


_bits = library_jit(_bits_program, static_argnames=("shape", "width"))


def split_pair(key: Any) -> tuple[Any, Any]:
    """Two keys of one, inside the program of a distribution."""
    both = _split_program(key, shape=(2,))
    return lax.index_in_dim(both, 0, 0, False), lax.index_in_dim(both, 1, 0, False)


def key_data(keys: KeyLike) -> Array:
    """Words of keys, as numbers.

    Args:
        keys: A key, or an array of keys of any shape. Raw keys are returned as they are.

    Returns:
        Array `uint32[*keys.shape, 2]`.

    Raises:
        KeyTypeError: `keys` are no keys.

    Example:
        >>> import axonym_random as random
        >>> random.key_data(random.split(random.key(0), 3)).shape
        (3, 2)
    """
    return _keys.data(check_keys(keys, "key_data"))  # type: ignore[no-any-return]


def wrap_key_data(key_bits_array: Any, *, impl: str | None = None) -> Array:
    """Make typed keys of their words.

    Args:
        key_bits_array: Array `uint32[..., 2]`, as `key_data` and `PRNGKey` return it.
        impl: Name of the generator; there is one, `"threefry2x32"`.

    Returns:
        Keys of shape `key_bits_array.shape[:-1]`.

    Raises:
        KeyTypeError: The array is no array of pairs of uint32 words.
        DistributionError: There is no generator of that name.

    Example:
        >>> import axonym_random as random
        >>> random.wrap_key_data(random.PRNGKey(5)) == random.key(5)
        Array(True, dtype=bool)
    """
    _check_implementation(impl, "wrap_key_data")
    return _wrap_program(_keys.data(check_keys(key_bits_array, "wrap_key_data")))


def _wrap_program(words: Any) -> Array:
    return lax.bitcast_convert_type(words, KEY_DTYPE)


def key_impl(keys: KeyLike) -> str:
    """Name of the generator that keys belong to.

    Args:
        keys: Keys, typed or raw.

    Returns:
        `"threefry2x32"`.

    Raises:
        KeyTypeError: `keys` are no keys.

    Example:
        >>> import axonym_random as random
        >>> random.key_impl(random.key(0))
        'threefry2x32'
    """
    check_keys(keys, "key_impl")
    return IMPLEMENTATION


def clone(key: KeyLike) -> Any:
    """Return a key again, to say that it is used a second time on purpose.

    Args:
        key: A key.

    Returns:
        The same key.

    Raises:
        KeyTypeError: `key` is no key.

    Example:
        >>> import axonym_random as random
        >>> bool(random.clone(random.key(0)) == random.key(0))
        True
    """
    return check_keys(key, "clone")
