"""Clocks and statistics: interleaved timing inside one process, medians, ratios of medians.

Two programs timed one after the other see two different machines: clocks change, neighbours come
and go. `interleave` therefore takes short samples of every side in turn and reverses the order
from round to round, so that a drift falls on all sides alike. A figure is the median of its
samples, and a ratio is the ratio of two medians; the quartiles go along to show the spread.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

Clock = Callable[[], float]
K = TypeVar("K", bound=str)
_MOST_CALLS = 1_000_000


@contextmanager
def no_collection() -> Iterator[None]:
    """Collect garbage now and not again inside the block.

    With both sides in one process, a collection that one of them triggers walks the objects of
    the other; whose sample it falls into would be chance.
    """
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def timed(function: Callable[..., Any], *args: Any, clock: Clock = time.perf_counter) -> Any:
    """Call ``function(*args)`` and return ``(seconds, result)``."""
    start = clock()
    result = function(*args)
    return clock() - start, result


def sample(
    call: Callable[[], Any],
    calls: int,
    wait: Callable[[Any], object],
    clock: Clock = time.perf_counter,
) -> float:
    """Return the seconds per call of ``calls`` calls in a row, waiting once for the last result."""
    result = None
    start = clock()
    for _ in range(calls):
        result = call()
    wait(result)
    return (clock() - start) / calls


def calls_per_sample(
    call: Callable[[], Any],
    seconds: float,
    wait: Callable[[Any], object],
    clock: Clock = time.perf_counter,
) -> int:
    """Return how many calls fill about ``seconds``, at least one.

    One call comes first that does not count: it may compile. The calls made to find out double as
    the warm-up.
    """
    wait(call())
    calls = 1
    while True:
        spent = sample(call, calls, wait, clock) * calls
        if spent >= seconds / 4 or calls >= _MOST_CALLS:
            return max(1, round(calls * seconds / spent)) if spent > 0 else calls
        calls *= 4


def interleave(
    calls: Mapping[K, tuple[Callable[[], Any], Callable[[Any], object]]],
    rounds: int,
    seconds: float,
    clock: Clock = time.perf_counter,
) -> dict[K, list[float]]:
    """Time several calls in turn and return the samples of each, in seconds per call.

    Args:
        calls: For each side, what to call and how to wait for its result.
        rounds: Samples per side.
        seconds: About how long one sample lasts.
        clock: Monotonic clock in seconds.

    Returns:
        ``rounds`` samples for each key of ``calls``.

    Raises:
        ValueError: If ``rounds`` is less than one.

    Examples:
        >>> samples = interleave({"a": (int, bool), "b": (float, bool)}, 3, 0.0001)
        >>> [len(values) for values in samples.values()]
        [3, 3]
    """
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, got {rounds}; ask for one sample or more")
    counts = {
        side: calls_per_sample(call, seconds, wait, clock) for side, (call, wait) in calls.items()
    }
    samples: dict[K, list[float]] = {side: [] for side in calls}
    order = list(calls)
    with no_collection():
        for _ in range(rounds):
            for side in order:
                call, wait = calls[side]
                samples[side].append(sample(call, counts[side], wait, clock))
            order.reverse()
    return samples


def median(samples: Sequence[float]) -> float:
    """Return the median of at least one sample.

    Raises:
        ValueError: If there is no sample.
    """
    if not samples:
        raise ValueError("samples is empty; a median needs at least one sample")
    return statistics.median(samples)


def quartiles(samples: Sequence[float]) -> tuple[float, float]:
    """Return the lower and upper quartile, both inside the range of the samples.

    Raises:
        ValueError: If there is no sample.

    Examples:
        >>> quartiles([1.0, 2.0, 3.0, 4.0, 5.0])
        (2.0, 4.0)
        >>> quartiles([7.0])
        (7.0, 7.0)
    """
    if len(samples) < 2:
        only = median(samples)
        return only, only
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return low, high
