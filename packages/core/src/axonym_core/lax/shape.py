"""Reshaping, repeating, cutting and making arrays, without computing with their elements."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from ..arrays.arguments import as_dimension, as_dimensions, as_ints
from ..arrays.array import Array
from ..errors import ShapeError
from ..operators.promotion import as_array, is_number, match_scalars, settled
from ..primitives.shape import (
    broadcast_in_dim_p,
    concatenate_p,
    optimization_barrier_p,
    pad_p,
    reshape_p,
    rev_p,
    slice_p,
    split_p,
    squeeze_p,
    transpose_p,
)
from ..trees.operations import tree_flatten, tree_unflatten
from ..types.avals import aval_of
from .creation import broadcasted_iota as broadcasted_iota
from .creation import full as full
from .creation import full_like as full_like
from .creation import iota as iota
from .creation import zeros_like_array as zeros_like_array

__all__ = [
    "broadcast",
    "broadcast_in_dim",
    "broadcast_shapes",
    "broadcasted_iota",
    "collapse",
    "concatenate",
    "expand_dims",
    "full",
    "full_like",
    "index_in_dim",
    "iota",
    "optimization_barrier",
    "pad",
    "reshape",
    "rev",
    "slice",
    "slice_in_dim",
    "split",
    "squeeze",
    "transpose",
    "zeros_like_array",
]


def broadcast_in_dim(
    operand: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int]
) -> Array:
    """Repeat an array along new dimensions and along dimensions of size 1.

    Args:
        operand: Array of any dtype.
        shape: Shape of the result.
        broadcast_dimensions: For each dimension of `operand`, the dimension of the result that it
            becomes, in increasing order.

    Returns:
        Array of shape `shape` and the operand's dtype.

    Raises:
        ShapeError: A dimension does not exist, or a size other than 1 would have to change.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.broadcast_in_dim(np.array([1, 2]), (2, 3), (0,))
        Array([[1, 1, 1],
               [2, 2, 2]], dtype=int64)
    """
    shape = as_ints(shape, "broadcast_in_dim", "shape")
    dims = as_ints(broadcast_dimensions, "broadcast_in_dim", "broadcast_dimensions")
    operand = settled(operand)
    if (
        isinstance(operand, Array)
        and operand.aval.shape == shape
        and dims == tuple(range(len(shape)))
    ):
        return operand
    return broadcast_in_dim_p.bind(operand, shape=shape, broadcast_dimensions=dims)


def broadcast(operand: Any, sizes: Sequence[int]) -> Array:
    """Repeat an array along new leading dimensions.

    Args:
        operand: Array of any dtype.
        sizes: Sizes of the new dimensions.

    Returns:
        Array of shape `(*sizes, *operand.shape)`.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.broadcast(np.array([1, 2]), (3,)).shape
        (3, 2)
    """
    sizes = as_ints(sizes, "broadcast", "sizes")
    old = aval_of(operand).shape
    dims = tuple(range(len(sizes), len(sizes) + len(old)))
    return broadcast_in_dim(operand, (*sizes, *old), dims)


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Shape to which arrays of the given shapes broadcast by NumPy's rule.

    Args:
        *shapes: Any number of shapes.

    Returns:
        The common shape.

    Raises:
        ShapeError: Two sizes other than 1 differ in one dimension.

    Example:
        >>> from axonym_core import lax
        >>> lax.broadcast_shapes((3, 1), (4,))
        (3, 4)
    """
    known = [as_ints(s, "broadcast_shapes", f"shapes[{i}]") for i, s in enumerate(shapes)]
    if not known:
        return ()
    first = known[0]
    if all(s == first for s in known):
        return first
    ndim = max(map(len, known))
    out = [1] * ndim
    for s in known:
        for i, n in enumerate(s, ndim - len(s)):
            if n != 1:
                if out[i] not in (1, n):
                    raise ShapeError(
                        f"shapes {', '.join(map(str, known))} do not broadcast together: sizes "
                        f"{out[i]} and {n} in dimension {i - ndim} differ and neither is 1"
                    )
                out[i] = n
    return tuple(out)


def reshape(
    operand: Any, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None
) -> Array:
    """Give an array another shape with the same number of elements, in row-major order.

    Args:
        operand: Array of any dtype.
        new_sizes: The new shape.
        dimensions: Order in which to read the dimensions of `operand`; all in turn by default.

    Returns:
        Array of shape `new_sizes`.

    Raises:
        ShapeError: The number of elements would change.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.reshape(np.arange(6), (2, 3))
        Array([[0, 1, 2],
               [3, 4, 5]], dtype=int64)
    """
    new_sizes = as_ints(new_sizes, "reshape", "new_sizes")
    operand = settled(operand) if dimensions is None else transpose(operand, dimensions)
    if isinstance(operand, Array) and operand.aval.shape == new_sizes:
        return operand
    return reshape_p.bind(operand, new_sizes=new_sizes)


