"""Primitives: the operations that traces, rules and backends know.

A primitive is a name, a shape rule and facts. What it *does* under evaluation, differentiation,
batching and lowering stands in rule tables of the packages that own those transformations, keyed by
the primitive; what is *true* of it is said here, and nowhere listed again: a transformation that
wants to know whether an operation is linear, element-wise, cheap to repeat, has effects or talks to
other indices of an axis asks the primitive. `bind` hands operands to the current trace.

Named axes: the result of a primitive varies over the union of its operands' axes, which `out_avals`
adds by itself. A primitive that names axes, or holds programs, says in its shape rule over which
axes its results vary.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, final

from ..errors import JaxprTypeError, PrimitiveNameError
from ..settings.caches import BoundedCache, exact_items
from ..settings.thread_context import context
from ..types.avals import AxisName, ShapedArray, join_all_named, join_named
from .effects import Effect, Effects

Cell = Literal["evaluation", "jvp", "transpose", "batching", "lowering"]

Kind = Literal["elementwise", "moving", "repeating", "contraction", "call", "other"]
"""What sort of operation a primitive is:

* `elementwise`: operands of one shape, or of rank 0, give one result of that shape, position by
  position. Mapping over an axis applies it to the larger arrays, without a rule of its own.
* `moving`: elements of the operands go to other places, each to one at most.
* `repeating`: the same, each to several places (a broadcast).
* `contraction`: reads its operands from memory, most elements several times.
* `call`: does what its one program does, on its operands as they are.
"""

_SHAPES_KEPT = 8192

ALL: Sequence[int] = range(sys.maxsize)
"""All operands of a primitive, as the value of `linear`."""


@final
class Primitive:
    """An operation.

    Args:
        name: Name under which it is printed and pickled. Of one's own primitives it starts with
            the name of one's package, as in `fields.laplacian`.
        shape_rule: `shape_rule(*avals, **params)` returns the result's aval, or a sequence of them
            where `multiple_results`. Named axes are added by the framework unless `own_axes`.
        multiple_results: Whether `bind` returns a list.
        kind: What sort of operation it is.
        linear: Positions of the operands in which it is linear together, the others being fixed;
            `ALL` for all of them.
        separately: It is linear in each of them alone, the others among them being fixed, as a
            product is.
        cheap: Whether it costs less to repeat it than to read a saved result.
        uses_axes: `uses_axes(params)` returns the axis names that an application refers to itself.
        communicates: Whether the indices of these axes learn of each other's operands, as in a sum
            over the axis. An operation that only mentions an axis (`pbroadcast`) does not.
        own_axes: Whether the shape rule gives the named axes of the results; by default where it
            names axes or holds programs.
        programs: Names of the parameters that hold programs: a `Jaxpr`, a `StagedFunction`, or
            (nested) tuples of them.
        effects: What it does besides giving results, not counting what its programs do.
        stage: `stage(trace, args, params)` replaces the recording of an equation by a staging
            trace (for primitives whose parameters are Python functions).
        expand: `expand(*args, **params)` says what it does in terms of other primitives. Whoever
            has no rule of its own for the primitive uses it: every trace, and both backends.
        transient: Whether only open transformations know it: staging records what it expands to.
        absent: Reasons for rules that this primitive does not have, by cell of the rule matrix;
            for messages.

    Raises:
        PrimitiveNameError: Another module has defined a primitive of this name.
    """

    __slots__ = (
        "_cache",
        "absent",
        "cheap",
        "communicates",
        "effects",
        "expand",
        "kind",
        "linear",
        "module",
        "multiple_results",
        "name",
        "own_axes",
        "plain",
        "programs",
        "separately",
        "shape_rule",
        "stage",
        "transient",
        "uses_axes",
    )

    def __init__(
        self,
        name: str,
        shape_rule: Callable[..., Any],
        *,
        multiple_results: bool = False,
        kind: Kind = "other",
        linear: Sequence[int] = (),
        separately: bool = False,
        cheap: bool = False,
        uses_axes: Callable[[Mapping[str, Any]], Sequence[AxisName]] | None = None,
        communicates: bool = True,
        own_axes: bool | None = None,
        programs: Sequence[str] = (),
        effects: Iterable[Effect] = (),
        stage: Callable[..., Any] | None = None,
        expand: Callable[..., Any] | None = None,
        transient: bool = False,
        absent: Mapping[Cell, str] | None = None,
    ) -> None:
        self.name = name
        self.shape_rule = shape_rule
        self.multiple_results = multiple_results
        self.kind: Kind = kind
        self.linear = linear
        self.separately = separately
        self.cheap = cheap and not effects
        self.uses_axes = uses_axes
        self.communicates = communicates
        self.programs = tuple(programs)
        self.own_axes = bool(programs) or uses_axes is not None if own_axes is None else own_axes
        self.effects: Effects = frozenset(effects)
        self.plain = uses_axes is None and not self.programs and not self.effects
        self.expand = expand
        self.stage = self._stage_expanded if transient else stage
        self.transient = transient
        self.absent: Mapping[Cell, str] = dict(absent or {})
        self._cache: BoundedCache[Any] = BoundedCache(_SHAPES_KEPT)
        self.module: str = sys._getframe(1).f_globals.get("__name__", "")
        _register(self)

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the primitive to operands, through the current trace.

        Args:
            *args: Arrays, tracers, NumPy arrays or scalars, Python scalars.
            **params: Static parameters; all must be hashable.

        Returns:
            One value, or a list of them where the primitive has multiple results.
        """
        return context.trace.process(self, args, params)

    def out_avals(self, avals: tuple[ShapedArray, ...], params: Mapping[str, Any]) -> Any:
        """Aval (or tuple of avals) of the results for operands of the given avals. Cached.

        Raises:
            TypeError: A parameter is not hashable.
        """
        key: Any = avals
        if params:
            try:
                key = (avals, exact_items(params))
            except TypeError:
                self._refuse_unhashable(params)
                raise
        found = self._cache.young.get(key) or self._cache.get(key)
        if found is not None:
            return found
        out = self.shape_rule(*avals, **params)
        if self.multiple_results:
            out = tuple(out)
        if not self.own_axes:
            named = join_all_named(avals)
            if named:
                out = (
                    tuple(o.update(named_shape=join_named(o.named, named)) for o in out)
                    if self.multiple_results
                    else out.update(named_shape=join_named(out.named, named))
                )
        self._cache.put(key, out)
        return out

    def linear_in(self, positions: Sequence[int]) -> bool:
        """Whether it is linear in the operands at these positions together, the others fixed."""
        inside = all([i in self.linear for i in positions])
        return inside and (not self.separately or len(positions) == 1)

    def _stage_expanded(self, trace: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        assert self.expand is not None, f"{self.name} is transient, so it says what it expands to"
        return self.expand(*args, **params)

    def why_absent(self, cell: Cell) -> str:
        """Why it has no rule in a cell of the matrix; empty where no reason is known."""
        if cell == "transpose" and not self.linear:
            return self.absent.get(cell, "it is not linear")
        return self.absent.get(cell, "")

    def _refuse_unhashable(self, params: Mapping[str, Any]) -> None:
        for key, value in params.items():
            try:
                hash(value)
            except TypeError:
                raise JaxprTypeError(
                    f"parameter {key!r} of primitive {self.name} is not hashable "
                    f"({type(value).__name__}); pass arrays as operands and lists as tuples"
                ) from None

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by name: primitives are global."""
        return (lookup, (self.name,))


registry: dict[str, Primitive] = {}
"""All primitives by name."""


def _register(primitive: Primitive) -> None:
    """Make a primitive known by its name.

    A module may define a name again: it was reloaded, or a cell of a notebook ran twice. The new
    primitive takes the place of the old one, whose rules the module registers anew.
    """
    known = registry.get(primitive.name)
    if known is not None and known.module != primitive.module:
        raise PrimitiveNameError(
            f"primitive {primitive.name!r} is defined in {known.module} already, and "
            f"{primitive.module} would define another one; put the name of your package before "
            f"it, as in 'mypackage.{primitive.name}'"
        )
    registry[primitive.name] = primitive


def lookup(name: str) -> Primitive:
    """Return the primitive of a name.

    Raises:
        PrimitiveNameError: There is none.
    """
    found = registry.get(name)
    if found is None:
        raise PrimitiveNameError(
            f"no primitive {name!r} is defined; import the module that defines it first"
        )
    return found
