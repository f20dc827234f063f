"""`x[index]` and `x.at[index]`: the way in from the operators of arrays.

Rows and ranges of rows, `x[i]` and `x[i:j]` in a loop, take a short way where they are evaluated:
one operation, with the positions as an operand, so that one compiled program serves all of them.
All other indices go to `index_reading`, and updates to `index_updates`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays.array import Array
from ..primitives.indexing import GatherDimensionNumbers, GatherScatterMode, gather_p
from ..settings.thread_context import context
from .reading import read
from .updates import IndexedUpdates

Shape = tuple[int, ...]


_INT32 = np.dtype(np.int32)
_INT32_MAX = 2**31 - 1


@lru_cache(maxsize=4096)
def _parameters(indexed: Shape, dropped: Shape, window: Shape) -> dict[str, Any]:
    """Parameters of the gather of one window of an array."""
    return {
        "dimension_numbers": GatherDimensionNumbers(
            tuple(range(len(window) - len(dropped))), dropped, indexed
        ),
        "slice_sizes": window,
        "indices_are_sorted": False,
        "unique_indices": True,
        "mode": GatherScatterMode.CLIP,
        "fill_value": None,
    }


def getitem(x: Array, index: Any) -> Array:
    """Return `x[index]`, for every index that NumPy takes.

    Integers must be in bounds; entries of index arrays that are not are clipped
    (`x.at[index].get(mode=...)` can do otherwise).

    Args:
        x: Array.
        index: Integers, slices, `None`, `...`, integer arrays, boolean masks, lists, or a tuple of
            them.

    Raises:
        IndexingError: The index does not fit the array.
        IndexTypeError: It is of a type that is no index.
        NonConcreteBooleanIndexError: It holds a mask that is being traced.
    """
    if context.trace is type(context).trace:
        out = _evaluate(x, index if type(index) is tuple else (index,))
        if out is not None:
            return out
    return read(x, index)


def _evaluate(x: Array, items: tuple[Any, ...]) -> Array | None:
    """Read one window, if the index holds integers and slices without a step alone."""
    shape = x.aval.shape
    if len(items) > len(shape):
        return None
    window = list(shape)
    starts: list[int] = []
    indexed: list[int] = []
    dropped: list[int] = []
    for dim, item in enumerate(items):
        n = shape[dim]
        kind = type(item)
        if kind is int:
            if not -n <= item < n <= _INT32_MAX:
                return None
            starts.append(item + n if item < 0 else item)
            window[dim] = 1
            indexed.append(dim)
            dropped.append(dim)
        elif kind is slice:
            start, stop = item.start, item.stop
            if (item.step is not None and item.step != 1) or n > _INT32_MAX:
                return None
            if not (type(start) is int or start is None) or not (type(stop) is int or stop is None):
                return None
            start, stop, _ = item.indices(n)
            if stop - start != n:
                starts.append(start if start < stop else 0)
                window[dim] = max(stop - start, 0)
                indexed.append(dim)
        else:
            return None
    if not starts:
        return x
    # A single number is kept on the device by a backend that is asked for it again.
    where = starts[0] if len(starts) == 1 else np.array(starts, _INT32)
    params = _parameters(tuple(indexed), tuple(dropped), tuple(window))
    return gather_p.bind(x, where, **params)  # type: ignore[no-any-return]  # bind is untyped


def updates_of(x: Array) -> IndexedUpdates:
    """Return the array's updates of parts, as in `x.at[index].set(value)`; also `get`, `add`, ….

    Each returns a new array and leaves this one as it is. See
    `axonym_core.indexing.updates.IndexedUpdate`.
    """
    return IndexedUpdates(x)


Array.__getitem__ = getitem  # type: ignore[method-assign]  # arrays know nothing of indexing
Array.at = property(updates_of)  # type: ignore[assignment, method-assign]
