"""Functions of sequences of numbers: convolution, correlation, phase unwrapping, polynomials."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import math
from typing import Any

from axonym_core import lax, operators
from axonym_core.arrays import Array, as_dimension
from axonym_core.errors import ShapeError
from axonym_core.operators import number_like, promote_dtypes
from axonym_core.types import aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_in, array_of, arrays_of, choice, convert, inexact
from ..reductions.cumulative import cumsum, diff

__all__ = ["convolve", "correlate", "polyval", "unwrap"]

_MODES = ("full", "same", "valid")


@composite("mode", "precision")
def _convolve(x: Any, y: Any, *, mode: str, precision: Any) -> Array:
    """Slide the reversed, shorter sequence along the longer one."""
    n, m = x.shape[0], y.shape[0]
    pads = {"full": (m - 1, m - 1), "same": (m // 2, m - 1 - m // 2), "valid": (0, 0)}[mode]
    out = lax.conv_general_dilated(
        lax.reshape(x, (1, 1, n)),
        lax.reshape(lax.rev(y, (0,)), (1, 1, m)),
        (1,),
        [pads],
        precision=precision,
    )
    return lax.reshape(out, (out.size,))


def _vectors(name: str, a: Any, v: Any) -> tuple[Array, Array]:
    x, y = [array_of(name, u) for u in promote_dtypes(name, *arrays_of(name, a, v))]
    if x.ndim != 1 or y.ndim != 1 or not x.size or not y.size:
        raise ShapeError(
            f"{name}: operands have types {x.aval} and {y.aval}; give vectors with one element or "
            "more"
        )
    if x.dtype == dtypes.bool_:
        x, y = convert(x, dtypes.int32), convert(y, dtypes.int32)
    return x, y


def convolve(a: Any, v: Any, mode: str = "full", *, precision: Any = None) -> Array:
    """Convolution of two vectors: sums of products of one with the other reversed and shifted.

    Args:
        a: Vector.
        v: Vector.
        mode: ``full``: all shifts with any overlap; ``same``: as many as the longer vector has
            elements; ``valid``: those with full overlap.
        precision: As of `lax.dot_general`.

    Raises:
        ShapeError: An operand is no vector, or is empty.
        ArgumentError: The mode is unknown.

    Example:
        >>> convolve(lax.full((2,), 1.0, "float32"), lax.full((2,), 1.0, "float32"))
        Array([1., 2., 1.], dtype=float32)
    """
    choice("convolve", "mode", mode, _MODES)
    x, y = _vectors("convolve", a, v)
    if y.size > x.size:
        x, y = y, x
    return _convolve(x, y, mode=mode, precision=precision)


def correlate(a: Any, v: Any, mode: str = "valid", *, precision: Any = None) -> Array:
    """Correlation of two vectors: sums of products of one with the other conjugated and shifted.

    Arguments and errors are those of `convolve`.

    Example:
        >>> correlate(lax.iota("float32", 3), lax.iota("float32", 2))
        Array([1., 2.], dtype=float32)
    """
    choice("correlate", "mode", mode, _MODES)
    x, y = _vectors("correlate", a, v)
    kernel = lax.rev(lax.conj(y), (0,))
    if y.size <= x.size:
        return _convolve(x, kernel, mode=mode, precision=precision)
    # NumPy correlates the other way round, and reverses the result.
    swapped = _convolve(y, lax.rev(lax.conj(x), (0,)), mode=mode, precision=precision)
    return lax.rev(lax.conj(swapped), (0,))


@composite("axis")
def _unwrap(p: Any, discont: Any, period: Any, *, axis: int) -> Array:
    step = diff(p, axis=axis)
    half = operators.true_divide(period, 2)
    wrapped = operators.subtract(operators.remainder(operators.add(step, half), period), half)
    at_edge = operators.bitwise_and(
        operators.equal(wrapped, operators.negative(half)),
        operators.greater(step, number_like(0, aval_of(step))),
    )
    wrapped = lax.select(at_edge, lax.broadcast_in_dim(half, wrapped.shape, ()), wrapped)
    small = operators.less(lax.abs(step), discont)
    correction = operators.subtract(wrapped, step)
    correction = lax.select(small, number_like(0, aval_of(correction)), correction)
    first = lax.slice_in_dim(p, 0, 1, axis=axis)
    rest = lax.slice_in_dim(p, 1, None, axis=axis)
    return lax.concatenate([first, lax.add(rest, cumsum(correction, axis))], axis)


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Array:
    """Angles without jumps: where neighbours differ by more than half a period, periods are added.

    Args:
        p: Array of angles.
        discont: How large a jump must be to be removed; half a period if None.
        axis: Dimension.
        period: The period.

    Raises:
        ShapeError: The dimension does not exist.

    Example:
        >>> unwrap(lax.iota("float32", 3) * 3, period=4)
        Array([ 0., -1., -2.], dtype=float32)
    """
    p = array_of("unwrap", inexact("unwrap", p))
    axis = as_dimension(axis, p.ndim, "unwrap", "axis")
    if not p.shape[axis]:
        return p
    cycle = array_in("unwrap", period, p.dtype, "period")
    least = operators.true_divide(cycle, 2) if discont is None else discont
    return _unwrap(p, array_in("unwrap", least, p.dtype, "discont"), cycle, axis=axis)


@composite()
def _horner(p: Any, x: Any) -> Array:
    out = lax.full(x.shape, 0, x.dtype)
    for i in range(p.shape[0]):
        out = operators.add(operators.multiply(out, x), lax.index_in_dim(p, i, keepdims=False))
    return out


def polyval(p: Any, x: Any) -> Array:
    """Value of a polynomial.

    Args:
        p: Vector of coefficients, that of the highest power first.
        x: Array or number.

    Returns:
        Array of the shape of `x`.

    Raises:
        ShapeError: `p` is no vector.

    Example:
        >>> polyval(lax.iota("float32", 3), 10.0)
        Array(12., dtype=float32)
    """
    p, x = [array_of("polyval", v) for v in promote_dtypes("polyval", array_of("polyval", p), x)]
    if p.ndim != 1:
        raise ShapeError(f"polyval: p has type {p.aval}; give a vector of coefficients")
    return _horner(p, x)
