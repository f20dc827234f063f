"""Keys: where the bits of random numbers come from.

A key of the generator threefry is a pair of 32-bit words. A `PRNGKeyArray` holds the first words
and the second words of its keys as two arrays *of the shape of the keys*, and is a node of pytrees
with these two as its leaves. That is all that the transformations need: a dimension of the keys is
the same dimension of both leaves, so `jit`, `vmap` and `xmap` (with `in_axes` counted from
either end), `scan` over keys, `cond` and `grad` beside other arguments work as for any other tree.

    >>> import axonym_random as random
    >>> keys = random.split(random.key(0), 3)
    >>> keys.shape, keys.dtype
    ((3,), key<fry>)
    >>> first, *rest = keys

Keys are no numbers: arithmetic and conversion to NumPy refuse them, and `key_data` gives the words
to whoever needs them. Raw keys, `uint32[2]` arrays as `PRNGKey` makes them, are accepted wherever a
key is. An array with a dtype of its own, known to every primitive, was the alternative; it would
have made every rule of every package think of keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NoReturn, TypeAlias, final

import numpy as np

from axonym_compile import library_jit
from axonym_core import lax
from axonym_core.arrays import Array, ConcreteArray, as_concrete
from axonym_core.trees import GetAttrKey, register_pytree_node
from axonym_core.types import aval_of, dtypes

from .errors import KeyArrayError, KeyTypeError

IMPLEMENTATION: Final = "threefry2x32"
"""Name of the generator."""

# Iterating over more keys than this takes them out one by one instead of by one program.
_UNROLLED: Final = 64


@final
class KeyDType(dtypes.ExtendedDType):
    """The dtype of keys. There is one, as there is one generator."""

    __slots__ = ()

    name = "key<fry>"
    itemsize = 8
    type = dtypes.prng_key

    def __eq__(self, other: object) -> bool:
        return type(other) is KeyDType

    def __hash__(self) -> int:
        return hash(KeyDType)

    def __repr__(self) -> str:
        return self.name


KEY_DTYPE: Final = KeyDType()


@final
class PRNGKeyArray:
    """An array of keys, most often of shape `()`: a single key.

    Made by `key`, `split`, `fold_in` and `wrap_key_data`. A node of pytrees, see the module.

    Attributes:
        dtype: `key<fry>`, of the kind `axonym_core.types.dtypes.prng_key`.
    """

    __slots__ = ("__weakref__", "_first", "_second")
    __hash__ = None  # type: ignore[assignment]  # equality is element-wise

    dtype: Final = KEY_DTYPE

    # Whatever a transformation puts into its leaves is accepted: they may be no arrays.
    def __init__(self, first: Any, second: Any) -> None:
        self._first = first
        self._second = second

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of keys."""
        return aval_of(self._first).shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return aval_of(self._first).ndim

    @property
    def size(self) -> int:
        """Number of keys."""
        return aval_of(self._first).size

    @property
    def itemsize(self) -> int:
        """Bytes of one key."""
        return KEY_DTYPE.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all keys."""
        return self.size * KEY_DTYPE.itemsize

    @property
    def named_shape(self) -> Any:
        """Named axes that the keys vary over, name to size."""
        return aval_of(self._first).named_shape

    def __len__(self) -> int:
        if not self.shape:
            raise KeyTypeError("len() of a single key; split(key, n) makes an array of n keys")
        return self.shape[0]

    def __iter__(self) -> Iterator[PRNGKeyArray]:
        if not self.shape:
            raise KeyTypeError("iteration over a single key; split(key, n) makes n keys of it")
        if self.shape[0] > _UNROLLED:
            return (self[i] for i in range(self.shape[0]))
        return iter(_unstack(self))

    def __getitem__(self, index: Any) -> PRNGKeyArray:
        return PRNGKeyArray(as_array(self._first)[index], as_array(self._second)[index])

    def reshape(self, *shape: Any) -> PRNGKeyArray:
        """Return the keys in another shape.

        Args:
            *shape: The sizes, or one sequence of them; one may be -1.
        """
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        sizes = _without_unknown(tuple(sizes), self.size)
        return PRNGKeyArray(lax.reshape(self._first, sizes), lax.reshape(self._second, sizes))

    def ravel(self) -> PRNGKeyArray:
        """Return the keys in one dimension."""
        return self.reshape(self.size)

    def flatten(self) -> PRNGKeyArray:
        """Return the keys in one dimension."""
        return self.reshape(self.size)

    def block_until_ready(self) -> PRNGKeyArray:
        """Wait until the keys are there, and return them."""
        for word in (self._first, self._second):
            if isinstance(word, ConcreteArray):
                word.block_until_ready()
        return self

    def __eq__(self, other: object) -> Any:
        mine, theirs = self._compared(other)
        return (mine[0] == theirs[0]) & (mine[1] == theirs[1])

    def __ne__(self, other: object) -> Any:
        mine, theirs = self._compared(other)
        return (mine[0] != theirs[0]) | (mine[1] != theirs[1])

    def _compared(self, other: object) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        if not isinstance(other, PRNGKeyArray):
            raise KeyTypeError(
                f"a key was compared with a {type(other).__name__}; keys compare with keys only: "
                "compare key_data(key) with raw keys"
            )
        mine, theirs = ((as_array(keys._first), as_array(keys._second)) for keys in (self, other))
        return mine, theirs

    def __bool__(self) -> bool:
        raise KeyTypeError("a key is neither true nor false; draw a number with bernoulli(key)")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise KeyTypeError(
            "a key is no NumPy array; key_data(key) gives its words as an array of numbers"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return PRNGKeyArray, (self._first, self._second)

    def __repr__(self) -> str:
        words = (self._first, self._second)
        if not all(isinstance(w, ConcreteArray | np.ndarray | np.generic) for w in words):
            return f"PRNGKeyArray({self._first!r}, {self._second!r}, dtype={self.dtype})"
        data = np.stack([np.asarray(w) for w in words], -1)
        listed = np.array2string(data, separator=", ", prefix="PRNGKeyArray(")
        return f"PRNGKeyArray({listed}, shape={self.shape}, dtype={self.dtype})"


def _without_unknown(sizes: tuple[Any, ...], total: int) -> tuple[Any, ...]:
    """Replace one -1 by what is left of the total."""
    if sizes.count(-1) != 1:
        return sizes
    known = 1
    for size in sizes:
        known *= 1 if size == -1 else size
    return tuple([total // known if d == -1 and known else d for d in sizes])


_KEYS: Final = (GetAttrKey("first"), GetAttrKey("second"))

register_pytree_node(
    PRNGKeyArray,
    lambda keys: ((keys._first, keys._second), None),
    lambda _, words: PRNGKeyArray(*words),
    lambda keys: (zip(_KEYS, (keys._first, keys._second), strict=True), None),
)

KeyLike: TypeAlias = PRNGKeyArray | Array | np.ndarray[Any, Any]
"""What functions take as a key."""


def as_array(word: Any) -> Array:
    """Array of the words of keys, which may be NumPy's."""
    return word if isinstance(word, Array) else as_concrete(word)


