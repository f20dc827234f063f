"""StableHLO of reductions and cumulative operations.

16-bit and narrower floating-point numbers are summed and multiplied in 32 bits and rounded once.
The position of an extreme is found as the least index at which it is attained (or at which there is
a NaN): two plain reductions, which vectorise where one over pairs does not. Cumulative operations
are windows that reach back to the first element; XLA rewrites those into scans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from axonym_core.errors import AxisNameError
from axonym_core.primitives import reductions as p
from axonym_core.programs import Primitive
from axonym_core.types import AxisName, ShapedArray, dtypes

from .registry import LoweringContext, register_lowering
from .types import tensor_type

Avals = Sequence[ShapedArray]


def accumulation_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Dtype in which sums of numbers of a dtype are accumulated."""
    if dtypes.is_floating(dtype) and dtype.itemsize < 4:
        return dtypes.float32
    return dtype


def refuse_named_axes(name: str, axis_names: tuple[AxisName, ...]) -> None:
    """Raise: a named axis that reaches the compiler has not been mapped."""
    if axis_names:
        raise AxisNameError(
            f"{name} sums over the named axes {axis_names}, and only positional programs can be "
            "compiled; map the axes with vmap or xmap"
        )


def identity(operation: str, dtype: np.dtype[Any]) -> Any:
    """The value that an operation on numbers of a dtype leaves alone."""
    if operation == "add":
        return 0
    if operation == "multiply":
        return 1
    if operation in ("and", "or"):
        return np.asarray(-1 if operation == "and" else 0).astype(dtype)
    least = operation == "maximum"
    if dtypes.is_bool(dtype):
        return not least
    if dtypes.is_floating(dtype):
        infinite = np.asarray(-np.inf if least else np.inf).astype(dtype)
        if np.isinf(infinite.astype(np.float64)):
            return infinite
        info = dtypes.finfo(dtype)
    else:
        info = dtypes.iinfo(dtype)
    return info.min if least else info.max


def reduce_with(
    ctx: LoweringContext, x: str, aval: ShapedArray, operation: str, axes: Sequence[int]
) -> str:
    """Reduce a value over dimensions with a StableHLO operation, in its own dtype."""
    if not axes:
        return x
    if dtypes.is_bool(aval.dtype):
        operation = {"maximum": "or", "minimum": "and"}.get(operation, operation)
    scalar = ShapedArray((), aval.dtype)
    init = ctx.constant(identity(operation, aval.dtype), scalar)
    shape = tuple([d for i, d in enumerate(aval.shape) if i not in axes])
    return ctx.op(
        f"stablehlo.reduce({x} init: {init}) applies stablehlo.{operation} across dimensions = "
        f"[{', '.join(map(str, axes))}] : ({ctx.type(aval)}, {ctx.type(scalar)}) -> "
        f"{tensor_type(shape, aval.dtype)}"
    )


def _widened(ctx: LoweringContext, x: str, aval: ShapedArray, out: ShapedArray, reduce: Any) -> str:
    """Apply `reduce(x, aval)` in the dtype for accumulation, and convert the result to `out`."""
    wide = accumulation_dtype(aval.dtype)
    if wide == aval.dtype:
        return reduce(x, aval)  # type: ignore[no-any-return]  # a name
    wide_aval = aval.update(dtype=wide)
    y = reduce(ctx.convert(x, aval, wide_aval), wide_aval)
    return ctx.convert(y, out.update(dtype=wide), out)


def _reduce_sum(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    x: str,
    *,
    axes: tuple[int, ...],
    axis_names: tuple[AxisName, ...],
) -> str:
    refuse_named_axes("reduce_sum", axis_names)
    return _widened(
        ctx, x, avals_in[0], avals_out[0], lambda y, aval: reduce_with(ctx, y, aval, "add", axes)
    )


def _reduce_prod(
    ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, *, axes: tuple[int, ...]
) -> str:
    return _widened(
        ctx,
        x,
        avals_in[0],
        avals_out[0],
        lambda y, aval: reduce_with(ctx, y, aval, "multiply", axes),
    )


def _def_reduction(primitive: Primitive, operation: str) -> None:
    def rule(
        ctx: LoweringContext,
        avals_in: Avals,
        avals_out: Avals,
        x: str,
        *,
        axes: tuple[int, ...],
        axis_names: tuple[AxisName, ...] = (),
    ) -> str:
        refuse_named_axes(primitive.name, axis_names)
        return reduce_with(ctx, x, avals_in[0], operation, axes)

    register_lowering(primitive, rule)


def _compare(ctx: LoweringContext, direction: str, x: str, y: str, aval: ShapedArray) -> str:
    t, bits = ctx.type(aval), tensor_type(aval.shape, dtypes.bool_)
    return ctx.op(f"stablehlo.compare {direction}, {x}, {y} : ({t}, {t}) -> {bits}")


