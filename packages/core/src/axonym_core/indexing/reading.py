"""Reading `x[index]`: static slices where the program is staged, else one gather."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import lax
from ..arrays.array import Array
from ..lax.indexing import as_fill_value
from ..primitives.indexing import GatherDimensionNumbers, GatherScatterMode, gather_p
from .parsing import Entry, Indices, NewAxis, Scalar, Slice, parse, with_arrays
from .plans import evaluated, is_static, plan


def read(
    x: Array,
    index: Any,
    *,
    mode: str | GatherScatterMode | None = None,
    fill_value: Any = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
) -> Array:
    """Return `x[index]`.

    Args:
        x: Array.
        index: Any index that NumPy takes.
        mode: What an index out of bounds means. By default an integer is refused and the entries
            of arrays are clipped.
        fill_value: What is read out of bounds with mode ``fill``.
        indices_are_sorted: A promise about index arrays.
        unique_indices: A promise about index arrays.
    """
    how = GatherScatterMode.CLIP if mode is None else GatherScatterMode.from_any(mode)
    parsed = parse(x.aval, with_arrays(index), checked=mode is None)
    if parsed.expanded:
        x = lax.expand_dims(x, parsed.expanded)
    entries = parsed.entries
    known = all(not isinstance(e, Indices) for e in entries) and all(
        [is_static(e.index) for e in entries if isinstance(e, Scalar)]
    )
    if known and mode is None and not evaluated():
        return _read_static(x, entries)
    if any([isinstance(e, Slice) and e.step != 1 for e in entries]):
        x = _box(x, [e for e in entries if isinstance(e, Slice) and e.step != 1])
        entries = tuple(
            [
                Slice(e.dim, 0, e.size, 1) if isinstance(e, Slice) and e.step != 1 else e
                for e in entries
            ]
        )
    what = plan(x.aval, parsed._replace(entries=entries), writing=False, mode=how)
    if what.refers_to_nothing(x.aval.shape):
        return lax.full(what.shape, 0, x.aval.dtype)
    out = x
    if what.indices is not None:
        out = gather_p.bind(
            x,
            what.indices,
            dimension_numbers=GatherDimensionNumbers(
                what.positions("window"), what.collapsed, what.indexed
            ),
            slice_sizes=what.window,
            indices_are_sorted=bool(indices_are_sorted),
            unique_indices=bool(unique_indices) or what.unique,
            mode=GatherScatterMode.CLIP if what.in_bounds else how,
            fill_value=as_fill_value(fill_value, x.aval),
        )
    return lax.expand_dims(out, [i for i, d in enumerate(what.dims) if d.kind == "new"])


def _read_static(x: Array, entries: Sequence[Entry]) -> Array:
    """Read with an index of known integers and slices alone: a box, without computed positions."""
    out = _box(x, [e for e in entries if isinstance(e, Slice | Scalar)])
    dropped = [e.dim for e in entries if isinstance(e, Scalar)]
    new = any([isinstance(e, NewAxis) for e in entries])
    if dropped and new:
        shape = [e.size if isinstance(e, Slice) else 1 for e in entries if not _drops(e)]
        return lax.reshape(out, tuple(shape))
    if dropped:
        return lax.squeeze(out, dropped)
    if new:
        return lax.expand_dims(out, [i for i, e in enumerate(entries) if isinstance(e, NewAxis)])
    return out


def _drops(entry: Entry) -> bool:
    return isinstance(entry, Scalar | Indices)


def _box(x: Array, entries: Sequence[Slice | Scalar]) -> Array:
    """Cut out what integers and slices select, with all dimensions kept."""
    shape = x.aval.shape
    start, limit, strides = [0] * len(shape), list(shape), [1] * len(shape)
    backwards = []
    for e in entries:
        if isinstance(e, Scalar):
            start[e.dim], limit[e.dim] = e.index, e.index + 1
            continue
        dim, first, size, step = e
        last = first + (size - 1) * step if size else first
        if step < 0:
            first, last, step = last, first, -step
            backwards.append(dim)
        start[dim], limit[dim], strides[dim] = first, last + 1 if size else first, step
    out = lax.slice(x, tuple(start), tuple(limit), tuple(strides))
    return lax.rev(out, backwards)
