"""What a case of a primitive is, and how its numbers are made.

A case is one application of a primitive: a function that binds it, operands to call it with, and
what NumPy says of the same operands. From these alone `rule_cases.checks` finds out whether every
rule of the primitive is right. To cover a new primitive, add cases to the table of its family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

Reference = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One application of a primitive.

    Attributes:
        primitive: Name of the primitive.
        fun: Function of the operands that binds it.
        reference: The same function in NumPy. Floating-point operands come to it in 64 bits.
        operands: What to call both with.
        label: What is special about the case.
        linear: Groups of operands in which the function is linear while all others are fixed.
        smooth: Whether finite differences of the reference are its derivatives here.
        twice: Whether differences of differences are its second derivatives here.
        slopes: Closed forms of the derivatives in each operand, where `smooth` is false.
        loose: Factor on the tolerances.
        positional: The reference under a named axis, for functions that refer to one: of operands
            that all have the axis in front.
        varies: Whether the results vary over that axis; by default they do where an operand does.
        size: Size of the mapped axis.
        reverse: Whether it has reverse mode: loops of unknown length have none.
    """

    primitive: str
    fun: Callable[..., Any]
    reference: Reference
    operands: tuple[np.ndarray[Any, Any], ...]
    label: str = ""
    linear: tuple[tuple[int, ...], ...] = ()
    smooth: bool = True
    twice: bool = True
    slopes: tuple[Any, ...] | None = None
    loose: float = 1.0
    positional: Reference | None = None
    varies: bool | None = None
    size: int = 3
    reverse: bool = True

    def __str__(self) -> str:
        types = ", ".join(f"{x.dtype}{list(x.shape)}" for x in self.operands)
        return f"{self.primitive}({types}) {self.label}".strip()


def spaced(shape: tuple[int, ...], low: float = -2.0, high: float = 2.0, seed: int = 0) -> Any:
    """Numbers that keep away from each other (and from 0), in no order."""
    size = int(np.prod(shape))
    values = np.linspace(low, high, size) if size > 1 else np.full(size, (low + 2 * high) / 3)
    values = np.where(np.abs(values) < 0.05, 0.07, values)
    return np.random.RandomState(seed).permutation(values).reshape(shape)


def complexes(shape: tuple[int, ...], seed: int = 0) -> Any:
    """Complex numbers off the axes."""
    return spaced(shape, 0.2, 1.4, seed) + 1j * spaced(shape, -1.2, 1.3, seed + 1)


def whole(shape: tuple[int, ...], low: int = -4, high: int = 5, dtype: Any = np.int32) -> Any:
    """Integers from `low` to below `high`."""
    return np.resize(np.arange(low, high), shape).astype(dtype)


def truths(shape: tuple[int, ...]) -> Any:
    """Truth values of both kinds."""
    return np.resize([True, False, False, True, True], shape)


#: Relative tolerance of results, by dtype.
TOLERANCE = {
    np.dtype(np.float64): 1e-12,
    np.dtype(np.complex128): 1e-12,
    np.dtype(np.float32): 4e-6,
    np.dtype(np.complex64): 8e-6,
    np.dtype(np.float16): 4e-3,
    np.dtype(ml_dtypes.bfloat16): 3e-2,
}


def is_inexact(x: Any) -> bool:
    """Whether an array holds floating-point or complex numbers, of any width."""
    return np.asarray(x).dtype in TOLERANCE


def widened(x: Any) -> Any:
    """Floating-point and complex numbers in 64 bits each; others as they are."""
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return x.astype(np.complex128)
    return x.astype(np.float64) if is_inexact(x) else x