def _unstack_program(keys: PRNGKeyArray) -> list[PRNGKeyArray]:
    rest = keys.shape[1:]
    return [
        PRNGKeyArray(*(lax.reshape(lax.slice_in_dim(w, i, i + 1), rest) for w in words(keys)))
        for i in range(keys.shape[0])
    ]


_unstack = library_jit(_unstack_program)


def words(key: Any) -> tuple[Any, Any]:
    """First and second words of keys, typed or raw, each of the shape of the keys."""
    if type(key) is PRNGKeyArray:
        return key._first, key._second
    last = aval_of(key).ndim - 1
    return lax.index_in_dim(key, 0, last, False), lax.index_in_dim(key, 1, last, False)


def data(key: Any) -> Any:
    """Words of keys, typed or raw, as one array `uint32[..., 2]`."""
    if type(key) is not PRNGKeyArray:
        return key
    last = key.ndim
    return lax.concatenate([lax.expand_dims(w, (last,)) for w in words(key)], last)


def like(key: Any, first: Any, second: Any) -> Any:
    """Keys of words: typed if `key` is, else raw."""
    keys = PRNGKeyArray(first, second)
    return keys if type(key) is PRNGKeyArray else data(keys)


def check_keys(key: Any, function: str) -> Any:
    """Return `key` if it is an array of keys, typed or raw.

    Args:
        key: What the caller gave.
        function: Name of the function, for the message.

    Raises:
        KeyTypeError: It is neither a typed key nor an array of pairs of uint32 words.
    """
    if type(key) is PRNGKeyArray:
        return key
    if isinstance(key, Array | np.ndarray):
        aval = aval_of(key)
        if aval.dtype == dtypes.uint32 and aval.shape[-1:] == (2,):
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
    shape = key.shape if type(key) is PRNGKeyArray else key.shape[:-1]
    if shape:
        raise KeyArrayError(
            f"{function}: key is an array of keys of shape {shape}, and one key is needed; map "
            f"the function over them (vmap), or choose one (keys[0])"
        )
    return key
