"""`conv_general_dilated`: convolutions with strides, dilations, padding and groups.

The window is not flipped (what machine learning calls a convolution is a correlation). Dilating the
left operand inserts zeros between its elements, which makes the transposed convolution one too.
With `feature_group_count` the features of `lhs` are cut into groups, each convolved with its own
part of the kernels; with `batch_group_count` the batch is, which is what the derivative by the
kernel of a grouped convolution is.

With `axis_names` the results are summed over named axes in the same operation (`contractions`).
"""

from __future__ import annotations

from typing import NamedTuple

from ..errors import ShapeError
from ..programs.primitive import Primitive
from ..settings.caches import register_key
from ..types.avals import AxisName, ShapedArray
from .contractions import PrecisionPair, contraction_dtype
from .reductions import axis_names_of, sum_named

Shape = tuple[int, ...]
Padding = tuple[tuple[int, int], ...]


class ConvDimensionNumbers(NamedTuple):
    """Which dimension of each array of a convolution means what.

    Attributes:
        lhs_spec: Of the left operand: batch dimension, feature dimension, spatial dimensions.
        rhs_spec: Of the kernel: output feature, input feature, spatial dimensions.
        out_spec: Of the result: batch dimension, feature dimension, spatial dimensions.
    """

    lhs_spec: Shape
    rhs_spec: Shape
    out_spec: Shape


register_key(ConvDimensionNumbers, None)  # holds positions only


def dilated(size: int, dilation: int) -> int:
    """Size of a dimension with `dilation - 1` gaps between every two elements."""
    return 0 if size == 0 else (size - 1) * dilation + 1


def output_size(lhs: int, rhs: int, stride: int, low: int, high: int) -> int:
    """Size of a spatial dimension of the result, for dilated sizes of the operands."""
    return max(0, (lhs + low + high - rhs) // stride + 1)


def spatial_output(
    lhs_sizes: Shape,
    rhs_sizes: Shape,
    window_strides: Shape,
    padding: Padding,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
) -> Shape:
    """Spatial sizes of the result of a convolution."""
    return tuple(
        [
            output_size(dilated(n, ld), dilated(k, rd), stride, low, high)
            for n, k, stride, (low, high), ld, rd in zip(
                lhs_sizes,
                rhs_sizes,
                window_strides,
                padding,
                lhs_dilation,
                rhs_dilation,
                strict=True,
            )
        ]
    )


def _check_spec(name: str, spec: Shape, ndim: int) -> None:
    if sorted(spec) != list(range(ndim)):
        raise ShapeError(
            f"conv_general_dilated: {name}={spec} of dimension_numbers does not name each of the "
            f"{ndim} dimensions once; make it with lax.conv_dimension_numbers"
        )


def _check_groups(name: str, groups: int, what: str, size: int, divided: str) -> None:
    if groups < 1 or size % groups:
        raise ShapeError(
            f"conv_general_dilated: {name}={groups} does not divide the {size} {what} of {divided}"
        )


def _conv_general_dilated_shape(
    lhs: ShapedArray,
    rhs: ShapedArray,
    *,
    window_strides: Shape,
    padding: Padding,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    dimension_numbers: ConvDimensionNumbers,
    feature_group_count: int,
    batch_group_count: int,
    precision: PrecisionPair,
    preferred_element_type: object,
    axis_names: tuple[AxisName, ...],
) -> ShapedArray:
    name = "conv_general_dilated"
    ndim = lhs.ndim
    if ndim < 2 or rhs.ndim != ndim:
        raise ShapeError(
            f"{name}: lhs {lhs} and rhs {rhs} should have the same number of dimensions, at least "
            "two (batch and features of lhs, output and input features of rhs)"
        )
    for field, spec in zip(dimension_numbers._fields, dimension_numbers, strict=True):
        _check_spec(field, spec, ndim)
    for argument, values in (
        ("window_strides", window_strides),
        ("padding", padding),
        ("lhs_dilation", lhs_dilation),
        ("rhs_dilation", rhs_dilation),
    ):
        if len(values) != ndim - 2:
            raise ShapeError(
                f"{name}: {argument}={values} has {len(values)} entries for {ndim - 2} spatial "
                "dimensions; give one for each"
            )
        if argument != "padding" and any(v < 1 for v in values):  # type: ignore[operator]  # pairs are skipped
            raise ShapeError(f"{name}: {argument}={values}; each has to be 1 or more")
    (lhs_batch, lhs_feature, *lhs_spatial) = dimension_numbers.lhs_spec
    (rhs_out, rhs_in, *rhs_spatial) = dimension_numbers.rhs_spec
    batch, features = lhs.shape[lhs_batch], lhs.shape[lhs_feature]
    kernels, kernel_features = rhs.shape[rhs_out], rhs.shape[rhs_in]
    if feature_group_count > 1 and batch_group_count > 1:
        raise ShapeError(
            f"{name}: feature_group_count={feature_group_count} and batch_group_count="
            f"{batch_group_count}; only one of them may be more than 1"
        )
    for argument, groups in (
        ("feature_group_count", feature_group_count),
        ("batch_group_count", batch_group_count),
    ):
        _check_groups(argument, groups, "output features", kernels, f"rhs {rhs}")
    _check_groups("feature_group_count", feature_group_count, "features", features, f"lhs {lhs}")
    _check_groups("batch_group_count", batch_group_count, "batch entries", batch, f"lhs {lhs}")
    if features // feature_group_count != kernel_features:
        raise ShapeError(
            f"{name}: lhs {lhs} has {features} features (dimension {lhs_feature}) in "
            f"{feature_group_count} groups, but rhs {rhs} takes {kernel_features} (dimension "
            f"{rhs_in}); they should be equal: check dimension_numbers and feature_group_count"
        )
    spatial = spatial_output(
        tuple([lhs.shape[i] for i in lhs_spatial]),
        tuple([rhs.shape[i] for i in rhs_spatial]),
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
    )
    shape = [0] * ndim
    for position, size in zip(
        dimension_numbers.out_spec, (batch // batch_group_count, kernels, *spatial), strict=True
    ):
        shape[position] = size
    dtype = contraction_dtype(name, lhs, rhs, preferred_element_type)
    out = ShapedArray(tuple(shape), dtype, lhs.weak_type and rhs.weak_type)
    return sum_named(name, (lhs, rhs), out, axis_names)


conv_general_dilated_p = Primitive(
    "conv_general_dilated",
    _conv_general_dilated_shape,
    kind="contraction",
    linear=(0, 1),
    separately=True,
    uses_axes=axis_names_of,
)
