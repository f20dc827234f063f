"""The trace of vectorising maps.

A `BatchTracer` holds a value of the parent trace that carries the mapped axis as one of its
positional dimensions, or as none of them (`dim=None`): then all indices share the value. Under a
*named* axis a tracer is what varies over the axis by type, shared or not; everything else does not
vary. Under an anonymous axis only values with a dimension are tracers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, final

from axonym_core import lax
from axonym_core.errors import InternalError
from axonym_core.programs import DebugInfo, Jaxpr, Primitive, axes_used, eval_jaxpr, source_info
from axonym_core.settings import context
from axonym_core.tracing import Trace, Tracer, run_and_end, trace_flat
from axonym_core.types import ShapedArray, aval_of, join_named

from .errors import BatchingRuleError
from .rule_tables import Dim, MappedAxis, batch_elementwise, batching_rules, move_to_front


@final
class _Anonymous:
    """Stands for the name of an axis without one. There is one, so that caches can key on it."""

    def __repr__(self) -> str:
        return "<no name>"


ANONYMOUS = _Anonymous()


class BatchTracer(Tracer):
    """A value that varies over the mapped axis."""

    __slots__ = ("_aval", "dim", "owner", "val")

    owner: BatchTrace

    def __init__(self, trace: BatchTrace, val: Any, dim: Dim) -> None:
        self.owner = trace
        self.val = val
        self.dim = dim
        self._aval: ShapedArray | None = None

    @property
    def aval(self) -> ShapedArray:  # type: ignore[override]  # computed when first asked for
        """Type at one index of the axis."""
        if self._aval is None:
            self._aval = self.owner.inner_aval(aval_of(self.val), self.dim)
        return self._aval

    @property
    def source(self) -> source_info.SourceInfo | None:
        """Where the value stands in the program, if the value below knows."""
        return self.val.source if isinstance(self.val, Tracer) else None

    def provenance(self) -> str:
        """Say that it is mapped, and what is known of the value below."""
        below = self.val.provenance() if isinstance(self.val, Tracer) else ""
        return f"The value is mapped over {self.owner.describe_axis()}. {below}"

    def __repr__(self) -> str:
        return f"Traced<{self.aval}>with<vmap>"


class BatchTrace(Trace):
    """Maps over one axis with the batching rules.

    Args:
        parent: Trace of the values that carry the axis.
        axis: Name and size; the name `ANONYMOUS` is in no environment.
    """

    __slots__ = ("axis", "named", "parent")

    def __init__(self, parent: Trace, axis: MappedAxis) -> None:
        self.named = axis.name is not ANONYMOUS
        super().__init__(
            parent.axis_env.extend(axis.name, axis.size) if self.named else parent.axis_env
        )
        self.parent = parent
        self.axis = axis

    def describe_axis(self) -> str:
        """The axis, for messages."""
        if self.named:
            return f"axis {self.axis.name!r} of size {self.axis.size}"
        return f"an axis of size {self.axis.size}"

    def inner_aval(self, aval: ShapedArray, dim: Dim) -> ShapedArray:
        """Type at one index of a value that carries the axis at `dim`."""
        shape = aval.shape if dim is None else aval.shape[:dim] + aval.shape[dim + 1 :]
        named = aval.named
        if self.named:
            named = join_named(named, ((self.axis.name, self.axis.size),))
        return ShapedArray(shape, aval.dtype, aval.weak_type, named)

    def tracer(self, val: Any, dim: Dim) -> BatchTracer:
        """Value that varies over the axis."""
        return BatchTracer(self, val, dim)

    def split(self, x: Any) -> tuple[Any, Dim, bool]:
        """Value of the parent, dimension of the axis, and whether the value varies over it."""
        if type(x) is BatchTracer and x.owner is self:
            return x.val, x.dim, True
        return x, None, False

    def process(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Apply the batching rule, or hand to the parent where the axis plays no part."""
        vals: list[Any] = []
        dims: list[Dim] = []
        varies = mapped = False
        for x in args:
            if type(x) is BatchTracer and x.owner is self:
                vals.append(x.val)
                dims.append(x.dim)
                varies = True
                mapped = mapped or x.dim is not None
            else:
                vals.append(x)
                dims.append(None)
        named_here = self.named and self._refers_to_axis(primitive, params, varies)
        previous = context.trace
        context.trace = self.parent
        try:
            if not named_here and not mapped:
                out = self.parent.process(primitive, vals, params)
                if not varies:
                    return out
                out_dims: Any = [None] * len(out) if primitive.multiple_results else None
            else:
                rule = batching_rules.get(primitive)
                if primitive.stage is not None:
                    # Its functions have no types that say which operands vary: dimensions do.
                    for i, x in enumerate(args):
                        if dims[i] is None and type(x) is BatchTracer and x.owner is self:
                            vals[i], dims[i] = move_to_front(vals[i], None, self.axis.size), 0
                pure = not primitive.programs and not primitive.effects
                if self.axis.size == 0 and not named_here and pure:
                    out, out_dims = self._of_nothing(primitive, args, params)
                elif rule is not None:
                    out, out_dims = rule(self.axis, vals, dims, **params)
                elif primitive.kind == "elementwise":
                    out, out_dims = batch_elementwise(primitive, self.axis, vals, dims, params)
                elif primitive.expand is not None:
                    context.trace = self
                    return primitive.expand(*args, **params)
                else:
                    raise BatchingRuleError(
                        f"primitive {primitive.name} has no batching rule "
                        f"({primitive.why_absent('batching') or 'none is registered'}); register "
                        "one with axonym_mapping.extend.register_batching"
                    )
        finally:
            context.trace = previous
        if not primitive.own_axes:
            if primitive.multiple_results:
                return [BatchTracer(self, o, d) for o, d in zip(out, out_dims, strict=True)]
            return BatchTracer(self, out, out_dims)
        return self._wrap_by_type(primitive, args, params, out, out_dims)

    def _of_nothing(
        self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """Results over an axis of size 0: empty, whatever the operation does at an index.

        So no rule needs to think of such an axis but those of operations that refer to it.
        """
        avals = primitive.out_avals(tuple([aval_of(x) for x in args]), params)
        if not primitive.multiple_results:
            return self._empty(avals), 0
        return [self._empty(aval) for aval in avals], [0] * len(avals)

    def _empty(self, aval: ShapedArray) -> Any:
        empty = lax.full((0, *aval.shape), 0, aval.dtype)
        if aval.weak_type:
            empty = lax.convert_element_type(empty, aval.dtype, weak_type=True)
        return lax.pbroadcast(empty, aval.without_axis(self.axis.name).named)

    def _refers_to_axis(
        self, primitive: Primitive, params: Mapping[str, Any], varies: bool
    ) -> bool:
        """Whether the operation mentions the axis, which the parent does not know."""
        if not primitive.own_axes:
            return False
        if primitive.expand is not None:
            return True  # what it refers to is known when it is expanded
        if self.axis.name in axes_used(primitive, params):
            return True
        # Where operands vary by type, types in the programs that it holds say so.
        return varies and bool(primitive.programs)

    def _wrap_by_type(
        self,
        primitive: Primitive,
        args: Sequence[Any],
        params: Mapping[str, Any],
        out: Any,
        out_dims: Any,
    ) -> Any:
        """Wrap the results of a primitive that says itself over which axes its results vary."""
        outs = out if primitive.multiple_results else (out,)
        dims = out_dims if primitive.multiple_results else (out_dims,)
        if not self.named or primitive.stage is not None:
            # An anonymous axis is in no type. Where parameters are Python functions, there are no
            # types yet, and the rule gives a dimension to all results that vary.
            varying = [d is not None for d in dims]
        else:
            avals = primitive.out_avals(tuple([aval_of(x) for x in args]), params)
            avals = avals if primitive.multiple_results else (avals,)
            varying = [self.axis.name in a.names for a in avals]
            for v, d in zip(varying, dims, strict=True):
                if d is not None and not v:
                    raise InternalError(
                        f"the batching rule of {primitive.name} returned a mapped value where the "
                        f"result's type does not vary over {self.axis.name!r}"
                    )
        wrapped = [
            BatchTracer(self, o, d) if v else o for o, d, v in zip(outs, dims, varying, strict=True)
        ]
        return wrapped if primitive.multiple_results else wrapped[0]


def map_flat(
    fun: Callable[..., Sequence[Any]],
    axis: MappedAxis,
    args: Sequence[Any],
    dims: Sequence[Dim],
    varying: Sequence[bool] | None = None,
    origin: str = "",
) -> list[tuple[Any, Dim, bool]]:
    """Run a flat function over a mapped axis, in the current trace.

    Args:
        fun: Function of one value per argument, returning a sequence.
        axis: The axis.
        args: Values that carry the axis.
        dims: Where they carry it.
        varying: Which arguments vary over the axis by type; by default those that carry it.
        origin: The transformation and its function, for messages.

    Returns:
        For each result its value, the dimension of the axis, and whether it varies by type.
    """
    trace = BatchTrace(context.trace, axis)
    trace.origin = origin
    own = [d is not None for d in dims] if varying is None else varying
    ins = [BatchTracer(trace, x, d) if v else x for x, d, v in zip(args, dims, own, strict=True)]
    return [trace.split(o) for o in run_and_end((trace,), fun, *ins)]


class BatchedProgram(NamedTuple):
    """A program over a mapped axis: the jaxpr on values that carry it, and where results do."""

    jaxpr: Jaxpr
    dims: tuple[Dim, ...]


def batch_program(
    jaxpr: Jaxpr,
    axis: MappedAxis,
    dims: Sequence[Dim],
    *,
    forced: Sequence[bool] | None = None,
    to_front: bool = False,
) -> BatchedProgram:
    """Map a staged program over an axis.

    Args:
        jaxpr: The program.
        axis: The axis.
        dims: Where the arguments carry it.
        forced: Which results must carry the axis (at dimension 0) even if all indices share them.
        to_front: Whether all results that carry the axis carry it at dimension 0.

    Returns:
        The mapped program; always the same object for the same arguments.
    """
    force = tuple(forced) if forced is not None else (False,) * len(jaxpr.outvars)
    key = ("batched", axis, tuple(dims), force, to_front, context.trace.axis_env)
    out_dims: list[Dim] = []

    def fun(*args: Any) -> list[Any]:
        varying = [
            d is not None or axis.name in a.names for d, a in zip(dims, jaxpr.in_avals, strict=True)
        ]
        results = map_flat(lambda *ins: eval_jaxpr(jaxpr, *ins), axis, args, dims, varying)
        outs = []
        for (val, dim, _), must in zip(results, force, strict=True):
            if must or (to_front and dim is not None):
                val, dim = move_to_front(val, dim, axis.size), 0
            outs.append(val)
            out_dims.append(dim)
        return outs

    def make() -> BatchedProgram:
        avals = [outer_aval(a, axis, d) for a, d in zip(jaxpr.in_avals, dims, strict=True)]
        staged = trace_flat(fun, avals, debug=DebugInfo(f"vmap({jaxpr.debug.name})"))
        return BatchedProgram(staged, tuple(out_dims))

    return jaxpr.derived(key, make)


def outer_aval(aval: ShapedArray, axis: MappedAxis, dim: Dim) -> ShapedArray:
    """Type of a value that carries the axis at `dim`, given its type at one index."""
    aval = aval.without_axis(axis.name)
    if dim is None:
        return aval
    return aval.update(shape=(*aval.shape[:dim], axis.size, *aval.shape[dim:]))
