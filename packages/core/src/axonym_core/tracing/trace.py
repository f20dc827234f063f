"""Traces: who interprets a primitive when it is bound.

There is one current trace per thread. `Primitive.bind` hands to it; it decides what the operation
means (evaluate, record, differentiate, batch) and reaches its own meaning of the operands through
its parent. A trace treats tracers that are not its own as constants of its parent. There is no
global stack of levels: a trace knows its parent, and the axes in scope.

A trace ends with the transformation that opened it. Its tracers then refuse to be used, naming the
place where they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..arrays import backends
from ..arrays.array import Array, Need
from ..errors import ConcretizationError, TracerLeakError
from ..programs.source_info import SourceInfo, describe
from ..settings.thread_context import _Context, context
from ..types import axes
from ..types.avals import ShapedArray, aval_of
from .concretization import refuse_numbers

if TYPE_CHECKING:
    from ..programs.primitive import Primitive

T = TypeVar("T")


class Trace:
    """Interpreter of primitives. Subclasses implement `process`.

    Attributes:
        axis_env: The named axes in scope while this trace is current.
        thread: Number of the thread that opened the trace.
        alive: False once the transformation that opened the trace has returned.
        origin: The transformation and the function, as in `vmap(f)`, or the function alone, for
            messages.
    """

    __slots__ = ("__weakref__", "alive", "axis_env", "origin", "thread")

    def __init__(self, axis_env: axes.AxisEnv) -> None:
        self.axis_env = axis_env
        self.alive = True
        self.origin = ""
        self.thread = get_ident()

    def process(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Interpret one application of a primitive."""
        raise TypeError(f"{type(self).__name__} does not implement process")


class Tracer(Array):
    """A value inside a transformation: stands for an array whose numbers are not at hand.

    It has the attributes, operators and methods of arrays. What needs numbers (truth value,
    conversion to a Python number or a NumPy array) raises an error that names the operation.
    """

    __slots__ = ("owner",)

    owner: Trace

    @property
    def source(self) -> SourceInfo | None:
        """Where it was made, as far as its trace records that."""
        return None

    def provenance(self) -> str:
        """Sentence on where the value comes from, for messages; ends with a space."""
        return f"It was made at {describe(self.source)}. "

    def _host(self, needed: Need) -> np.ndarray[Any, Any]:
        refuse_numbers(self, needed)

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        """Itself: nothing that happens to another value can change it."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be pickled: it has no numbers, and no meaning in another process."""
        raise ConcretizationError(
            f"a traced value of type {self.aval} cannot be pickled: it has no numbers. "
            f"{self.provenance()}Pickle what the transformation returns, outside of it"
        )

    def require_alive(self) -> None:
        """Raise `TracerLeakError` if the transformation this belongs to is over."""
        if not self.owner.alive:
            source, origin = self.source, self.owner.origin
            place = f"in {origin}" if source is None and origin else f"at {describe(source)}"
            raise TracerLeakError(
                f"a traced value of type {self.aval} was used after the transformation that made "
                f"it had returned (made {place}). Return it from the transformed function instead "
                "of storing it in a global, an attribute or a closure"
            )


class EvalTrace(Trace):
    """Evaluates on the current backend: the trace where no transformation is open."""

    __slots__ = ()

    def process(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Evaluate, after making sure that no operand is a left-over tracer."""
        for arg in args:
            if isinstance(arg, Tracer):
                refuse_foreign(arg)
        if primitive.expand is not None:
            return primitive.expand(*args, **params)
        return backends.current().evaluate(primitive, args, params)


def refuse_foreign(tracer: Tracer) -> None:
    """Raise the error for a tracer that reached an evaluation."""
    tracer.require_alive()
    owner = tracer.owner
    of = f", {owner.origin}" if owner.origin else ""
    if owner.thread != get_ident():
        raise TracerLeakError(
            f"a traced value of type {tracer.aval} was used in another thread than that of its "
            f"transformation{of}; use it only inside the function that is being transformed"
        )
    raise TracerLeakError(
        f"a traced value of type {tracer.aval} reached an operation outside of its "
        f"transformation{of}. A function that is run elsewhere found it in a global variable or a "
        "container of one; pass it to that function as an argument"
    )


eval_trace = EvalTrace(axes.EMPTY)


_Context.trace = eval_trace  # the default of every thread


def run_in(trace: Trace, fun: Callable[..., T], *args: Any) -> T:
    """Call a function while a trace is current.

    It is the one door into a trace (but for the handing down of single operations), and whatever
    happened inside, interrupts included, the trace before is current again outside.
    """
    previous = context.trace
    try:
        try:
            context.trace = trace
            return fun(*args)
        finally:
            context.trace = previous
    finally:  # again, should an interrupt have come in the midst of the first
        context.trace = previous


def run_and_end(traces: Sequence[Trace], fun: Callable[..., T], *args: Any) -> T:
    """Call a function while the last of several new traces is current, and end them all."""
    try:
        return run_in(traces[-1], fun, *args)
    finally:
        for trace in traces:
            trace.alive = False


def current_axis_env() -> axes.AxisEnv:
    """The named axes in scope."""
    return context.trace.axis_env


def is_tracer(x: object) -> bool:
    """Whether `x` is a value inside a transformation."""
    return isinstance(x, Tracer)


def eval_avals(values: Sequence[Any]) -> tuple[ShapedArray, ...]:
    """Avals of several values."""
    return tuple([v.aval if isinstance(v, Array) else aval_of(v) for v in values])
