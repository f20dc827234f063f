"""Operations of positional programs that hold programs: calls, loops, branches, custom rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from positional_lanes import Lanes, Names, aligned, elementwise, exceeds, sum_over
from positional_operations import Body, Call, Op, constant

from axonym_autodiff import custom_jvp, custom_vjp, jvp
from axonym_compile import jit
from axonym_core import lax
from axonym_mapping import vmap


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
    """A function whose rule multiplies its tangent by a number.

    In what it closes over, the derivative is that of the function.
    """

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
        by_rule = call.fixed(self.body, *xs)
        as_it_is = call(self.body, *[constant(x) for x in xs])
        return [
            elementwise(
                lambda a, b: np.real(a) + 1j * (self.factor * np.imag(a) + np.imag(b)), a, b
            )
            for a, b in zip(by_rule, as_it_is, strict=True)
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
class CustomVjpOfTwo(Op):
    """`sin(x) * y` and `x * 2 + z`, with `z` closed over; the rule multiplies by a number."""

    factor: float

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        *operands, z = xs

        @custom_vjp
        def fun(x: Any, y: Any) -> Any:
            return lax.sin(x) * y, x * 2.0 + z

        def fwd(x: Any, y: Any) -> Any:
            return fun(x, y), (x, y)

        def bwd(res: Any, cts: Any) -> Any:
            x, y = res
            ct, more = (ct * self.factor for ct in cts)
            return ct * lax.cos(x) * y + more * 2.0, ct * lax.sin(x)

        fun.defvjp(fwd, bwd)
        return fun(*operands)  # type: ignore[no-any-return]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        x, y, z = xs

        def product(x: Any, y: Any) -> Any:
            out = np.sin(x) * y
            return np.real(out) + self.factor * 1j * np.imag(out)

        def double(x: Any, z: Any) -> Any:
            return np.real(x) * 2.0 + self.factor * 2j * np.imag(x) + z

        return [elementwise(product, x, y), elementwise(double, x, z)]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        x, y, z = xs
        return [x | y, x | z]


@dataclass(frozen=True, eq=False)
class Guarded(Op):
    """`sqrt(x - threshold) * y + extra` where `x` exceeds the threshold clearly, `y` elsewhere.

    What is not taken is NaN. `extra` is 0, or sums `z`, or `x` itself, over named axes.
    """

    threshold: float
    axes: tuple[str, ...]
    sizes: Mapping[str, int]
    sums_itself: bool

    def named(self, call: Call, *xs: Any) -> Sequence[Any]:
        x, y, z = xs

        def root() -> Any:
            out = lax.sqrt(x - self.threshold) * y
            return out + lax.psum(x if self.sums_itself else z, self.axes) if self.axes else out

        return [lax.cond(lax.gt(x, self.threshold + 0.3), root, lambda: y)]

    def arrays(self, call: Call, *xs: Lanes) -> Sequence[Lanes]:
        x, y, z = xs
        extra = Lanes((), np.zeros((), complex))
        if self.axes:
            extra = sum_over(x if self.sums_itself else z, self.axes, self.sizes)

        def pick(x: Any, y: Any, extra: Any) -> Any:
            taken = exceeds(x, self.threshold + 0.3)
            root = np.sqrt(np.where(taken, x - self.threshold, 1.0)) * y + extra
            return np.where(taken, root, y)

        return [elementwise(pick, x, y, extra)]

    def names(self, call: Call, *xs: Names) -> Sequence[Names]:
        x, y, z = xs
        extra = (x if self.sums_itself else z) - frozenset(self.axes) if self.axes else frozenset()
        return [x | y | extra]


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
    """Runs the body as often as the first operand says, and `more`, or until a state above 0.9."""

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
