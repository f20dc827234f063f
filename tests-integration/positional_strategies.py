"""Hypothesis strategies for the programs of `positional_programs`.

Only shapes and bounds of values are followed while a program is drawn; which axes a value varies
over follows from the operations afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st
from positional_control import (
    Branch,
    CustomJvp,
    CustomVjp,
    CustomVjpOfTwo,
    Guarded,
    Jit,
    Map,
    Scan,
    While,
)
from positional_operations import (
    Affine,
    AxisIndex,
    Binary,
    Body,
    Broadcast,
    Collective,
    ConcatenateSlice,
    Conv,
    Cumsum,
    Dot,
    Extremum,
    Gather,
    Grouped,
    Largest,
    Maximum,
    Op,
    Pad,
    Reshape,
    ScatterAdd,
    Select,
    StopGradient,
    Sum,
    TakeAlong,
    Tied,
    Transpose,
    Unary,
)
from positional_programs import Input, Program

SHAPES = [(), (3,), (2, 3)]
STYLES = ["vmap", "vmap reversed", "xmap dict", "xmap list"]

_LEAF_OPS = [
    "unary",
    "binary",
    "binary",
    "maximum",
    "select",
    "psum",
    "pmean",
    "grouped",
    "extremum",
    "tied",
    "guarded",
    "index",
    "dot",
    "dot",
    "conv",
    "sum",
    "largest",
    "cumsum",
    "transpose",
    "reshape",
    "broadcast",
    "concatenate",
    "pad",
    "gather",
    "take",
    "scatter",
    "stop",
]
_NESTED_OPS = [
    "jit",
    "scan",
    "scan",
    "branch",
    "branch",
    "map",
    "custom_jvp",
    "custom_vjp",
    "custom_vjp_of_two",
    "while",
]


class Known(NamedTuple):
    """What is known of a value while drawing: number, kind, shape, largest magnitude, and whether
    it is an argument that does not vary at all."""

    id: int
    kind: str
    shape: tuple[int, ...]
    bound: float
    fixed: bool = False


class Drawing:
    """Draws operations one after the other."""

    def __init__(self, draw: Any, axes: dict[str, int], loops: bool, honest: bool) -> None:
        self.draw = draw
        self.axes = axes
        self.loops = loops
        self.guards = True
        self.honest = honest
        self.count = 0

    def new(self, kind: str, shape: tuple[int, ...], bound: float, fixed: bool = False) -> Known:
        self.count += 1
        return Known(self.count - 1, kind, shape, bound, fixed)

    def one_of(self, items: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(items))

    def some_axes(self) -> tuple[str, ...]:
        names = tuple(self.axes)
        found = [*((n,) for n in names), names, names[:2]]
        return self.one_of(list(dict.fromkeys(found)))  # type: ignore[no-any-return]

    def float_value(self, env: Sequence[Known], **wanted: Any) -> Known | None:
        """A floating-point value, the newest ones first; by shape or number of dimensions."""
        found = [
            v
            for v in reversed(env)
            if v.kind == "f"
            and wanted.get("shape", v.shape) == v.shape
            and len(v.shape) in wanted.get("ndim", (0, 1, 2))
            and wanted.get("fixed", v.fixed) == v.fixed
        ]
        return self.one_of(found) if found else None

    def index_value(self, env: Sequence[Known], ndim: int) -> Known | None:
        found = [v for v in env if v.kind == "i" and len(v.shape) == ndim]
        return self.one_of(found) if found else None

    def partner(self, env: Sequence[Known], x: Known) -> Known:
        """A value that goes with `x` in an element-wise operation."""
        found = [v for v in reversed(env) if v.kind == "f" and v.shape in (x.shape, ())]
        return self.one_of(found)  # type: ignore[no-any-return]

    def body(
        self, env: list[Known], params: Sequence[Known], size: int, depth: int, outs: Sequence[Any]
    ) -> Body:
        """A body that returns values of the given shapes."""
        scope = [*env, *params]
        ops: list[Op] = []
        for _ in range(self.draw(st.integers(1, size))):
            ops += self.op(scope, depth)
        results = [self.shaped(scope, ops, shape) for shape in outs]
        return Body(tuple(p.id for p in params), tuple(ops), tuple(r.id for r in results))

    def shaped(self, scope: list[Known], ops: list[Op], shape: tuple[int, ...]) -> Known:
        """A value of a shape and of magnitude at most 2, made from the newest ones."""
        x = next((v for v in reversed(scope) if v.kind == "f" and v.shape == shape), None)
        if x is None:
            x = next(v for v in reversed(scope) if v.kind == "f")
            if x.shape:
                n = 1
                for d in x.shape:
                    n *= d
                total = self.new("f", (), x.bound * n)
                ops.append(Sum((x.id,), (total.id,), tuple(range(len(x.shape))), (), self.axes))
                x = total
            if shape:
                out = self.new("f", shape, x.bound)
                ops.append(Broadcast((x.id,), (out.id,), shape))
                x = out
        if x.bound > 2.0:
            out = self.new("f", shape, 2.0)
            ops.append(Affine((x.id,), (out.id,), 2.0 / x.bound, 0.0))
            x = out
        scope.append(x)
        return x

    def op(self, env: list[Known], depth: int) -> list[Op]:
        """Draw an operation, extend `env` by its results and keep them small."""
        kinds = _LEAF_OPS if depth == 0 else [*_LEAF_OPS, *_NESTED_OPS, *_NESTED_OPS]
        if self.honest:
            kinds = [kind for kind in kinds if kind not in ("stop", "tied")]
        kind = self.one_of(kinds)
        made = (
            getattr(self, f"_{kind}")(env, depth) if kind in _NESTED_OPS else self._leaf(kind, env)
        )
        if made is None:
            made = self._leaf("unary", env)
        op, outs = made
        ops = [op]
        for out in outs:
            if out.bound > 4.0:
                small = self.new("f", out.shape, 2.0)
                ops.append(Affine((out.id,), (small.id,), 2.0 / out.bound, 0.0))
                out = small
            env.append(out)
        return ops

    def _leaf(self, kind: str, env: list[Known]) -> tuple[Op, list[Known]] | None:
        result = getattr(self, f"_leaf_{kind}")(env)
        if result is None:
            return None
        make, shape, bound = result
        out = self.new("f", shape, bound)
        return make((out.id,)), [out]

    # Each returns a constructor taking the numbers of results, their shape, their bound.

    def _leaf_unary(self, env: list[Known]) -> Any:
        x = self.float_value(env)
        assert x is not None
        fun = self.one_of(["sin", "tanh", "cos", "neg", "square", "logistic", "log", "exp"])
        if fun == "exp" and x.bound > 2.0:
            fun = "sin"
        bound = {"neg": x.bound, "square": x.bound**2, "exp": 7.4, "log": 4.0}.get(fun, 1.0)
        return lambda outs: Unary((x.id,), outs, fun), x.shape, bound

    def _leaf_binary(self, env: list[Known]) -> Any:
        x = self.float_value(env)
        assert x is not None
        y = self.partner(env, x)
        x, y = self.one_of([(x, y), (y, x)])
        fun = self.one_of(["mul", "add", "sub", "div"])
        bound = {"mul": x.bound * y.bound, "div": x.bound}.get(fun, x.bound + y.bound)
        shape = x.shape or y.shape
        return lambda outs: Binary((x.id, y.id), outs, fun), shape, bound

    def _leaf_maximum(self, env: list[Known]) -> Any:
        x = self.float_value(env)
        assert x is not None
        y = self.partner(env, x)
        return lambda outs: Maximum((x.id, y.id), outs), x.shape, max(x.bound, y.bound)

    def _leaf_select(self, env: list[Known]) -> Any:
        x = self.float_value(env)
        assert x is not None
        y = self.float_value(env, shape=x.shape)
        a = self.partner(env, x)
        assert y is not None
        bound = max(x.bound, y.bound)
        return lambda outs: Select((a.id, x.id, y.id), outs, 0.1234), x.shape, bound

    def _reduction(self, env: list[Known], fun: str) -> Any:
        x = self.float_value(env)
        assert x is not None
        axes = self.some_axes()
        dims = self.one_of([(), *[(d,) for d in range(len(x.shape))]])
        bound = x.bound * (self.lanes(axes) if fun == "psum" else 1)
        for d in dims:
            bound *= x.shape[d] if fun == "psum" else 1
        shape = tuple(s for d, s in enumerate(x.shape) if d not in dims)
        return lambda outs: Collective((x.id,), outs, fun, axes, self.axes, dims), shape, bound

    def _leaf_grouped(self, env: list[Known]) -> Any:
        x = self.float_value(env)
        assert x is not None
        axis = self.one_of(list(self.axes))
        size = self.axes[axis]
        fun = self.one_of(["psum", "pmean"])
        # two groups, or one: index k belongs to the first where its bit is set
        first = self.one_of(list(range(min(2**size, 8))))
        halves = [[k for k in range(size) if (first >> k) % 2 == half] for half in (1, 0)]
        groups = tuple(tuple(half) for half in halves if half)
        bound = x.bound * (size if fun == "psum" else 1)
        return lambda outs: Grouped((x.id,), outs, fun, axis, self.axes, groups), x.shape, bound

    def lanes(self, axes: Sequence[str]) -> int:
        n = 1
        for a in axes:
            n *= self.axes[a]
        return n

    def _leaf_psum(self, env: list[Known]) -> Any:
        return self._reduction(env, "psum")

    def _leaf_pmean(self, env: list[Known]) -> Any:
        return self._reduction(env, "pmean")

    def _leaf_extremum(self, env: list[Known]) -> Any:
        x = self.float_value(env)
        assert x is not None
        axes = self.some_axes()
        fun = self.one_of(["pmax", "pmin"])
        apart = not x.fixed
        bound = x.bound + 0.32 * self.lanes(axes)
        return lambda outs: Extremum((x.id,), outs, fun, axes, self.axes, apart), x.shape, bound

    def _leaf_tied(self, env: list[Known]) -> Any:
        x = self.float_value(env)
        assert x is not None
        dims = tuple(d for d in range(len(x.shape)) if self.draw(st.booleans()))
        axes = self.one_of([(), self.some_axes(), self.some_axes()])
        shape = tuple(s for d, s in enumerate(x.shape) if d not in dims)
        fun = self.one_of(["max", "min"])
        return lambda outs: Tied((x.id,), outs, fun, dims, axes), shape, x.bound + 0.5

    def _leaf_guarded(self, env: list[Known]) -> Any:
        x, z = self.float_value(env, shape=()), self.float_value(env, shape=())
        y = self.float_value(env)
        if x is None or z is None or y is None or not self.guards:
            return None
        axes = self.one_of([(), self.some_axes()])
        itself = self.draw(st.booleans())
        extra = (x if itself else z).bound * self.lanes(axes) if axes else 0.0
        bound = max(x.bound + 1.0, 1.0) ** 0.5 * y.bound + extra
        threshold = self.one_of([0.0123, -0.4321])
        ids = (x.id, y.id, z.id)
        return lambda outs: Guarded(ids, outs, threshold, axes, self.axes, itself), y.shape, bound

    def _leaf_index(self, env: list[Known]) -> Any:
        axes = self.some_axes()
        return lambda outs: AxisIndex((), outs, axes, self.axes), (), 0.25 * self.lanes(axes)

    def _leaf_dot(self, env: list[Known]) -> Any:
        x = self.float_value(env, ndim=(1, 2))
        if x is None:
            return None
        fitting = [
            v for v in reversed(env) if v.kind == "f" and v.shape and v.shape[0] == x.shape[-1]
        ]
        if not fitting:
            return None
        y = self.one_of(fitting)
        axes = self.one_of([(), (), self.some_axes()])
        shape = (*x.shape[:-1], *y.shape[1:])
        bound = x.bound * y.bound * x.shape[-1] * self.lanes(axes)
        return lambda outs: Dot((x.id, y.id), outs, axes, self.axes), shape, bound

    def _leaf_conv(self, env: list[Known]) -> Any:
        x = self.float_value(env, shape=(2, 3))
        w = self.float_value(env, shape=(2, 3))
        if x is None or w is None:
            return None
        return lambda outs: Conv((x.id, w.id), outs), (3,), x.bound * w.bound * 6

    def _leaf_sum(self, env: list[Known]) -> Any:
        x = self.float_value(env)
        assert x is not None
        dims = self.one_of([(d,) for d in range(len(x.shape))] + [tuple(range(len(x.shape)))])
        axes = self.one_of([(), self.some_axes()])
        shape = tuple(s for d, s in enumerate(x.shape) if d not in dims)
        bound = x.bound * self.lanes(axes)
        for d in dims:
            bound *= x.shape[d]
        return lambda outs: Sum((x.id,), outs, dims, axes, self.axes), shape, bound

    def _leaf_largest(self, env: list[Known]) -> Any:
        x = self.float_value(env, ndim=(1, 2))
        return x and (lambda outs: Largest((x.id,), outs), x.shape[:-1], x.bound)

    def _leaf_cumsum(self, env: list[Known]) -> Any:
        x = self.float_value(env, ndim=(1, 2))
        reverse = self.draw(st.booleans())
        return x and (lambda outs: Cumsum((x.id,), outs, reverse), x.shape, x.bound * x.shape[-1])

    def _leaf_transpose(self, env: list[Known]) -> Any:
        x = self.float_value(env, ndim=(2,))
        return x and (lambda outs: Transpose((x.id,), outs), x.shape[::-1], x.bound)

    def _leaf_reshape(self, env: list[Known]) -> Any:
        x = self.float_value(env, ndim=(1, 2))
        if x is None:
            return None
        n = 1
        for d in x.shape:
            n *= d
        shape = self.one_of([(n,), (n, 1), (1, n)] if len(x.shape) == 1 else [(n,), (n, 1)])
        return lambda outs: Reshape((x.id,), outs, shape), shape, x.bound

    def _leaf_broadcast(self, env: list[Known]) -> Any:
        x = self.float_value(env, ndim=(0, 1))
        if x is None:
            return None
        sizes = self.one_of([(3,), (2, 3)] if not x.shape else [(2,)])
        return lambda outs: Broadcast((x.id,), outs, sizes), (*sizes, *x.shape), x.bound

    def _leaf_concatenate(self, env: list[Known]) -> Any:
        x = self.float_value(env, ndim=(1, 2))
        if x is None:
            return None
        y = self.float_value(env, shape=x.shape)
        assert y is not None
        bound = max(x.bound, y.bound)
        return lambda outs: ConcatenateSlice((x.id, y.id), outs), x.shape, bound

    def _leaf_pad(self, env: list[Known]) -> Any:
        x = self.float_value(env, ndim=(1, 2))
        if x is None or x.shape[0] > 3:
            return None
        shape = (2 * x.shape[0] - 1, *x.shape[1:])
        return lambda outs: Pad((x.id,), outs), shape, max(x.bound, 0.5)

    def _leaf_gather(self, env: list[Known]) -> Any:
        table = self.float_value(env, ndim=(1, 2))
        index = self.index_value(env, self.one_of([0, 1]))
        if table is None or index is None or table.shape[0] < 2:
            return None
        shape = (*index.shape, *table.shape[1:])
        return lambda outs: Gather((table.id, index.id), outs), shape, table.bound

    def _leaf_take(self, env: list[Known]) -> Any:
        x = self.float_value(env, shape=(2, 3))
        index = self.index_value(env, 1)
        if x is None or index is None:
            return None
        return lambda outs: TakeAlong((x.id, index.id), outs), (2,), x.bound

    def _leaf_scatter(self, env: list[Known]) -> Any:
        x = self.float_value(env, ndim=(1, 2))
        index = self.index_value(env, 0)
        if x is None or index is None or x.shape[0] < 2:
            return None
        y = self.float_value(env, shape=x.shape[1:])
        if y is None:
            return None
        bound = x.bound + y.bound
        return lambda outs: ScatterAdd((x.id, index.id, y.id), outs), x.shape, bound

    def _leaf_stop(self, env: list[Known]) -> Any:
        x = self.float_value(env)
        assert x is not None
        return lambda outs: StopGradient((x.id,), outs), x.shape, x.bound

    # Operations with bodies return the operation and its results.

    def _operands(self, env: list[Known], count: int) -> list[Known]:
        """Values to pass to a body, of magnitude at most 4 as all are."""
        return [v for v in (self.float_value(env) for _ in range(count)) if v is not None]

    def _jit(self, env: list[Known], depth: int) -> Any:
        xs = self._operands(env, self.draw(st.integers(1, 2)))
        params = [self.new("f", x.shape, x.bound) for x in xs]
        shapes = [self.one_of(SHAPES) for _ in range(self.draw(st.integers(1, 2)))]
        body = self.body(env, params, 3, depth - 1, shapes)
        outs = [self.new("f", s, 2.0) for s in shapes]
        inline = self.draw(st.booleans())
        ids = tuple(x.id for x in xs)
        return Jit(ids, tuple(o.id for o in outs), body, inline), outs

    def _custom_jvp(self, env: list[Known], depth: int) -> Any:
        xs = self._operands(env, self.draw(st.integers(1, 2)))
        params = [self.new("f", x.shape, x.bound) for x in xs]
        shapes = [self.one_of(SHAPES)]
        # Inside a rule that differentiates its function, linearize refuses loops of unknown length,
        # and reverse mode does not yet keep the guards of branches.
        loops, self.loops, self.guards = self.loops, False, False
        body = self.body(env, params, 2, depth - 1, shapes)
        self.loops, self.guards = loops, True
        outs = [self.new("f", s, 2.0) for s in shapes]
        ids = tuple(x.id for x in xs)
        factor = 1.0 if self.honest else 2.0
        return CustomJvp(ids, tuple(o.id for o in outs), body, factor), outs

    def _custom_vjp(self, env: list[Known], depth: int) -> Any:
        x = self.float_value(env)
        assert x is not None
        y = self.float_value(env, shape=x.shape)
        assert y is not None
        out = self.new("f", x.shape, y.bound)
        return CustomVjp((x.id, y.id), (out.id,), 1.0 if self.honest else 3.0), [out]

    def _custom_vjp_of_two(self, env: list[Known], depth: int) -> Any:
        x = self.float_value(env)
        assert x is not None
        y = self.float_value(env, shape=x.shape)
        z = self.partner(env, x)
        assert y is not None
        outs = [self.new("f", x.shape, y.bound), self.new("f", x.shape, 2 * x.bound + z.bound)]
        ids = (x.id, y.id, z.id)
        factor = 1.0 if self.honest else 3.0
        return CustomVjpOfTwo(ids, tuple(o.id for o in outs), factor), outs

    def _scan(self, env: list[Known], depth: int) -> Any:
        carries = self._operands(env, self.draw(st.integers(1, 2)))
        stacked = self.float_value(env, ndim=(1, 2)) if self.draw(st.booleans()) else None
        xs = [stacked] if stacked is not None else []
        length = xs[0].shape[0] if xs else self.draw(st.integers(0, 3))
        params = [self.new("f", c.shape, 4.0) for c in carries]
        params += [self.new("f", x.shape[1:], x.bound) for x in xs]
        shapes = [c.shape for c in carries]
        ys = [self.one_of(SHAPES[:2])] if self.draw(st.booleans()) else []
        body = self.body(env, params, 3, depth - 1, [*shapes, *ys])
        outs = [self.new("f", c.shape, max(2.0, c.bound)) for c in carries]
        # Only loops that run have outputs to go on with.
        if length:
            outs += [self.new("f", (length, *y), 2.0) for y in ys]
        else:
            body = Body(body.params, body.ops, body.outs[: len(carries)])
        reverse, unroll = self.draw(st.booleans()), self.one_of([1, 1, 2])
        ids = tuple(v.id for v in (*carries, *xs))
        op = Scan(ids, tuple(o.id for o in outs), body, len(carries), length, reverse, unroll)
        return op, outs

    def _branch(self, env: list[Known], depth: int) -> Any:
        which = self.index_value(env, 0)
        threshold = None
        if which is None or self.draw(st.booleans()):
            which, threshold = self.float_value(env, shape=()), 0.0567
        if which is None:
            return None
        xs = self._operands(env, self.draw(st.integers(0, 2)))
        shapes = [self.one_of(SHAPES)]
        bodies = []
        for _ in range(2 if threshold else self.draw(st.integers(2, 3))):
            params = [self.new("f", x.shape, x.bound) for x in xs]
            bodies.append(self.body(env, params, 2, depth - 1, shapes))
        outs = [self.new("f", s, 2.0) for s in shapes]
        ids = (which.id, *[x.id for x in xs])
        return Branch(ids, tuple(o.id for o in outs), tuple(bodies), threshold), outs

    def _map(self, env: list[Known], depth: int) -> Any:
        first = self.float_value(env, ndim=(1, 2))
        if first is None:
            return None
        size = first.shape[0]
        alike = [v for v in reversed(env) if v.kind == "f" and v.shape and v.shape[0] == size]
        xs = [first, *([self.one_of(alike)] if self.draw(st.booleans()) else [])]
        params = [self.new("f", x.shape[1:], x.bound) for x in xs]
        anonymous = self.draw(st.booleans())
        axis, outer = f"m{self.count}", self.axes
        if not anonymous:
            self.axes = {**outer, axis: size}
        shapes = [self.one_of(SHAPES[:2])]
        body = self.body(env, params, 3, depth - 1, shapes)
        self.axes = outer
        outs = [self.new("f", (size, *s), 2.0) for s in shapes]
        ids = tuple(x.id for x in xs)
        return Map(ids, tuple(o.id for o in outs), body, axis, size, anonymous), outs

    def _while(self, env: list[Known], depth: int) -> Any:
        count = self.index_value(env, 0)
        start = self.float_value(env, shape=())
        if not self.loops or count is None or start is None:
            return None
        params = [self.new("f", (), 4.0)]
        body = self.body(env, params, 2, 0, [()])
        out = self.new("f", (), max(start.bound, 2.0))
        more = self.draw(st.integers(0, 2))
        return While((count.id, start.id), (out.id,), body, more), [out]


@st.composite
def programs(draw: Any, loops: bool = True, honest: bool = False, size: int = 7) -> Program:
    """Programs over one or two named axes, of up to `size` operations and the bodies inside.

    Args:
        draw: Given by hypothesis.
        loops: Whether there are while loops, which have no reverse mode.
        honest: Whether derivatives are true: custom rules give the right one, none is stopped, and
            nothing is rounded.
            Other programs show more, but have no second derivative to speak of.
        size: Largest number of operations.
    """
    names = draw(st.sampled_from([("i",), ("i", "j")]))
    axes = {n: draw(st.sampled_from([3, 2, 1, 5])) for n in names}
    if len(axes) == 2:
        axes["j"] = draw(st.sampled_from([2, 3, 1]))
    drawing = Drawing(draw, axes, loops, honest)
    varying = st.sampled_from(
        [
            frozenset(),
            frozenset(names),
            *([frozenset("i"), frozenset("j")] if len(names) > 1 else []),
        ]
    )
    inputs: list[Input] = []
    env: list[Known] = []
    for _ in range(draw(st.integers(2, 4))):
        inputs.append(Input("f", draw(st.sampled_from(SHAPES)), draw(varying)))
    for shape in draw(st.sampled_from([[()], [(2,)], [(), (2,)]])):
        inputs.append(Input("i", shape, draw(varying)))
    for i in inputs:
        env.append(drawing.new(i.kind, i.shape, 1.5, fixed=i.kind == "f" and not i.names))
    params = tuple(v.id for v in env)
    ops: list[Op] = []
    for _ in range(draw(st.integers(1, size))):
        ops += drawing.op(env, 2)
    # Return what nothing has read, and something else.
    read = {a for op in ops for a in op.args}
    made = [v.id for v in reversed(env[len(inputs) :])]
    outs = [*[v for v in made if v not in read][:4], draw(st.sampled_from(made))]
    body = Body(params, tuple(ops), tuple(outs))
    return Program(
        axes, tuple(inputs), body, draw(st.integers(0, 10**6)), draw(st.sampled_from(STYLES))
    )
