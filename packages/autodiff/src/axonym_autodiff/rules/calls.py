"""Derivatives of calls: `jit`, and functions with derivative rules of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from axonym_core.extend import Zero, add_tangents, instantiate
from axonym_core.primitives.calls import custom_jvp_call_p, custom_vjp_call_p, jit_p
from axonym_core.programs import ALL, Jaxpr, Primitive
from axonym_core.settings import context
from axonym_core.tracing import run_and_end
from axonym_core.types import AxisName, ShapedArray, aval_of, dtypes, join_all_named

from ..errors import NotDifferentiableError, NotLinearError
from ..jvp_trace import JvpTrace
from ..linear_transpose import transpose_flat
from ..programs import Mask, jvp_program, split_program, tangent_aval, transpose_program
from ..rule_tables import (
    Reading,
    is_linear,
    register_jvp,
    register_linearization,
    register_transpose,
)
from ..tape import TapeTrace, register_split, sum_over_missing, widen


def nonzero_mask(tangents: Sequence[Any]) -> Mask:
    """Which tangents are not symbolic zeros."""
    return tuple([type(t) is not Zero for t in tangents])


def spread(values: Sequence[Any], present: Mask, avals: Sequence[ShapedArray]) -> list[Any]:
    """Put values at the places of a mask, and symbolic zeros elsewhere."""
    rest = iter(values)
    return [
        next(rest) if here else Zero(tangent_aval(a))
        for here, a in zip(present, avals, strict=True)
    ]


def chosen(values: Sequence[Any], mask: Mask) -> list[Any]:
    """The values at the places of a mask."""
    return [v for v, m in zip(values, mask, strict=True) if m]


def none(count: int) -> Mask:
    """A mask of that many False."""
    return (False,) * count


# jit


def _jit_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: Jaxpr, name: str
) -> tuple[Any, Any]:
    nonzero = nonzero_mask(tangents)
    program = jvp_program(jaxpr, nonzero, none(len(jaxpr.outvars)))
    outs = jit_p.bind(
        *program.jaxpr.consts,
        *primals,
        *chosen(tangents, nonzero),
        jaxpr=program.jaxpr.lifted(),
        name=f"jvp({name})",
    )
    count = len(jaxpr.outvars)
    return outs[:count], spread(outs[count:], program.nonzero, jaxpr.out_avals)


def _split_jit(
    tape: TapeTrace,
    args: Sequence[Any],
    tangents: Sequence[Any] | None,
    *,
    jaxpr: Jaxpr,
    name: str,
) -> tuple[list[Any], list[Any], Mask]:
    linear = tuple([tape.is_own(x) for x in args]) if tangents is None else nonzero_mask(tangents)
    split = split_program(
        jaxpr, linear, none(len(jaxpr.outvars)), differentiate=tangents is not None
    )
    known = args if tangents is not None else chosen(args, tuple([not m for m in linear]))
    outs = jit_p.bind(*split.primal.consts, *known, jaxpr=split.primal.lifted(), name=name)
    linear_outs = tape.record(
        jit_p,
        (
            *split.linear.consts,
            *split.residuals(known, outs),
            *chosen(args if tangents is None else tangents, linear),
        ),
        {"jaxpr": split.linear.lifted(), "name": f"linear({name})"},
    )
    return outs[: split.known_outs], linear_outs, split.linear_outs


def ct_types(cts: Sequence[Any]) -> tuple[ShapedArray | None, ...]:
    """Types of cotangents, None for symbolic zeros; part of the key of a transposed program."""
    return tuple([None if type(c) is Zero else aval_of(c).strip_weak_type() for c in cts])


def _jit_transpose(
    reading: Reading, cts: Sequence[Any], *operands: Any, jaxpr: Jaxpr, name: str
) -> list[Any]:
    linear = tuple([is_linear(x) for x in operands])
    program = transpose_program(jaxpr, linear, ct_types(cts), reading)
    outs = iter(
        jit_p.bind(
            *program.jaxpr.consts,
            *[x for x in operands if not is_linear(x)],
            *[c for c in cts if type(c) is not Zero],
            jaxpr=program.jaxpr.lifted(),
            name=f"transpose({name})",
        )
    )
    found = iter([next(outs) if m else None for m in program.nonzero])
    return [next(found) if m else None for m in linear]


register_jvp(jit_p, _jit_jvp)
register_transpose(jit_p, _jit_transpose, sums_named_axes=True)
register_split(jit_p, _split_jit)


# Functions with rules of their own. The rule speaks for the arguments. With respect to what the
# function closes over, its derivative is that of the function as it is.


def _tangents_of_consts(
    call: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], num_consts: int
) -> tuple[list[Any], list[Any]] | None:
    """Values and tangents of a function with its arguments fixed; None without tangents."""
    if not any(nonzero_mask(tangents[:num_consts])):
        return None
    trace = JvpTrace(context.trace)
    consts = [trace.lift(x, t) for x, t in zip(primals, tangents[:num_consts], strict=False)]
    outs = run_and_end((trace,), call, *consts, *primals[num_consts:])
    pairs = [trace.split(o) for o in outs]
    return [p for p, _ in pairs], [t for _, t in pairs]


def _summed(outs: Sequence[Any], tangents: Sequence[Any], more: Sequence[Any]) -> list[Any]:
    return [
        add_tangents(*[t if type(t) is Zero else widen(t, aval_of(o).named) for t in pair])
        for o, *pair in zip(outs, tangents, more, strict=True)
    ]


# custom_jvp


def _custom_jvp(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    call: Callable[..., Any],
    jvp: Callable[..., Any],
    num_consts: int,
) -> tuple[Any, Any]:
    through_consts = _tangents_of_consts(call, primals, tangents, num_consts)
    if through_consts is not None and not any(nonzero_mask(tangents[num_consts:])):
        return through_consts
    outs, out_tangents = jvp(
        primals[:num_consts], primals[num_consts:], [instantiate(t) for t in tangents[num_consts:]]
    )
    if through_consts is not None:
        out_tangents = _summed(outs, out_tangents, through_consts[1])
    return outs, out_tangents


register_jvp(custom_jvp_call_p, _custom_jvp)


# custom_vjp


def _linear_shape(
    *avals: ShapedArray,
    bwd: Any,
    num_res: int,
    mask: Mask,
    out_avals: tuple[ShapedArray, ...],
    in_avals: tuple[ShapedArray, ...],
) -> tuple[ShapedArray, ...]:
    return out_avals


def _linear_expand(
    *args: Any,
    bwd: Any,
    num_res: int,
    mask: Mask,
    out_avals: tuple[ShapedArray, ...],
    in_avals: tuple[ShapedArray, ...],
) -> list[Any]:
    """Tangents through a function with a vjp rule only: its backward rule, transposed."""
    residuals, tangents = args[:num_res], args[num_res:]
    # The backward rule is linear in the cotangents, so forward mode is its transpose: of one map
    # for all indices, whatever they share.
    everywhere = Reading(frozenset(context.trace.axis_env))
    outs: dict[int, Any] = {}
    for group in _alike(out_avals, everywhere):

        def backward(*cts: Any, group: Sequence[int] = group) -> list[Any]:
            results = _pull_back(bwd, residuals, dict(zip(group, cts, strict=True)), out_avals)
            return [
                widen(instantiate(r), a.named)
                for r, a, m in zip(results, in_avals, mask, strict=True)
                if m
            ]

        found = transpose_flat(backward, [out_avals[k] for k in group], tangents, everywhere)
        outs.update(zip(group, found, strict=True))
    return [instantiate(outs[k]) for k in range(len(out_avals))]


def _alike(avals: Sequence[ShapedArray], reading: Reading) -> list[list[int]]:
    """Positions of results that vary over the same collective axes, grouped."""
    groups: dict[frozenset[AxisName], list[int]] = {}
    for k, aval in enumerate(avals):
        groups.setdefault(reading.collective & aval.names, []).append(k)
    return list(groups.values())


def _pull_back(
    bwd: Any, residuals: Sequence[Any], cts: Mapping[int, Any], out_avals: Sequence[ShapedArray]
) -> list[Any]:
    """What the cotangents of some results contribute to those of the arguments."""
    given = [cts.get(k, Zero(a)) for k, a in enumerate(out_avals)]
    if len(cts) == len(given):
        given = [instantiate(ct) for ct in given]
    return bwd(residuals, given)  # type: ignore[no-any-return]  # Any by nature


# The linear map of a custom_vjp function: operands are residuals, then the tangents at `mask`.
custom_vjp_linear_p = Primitive(
    "custom_vjp_linear",
    _linear_shape,
    multiple_results=True,
    linear=ALL,
    own_axes=True,
    expand=_linear_expand,
    transient=True,
    absent={
        "evaluation": "expanded into its backward rule, transposed",
        "jvp": "expanded",
        "batching": "expanded",
        "lowering": "expanded",
    },
)


def _linear_transpose(
    reading: Reading,
    cts: Sequence[Any],
    *operands: Any,
    bwd: Any,
    num_res: int,
    mask: Mask,
    out_avals: tuple[ShapedArray, ...],
    in_avals: tuple[ShapedArray, ...],
) -> list[Any]:
    # The rule speaks for one index; an argument that all share has the sum over the axes that a
    # result varies over. So results that vary over other axes are pulled back by themselves.
    found: list[Any] = [Zero(a) for a in in_avals]
    for group in _alike(out_avals, reading):
        own = {k: cts[k] for k in group}
        if all(type(ct) is Zero for ct in own.values()):
            continue
        results = _pull_back(bwd, operands[:num_res], own, out_avals)
        for i, (ct, aval) in enumerate(zip(results, in_avals, strict=True)):
            if mask[i] and type(ct) is not Zero:
                varied = join_all_named([*[out_avals[k] for k in group], aval_of(ct)])
                found[i] = add_tangents(found[i], sum_over_missing(ct, aval, varied, reading))
    return [*[None] * num_res, *[ct for ct, m in zip(found, mask, strict=True) if m]]


register_transpose(custom_vjp_linear_p, _linear_transpose, sums_named_axes=True)


def _forward(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    linear: Callable[..., list[Any]],
    *,
    call: Any,
    fwd: Any,
    bwd: Any,
    num_consts: int,
) -> tuple[Any, Any]:
    """Results and tangents; `linear(*operands, **params)` applies or records the linear map."""
    through_consts = _tangents_of_consts(call, primals, tangents, num_consts)
    args, given = primals[num_consts:], tangents[num_consts:]
    mask = nonzero_mask(given)
    if through_consts is not None and not any(mask):
        return through_consts
    outs, residuals = fwd(primals[:num_consts], args)
    out_avals = tuple([tangent_aval(aval_of(o)) for o in outs])
    out_tangents = linear(
        *residuals,
        *chosen(given, mask),
        bwd=bwd,
        num_res=len(residuals),
        mask=mask,
        out_avals=out_avals,
        in_avals=tuple([tangent_aval(aval_of(p)) for p in args]),
    )
    # Integer results have no tangents, whatever was recorded for them.
    out_tangents = [
        Zero(a) if a.dtype == dtypes.float0 else t
        for t, a in zip(out_tangents, out_avals, strict=True)
    ]
    if through_consts is not None:
        out_tangents = _summed(outs, out_tangents, through_consts[1])
    return outs, out_tangents


def _custom_vjp_linearize(
    tape: TapeTrace, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    def record(*operands: Any, **linear_params: Any) -> list[Any]:
        return tape.record(custom_vjp_linear_p, operands, linear_params)  # type: ignore[no-any-return]  # Any by nature

    return _forward(primals, tangents, record, **params)


def _custom_vjp_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    try:
        return _forward(primals, tangents, custom_vjp_linear_p.bind, **params)
    except NotLinearError as error:
        raise NotDifferentiableError(
            "forward-mode differentiation of a custom_vjp function transposes its backward rule, "
            f"which is not possible here ({error}). Use reverse mode, or give the function a "
            "custom_jvp rule"
        ) from error


register_jvp(custom_vjp_call_p, _custom_vjp_jvp)
register_linearization(custom_vjp_call_p, _custom_vjp_linearize)
