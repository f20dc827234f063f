"""Activations: functions of one number, applied to each element.

Pieces are chosen with a selection, and each piece is computed from operands that are harmless where
it is not chosen, so derivatives are finite everywhere. At a kink the derivative is that of the flat
side: `relu` has derivative 0 at 0. Integers go to the default floating-point dtype.
"""

from __future__ import annotations

import math
from typing import Any

from axonym_core import lax
from axonym_core.arrays import Array, as_dimension
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.operators import number_like, promote_args
from axonym_core.types import COMPLEXES, FLOATS, aval_of, bool_, default_float_dtype, dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_of, convert, inexact, numeric
from ..elementwise.exponentials import logaddexp
from ..elementwise.trigonometry import tanh

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "log_sigmoid",
    "mish",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softplus",
    "squareplus",
    "swish",
    "tanh",
]


def _real(name: str, x: Any) -> Any:
    x = inexact(name, x)
    if aval_of(x).dtype in COMPLEXES:
        raise DTypeError(f"{name}: x has type {aval_of(x)}; it is a function of real numbers")
    return x


def _ordered(name: str, x: Any) -> Any:
    x = numeric(name, x)
    if aval_of(x).dtype in COMPLEXES:
        raise DTypeError(f"{name}: x has type {aval_of(x)}; it is a function of real numbers")
    return convert(x, dtypes.default_int_dtype()) if aval_of(x).dtype == bool_ else x


@composite()
def _relu(x: Any) -> Array:
    zero = number_like(0, aval_of(x))
    return lax.select(lax.le(x, zero), zero, x)


