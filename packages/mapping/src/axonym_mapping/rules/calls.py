"""Calls over a mapped axis: `jit`, and functions with derivative rules of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.extend import Zero, add_tangents, instantiate
from axonym_core.primitives.calls import (
    StagedFunction,
    custom_jvp_call_p,
    custom_vjp_call_p,
    jit_p,
)
from axonym_core.programs import Jaxpr
from axonym_core.types import ShapedArray, aval_of

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
    n = len(args)

    def mapped_call(*values: Any) -> list[Any]:
        return layout.arrange(map_flat(call, axis, values, dims, varying))

    mapped_call.__name__ = getattr(call, "__name__", "custom_jvp_call")

    def mapped_jvp(
        consts: Sequence[Any], primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        def both(*values: Any) -> list[Any]:
            outs, out_tangents = jvp(values[:num_consts], values[num_consts:n], values[n:])
            return [*outs, *[instantiate(t) for t in out_tangents]]

        results = map_flat(
            both,
            axis,
            [*consts, *primals, *tangents],
            [*dims, *dims[num_consts:]],
            [*varying, *varying[num_consts:]],
        )
        half = len(results) // 2
        outs = layout.arrange(results[:half])
        assert layout.dims is not None
        return outs, [
            layout.one(val, dim, wanted)
            for (val, dim, _), wanted in zip(results[half:], layout.dims, strict=True)
        ]

    outs = custom_jvp_call_p.bind(*args, call=mapped_call, jvp=mapped_jvp, num_consts=num_consts)
    return outs, layout.dims


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
    own = dims[num_consts:]
    residual_layout: list[tuple[Dim, bool]] = []

    def mapped_call(*values: Any) -> list[Any]:
        return layout.arrange(map_flat(call, axis, values, dims, varying))

    mapped_call.__name__ = getattr(call, "__name__", "custom_vjp_call")

    def mapped_fwd(consts: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        count = 0

        def both(*ins: Any) -> list[Any]:
            nonlocal count
            outs, residuals = fwd(ins[:num_consts], ins[num_consts:])
            count = len(outs)
            return [*outs, *residuals]

        results = map_flat(both, axis, [*consts, *values], dims, varying)
        residual_layout[:] = [(d, v) for _, d, v in results[count:]]
        return layout.arrange(results[:count]), [r for r, _, _ in results[count:]]

    def pull_back(
        residuals: Sequence[Any], cts: Sequence[Any]
    ) -> list[tuple[Any, Dim, bool] | None]:
        """Cotangents of the arguments with their dimensions, before any sum; None for zeros."""
        assert layout.dims is not None
        n = len(residuals)
        given = [i for i, ct in enumerate(cts) if type(ct) is not Zero]
        nonzero: list[int] = []

        def both(*values: Any) -> list[Any]:
            inner = [
                ct if type(ct) is not Zero else Zero(_inner(ct.aval, d))
                for ct, d in zip(cts, layout.dims or (), strict=True)
            ]
            for i, value in zip(given, values[n:], strict=True):
                inner[i] = value
            found = bwd(values[:n], inner)
            nonzero[:] = [i for i, ct in enumerate(found) if type(ct) is not Zero]
            return [found[i] for i in nonzero]

        dims_given = [layout.dims[i] for i in given]
        results = map_flat(
            both,
            axis,
            [*residuals, *[cts[i] for i in given]],
            [*[d for d, _ in residual_layout], *dims_given],
            [*[v for _, v in residual_layout], *[d is not None for d in dims_given]],
        )
        places = dict(zip(nonzero, results, strict=True))
        return [places.get(i) for i in range(len(own))]

    def mapped_bwd(residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        # The rule speaks for one index; an argument that all share has the sum over them, but only
        # of what results contribute that vary. So these are pulled back apart from the others.
        assert layout.dims is not None
        varied = [d is not None for d in layout.dims]
        mixed = len(set(varied)) > 1 and None in own
        total: list[Any] = [Zero(aval_of(x).to_tangent()) for x in args[num_consts:]]
        for part in dict.fromkeys(varied) if mixed else [any(varied)]:
            if mixed:
                given = [
                    ct if v is part or type(ct) is Zero else Zero(aval_of(ct))
                    for ct, v in zip(cts, varied, strict=True)
                ]
            else:
                given = [instantiate(ct) for ct in cts]
            if all(type(ct) is Zero for ct in given):
                continue
            for i, (found, dim) in enumerate(zip(pull_back(residuals, given), own, strict=True)):
                if found is not None:
                    ct = _argument_ct(axis, found[0], found[1], dim, part)
                    total[i] = add_tangents(total[i], ct)
        return total

    outs = custom_vjp_call_p.bind(
        *args, call=mapped_call, fwd=mapped_fwd, bwd=mapped_bwd, num_consts=num_consts
    )
    return outs, layout.dims


def _inner(aval: ShapedArray, dim: Dim) -> ShapedArray:
    """Type at one index of a value that carries the axis, its named axes aside."""
    return aval if dim is None else aval.update(shape=aval.shape[:dim] + aval.shape[dim + 1 :])


def _argument_ct(axis: MappedAxis, ct: Any, ct_dim: Dim, dim: Dim, varied: bool) -> Any:
    """Cotangent of an argument from those at all indices: summed where they share the argument.

    `varied` says whether the results that it comes from vary; if not, indices share the cotangent.
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
