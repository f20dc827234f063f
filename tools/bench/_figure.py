"""A figure: what is known about one side of one row, be it samples, a bound or only a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._measure import median, quartiles


@dataclass(frozen=True)
class Figure:
    """Samples of one quantity, or the reason why there are none.

    Attributes:
        samples: What was measured; empty where nothing could be.
        problem: Why there is no sample, or what to know about them; empty if all is well.
        at_least: Whether the true value is only known to be no smaller, since the measurement
            was cut off.
    """

    samples: tuple[float, ...] = ()
    problem: str = ""
    at_least: bool = False

    @property
    def value(self) -> float | None:
        """The median of the samples, or None where there are none."""
        return median(self.samples) if self.samples else None

    @property
    def spread(self) -> tuple[float, float] | None:
        """The quartiles of the samples, or None where there are none."""
        return quartiles(self.samples) if self.samples else None


def growth(small: Figure, large: Figure) -> Figure:
    """Return by what factor a quantity grew, as a figure with the problems of both.

    Examples:
        >>> growth(Figure((2.0,)), Figure((3.0,))).value
        1.5
        >>> growth(Figure((2.0,)), Figure((), "cut off")).problem
        'cut off'
    """
    problem = large.problem or small.problem
    if not small.value or large.value is None or small.at_least:
        return Figure((), problem or "the smaller one took no measurable time")
    return Figure((large.value / small.value,), problem, large.at_least)


def checked(ours: Figure, theirs: Figure, our_check: Figure, their_check: Figure) -> Figure:
    """Return ``ours``, or the reason why it does not count: the sides computed different things."""
    if ours.problem or theirs.problem or agree(our_check.samples, their_check.samples):
        return ours
    shown = [
        ", ".join(f"{x:.6g}" for x in c.samples) or "nothing" for c in (our_check, their_check)
    ]
    return Figure((), f"unavailable: ours computed {shown[0]}, theirs {shown[1]}")


def agree(ours: Sequence[float], theirs: Sequence[float], tolerance: float = 1e-3) -> bool:
    """Tell whether two lists of check values are the same to a relative tolerance.

    Values that are not finite never agree: a model that diverged is no benchmark.

    Examples:
        >>> agree([1.0, 2.0], [1.0, 2.0001])
        True
        >>> agree([1.0], [1.1]) or agree([1.0], []) or agree([float("nan")], [float("nan")])
        False
    """
    return len(ours) == len(theirs) and all(
        abs(a - b) <= tolerance * max(abs(a), abs(b)) for a, b in zip(ours, theirs, strict=True)
    )
