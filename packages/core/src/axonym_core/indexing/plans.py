"""From a parsed index to the operands and dimension numbers of a gather or scatter.

A window of the array is read or written for each index vector. Slices are dimensions of the
window; integers and index arrays are components of the vectors, and so is the start of a slice that
does not begin at 0. The dimensions of index arrays come where NumPy puts them: in the place of the
first one if all integers and arrays of the index stand side by side, else in front.

Numbers that are known stay numbers as long as possible: in an evaluation they become one NumPy
vector, an operand, so that one compiled program serves all indices of one form; in a staged program
they become scalar literals, which the compiler sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from .. import lax
from ..arrays.array import Array
from ..errors import IndexingError
from ..lax.dynamic_slices import index_dtype, wrap_negative
from ..primitives.indexing import GatherScatterMode
from ..settings.thread_context import context
from ..types.avals import ShapedArray
from .parsing import Indices, NewAxis, ParsedIndex, Scalar, Slice

Shape = tuple[int, ...]


class Dimension(NamedTuple):
    """A dimension of the result of reading: one of index arrays, of the window, or a new one."""

    kind: Literal["batch", "window", "new"]
    size: int


class IndexPlan(NamedTuple):
    """What to read or write.

    Attributes:
        dims: Dimensions of the result of reading, in order.
        indices: Index vectors along the last dimension; None if there is no component.
        indexed: The array's dimension of each component.
        collapsed: The array's dimensions that the window has not.
        window: Size of the window in each of the array's dimensions.
        in_bounds: Whether no index is known to be, or may be, out of bounds.
        unique: Whether no element of the array is referred to twice.
    """

    dims: tuple[Dimension, ...]
    indices: Any
    indexed: Shape
    collapsed: Shape
    window: Shape
    in_bounds: bool
    unique: bool

    @property
    def shape(self) -> Shape:
        """Shape of the result of reading."""
        return tuple([d.size for d in self.dims])

    def refers_to_nothing(self, shape: Shape) -> bool:
        """Whether a dimension without elements is indexed, which only empty index arrays may do."""
        return any([shape[d] == 0 for d in self.collapsed])

    def positions(self, kind: str) -> Shape:
        """Positions of one kind of dimensions in the result, less the new ones."""
        dims = [d.kind for d in self.dims if d.kind != "new"]
        return tuple([i for i, k in enumerate(dims) if k == kind])


class _Component(NamedTuple):
    """A component of the index vectors, and the batch dimensions that its array has."""

    dim: int
    index: Any
    batch_dims: Shape


def evaluated() -> bool:
    """Whether operations are carried out now, and not staged into a program."""
    trace: Any = context.trace
    while (parent := getattr(trace, "parent", None)) is not None:
        trace = parent
    return trace is type(context).trace


def is_static(index: Any) -> bool:
    """Whether an index is known now, without waiting for a device."""
    return not isinstance(index, Array)


def broadcast_index_shapes(aval: ShapedArray, shapes: Sequence[Shape]) -> Shape:
    """Common shape of the index arrays of an index.

    Raises:
        IndexingError: They do not broadcast together.
    """
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise IndexingError(
            f"the index arrays of an index of {aval} have shapes "
            f"{', '.join(map(str, shapes))}, which do not broadcast together"
        ) from error


def plan(
    aval: ShapedArray, parsed: ParsedIndex, *, writing: bool, mode: GatherScatterMode
) -> IndexPlan:
    """Say what to gather or scatter.

    Args:
        aval: Type of the array (with the dimensions that `parsed` asks for).
        parsed: The index. When reading, it holds no slice with a step.
        writing: Whether it is for a scatter, for which slices with a step become index arrays.
        mode: What is out of bounds; known indices are clipped here.
    """
    entries = parsed.entries
    arrays = [e for e in entries if isinstance(e, Indices)]
    shared = broadcast_index_shapes(aval, [e.index.shape for e in arrays])
    window = list(aval.shape)
    collapsed: list[int] = []
    components: list[_Component] = []
    dims: list[Dimension] = []
    batch: list[int] = []
    start = 0  # number of the batch dimension in which the index arrays' dimensions begin

    def add_shared() -> None:
        nonlocal start
        start = len(batch)
        dims.extend([Dimension("batch", n) for n in shared])
        batch.extend(shared)

    first = next((e for e in entries if isinstance(e, Indices | Scalar)), None)
    if parsed.in_front:
        add_shared()
        first = None
    for entry in entries:
        if entry is first:
            add_shared()
        if isinstance(entry, NewAxis):
            dims.append(Dimension("new", 1))
        elif isinstance(entry, Slice):
            dim, begin, size, step = entry
            if step == 1:
                window[dim] = size
                dims.append(Dimension("window", size))
                if begin or (size != aval.shape[dim] and (writing or evaluated())):
                    components.append(_Component(dim, begin, ()))
            else:
                window[dim] = 1
                collapsed.append(dim)
                steps = np.arange(begin, begin + size * step, step)
                components.append(_Component(dim, steps, (len(batch),)))
                dims.append(Dimension("batch", size))
                batch.append(size)
        else:
            dim, index = entry
            window[dim] = 1
            collapsed.append(dim)
            components.append(_Component(dim, index, ()))
    components = [
        c._replace(batch_dims=_last(start + len(shared), c.index.ndim))
        if not c.batch_dims and not isinstance(c.index, int) and c.index.ndim
        else c
        for c in components
    ]
    indices, in_bounds = _index_vectors(aval, components, window, tuple(batch), mode)
    return IndexPlan(
        tuple(dims),
        indices,
        tuple([c.dim for c in components]),
        tuple(sorted(collapsed)),
        tuple(window),
        in_bounds,
        parsed.unique,
    )


def _last(end: int, count: int) -> Shape:
    return tuple(range(end - count, end))


def _index_vectors(
    aval: ShapedArray,
    components: Sequence[_Component],
    window: Sequence[int],
    batch: Shape,
    mode: GatherScatterMode,
) -> tuple[Any, bool]:
    """Stack components to vectors; also say whether all are known to be in bounds."""
    if not components:
        return None, True
    dtype = index_dtype(aval.shape, [c.index for c in components])
    staged = not evaluated()
    parts: list[Any] = []
    in_bounds = True
    for c in components:
        size = aval.shape[c.dim]
        last = size - window[c.dim]
        if not is_static(c.index):
            in_bounds = False
            parts.append(wrap_negative(c.index, size, dtype))
            continue
        index: Any = c.index
        if isinstance(index, np.ndarray):
            if index.dtype == np.uint64:
                index = np.minimum(index, np.uint64(size))
            index = index.astype(np.int64)
            index = np.where(index < 0, index + size, index)
        if mode != GatherScatterMode.FILL_OR_DROP:
            index = np.clip(index, 0, last)
        elif in_bounds:
            in_bounds = bool(np.all(index >= 0) and np.all(index <= last))
        parts.append(np.clip(index, -1, size).astype(dtype))
    if len(parts) == 1 and not batch:
        # Indices without dimensions are one vector; a number is a literal, or a kept scalar.
        return dtype.type(parts[0]) if is_static(parts[0]) else parts[0], in_bounds
    # A staged program takes a vector of known numbers as literals, an array of them as a constant.
    if (batch or not staged) and all([is_static(part) for part in parts]):
        aligned = [_aligned(part, c, batch) for part, c in zip(parts, components, strict=True)]
        vectors = np.stack(np.broadcast_arrays(*aligned), axis=-1)
        return np.broadcast_to(vectors, (*batch, len(parts))), in_bounds
    columns = []
    for part, c in zip(parts, components, strict=True):
        if is_static(part) and part.ndim == 0:
            part = part[()]  # a literal of a staged program
        columns.append(lax.broadcast_in_dim(part, (*batch, 1), c.batch_dims))
    return lax.concatenate(columns, len(batch)), in_bounds


def _aligned(part: np.ndarray[Any, Any], c: _Component, batch: Shape) -> np.ndarray[Any, Any]:
    """Give a component the dimensions of the batch, of size 1 where it lacks them."""
    shape = [1] * len(batch)
    for d, n in zip(c.batch_dims, part.shape, strict=True):
        shape[d] = n
    return part.reshape(shape)
