"""Compiled convolutions give what the NumPy backend gives."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from axonym_core import lax
from axonym_core.settings import config


def sample(shape: Any, dtype: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.integers(0 if np.dtype(dtype).kind in "bu" else -3, 3, shape)
    return (x + 1j * rng.integers(-2, 3, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def agree(f: Any, *args: Any) -> None:
    with config.override(backend="xla"):
        compiled = f(*args)
    with config.override(backend="numpy"):
        expected = f(*args)
    assert (compiled.dtype, compiled.shape) == (expected.dtype, expected.shape)
    kind = np.complex128 if np.iscomplexobj(np.asarray(expected)) else np.float64
    np.testing.assert_allclose(np.asarray(compiled).astype(kind), np.asarray(expected).astype(kind))


CASES: list[dict[str, Any]] = [
    {},
    {"window_strides": (2, 3)},
    {"padding": "SAME"},
    {"padding": [(-1, 2), (3, -2)]},
    {"lhs_dilation": (2, 3), "padding": [(1, -1), (0, 2)]},
    {"rhs_dilation": (2, 1)},
    {"feature_group_count": 2},
    {"batch_group_count": 2},
    {"feature_group_count": 4, "lhs_dilation": (1, 2), "window_strides": (2, 1)},
    {"batch_group_count": 4, "padding": [(-1, 1), (1, 0)], "rhs_dilation": (1, 2)},
]


@pytest.mark.parametrize("options", CASES)
@pytest.mark.parametrize("numbers", [("NCHW", "OIHW", "NCHW"), ("NHWC", "HWIO", "NHWC")])
def test_convolutions_with_options(options: dict[str, Any], numbers: Any) -> None:
    options = {"window_strides": (1, 1), "padding": "VALID", **options}
    sizes = {"N": 4, "C": 4, "H": 6, "W": 5}
    kernel = {"O": 8, "I": 4 // options.get("feature_group_count", 1), "H": 3, "W": 2}
    x = sample([sizes[d] for d in numbers[0]], np.float32, 0)
    k = sample([kernel[d] for d in numbers[1]], np.float32, 1)
    agree(lambda a, b: lax.conv_general_dilated(a, b, dimension_numbers=numbers, **options), x, k)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_convolutions_of_other_ranks(rank: int) -> None:
    x, k = sample((2, 3, *[5] * rank), np.float32, 0), sample((4, 3, *[2] * rank), np.float32, 1)
    agree(lambda a, b: lax.conv(a, b, (1,) * rank, "SAME"), x, k)


@pytest.mark.parametrize(
    "dtype",
    [np.int8, np.int32, np.float16, ml_dtypes.bfloat16, np.float64, np.complex64, np.bool_],
)
def test_convolutions_of_any_dtype(dtype: Any) -> None:
    x, k = sample((2, 3, 6), dtype, 0), sample((4, 3, 2), dtype, 1)
    agree(lambda a, b: lax.conv(a, b, (1,), "SAME"), x, k)


@pytest.mark.parametrize(
    ("dtype", "preferred"),
    [(np.int8, np.int32), (np.float16, np.float32), (np.float32, np.float16)],
)
def test_preferred_element_types(dtype: Any, preferred: Any) -> None:
    x, k = sample((2, 3, 6), dtype, 0), sample((4, 3, 2), dtype, 1)
    agree(lambda a, b: lax.conv(a, b, (1,), "VALID", preferred_element_type=preferred), x, k)


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 3, 1), (2, 3, 0)])
def test_convolutions_of_nothing(shape: Any) -> None:
    x, k = np.ones(shape, np.float32), np.ones((4, 3, 2), np.float32)
    agree(lambda a, b: lax.conv(a, b, (1,), "VALID"), x, k)
    agree(lambda a, b: lax.conv(a, b, (1,), [(2, 1)]), x, k)


def test_transposed_convolutions() -> None:
    x, k = sample((2, 5, 4, 3), np.float32, 0), sample((3, 2, 6, 3), np.float32, 1)
    agree(lambda a, b: lax.conv_transpose(a, b, (2, 1), "SAME", transpose_kernel=True), x, k)
