"""Small programs over named axes, with three meanings.

A program is a list of operations on numbered values. It can be run

* `named`: on Axonym's arrays inside a map, where named axes are in types and not in shapes;
* `arrays`: on NumPy arrays in which every named axis is a leading dimension. This is the program
  P⁺ of the positional law. It uses nothing of Axonym. Derivatives come from complex numbers with an
  imaginary part of 1e-30: all operations are analytic, and the others (comparisons, extremes,
  custom rules) say what they do to the imaginary part;
* `names`: on sets of names alone, which gives the axes that each value varies over.

Where the choice that a program makes (a comparison, a maximum) hangs on the last digits, P⁺ raises
`Ambiguous`, and the law says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from axonym_autodiff import custom_jvp, custom_vjp, jvp
from axonym_compile import jit
from axonym_core import lax
from axonym_mapping import vmap

STEP = 1e-30
DIRECTION = "#"  # the axis of P⁺ along which the directions of a Jacobian lie
_MARGIN = 1e-8

Names = frozenset[str]
Call = Callable[..., list[Any]]


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


# Operations


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


def run(body: Body, env: Mapping[int, Any], params: Sequence[Any], how: str) -> list[Any]:
    """Run a body in one of its meanings: `named`, `arrays` or `names`."""
    values = {**env, **dict(zip(body.params, params, strict=True))}
    for op in body.ops:

        def call(inner: Body, *inner_params: Any) -> list[Any]:
            return run(inner, values, inner_params, how)

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


def sum_over(x: Lanes, axes: Sequence[str], sizes: Mapping[str, int]) -> Lanes:
    """Sum over named axes, where a value without the axis counts as often as it is long."""
    for axis in axes:
        if axis in x.names:
            data, names = x.moved(axis)
            x = Lanes(names, data.sum(0))
        else:
            x = Lanes(x.names, x.data * sizes[axis])
    return x


@dataclass(frozen=True, eq=False)
class Collective(Op):
    """`psum` or `pmean`."""

    fun: str
    axes: tuple[str, ...]
    sizes: Mapping[str, int]

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return [getattr(lax, self.fun)(xs[0], self.axes)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        x = sum_over(xs[0], self.axes, self.sizes)
        if self.fun == "pmean":
            x = Lanes(x.names, x.data / np.prod([self.sizes[a] for a in self.axes]))
        return [x]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        return [_without(xs[0], self.axes)]


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


def index_lanes(axes: Sequence[str], sizes: Mapping[str, int]) -> Lanes:
    """Row-major index over several axes."""
    index = Lanes((), np.zeros(()))
    for axis in axes:
        own = Lanes((axis,), np.arange(sizes[axis], dtype=float))
        index = elementwise(lambda a, b, n=sizes[axis]: a * n + b, index, own)
    return index


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
    """Every second element from the second on of both operands one after the other, turned round."""

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


# Operations with programs inside


@dataclass(frozen=True, eq=False)
class Jit(Op):
    body: Body
    inline: bool

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return jit(lambda *ys: tuple(call(self.body, *ys)), inline=self.inline)(*xs)  # type: ignore[no-any-return]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        return call(self.body, *xs)

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        return call(self.body, *xs)


@dataclass(frozen=True, eq=False)
class CustomJvp(Op):
    """A function whose rule multiplies its tangent by a number."""

    body: Body
    factor: float

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        def fun(*ys: Any) -> Any:
            return tuple(call(self.body, *ys))

        marked = custom_jvp(fun)

        @marked.defjvp
        def rule(primals: Any, tangents: Any) -> Any:
            out, t = jvp(fun, primals, tangents)
            return out, tuple(x * self.factor for x in t)

        return marked(*xs)  # type: ignore[no-any-return]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        return [
            Lanes(o.names, np.real(o.data) + self.factor * 1j * np.imag(o.data))
            for o in call(self.body, *xs)
        ]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        return call(self.body, *xs)


@dataclass(frozen=True, eq=False)
class CustomVjp(Op):
    """`sin(x) * y` of equal shapes, with a rule that multiplies its cotangents by a number."""

    factor: float

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        @custom_vjp
        def fun(x: Any, y: Any) -> Any:
            return lax.sin(x) * y

        def fwd(x: Any, y: Any) -> Any:
            return fun(x, y), (x, y)

        def bwd(res: Any, ct: Any) -> Any:
            x, y = res
            ct = ct * self.factor
            return ct * lax.cos(x) * y, ct * lax.sin(x)

        fun.defvjp(fwd, bwd)
        return [fun(*xs)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        def fun(x: Any, y: Any) -> Any:
            out = np.sin(x) * y
            return np.real(out) + self.factor * 1j * np.imag(out)

        return [elementwise(fun, *xs)]


@dataclass(frozen=True, eq=False)
class Scan(Op):
    """Operands are initial carries, then arrays to scan; results likewise."""

    body: Body
    num_carry: int
    length: int
    reverse: bool
    unroll: int

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        n = self.num_carry

        def step(carry: Any, x: Any) -> Any:
            outs = call(self.body, *carry, *x)
            return tuple(outs[:n]), tuple(outs[n:])

        carry, ys = lax.scan(
            step, tuple(xs[:n]), tuple(xs[n:]), self.length, self.reverse, self.unroll
        )
        return [*carry, *ys]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        n = self.num_carry
        carry = list(xs[:n])
        steps: list[list[Lanes]] = [[] for _ in range(self.length)]
        for k in range(self.length)[:: -1 if self.reverse else 1]:
            slices = [Lanes(x.names, np.take(x.data, k, len(x.names))) for x in xs[n:]]
            outs = call(self.body, *carry, *slices)
            carry, steps[k] = outs[:n], outs[n:]
        stacked = []
        for parts in zip(*steps, strict=True):
            names, arrays = aligned(*parts)
            stacked.append(Lanes(names, np.stack(arrays, axis=len(names))))
        return [*carry, *stacked]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        n = self.num_carry
        carry = list(xs[:n])
        while True:
            outs = call(self.body, *carry, *xs[n:])
            grown = [c | o for c, o in zip(carry, outs[:n], strict=True)]
            if grown == carry:
                return [*carry, *outs[n:]]
            carry = grown


@dataclass(frozen=True, eq=False)
class Branch(Op):
    """`cond` on whether the first operand exceeds `threshold`; without one, `switch` by it."""

    bodies: tuple[Body, ...]
    threshold: float | None

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        which, *rest = xs
        functions = [lambda *ys, b=b: tuple(call(b, *ys)) for b in self.bodies]
        if self.threshold is None:
            return lax.switch(which + 1, functions, *rest)  # type: ignore[no-any-return]
        otherwise, chosen = functions
        return lax.cond(lax.gt(which, self.threshold), chosen, otherwise, *rest)  # type: ignore[no-any-return]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        which, *rest = xs

        def index(x: Any) -> Any:
            if self.threshold is None:
                return np.minimum(x + 1, len(self.bodies) - 1)
            return exceeds(x, self.threshold) * 1

        def pick(i: Any, *cases: Any) -> Any:
            return np.select([i == k for k in range(len(cases))], cases)

        chosen = elementwise(index, which)
        results = [call(b, *rest) for b in self.bodies]
        return [elementwise(pick, chosen, *cases) for cases in zip(*results, strict=True)]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        which, *rest = xs
        results = [call(b, *rest) for b in self.bodies]
        return [which.union(*cases) for cases in zip(*results, strict=True)]


@dataclass(frozen=True, eq=False)
class Map(Op):
    """`vmap` over the leading dimension of the operands; the axis has a name, or none."""

    body: Body
    axis: str
    size: int
    anonymous: bool

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        return vmap(  # type: ignore[no-any-return]
            lambda *ys: tuple(call(self.body, *ys)),
            axis_name=None if self.anonymous else self.axis,
            axis_size=self.size,
        )(*xs)

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        inside = []
        for x in xs:
            names = tuple(sorted((*x.names, self.axis)))
            data = np.moveaxis(x.data, len(x.names), names.index(self.axis))
            inside.append(Lanes(names, data))
        outs = []
        for o in call(self.body, *inside):
            names = tuple(n for n in o.names if n != self.axis)
            everywhere = tuple(sorted((*names, self.axis)))
            data = o.along(everywhere, {**o.sizes, self.axis: self.size})
            outs.append(Lanes(names, np.moveaxis(data, everywhere.index(self.axis), len(names))))
        return outs

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        inside = [x | {self.axis} for x in xs]
        return [o - {self.axis} for o in call(self.body, *inside)]


@dataclass(frozen=True, eq=False)
class While(Op):
    """Runs the body as often as the first operand says and `more`, or until the state exceeds 0.9."""

    body: Body
    more: int

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        count, start = xs

        def going(state: Any) -> Any:
            return lax.bitwise_and(lax.lt(state[0], count + self.more), lax.le(state[1], 0.9))

        def step(state: Any) -> Any:
            return state[0] + 1, call(self.body, state[1])[0]

        return [lax.while_loop(going, step, (np.int32(0), start))[1]]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        count, state = xs
        going = Lanes((), np.array(True))
        for k in range(int(count.data.max()) + self.more):

            def goes_on(g: Any, n: Any, s: Any, k: int = k) -> Any:
                return g & (n + self.more > k) & ~exceeds(s, 0.9)

            going = elementwise(goes_on, going, count, state)
            # A lane that has stopped stays as it is, but is there for the others to read.
            (new,) = call(self.body, state)
            state = elementwise(np.where, going, new, state)
        return [state]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        count, state = xs
        while True:
            grown = state | count | call(self.body, state)[0]
            if grown == state:
                return [state]
            state = grown


# Programs


@dataclass(frozen=True)
class Input:
    """An argument of a program: its kind (`f` or `i`), shape and the axes that it varies over."""

    kind: str
    shape: tuple[int, ...]
    names: Names


@dataclass(frozen=True, eq=False)
class Program:
    """A program with its named axes, its arguments (floats first) and how it is to be mapped."""

    axes: Mapping[str, int]
    inputs: tuple[Input, ...]
    body: Body
    seed: int
    style: str
    values: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        object.__setattr__(
            self,
            "values",
            [
                rng.uniform(-1.5, 1.5, self.full_shape(i.names, i.shape))
                if i.kind == "f"
                else rng.integers(0, 2, self.full_shape(i.names, i.shape)).astype(np.int32)
                for i in self.inputs
            ],
        )

    @property
    def floats(self) -> list[Input]:
        return [i for i in self.inputs if i.kind == "f"]

    @property
    def out_names(self) -> list[Names]:
        """Axes that each result varies over, by the rules for names alone."""
        return run(self.body, {}, [i.names for i in self.inputs], "names")

    def full_shape(self, names: Names, shape: Sequence[int]) -> tuple[int, ...]:
        return (*(self.axes[n] for n in sorted(names)), *shape)

    def random(self, names: Names, shape: Sequence[int], salt: int) -> Lanes:
        """Random array of a value that varies over some axes; now and then over none of them."""
        rng = np.random.default_rng((self.seed, salt))
        names = names if rng.integers(4) else frozenset()
        return Lanes(tuple(sorted(names)), rng.uniform(-1.0, 1.0, self.full_shape(names, shape)))

    def named(self, *args: Any) -> tuple[Any, ...]:
        """The program on Axonym's arrays."""
        return tuple(run(self.body, {}, args, "named"))

    def positional(self, floats: Sequence[Lanes]) -> list[Lanes]:
        """P⁺ on arrays for its floating-point arguments, as results with complex entries."""
        ints = [
            Lanes(tuple(sorted(i.names)), v)
            for i, v in zip(self.inputs, self.values, strict=True)
            if i.kind == "i"
        ]
        return run(self.body, {}, [*floats, *ints], "arrays")

    def jacobian(self, copied: Names) -> tuple[list[Lanes], list[tuple[int, tuple[int, ...]]]]:
        """P⁺ with copies of its unmapped arguments along some axes, and all its derivatives.

        Returns:
            The results, whose imaginary parts along the axis `#` are the derivatives with respect
            to one entry after the other of all arguments; and for each argument the number of its
            first entry and its shape.
        """
        full, places, count = [], [], 0
        for i, v in zip(self.floats, self.values, strict=False):
            names = tuple(sorted(i.names | copied))
            data = Lanes(tuple(sorted(i.names)), v).along(names, self.axes)
            full.append((names, data))
            places.append((count, data.shape))
            count += data.size
        arguments = []
        for (names, data), (first, shape) in zip(full, places, strict=True):
            seeds = np.zeros((count, data.size))
            seeds[first : first + data.size] = np.eye(data.size)
            perturbed = data + 1j * STEP * seeds.reshape((count, *shape))
            arguments.append(Lanes((DIRECTION, *names), perturbed))
        return self.positional(arguments), places

    def vjp(self, cts: Sequence[Lanes], copied: Names = frozenset()) -> list[Any]:
        """VJP of P⁺ with unmapped arguments copied along some axes, and unmapped results too."""
        results, places = self.jacobian(copied)
        total = np.zeros(places[-1][0] + int(np.prod(places[-1][1])))
        for out, ct, names in zip(results, cts, self.out_names, strict=True):
            everywhere = tuple(sorted(names | copied))
            weight = ct.along(everywhere, self.axes)
            if DIRECTION not in out.names:
                continue
            sizes = {**self.axes, DIRECTION: out.sizes[DIRECTION]}
            slope = out.along((DIRECTION, *everywhere), sizes).imag / STEP
            total = total + (slope * weight).reshape((len(slope), -1)).sum(1)
        return [
            total[first : first + int(np.prod(shape))].reshape(shape) for first, shape in places
        ]

    def jvp(self, tangents: Sequence[Lanes]) -> tuple[list[Any], list[Any]]:
        """Values and derivatives of P⁺ in a direction, with the axes that results vary over."""
        arguments = []
        for i, v, t in zip(self.floats, self.values, tangents, strict=False):
            names = tuple(sorted(i.names))
            arguments.append(Lanes(names, v + 1j * STEP * t.along(names, self.axes)))
        outs = [
            o.along(tuple(sorted(n)), self.axes)
            for o, n in zip(self.positional(arguments), self.out_names, strict=True)
        ]
        return [o.real for o in outs], [o.imag / STEP for o in outs]


def has(body: Body, kind: type[Op]) -> bool:
    """Whether an operation of a kind is somewhere in a body."""
    for op in body.ops:
        if isinstance(op, kind):
            return True
        for inner in inner_bodies(op):
            if has(inner, kind):
                return True
    return False


def inner_bodies(op: Op) -> list[Body]:
    """Bodies that an operation holds."""
    bodies = getattr(op, "bodies", ())
    return [*bodies, *([op.body] if hasattr(op, "body") else [])]


def count_ops(body: Body) -> dict[str, int]:
    """How often each kind of operation occurs, in bodies too."""

    def add(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
        return {k: a.get(k, 0) + b.get(k, 0) for k in {**a, **b}}

    own: dict[str, int] = {}
    for op in body.ops:
        own = add(own, {type(op).__name__: 1})
        own = reduce(add, [count_ops(b) for b in inner_bodies(op)], own)
    return own