def transpose(operand: Any, permutation: Sequence[int]) -> Array:
    """Permute the dimensions of an array.

    Args:
        operand: Array of any dtype.
        permutation: For each dimension of the result, the dimension of `operand` that it is.

    Returns:
        Array whose dimension `k` is dimension `permutation[k]` of `operand`.

    Raises:
        ShapeError: `permutation` does not name each dimension once.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.transpose(np.zeros((2, 3)), (1, 0)).shape
        (3, 2)
    """
    permutation = as_ints(permutation, "transpose", "permutation")
    operand = settled(operand)
    if isinstance(operand, Array) and permutation == tuple(range(operand.aval.ndim)):
        return operand
    return transpose_p.bind(operand, permutation=permutation)


def squeeze(array: Any, dimensions: Sequence[int]) -> Array:
    """Drop dimensions of size 1.

    Args:
        array: Array of any dtype.
        dimensions: Which dimensions; negative ones count from the end.

    Returns:
        Array without those dimensions.

    Raises:
        ShapeError: A dimension does not exist or is not of size 1.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.squeeze(np.zeros((2, 1, 3)), (1,)).shape
        (2, 3)
    """
    dims = as_dimensions(dimensions, aval_of(array).ndim, "squeeze", "dimensions")
    if not dims:
        return as_array(array)
    return squeeze_p.bind(array, dimensions=tuple(sorted(dims)))


def expand_dims(array: Any, dimensions: Sequence[int]) -> Array:
    """Insert dimensions of size 1.

    Args:
        array: Array of any dtype.
        dimensions: Where the new dimensions lie in the result; negative ones count from its end.

    Returns:
        Array with `len(dimensions)` more dimensions.

    Raises:
        ShapeError: The result has no such dimension, or one is named twice.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.expand_dims(np.zeros((2, 3)), (0, -1)).shape
        (1, 2, 3, 1)
    """
    wanted = as_ints(dimensions, "expand_dims", "dimensions")
    if not wanted:
        return as_array(array)
    old = aval_of(array).shape
    ndim = len(old) + len(wanted)
    new = as_dimensions(wanted, ndim, "expand_dims", "dimensions")
    kept = tuple([d for d in range(ndim) if d not in new])
    shape = [1] * ndim
    for d, n in zip(kept, old, strict=True):
        shape[d] = n
    return broadcast_in_dim(array, tuple(shape), kept)


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """Merge the dimensions from `start_dimension` up to, not including, `stop_dimension` into one.

    Args:
        operand: Array of any dtype.
        start_dimension: First dimension to merge; negative ones count from the end.
        stop_dimension: The one after the last; by default all to the end are merged.

    Returns:
        Array with one dimension in the place of those merged.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.collapse(np.zeros((2, 3, 4, 5)), 1, 3).shape
        (2, 12, 5)
    """
    shape = aval_of(operand).shape
    lo, hi, _ = builtins.slice(start_dimension, stop_dimension).indices(len(shape))
    if hi <= lo:
        raise ShapeError(
            f"collapse: start_dimension={start_dimension} and stop_dimension={stop_dimension} "
            f"select no dimension of an array of shape {shape}"
        )
    merged = 1
    for n in shape[lo:hi]:
        merged *= n
    return reshape(operand, (*shape[:lo], merged, *shape[hi:]))


def concatenate(operands: Sequence[Any], dimension: int) -> Array:
    """Join arrays along a dimension.

    Args:
        operands: At least one array; all of one dtype and of the same shape, save in `dimension`.
        dimension: Dimension along which to join; negative ones count from the end.

    Returns:
        The joined array.

    Raises:
        ShapeError: There is no operand, or another dimension differs.
        DTypeError: The dtypes differ.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.concatenate([np.array([1, 2]), np.array([3])], 0)
        Array([1, 2, 3], dtype=int64)
    """
    if not operands:
        raise ShapeError("concatenate: operands is empty; give at least one array")
    dimension = as_dimension(dimension, aval_of(operands[0]).ndim, "concatenate", "dimension")
    if len(operands) == 1 and isinstance(operands[0], Array):
        return operands[0]
    return concatenate_p.bind(*operands, dimension=dimension)


def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Array:
    """Add elements around and between those of an array, or take some away.

    Args:
        operand: Array of any dtype.
        padding_value: Scalar of the same dtype.
        padding_config: For each dimension `(low, high, interior)`: how many elements are added
            before the first, after the last and between each two. The first two may be negative:
            that many elements are removed.

    Returns:
        The padded array.

    Raises:
        ShapeError: There is not one entry per dimension, or more is removed than there is.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.pad(np.array([1.0, 2.0]), 0.0, [(1, 0, 2)])
        Array([0., 1., 0., 0., 2.], dtype=float64)
    """
    config = tuple([as_ints(c, "pad", "padding_config") for c in padding_config])
    for entry in config:
        if len(entry) != 3:
            raise ShapeError(
                f"pad: padding_config={padding_config} must hold one (low, high, interior) for "
                f"each dimension, got {entry}"
            )
    aval = aval_of(operand)
    if is_number(padding_value) or is_number(operand):
        operand, padding_value = match_scalars("pad", operand, padding_value)
    if isinstance(operand, Array) and len(config) == aval.ndim and not any(map(any, config)):
        return operand
    return pad_p.bind(operand, padding_value, padding_config=config)


