"""Random bits: the counter-based generator threefry2x32 with 20 rounds.

`threefry2x32` encrypts a pair of 32-bit counters with a pair of 32-bit key words (Salmon, Moraes,
Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011). It is a pure function: the
same key and counters give the same bits on every backend and device, in whatever order.

`random_bits` is the same for an array of bits: the element at row-major position `n` is made from
the counters `(n >> 32, n & 0xFFFFFFFF)`, so that a part of an array can be made without the rest.
32 bits are the exclusive or of the two words, 64 bits both words, fewer bits the lowest of 32.
"""

from __future__ import annotations

from typing import Any, Final

from ..errors import DTypeError, ShapeError
from ..programs.primitive import Primitive
from ..types import dtypes
from ..types.avals import ShapedArray

ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
"""By how many bits the second word is rotated in the four rounds of even and of odd groups."""

KEY_PARITY: Final = 0x1BD11BDA
"""The third key word is the exclusive or of this with the other two."""

BIT_DTYPES: Final[dict[int, Any]] = {
    8: dtypes.uint8,
    16: dtypes.uint16,
    32: dtypes.uint32,
    64: dtypes.uint64,
}
"""Dtype of random bits of each width."""

_NO_DERIVATIVE = "integers have no derivative"


def check_key(name: str, key: ShapedArray) -> None:
    """Check that an aval is one of keys: `uint32[..., 2]`.

    Raises:
        DTypeError: It is not of dtype uint32.
        ShapeError: Its last dimension is not of size 2.
    """
    if key.dtype != dtypes.uint32:
        raise DTypeError(
            f"{name}: the key is {key}; its data are pairs of uint32 words: make it from a seed "
            "with threefry_seed"
        )
    if key.ndim == 0 or key.shape[-1] != 2:
        raise ShapeError(
            f"{name}: the key is {key}; the last dimension of its data has size 2: make it from a "
            "seed with threefry_seed"
        )


def _threefry2x32_shape(*operands: ShapedArray) -> tuple[ShapedArray, ShapedArray]:
    shape: tuple[int, ...] = ()
    for x in operands:
        if x.dtype != dtypes.uint32:
            raise DTypeError(
                f"threefry2x32: operands are {', '.join(map(str, operands))}; all have to be of "
                "dtype uint32: convert them"
            )
        if x.shape and shape and x.shape != shape:
            raise ShapeError(
                f"threefry2x32: operands are {', '.join(map(str, operands))}; they have to be of "
                "one shape, or scalars: broadcast them"
            )
        shape = shape or x.shape
    out = ShapedArray(shape, dtypes.uint32)
    return out, out


def _random_bits_shape(key: ShapedArray, *, shape: tuple[int, ...], bit_width: int) -> ShapedArray:
    check_key("random_bits", key)
    dtype = BIT_DTYPES.get(bit_width)
    if dtype is None:
        raise DTypeError(
            f"random_bits: bit_width={bit_width} is not the width of an unsigned integer dtype; "
            "give 8, 16, 32 or 64"
        )
    return ShapedArray((*key.shape[:-1], *shape), dtype)


threefry2x32_p = Primitive(
    "threefry2x32",
    _threefry2x32_shape,
    multiple_results=True,
    absent={"transpose": _NO_DERIVATIVE},
)
random_bits_p = Primitive("random_bits", _random_bits_shape, absent={"transpose": _NO_DERIVATIVE})
