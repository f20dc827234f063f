"""Derivatives of calls: `jit`, and functions with derivative rules of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from axonym_core import dtypes, lax
from axonym_core.avals import ShapedArray, aval_of, join_all_named
from axonym_core.jaxpr import Jaxpr
from axonym_core.primitive import ALL, Primitive
from axonym_core.primitives.calls import custom_jvp_call_p, custom_vjp_call_p, jit_p

from ..errors import CustomRuleError, NotDifferentiableError, NotLinearError
from ..linear_transpose import transpose_flat
from ..programs import Mask, jvp_program, split_program, tangent_aval, transpose_program
from ..rule_tables import (
    Reading,
    is_linear,
    linearize_rules,
    register_jvp,
    register_transpose,
)
from ..tape import TapeTrace, sum_over_missing, tape_rules
from ..zeros import Zero, instantiate


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


def _jit_linearize(
    tape: TapeTrace,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    jaxpr: Jaxpr,
    name: str,
) -> tuple[Any, Any]:
    nonzero = nonzero_mask(tangents)
    split = split_program(jaxpr, nonzero, none(len(jaxpr.outvars)), differentiate=True)
    outs = jit_p.bind(*split.primal.consts, *primals, jaxpr=split.primal.lifted(), name=name)
    out_tangents = tape.record(
        jit_p,
        (
            *split.linear.consts,
            *split.residuals(primals, outs),
            *chosen(tangents, nonzero),
        ),
        {"jaxpr": split.linear.lifted(), "name": f"linear({name})"},
    )
    outs = outs[: split.known_outs]
    return outs, spread(out_tangents, split.linear_outs, jaxpr.out_avals)


def _jit_on_tape(tape: TapeTrace, args: Sequence[Any], params: Mapping[str, Any]) -> list[Any]:
    jaxpr, name = params["jaxpr"], params["name"]
    linear = tuple([tape.is_own(x) for x in args])
    split = split_program(jaxpr, linear, none(len(jaxpr.outvars)), differentiate=False)
    known = chosen(args, tuple([not m for m in linear]))
    outs = jit_p.bind(*split.primal.consts, *known, jaxpr=split.primal.lifted(), name=name)
    linear_outs = iter(
        tape.record(
            jit_p,
            (*split.linear.consts, *split.residuals(known, outs), *chosen(args, linear)),
            {"jaxpr": split.linear.lifted(), "name": f"linear({name})"},
        )
    )
    known_outs = iter(outs)
    return [next(linear_outs) if m else next(known_outs) for m in split.linear_outs]


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
linearize_rules[jit_p] = _jit_linearize
tape_rules[jit_p] = _jit_on_tape


# custom_jvp


def _custom_jvp(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    call: Callable[..., Any],
    jvp: Callable[..., Any],
    num_consts: int,
) -> tuple[Any, Any]:
    _refuse_closed_over("custom_jvp", call, tangents[:num_consts])
    return jvp(  # type: ignore[no-any-return]  # Any by nature
        primals[num_consts:], [instantiate(t) for t in tangents[num_consts:]]
    )


def _refuse_closed_over(kind: str, call: Callable[..., Any], tangents: Sequence[Any]) -> None:
    if any(type(t) is not Zero for t in tangents):
        name = call.jaxpr.name if hasattr(call, "jaxpr") else "the function"
        raise CustomRuleError(
            f"{kind}: {name} closes over a value that is being differentiated, for which its rule "
            "gives no derivative; pass the value as an argument"
        )


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
    residuals = args[:num_res]
    tangents = iter(args[num_res:])
    given = [next(tangents) if m else Zero(a) for m, a in zip(mask, in_avals, strict=True)]

    def backward(*cts: Any) -> list[Any]:
        results = bwd(residuals, cts)
        return [
            instantiate(_as_ct(r, a)) for r, a, m in zip(results, in_avals, mask, strict=True) if m
        ]

    # The backward rule is linear in the cotangents, so forward mode is its transpose.
    outs = transpose_flat(backward, out_avals, [t for t in given if type(t) is not Zero])
    return [instantiate(o) for o in outs]


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


def _as_ct(ct: Any, aval: ShapedArray) -> Any:
    """Cotangent that a backward rule gave for an argument, checked; None means zero."""
    if ct is None or type(ct) is Zero or aval.dtype == dtypes.float0:
        return Zero(aval)
    got = aval_of(ct)
    if got.dtype == dtypes.float0:
        return Zero(aval)
    if got.shape != aval.shape:
        raise CustomRuleError(
            f"custom_vjp: the backward rule returned a cotangent of type {got} for an argument "
            f"whose tangents have type {aval}; shapes must agree"
        )
    if got.dtype != aval.dtype:
        ct = lax.convert_element_type(ct, aval.dtype)
    return ct


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
    results = bwd(operands[:num_res], [instantiate(c) for c in cts])
    operand_cts: list[Any] = []
    for ct, aval, m in zip(results, in_avals, mask, strict=True):
        if not m:
            continue
        checked = _as_ct(ct, aval)
        if type(checked) is not Zero:
            # The rule speaks for one index; an argument that all share has the sum.
            varied = join_all_named([*out_avals, aval_of(checked)])
            checked = sum_over_missing(checked, aval, varied, reading)
        operand_cts.append(checked)
    return [*[None] * num_res, *operand_cts]


register_transpose(custom_vjp_linear_p, _linear_transpose, sums_named_axes=True)


def _forward(
    primals: Sequence[Any], tangents: Sequence[Any], call: Any, fwd: Any, num_consts: int
) -> tuple[Any, Any, Mask, tuple[ShapedArray, ...]]:
    _refuse_closed_over("custom_vjp", call, tangents[:num_consts])
    outs, residuals = fwd(*primals[num_consts:])
    given = tangents[num_consts:]
    in_avals = tuple([tangent_aval(aval_of(p)) for p in primals[num_consts:]])
    return outs, residuals, nonzero_mask(given), in_avals


def _linear_params(
    bwd: Any, residuals: Any, mask: Mask, outs: Any, in_avals: Any
) -> dict[str, Any]:
    return {
        "bwd": bwd,
        "num_res": len(residuals),
        "mask": mask,
        "out_avals": tuple([tangent_aval(aval_of(o)) for o in outs]),
        "in_avals": in_avals,
    }


def _zero_integers(outs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """Integer results have no tangents, whatever was recorded for them."""
    return [
        Zero(tangent_aval(aval_of(o))) if tangent_aval(aval_of(o)).dtype == dtypes.float0 else t
        for o, t in zip(outs, tangents, strict=True)
    ]


def _custom_vjp_linearize(
    tape: TapeTrace,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    call: Any,
    fwd: Any,
    bwd: Any,
    num_consts: int,
) -> tuple[Any, Any]:
    outs, residuals, mask, in_avals = _forward(primals, tangents, call, fwd, num_consts)
    out_tangents = tape.record(
        custom_vjp_linear_p,
        (*residuals, *chosen(tangents[num_consts:], mask)),
        _linear_params(bwd, residuals, mask, outs, in_avals),
    )
    return outs, _zero_integers(outs, out_tangents)


def _custom_vjp_jvp(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    call: Any,
    fwd: Any,
    bwd: Any,
    num_consts: int,
) -> tuple[Any, Any]:
    outs, residuals, mask, in_avals = _forward(primals, tangents, call, fwd, num_consts)
    try:
        out_tangents = custom_vjp_linear_p.bind(
            *residuals,
            *chosen(tangents[num_consts:], mask),
            **_linear_params(bwd, residuals, mask, outs, in_avals),
        )
    except NotLinearError as error:
        raise NotDifferentiableError(
            "forward-mode differentiation of a custom_vjp function transposes its backward rule, "
            f"which is not possible here ({error}). Use reverse mode, or give the function a "
            "custom_jvp rule"
        ) from error
    return outs, _zero_integers(outs, out_tangents)


register_jvp(custom_vjp_call_p, _custom_vjp_jvp)
linearize_rules[custom_vjp_call_p] = _custom_vjp_linearize
