"""Evenly spaced numbers, grids of coordinates, arrays from functions of indices."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from axonym_core import lax, operators
from axonym_core.arrays import Array, ConcreteArray, as_dimension, as_ints
from axonym_core.errors import ArgumentTypeError, ConcretizationError, DTypeError, ShapeError
from axonym_core.operators import broadcast_args, number_like, promote_dtypes_inexact, scalar_of
from axonym_core.primitives.shape import iota_p
from axonym_core.types import aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_of, choice, convert, exact, python_number, size_of
from ..elementwise.arithmetic import power
from ..errors import ArgumentError
from ..shapes.reshaping import broadcast_arrays, moveaxis
from .construction import placed

__all__ = [
    "arange",
    "fromfunction",
    "geomspace",
    "indices",
    "ix_",
    "linspace",
    "logspace",
    "meshgrid",
]


def _known_number(name: str, argument: str, x: Any) -> Any:
    """Number that the size of the result depends on."""
    if isinstance(x, Array):
        if not isinstance(x, ConcreteArray):
            raise ConcretizationError(
                f"{name}: {argument} of type {x.aval} is being traced, so the size of the result "
                "is not known; make the argument static"
            )
        x = np.asarray(x)
    if isinstance(x, np.ndarray):
        if x.ndim:
            raise ArgumentTypeError(f"{name}: {argument} has shape {x.shape}; give a number")
        x = x[()]
    if not isinstance(x, int | float | np.generic) or isinstance(x, complex):
        raise ArgumentTypeError(
            f"{name}: {argument}={x!r} is a {type(x).__name__}; give a real number"
        )
    return x


def _length(first: Any, last: Any, distance: Any) -> int:
    """Number of steps from the first number that stay short of the last one."""
    if isinstance(first, int) and isinstance(last, int) and isinstance(distance, int):
        return max(-((first - last) // distance), 0)
    quotient = (last - first) / distance
    if not math.isfinite(quotient):
        raise ArgumentError(f"arange: start={first}, stop={last}, step={distance} never end")
    return max(math.ceil(quotient), 0)


@composite("size", "dtype", "start", "step")
def _affine(*, size: int, dtype: Any, start: Any, step: Any) -> Array:
    out = lax.iota(dtype, size)
    if step != 1:
        out = lax.mul(out, scalar_of(step, dtype))
    return lax.add(out, scalar_of(start, dtype)) if start != 0 else out


def arange(
    start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None
) -> Array:
    """Numbers at equal distances, from a start up to but not including a stop.

    Args:
        start: First number; or the stop, where that is left out, and the first number is 0.
        stop: Where to end.
        step: Distance; 1 if None.
        dtype: Element type; by default that of the numbers: the default integer or floating-point
            dtype for Python numbers.
        device: Where to put it.

    Returns:
        Vector of `ceil((stop - start) / step)` numbers.

    Raises:
        ArgumentError: The step is 0.
        ConcretizationError: A number is traced.
        DTypeError: The dtype has no order, or an integer does not fit.

    Example:
        >>> arange(2, 8, 3)
        Array([2, 5], dtype=int32)
        >>> arange(0.0, 1.0, 0.25)
        Array([0.  , 0.25, 0.5 , 0.75], dtype=float32)
    """
    given = {"start": start, "stop": stop, "step": step}
    known = {k: _known_number("arange", k, v) for k, v in given.items() if v is not None}
    if dtype is None:
        kinds = [v for v in given.values() if v is not None]
        wanted = dtypes.result_type(*[python_number(v) for v in kinds])
        if wanted == dtypes.bool_:
            wanted = dtypes.default_int_dtype()
    else:
        wanted = dtypes.as_dtype(dtype)
    if wanted == dtypes.bool_ or wanted in dtypes.COMPLEXES:
        raise DTypeError(f"arange: dtype={wanted} has no ranges; give integers or real numbers")
    first: Any
    if stop is None:
        first, last = 0, known["start"]
    else:
        first, last = known["start"], known["stop"]
    distance = known.get("step", 1)
    if distance == 0:
        raise ArgumentError("arange: step=0; give another number")
    first, last, distance = [
        v.item() if isinstance(v, np.generic) else v for v in (first, last, distance)
    ]
    size = _length(first, last, distance)
    if wanted in dtypes.INTEGERS:
        first, distance = int(first), int(first + distance) - int(first)
        if not size:
            first, distance = 0, 1
    if first == 0 and distance == 1:
        out = iota_p.bind(dtype=wanted, shape=(size,), dimension=0)
    else:
        if wanted in dtypes.FLOATS:
            first, distance = float(first), float(distance)
        out = _affine(size=size, dtype=wanted, start=first, step=distance)
    return placed("arange", out, device)


@composite("num", "endpoint", "dtype")
def _linspace(start: Any, stop: Any, *, num: int, endpoint: bool, dtype: Any) -> Array:
    """Samples along a new first dimension, in the dtype of the ends; both ends are exact."""
    start, stop = [array_of("linspace", v) for v in broadcast_args("linspace", start, stop)]
    start, stop = broadcast_arrays(start, stop)
    aval = aval_of(start)
    shape = (num, *aval.shape)
    step = _step(start, stop, num, endpoint)
    every = tuple(range(1, len(shape)))
    count = lax.broadcasted_iota(dtypes.int32, shape, 0)
    index = lax.convert_element_type(count, aval.dtype)
    out = lax.mul(index, lax.broadcast_in_dim(step, shape, every)) if num > 1 else index
    out = lax.add(out, lax.broadcast_in_dim(start, shape, every))
    if endpoint and num > 1:
        last = lax.eq(count, np.int32(num - 1))
        out = lax.select(last, lax.broadcast_in_dim(stop, shape, every), out)
    if dtype in dtypes.INTEGERS and aval.dtype in dtypes.FLOATS:
        out = lax.floor(out)
    return convert(out, dtype)


def _ends(name: str, start: Any, stop: Any, dtype: Any) -> list[Any]:
    """Ends of a range, in the dtype in which it is computed: that which was asked for, if wider."""
    ends = promote_dtypes_inexact(name, start, stop)
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if wanted not in dtypes.INEXACT or not aval_of(ends[0]).weak_type:
        return ends
    return [convert(exact(name, v), wanted) for v in (start, stop)]


def _step(start: Any, stop: Any, num: int, endpoint: bool) -> Any:
    parts = num - 1 if endpoint else num
    difference = operators.subtract(stop, start)
    if parts < 1:
        return operators.multiply(difference, float("nan"))
    return lax.div(difference, number_like(parts, aval_of(difference)))


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """A number of samples at equal distances between two ends, both of which are exact.

    Args:
        start: First sample: number or array.
        stop: Last sample: number or array.
        num: How many samples.
        endpoint: Whether `stop` is the last sample; otherwise it would come next.
        retstep: Whether to return the distance too.
        dtype: Element type; that of the ends if None. For an integer dtype samples are rounded
            down.
        axis: Where the samples lie in the result.
        device: Where to put it.

    Returns:
        Array of one dimension more than the ends; with `retstep` a pair of it and the distance.

    Raises:
        ArgumentError: `num` is negative.
        ShapeError: The ends do not broadcast together.

    Example:
        >>> linspace(0, 1, 5)
        Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    n = size_of("linspace", "num", num)
    start, stop = _ends("linspace", start, stop, dtype)
    own = aval_of(start).dtype
    wanted = own if dtype is None else dtypes.as_dtype(dtype)
    if wanted in dtypes.INTEGERS and own in dtypes.FLOATS:
        # What rounds down must not fall short of a whole number by one rounding.
        start, stop = [convert(v, dtypes.float64) for v in (start, stop)]
    out = _linspace(start, stop, num=n, endpoint=bool(endpoint), dtype=wanted)
    axis = as_dimension(axis, out.ndim, "linspace", "axis")
    out = placed("linspace", moveaxis(out, 0, axis) if axis else out, device)
    if not retstep:
        return out
    ends = broadcast_arrays(start, stop)
    return out, _step(ends[0], ends[1], n, endpoint)


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Powers of a base whose exponents have equal distances.

    Args:
        start: Exponent of the first sample.
        stop: Exponent of the last one.
        num: How many samples.
        endpoint: Whether the last one is included.
        base: The base.
        dtype: Element type.
        axis: Where the samples lie in the result.

    Example:
        >>> logspace(0, 2, 3)
        Array([  1.,  10., 100.], dtype=float32)
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    inner = wanted if wanted in dtypes.INEXACT else None
    exponents = linspace(start, stop, num, endpoint, dtype=inner, axis=axis)
    out = power(python_number(base), exponents)
    return out if wanted is None else convert(out, wanted)


