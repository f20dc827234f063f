"""StableHLO of the counter-based generator: its twenty rounds, written out.

Unrolled, the rounds are one chain of element-wise operations that XLA fuses into one kernel, often
together with what consumes the bits. A loop of five groups of rounds was measured (jaxlib 0.10 and
0.12, CPU): three times slower to compile, because a loop is several kernels, and four to eight
times slower to run on a million numbers, because each group passes through memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from axonym_core.primitives.random_bits import (
    BIT_DTYPES,
    KEY_PARITY,
    ROTATIONS,
    random_bits_p,
    threefry2x32_p,
)
from axonym_core.types import ShapedArray, dtypes

from .registry import LoweringContext, register_lowering

Avals = Sequence[ShapedArray]


def threefry(
    ctx: LoweringContext, aval: ShapedArray, key0: str, key1: str, x0: str, x1: str
) -> list[str]:
    """Write the rounds for operands that all have the type `aval`."""
    t = ctx.type(aval)

    def binary(operation: str, x: str, y: str) -> str:
        return ctx.op(f"stablehlo.{operation} {x}, {y} : {t}")

    parity = ctx.constant(KEY_PARITY, aval)
    keys = (key0, key1, binary("xor", binary("xor", key0, key1), parity))
    x0, x1 = binary("add", x0, keys[0]), binary("add", x1, keys[1])
    for group in range(5):
        for rotation in ROTATIONS[group % 2]:
            x0 = binary("add", x0, x1)
            left = binary("shift_left", x1, ctx.constant(rotation, aval))
            right = binary("shift_right_logical", x1, ctx.constant(32 - rotation, aval))
            x1 = binary("xor", binary("or", left, right), x0)
        x0 = binary("add", x0, keys[(group + 1) % 3])
        x1 = binary("add", binary("add", x1, keys[(group + 2) % 3]), ctx.constant(group + 1, aval))
    return [x0, x1]


def _threefry2x32(
    ctx: LoweringContext, avals_in: Avals, avals_out: Avals, *operands: str
) -> list[str]:
    aval = avals_out[0]
    full = [ctx.broadcast_scalar(x, a, aval) for x, a in zip(operands, avals_in, strict=True)]
    return threefry(ctx, aval, *full)


def _counters(ctx: LoweringContext, shape: tuple[int, ...]) -> list[str]:
    """High and low words of the row-major positions in an array."""
    size = math.prod(shape)
    words = ShapedArray(shape, dtypes.uint32)
    dtype = dtypes.uint32 if size <= 2**32 else dtypes.uint64
    flat, positions = ShapedArray((size,), dtype), ShapedArray(shape, dtype)
    position = ctx.op(f"stablehlo.iota dim = 0 : {ctx.type(flat)}")
    if shape != (size,):
        position = ctx.op(
            f"stablehlo.reshape {position} : ({ctx.type(flat)}) -> {ctx.type(positions)}"
        )
    if dtype == dtypes.uint32:
        return [ctx.constant(0, words), position]
    shifted = ctx.op(
        f"stablehlo.shift_right_logical {position}, {ctx.constant(32, positions)} : "
        f"{ctx.type(positions)}"
    )
    return [ctx.convert(shifted, positions, words), ctx.convert(position, positions, words)]


def _random_bits(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    key: str,
    *,
    shape: tuple[int, ...],
    bit_width: int,
) -> str:
    keys, out = avals_in[0], avals_out[0]
    lead = keys.shape[:-1]
    words = ShapedArray(out.shape, dtypes.uint32)
    one = ShapedArray((*lead, 1), dtypes.uint32)
    alone = ShapedArray(lead, dtypes.uint32)
    operands = []
    for i in range(2):
        ranges = ", ".join([*[f"0:{d}" for d in lead], f"{i}:{i + 1}"])
        word = ctx.op(f"stablehlo.slice {key} [{ranges}] : ({ctx.type(keys)}) -> {ctx.type(one)}")
        word = ctx.op(f"stablehlo.reshape {word} : ({ctx.type(one)}) -> {ctx.type(alone)}")
        operands.append(ctx.broadcast_in_dim(word, alone, words, range(len(lead))))
    counters = ShapedArray(shape, dtypes.uint32)
    for counter in _counters(ctx, shape):
        dims = range(len(lead), len(lead) + len(shape))
        operands.append(ctx.broadcast_in_dim(counter, counters, words, dims))
    bits0, bits1 = threefry(ctx, words, *operands)
    if bit_width == 64:
        bits0, bits1 = ctx.convert(bits0, words, out), ctx.convert(bits1, words, out)
        t = ctx.type(out)
        high = ctx.op(f"stablehlo.shift_left {bits0}, {ctx.constant(32, out)} : {t}")
        return ctx.op(f"stablehlo.or {high}, {bits1} : {t}")
    bits = ctx.op(f"stablehlo.xor {bits0}, {bits1} : {ctx.type(words)}")
    return ctx.convert(bits, words, out) if BIT_DTYPES[bit_width] != dtypes.uint32 else bits


register_lowering(threefry2x32_p, _threefry2x32)
register_lowering(random_bits_p, _random_bits)
