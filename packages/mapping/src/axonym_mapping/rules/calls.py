"""Calls over a mapped axis: `jit`, and functions with derivative rules of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.avals import aval_of
from axonym_core.jaxpr import Jaxpr
from axonym_core.primitives.calls import (
    StagedFunction,
    custom_jvp_call_p,
    custom_vjp_call_p,
    jit_p,
)

from ..batching import ANONYMOUS, batch_program, map_flat
from ..errors import MappedAxisError
from ..rule_tables import Dim, MappedAxis, move_dim, move_to_front, register_batching


def _jit(
    axis: MappedAxis, args: Sequence[Any], dims: Sequence[Dim], *, jaxpr: Jaxpr, name: str
) -> tuple[Any, Any]:
    program = batch_program(jaxpr, axis, dims)
    outs = jit_p.bind(
        *program.jaxpr.consts, *args, jaxpr=program.jaxpr.lifted(), name=f"vmap({name})"
    )
    return outs, program.dims


register_batching(jit_p, _jit)


class _MappedResults:
    """Brings the results of a function and of its rule to the same layout.

    Which of the two runs first depends on the enclosing transformations; both must agree on which
    results carry the axis. Under an anonymous axis all do.
    """

    def __init__(self, axis: MappedAxis) -> None:
        self.axis = axis
        self.dims: list[Dim] | None = None

    def arrange(self, results: Sequence[tuple[Any, Dim, bool]]) -> list[Any]:
        """Values with the axis in front, where they vary."""
        everything = self.axis.name is ANONYMOUS
        dims: list[Dim] = [0 if v or everything else None for _, _, v in results]
        if self.dims is None:
            self.dims = dims
        return [
            self.one(val, dim, wanted)
            for (val, dim, _), wanted in zip(results, self.dims, strict=True)
        ]

    def one(self, val: Any, dim: Dim, wanted: Dim) -> Any:
        """A value in the layout of the result that it belongs to."""
        if wanted is not None:
            return move_to_front(val, dim, self.axis.size)
        if dim is not None:
            raise MappedAxisError(
                "a custom derivative rule gives a tangent that varies over axis "
                f"{self.axis.name!r} to a result that does not; sum it (lax.psum) in the rule"
            )
        return val


def _custom_jvp(
    axis: MappedAxis,
    args: Sequence[Any],
    dims: Sequence[Dim],
    *,
    call: Callable[..., Any],
    jvp: Callable[..., Any],
    num_consts: int,
) -> tuple[Any, Any]:
    layout = _MappedResults(axis)
    varying = _varying(call, axis, dims)

    def mapped_call(*values: Any) -> list[Any]:
        return layout.arrange(map_flat(call, axis, values, dims, varying))

    mapped_call.__name__ = getattr(call, "__name__", "custom_jvp_call")

    def mapped_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        own = dims[num_consts:]
        n = len(own)

        def both(*values: Any) -> list[Any]:
            outs, out_tangents = jvp(values[:n], values[n:])
            return [*outs, *[lax_zero(t, o) for t, o in zip(out_tangents, outs, strict=True)]]

        flags = varying[num_consts:]
        results = map_flat(both, axis, [*primals, *tangents], [*own, *own], [*flags, *flags])
        half = len(results) // 2
        outs = layout.arrange(results[:half])
        assert layout.dims is not None
        return outs, [
            layout.one(val, dim, wanted)
            for (val, dim, _), wanted in zip(results[half:], layout.dims, strict=True)
        ]

    outs = custom_jvp_call_p.bind(*args, call=mapped_call, jvp=mapped_jvp, num_consts=num_consts)
    return outs, layout.dims


def lax_zero(t: Any, out: Any) -> Any:
    """Array for a tangent that a rule left symbolic."""
    if hasattr(t, "dtype"):
        return t
    aval = aval_of(out)
    return lax.full(aval.shape, 0, aval.dtype)


def _varying(call: Any, axis: MappedAxis, dims: Sequence[Dim]) -> list[bool]:
    """Which operands vary by type; known where the function is staged."""
    if isinstance(call, StagedFunction):
        return [
            d is not None or axis.name in a.names
            for d, a in zip(dims, call.jaxpr.in_avals, strict=True)
        ]
    return [d is not None for d in dims]


def _custom_vjp(
    axis: MappedAxis,
    args: Sequence[Any],
    dims: Sequence[Dim],
    *,
    call: Callable[..., Any],
    fwd: Callable[..., Any],
    bwd: Callable[..., Any],
    num_consts: int,
) -> tuple[Any, Any]:
    layout = _MappedResults(axis)
    varying = _varying(call, axis, dims)
    own, own_varying = dims[num_consts:], varying[num_consts:]
    residual_layout: list[tuple[Dim, bool]] = []

    def mapped_call(*values: Any) -> list[Any]:
        return layout.arrange(map_flat(call, axis, values, dims, varying))

    mapped_call.__name__ = getattr(call, "__name__", "custom_vjp_call")

    def mapped_fwd(*values: Any) -> tuple[list[Any], list[Any]]:
        count = 0

        def both(*ins: Any) -> list[Any]:
            nonlocal count
            outs, residuals = fwd(*ins)
            count = len(outs)
            return [*outs, *residuals]

        results = map_flat(both, axis, values, own, own_varying)
        residual_layout[:] = [(d, v) for _, d, v in results[count:]]
        return layout.arrange(results[:count]), [r for r, _, _ in results[count:]]

    def mapped_bwd(residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        assert layout.dims is not None
        n = len(residuals)
        missing: list[int] = []

        def both(*values: Any) -> list[Any]:
            found = bwd(values[:n], values[n:])
            missing[:] = [i for i, ct in enumerate(found) if not hasattr(ct, "dtype")]
            return [ct for ct in found if hasattr(ct, "dtype")]

        results = iter(
            map_flat(
                both,
                axis,
                [*residuals, *cts],
                [*[d for d, _ in residual_layout], *layout.dims],
                [*[v for _, v in residual_layout], *[d is not None for d in layout.dims]],
            )
        )
        summed: list[Any] = []
        varied = any(d is not None for d in layout.dims)
        for i, dim in enumerate(own):
            if i in missing:
                summed.append(None)
                continue
            val, ct_dim, _ = next(results)
            summed.append(_argument_ct(axis, val, ct_dim, dim, varied))
        return summed

    outs = custom_vjp_call_p.bind(
        *args, call=mapped_call, fwd=mapped_fwd, bwd=mapped_bwd, num_consts=num_consts
    )
    return outs, layout.dims


def _argument_ct(axis: MappedAxis, ct: Any, ct_dim: Dim, dim: Dim, varied: bool) -> Any:
    """Cotangent of an argument from those at all indices: summed where they share the argument.

    `varied` says whether the function's results vary; if not, indices share the cotangent too.
    """
    if dim is not None:
        return move_dim(ct, ct_dim, dim, axis.size)
    if ct_dim is not None:
        return lax.reduce_sum(ct, (ct_dim,))
    if not varied:
        return ct
    return lax.mul(ct, np.dtype(aval_of(ct).dtype).type(axis.size))


register_batching(custom_jvp_call_p, _custom_jvp)
register_batching(custom_vjp_call_p, _custom_vjp)
