"""What the primitives of `primitives/shape.py` mean, in NumPy's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives import shape as p
from .rules import register_evaluation

NDArray = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def _broadcast_in_dim(x: NDArray, *, shape: Shape, broadcast_dimensions: Shape) -> NDArray:
    aligned = [1] * len(shape)
    for d, n in zip(broadcast_dimensions, x.shape, strict=True):
        aligned[d] = n
    return np.broadcast_to(x.reshape(aligned), shape)


def _concatenate(*xs: NDArray, dimension: int) -> NDArray:
    return np.concatenate(xs, axis=dimension)


def _pad(x: NDArray, value: NDArray, *, padding_config: p.PaddingConfig) -> NDArray:
    shape = tuple(
        [p.padded_size(n, *config) for n, config in zip(x.shape, padding_config, strict=True)]
    )
    out = np.empty(shape, x.dtype)
    out[...] = value
    source, target = [], []
    for n, new, (low, _, interior) in zip(x.shape, shape, padding_config, strict=True):
        step = interior + 1
        # The elements k with 0 <= low + k * step < new: negative padding drops the others.
        first = max(0, -(low // step))
        last = max(first, min(n, (new - 1 - low) // step + 1))
        source.append(slice(first, last))
        start = low + first * step
        target.append(slice(start, start + (last - first) * step, step))
    if 0 not in shape and 0 not in x[tuple(source)].shape:
        out[tuple(target)] = x[tuple(source)]
    return out


def _slice(x: NDArray, *, start_indices: Shape, limit_indices: Shape, strides: Shape) -> NDArray:
    box: NDArray = x[tuple(map(slice, start_indices, limit_indices, strides))]
    return box


def _split(x: NDArray, *, sizes: Shape, axis: int) -> list[NDArray]:
    return list(np.split(x, np.cumsum(sizes)[:-1], axis)) if sizes else []


def _iota(*, dtype: np.dtype[Any], shape: Shape, dimension: int) -> NDArray:
    aligned = [1] * len(shape)
    aligned[dimension] = shape[dimension]
    with np.errstate(all="ignore"):
        count = np.arange(shape[dimension]).astype(dtype)
    return np.broadcast_to(count.reshape(aligned), shape)


register_evaluation(p.broadcast_in_dim_p, _broadcast_in_dim)
register_evaluation(p.reshape_p, lambda x, *, new_sizes: x.reshape(new_sizes))
register_evaluation(p.transpose_p, lambda x, *, permutation: x.transpose(permutation))
register_evaluation(p.squeeze_p, lambda x, *, dimensions: np.squeeze(x, dimensions))
register_evaluation(p.concatenate_p, _concatenate)
register_evaluation(p.pad_p, _pad)
register_evaluation(p.slice_p, _slice)
register_evaluation(p.split_p, _split)
register_evaluation(p.rev_p, lambda x, *, dimensions: np.flip(x, dimensions))
register_evaluation(p.iota_p, _iota)
register_evaluation(p.optimization_barrier_p, lambda *xs: list(xs))
