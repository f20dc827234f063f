"""Initial values of the weights of neural networks.

An initializer is a function `initializer(key, shape, dtype)` that returns an array. `zeros` and
`ones` are initializers; the other functions here make one.

    >>> import axonym_random as random
    >>> from axonym_random import initializers
    >>> init = initializers.he_normal()
    >>> init(random.key(0), (784, 128)).shape
    (784, 128)

Those whose scale depends on the shape keep the variance of what passes through a layer: of the
outputs (`fan_in`, the number of inputs of each output), of the gradients (`fan_out`), or a
compromise (`fan_avg`). The dimensions `in_axis` and `out_axis` of the shape count inputs and
outputs, those of `batch_axis` count layers side by side, and all others the places of a kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, Literal, Protocol

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.types import dtypes

from ._arguments import as_operand, as_shape, spread
from ._continuous import normal as _normal
from ._continuous import truncated_normal as _truncated_normal
from ._keys import KeyLike
from ._uniform import uniform as _uniform
from .errors import DistributionError, RandomShapeError

__all__ = [
    "Initializer",
    "constant",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

Axes = int | Sequence[int]
Mode = Literal["fan_in", "fan_out", "fan_avg"]
Distribution = Literal["truncated_normal", "normal", "uniform"]

# Standard deviation of the normal distribution truncated at -2 and 2.
_TRUNCATED_DEVIATION: Final = 0.87962566103423978


class Initializer(Protocol):
    """A function that makes initial values."""

    def __call__(self, key: KeyLike, shape: Sequence[int], dtype: Any = ..., /) -> Array:
        """Return initial values of a shape and dtype."""
        ...


def zeros(key: Any, shape: int | Sequence[int], dtype: Any = float) -> Array:
    """Initialize with zeros.

    Args:
        key: Not used; any value.
        shape: Shape of the result.
        dtype: Dtype of the result; float32 by default.

    Returns:
        Array of zeros.

    Raises:
        RandomShapeError: `shape` is no shape.

    Example:
        >>> from axonym_random import initializers
        >>> initializers.zeros(None, (2,)).tolist()
        [0.0, 0.0]
    """
    return _filled(shape, 0, dtype, "zeros")


def ones(key: Any, shape: int | Sequence[int], dtype: Any = float) -> Array:
    """Initialize with ones.

    Args:
        key: Not used; any value.
        shape: Shape of the result.
        dtype: Dtype of the result; float32 by default.

    Returns:
        Array of ones.

    Raises:
        RandomShapeError: `shape` is no shape.

    Example:
        >>> from axonym_random import initializers
        >>> initializers.ones(None, (2,)).tolist()
        [1.0, 1.0]
    """
    return _filled(shape, 1, dtype, "ones")


def constant(value: Any, dtype: Any = float) -> Initializer:
    """Make an initializer that fills arrays with a value.

    Args:
        value: Number, or array that broadcasts to the shape.
        dtype: Default dtype of the result.

    Returns:
        The initializer.

    Example:
        >>> from axonym_random import initializers
        >>> initializers.constant(0.5)(None, (2,)).tolist()
        [0.5, 0.5]
    """
    default = dtype

    def init(key: Any, shape: int | Sequence[int], dtype: Any = None) -> Array:
        return _filled(shape, value, default if dtype is None else dtype, "constant")

    return init


def _filled(shape: Any, value: Any, dtype: Any, function: str) -> Array:
    sizes = as_shape(shape, function)
    found = dtypes.as_dtype(dtype)
    filled = spread(as_operand(value, found), sizes, found)
    return lax.add(lax.full(sizes, 0, found), filled)


def uniform(scale: float = 1e-2, dtype: Any = float) -> Initializer:
    """Make an initializer that draws from the interval from 0 to `scale`.

    Args:
        scale: Upper end of the interval.
        dtype: Default dtype of the result.

    Returns:
        The initializer.

    Example:
        >>> import axonym_random as random
        >>> from axonym_random import initializers
        >>> 0 <= float(initializers.uniform(2.0)(random.key(0), ())) < 2
        True
    """
    default = dtype

    def init(key: KeyLike, shape: int | Sequence[int], dtype: Any = None) -> Array:
        return _times(_uniform(key, shape, default if dtype is None else dtype), scale)

    return init


def normal(stddev: float = 1e-2, dtype: Any = float) -> Initializer:
    """Make an initializer that draws from a normal distribution of mean 0.

    Args:
        stddev: Standard deviation.
        dtype: Default dtype of the result.

    Returns:
        The initializer.

    Example:
        >>> import axonym_random as random
        >>> from axonym_random import initializers
        >>> initializers.normal(0.1)(random.key(0), (3,)).shape
        (3,)
    """
    default = dtype

    def init(key: KeyLike, shape: int | Sequence[int], dtype: Any = None) -> Array:
        return _times(_normal(key, shape, default if dtype is None else dtype), stddev)

    return init


def truncated_normal(
    stddev: float = 1e-2, dtype: Any = float, lower: float = -2.0, upper: float = 2.0
) -> Initializer:
    """Make an initializer that draws from a truncated normal distribution.

    Args:
        stddev: Standard deviation of the distribution before it is truncated.
        dtype: Default dtype of the result.
        lower: Lower bound, in units of `stddev`.
        upper: Upper bound, in units of `stddev`.

    Returns:
        The initializer.

    Example:
        >>> import axonym_random as random
        >>> from axonym_random import initializers
        >>> initializers.truncated_normal(0.1)(random.key(0), (3,)).shape
        (3,)
    """
    default = dtype

    def init(key: KeyLike, shape: int | Sequence[int], dtype: Any = None) -> Array:
        found = default if dtype is None else dtype
        sizes = as_shape(shape, "truncated_normal")
        return _times(_truncated_normal(key, lower, upper, sizes, found), stddev)

    return init


def _times(x: Array, factor: float) -> Array:
    return lax.mul(x, as_operand(factor, x.dtype))


def variance_scaling(
    scale: float,
    mode: Mode,
    distribution: Distribution,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: Any = float,
) -> Initializer:
    """Make an initializer whose variance is `scale` divided by the number of connections.

    Args:
        scale: Variance, times that number.
        mode: Which number: `"fan_in"`, `"fan_out"` or `"fan_avg"`.
        distribution: `"truncated_normal"` (at two standard deviations), `"normal"` or `"uniform"`
            (around 0).
        in_axis: Dimension, or dimensions, of the inputs.
        out_axis: Dimension, or dimensions, of the outputs.
        batch_axis: Dimension, or dimensions, of layers side by side.
        dtype: Default dtype of the result.

    Returns:
        The initializer. It raises RandomShapeError for shapes without these dimensions.

    Raises:
        DistributionError: `mode` or `distribution` is none of these.

    Example:
        >>> import axonym_random as random
        >>> from axonym_random import initializers
        >>> init = initializers.variance_scaling(1.0, "fan_in", "uniform")
        >>> float(abs(init(random.key(0), (300, 2))[0, 0])) <= 0.1
        True
    """
    default = dtype
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise DistributionError(
            f"variance_scaling: mode={mode!r} is not known; give 'fan_in', 'fan_out' or 'fan_avg'"
        )
    if distribution not in ("truncated_normal", "normal", "uniform"):
        raise DistributionError(
            f"variance_scaling: distribution={distribution!r} is not known; give "
            "'truncated_normal', 'normal' or 'uniform'"
        )

    def init(key: KeyLike, shape: int | Sequence[int], dtype: Any = None) -> Array:
        found = default if dtype is None else dtype
        sizes = as_shape(shape, "variance_scaling")
        fan_in, fan_out = _fans(sizes, in_axis, out_axis, batch_axis)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[mode]
        variance = scale / max(fan, 1e-30)
        if distribution == "uniform":
            return _times(_uniform(key, sizes, found, -1.0, 1.0), math.sqrt(3 * variance))
        if distribution == "normal":
            return _times(_normal(key, sizes, found), math.sqrt(variance))
        drawn = _truncated_normal(key, -2.0, 2.0, sizes, found)
        return _times(drawn, math.sqrt(variance) / _TRUNCATED_DEVIATION)

    return init


def _fans(
    shape: tuple[int, ...], in_axis: Axes, out_axis: Axes, batch_axis: Axes
) -> tuple[float, float]:
    """Inputs of each output, and outputs of each input."""
    sizes = []
    for name, axes in (("in_axis", in_axis), ("out_axis", out_axis), ("batch_axis", batch_axis)):
        size = 1
        for axis in (axes,) if isinstance(axes, int) else axes:
            if not -len(shape) <= axis < len(shape):
                raise RandomShapeError(
                    f"variance_scaling: shape={shape} has no dimension {name}={axis}; weights have "
                    "at least two dimensions, inputs and outputs: for others name the dimensions"
                )
            size *= shape[axis]
        sizes.append(size)
    inputs, outputs, batch = sizes
    if not math.prod(shape):
        return 1.0, 1.0  # nothing is drawn
    places = math.prod(shape) / (inputs * outputs * batch)
    return inputs * places, outputs * places


def glorot_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = float
) -> Initializer:
    """Make the uniform initializer of Glorot and Bengio: variance 1 / average of the fans.

    Args:
        in_axis: Dimension, or dimensions, of the inputs.
        out_axis: Dimension, or dimensions, of the outputs.
        batch_axis: Dimension, or dimensions, of layers side by side.
        dtype: Default dtype of the result.

    Returns:
        The initializer.

    Example:
        >>> import axonym_random as random
        >>> from axonym_random import initializers
        >>> initializers.glorot_uniform()(random.key(0), (3, 4)).shape
        (3, 4)
    """
    return variance_scaling(1.0, "fan_avg", "uniform", in_axis, out_axis, batch_axis, dtype)


def glorot_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = float
) -> Initializer:
    """Make the normal initializer of Glorot and Bengio: variance 1 / average of the fans.

    Args:
        in_axis: Dimension, or dimensions, of the inputs.
        out_axis: Dimension, or dimensions, of the outputs.
        batch_axis: Dimension, or dimensions, of layers side by side.
        dtype: Default dtype of the result.

    Returns:
        The initializer.

    Example:
        >>> import axonym_random as random
        >>> from axonym_random import initializers
        >>> initializers.glorot_normal()(random.key(0), (3, 4)).shape
        (3, 4)
    """
    return variance_scaling(
        1.0, "fan_avg", "truncated_normal", in_axis, out_axis, batch_axis, dtype
    )


def lecun_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = float
) -> Initializer:
    """Make the uniform initializer of LeCun: variance 1 / number of inputs.

    Args:
        in_axis: Dimension, or dimensions, of the inputs.
        out_axis: Dimension, or dimensions, of the outputs.
        batch_axis: Dimension, or dimensions, of layers side by side.
        dtype: Default dtype of the result.

    Returns:
        The initializer.

    Example:
        >>> import axonym_random as random
        >>> from axonym_random import initializers
        >>> initializers.lecun_uniform()(random.key(0), (3, 4)).shape
        (3, 4)
    """
    return variance_scaling(1.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype)


def lecun_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = float
) -> Initializer:
    """Make the normal initializer of LeCun: variance 1 / number of inputs.

    Args:
        in_axis: Dimension, or dimensions, of the inputs.
        out_axis: Dimension, or dimensions, of the outputs.
        batch_axis: Dimension, or dimensions, of layers side by side.
        dtype: Default dtype of the result.

    Returns:
        The initializer.

    Example:
        >>> import axonym_random as random
        >>> from axonym_random import initializers
        >>> initializers.lecun_normal()(random.key(0), (3, 4)).shape
        (3, 4)
    """
    return variance_scaling(1.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype)


def he_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = float
) -> Initializer:
    """Make the uniform initializer of He, for layers before a relu: variance 2 / inputs.

    Args:
        in_axis: Dimension, or dimensions, of the inputs.
        out_axis: Dimension, or dimensions, of the outputs.
        batch_axis: Dimension, or dimensions, of layers side by side.
        dtype: Default dtype of the result.

    Returns:
        The initializer.

    Example:
        >>> import axonym_random as random
        >>> from axonym_random import initializers
        >>> initializers.he_uniform()(random.key(0), (3, 4)).shape
        (3, 4)
    """
    return variance_scaling(2.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype)


def he_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = float
) -> Initializer:
    """Make the normal initializer of He, for layers before a relu: variance 2 / inputs.

    Args:
        in_axis: Dimension, or dimensions, of the inputs.
        out_axis: Dimension, or dimensions, of the outputs.
        batch_axis: Dimension, or dimensions, of layers side by side.
        dtype: Default dtype of the result.

    Returns:
        The initializer.

    Example:
        >>> import axonym_random as random
        >>> from axonym_random import initializers
        >>> initializers.he_normal()(random.key(0), (3, 4)).shape
        (3, 4)
    """
    return variance_scaling(2.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype)


xavier_uniform = glorot_uniform
xavier_normal = glorot_normal
kaiming_uniform = he_uniform
kaiming_normal = he_normal
