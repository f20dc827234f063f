"""What an index means: from `x[index]` to one entry for each thing that it says.

An index is a tuple of integers, slices, `None`, `...`, integer arrays and boolean masks, or one of
them alone; a list stands for an array. `parse` checks it against a shape and returns it in a form
that reading and writing share: integers and slices are counted from the front, masks have become
integer arrays, missing slices are filled in. Everything that can be known without the numbers of a
traced value is checked here.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.array import Array, ConcreteArray
from ..errors import IndexingError, IndexTypeError, NonConcreteBooleanIndexError
from ..types import dtypes
from ..types.avals import ShapedArray


class NewAxis(NamedTuple):
    """`None`: a new dimension of size 1."""


class Slice(NamedTuple):
    """A range of indices of a dimension: `size` of them from `start`, in steps of `step`."""

    dim: int
    start: int
    size: int
    step: int


class Scalar(NamedTuple):
    """One index of a dimension: an integer counted from the front, or a 0-d array as given."""

    dim: int
    index: Any


class Indices(NamedTuple):
    """An array of indices of a dimension, as it was given; the result has its dimensions."""

    dim: int
    index: Any


Entry = NewAxis | Slice | Scalar | Indices


class ParsedIndex(NamedTuple):
    """An index, checked against a shape.

    Attributes:
        entries: What it says, in order; every dimension of the array occurs once.
        expanded: Dimensions of size 1 that the array must be given first (for 0-d masks).
        in_front: Whether dimensions of index arrays come in front of all others, for integers and
            index arrays do not stand side by side.
        unique: Whether it cannot refer to an element twice: it holds no index array, or those of
            one mask.
    """

    entries: tuple[Entry, ...]
    expanded: tuple[int, ...]
    in_front: bool
    unique: bool


def with_arrays(index: Any) -> Any:
    """The index with NumPy arrays in the place of lists, and in a tuple of tuples, as NumPy does.

    Raises:
        IndexTypeError: A list is ragged, or holds traced values.
    """
    if isinstance(index, list):
        return _array_of(index)
    if isinstance(index, tuple) and any([isinstance(item, list | tuple) for item in index]):
        return tuple([_array_of(i) if isinstance(i, list | tuple) else i for i in index])
    return index


def _array_of(items: Sequence[Any]) -> np.ndarray[Any, Any]:
    if any([isinstance(item, Array) and not isinstance(item, ConcreteArray) for item in items]):
        raise IndexTypeError(
            f"an index is the {type(items).__name__} {items!r}, which holds traced values; make it "
            "an array, x[axonym.numpy.stack([i, j])]"
        )
    try:
        out = np.asarray(items)
    except ValueError as error:
        raise IndexTypeError(
            f"an index is the {type(items).__name__} {items!r}, which is no array: its rows must "
            "have one length"
        ) from error
    return out if out.size else out.astype(np.int64)


def is_mask(index: Any) -> bool:
    """Whether an index is a truth value or an array of them."""
    return isinstance(index, bool | np.bool_) or (
        isinstance(index, Array | np.ndarray) and index.dtype == np.bool_
    )


def parse(
    aval: ShapedArray, index: Any, *, checked: bool = True, dropping: bool = False
) -> ParsedIndex:
    """Say what an index of an array means.

    Args:
        aval: Type of the array.
        index: The index.
        checked: Whether integers must be in bounds; if not, those that are not become arrays.
        dropping: Whether an index array of a dimension without elements will do nothing.

    Raises:
        IndexingError: It does not fit the array.
        IndexTypeError: It is of a type that is no index.
        NonConcreteBooleanIndexError: It holds a traced mask.
    """
    items = _fill(aval, index if isinstance(index, tuple) else (index,))
    shape = aval.shape
    entries: list[Entry] = []
    expanded: list[int] = []
    arrays = 0
    advanced: list[int] = []  # places of integers and index arrays among the items
    dim = 0  # in the array's own shape
    for place, item in enumerate(items):
        at = dim + len(expanded)
        if item is Ellipsis:
            continue
        if item is None:
            entries.append(NewAxis())
        elif isinstance(item, slice):
            entries.append(_slice(aval, at, shape[dim], item))
            dim += 1
        elif is_mask(item):
            arrays += 1
            advanced.append(place)
            mask = _concrete_mask(aval, item)
            if mask.ndim == 0:
                entries.append(Indices(at, np.zeros(int(mask), np.int64)))
                expanded.append(at)
                continue
            covered = shape[dim : dim + mask.ndim]
            if mask.shape != covered:
                raise IndexingError(
                    f"a boolean mask of shape {mask.shape} does not fit dimensions {dim} to "
                    f"{dim + mask.ndim - 1} of {aval}, which have sizes {covered}; it must have "
                    "the sizes of the dimensions that it selects from"
                )
            entries += [Indices(at + i, where) for i, where in enumerate(np.nonzero(mask))]
            dim += mask.ndim
        else:
            entry = _integers(aval, at, dim, item, checked, dropping)
            if isinstance(entry, Indices):
                arrays += 2
            advanced.append(place)
            entries.append(entry)
            dim += 1
    scattered = arrays > 0 and advanced[-1] - advanced[0] >= len(advanced)
    return ParsedIndex(tuple(entries), tuple(expanded), scattered, arrays < 2)


def _consumed(item: Any) -> int:
    """How many dimensions an item of an index refers to."""
    if item is None or item is Ellipsis:
        return 0
    return (
        int(item.ndim)
        if is_mask(item) and isinstance(item, Array | np.ndarray)
        else (0 if is_mask(item) else 1)
    )


def _fill(aval: ShapedArray, items: Sequence[Any]) -> list[Any]:
    """Put slices of whole dimensions behind `...`, or at the end, for those that are missing.

    The `...` stays: even where it stands for no dimension, it separates what is beside it.
    """
    used = sum([_consumed(item) for item in items])
    if used > aval.ndim:
        raise IndexingError(
            f"too many indices: {used} for {aval}, which has {aval.ndim} dimensions; index a "
            "dimension at most once"
        )
    whole = [slice(None)] * (aval.ndim - used)
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexingError("an index may hold one ellipsis ('...'), got more; write ':' for some")
    if not dots:
        return [*items, *whole]
    return [*items[: dots[0] + 1], *whole, *items[dots[0] + 1 :]]


def _slice(aval: ShapedArray, at: int, size: int, item: slice) -> Slice:
    for part in (item.start, item.stop, item.step):
        if isinstance(part, Array) and not isinstance(part, ConcreteArray):
            raise IndexingError(
                f"a slice of {aval} has the traced value {part} as a limit or step, so that the "
                "result has no fixed shape; use lax.dynamic_slice_in_dim(x, start, size, axis), "
                "or make the limit static"
            )
    try:
        start, stop, step = item.indices(size)
    except TypeError as error:
        raise IndexTypeError(
            f"limits and step of a slice must be integers or None, got {item}"
        ) from error
    except ValueError as error:
        raise IndexingError(f"the step of a slice must not be zero, got {item}") from error
    count = len(range(start, stop, step))
    return Slice(at, start if count else 0, count, step if count > 1 else 1)


def _concrete_mask(aval: ShapedArray, mask: Any) -> np.ndarray[Any, Any]:
    if isinstance(mask, Array) and not isinstance(mask, ConcreteArray):
        tracer: Any = mask  # every array that is not concrete is one
        raise NonConcreteBooleanIndexError(
            f"{aval} was indexed with a traced boolean mask of type {mask.aval}: the result has as "
            "many elements as the mask has true values, which is not known while tracing. "
            f"{tracer.provenance()}Keep the shape: select with axonym.numpy.where(mask, x, other), "
            "reduce with where=mask, or write with x.at[mask].set(scalar)"
        )
    return np.asarray(mask)


def _integers(
    aval: ShapedArray, at: int, dim: int, item: Any, checked: bool, dropping: bool
) -> Scalar | Indices:
    if isinstance(item, np.ndarray | np.generic | Array):
        if not dtypes.is_integer(item.dtype):
            raise IndexTypeError(
                f"an index of {aval} must hold integers or booleans, got an array of dtype "
                f"{item.dtype}; convert it with astype(int)"
            )
        if isinstance(item, Array) or item.ndim:
            if aval.shape[dim] == 0 and item.size and not dropping:
                raise IndexingError(
                    f"an index of shape {item.shape} for dimension {dim} of {aval}, which has size "
                    "0: every index is out of bounds"
                )
            return Indices(at, item) if item.ndim else Scalar(at, item)
    try:
        i = operator.index(item)
    except TypeError as error:
        raise IndexTypeError(
            f"an index of {aval} must be an integer, a slice, None, ... or an array of integers "
            f"or booleans, got {item!r} of type {type(item).__name__}"
        ) from error
    size = aval.shape[dim]
    if -size <= i < size:
        return Scalar(at, i + size if i < 0 else i)
    if checked or size == 0:
        raise IndexingError(
            f"index {i} is out of bounds for dimension {dim} of {aval}, which has size {size}"
        )
    # What is out of bounds is for the mode to say.
    return Scalar(at, max(min(i + size if i < 0 else i, size), -1))
