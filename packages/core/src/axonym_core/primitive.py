"""Primitives: the operations that traces, rules and backends know.

A primitive is a name, a shape rule and a few facts; what it *does* under evaluation,
differentiation, batching and lowering stands in rule tables of the packages that own those
transformations, keyed by the primitive. `bind` hands operands to the current trace.

Named axes: the result of a primitive varies over the union of its operands' axes, which `out_avals`
adds by itself. A primitive with `collective=True` says in its shape rule over which axes its
results vary, and `uses_axes` tells which axes an application refers to by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, final

from .avals import AxisName, ShapedArray, join_all_named, join_named
from .context import context
from .errors import JaxprTypeError

Cell = Literal["evaluation", "jvp", "transpose", "batching", "lowering"]

_CACHE_LIMIT = 8192


@final
class Primitive:
    """An operation.

    Args:
        name: Name under which it is printed.
        shape_rule: `shape_rule(*avals, **params)` returns the result's aval, or a sequence of them
            where `multiple_results`. Named axes are added by the framework unless `collective`.
        multiple_results: Whether `bind` returns a list.
        collective: Whether the shape rule itself gives the named axes of the results.
        uses_axes: `uses_axes(params)` returns the axis names that an application refers to.
        communicates: Whether the indices of these axes learn of each other's operands, as in a sum
            over the axis. An operation that only mentions an axis (`pbroadcast`) does not.
        stage: `stage(trace, args, params)` replaces the recording of an equation by a staging
            trace (for primitives whose parameters are Python functions).
        expand: `expand(*args, **params)` says what it does in terms of other primitives. It is
            what evaluation does, and every trace that has no rule of its own for the primitive.
        absent: Reasons for rules that this primitive does not have, by cell of the rule matrix.
    """

    __slots__ = (
        "_cache",
        "absent",
        "collective",
        "communicates",
        "expand",
        "multiple_results",
        "name",
        "shape_rule",
        "stage",
        "uses_axes",
    )

    def __init__(
        self,
        name: str,
        shape_rule: Callable[..., Any],
        *,
        multiple_results: bool = False,
        collective: bool = False,
        uses_axes: Callable[[Mapping[str, Any]], Sequence[AxisName]] | None = None,
        communicates: bool = True,
        stage: Callable[..., Any] | None = None,
        expand: Callable[..., Any] | None = None,
        absent: Mapping[Cell, str] | None = None,
    ) -> None:
        self.name = name
        self.shape_rule = shape_rule
        self.multiple_results = multiple_results
        self.collective = collective
        self.uses_axes = uses_axes
        self.communicates = communicates
        self.stage = stage
        self.expand = expand
        self.absent: Mapping[Cell, str] = dict(absent or {})
        self._cache: dict[Any, Any] = {}
        registry[name] = self

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
        key = (avals, *params.values())
        try:
            return self._cache[key]
        except KeyError:
            pass
        except TypeError:
            self._refuse_unhashable(params)
            raise
        out = self.shape_rule(*avals, **params)
        if self.multiple_results:
            out = tuple(out)
        if not self.collective:
            named = join_all_named(avals)
            if named:
                out = (
                    tuple(o.update(named_shape=join_named(o.named, named)) for o in out)
                    if self.multiple_results
                    else out.update(named_shape=join_named(out.named, named))
                )
        if len(self._cache) >= _CACHE_LIMIT:
            self._cache.clear()
        self._cache[key] = out
        return out

    def axes_used(self, params: Mapping[str, Any]) -> Sequence[AxisName]:
        """Axis names that an application with these parameters refers to."""
        return () if self.uses_axes is None else self.uses_axes(params)

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
"""All primitives by name. The newest definition of a name wins."""


def lookup(name: str) -> Primitive:
    """Return the primitive of a name.

    Raises:
        KeyError: There is none.
    """
    return registry[name]
