"""What a child process measures of staging: trace, lower, compile, one side per process.

The step is a new function object each time, so that no cache keyed by function answers. The first
trace of a process is the one that a user waits for; it pays for the filling of the library's
caches of shapes and rules. The later ones show what tracing costs once they are filled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._measure import timed
from ._models import transformer
from ._namespace import Namespace, Side
from ._settings import Settings
from ._tasks import Result


def staging(sides: Sequence[Side], settings: Settings) -> Result:
    """Time tracing and lowering of the transformer's training step.

    Returns:
        The metrics ``trace`` and ``lower`` (first in the process, one sample each) and
        ``trace-again`` and ``lower-again`` (one sample per repeat).
    """
    names = ("trace", "lower", "trace-again", "lower-again")
    result: Result = {name: {} for name in names}
    for side in sides:
        ns = Namespace(side)
        _start(ns)
        load = transformer(settings.transformer)
        arguments = load.arguments(ns)
        samples = [
            (_trace(ns, load.build_step(ns), arguments), _lower(ns, load.build_step(ns), arguments))
            for _ in range(1 + settings.trace_repeats)
        ]
        (first_trace, first_lower), *later = samples
        result["trace"][side] = [first_trace]
        result["lower"][side] = [first_lower]
        result["trace-again"][side] = [trace for trace, _ in later]
        result["lower-again"][side] = [lower for _, lower in later]
    return result


def compiling(
    sides: Sequence[Side], settings: Settings, *, deep: bool = False, nested: bool = False
) -> Result:
    """Time the compilation of the transformer's training step, after it has been lowered."""
    layers = settings.transformer.layers * (settings.deep_factor if deep else 1)
    size = dataclasses.replace(settings.transformer, layers=layers)
    result: Result = {"compile": {}}
    for side in sides:
        ns = Namespace(side)
        _start(ns)
        load = transformer(size, nested=nested)
        lowered = ns.jit(load.build_step(ns)).lower(*load.arguments(ns))
        seconds, _ = timed(lowered.compile)
        result["compile"][side] = [seconds]
    return result


def _start(ns: Namespace) -> None:
    """Start the backend and its compiler, so that no figure holds the start-up."""
    ns.wait(ns.jit(lambda x: x + 1)(ns.xp.asarray(np.float32(1))))


def _trace(ns: Namespace, step: Any, arguments: Sequence[Any]) -> float:
    seconds: float = timed(ns.make_jaxpr(step), *arguments)[0]
    return seconds


def _lower(ns: Namespace, step: Any, arguments: Sequence[Any]) -> float:
    """Time the way from the traced program to what the compiler is given.

    For Axonym that is StableHLO text, so asking for the text is part of the time, in case it is
    written on demand; ``jax`` hands over a module, which exists once ``lower`` returns. Where the
    stages have no ``trace`` of their own, the time of a trace is taken off that of a ``lower``.
    """
    jitted = ns.jit(step)
    if hasattr(jitted, "trace"):
        lowerable, arguments, traced = jitted.trace(*arguments), (), 0.0
    else:
        lowerable, traced = jitted, _trace(ns, lambda *args: step(*args), arguments)

    def lower() -> Any:
        lowered = lowerable.lower(*arguments)
        return lowered.as_text() if ns.side == "ours" else lowered

    seconds: float = timed(lower)[0]
    return max(0.0, seconds - traced)
