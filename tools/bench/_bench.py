"""One run of the suite: starts the children that rows ask for, each measurement only once.

Several rows read the same measurement (tracing and lowering, compile time and its growth), so the
outcomes are kept by what was asked. Sides share a process where that is fair and alternate
between processes where it is not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ._figure import Figure, checked, growth
from ._measure import Clock, timed
from ._namespace import SIDES, Side
from ._process import Failure, gather, import_time, run_task
from ._settings import Settings
from ._tasks import Result

Outcome = Result | Failure
Pair = tuple[Figure, Figure]
"""The figures of one row: ours, theirs."""


@dataclass(frozen=True)
class Outcomes:
    """What the children of each side printed, and a remark on how they were run."""

    of: Mapping[Side, Sequence[Outcome]]
    remark: str = ""

    def pair(self, metric: str) -> Pair:
        """Return the figures of both sides for one metric."""
        ours, theirs = (gather(self.of[side], metric, side) for side in SIDES)
        if self.remark and not ours.problem:
            ours = replace(ours, problem=self.remark)
        return ours, theirs

    def checked_pair(self, metric: str) -> Pair:
        """Return the figures for one metric, if both sides computed the same values."""
        ours, theirs = self.pair(metric)
        if ours.problem or theirs.problem:
            return ours, theirs
        return checked(ours, theirs, *self.pair("check")), theirs


class Bench:
    """The measurements of one run.

    Args:
        settings: Sizes, repeats and limits.
        run: Runs one task in a child process; tests put their own here.
        run_import: Times one import in a child process; the same.
    """

    def __init__(
        self,
        settings: Settings,
        run: Callable[..., Outcome] = run_task,
        run_import: Callable[[Side, float], Outcome] = import_time,
    ) -> None:
        self.settings = settings
        self._run = run
        self._run_import = run_import
        self._known: dict[Hashable, Outcomes] = {}

    def together(self, task: str, **arguments: Any) -> Outcomes:
        """Run a task with both sides in one child process, or each alone where that fails."""

        def measure() -> Outcomes:
            limit = self.settings.task_limit
            both = self._run(task, SIDES, self.settings, limit, **arguments)
            if not isinstance(both, Failure):
                return Outcomes({side: [both] for side in SIDES})
            alone = {
                side: [self._run(task, (side,), self.settings, limit, **arguments)]
                for side in SIDES
            }
            return Outcomes(alone, f"measured apart, since together: {both.reason}")

        return self._once(("together", task, *sorted(arguments.items())), measure)

    def apart(
        self,
        task: str,
        repeats: int,
        limit: float,
        *,
        budget: float = math.inf,
        **arguments: Mapping[Side, Any],
    ) -> Outcomes:
        """Run a task in fresh processes that alternate between the sides.

        Args:
            task: Name of the task.
            repeats: Processes per side; a side that failed once is not tried again.
            limit: Seconds for one process.
            budget: Seconds after which a side gets no further process.
            **arguments: The task's arguments, each by side.
        """

        def run(side: Side) -> Outcome:
            own = {name: by_side[side] for name, by_side in arguments.items()}
            return self._run(task, (side,), self.settings, limit, **own)

        asked = [(name, *by_side.items()) for name, by_side in sorted(arguments.items())]
        return self._once(("apart", task, repeats, *asked), lambda: alternate(repeats, run, budget))

    def imports(self) -> Pair:
        """Time the imports; the first of each side only fills the caches of the system."""

        def run(side: Side) -> Outcome:
            return self._run_import(side, self.settings.task_limit)

        def measure() -> Outcomes:
            alternate(1, run)
            return alternate(self.settings.import_repeats, run)

        return self._once("imports", measure).pair("time")

    def calls(self, what: str) -> Pair:
        """Time one of the short calls."""
        return self.together("calls", what=what).pair("time")

    def steps(self, model: str) -> Pair:
        """Time the training step of a model, once both sides agree on its losses."""
        return self.together("steps", model=model).checked_pair("time")

    def staging(self, metric: str) -> Pair:
        """Time tracing or lowering of the transformer's step."""
        s = self.settings
        return self.apart("staging", s.trace_processes, s.task_limit).pair(metric)

    def compiling(self, *, nested: bool, deep: bool = False) -> Pair:
        """Time compiling the transformer's step."""
        s, repeats = self.settings, self.settings.compile_processes
        same = {name: dict.fromkeys(SIDES, on) for name, on in (("nested", nested), ("deep", deep))}
        outcomes = self.apart(
            "compiling", repeats, s.compile_limit, budget=s.compile_budget, **same
        )
        return outcomes.pair("compile")

    def compile_growth(self, *, nested: bool) -> Pair:
        """Divide the compile time of the deep transformer by that of the shallow one."""
        small = self.compiling(nested=nested)
        large = self.compiling(nested=nested, deep=True)
        return growth(small[0], large[0]), growth(small[1], large[1])

    def memory(self, model: str, theirs: str) -> Pair:
        """Read the memory of our total gradient over a named axis and of their way to it."""
        how: dict[Side, str] = {"ours": "named-axis", "theirs": theirs}
        outcomes = self.apart(
            "memory", 1, self.settings.task_limit, model=dict.fromkeys(SIDES, model), how=how
        )
        return outcomes.checked_pair("bytes")

    def _once(self, key: Hashable, measure: Callable[[], Outcomes]) -> Outcomes:
        if key not in self._known:
            self._known[key] = measure()
        return self._known[key]


def alternate(
    repeats: int,
    run: Callable[[Side], Outcome],
    budget: float = math.inf,
    clock: Clock = time.perf_counter,
) -> Outcomes:
    """Run both sides in turn, reversing the order each time.

    A side gets no further process once it has failed or has used up its budget of seconds: a
    program that takes a minute is measured once, one that takes a second is measured ``repeats``
    times.
    """
    outcomes: dict[Side, list[Outcome]] = {side: [] for side in SIDES}
    spent = dict.fromkeys(SIDES, 0.0)
    order = list(SIDES)
    for _ in range(repeats):
        for side in order:
            failed = any(isinstance(outcome, Failure) for outcome in outcomes[side])
            if not failed and spent[side] < budget:
                seconds, outcome = timed(run, side, clock=clock)
                outcomes[side].append(outcome)
                spent[side] += seconds
        order.reverse()
    return Outcomes(outcomes)
