"""Calls: `jit` of a staged program, and functions with derivative rules of their own.

`jit_p` holds the jaxpr that it calls. The custom rules' primitives hold Python callables on flat
lists; a staging trace turns the function (not its rules) into a `StagedFunction`, a callable with
its jaxpr at hand, so that one primitive serves inside and outside of staged programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from ..errors import JaxprTypeError
from ..programs.evaluation import eval_jaxpr, lift_consts
from ..programs.jaxpr import Jaxpr, ProgramHolder
from ..programs.primitive import ALL, Primitive
from ..settings.caches import exact, register_key
from ..tracing.staging import JaxprTrace, trace_flat
from ..types.avals import ShapedArray, aval_of


@final
class StagedFunction(ProgramHolder):
    """A flat function given by its jaxpr. Compared by the identity of the jaxpr."""

    __slots__ = ()

    def __call__(self, *args: Any) -> list[Any]:
        """Evaluate the jaxpr in the current trace."""
        return eval_jaxpr(self.jaxpr, *args)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StagedFunction) and self.jaxpr is other.jaxpr

    def __hash__(self) -> int:
        return hash(self.jaxpr)


register_key(StagedFunction, lambda f: (StagedFunction, exact(f.jaxpr)))


def check_operands(name: str, jaxpr: Jaxpr, avals: Sequence[ShapedArray]) -> None:
    """Check that operands have the types of a jaxpr's arguments (weakness aside)."""
    if len(avals) != len(jaxpr.in_avals):
        raise JaxprTypeError(
            f"{name}: {jaxpr.name} takes {len(jaxpr.in_avals)} operands, got {len(avals)}"
        )
    for i, (given, wanted) in enumerate(zip(avals, jaxpr.in_avals, strict=True)):
        if given is not wanted and given.strip_weak_type() is not wanted.strip_weak_type():
            raise JaxprTypeError(
                f"{name}: operand {i} ({jaxpr.debug.argument(i)} of {jaxpr.name}) has type "
                f"{given}, the program was staged for {wanted}; stage it for this type"
            )


def _jit_shape(*avals: ShapedArray, jaxpr: Jaxpr, name: str) -> tuple[ShapedArray, ...]:
    check_operands(f"jit of {name}", jaxpr, avals)
    return jaxpr.out_avals


jit_p = Primitive(
    "jit", _jit_shape, multiple_results=True, kind="call", linear=ALL, programs=("jaxpr",)
)


def _custom_shape(*avals: ShapedArray, call: Any, **rules: Any) -> tuple[ShapedArray, ...]:
    check_operands("function with custom derivatives", call.jaxpr, avals)
    out: tuple[ShapedArray, ...] = call.jaxpr.out_avals
    return out


def _call(*args: Any, call: Callable[..., Any], **rules: Any) -> Any:
    return call(*args)


def _stage_custom(primitive_name: str) -> Callable[..., Any]:
    def stage(trace: JaxprTrace, args: Sequence[Any], params: Mapping[str, Any]) -> list[Any]:
        primitive = custom_jvp_call_p if primitive_name == "jvp" else custom_vjp_call_p
        avals = [aval_of(a) for a in args]
        call = params["call"]
        if isinstance(call, StagedFunction) and tuple(avals) == call.jaxpr.in_avals:
            return trace.record(primitive, args, params)  # type: ignore[no-any-return]  # Any by nature
        jaxpr, consts = lift_consts(trace_flat(call, avals, axis_env=trace.axis_env))
        staged = {
            **params,
            "call": StagedFunction(jaxpr),
            "num_consts": params["num_consts"] + len(consts),
        }
        return trace.record(primitive, (*consts, *args), staged)  # type: ignore[no-any-return]  # Any by nature

    return stage


# Operands: num_consts values that the function and its rule close over, then the arguments.
# Parameters: call(*consts, *args) -> outs; jvp(consts, primals, tangents) -> (outs, tangents_out),
# where tangents are arrays (zeros instantiated) and tangents_out may be symbolic zeros.
custom_jvp_call_p = Primitive(
    "custom_jvp_call",
    _custom_shape,
    multiple_results=True,
    kind="call",
    programs=("call",),
    stage=_stage_custom("jvp"),
    expand=_call,
    absent={"transpose": "differentiated by its own rule"},
)

# Operands as above. Parameters: call(*consts, *args) -> outs; fwd(consts, args) -> (outs,
# residuals); bwd(residuals, cts) -> one cotangent per argument. Cotangents may be symbolic zeros.
custom_vjp_call_p = Primitive(
    "custom_vjp_call",
    _custom_shape,
    multiple_results=True,
    kind="call",
    programs=("call",),
    stage=_stage_custom("vjp"),
    expand=_call,
    absent={"transpose": "differentiated by its own rule"},
)
