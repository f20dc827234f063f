"""Padding: more elements at the edges of an array.

Every mode but `constant` and `empty` repeats elements of the array. Which ones is known from the
shape: the positions along a dimension fall into few runs of neighbours, so the result is joined
from slices, reversed slices and repeated edges, and its derivative needs no scatter.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.errors import ArgumentTypeError, ShapeError
from axonym_core.types import aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_of, choice, convert, exact
from ..errors import ArgumentError
from ..reductions import elementary
from ..statistics import moments

__all__ = ["pad"]

_REPEATING = ("edge", "reflect", "symmetric", "wrap")
_STATISTICAL = {"maximum": "max", "minimum": "min", "mean": "mean"}

Widths = tuple[tuple[int, int], ...]


def _pairs(name: str, argument: str, given: Any, ndim: int) -> list[list[Any]]:
    """One pair for each dimension, from one number, one pair, or all of them."""
    host = np.asarray(given, dtype=object) if not isinstance(given, np.ndarray) else given
    try:
        spread = np.broadcast_to(host, (ndim, 2))
    except ValueError:
        raise ShapeError(
            f"{name}: {argument}={given!r} does not fit {ndim} dimensions; give a number, a pair, "
            "or a pair for each dimension"
        ) from None
    return [list(pair) for pair in spread]


def _widths(pad_width: Any, ndim: int) -> Widths:
    if isinstance(pad_width, dict):
        by_dimension = {d % ndim if ndim else d: w for d, w in pad_width.items()}
        pad_width = [by_dimension.get(d, 0) for d in range(ndim)]
        pad_width = [w if isinstance(w, tuple | list) else (w, w) for w in pad_width]
    widths = []
    for pair in _pairs("pad", "pad_width", pad_width, ndim):
        for w in pair:
            if not isinstance(w, int | np.integer) or isinstance(w, bool):
                raise ArgumentTypeError(
                    f"pad: pad_width={pad_width!r} must hold integers, got {w!r}"
                )
            if w < 0:
                raise ArgumentError(
                    f"pad: pad_width={pad_width} holds the negative width {w}; slice to make an "
                    "array smaller, or use lax.pad"
                )
        widths.append((int(pair[0]), int(pair[1])))
    return tuple(widths)


def _runs(positions: np.ndarray[Any, Any]) -> Iterator[tuple[int, int, int]]:
    """Split positions into runs `(first, step, length)` with steps 0, 1 or -1."""
    start, n = 0, len(positions)
    steps = np.diff(positions)
    while start < n:
        step = int(steps[start]) if start < n - 1 else 0
        if step not in (0, 1, -1):
            step, end = 0, start + 1
        else:
            changes = np.flatnonzero(steps[start:] != step)
            end = start + int(changes[0]) + 1 if changes.size else n
        yield int(positions[start]), step, end - start
        start = end


@composite("widths", "mode", "reflect_type")
def _repeating(a: Any, *, widths: Widths, mode: str, reflect_type: str) -> Array:
    for axis, width in enumerate(widths):
        if width == (0, 0):
            continue
        n = a.shape[axis]
        options = {"reflect_type": "even"} if mode in ("reflect", "symmetric") else {}
        positions = np.pad(np.arange(n), width, mode, **options)  # type: ignore[call-overload]  # the mode is checked
        parts = []
        for first, step, length in _runs(positions):
            if step == 0:
                part = lax.index_in_dim(a, first, axis)
                shape = list(a.shape)
                shape[axis] = length
                part = lax.broadcast_in_dim(part, tuple(shape), tuple(range(a.ndim)))
            else:
                low = first if step == 1 else first - length + 1
                part = lax.slice_in_dim(a, low, low + length, axis=axis)
                part = part if step == 1 else lax.rev(part, (axis,))
            parts.append(part)
        joined = _join(parts, axis)
        a = _odd(a, joined, width, mode, axis) if reflect_type == "odd" else joined
    return a


def _join(parts: list[Any], axis: int) -> Any:
    return parts[0] if len(parts) == 1 else lax.concatenate(parts, axis)


def _odd(a: Any, mirrored: Any, width: tuple[int, int], mode: str, axis: int) -> Any:
    """Mirror values too: twice the edge less the mirrored elements, at each further edge again.

    After two mirrors the array begins anew, moved by twice the difference of its edges.
    """
    n = a.shape[axis]
    half = max(n - 1, 1) if mode == "reflect" else n
    periods, place = np.divmod(np.arange(-width[0], n + width[1]), 2 * half)
    if n == 1:
        periods, place = 0 * periods, 0 * place
    back = place > half if mode == "reflect" else place >= half
    low, high = [lax.index_in_dim(a, i, axis) for i in (0, n - 1)]

    def times(factors: Any, x: Any) -> Any:
        factors = lax.broadcast_in_dim(factors.astype(a.dtype), mirrored.shape, (axis,))
        spread = lax.broadcast_in_dim(x, mirrored.shape, tuple(range(a.ndim)))
        return lax.mul_no_nan(factors, spread)

    edges = lax.add(times(-2 * periods, low), times(2 * (periods + back), high))
    return lax.add(edges, times(1 - 2 * back, mirrored))


@composite("widths", "name")
def _statistical(a: Any, *, widths: Widths, name: str) -> Array:
    reductions: dict[str, Any] = {
        "max": elementary.max,
        "min": elementary.min,
        "mean": moments.mean,
    }
    reduce = reductions[name]
    for axis, (low, high) in enumerate(widths):
        value = reduce(a, axis, keepdims=True)
        if aval_of(value).dtype != a.dtype:
            value = convert(lax.round(value, lax.RoundingMethod.TO_NEAREST_EVEN), a.dtype)
        parts = []
        for width in (low, None, high):
            if width is None:
                parts.append(a)
            elif width:
                shape = list(a.shape)
                shape[axis] = width
                parts.append(lax.broadcast_in_dim(value, tuple(shape), tuple(range(a.ndim))))
        a = _join(parts, axis)
    return a


@composite("widths")
def _linear_ramp(a: Any, ends: Any, *, widths: Widths) -> Array:
    for axis, (low, high) in enumerate(widths):
        parts = [a]
        for side, width in ((0, low), (1, high)):
            if not width:
                continue
            edge = lax.index_in_dim(a, 0 if side == 0 else a.shape[axis] - 1, axis)
            shape = list(a.shape)
            shape[axis] = width
            steps = lax.broadcasted_iota("int32", tuple(shape), axis)
            steps = steps if side == 0 else np.int32(width - 1) - steps
            target = ends[axis][side]
            share = convert(steps, edge.dtype) / width
            ramp = target + (edge - target) * share
            if aval_of(ramp).dtype != a.dtype:
                ramp = convert(ramp, a.dtype)
            parts = [ramp, *parts] if side == 0 else [*parts, ramp]
        a = _join(parts, axis)
    return a


def pad(
    array: Any,
    pad_width: Any,
    mode: str = "constant",
    *,
    constant_values: Any = 0,
    end_values: Any = 0,
    reflect_type: str = "even",
) -> Array:
    """Add elements at both ends of dimensions.

    Args:
        array: Array.
        pad_width: How many: a number, a pair `(before, after)`, one pair for each dimension, or a
            dict of dimensions to pairs.
        mode: What they are: ``constant`` values, the ``edge`` repeated, the array mirrored without
            (``reflect``) or with (``symmetric``) its edge, the array again (``wrap``), a
            ``linear_ramp`` to `end_values`, the ``maximum``, ``mean`` or ``minimum`` along the
            dimension, or ``empty`` (zeros).
        constant_values: Numbers for mode ``constant``, given as `pad_width` is; may be traced.
        end_values: Numbers at the outer ends for mode ``linear_ramp``.
        reflect_type: ``even``, or ``odd`` to mirror values at the edge too.

    Returns:
        The padded array, of the same dtype.

    Raises:
        ArgumentError: The mode is unknown, or a width is negative.
        ShapeError: The widths do not fit, or there is nothing to repeat.

    Example:
        >>> pad(np.array([1, 2, 3], np.int32), (1, 2), "reflect")
        Array([2, 1, 2, 3, 2, 1], dtype=int32)
    """
    a = array_of("pad", array)
    choice("pad", "mode", mode, ("constant", "empty", "linear_ramp", *_REPEATING, *_STATISTICAL))
    choice("pad", "reflect_type", reflect_type, ("even", "odd"))
    widths = _widths(pad_width, a.ndim)
    if mode in ("constant", "empty"):
        return _constant(a, widths, 0 if mode == "empty" else constant_values)
    for d, width in enumerate(widths):
        if any(width) and not a.shape[d]:
            raise ShapeError(
                f"pad: dimension {d} of shape {a.shape} is empty, so mode={mode!r} has nothing to "
                "repeat there"
            )
    if mode in _REPEATING:
        return _repeating(a, widths=widths, mode=mode, reflect_type=reflect_type)
    if mode == "linear_ramp":
        values = _values(a, "end_values", end_values)
        inexact = a.dtype in dtypes.INEXACT
        ends = tuple([tuple([_scalar(v, a) if inexact else v for v in p]) for p in values])
        return _linear_ramp(a, ends, widths=widths)
    return _statistical(a, widths=widths, name=_STATISTICAL[mode])


def _constant(a: Array, widths: Widths, constant_values: Any) -> Array:
    values = _values(a, "constant_values", constant_values)
    first = values[0][0] if values else 0
    if all([v is first or (not isinstance(v, Array) and v == first) for p in values for v in p]):
        value = _scalar(first, a)
        return lax.pad(a, value, [(low, high, 0) for low, high in widths])
    for d, (low, high) in enumerate(widths):
        for width, value in (((low, 0), values[d][0]), ((0, high), values[d][1])):
            config = [(*width, 0) if i == d else (0, 0, 0) for i in range(a.ndim)]
            a = lax.pad(a, _scalar(value, a), config)
    return a


def _values(a: Array, argument: str, given: Any) -> list[list[Any]]:
    """The two numbers for the ends of each dimension."""
    if not isinstance(given, Array):
        return _pairs("pad", argument, given, a.ndim)
    if not given.ndim:
        return [[given] * 2] * a.ndim
    spread = lax.broadcast_in_dim(given, (a.ndim, 2), tuple(range(2 - given.ndim, 2)))
    return [[spread[d, i] for i in (0, 1)] for d in range(a.ndim)]


def _scalar(value: Any, a: Array) -> Any:
    value = exact("pad", value)
    if aval_of(value).shape:
        value = lax.reshape(value, ())
    return convert(value, a.dtype)
