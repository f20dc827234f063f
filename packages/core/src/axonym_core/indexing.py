"""`x[index]` and `x.at[index]`: the way in from the operators of arrays.

The commonest index by far is one integer, in a loop over the rows of an array or a tuple of
parameters, so it takes a short way: evaluated, it is one operation with the index as an operand, so
that one compiled program serves every row; staged, it is a static slice. All other indices go to
`index_reading`, and updates to `index_updates`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .array import Array, register_method
from .context import context
from .primitives.indexing import GatherDimensionNumbers, GatherScatterMode, gather_p

if TYPE_CHECKING:
    from .index_updates import IndexedUpdates

_INT32 = np.dtype(np.int32)


@lru_cache(maxsize=4096)
def _row_parameters(shape: tuple[int, ...]) -> dict[str, Any]:
    """Parameters of the gather of one row of an array."""
    return {
        "dimension_numbers": GatherDimensionNumbers(tuple(range(len(shape) - 1)), (0,), (0,)),
        "slice_sizes": (1, *shape[1:]),
        "indices_are_sorted": False,
        "unique_indices": True,
        "mode": GatherScatterMode.CLIP,
        "fill_value": None,
    }


def getitem(x: Array, index: Any) -> Array:
    """Return `x[index]`, for every index that NumPy takes, save lists.

    Integers must be in bounds; entries of index arrays that are not are clipped
    (`x.at[index].get(mode=...)` can do otherwise).

    Args:
        x: Array.
        index: Integers, slices, `None`, `...`, integer arrays, boolean masks, or a tuple of them.

    Raises:
        IndexingError: The index does not fit the array.
        IndexTypeError: It is of a type that is no index.
        NonConcreteBooleanIndexError: It holds a mask that is being traced.
    """
    if type(index) is int and context.trace is type(context).trace:
        shape = x.aval.shape
        if shape and -shape[0] <= index < shape[0] < 2**31:
            if index < 0:
                index += shape[0]
            return gather_p.bind(  # type: ignore[no-any-return]  # bind is untyped
                x, np.array((index,), _INT32), **_row_parameters(shape)
            )
    from .index_reading import read  # lax, on which it rests, imports arrays

    return read(x, index)


def updates_of(x: Array) -> IndexedUpdates:
    """Updates of parts of the array: `x.at[index].set(value)`, and `get`, `add`, `multiply`, ….

    Each returns a new array and leaves this one as it is. See
    `axonym_core.index_updates.IndexedUpdate`.
    """
    from .index_updates import IndexedUpdates  # as above

    return IndexedUpdates(x)


register_method("at", property(updates_of))
