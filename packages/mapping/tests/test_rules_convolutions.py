"""Convolutions under `vmap` are loops over slices, for all groups and mapped dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from axonym_core import lax
from axonym_core.settings import config
from axonym_mapping import vmap

SIZE = 3
GROUPS = [{}, {"feature_group_count": 2}, {"batch_group_count": 2}]


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("numbers", [("NHWC", "HWIO", "NHWC"), ("CWNH", "IHOW", "WNCH")])
@pytest.mark.parametrize("dims", [(0, None), (4, None), (None, 0), (None, 3), (0, 0), (2, 4)])
def test_convolutions_are_loops(groups: Any, numbers: Any, dims: Any) -> None:
    sizes = {"N": 4, "C": 4, "H": 5, "W": 4}
    kernel = {"O": 6, "I": 4 // groups.get("feature_group_count", 1), "H": 3, "W": 2}
    rng = np.random.default_rng(0)
    operands, slices = [], []
    for table, spec, dim in ((sizes, numbers[0], dims[0]), (kernel, numbers[1], dims[1])):
        x = rng.normal(size=(SIZE, *[table[d] for d in spec]))
        operands.append(x[0] if dim is None else np.moveaxis(x, 0, dim))
        slices.append([x[0] if dim is None else x[i] for i in range(SIZE)])

    def convolve(x: Any, k: Any, axis_names: Any = ()) -> Any:
        return lax.conv_general_dilated(
            x,
            k,
            (1, 2),
            [(1, 0), (0, 1)],
            (1, 2),
            (2, 1),
            dimension_numbers=numbers,
            axis_names=axis_names,
            **groups,
        )

    each = np.stack([np.asarray(convolve(x, k)) for x, k in zip(*slices, strict=True)])
    out = vmap(convolve, dims)(*operands)
    np.testing.assert_allclose(np.asarray(out), each, rtol=1e-10, atol=1e-12)
    summed = vmap(lambda x, k: convolve(x, k, ("i",)), dims, out_axes=None, axis_name="i")(
        *operands
    )
    np.testing.assert_allclose(np.asarray(summed), each.sum(0), rtol=1e-10, atol=1e-12)


def test_a_named_convolution_counts_values_that_do_not_vary_once_per_index() -> None:
    x, k = np.ones((1, 1, 3)), np.ones((1, 1, 2))

    def f(_: Any) -> Any:
        return lax.conv_general_dilated(x, k, (1,), "VALID", axis_names="i")

    out = vmap(f, out_axes=None, axis_name="i")(np.zeros(4))
    np.testing.assert_array_equal(np.asarray(out), [[[8.0, 8.0]]])
