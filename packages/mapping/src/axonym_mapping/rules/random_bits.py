"""Batching of random bits: each key gives its own bits, as it would alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core.primitives.random_bits import random_bits_p, threefry2x32_p

from ..rule_tables import Dim, MappedAxis, align_elementwise, move_to_front, register_batching


def _threefry2x32(
    axis: MappedAxis, args: Sequence[Any], dims: Sequence[Dim]
) -> tuple[list[Any], list[Dim]]:
    aligned, dim = align_elementwise(axis, args, dims)
    return threefry2x32_p.bind(*aligned), [dim, dim]


def _random_bits(
    axis: MappedAxis,
    args: Sequence[Any],
    dims: Sequence[Dim],
    *,
    shape: tuple[int, ...],
    bit_width: int,
) -> tuple[Any, Dim]:
    keys = move_to_front(args[0], dims[0], axis.size)
    return random_bits_p.bind(keys, shape=shape, bit_width=bit_width), 0


register_batching(threefry2x32_p, _threefry2x32)
register_batching(random_bits_p, _random_bits)