def relu(x: Any, /) -> Array:
    """The number where it is positive, else 0.

    Args:
        x: Array or number.

    Returns:
        Array of the shape and dtype of `x`; NaN stays NaN.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> relu(-2.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return _relu(_ordered("relu", x))


@composite("low", "high")
def _between(x: Any, *, low: float, high: float) -> Array:
    """The number between two limits, with derivative 0 at the limits."""
    lowest, highest = number_like(low, aval_of(x)), number_like(high, aval_of(x))
    return lax.select(lax.le(x, lowest), lowest, lax.select(lax.ge(x, highest), highest, x))


def relu6(x: Any, /) -> Array:
    """The number between 0 and 6, else the nearer of these.

    Args:
        x: Array or number.

    Returns:
        Array of the shape and dtype of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> relu6(7.0)
        Array(6., dtype=float32, weak_type=True)
    """
    return _between(_ordered("relu6", x), low=0, high=6)


def hard_tanh(x: Any, /) -> Array:
    """The number between -1 and 1, else the nearer of these.

    Args:
        x: Array or number.

    Returns:
        Array of the shape and dtype of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> hard_tanh(7.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return _between(_ordered("hard_tanh", x), low=-1, high=1)


@composite()
def _hard_sigmoid(x: Any) -> Array:
    shifted = lax.add(x, number_like(3, aval_of(x)))
    return lax.div(_between(shifted, low=0, high=6), number_like(6, aval_of(x)))


def hard_sigmoid(x: Any, /) -> Array:
    """`relu6(x + 3) / 6`.

    Args:
        x: Array or number.

    Example:
        >>> hard_sigmoid(0.0)
        Array(0.5, dtype=float32, weak_type=True)
    """
    return _hard_sigmoid(_real("hard_sigmoid", x))


def hard_silu(x: Any, /) -> Array:
    """`x * hard_sigmoid(x)`, also named `hard_swish`.

    Args:
        x: Array or number.

    Example:
        >>> hard_silu(3.0)
        Array(3., dtype=float32, weak_type=True)
    """
    x = array_of("hard_silu", _real("hard_silu", x))
    return lax.mul(x, _hard_sigmoid(x))


hard_swish = hard_silu


def leaky_relu(x: Any, /, negative_slope: Any = 0.01) -> Array:
    """The number where it is positive, else a multiple of it.

    Args:
        x: Array or number.
        negative_slope: The multiple, a number or an array.

    Example:
        >>> leaky_relu(-2.0)
        Array(-0.02, dtype=float32, weak_type=True)
    """
    return _leaky_relu(*promote_args("leaky_relu", _real("leaky_relu", x), negative_slope))


@composite()
def _leaky_relu(x: Any, slope: Any) -> Array:
    return lax.select(lax.ge(x, number_like(0, aval_of(x))), x, lax.mul(slope, x))


def sigmoid(x: Any, /) -> Array:
    """Logistic function `1 / (1 + exp(-x))`.

    Args:
        x: Array or number.

    Example:
        >>> sigmoid(0.0)
        Array(0.5, dtype=float32, weak_type=True)
    """
    return lax.logistic(inexact("sigmoid", x))


def softplus(x: Any, /) -> Array:
    """`log(1 + exp(x))`, without overflow.

    Args:
        x: Array or number.

    Example:
        >>> softplus(0.0)
        Array(0.693, dtype=float32, weak_type=True)
    """
    x = inexact("softplus", x)
    return logaddexp(x, number_like(0, aval_of(x)))


def log_sigmoid(x: Any, /) -> Array:
    """Logarithm of the logistic function, `-softplus(-x)`.

    Args:
        x: Array or number.

    Example:
        >>> log_sigmoid(0.0)
        Array(-0.693, dtype=float32, weak_type=True)
    """
    return _log_sigmoid(inexact("log_sigmoid", x))


@composite()
def _log_sigmoid(x: Any) -> Array:
    return lax.neg(softplus(lax.neg(x)))


@composite()
def _silu(x: Any) -> Array:
    return lax.mul(x, lax.logistic(x))


def silu(x: Any, /) -> Array:
    """`x * sigmoid(x)`, also named `swish`.

    Args:
        x: Array or number.

    Example:
        >>> silu(1.0)
        Array(0.731, dtype=float32, weak_type=True)
    """
    return _silu(inexact("silu", x))


swish = silu


@composite("approximate")
def _gelu(x: Any, *, approximate: bool) -> Array:
    aval = aval_of(x)
    if approximate:
        # (1 + tanh(z)) / 2 is the logistic function of 2 z, which does not cancel for negative z.
        inner = lax.mul(number_like(0.044715, aval), lax.integer_pow(x, 3))
        inner = lax.mul(number_like(math.sqrt(8 / math.pi), aval), lax.add(x, inner))
        return lax.mul(x, lax.logistic(inner))
    tail = lax.erfc(lax.mul(x, number_like(-math.sqrt(0.5), aval)))
    return lax.mul(lax.mul(number_like(0.5, aval), x), tail)


def gelu(x: Any, /, approximate: bool = True) -> Array:
    """The number times the probability that a standard normal number lies below it.

    Args:
        x: Array or number.
        approximate: Whether to use the usual formula with `tanh` instead of the error function.

    Returns:
        Array of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> gelu(1.0), gelu(1.0, approximate=False)
        (Array(0.8412, dtype=float32, weak_type=True), Array(0.8413, dtype=float32, weak_type=True))
    """
    return _gelu(_real("gelu", x), approximate=bool(approximate))


@composite()
def _elu(x: Any, alpha: Any, scale: Any) -> Array:
    """`scale * (x or alpha * (exp(x) - 1))`, the exponential of what is not positive only."""
    zero = number_like(0, aval_of(x))
    positive = lax.gt(x, zero)
    low = lax.mul(alpha, lax.expm1(lax.select(positive, zero, x)))
    return lax.mul(scale, lax.select(positive, x, low))


def elu(x: Any, /, alpha: Any = 1.0) -> Array:
    """The number where it is positive, else `alpha * (exp(x) - 1)`.

    Args:
        x: Array or number.
        alpha: Number or array.

    Example:
        >>> elu(-1.0)
        Array(-0.632, dtype=float32, weak_type=True)
    """
    x, alpha = promote_args("elu", _real("elu", x), alpha)
    return _elu(x, alpha, number_like(1, aval_of(x)))


def celu(x: Any, /, alpha: Any = 1.0) -> Array:
    """The number where it is positive, else `alpha * (exp(x / alpha) - 1)`.

    Args:
        x: Array or number.
        alpha: Number or array.

    Example:
        >>> celu(-1.0)
        Array(-0.632, dtype=float32, weak_type=True)
    """
    return _celu(*promote_args("celu", _real("celu", x), alpha))


@composite()
def _celu(x: Any, alpha: Any) -> Array:
    zero = number_like(0, aval_of(x))
    positive = lax.gt(x, zero)
    low = lax.mul(alpha, lax.expm1(lax.div(lax.select(positive, zero, x), alpha)))
    return lax.select(positive, x, low)


def selu(x: Any, /) -> Array:
    """`elu` with the constants that keep mean 0 and variance 1 from layer to layer.

    Args:
        x: Array or number.

    Example:
        >>> selu(1.0)
        Array(1.051, dtype=float32, weak_type=True)
    """
    x = _real("selu", x)
    aval = aval_of(x)
    alpha = number_like(1.6732632423543772, aval)
    return _elu(x, alpha, number_like(1.0507009873554805, aval))


@composite()
def _mish(x: Any) -> Array:
    return lax.mul(x, lax.tanh(softplus(x)))


def mish(x: Any, /) -> Array:
    """`x * tanh(softplus(x))`.

    Args:
        x: Array or number.

    Example:
        >>> mish(1.0)
        Array(0.865, dtype=float32, weak_type=True)
    """
    return _mish(_real("mish", x))


@composite()
def _soft_sign(x: Any) -> Array:
    return lax.div(x, lax.add(lax.abs(x), number_like(1, aval_of(x))))


def soft_sign(x: Any, /) -> Array:
    """`x / (1 + |x|)`.

    Args:
        x: Array or number.

    Example:
        >>> soft_sign(1.0)
        Array(0.5, dtype=float32, weak_type=True)
    """
    return _soft_sign(_real("soft_sign", x))


@composite()
def _squareplus(x: Any, b: Any) -> Array:
    half, zero = number_like(0.5, aval_of(x)), number_like(0, aval_of(x))
    negative = lax.lt(x, zero)
    # For negative numbers the sum would cancel, so it is multiplied by its conjugate.
    total = lax.add(lax.sqrt(lax.add(lax.square(x), b)), lax.select(negative, lax.neg(x), x))
    return lax.mul(half, lax.select(negative, lax.div(b, total), total))


def squareplus(x: Any, /, b: Any = 4.0) -> Array:
    """`(x + sqrt(x * x + b)) / 2`.

    Args:
        x: Array or number.
        b: Number or array: how wide the bend at 0 is.

    Example:
        >>> squareplus(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return _squareplus(*promote_args("squareplus", _real("squareplus", x), b))


@composite("axis")
def _glu(x: Any, *, axis: int) -> Array:
    half = x.shape[axis] // 2
    first, second = lax.split(x, (half, half), axis)
    return lax.mul(first, lax.logistic(second))


def glu(x: Any, /, axis: int = -1) -> Array:
    """The first half of an array along a dimension times the sigmoid of the second half.

    Args:
        x: Array.
        axis: Dimension, of even size.

    Raises:
        ShapeError: The dimension does not exist or has odd size.

    Example:
        >>> glu(lax.full((4,), 0.0, "float32"))
        Array([0., 0.], dtype=float32)
    """
    x = array_of("glu", x)
    if x.dtype not in FLOATS:
        x = convert(x, default_float_dtype())
    axis = as_dimension(axis, x.ndim, "glu", "axis")
    if x.shape[axis] % 2:
        raise ShapeError(f"glu: dimension {axis} of shape {x.shape} has odd size; give an even one")
    return _glu(x, axis=axis)
