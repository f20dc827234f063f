"""`dot_general`: sums of products over dimensions, and over named axes.

One primitive covers inner, outer, matrix and batched matrix products. Its dimension numbers are
`((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))`; the result has the batch dimensions
first, then the other dimensions of `lhs`, then those of `rhs`.

With `axis_names` the products are summed over named axes too, in the same operation. The transposed
product of an operand that does not vary over a mapped axis contracts that axis, so that the total
gradient of a weight costs one matrix product and never exists once per index.

Convolutions stand in a module of their own, `convolutions`, in every package.
"""

from __future__ import annotations

import enum
from typing import Any

from ..errors import DTypeError, ShapeError
from ..programs.primitive import Primitive
from ..types import dtypes
from ..types.avals import AxisName, ShapedArray
from .reductions import axis_names_of, sum_named

DotDimensionNumbers = tuple[
    tuple[tuple[int, ...], tuple[int, ...]], tuple[tuple[int, ...], tuple[int, ...]]
]


class Precision(enum.Enum):
    """How exactly a backend multiplies 32-bit numbers in contractions.

    `DEFAULT` is the fastest that the hardware offers (16-bit products on some accelerators),
    `HIGHEST` means full 32-bit products. On CPUs all three are exact.
    """

    DEFAULT = "default"
    HIGH = "high"
    HIGHEST = "highest"

    def __repr__(self) -> str:
        return self.name


PrecisionPair = tuple[Precision, Precision] | None


def free_dimensions(
    ndim: int, contracting: tuple[int, ...], batch: tuple[int, ...]
) -> tuple[int, ...]:
    """Dimensions of an operand that are neither contracted nor batch dimensions."""
    return tuple([i for i in range(ndim) if i not in contracting and i not in batch])


def contraction_dtype(
    name: str, lhs: ShapedArray, rhs: ShapedArray, preferred_element_type: Any
) -> Any:
    """Dtype of a contraction's result.

    Args:
        name: Name of the primitive, for messages.
        lhs: Type of the left operand.
        rhs: Type of the right operand.
        preferred_element_type: The dtype asked for, or None.

    Raises:
        DTypeError: The operands differ in dtype, or cannot give the dtype asked for.
    """
    if lhs.dtype != rhs.dtype:
        raise DTypeError(
            f"{name}: lhs is {lhs.dtype} and rhs is {rhs.dtype}; convert one of them, for example "
            f"lax.convert_element_type(rhs, '{lhs.dtype}')"
        )
    if dtypes.is_extended(lhs.dtype):
        raise DTypeError(f"{name}: elements of {lhs.dtype} have no products")
    if preferred_element_type is None or preferred_element_type == lhs.dtype:
        return lhs.dtype
    given, wanted = lhs.dtype, preferred_element_type
    fits = (
        (dtypes.is_integer(given) and (dtypes.is_integer(wanted) or dtypes.is_floating(wanted)))
        or (dtypes.is_floating(given) and dtypes.is_floating(wanted))
        or (dtypes.is_complex(given) and dtypes.is_complex(wanted))
    )
    if not fits:
        raise DTypeError(
            f"{name}: preferred_element_type={wanted} is of another kind than the operands' "
            f"{given}; convert the operands or the result with lax.convert_element_type"
        )
    if dtypes.is_integer(given) and dtypes.is_integer(wanted):
        if dtypes.is_signed(given) != dtypes.is_signed(wanted):
            raise DTypeError(
                f"{name}: preferred_element_type={wanted} and the operands' {given} differ in "
                "being signed; convert the operands first"
            )
        if wanted.itemsize < given.itemsize:
            raise DTypeError(
                f"{name}: preferred_element_type={wanted} is narrower than the operands' {given}; "
                "convert the result with lax.convert_element_type"
            )
    return wanted


def _check_dims(side: str, aval: ShapedArray, dims: tuple[int, ...], what: str) -> None:
    for d in dims:
        if not 0 <= d < aval.ndim:
            raise ShapeError(
                f"dot_general: dimension_numbers name dimension {d} of {side} as {what} "
                f"dimension, but {side} of type {aval} has {aval.ndim}; give one from 0 to "
                f"{aval.ndim - 1}"
                if aval.ndim
                else f"dot_general: dimension_numbers name dimension {d} of the 0-d {side}"
            )


def _check_sizes(
    lhs: ShapedArray,
    rhs: ShapedArray,
    lhs_dims: tuple[int, ...],
    rhs_dims: tuple[int, ...],
    what: str,
) -> None:
    if len(lhs_dims) != len(rhs_dims):
        raise ShapeError(
            f"dot_general: {len(lhs_dims)} {what} dimensions of lhs {lhs_dims} but "
            f"{len(rhs_dims)} of rhs {rhs_dims} in dimension_numbers; they belong together in pairs"
        )
    _check_dims("lhs", lhs, lhs_dims, f"a {what}")
    _check_dims("rhs", rhs, rhs_dims, f"a {what}")
    for i, j in zip(lhs_dims, rhs_dims, strict=True):
        if lhs.shape[i] != rhs.shape[j]:
            raise ShapeError(
                f"dot_general: {what} dimension {i} of lhs {lhs} has size {lhs.shape[i]}, but "
                f"dimension {j} of rhs {rhs} has size {rhs.shape[j]}; they have to be equal: "
                "transpose an operand or name other dimensions"
            )


def _dot_general_shape(
    lhs: ShapedArray,
    rhs: ShapedArray,
    *,
    dimension_numbers: DotDimensionNumbers,
    precision: PrecisionPair,
    preferred_element_type: Any,
    axis_names: tuple[AxisName, ...],
) -> ShapedArray:
    (lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch) = dimension_numbers
    _check_sizes(lhs, rhs, lhs_contracting, rhs_contracting, "contracting")
    _check_sizes(lhs, rhs, lhs_batch, rhs_batch, "batch")
    for side, dims in (("lhs", lhs_contracting + lhs_batch), ("rhs", rhs_contracting + rhs_batch)):
        if len(set(dims)) != len(dims):
            raise ShapeError(
                f"dot_general: dimension_numbers={dimension_numbers} use a dimension of {side} "
                "twice; each is a contracting or a batch dimension, or neither"
            )
    dtype = contraction_dtype("dot_general", lhs, rhs, preferred_element_type)
    shape = (
        *[lhs.shape[i] for i in lhs_batch],
        *[lhs.shape[i] for i in free_dimensions(lhs.ndim, lhs_contracting, lhs_batch)],
        *[rhs.shape[j] for j in free_dimensions(rhs.ndim, rhs_contracting, rhs_batch)],
    )
    out = ShapedArray(shape, dtype, lhs.weak_type and rhs.weak_type)
    return sum_named("dot_general", (lhs, rhs), out, axis_names)


dot_general_p = Primitive(
    "dot_general",
    _dot_general_shape,
    kind="contraction",
    linear=(0, 1),
    separately=True,
    uses_axes=axis_names_of,
)