@composite("num", "endpoint")
def _geomspace(start: Any, stop: Any, *, num: int, endpoint: bool) -> Array:
    start, stop = broadcast_arrays(*[array_of("geomspace", v) for v in (start, stop)])
    ratio = lax.div(stop, start)
    parts = max(num - 1 if endpoint else num, 1)
    shape = (num, *start.shape)
    every = tuple(range(1, len(shape)))
    count = lax.broadcasted_iota(dtypes.int32, shape, 0)
    share = lax.div(lax.convert_element_type(count, start.dtype), number_like(parts, start.aval))
    first = lax.broadcast_in_dim(start, shape, every)
    out = lax.mul(first, lax.pow(lax.broadcast_in_dim(ratio, shape, every), share))
    out = lax.select(lax.eq(count, np.int32(0)), first, out)
    if endpoint and num > 1:
        last = lax.eq(count, np.int32(num - 1))
        out = lax.select(last, lax.broadcast_in_dim(stop, shape, every), out)
    return out


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Array:
    """Numbers of which each is the one before times a constant; both ends are exact.

    Args:
        start: First number, not 0.
        stop: Last number, not 0, of the same sign (or complex).
        num: How many.
        endpoint: Whether the last one is included.
        dtype: Element type.
        axis: Where the samples lie in the result.

    Raises:
        ArgumentError: `num` is negative, or an end is a Python number 0.

    Example:
        >>> geomspace(1, 100, 3)
        Array([  1.,  10., 100.], dtype=float32)
    """
    n = size_of("geomspace", "num", num)
    for argument, end in (("start", start), ("stop", stop)):
        if isinstance(end, int | float | complex) and end == 0:
            raise ArgumentError(f"geomspace: {argument}=0; a geometric sequence has no 0")
    start, stop = _ends("geomspace", start, stop, dtype)
    out = _geomspace(start, stop, num=n, endpoint=bool(endpoint))
    axis = as_dimension(axis, out.ndim, "geomspace", "axis")
    out = moveaxis(out, 0, axis) if axis else out
    return out if dtype is None else convert(out, dtypes.as_dtype(dtype))


