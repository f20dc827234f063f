"""Sorting under `vmap` sorts each slice by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from axonym_core import lax
from axonym_core.settings import config
from axonym_mapping import vmap


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


@pytest.mark.parametrize("dims", [(0, None), (None, 0), (0, 2), (1, 1), (2, 0)])
@pytest.mark.parametrize("dimension", [0, 1])
def test_sorts_are_loops(dims: Any, dimension: int) -> None:
    rng = np.random.default_rng(0)
    keys, values = rng.integers(0, 3, (5, 3, 4)), rng.normal(size=(5, 3, 4))
    mapped = [
        x[0] if d is None else np.moveaxis(x, 0, d)
        for x, d in zip((keys, values), dims, strict=True)
    ]
    outs = vmap(lambda k, v: lax.sort_key_val(k, v, dimension), dims)(*mapped)
    for i in range(5):
        slices = [x[0] if d is None else x[i] for x, d in zip((keys, values), dims, strict=True)]
        for got, expected in zip(outs, lax.sort_key_val(*slices, dimension), strict=True):
            np.testing.assert_array_equal(np.asarray(got)[i], np.asarray(expected))


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_top_k_is_a_loop(dim: int) -> None:
    x = np.random.default_rng(0).normal(size=(5, 3, 4))
    values, where = vmap(lambda v: lax.top_k(v, 2), dim)(np.moveaxis(x, 0, dim))
    for i in range(5):
        expected = lax.top_k(x[i], 2)
        np.testing.assert_array_equal(np.asarray(values)[i], np.asarray(expected[0]))
        np.testing.assert_array_equal(np.asarray(where)[i], np.asarray(expected[1]))