def _def_index_reduction(primitive: Primitive, operation: str) -> None:
    def rule(
        ctx: LoweringContext,
        avals_in: Avals,
        avals_out: Avals,
        x: str,
        *,
        axis: int,
        index_dtype: Any,
    ) -> str:
        aval = avals_in[0]
        kept = [i for i in range(aval.ndim) if i != axis]
        reduced = ShapedArray([aval.shape[i] for i in kept], aval.dtype)
        extreme = reduce_with(ctx, x, aval, operation, (axis,))
        extreme = ctx.broadcast_in_dim(extreme, reduced, aval, kept)
        bool_type = tensor_type(aval.shape, dtypes.bool_)
        attained = _compare(ctx, "EQ", x, extreme, aval)
        if dtypes.is_floating(aval.dtype):
            # Where there is a NaN the extreme is NaN, which equals nothing.
            nan = _compare(ctx, "NE", x, x, aval)
            attained = ctx.op(f"stablehlo.or {attained}, {nan} : {bool_type}")
        indices = ShapedArray(aval.shape, index_dtype)
        iota = ctx.op(f"stablehlo.iota dim = {axis} : {ctx.type(indices)}")
        last = ctx.constant(aval.shape[axis] - 1, indices)
        where = ctx.op(
            f"stablehlo.select {attained}, {iota}, {last} : {bool_type}, {ctx.type(indices)}"
        )
        return reduce_with(ctx, where, indices, "minimum", (axis,))

    register_lowering(primitive, rule)


def _window(
    ctx: LoweringContext,
    x: str,
    aval: ShapedArray,
    init: Any,
    axis: int,
    reverse: bool,
    combine: Callable[[list[str]], list[str]],
) -> str:
    if aval.size == 0:
        return x
    n = aval.shape[axis]
    scalar = ShapedArray((), aval.dtype)
    window = [n if i == axis else 1 for i in range(aval.ndim)]
    low, high = (0, n - 1) if reverse else (n - 1, 0)
    padding = [[low, high] if i == axis else [0, 0] for i in range(aval.ndim)]
    t = ctx.type(scalar)
    initial = ctx.constant(init, scalar)
    region = ctx.region([t, t], combine, result_types=[t])
    sizes = ", ".join(map(str, window))
    attributes = (
        f"window_dimensions = array<i64: {sizes}>, "
        f"padding = dense<{padding}> : tensor<{aval.ndim}x2xi64>"
    )
    return ctx.op(
        f'"stablehlo.reduce_window"({x}, {initial}) <{{{attributes}}}> ({region}) : '
        f"({ctx.type(aval)}, {t}) -> {ctx.type(aval)}"
    )


def _def_cumulative(primitive: Primitive, operation: str, widens: bool) -> None:
    def rule(
        ctx: LoweringContext,
        avals_in: Avals,
        avals_out: Avals,
        x: str,
        *,
        axis: int,
        reverse: bool,
    ) -> str:
        def cumulate(y: str, aval: ShapedArray) -> str:
            name = operation
            if dtypes.is_bool(aval.dtype):
                name = {"maximum": "or", "minimum": "and"}[operation]
            t = ctx.type(ShapedArray((), aval.dtype))
            return _window(
                ctx,
                y,
                aval,
                identity(name, aval.dtype),
                axis,
                reverse,
                lambda args: [ctx.op(f"stablehlo.{name} {args[0]}, {args[1]} : {t}")],
            )

        if widens:
            return _widened(ctx, x, avals_in[0], avals_out[0], cumulate)
        return cumulate(x, avals_in[0])

    register_lowering(primitive, rule)


def _cumlogsumexp(
    ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, *, axis: int, reverse: bool
) -> str:
    def cumulate(y: str, aval: ShapedArray) -> str:
        scalar = ShapedArray((), aval.dtype)
        t = ctx.type(scalar)

        def combine(args: list[str]) -> list[str]:
            a, b = args
            larger = ctx.op(f"stablehlo.maximum {a}, {b} : {t}")
            difference = ctx.op(f"stablehlo.subtract {a}, {b} : {t}")
            distance = ctx.op(f"stablehlo.abs {difference} : {t}")
            negated = ctx.op(f"stablehlo.negate {distance} : {t}")
            smaller = ctx.op(f"stablehlo.exponential {negated} : {t}")
            excess = ctx.op(f"stablehlo.log_plus_one {smaller} : {t}")
            total = ctx.op(f"stablehlo.add {larger}, {excess} : {t}")
            # Equal infinities have no difference; NaN goes through `total`.
            equal = _compare(ctx, "EQ", a, b, scalar)
            doubled = ctx.op(f"stablehlo.add {a}, {ctx.constant(np.log(2.0), scalar)} : {t}")
            return [ctx.op(f"stablehlo.select {equal}, {doubled}, {total} : tensor<i1>, {t}")]

        return _window(ctx, y, aval, -np.inf, axis, reverse, combine)

    return _widened(ctx, x, avals_in[0], avals_out[0], cumulate)


register_lowering(p.reduce_sum_p, _reduce_sum)
register_lowering(p.reduce_prod_p, _reduce_prod)
_def_reduction(p.reduce_max_p, "maximum")
_def_reduction(p.reduce_min_p, "minimum")
_def_reduction(p.reduce_and_p, "and")
_def_reduction(p.reduce_or_p, "or")
_def_index_reduction(p.argmax_p, "maximum")
_def_index_reduction(p.argmin_p, "minimum")
_def_cumulative(p.cumsum_p, "add", True)
_def_cumulative(p.cumprod_p, "multiply", True)
_def_cumulative(p.cummax_p, "maximum", False)
_def_cumulative(p.cummin_p, "minimum", False)
register_lowering(p.cumlogsumexp_p, _cumlogsumexp)