def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> list[Array]:
    """Coordinates of the points of a grid, from vectors of coordinates.

    Args:
        *xi: Vectors.
        copy: Has no effect: arrays never change.
        sparse: Whether each result keeps size 1 in all dimensions but its own.
        indexing: ``xy``: the first vector runs along the second dimension; ``ij``: along the first.

    Returns:
        List of as many arrays as vectors.

    Raises:
        ShapeError: An argument has more than one dimension.
        ArgumentError: The indexing is unknown.

    Example:
        >>> [g.tolist() for g in meshgrid(arange(2), arange(3), indexing="ij")]
        [[[0, 0, 0], [1, 1, 1]], [[0, 1, 2], [0, 1, 2]]]
    """
    choice("meshgrid", "indexing", indexing, ("xy", "ij"))
    vectors = []
    for i, x in enumerate(xi):
        v = array_of("meshgrid", x, f"argument {i}")
        vectors.append(lax.reshape(v, (as_vector_size("meshgrid", v),)))
    order = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        order[0], order[1] = 1, 0
    shape = [0] * len(vectors)
    for v, d in zip(vectors, order, strict=True):
        shape[d] = v.size
    out = []
    for v, d in zip(vectors, order, strict=True):
        full = [v.size if i == d else 1 for i in range(len(shape))] if sparse else shape
        out.append(lax.broadcast_in_dim(v, tuple(full), (d,)))
    return out


def as_vector_size(name: str, v: Array) -> int:
    """Size of a vector; a number counts as a vector of one.

    Raises:
        ShapeError: The array has more dimensions.
    """
    if v.ndim > 1:
        raise ShapeError(f"{name}: an argument has type {v.aval}; give vectors")
    return v.size


def indices(dimensions: Any, dtype: Any = None, sparse: bool = False) -> Any:
    """Indices of the elements of an array of a shape, along each dimension.

    Args:
        dimensions: The shape.
        dtype: Element type; the default integer dtype if None.
        sparse: Whether to return a tuple of arrays that have size 1 in all dimensions but one.

    Returns:
        Array with a first dimension for the dimensions of the shape.

    Example:
        >>> indices((2, 2))[0]
        Array([[0, 0],
               [1, 1]], dtype=int32)
    """
    shape = as_ints(dimensions, "indices", "dimensions")
    wanted = dtypes.default_int_dtype() if dtype is None else dtypes.as_dtype(dtype)
    if sparse:
        sizes = [[n if i == d else 1 for i in range(len(shape))] for d, n in enumerate(shape)]
        return tuple([lax.broadcasted_iota(wanted, s, d) for d, s in enumerate(sizes)])
    if not shape:
        return lax.full((0,), 0, wanted)
    every = [lax.broadcasted_iota(wanted, (1, *shape), d + 1) for d in range(len(shape))]
    return lax.concatenate(every, 0)


def ix_(*args: Any) -> tuple[Array, ...]:
    """Vectors reshaped so that together they index a block of an array.

    Args:
        *args: Vectors of integers.

    Returns:
        Tuple of arrays, each with its elements along a dimension of its own.

    Raises:
        ShapeError: An argument is no vector.

    Example:
        >>> [i.shape for i in ix_(arange(2), arange(3))]
        [(2, 1), (1, 3)]
    """
    out = []
    for d, x in enumerate(args):
        v = array_of("ix_", x, f"argument {d}")
        if v.ndim != 1:
            raise ShapeError(f"ix_: argument {d} has type {v.aval}; give vectors")
        out.append(lax.reshape(v, tuple([v.size if i == d else 1 for i in range(len(args))])))
    return tuple(out)


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    """Call a function with the indices of the elements of an array.

    Args:
        function: Takes one array for each dimension.
        shape: The shape.
        dtype: Element type of the indices.
        **kwargs: Passed to the function.

    Returns:
        What the function returns.

    Example:
        >>> fromfunction(lambda i, j: i + j, (2, 2), dtype=int)
        Array([[0, 1],
               [1, 2]], dtype=int32)
    """
    sizes = as_ints(shape, "fromfunction", "shape")
    wanted = dtypes.as_dtype(dtype)
    return function(*[lax.broadcasted_iota(wanted, sizes, d) for d in range(len(sizes))], **kwargs)
