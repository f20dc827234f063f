"""Operations of positional programs, each with three meanings.

* `named`: on Axonym's arrays inside a map, where named axes are in types and not in shapes;
* `arrays`: on NumPy arrays in which every named axis is a leading dimension, without Axonym;
* `names`: on sets of names alone, which gives the axes that each value varies over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from positional_lanes import (
    Lanes,
    Names,
    elementwise,
    exceeds,
    index_lanes,
    lanes_map,
    sum_over,
    winner,
)

from axonym_autodiff import custom_jvp
from axonym_core import lax

Call = Any  # of `_Caller`


@dataclass(frozen=True, eq=False)
class Op:
    """An operation: reads the values `args`, makes the values `outs`."""

    args: tuple[int, ...]
    outs: tuple[int, ...]

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        raise NotImplementedError(type(self))

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        raise NotImplementedError(type(self))

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        return [frozenset().union(*xs)] * len(self.outs)


@dataclass(frozen=True, eq=False)
class Body:
    """A part of a program as a function of `params`; may read values of what encloses it."""

    params: tuple[int, ...]
    ops: tuple[Op, ...]
    outs: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Caller:
    """Runs bodies that an operation holds, among the values that it finds."""

    values: Mapping[int, Any]
    how: str

    def __call__(self, inner: Body, *params: Any) -> list[Any]:
        return run(inner, self.values, params, self.how)

    def fixed(self, inner: Body, *params: Any) -> list[Any]:
        """Run a body with no derivative in what it closes over."""
        return run(inner, {k: constant(v) for k, v in self.values.items()}, params, self.how)


def constant(x: Lanes) -> Lanes:
    """A value of P⁺ without its derivative."""
    return Lanes(x.names, np.real(x.data) + 0j) if np.iscomplexobj(x.data) else x


def run(body: Body, env: Mapping[int, Any], params: Sequence[Any], how: str) -> list[Any]:
    """Run a body in one of its meanings: `named`, `arrays` or `names`."""
    values = {**env, **dict(zip(body.params, params, strict=True))}
    for op in body.ops:
        call = _Caller(values, how)

        results = getattr(op, how)(call, *[values[a] for a in op.args])
        values.update(zip(op.outs, results, strict=True))
    return [values[o] for o in body.outs]


_UNARY: dict[str, tuple[Any, Any]] = {
    "sin": (lax.sin, np.sin),
    "cos": (lax.cos, np.cos),
    "tanh": (lax.tanh, np.tanh),
    "exp": (lax.exp, np.exp),
    "neg": (lax.neg, np.negative),
    "square": (lambda x: x * x, np.square),
    "logistic": (lax.logistic, lambda x: 1.0 / (1.0 + np.exp(-x))),
    "log": (lambda x: lax.log(x * x + 1.5), lambda x: np.log(x * x + 1.5)),
}
_BINARY: dict[str, tuple[Any, Any]] = {
    "add": (lax.add, np.add),
    "sub": (lax.sub, np.subtract),
    "mul": (lax.mul, np.multiply),
    "div": (lambda x, y: lax.div(x, y * y + 2.0), lambda x, y: x / (y * y + 2.0)),
}


@dataclass(frozen=True, eq=False)
class Unary(Op):
    fun: str

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [_UNARY[self.fun][0](*xs)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        return [elementwise(_UNARY[self.fun][1], *xs)]


@dataclass(frozen=True, eq=False)
class Affine(Op):
    """`x * factor + offset`, with Python numbers."""

    factor: float
    offset: float

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [xs[0] * self.factor + self.offset]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        return [elementwise(lambda x: x * self.factor + self.offset, *xs)]


@dataclass(frozen=True, eq=False)
class Binary(Op):
    fun: str

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [_BINARY[self.fun][0](*xs)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        return [elementwise(_BINARY[self.fun][1], *xs)]


@dataclass(frozen=True, eq=False)
class Maximum(Op):
    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [lax.max(*xs)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        ties = self.args[0] == self.args[1]

        def maximum(x: Any, y: Any) -> Any:
            both = np.stack(np.broadcast_arrays(x, y))
            return winner(both, 0, 1.0, ties=ties)

        return [elementwise(maximum, *xs)]


@dataclass(frozen=True, eq=False)
class Select(Op):
    """`where(a > threshold, x, y)`."""

    threshold: float

    def named(self, call: Call, a: Any, x: Any, y: Any) -> Sequence[Any]:
        return [lax.select(lax.gt(a, self.threshold), x, y)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        return [elementwise(lambda a, x, y: np.where(exceeds(a, self.threshold), x, y), *xs)]


@dataclass(frozen=True, eq=False)
class StopGradient(Op):
    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [lax.stop_gradient(xs[0])]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        return [elementwise(lambda x: np.real(x) + 0j, *xs)]


def _without(names: Names, axes: Sequence[str]) -> Names:
    return names - frozenset(axes)


@dataclass(frozen=True, eq=False)
class Collective(Op):
    """`psum` or `pmean`, over dimensions too."""

    fun: str
    axes: tuple[str, ...]
    sizes: Mapping[str, int]
    dims: tuple[int, ...] = ()

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [getattr(lax, self.fun)(xs[0], (*self.dims, *self.axes))]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        count = np.prod([xs[0].shape[d] for d in self.dims])
        x = lanes_map(lambda a: a.sum(tuple(d - len(xs[0].shape) for d in self.dims)), xs[0])
        x = sum_over(x, self.axes, self.sizes)
        if self.fun == "pmean":
            x = Lanes(x.names, x.data / np.prod([count, *(self.sizes[a] for a in self.axes)]))
        return [x]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        return [_without(xs[0], self.axes)]


@dataclass(frozen=True, eq=False)
class Grouped(Op):
    """`psum` or `pmean` within groups of the indices of an axis."""

    fun: str
    axis: str
    sizes: Mapping[str, int]
    groups: tuple[tuple[int, ...], ...]

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [getattr(lax, self.fun)(xs[0], self.axis, axis_index_groups=self.groups)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        size = self.sizes[self.axis]
        together = np.zeros((size, size))
        for group in self.groups:
            share = 1 / len(group) if self.fun == "pmean" else 1.0
            together[np.ix_(group, group)] = share
        everywhere = Lanes((self.axis,), np.zeros(size))
        x = elementwise(lambda a, b: a + b, xs[0], everywhere)
        position = x.names.index(self.axis)
        moved = np.tensordot(together, np.moveaxis(x.data, position, 0), 1)
        return [Lanes(x.names, np.moveaxis(moved, 0, position))]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        return [xs[0] | {self.axis}]


@dataclass(frozen=True, eq=False)
class Extremum(Op):
    """`pmax` or `pmin`; `apart` gives each index an offset first, so that there are no ties."""

    fun: str
    axes: tuple[str, ...]
    sizes: Mapping[str, int]
    apart: bool

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        (x,) = xs
        if self.apart:
            index = lax.convert_element_type(lax.axis_index(self.axes), np.float64)
            x = x + index * 0.3137
        return [getattr(lax, self.fun)(x, self.axes)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        (x,) = xs
        if self.apart:
            index = index_lanes(self.axes, self.sizes)
            x = elementwise(lambda a, b: a + b * 0.3137, x, index)
        axes = [a for a in self.axes if a in x.names]
        for axis in axes:
            # Reducing axis by axis shares ties between equals of equal number, as doing all at
            # once does, if either all or none are equal.
            data, names = x.moved(axis)
            x = Lanes(
                names, winner(data, 0, 1.0 if self.fun == "pmax" else -1.0, ties=not self.apart)
            )
        return [x]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        return [_without(xs[0], self.axes)]


@custom_jvp
def _rounded(x: Any) -> Any:
    return lax.round(x)


_rounded.defjvp(lambda primals, tangents: (_rounded(*primals), *tangents))


@dataclass(frozen=True, eq=False)
class Tied(Op):
    """Extreme over dimensions and named axes together, of values that are rounded: many tie."""

    fun: str
    dims: tuple[int, ...]
    axes: tuple[str, ...]

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        reduce = lax.reduce_max if self.fun == "max" else lax.reduce_min
        return [reduce(_rounded(xs[0]), self.dims, self.axes)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        (x,) = xs
        exceeds(np.abs(np.real(x.data) % 1 - 0.5), 0.0)  # whether it is clear how to round
        data = np.round(np.real(x.data)) + 1j * np.imag(x.data)
        over = [x.names.index(a) for a in self.axes if a in x.names]
        over += [d + len(x.names) for d in self.dims]
        data = np.moveaxis(data, over, range(len(over)))
        data = data.reshape((-1, *data.shape[len(over) :]))
        names = tuple(n for n in x.names if n not in self.axes)
        return [Lanes(names, winner(data, 0, 1.0 if self.fun == "max" else -1.0, ties=True))]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        return [_without(xs[0], self.axes)]


@dataclass(frozen=True, eq=False)
class AxisIndex(Op):
    axes: tuple[str, ...]
    sizes: Mapping[str, int]

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [lax.convert_element_type(lax.axis_index(self.axes), np.float64) * 0.25]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        return [elementwise(lambda i: i * 0.25 + 0j, index_lanes(self.axes, self.sizes))]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        return [frozenset(self.axes)]


@dataclass(frozen=True, eq=False)
class Dot(Op):
    """Product of vectors or matrices, summed over named axes too."""

    axes: tuple[str, ...]
    sizes: Mapping[str, int]

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [lax.dot(*xs, axis_names=self.axes)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        left, right = len(xs[0].shape), len(xs[1].shape)

        def product(a: Any, b: Any) -> Any:
            a = a if left == 2 else a[..., None, :]
            b = b if right == 2 else b[..., :, None]
            # not matmul, whose complex products may lose the imaginary part
            c = (a[..., :, :, None] * b[..., None, :, :]).sum(-2)
            c = c if left == 2 else c[..., 0, :]
            return c if right == 2 else c[..., 0]

        return [sum_over(lanes_map(product, *xs), self.axes, self.sizes)]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        return [_without(xs[0] | xs[1], self.axes)]


@dataclass(frozen=True, eq=False)
class Conv(Op):
    """Correlation of a signal with a kernel of three, both of several channels, zero-padded."""

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        signal, kernel = [lax.expand_dims(x, (0,)) for x in xs]
        return [lax.squeeze(lax.conv(signal, kernel, (1,), "SAME"), (0, 1))]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        def correlate(x: Any, w: Any) -> Any:
            n = x.shape[-1]
            wide = np.zeros((*x.shape[:-1], n + 2), complex)
            wide[..., 1:-1] = x
            return sum((wide[..., t : t + n] * w[..., t, None]).sum(-2) for t in range(3))

        return [lanes_map(correlate, *xs)]


@dataclass(frozen=True, eq=False)
class Sum(Op):
    """Sum over dimensions and named axes in one reduction."""

    dims: tuple[int, ...]
    axes: tuple[str, ...]
    sizes: Mapping[str, int]

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [lax.reduce_sum(xs[0], self.dims, self.axes)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        (x,) = xs
        dims = tuple(d + len(x.names) for d in self.dims)
        return [sum_over(Lanes(x.names, x.data.sum(dims)), self.axes, self.sizes)]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        return [_without(xs[0], self.axes)]


@dataclass(frozen=True, eq=False)
class Largest(Op):
    """Maximum over the last dimension."""

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [lax.reduce_max(xs[0], (xs[0].ndim - 1,))]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        return [lanes_map(lambda x: winner(x, -1, 1.0, ties=False), *xs)]


@dataclass(frozen=True, eq=False)
class Cumsum(Op):
    reverse: bool

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [lax.cumsum(xs[0], xs[0].ndim - 1, self.reverse)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        turn = slice(None, None, -1 if self.reverse else 1)
        return [lanes_map(lambda x: x[..., turn].cumsum(-1)[..., turn], *xs)]


@dataclass(frozen=True, eq=False)
class Transpose(Op):
    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [lax.transpose(xs[0], (1, 0))]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        return [lanes_map(lambda x: np.swapaxes(x, -1, -2), *xs)]


@dataclass(frozen=True, eq=False)
class Reshape(Op):
    shape: tuple[int, ...]

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [lax.reshape(xs[0], self.shape)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        (x,) = xs
        return [Lanes(x.names, x.data.reshape((*x.data.shape[: len(x.names)], *self.shape)))]


@dataclass(frozen=True, eq=False)
class Broadcast(Op):
    """Repeat along new leading dimensions."""

    sizes: tuple[int, ...]

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [lax.broadcast(xs[0], self.sizes)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        (x,) = xs
        lead = x.data.shape[: len(x.names)]
        spread = x.data.reshape((*lead, *(1,) * len(self.sizes), *x.shape))
        return [Lanes(x.names, np.broadcast_to(spread, (*lead, *self.sizes, *x.shape)))]


@dataclass(frozen=True, eq=False)
class ConcatenateSlice(Op):
    """Every second element of both operands one after the other, the last one first."""

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        joined = lax.concatenate(xs, 0)
        n = joined.shape[0]
        rest = joined.shape[1:]
        part = lax.slice(joined, (1, *(0,) * len(rest)), (n, *rest), (2, *(1,) * len(rest)))
        return [lax.rev(part, (0,))]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        ndim = len(xs[0].shape)
        rest = (slice(None),) * (ndim - 1)

        def fun(*arrays: Any) -> Any:
            joined = np.concatenate(arrays, axis=-ndim)
            return joined[(..., slice(1, None, 2), *rest)][(..., slice(None, None, -1), *rest)]

        return [lanes_map(fun, *xs)]


@dataclass(frozen=True, eq=False)
class Pad(Op):
    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        (x,) = xs
        config = [(1, -1, 1), *[(0, 0, 0)] * (x.ndim - 1)]
        return [lax.pad(x, np.float64(0.5), config)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        ndim = len(xs[0].shape)
        rest = (slice(None),) * (ndim - 1)

        def fun(x: Any) -> Any:
            n = x.shape[-ndim]
            shape = list(x.shape)
            shape[-ndim] = 2 * n
            wide = np.full(shape, 0.5 + 0j)
            wide[(..., slice(1, None, 2), *rest)] = x
            return wide[(..., slice(None, 2 * n - 1), *rest)]

        return [lanes_map(fun, *xs)]


def _pick(table: Any, index: Any, ndim: int) -> Any:
    """`table[index]` lane by lane: rows of `table`, whose own dimensions are the last `ndim`."""
    lead = table.shape[: table.ndim - ndim]
    rows = table.reshape((-1, *table.shape[table.ndim - ndim :]))
    own = index.shape[len(lead) :]
    where = index.reshape((-1, *own))
    lane = np.arange(len(rows)).reshape((-1, *(1,) * len(own)))
    picked = rows[lane, where]
    return picked.reshape((*lead, *picked.shape[1:]))


@dataclass(frozen=True, eq=False)
class Gather(Op):
    """`table[index]`."""

    def named(self, call: Call, table: Any, index: Any) -> Sequence[Any]:
        return [table[index]]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        ndim = len(xs[0].shape)
        return [lanes_map(lambda t, i: _pick(t, i, ndim), *xs)]


@dataclass(frozen=True, eq=False)
class TakeAlong(Op):
    """`x[0, i[0]], x[1, i[1]], …`: one element of each row, as `take_along_axis` does."""

    def named(self, call: Call, x: Any, index: Any) -> Sequence[Any]:
        return [x[np.arange(x.shape[0]), index]]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        return [lanes_map(lambda x, i: np.take_along_axis(x, i[..., None], axis=-1)[..., 0], *xs)]


@dataclass(frozen=True, eq=False)
class ScatterAdd(Op):
    """`x.at[index].add(y)` for one row."""

    def named(self, call: Call, x: Any, index: Any, y: Any) -> Sequence[Any]:
        return [x.at[index].add(y)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        ndim = len(xs[0].shape)

        def fun(x: Any, i: Any, y: Any) -> Any:
            n = x.shape[-ndim]
            hit = (np.arange(n) == i[..., None]).reshape((*i.shape, n, *(1,) * (ndim - 1)))
            return x + hit * np.expand_dims(y, i.ndim)

        return [lanes_map(fun, *xs)]
