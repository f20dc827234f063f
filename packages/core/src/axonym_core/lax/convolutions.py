"""Convolutions: `conv_general_dilated` and its common cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays.arguments import as_ints
from ..arrays.array import Array
from ..errors import ShapeError
from ..primitives.convolutions import (
    ConvDimensionNumbers,
    Padding,
    conv_general_dilated_p,
    dilated,
)
from ..types.avals import aval_of
from .contractions import canonical_precision, preferred_dtype
from .reductions import axes_in_scope
from .shape import rev

__all__ = [
    "ConvDimensionNumbers",
    "conv",
    "conv_dimension_numbers",
    "conv_general_dilated",
    "conv_transpose",
    "conv_with_general_padding",
    "padtype_to_pads",
]


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Say which dimension of each array of a convolution means what.

    Args:
        lhs_shape: Shape of the left operand.
        rhs_shape: Shape of the kernel.
        dimension_numbers: Three strings for left operand, kernel and result, each with a letter
            per dimension: N for the batch, C for features (kernels: O for output and I for input
            features), and one letter for each spatial dimension, as in `("NHWC", "HWIO", "NHWC")`;
            or three tuples of dimensions; or None for batch, features, spatial dimensions
            everywhere, and output features first in the kernel.

    Raises:
        ShapeError: The numbers of dimensions differ, or the strings do not fit them.

    Example:
        >>> conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 5), ("NHWC", "HWIO", "NHWC"))
        ConvDimensionNumbers(lhs_spec=(0, 3, 1, 2), rhs_spec=(3, 2, 0, 1), out_spec=(0, 3, 1, 2))
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    ndim = len(lhs_shape)
    if len(rhs_shape) != ndim:
        raise ShapeError(
            f"convolution: lhs has shape {tuple(lhs_shape)} and rhs {tuple(rhs_shape)}; they "
            "should have the same number of dimensions"
        )
    if dimension_numbers is None:
        natural = tuple(range(ndim))
        return ConvDimensionNumbers(natural, natural, natural)
    if not isinstance(dimension_numbers, tuple | list) or len(dimension_numbers) != 3:
        raise ShapeError(
            f"convolution: dimension_numbers={dimension_numbers!r} should be three strings, such "
            "as ('NHWC', 'HWIO', 'NHWC'), three tuples, or None"
        )
    if not all(isinstance(spec, str) for spec in dimension_numbers):
        lhs, rhs, out = (
            as_ints(spec, "convolution", "dimension_numbers") for spec in dimension_numbers
        )
        return ConvDimensionNumbers(lhs, rhs, out)
    lhs_text, rhs_text, out_text = dimension_numbers
    for text, letters in ((lhs_text, "NC"), (rhs_text, "OI"), (out_text, "NC")):
        distinct = len(set(text)) == len(text) == ndim
        spatial = set(text) - set(letters)
        if not distinct or len(spatial) != ndim - 2 or spatial != set(rhs_text) - {"O", "I"}:
            raise ShapeError(
                f"convolution: {text!r} in dimension_numbers={dimension_numbers!r} does not "
                f"describe {ndim} dimensions; it should have {letters[0]}, {letters[1]} and the "
                "same spatial letters as the others, each once"
            )
    order = [letter for letter in rhs_text if letter not in "OI"]
    return ConvDimensionNumbers(
        tuple([lhs_text.index(letter) for letter in ("N", "C", *order)]),
        tuple([rhs_text.index(letter) for letter in ("O", "I", *order)]),
        tuple([out_text.index(letter) for letter in ("N", "C", *order)]),
    )


def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str,
) -> list[tuple[int, int]]:
    """Padding of each dimension that a name stands for.

    Args:
        in_shape: Sizes of the (dilated) input.
        window_shape: Sizes of the (dilated) window.
        window_strides: Strides of the window.
        padding: `"VALID"` (none), `"SAME"` (the result has the input's size divided by the stride,
            rounded up; one more at the end where it does not split evenly) or `"SAME_LOWER"` (one
            more at the beginning).

    Raises:
        ShapeError: There is no such padding.

    Example:
        >>> padtype_to_pads((8,), (4,), (1,), "SAME")
        [(1, 2)]
    """
    name = padding.upper()
    if name == "VALID":
        return [(0, 0)] * len(in_shape)
    if name not in ("SAME", "SAME_LOWER"):
        raise ShapeError(
            f"padding={padding!r} is not known; give 'SAME', 'SAME_LOWER', 'VALID' or a pair of "
            "numbers for each spatial dimension"
        )
    pads = []
    for size, window, stride in zip(in_shape, window_shape, window_strides, strict=True):
        total = max(0, (-(-size // stride) - 1) * stride + window - size)
        small, large = total // 2, total - total // 2
        pads.append((small, large) if name == "SAME" else (large, small))
    return pads


def _padding(
    padding: Any,
    lhs_sizes: Sequence[int],
    rhs_sizes: Sequence[int],
    strides: Sequence[int],
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
) -> Padding:
    if isinstance(padding, str):
        return tuple(
            padtype_to_pads(
                [dilated(n, d) for n, d in zip(lhs_sizes, lhs_dilation, strict=True)],
                [dilated(k, d) for k, d in zip(rhs_sizes, rhs_dilation, strict=True)],
                strides,
                padding,
            )
        )
    try:
        return tuple([(int(low), int(high)) for low, high in padding])
    except (TypeError, ValueError):
        raise ShapeError(
            f"conv_general_dilated: padding={padding!r} should be 'SAME', 'SAME_LOWER', 'VALID' or "
            "a pair of integers for each spatial dimension"
        ) from None


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    axis_names: Any = (),
) -> Array:
    """Convolve in any number of spatial dimensions.

    Args:
        lhs: Array of rank n+2: a batch of inputs with features and n spatial dimensions.
        rhs: Kernels of rank n+2, of the same dtype.
        window_strides: Step of the window in each spatial dimension.
        padding: `"SAME"`, `"SAME_LOWER"`, `"VALID"`, or a pair `(low, high)` for each spatial
            dimension; negative numbers cut off.
        lhs_dilation: Step between the elements of `lhs`, zeros being put between; 1 by default.
        rhs_dilation: Step between the elements of the kernels; 1 by default.
        dimension_numbers: As of `conv_dimension_numbers`; by default `("NCHW", "OIHW", "NCHW")`
            for two spatial dimensions.
        feature_group_count: Into how many groups the features of `lhs` are cut, each convolved
            with its own part of the kernels.
        batch_group_count: Into how many groups the batch is cut, each convolved with its own part
            of the kernels.
        precision: As of `dot_general`.
        preferred_element_type: Dtype to accumulate in and to return; by default the operands'.
        axis_names: Named axes to sum over in the same operation, as of `dot_general`.

    Returns:
        Array of rank n+2 that does not vary over `axis_names`.

    Raises:
        ShapeError: Shapes, strides, padding, groups or dimension numbers do not fit.
        DTypeError: The operands differ in dtype, or do not fit `preferred_element_type`.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> image = np.ones((1, 1, 4, 4), np.float32)
        >>> kernel = np.ones((1, 1, 3, 3), np.float32)
        >>> lax.conv_general_dilated(image, kernel, (1, 1), "VALID").tolist()
        [[[[9.0, 9.0], [9.0, 9.0]]]]
    """
    lhs_shape, rhs_shape = aval_of(lhs).shape, aval_of(rhs).shape
    numbers = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    spatial = max(0, len(lhs_shape) - 2)
    ones = (1,) * spatial
    name = "conv_general_dilated"
    strides = as_ints(window_strides, name, "window_strides")
    dilation = ones if lhs_dilation is None else as_ints(lhs_dilation, name, "lhs_dilation")
    kernel_dilation = ones if rhs_dilation is None else as_ints(rhs_dilation, name, "rhs_dilation")
    for argument, values in (
        ("window_strides", strides),
        ("lhs_dilation", dilation),
        ("rhs_dilation", kernel_dilation),
    ):
        if len(values) != spatial:
            raise ShapeError(
                f"{name}: {argument}={values} has {len(values)} entries for {spatial} spatial "
                "dimensions; give one for each"
            )
    return conv_general_dilated_p.bind(  # type: ignore[no-any-return]  # Any by nature
        lhs,
        rhs,
        window_strides=strides,
        padding=_padding(
            padding,
            [lhs_shape[i] for i in numbers.lhs_spec[2:]],
            [rhs_shape[i] for i in numbers.rhs_spec[2:]],
            strides,
            dilation,
            kernel_dilation,
        ),
        lhs_dilation=dilation,
        rhs_dilation=kernel_dilation,
        dimension_numbers=numbers,
        feature_group_count=int(feature_group_count),
        batch_group_count=int(batch_group_count),
        precision=canonical_precision(name, precision),
        preferred_element_type=preferred_dtype(preferred_element_type),
        axis_names=axes_in_scope(axis_names),
    )


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Convolve, with batch and features first (`NCHW`, kernels `OIHW`).

    Args:
        lhs: Array of rank n+2.
        rhs: Kernels of rank n+2, of the same dtype.
        window_strides: Step of the window in each spatial dimension.
        padding: As of `conv_general_dilated`.
        precision: As of `conv_general_dilated`.
        preferred_element_type: As of `conv_general_dilated`.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.conv(np.ones((2, 1, 5)), np.ones((4, 1, 3)), (2,), "SAME").shape
        (2, 4, 3)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Convolve with dilations, with batch and features first (`NCHW`, kernels `OIHW`).

    Args:
        lhs: Array of rank n+2.
        rhs: Kernels of rank n+2, of the same dtype.
        window_strides: Step of the window in each spatial dimension.
        padding: As of `conv_general_dilated`.
        lhs_dilation: As of `conv_general_dilated`.
        rhs_dilation: As of `conv_general_dilated`.
        precision: As of `conv_general_dilated`.
        preferred_element_type: As of `conv_general_dilated`.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> x, k = np.ones((2, 1, 5)), np.ones((4, 1, 3))
        >>> lax.conv_with_general_padding(x, k, (1,), [(1, 0)], (2,), None).shape
        (2, 4, 8)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _transposed_padding(window: int, stride: int, padding: str) -> tuple[int, int]:
    """Padding that makes a transposed convolution undo the sizes of a padded one."""
    if padding.upper() == "SAME":
        total = window + stride - 2
        low = window - 1 if stride > window - 1 else -(-total // 2)
    elif padding.upper() == "VALID":
        total = window + stride - 2 + max(window - stride, 0)
        low = window - 1
    else:
        raise ShapeError(
            f"conv_transpose: padding={padding!r} is not known; give 'SAME', 'VALID' or a pair of "
            "numbers for each spatial dimension"
        )
    return low, total - low


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: Any,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Transposed convolution: one whose input is dilated by the strides.

    Args:
        lhs: Array of rank n+2.
        rhs: Kernels of rank n+2, of the same dtype.
        strides: How much larger the result is than `lhs` in each spatial dimension.
        padding: `"SAME"` (the result is as large as the input times the stride), `"VALID"`, or a
            pair of numbers for each spatial dimension of the dilated input.
        rhs_dilation: Step between the elements of the kernels; 1 by default.
        dimension_numbers: As of `conv_dimension_numbers`; by default batch first and features last
            (`("NHWC", "HWIO", "NHWC")` for two spatial dimensions).
        transpose_kernel: Whether to flip the kernel's spatial dimensions and to swap its features,
            which makes this the derivative of the convolution with that kernel.
        precision: As of `conv_general_dilated`.
        preferred_element_type: As of `conv_general_dilated`.

    Returns:
        Array of rank n+2.

    Raises:
        ShapeError: Shapes, strides, padding or dimension numbers do not fit.
        DTypeError: The operands differ in dtype, or do not fit `preferred_element_type`.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.conv_transpose(np.ones((2, 5, 3)), np.ones((4, 3, 7)), (2,), "SAME").shape
        (2, 10, 7)
    """
    lhs_shape, rhs_shape = aval_of(lhs).shape, aval_of(rhs).shape
    ndim = len(lhs_shape)
    if dimension_numbers is None:
        if ndim < 2:
            raise ShapeError(f"conv_transpose: lhs of shape {lhs_shape} has no batch and features")
        channels_last = (0, ndim - 1, *range(1, ndim - 1))
        kernel = (ndim - 1, ndim - 2, *range(ndim - 2))
        numbers = ConvDimensionNumbers(channels_last, kernel, channels_last)
    else:
        numbers = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    spatial = numbers.rhs_spec[2:]
    steps = as_ints(strides, "conv_transpose", "strides")
    dilation = (
        (1,) * len(spatial)
        if rhs_dilation is None
        else as_ints(rhs_dilation, "conv_transpose", "rhs_dilation")
    )
    if len(steps) != len(spatial) or len(dilation) != len(spatial):
        raise ShapeError(
            f"conv_transpose: strides={steps} and rhs_dilation={dilation} should have an entry for "
            f"each of the {len(spatial)} spatial dimensions"
        )
    if isinstance(padding, str):
        padding = [
            _transposed_padding(dilated(rhs_shape[d], step), stride, padding)
            for d, step, stride in zip(spatial, dilation, steps, strict=True)
        ]
    if transpose_kernel:
        rhs = rev(rhs, spatial)
        out_feature, in_feature = numbers.rhs_spec[:2]
        numbers = numbers._replace(rhs_spec=(in_feature, out_feature, *spatial))
    return conv_general_dilated(
        lhs,
        rhs,
        (1,) * len(spatial),
        padding,
        steps,
        dilation,
        numbers,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
