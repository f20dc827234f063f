"""Arrays with named axes as leading dimensions, in plain NumPy: the values of positional programs.

Derivatives come from complex numbers with an imaginary part of 1e-30: all operations are analytic,
and the others (comparisons, extremes, custom rules) say what they do to the imaginary part. Where
the choice that a program makes hangs on the last digits, they raise `Ambiguous`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

STEP = 1e-30
DIRECTION = "#"  # the axis along which the directions of a Jacobian lie
_MARGIN = 1e-8

Names = frozenset[str]


class Ambiguous(Exception):
    """A choice hangs on rounding."""


@dataclass(frozen=True, eq=False)
class Lanes:
    """A value of P⁺: an array whose leading dimensions are the named axes, in order of names."""

    names: tuple[str, ...]
    data: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape[len(self.names) :]

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(self.names, self.data.shape, strict=False))

    def along(self, names: Sequence[str], sizes: Mapping[str, int]) -> Any:
        """The array with all of the given names as leading dimensions."""
        index = tuple(slice(None) if n in self.names else None for n in names)
        full = (*(sizes[n] for n in names), *self.shape)
        return np.broadcast_to(self.data[index], full)

    def moved(self, axis: str) -> tuple[Any, tuple[str, ...]]:
        """The array with one axis in front, and the other names."""
        position = self.names.index(axis)
        return np.moveaxis(self.data, position, 0), tuple(n for n in self.names if n != axis)


def aligned(*values: Lanes) -> tuple[tuple[str, ...], list[Any]]:
    """Arrays of several values over the union of their names."""
    sizes: dict[str, int] = {}
    for v in values:
        sizes.update(v.sizes)
    names = tuple(sorted(sizes))
    return names, [v.along(names, sizes) for v in values]


def lanes_map(fun: Callable[..., Any], *values: Lanes) -> Lanes:
    """Apply a function of arrays with leading dimensions in common."""
    names, arrays = aligned(*values)
    return Lanes(names, fun(*arrays))


def elementwise(fun: Callable[..., Any], *values: Lanes) -> Lanes:
    """Apply an element-wise function to operands of one shape, or scalars."""
    names, arrays = aligned(*values)
    ndim = max(len(v.shape) for v in values)
    spread = [
        a.reshape(a.shape + (1,) * ndim) if not v.shape else a
        for a, v in zip(arrays, values, strict=True)
    ]
    return Lanes(names, fun(*spread))


def exceeds(x: Any, threshold: float) -> Any:
    """`x > threshold`, where that is clear."""
    if np.any(np.abs(np.real(x) - threshold) < _MARGIN):
        raise Ambiguous
    return np.real(x) > threshold


def winner(x: Any, axis: int, sign: float, *, ties: bool) -> Any:
    """Extreme along an axis, by real parts; ties share the imaginary part, where allowed."""
    best = np.max(sign * np.real(x), axis=axis, keepdims=True)
    distance = np.abs(sign * np.real(x) - best)
    won = distance < _MARGIN
    if not ties and np.any(won.sum(axis) > 1):
        raise Ambiguous
    value = sign * np.squeeze(best, axis)
    return value + 1j * np.where(won, np.imag(x), 0.0).sum(axis) / won.sum(axis)


def sum_over(x: Lanes, axes: Sequence[str], sizes: Mapping[str, int]) -> Lanes:
    """Sum over named axes, where a value without the axis counts as often as it is long."""
    for axis in axes:
        if axis in x.names:
            data, names = x.moved(axis)
            x = Lanes(names, data.sum(0))
        else:
            x = Lanes(x.names, x.data * sizes[axis])
    return x


def index_lanes(axes: Sequence[str], sizes: Mapping[str, int]) -> Lanes:
    """Row-major index over several axes."""
    index = Lanes((), np.zeros(()))
    for axis in axes:
        own = Lanes((axis,), np.arange(sizes[axis], dtype=float))
        index = elementwise(lambda a, b, n=sizes[axis]: a * n + b, index, own)
    return index
