"""Products of vectors, matrices and arrays of more dimensions."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

from axonym_core import lax, operators
from axonym_core.arrays import Array, as_dimension, as_dimensions, as_ints
from axonym_core.errors import ShapeError
from axonym_core.extend import axes_in_scope
from axonym_core.operators import promote_dtypes
from axonym_core.types import aval_of

from ..arguments.composites import composite
from ..arguments.operands import array_of, arrays_of, refuse_operands, refuse_out
from ..errors import ArgumentError
from ..shapes.reshaping import moveaxis
from .labelled_contraction import (
    Options,
    arrange,
    contract,
    drop,
    promote_factors,
    truths_of,
)

__all__ = [
    "cross",
    "dot",
    "inner",
    "kron",
    "matmul",
    "matvec",
    "outer",
    "tensordot",
    "vdot",
    "vecdot",
    "vecmat",
]


def matmul(
    a: Any,
    b: Any,
    *,
    axis_names: Any = (),
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Matrix product `a @ b` over the last two dimensions; the others broadcast.

    An operand of one dimension is a row on the left and a column on the right.

    Args:
        a: Array of one dimension or more.
        b: Array of one dimension or more.
        axis_names: Named axes to sum the products over too, a name or a tuple of names.
        precision: As of `lax.dot_general`.
        preferred_element_type: Dtype to accumulate in and to return.

    Returns:
        Array of the broadcast leading dimensions, the rows of `a` and the columns of `b`.

    Raises:
        ShapeError: An operand is 0-d, or the sizes do not fit.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> matmul(lax.full((2, 3), 1.0, "float32"), lax.full((3,), 2.0, "float32"))
        Array([6., 6.], dtype=float32)
    """
    if axis_names == () and precision is None and preferred_element_type is None:
        out = operators.matmul(a, b)
        return out if out is not NotImplemented else refuse_operands("matmul", a, b)
    x, y = arrays_of("matmul", a, b)
    if not x.ndim or not y.ndim or x.shape[-1] != y.shape[max(y.ndim - 2, 0)]:
        operators.matmul(x, y)  # says what is wrong
    rows, inner_, columns = 1, 2, 3
    x_labels = (*range(1 - x.ndim, -1), rows, inner_) if x.ndim > 1 else (inner_,)
    y_labels = (*range(1 - y.ndim, -1), inner_, columns) if y.ndim > 1 else (inner_,)
    wanted = tuple([v for v in sorted({*x_labels, *y_labels}) if v != inner_])
    options = Options(precision, preferred_element_type)
    return _labelled("matmul", x, x_labels, y, y_labels, wanted, axis_names, options)


def _labelled(
    name: str,
    x: Array,
    x_labels: tuple[int, ...],
    y: Array,
    y_labels: tuple[int, ...],
    wanted: tuple[int, ...],
    axis_names: Any,
    options: Options,
) -> Array:
    """Product of two arrays with labelled dimensions, which broadcast."""
    (x, y), truths = promote_factors(name, (x, y))
    names = axes_in_scope(axis_names) if axis_names != () else ()
    sizes = dict(zip(x_labels, aval_of(x).shape, strict=True))
    for v, n in zip(y_labels, aval_of(y).shape, strict=True):
        if sizes.get(v, 1) == 1:
            sizes[v] = n
        elif n not in (1, sizes[v]):
            raise ShapeError(
                f"{name}: operands of types {aval_of(x)} and {aval_of(y)} do not fit: sizes "
                f"{sizes[v]} and {n} meet; make them equal"
            )
    x, x_labels = drop(x, x_labels, _shorter(x, x_labels, sizes))
    y, y_labels = drop(y, y_labels, _shorter(y, y_labels, sizes))
    out, labels = contract(x, x_labels, y, y_labels, frozenset(wanted), wanted, names, options)
    out = arrange(out, labels, wanted)
    return truths_of(out) if truths else out


def _shorter(x: Any, labels: tuple[int, ...], sizes: dict[int, int]) -> tuple[int, ...]:
    """Dimensions of size 1 that broadcast against the other operand's."""
    shape = aval_of(x).shape
    return tuple([d for d, v in enumerate(labels) if shape[d] != sizes[v]])