def slice(
    operand: Any,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Array:
    """Cut a box out of an array.

    Args:
        operand: Array of any dtype.
        start_indices: First index in each dimension.
        limit_indices: Index after the last, in each dimension.
        strides: Step in each dimension, 1 or more; all 1 by default.

    Returns:
        The elements in the box.

    Raises:
        ShapeError: Not `0 <= start <= limit <= size` in some dimension, or a stride below 1.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.slice(np.arange(10), (2,), (9,), (3,))
        Array([2, 5, 8], dtype=int64)
    """
    start = as_ints(start_indices, "slice", "start_indices")
    limit = as_ints(limit_indices, "slice", "limit_indices")
    steps = (1,) * len(start) if strides is None else as_ints(strides, "slice", "strides")
    operand = settled(operand)
    if (
        isinstance(operand, Array)
        and limit == operand.aval.shape
        and start == (0,) * len(limit)
        and steps == (1,) * len(limit)
    ):
        return operand
    return slice_p.bind(operand, start_indices=start, limit_indices=limit, strides=steps)


def slice_in_dim(
    operand: Any,
    start_index: int | None,
    limit_index: int | None,
    stride: int = 1,
    axis: int = 0,
) -> Array:
    """Cut along one dimension, with Python's rules for negative and missing limits.

    Args:
        operand: Array of any dtype.
        start_index: First index; the first of all by default.
        limit_index: Index after the last; all to the end by default.
        stride: Step, 1 or more.
        axis: Which dimension.

    Returns:
        The elements with `start_index <= index < limit_index` along `axis`.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.slice_in_dim(np.arange(6).reshape(2, 3), 1, None, axis=1)
        Array([[1, 2],
               [4, 5]], dtype=int64)
    """
    shape = aval_of(operand).shape
    axis = as_dimension(axis, len(shape), "slice_in_dim", "axis")
    start, limit, _ = builtins.slice(start_index, limit_index).indices(shape[axis])
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis], limits[axis], strides[axis] = start, max(start, limit), stride
    return slice(operand, tuple(starts), tuple(limits), tuple(strides))


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """Take one index along one dimension.

    Args:
        operand: Array of any dtype.
        index: Which index; negative ones count from the end.
        axis: Which dimension.
        keepdims: Whether the dimension stays, with size 1.

    Returns:
        The elements at that index.

    Raises:
        ShapeError: The index is out of bounds.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.index_in_dim(np.arange(6).reshape(2, 3), -1, keepdims=False)
        Array([3, 4, 5], dtype=int64)
    """
    shape = aval_of(operand).shape
    axis = as_dimension(axis, len(shape), "index_in_dim", "axis")
    (i,) = as_ints(index, "index_in_dim", "index")
    if not -shape[axis] <= i < shape[axis]:
        raise ShapeError(
            f"index_in_dim: index={i} is out of bounds for dimension {axis} of size {shape[axis]}"
        )
    i %= shape[axis]
    out = slice_in_dim(operand, i, i + 1, axis=axis)
    return out if keepdims else squeeze(out, (axis,))


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """Cut an array into parts along a dimension.

    Args:
        operand: Array of any dtype.
        sizes: Sizes of the parts; they add up to the dimension's size.
        axis: Which dimension.

    Returns:
        One array for each entry of `sizes`.

    Raises:
        ShapeError: The sizes do not add up.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.split(np.arange(5), (2, 3))
        [Array([0, 1], dtype=int64), Array([2, 3, 4], dtype=int64)]
    """
    sizes = as_ints(sizes, "split", "sizes")
    axis = as_dimension(axis, aval_of(operand).ndim, "split", "axis")
    return split_p.bind(operand, sizes=sizes, axis=axis)


def rev(operand: Any, dimensions: Sequence[int]) -> Array:
    """Reverse the order of elements along dimensions.

    Args:
        operand: Array of any dtype.
        dimensions: Which dimensions; negative ones count from the end.

    Returns:
        Array of the same shape.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.rev(np.array([1, 2, 3]), (0,))
        Array([3, 2, 1], dtype=int64)
    """
    dims = as_dimensions(dimensions, aval_of(operand).ndim, "rev", "dimensions")
    return rev_p.bind(operand, dimensions=dims) if dims else as_array(operand)


def optimization_barrier(operand: Any) -> Any:
    """Return the values unchanged, through a wall that compiler optimisations do not cross.

    Args:
        operand: Tree of arrays.

    Returns:
        The same tree. No computation is moved from one side of the wall to the other, or fused
        across it.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.optimization_barrier((np.array([1]), np.array([2])))
        (Array([1], dtype=int64), Array([2], dtype=int64))
    """
    leaves, tree = tree_flatten(operand)
    leaves = [settled(x) for x in leaves]
    return tree_unflatten(tree, optimization_barrier_p.bind(*leaves) if leaves else leaves)
