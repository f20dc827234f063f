"""Traced values that functions close over, as arguments of what the functions are given to.

A function with a derivative rule is run where its caller's transformation has handed it to: in an
enclosing trace, or long after the trace that was open when it was made. What it closes over of an
open transformation (a mapped value, an argument of `jit`, a value that is being differentiated)
means nothing there. So these values are found when the function is called and become operands of
its call, which every transformation treats as it treats arguments; where the function runs, the
operands stand in for what it closed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from axonym_core.arrays import Array
from axonym_core.programs import Jaxpr, Primitive
from axonym_core.settings import context
from axonym_core.tracing import Trace, Tracer, run_in
from axonym_core.trees import tree_flatten, tree_unflatten

# What holds no traced values, or only such as are none of the function's business.
_OPAQUE = (
    *(str, bytes, int, float, complex, type(None), type, ModuleType),
    *(np.ndarray, np.generic, np.dtype, Array, Jaxpr, Trace, Primitive),
)

_UNBOUND = CellType()
_MOST_OBJECTS = 10_000


class HasRules:
    """A function that carries further functions with it."""

    def functions(self) -> Sequence[Any]:
        """The function and those that it carries."""
        raise TypeError(f"{type(self).__name__} does not list its functions")


def closed_over(*roots: Any) -> list[Tracer]:
    """Tracers that functions close over, each once.

    Looked through are cells, defaults, attributes, the functions that wrappers wrap, the arguments
    of `functools.partial`, containers, and the attributes of objects.
    """
    found: dict[int, Tracer] = {}
    seen: set[int] = set()
    pending = list(roots)
    while pending and len(seen) < _MOST_OBJECTS:
        x = pending.pop()
        if isinstance(x, Tracer):
            found[id(x)] = x
        elif id(x) not in seen and not isinstance(x, _OPAQUE):
            seen.add(id(x))
            pending.extend(_parts(x))
    return list(found.values())


def _parts(x: Any) -> Iterator[Any]:
    if isinstance(x, FunctionType):
        for cell in x.__closure__ or ():
            if cell != _UNBOUND:
                yield cell.cell_contents
        yield from x.__defaults__ or ()
        yield from (x.__kwdefaults__ or {}).values()
        yield from x.__dict__.values()
    elif isinstance(x, MethodType):
        yield from (x.__func__, x.__self__)
    elif isinstance(x, partial):
        yield from (x.func, x.args, x.keywords)
    elif isinstance(x, Mapping):
        yield from x.values()
    elif isinstance(x, list | tuple | set | frozenset):
        yield from x
    elif isinstance(x, HasRules):
        yield from x.functions()
    elif hasattr(x, "__wrapped__"):
        yield x.__wrapped__
    else:
        leaves, _ = tree_flatten(x)
        if not (len(leaves) == 1 and leaves[0] is x):
            yield from leaves
        yield from getattr(x, "__dict__", {}).values()


class StandInTrace(Trace):
    """Hands everything to the trace below, with stand-ins in the place of closed-over tracers."""

    __slots__ = ("parent", "stand_ins")

    def __init__(self, parent: Trace, stand_ins: Mapping[int, Any]) -> None:
        super().__init__(parent.axis_env)
        self.parent = parent
        self.stand_ins = stand_ins

    def of(self, x: Any) -> Any:
        """What stands for a value: itself, unless it is a closed-over tracer."""
        return self.stand_ins.get(id(x), x) if isinstance(x, Tracer) else x

    def process(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Let the trace below process the operation, with stand-ins for operands."""
        operands = [self.of(x) for x in args]
        return run_in(self.parent, self.parent.process, primitive, operands, params)


def run_with(
    captured: Sequence[Tracer], values: Sequence[Any], fun: Callable[..., Any], *args: Any
) -> Any:
    """Run a function with values in the place of the tracers that it closes over.

    Returns:
        What the function returns, stand-ins in it included.
    """
    if not captured:
        return fun(*args)
    stand_ins = {id(x): value for x, value in zip(captured, values, strict=True)}
    trace = StandInTrace(context.trace, stand_ins)
    # A transformation that has returned lends its values to the rule for as long as that runs.
    ended = {x.owner for x in captured if not x.owner.alive}
    for owner in ended:
        owner.alive = True
    try:
        leaves, tree = tree_flatten(run_in(trace, fun, *args))
        return tree_unflatten(tree, [trace.of(x) for x in leaves])
    finally:
        for owner in ended:
            owner.alive = False