def dot(
    a: Any,
    b: Any,
    *,
    axis_names: Any = (),
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Sum of products over the last dimension of `a` and the second last (or only one) of `b`.

    Args:
        a: Array or number.
        b: Array or number; a number multiplies.
        axis_names: Named axes to sum the products over too, a name or a tuple of names.
        precision: As of `lax.dot_general`.
        preferred_element_type: Dtype to accumulate in and to return.

    Returns:
        Array with the remaining dimensions of `a`, then those of `b`.

    Raises:
        ShapeError: The dimensions differ in size.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> dot(lax.full((3,), 1.0, "float32"), lax.full((3,), 2.0, "float32"))
        Array(6., dtype=float32)
    """
    x, y = arrays_of("dot", a, b)
    options = Options(precision, preferred_element_type)
    if not x.ndim or not y.ndim:
        if axis_names != ():
            return tensordot(x, y, 0, axis_names=axis_names)
        return operators.multiply(x, y)
    x_labels = (*range(1, x.ndim), 0)
    y_labels = (*range(100, 98 + y.ndim), 0, 99 + y.ndim) if y.ndim > 1 else (0,)
    if x.shape[-1] != y.shape[max(y.ndim - 2, 0)]:
        raise ShapeError(
            f"dot: operands have types {x.aval} and {y.aval}; the last dimension of the first and "
            f"the {'second last' if y.ndim > 1 else 'only'} one of the second differ in size"
        )
    wanted = tuple([v for v in (*x_labels, *y_labels) if v])
    return _labelled("dot", x, x_labels, y, y_labels, wanted, axis_names, options)


def tensordot(
    a: Any,
    b: Any,
    axes: Any = 2,
    *,
    axis_names: Any = (),
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Sum of products over pairs of dimensions.

    Args:
        a: Array.
        b: Array.
        axes: Number of last dimensions of `a` that go with as many first ones of `b`; or a pair of
            sequences of dimensions.
        axis_names: Named axes to sum the products over too, a name or a tuple of names.
        precision: As of `lax.dot_general`.
        preferred_element_type: Dtype to accumulate in and to return.

    Returns:
        Array with the remaining dimensions of `a`, then those of `b`.

    Raises:
        ShapeError: Dimensions do not exist, or differ in number or size.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> tensordot(lax.full((2, 3), 1.0, "float32"), lax.full((3, 4), 1.0, "float32"), 1).shape
        (2, 4)
    """
    x, y = arrays_of("tensordot", a, b)
    if isinstance(axes, tuple | list):
        if len(axes) != 2:
            raise ArgumentError(
                f"tensordot: axes={axes} must be a number or a pair of sequences of dimensions"
            )
        left = as_dimensions(axes[0], x.ndim, "tensordot", "axes[0]")
        right = as_dimensions(axes[1], y.ndim, "tensordot", "axes[1]")
    else:
        (n,) = as_ints(axes, "tensordot", "axes")
        if not 0 <= n <= min(x.ndim, y.ndim):
            raise ShapeError(
                f"tensordot: axes={n} of operands with {x.ndim} and {y.ndim} dimensions; give a "
                f"number from 0 to {min(x.ndim, y.ndim)}"
            )
        left, right = tuple(range(x.ndim - n, x.ndim)), tuple(range(n))
    sizes = [x.shape[d] for d in left], [y.shape[d] for d in right]
    if sizes[0] != sizes[1]:
        raise ShapeError(
            f"tensordot: axes={axes} of operands of types {x.aval} and {y.aval} have sizes "
            f"{sizes[0]} and {sizes[1]}; they have to be the same"
        )
    (x, y), truths = promote_factors("tensordot", (x, y))
    out = lax.dot_general(
        x,
        y,
        ((left, right), ((), ())),
        precision,
        preferred_element_type,
        axis_names=axis_names,
    )
    return truths_of(out) if truths else out


def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """Sum of products of the elements of two arrays, those of the first conjugated.

    Args:
        a: Array.
        b: Array of as many elements.
        precision: As of `lax.dot_general`.
        preferred_element_type: Dtype to accumulate in and to return.

    Returns:
        0-d array.

    Raises:
        ShapeError: The arrays differ in their number of elements.

    Example:
        >>> vdot(lax.full((2, 2), 1.0, "float32"), lax.full((4,), 2.0, "float32"))
        Array(8., dtype=float32)
    """
    x, y = arrays_of("vdot", a, b)
    if x.size != y.size:
        raise ShapeError(f"vdot: operands have types {x.aval} and {y.aval}, of unlike sizes")
    x, y = lax.reshape(lax.conj(x), (x.size,)), lax.reshape(y, (y.size,))
    return dot(x, y, precision=precision, preferred_element_type=preferred_element_type)


def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """Sum of products over the last dimensions of both arrays.

    Args:
        a: Array or number.
        b: Array or number; a number multiplies.
        precision: As of `lax.dot_general`.
        preferred_element_type: Dtype to accumulate in and to return.

    Returns:
        Array with the remaining dimensions of `a`, then those of `b`.

    Raises:
        ShapeError: The last dimensions differ in size.

    Example:
        >>> inner(lax.full((2, 3), 1.0, "float32"), lax.full((4, 3), 1.0, "float32")).shape
        (2, 4)
    """
    x, y = arrays_of("inner", a, b)
    if not x.ndim or not y.ndim:
        return operators.multiply(x, y)
    return tensordot(
        x,
        y,
        ((-1,), (-1,)),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def outer(a: Any, b: Any, out: None = None) -> Array:
    """Products of each element of one array with each of another, both taken as flat.

    Args:
        a: Array or number.
        b: Array or number.
        out: Refused: arrays are immutable.

    Returns:
        Matrix of as many rows as `a` has elements, and as many columns as `b` has.

    Example:
        >>> outer(lax.iota("int32", 2), lax.iota("int32", 3))
        Array([[0, 0, 0],
               [0, 1, 2]], dtype=int32)
    """
    if out is not None:
        refuse_out("outer")
    x, y = arrays_of("outer", a, b)
    return operators.multiply(lax.reshape(x, (x.size, 1)), lax.reshape(y, (1, y.size)))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, precision: Any = None) -> Array:
    """Sums of products along a dimension, the first factor conjugated; the others broadcast.

    Args:
        x1: Array.
        x2: Array.
        axis: Dimension of the vectors.
        precision: As of `lax.dot_general`.

    Raises:
        ShapeError: The shapes do not fit.

    Example:
        >>> vecdot(lax.full((2, 3), 1.0, "float32"), lax.full((3,), 2.0, "float32"))
        Array([6., 6.], dtype=float32)
    """
    x, y = arrays_of("vecdot", x1, x2)
    x, y = moveaxis(x, axis, -1), moveaxis(y, axis, -1)
    return _last_contracted("vecdot", lax.conj(x), y, 1, 1, precision)


def matvec(x1: Any, x2: Any, /) -> Array:
    """Products of matrices with vectors; leading dimensions broadcast.

    Args:
        x1: Array of shape `(..., n, m)`.
        x2: Array of shape `(..., m)`.

    Raises:
        ShapeError: The shapes do not fit.

    Example:
        >>> matvec(lax.full((2, 3), 1.0, "float32"), lax.full((3,), 2.0, "float32"))
        Array([6., 6.], dtype=float32)
    """
    x, y = arrays_of("matvec", x1, x2)
    return _last_contracted("matvec", x, y, 2, 1, None)


def vecmat(x1: Any, x2: Any, /) -> Array:
    """Products of conjugated vectors with matrices; leading dimensions broadcast.

    Args:
        x1: Array of shape `(..., n)`.
        x2: Array of shape `(..., n, m)`.

    Raises:
        ShapeError: The shapes do not fit.

    Example:
        >>> vecmat(lax.full((2,), 1.0, "float32"), lax.full((2, 3), 2.0, "float32"))
        Array([4., 4., 4.], dtype=float32)
    """
    x, y = arrays_of("vecmat", x1, x2)
    x = lax.conj(x)
    if y.ndim < 2:
        raise ShapeError(f"vecmat: x2 has type {y.aval}; give a matrix, or a stack of them")
    return _last_contracted("vecmat", moveaxis(y, -2, -1), x, 2, 1, None)


def _last_contracted(
    name: str, x: Array, y: Array, x_core: int, y_core: int, precision: Any
) -> Array:
    """Product over the last dimensions of both; dimensions before the core broadcast."""
    if x.ndim < x_core or y.ndim < y_core or x.shape[-1] != y.shape[-1]:
        raise ShapeError(
            f"{name}: operands of types {x.aval} and {y.aval} do not fit; the vectors have to have "
            "the same size"
        )
    core = (1, 2)[-x_core:]
    x_labels = (*range(x_core - x.ndim, 0), *core)
    y_labels = (*range(y_core - y.ndim, 0), 2)
    wanted = tuple([v for v in sorted({*x_labels, *y_labels}) if v != 2])
    return _labelled(name, x, x_labels, y, y_labels, wanted, (), Options(precision))


@composite()
def _kron(x: Any, y: Any) -> Array:
    rank = max(x.ndim, y.ndim)
    x_shape = (1,) * (rank - x.ndim) + x.shape
    y_shape = (1,) * (rank - y.ndim) + y.shape
    left, right, out = [], [], []
    for m, n in zip(x_shape, y_shape, strict=True):
        left += [m, 1]
        right += [1, n]
        out.append(m * n)
    product = operators.multiply(lax.reshape(x, tuple(left)), lax.reshape(y, tuple(right)))
    return lax.reshape(product, tuple(out))


def kron(a: Any, b: Any) -> Array:
    """Kronecker product: each element of one array times all of another.

    Args:
        a: Array or number.
        b: Array or number.

    Returns:
        Array whose sizes are the products of theirs.

    Example:
        >>> kron(lax.iota("int32", 2), lax.full((2,), 1))
        Array([0, 0, 1, 1], dtype=int32)
    """
    x, y = promote_dtypes("kron", *arrays_of("kron", a, b))
    return _kron(array_of("kron", x), array_of("kron", y))


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """Cross products of vectors of 3 (or 2) components; the other dimensions broadcast.

    Args:
        a: Array.
        b: Array.
        axisa: Dimension of the components of `a`.
        axisb: Dimension of the components of `b`.
        axisc: Dimension of the components of the result.
        axis: All three at once.

    Returns:
        Array of vectors; of numbers where both have 2 components.

    Raises:
        ShapeError: The vectors do not have 2 or 3 components, or the shapes do not broadcast.

    Example:
        >>> cross(lax.iota("int32", 3), lax.full((3,), 1))
        Array([-1,  2, -1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = promote_dtypes("cross", *arrays_of("cross", a, b))
    x, y = [array_of("cross", v) for v in (x, y)]
    x = moveaxis(x, as_dimension(axisa, x.ndim, "cross", "axisa"), -1)
    y = moveaxis(y, as_dimension(axisb, y.ndim, "cross", "axisb"), -1)
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ShapeError(
            f"cross: vectors have {x.shape[-1]} and {y.shape[-1]} components; give 2 or 3"
        )
    out = _cross(x, y)
    if x.shape[-1] == y.shape[-1] == 2:
        return out
    return moveaxis(out, -1, as_dimension(axisc, out.ndim, "cross", "axisc"))


@composite()
def _cross(x: Any, y: Any) -> Array:
    def part(v: Any, i: int) -> Any:
        if i >= v.shape[-1]:
            return None
        return lax.index_in_dim(v, i, -1, keepdims=False)

    def minor(i: int, j: int) -> Any:
        products = []
        for first, second in ((i, j), (j, i)):
            u, v = part(x, first), part(y, second)
            products.append(None if u is None or v is None else operators.multiply(u, v))
        if products[1] is None:
            return products[0]
        return (
            operators.negative(products[1])
            if products[0] is None
            else operators.subtract(*products)
        )

    if x.shape[-1] == y.shape[-1] == 2:
        return minor(0, 1)
    minors = [minor(1, 2), minor(2, 0), minor(0, 1)]
    return lax.concatenate([lax.expand_dims(m, (aval_of(m).ndim,)) for m in minors], -1)
