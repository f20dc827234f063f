"""NumPy evaluation of the counter-based generator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..primitives.random_bits import (
    BIT_DTYPES,
    KEY_PARITY,
    ROTATIONS,
    random_bits_p,
    threefry2x32_p,
)
from .rules import register_evaluation

NDArray = np.ndarray[Any, Any]

_WORD = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def _threefry2x32(key0: NDArray, key1: NDArray, x0: NDArray, x1: NDArray) -> list[Any]:
    shape = np.broadcast_shapes(key0.shape, key1.shape, x0.shape, x1.shape)
    # At least one dimension: NumPy warns of overflow in scalars, not in arrays.
    key0, key1, x0, x1 = (np.atleast_1d(v) for v in (key0, key1, x0, x1))
    keys = (key0, key1, key0 ^ key1 ^ np.uint32(KEY_PARITY))
    x0, x1 = x0 + keys[0], x1 + keys[1]
    for group in range(5):
        for rotation in ROTATIONS[group % 2]:
            x0 = x0 + x1
            x1 = (x1 << np.uint32(rotation)) | (x1 >> np.uint32(32 - rotation))
            x1 = x1 ^ x0
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + np.uint32(group + 1)
    return [np.broadcast_to(x0, shape or (1,)).reshape(shape), x1.reshape(shape)]


def _random_bits(key: NDArray, *, shape: tuple[int, ...], bit_width: int) -> Any:
    lead = key.shape[:-1]
    position = np.arange(math.prod(shape), dtype=np.uint64).reshape(shape)
    high, low = (position >> _WORD).astype(np.uint32), (position & _LOW).astype(np.uint32)
    full = (*lead, *shape)
    words = [key[..., i].reshape((*lead, *[1] * len(shape))) for i in range(2)]
    operands = [np.broadcast_to(v, full) for v in (*words, high, low)]
    bits0, bits1 = _threefry2x32(*operands)
    dtype = BIT_DTYPES[bit_width]
    if bit_width == 64:
        return (bits0.astype(dtype) << _WORD) | bits1.astype(dtype)
    return (bits0 ^ bits1).astype(dtype)


register_evaluation(threefry2x32_p, _threefry2x32)
register_evaluation(random_bits_p, _random_bits)
