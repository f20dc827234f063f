"""Shapes: giving an array another one, moving its dimensions, broadcasting.

Nothing here computes with elements, and most functions bind one primitive.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

from axonym_core import lax
from axonym_core.arrays import Array, as_dimension, as_dimensions, as_ints
from axonym_core.errors import ArgumentTypeError, ShapeError
from axonym_core.primitives.shape import broadcast_in_dim_p, reshape_p, squeeze_p, transpose_p
from axonym_core.types import aval_of

from ..arguments.operands import array_of, numeric
from ..errors import ArgumentError

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "expand_dims",
    "matrix_transpose",
    "moveaxis",
    "ndim",
    "permute_dims",
    "ravel",
    "reshape",
    "rollaxis",
    "shape",
    "size",
    "squeeze",
    "swapaxes",
    "transpose",
]


def shape(a: Any) -> tuple[int, ...]:
    """Positional shape of an array or number.

    Args:
        a: Array or number.

    Example:
        >>> shape(2.0)
        ()
    """
    return aval_of(numeric("shape", a)).shape


def ndim(a: Any) -> int:
    """Number of positional dimensions of an array or number.

    Args:
        a: Array or number.

    Example:
        >>> ndim(2.0)
        0
    """
    return len(shape(a))


def size(a: Any, axis: Any = None) -> int:
    """Number of elements of an array or number, or its size along dimensions.

    Args:
        a: Array or number.
        axis: Dimension or tuple of them; all if None.

    Raises:
        ShapeError: A dimension does not exist.

    Example:
        >>> size(lax.full((2, 3), 0), 1)
        3
    """
    sizes = shape(a)
    dims = range(len(sizes)) if axis is None else as_dimensions(axis, len(sizes), "size", "axis")
    n = 1
    for d in dims:
        n *= sizes[d]
    return n


def reshape(a: Any, shape: Any = None, order: str = "C", *, copy: bool | None = None) -> Array:
    """Give an array another shape with the same number of elements.

    Args:
        a: Array or number.
        shape: New shape, an integer or a sequence of integers; one of them may be -1, and is
            computed from the others.
        order: ``"C"`` reads and fills with the last dimension fastest, ``"F"`` with the first.
        copy: Has no effect: arrays never change.

    Returns:
        Array of the new shape.

    Raises:
        ShapeError: The number of elements would change.
        ArgumentError: The order is unknown.

    Example:
        >>> reshape(lax.iota("int32", 6), (2, -1)).shape
        (2, 3)
    """
    a = array_of("reshape", a)
    if shape is None:
        raise ArgumentTypeError("reshape: shape is missing; give an integer or a tuple of integers")
    new = _completed(a, as_ints(shape, "reshape", "shape"))
    if order == "F":
        backwards = transpose_p.bind(a, permutation=tuple(range(a.ndim - 1, -1, -1)))
        out = reshape_p.bind(backwards, new_sizes=new[::-1])
        return transpose_p.bind(out, permutation=tuple(range(len(new) - 1, -1, -1)))
    if order not in ("C", "A", "K"):
        raise ArgumentError(f"reshape: order={order!r} is not known; give 'C' or 'F'")
    return a if new == a.aval.shape else reshape_p.bind(a, new_sizes=new)


def _completed(a: Array, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Shape with -1 replaced by what is left for it."""
    if -1 not in sizes:
        return sizes
    known = 1
    for n in sizes:
        known *= 1 if n == -1 else n
    if sizes.count(-1) > 1 or (known and a.size % known) or not known:
        raise ShapeError(
            f"reshape: an array of shape {a.shape} ({a.size} elements) does not go into {sizes}; "
            "one size may be -1, if the others divide the number of elements"
        )
    return tuple([a.size // known if n == -1 else n for n in sizes])


def ravel(a: Any, order: str = "C") -> Array:
    """Flat array of the elements in order.

    Args:
        a: Array or number.
        order: ``"C"`` reads with the last dimension fastest, ``"F"`` with the first.

    Raises:
        ArgumentError: The order is unknown.

    Example:
        >>> ravel(reshape(lax.iota("int32", 4), (2, 2)), "F")
        Array([0, 2, 1, 3], dtype=int32)
    """
    return reshape(a, (-1,) if size(a) else (0,), order)


def transpose(a: Any, axes: Any = None) -> Array:
    """Permute dimensions.

    Args:
        a: Array.
        axes: For each dimension of the result, the dimension of `a` that it is; reversed if None.

    Returns:
        Array of the permuted shape.

    Raises:
        ShapeError: `axes` does not name each dimension once.

    Example:
        >>> transpose(lax.full((2, 3), 0)).shape
        (3, 2)
    """
    a = array_of("transpose", a)
    n = a.aval.ndim
    if axes is None:
        permutation = tuple(range(n - 1, -1, -1))
    else:
        permutation = as_dimensions(axes, n, "transpose", "axes")
        if len(permutation) != n:
            raise ShapeError(
                f"transpose: axes={axes} for an operand of shape {a.shape}; name each of its {n} "
                "dimensions once"
            )
    if n < 2:
        return a
    return transpose_p.bind(a, permutation=permutation)


def permute_dims(a: Any, /, axes: Any = None) -> Array:
    """Permute dimensions, as `transpose` does; `axes` must be given.

    Example:
        >>> permute_dims(lax.full((2, 3), 0), (1, 0)).shape
        (3, 2)
    """
    return transpose(a, axes)


def matrix_transpose(x: Any, /) -> Array:
    """Transpose the matrices in the last two dimensions.

    Args:
        x: Array of two dimensions or more.

    Raises:
        ShapeError: There are fewer dimensions.

    Example:
        >>> matrix_transpose(lax.full((5, 2, 3), 0)).shape
        (5, 3, 2)
    """
    x = array_of("matrix_transpose", x)
    if x.ndim < 2:
        raise ShapeError(f"matrix_transpose: x has type {x.aval}; give two dimensions or more")
    return swapaxes(x, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    """Exchange two dimensions.

    Args:
        a: Array.
        axis1: One dimension.
        axis2: The other one.

    Raises:
        ShapeError: A dimension does not exist.

    Example:
        >>> swapaxes(lax.full((2, 3, 4), 0), 0, 2).shape
        (4, 3, 2)
    """
    a = array_of("swapaxes", a)
    i = as_dimension(axis1, a.ndim, "swapaxes", "axis1")
    j = as_dimension(axis2, a.ndim, "swapaxes", "axis2")
    if i == j:
        return a
    permutation = list(range(a.ndim))
    permutation[i], permutation[j] = j, i
    return transpose_p.bind(a, permutation=tuple(permutation))


def moveaxis(a: Any, source: Any, destination: Any) -> Array:
    """Move dimensions to other positions; the rest keeps its order.

    Args:
        a: Array.
        source: Dimension or sequence of dimensions.
        destination: Where each of them goes.

    Raises:
        ShapeError: A dimension does not exist, or there are not as many destinations as sources.

    Example:
        >>> moveaxis(lax.full((2, 3, 4), 0), 0, -1).shape
        (3, 4, 2)
    """
    a = array_of("moveaxis", a)
    old = as_dimensions(source, a.ndim, "moveaxis", "source")
    new = as_dimensions(destination, a.ndim, "moveaxis", "destination")
    if len(old) != len(new):
        raise ShapeError(
            f"moveaxis: source={source} and destination={destination} differ in length; give a "
            "destination for each source"
        )
    order = [d for d in range(a.ndim) if d not in old]
    for to, d in sorted(zip(new, old, strict=True)):
        order.insert(to, d)
    return transpose(a, tuple(order))


def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """Move a dimension backwards until it lies before another one.

    Args:
        a: Array.
        axis: The dimension.
        start: Before which dimension it goes.

    Raises:
        ShapeError: A dimension does not exist.

    Example:
        >>> rollaxis(lax.full((2, 3, 4), 0), 2).shape
        (4, 2, 3)
    """
    a = array_of("rollaxis", a)
    axis = as_dimension(axis, a.ndim, "rollaxis", "axis")
    start = start if start == a.ndim else as_dimension(start, a.ndim, "rollaxis", "start")
    return moveaxis(a, axis, start - 1 if axis < start else start)


def expand_dims(a: Any, axis: Any) -> Array:
    """Insert dimensions of size 1.

    Args:
        a: Array or number.
        axis: Where the new dimension lies in the result, or a sequence of these.

    Raises:
        ShapeError: The result has no such dimension, or it is named twice.

    Example:
        >>> expand_dims(lax.full((2, 3), 0), (0, -1)).shape
        (1, 2, 3, 1)
    """
    a = array_of("expand_dims", a)
    wanted = as_ints(axis, "expand_dims", "axis")
    dims = as_dimensions(wanted, a.ndim + len(wanted), "expand_dims", "axis")
    sizes = list(a.aval.shape)
    for d in sorted(dims):
        sizes.insert(d, 1)
    return reshape_p.bind(a, new_sizes=tuple(sizes)) if dims else a


def squeeze(a: Any, axis: Any = None) -> Array:
    """Drop dimensions of size 1.

    Args:
        a: Array or number.
        axis: Dimension or sequence of them; all of size 1 if None.

    Raises:
        ShapeError: A dimension does not exist or has another size.

    Example:
        >>> squeeze(lax.full((1, 2, 1), 0)).shape
        (2,)
    """
    a = array_of("squeeze", a)
    old = a.aval.shape
    if axis is None:
        dims = tuple([d for d, n in enumerate(old) if n == 1])
    else:
        dims = as_dimensions(axis, len(old), "squeeze", "axis")
        for d in dims:
            if old[d] != 1:
                raise ShapeError(
                    f"squeeze: axis={axis} names dimension {d} of shape {old}, which has size "
                    f"{old[d]}; only dimensions of size 1 can be dropped"
                )
    return squeeze_p.bind(a, dimensions=tuple(sorted(dims))) if dims else a


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Shape to which arrays of the given shapes broadcast.

    Args:
        *shapes: Shapes: integers or sequences of integers.

    Raises:
        ShapeError: They do not broadcast together.

    Example:
        >>> broadcast_shapes((3, 1), (4,))
        (3, 4)
    """
    return lax.broadcast_shapes(*[as_ints(s, "broadcast_shapes", "shapes") for s in shapes])


def broadcast_to(array: Any, shape: Any) -> Array:
    """Repeat an array along new leading dimensions and along dimensions of size 1.

    Args:
        array: Array or number.
        shape: The new shape.

    Raises:
        ShapeError: The array does not broadcast to it.

    Example:
        >>> broadcast_to(lax.iota("int32", 2), (2, 2))
        Array([[0, 1],
               [0, 1]], dtype=int32)
    """
    a = array_of("broadcast_to", array)
    new = as_ints(shape, "broadcast_to", "shape")
    old = a.aval.shape
    if new == old:
        return a
    lead = len(new) - len(old)
    if lead < 0 or any(m not in (1, n) for m, n in zip(old, new[lead:], strict=True)):
        raise ShapeError(
            f"broadcast_to: an array of shape {old} does not broadcast to {new}; sizes must be "
            "equal or 1, counted from the last dimension"
        )
    return broadcast_in_dim_p.bind(a, shape=new, broadcast_dimensions=tuple(range(lead, len(new))))


def broadcast_arrays(*args: Any) -> list[Array]:
    """Repeat arrays until all have one shape.

    Args:
        *args: Arrays and numbers.

    Returns:
        List of arrays of the common shape.

    Raises:
        ShapeError: They do not broadcast together.

    Example:
        >>> [x.shape for x in broadcast_arrays(lax.full((3, 1), 0), lax.full((4,), 0))]
        [(3, 4), (3, 4)]
    """
    arrays = [array_of("broadcast_arrays", a, f"argument {i}") for i, a in enumerate(args)]
    common = broadcast_shapes(*[a.shape for a in arrays])
    return [broadcast_to(a, common) for a in arrays]


def _at_least(name: str, arys: tuple[Any, ...], rank: int) -> Any:
    out = []
    for x in arys:
        a = array_of(name, x)
        if a.ndim < rank:
            sizes = a.shape
            if rank == 3:
                sizes = {0: (1, 1, 1), 1: (1, *sizes, 1)}.get(a.ndim, (*sizes, 1))
            else:
                sizes = (1,) * (rank - a.ndim) + sizes
            a = reshape_p.bind(a, new_sizes=sizes)
        out.append(a)
    return out[0] if len(out) == 1 else out


def atleast_1d(*arys: Any) -> Any:
    """Arrays with one dimension or more; a list of them for several arguments.

    Args:
        *arys: Arrays and numbers.

    Example:
        >>> atleast_1d(2.0).shape
        (1,)
    """
    return _at_least("atleast_1d", arys, 1)


def atleast_2d(*arys: Any) -> Any:
    """Arrays with two dimensions or more, new ones first; a list for several arguments.

    Args:
        *arys: Arrays and numbers.

    Example:
        >>> atleast_2d(lax.full((3,), 0)).shape
        (1, 3)
    """
    return _at_least("atleast_2d", arys, 2)


def atleast_3d(*arys: Any) -> Any:
    """Arrays with three dimensions or more, as NumPy adds them; a list for several arguments.

    Args:
        *arys: Arrays and numbers.

    Example:
        >>> atleast_3d(lax.full((3,), 0)).shape
        (1, 3, 1)
    """
    return _at_least("atleast_3d", arys, 3)
