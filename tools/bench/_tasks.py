"""What a child process measures with one or both sides in it: calls, steps, memory.

Every task returns a `Result`: for each metric and each side a list of samples. The metric
``check`` holds numbers that must agree between the sides (losses), not times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._measure import interleave
from ._models import Workload, workload
from ._namespace import Namespace, Side
from ._settings import Settings

Result = dict[str, dict[Side, list[float]]]
Call = Callable[[], Any]
_BATCH = "batch"


def _dispatch_scalar(ns: Namespace) -> Call:
    function = ns.jit(lambda x: x + 1)
    x = ns.xp.asarray(np.float32(1))
    return lambda: function(x)


def _dispatch_tree(ns: Namespace) -> Call:
    function = ns.jit(lambda tree: ns.tree_map(lambda leaf: leaf + 1, tree))
    tree = ns.arrays({f"leaf{i:03}": np.full(4, i, np.float32) for i in range(200)})
    return lambda: function(tree)


def _eager_add(ns: Namespace) -> Call:
    x = ns.xp.asarray(np.arange(8, dtype=np.float32))
    return lambda: x + x


def _eager_index(ns: Namespace) -> Call:
    x = ns.xp.asarray(np.arange(8, dtype=np.float32))
    return lambda: x[3]


def _eager_sum(ns: Namespace) -> Call:
    v = ns.xp.asarray(np.arange(1000, dtype=np.float32))
    return lambda: ns.xp.sum(v)


def _eager_grad(ns: Namespace) -> Call:
    return lambda: ns.grad(lambda x: ns.xp.sin(x) * x)(1.0)


CALLS: dict[str, Callable[[Namespace], Call]] = {
    "dispatch-scalar": _dispatch_scalar,
    "dispatch-tree": _dispatch_tree,
    "eager-add": _eager_add,
    "eager-index": _eager_index,
    "eager-sum": _eager_sum,
    "eager-grad": _eager_grad,
}


def calls(sides: Sequence[Side], settings: Settings, what: str) -> Result:
    """Time one short call of `CALLS`, the sides interleaved."""
    pairs = {}
    for side in sides:
        ns = Namespace(side)
        pairs[side] = (CALLS[what](ns), ns.wait)
    return {"time": interleave(pairs, settings.rounds, settings.sample_seconds)}


def steps(sides: Sequence[Side], settings: Settings, model: str) -> Result:
    """Time the compiled training step of a model, the sides interleaved.

    Three steps come first, for warming up and for the losses that must agree.
    """
    pairs = {}
    losses: dict[Side, list[float]] = {}
    for side in sides:
        ns = Namespace(side)
        load = workload(model, settings)
        parameters, *batch = load.arguments(ns)
        step = ns.jit(load.build_step(ns))
        losses[side] = []
        for _ in range(3):
            parameters, loss = step(parameters, *batch)
            losses[side].append(float(loss))
        pairs[side] = (_repeat(step, parameters, batch), ns.wait)
    return {
        "time": interleave(pairs, settings.step_rounds, settings.step_seconds),
        "check": losses,
    }


def _repeat(step: Callable[..., Any], parameters: Any, batch: Sequence[Any]) -> Call:
    """Return a call that goes on training: each step starts from the one before."""
    state = [parameters]

    def call() -> Any:
        state[0], loss = step(state[0], *batch)
        return state[0], loss

    return call


def total_over_axis(ns: Namespace, load: Workload) -> Callable[..., Any]:
    """Return loss and total gradient with the batch as a named axis that is reduced."""
    example_loss = load.build_loss(ns)

    def loss(parameters: Any, *example: Any) -> Any:
        return ns.lax.pmean(example_loss(parameters, *example), _BATCH)

    mapped: list[Any] = [_BATCH, ...]
    total: Callable[..., Any] = ns.xmap(
        ns.value_and_grad(loss, reduce_axes=(_BATCH,)),
        in_axes=([...], *(mapped for _ in load.batch)),
        out_axes=[...],
    )
    return total


def total_by_hand(ns: Namespace, load: Workload) -> Callable[..., Any]:
    """Return loss and gradient of the loss that was written for a whole batch."""
    total: Callable[..., Any] = ns.value_and_grad(load.build_loss(ns))
    return total


def total_per_example(ns: Namespace, load: Workload) -> Callable[..., Any]:
    """Return mean loss and gradient by way of one gradient per example."""
    gradients = ns.vmap(
        ns.value_and_grad(load.build_loss(ns)), in_axes=(None, *(0 for _ in load.batch))
    )

    def total(parameters: Any, *batch: Any) -> Any:
        losses, per_example = gradients(parameters, *batch)
        return ns.xp.mean(losses), ns.tree_map(lambda g: ns.xp.mean(g, axis=0), per_example)

    return total


TOTALS: dict[str, Callable[[Namespace, Workload], Callable[..., Any]]] = {
    "named-axis": total_over_axis,
    "by-hand": total_by_hand,
    "per-example": total_per_example,
}


def memory(sides: Sequence[Side], settings: Settings, model: str, how: str) -> Result:
    """Read the temporary memory, in bytes, of one way to compute a total gradient.

    The ``check`` metric is the loss followed by the norm of the gradient.
    """
    result: Result = {"bytes": {}, "check": {}}
    for side in sides:
        ns = Namespace(side)
        load = workload(model, settings)
        arguments = load.arguments(ns)
        function = ns.jit(TOTALS[how](ns, load))
        analysis = function.lower(*arguments).compile().memory_analysis()
        result["bytes"][side] = [float(analysis.temp_size_in_bytes)]
        loss, gradient = function(*arguments)
        squares = [np.sum(np.square(np.asarray(g))) for g in ns.tree_util.tree_leaves(gradient)]
        result["check"][side] = [float(loss), float(np.sqrt(np.sum(squares)))]
    return result
