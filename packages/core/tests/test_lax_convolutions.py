"""Convolutions are the sums of products that their definition says, written out in loops."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_core import lax
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.settings import config

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def by_definition(
    x: Array,
    kernels: Array,
    strides: Any,
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
    feature_groups: int = 1,
    batch_groups: int = 1,
) -> Array:
    """Batch and features first; one multiplication at a time."""
    n, _, *sizes = x.shape
    o, kernel_c, *window = kernels.shape
    out_sizes = []
    for size, k, s, (low, high), ld, rd in zip(
        sizes, window, strides, padding, lhs_dilation, rhs_dilation, strict=True
    ):
        wide = (size - 1) * ld + 1 if size else 0
        span = (k - 1) * rd + 1 if k else 0
        out_sizes.append(max(0, (wide + low + high - span) // s + 1))
    n_out = n // batch_groups
    out = np.zeros((n_out, o, *out_sizes), np.result_type(x, kernels))
    for b, f in itertools.product(range(n_out), range(o)):
        group = f // (o // max(feature_groups, batch_groups))
        first = group * kernel_c if feature_groups > 1 else 0
        entry = b + group * n_out if batch_groups > 1 else b
        for p in itertools.product(*map(range, out_sizes)):
            for k in itertools.product(*map(range, window)):
                where = []
                for pi, ki, s, (low, _), ld, rd, size in zip(
                    p, k, strides, padding, lhs_dilation, rhs_dilation, sizes, strict=True
                ):
                    position, gap = divmod(pi * s + ki * rd - low, ld)
                    where.append(position if gap == 0 and 0 <= position < size else None)
                if None not in where:
                    for i in range(kernel_c):
                        out[(b, f, *p)] += x[(entry, first + i, *where)] * kernels[(f, i, *k)]
    return out


@given(st.data())
@settings(max_examples=50)
def test_conv_general_dilated_is_its_definition(data: st.DataObject) -> None:
    small = st.integers(1, 3)
    rank = data.draw(st.integers(0, 2))
    groups = data.draw(st.integers(1, 3))
    which = data.draw(st.sampled_from(["feature", "batch"]))
    feature_groups, batch_groups = (groups, 1) if which == "feature" else (1, groups)
    n, c, o = (data.draw(st.integers(1, 2)) for _ in range(3))
    sizes = [data.draw(st.integers(0, 5)) for _ in range(rank)]
    window = [data.draw(small) for _ in range(rank)]
    strides, ld, rd = ([data.draw(small) for _ in range(rank)] for _ in range(3))
    padding = [(data.draw(st.integers(-2, 3)), data.draw(st.integers(-2, 3))) for _ in range(rank)]
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n * batch_groups, c * feature_groups, *sizes))
    kernels = rng.normal(size=(o * groups, c, *window))
    with config.override(backend="numpy"):
        out = lax.conv_general_dilated(
            x,
            kernels,
            strides,
            padding,
            ld,
            rd,
            feature_group_count=feature_groups,
            batch_group_count=batch_groups,
        )
    expected = by_definition(x, kernels, strides, padding, ld, rd, feature_groups, batch_groups)
    np.testing.assert_allclose(np.asarray(out), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "numbers", [("NHWC", "HWIO", "NHWC"), ("CHWN", "IHWO", "WNCH"), ("NCHW", "OIHW", "NHWC")]
)
def test_dimension_numbers_say_where_what_is(numbers: tuple[str, str, str]) -> None:
    rng = np.random.default_rng(0)
    x, kernels = rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(6, 3, 3, 2))
    expected = by_definition(x, kernels, (2, 1), [(1, 0), (0, 1)], (1, 1), (1, 1))
    lhs = np.transpose(x, ["NCHW".index(d) for d in numbers[0]])
    rhs = np.transpose(kernels, ["OIHW".index(d) for d in numbers[1]])
    out = lax.conv_general_dilated(lhs, rhs, (2, 1), [(1, 0), (0, 1)], dimension_numbers=numbers)
    np.testing.assert_allclose(
        np.asarray(out),
        np.transpose(expected, ["NCHW".index(d) for d in numbers[2]]),
        rtol=1e-12,
    )


def test_dimension_numbers_of_strings_tuples_and_none() -> None:
    shape = (1, 2, 3, 4)
    named = lax.conv_dimension_numbers(shape, shape, ("NHWC", "WHIO", "NCHW"))
    # The kernel's letters give the order of the spatial dimensions.
    assert named == ((0, 3, 2, 1), (3, 2, 0, 1), (0, 1, 3, 2))
    assert lax.conv_dimension_numbers(shape, shape, tuple(named)) == named
    natural = (0, 1, 2, 3)
    assert lax.conv_dimension_numbers(shape, shape, None) == (natural, natural, natural)


@pytest.mark.parametrize("size", [5, 6, 7])
@pytest.mark.parametrize("window", [1, 2, 3, 4])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_same_padding_gives_the_size_over_the_stride(size: int, window: int, stride: int) -> None:
    x, kernel = np.arange(size, dtype=float).reshape(1, 1, -1), np.ones((1, 1, window))
    for padding in ("SAME", "same_lower"):
        out = lax.conv(x, kernel, (stride,), padding)
        assert out.shape == (1, 1, -(-size // stride))
    assert lax.conv(x, kernel, (stride,), "VALID").shape == (1, 1, (size - window) // stride + 1)


def test_a_window_longer_than_the_input_gives_nothing() -> None:
    assert lax.conv(np.ones((1, 1, 2)), np.ones((1, 1, 5)), (1,), "VALID").shape == (1, 1, 0)


def test_dilations_are_placed_by_conv_with_general_padding() -> None:
    x, kernel = np.arange(1.0, 4.0).reshape(1, 1, 3), np.array([[[1.0, 10.0]]])
    out = lax.conv_with_general_padding(x, kernel, (1,), [(0, 0)], (2,), (2,))
    np.testing.assert_array_equal(out, [[[21.0, 0.0, 32.0]]])


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_conv_transpose_is_the_adjoint_of_conv(stride: int, window: int) -> None:
    """<conv(x), y> = <x, conv_transpose(y)>, where the sizes fit."""
    rng = np.random.default_rng(0)
    size = 4 * stride + max(window - stride, 0)
    x = rng.normal(size=(2, size, 3))
    kernels = rng.normal(size=(window, 3, 5))
    numbers = ("NHC", "HIO", "NHC")
    forward = lax.conv_general_dilated(x, kernels, (stride,), "VALID", dimension_numbers=numbers)
    y = rng.normal(size=forward.shape)
    # With transpose_kernel, the kernel is that of the convolution which is transposed.
    back = lax.conv_transpose(y, kernels, (stride,), "VALID", transpose_kernel=True)
    assert back.shape == x.shape
    np.testing.assert_allclose(
        np.sum(np.asarray(forward) * y), np.sum(x * np.asarray(back)), rtol=1e-10
    )


def test_conv_transpose_same_multiplies_the_size() -> None:
    for stride, window in itertools.product((1, 2, 3), (1, 2, 3, 4)):
        out = lax.conv_transpose(np.ones((1, 5, 2)), np.ones((window, 2, 3)), (stride,), "SAME")
        assert out.shape == (1, 5 * stride, 3)


def test_sixteen_bits_are_accumulated_in_32() -> None:
    x = np.ones((1, 1, 4000), ml_dtypes.bfloat16)
    assert float(np.asarray(lax.conv(x, x, (1,), "VALID")).item()) == float(
        ml_dtypes.bfloat16(4000)
    )


def test_preferred_element_type_is_that_of_the_result() -> None:
    x = np.full((1, 1, 3), 100, np.int8)
    out = lax.conv(x, x, (1,), "VALID", preferred_element_type=np.int32)
    assert out.dtype == np.int32
    assert out.item() == 30000


X, K = np.ones((1, 4, 5)), np.ones((6, 4, 3))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lax.conv(X, K[:, :3], (1,), "VALID"), ShapeError, "has 4 features"),
        (lambda: lax.conv(X, K, (1, 1), "VALID"), ShapeError, "window_strides=.1, 1. has 2"),
        (lambda: lax.conv(X, K, (0,), "VALID"), ShapeError, "window_strides=.0,.; each"),
        (lambda: lax.conv(X, K, (1,), "FULL"), ShapeError, "padding='FULL'"),
        (lambda: lax.conv(X, K, (1,), [1]), ShapeError, "padding=.1."),
        (lambda: lax.conv(X, K[0], (1,), "VALID"), ShapeError, "same number of dimensions"),
        (lambda: lax.conv(X, K.astype(np.float32), (1,), "VALID"), DTypeError, "rhs is float32"),
        (
            lambda: lax.conv_general_dilated(X, K, (1,), "VALID", feature_group_count=3),
            ShapeError,
            "feature_group_count=3 does not divide the 4 features",
        ),
        (
            lambda: lax.conv_general_dilated(X, K, (1,), "VALID", batch_group_count=2),
            ShapeError,
            "batch_group_count=2 does not divide the 1 batch entries",
        ),
        (
            lambda: lax.conv_general_dilated(
                X, K, (1,), "VALID", dimension_numbers=("NCH", "OIW", "NCH")
            ),
            ShapeError,
            "'NCH' in dimension_numbers",
        ),
        (
            lambda: lax.conv_general_dilated(X, K, (1,), "VALID", dimension_numbers="NCH"),
            ShapeError,
            "three strings",
        ),
        (lambda: lax.conv_transpose(X, K, (1, 1), "SAME"), ShapeError, "strides=.1, 1."),
        (lambda: lax.conv_transpose(X, K, (1,), "NONE"), ShapeError, "padding='NONE'"),
    ],
)
def test_bad_arguments_are_named(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
