"""Lowering of control flow: `while`, `scan` and `cond` to StableHLO's `while` and `case`.

Their bodies are regions, which may refer to values outside of themselves; only what changes is
carried. A scan is a `while` whose carry starts with the number of the step: XLA recognises the
pattern and knows the trip count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from axonym_core.primitives import control as p
from axonym_core.programs import Jaxpr
from axonym_core.types import ShapedArray

from .registry import LoweringContext, register_lowering

_INT32 = ShapedArray((), np.dtype(np.int32))
_INT64 = ShapedArray((), np.dtype(np.int64))
_BOOL = "tensor<i1>"


def _loop(
    ctx: LoweringContext,
    types: list[str],
    initial: Sequence[str],
    condition: Callable[[list[str]], str],
    body: Callable[[list[str]], list[str]],
) -> list[str]:
    """Write a `stablehlo.while`, and return the names of its results."""
    test = ctx.region(types, lambda args: [condition(args)], result_types=[_BOOL])
    step = ctx.region(types, body, result_types=types)
    listed = ", ".join(types)
    text = f'"stablehlo.while"({", ".join(initial)}) ({test}, {step}) : ({listed}) -> ({listed})'
    out = ctx.op(text, len(types))
    return [out] if len(types) == 1 else out


def _while(
    ctx: LoweringContext,
    avals_in: Sequence[ShapedArray],
    avals_out: Sequence[ShapedArray],
    *operands: str,
    cond_jaxpr: Jaxpr,
    body_jaxpr: Jaxpr,
    cond_consts: int,
    body_consts: int,
) -> list[str]:
    for_condition = operands[:cond_consts]
    for_body = operands[cond_consts : cond_consts + body_consts]
    return _loop(
        ctx,
        [ctx.type(aval) for aval in avals_out],
        operands[cond_consts + body_consts :],
        lambda carry: ctx.inline(cond_jaxpr, *for_condition, *carry)[0],
        lambda carry: ctx.inline(body_jaxpr, *for_body, *carry),
    )


def _scan(
    ctx: LoweringContext,
    avals_in: Sequence[ShapedArray],
    avals_out: Sequence[ShapedArray],
    *operands: str,
    jaxpr: Jaxpr,
    length: int,
    reverse: bool,
    num_consts: int,
    num_carry: int,
    unroll: int,
) -> list[str]:
    start = num_consts + num_carry
    consts, carry, stacked = operands[:num_consts], operands[num_consts:start], operands[start:]
    stacked_avals = avals_in[start:]
    outputs = [ctx.constant(0, aval) for aval in avals_out[num_carry:]]
    if length == 0:
        return [*carry, *outputs]
    number = _INT32 if length < 2**31 else _INT64

    def steps(state: list[str], step: str, count: int) -> list[str]:
        """Write `count` steps from number `step` on; `state` is the carry and the outputs."""
        for i in range(count):
            at = step if i == 0 else _add(ctx, step, i, number)
            if reverse:
                last = ctx.constant(length - 1, number)
                kind = ctx.type(number)
                at = ctx.op(f"stablehlo.subtract {last}, {at} : {kind}")
            slices = [
                _take(ctx, x, aval, at, number)
                for x, aval in zip(stacked, stacked_avals, strict=True)
            ]
            out = ctx.inline(jaxpr, *consts, *state[:num_carry], *slices)
            avals = avals_out[num_carry:]
            outs = [
                _put(ctx, whole, aval, part, at, number)
                for whole, aval, part in zip(state[num_carry:], avals, out[num_carry:], strict=True)
            ]
            state = [*out[:num_carry], *outs]
        return state

    unroll = min(unroll, length)
    rounds = length // unroll
    state = [*carry, *outputs]
    if rounds > 1:
        kind = ctx.type(number)
        types = [kind, *[ctx.type(aval) for aval in avals_out]]

        def unfinished(args: list[str]) -> str:
            end = ctx.constant(rounds * unroll, number)
            return ctx.op(f"stablehlo.compare LT, {args[0]}, {end} : ({kind}, {kind}) -> {_BOOL}")

        def body(args: list[str]) -> list[str]:
            after = steps(args[1:], args[0], unroll)
            return [_add(ctx, args[0], unroll, number), *after]

        _, *state = _loop(ctx, types, [ctx.constant(0, number), *state], unfinished, body)
        done = rounds * unroll
    else:
        done = 0
    return steps(state, ctx.constant(done, number), length - done) if done < length else state


def _add(ctx: LoweringContext, x: str, n: int, number: ShapedArray) -> str:
    return ctx.op(f"stablehlo.add {x}, {ctx.constant(n, number)} : {ctx.type(number)}")


def _starts(ctx: LoweringContext, at: str, ndim: int, number: ShapedArray) -> tuple[str, str]:
    """Start indices of slice number `at` along dimension 0, and their types."""
    zero = ctx.constant(0, number) if ndim > 1 else ""
    names = ", ".join([at, *[zero] * (ndim - 1)])
    return names, ", ".join([ctx.type(number)] * ndim)


def _take(ctx: LoweringContext, x: str, aval: ShapedArray, at: str, number: ShapedArray) -> str:
    """Slice number `at` of an operand that is stacked along dimension 0."""
    names, types = _starts(ctx, at, aval.ndim, number)
    one = ctx.type(aval.update(shape=(1, *aval.shape[1:])))
    sizes = ", ".join(["1", *map(str, aval.shape[1:])])
    part = ctx.op(
        f"stablehlo.dynamic_slice {x}, {names}, sizes = [{sizes}] : "
        f"({ctx.type(aval)}, {types}) -> {one}"
    )
    return ctx.op(
        f"stablehlo.reshape {part} : ({one}) -> {ctx.type(aval.update(shape=aval.shape[1:]))}"
    )


def _put(
    ctx: LoweringContext, whole: str, aval: ShapedArray, part: str, at: str, number: ShapedArray
) -> str:
    """Stacked results with slice number `at` replaced."""
    names, types = _starts(ctx, at, aval.ndim, number)
    one = ctx.type(aval.update(shape=(1, *aval.shape[1:])))
    slice_type = ctx.type(aval.update(shape=aval.shape[1:]))
    part = ctx.op(f"stablehlo.reshape {part} : ({slice_type}) -> {one}")
    kind = ctx.type(aval)
    return ctx.op(
        f"stablehlo.dynamic_update_slice {whole}, {part}, {names} : "
        f"({kind}, {one}, {types}) -> {kind}"
    )


def _cond(
    ctx: LoweringContext,
    avals_in: Sequence[ShapedArray],
    avals_out: Sequence[ShapedArray],
    index: str,
    *operands: str,
    branches: tuple[Jaxpr, ...],
) -> list[str]:
    if len(branches) == 1:
        return ctx.inline(branches[0], *operands)
    types = [ctx.type(aval) for aval in avals_out]
    regions = []
    for branch in branches:

        def build(_: list[str], branch: Jaxpr = branch) -> list[str]:
            return ctx.inline(branch, *operands)

        regions.append(ctx.region([], build, result_types=types))
    out = ctx.op(
        f'"stablehlo.case"({index}) ({", ".join(regions)}) : '
        f"({ctx.type(avals_in[0])}) -> ({', '.join(types)})",
        len(types),
    )
    return [out] if len(types) == 1 else out


register_lowering(p.while_p, _while)
register_lowering(p.scan_p, _scan)
register_lowering(p.cond_p, _cond)
