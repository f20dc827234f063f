"""Reductions under `vmap` are loops over slices; named sums sum over the mapped dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from axonym_core import lax
from axonym_core.settings import config
from axonym_mapping import vmap

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def loop(f: Callable[[Any], Any], x: Array, dim: int) -> Array:
    return np.stack([np.asarray(f(np.take(x, i, dim))) for i in range(x.shape[dim])])


X = np.random.default_rng(0).integers(-4, 5, (3, 4, 5, 6))
REDUCTIONS = ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"]


@pytest.mark.parametrize("dim", [0, 1, 2, 3])
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axes", [(), (0,), (2,), (0, 1), (0, 1, 2)])
def test_reductions_are_loops(name: str, axes: tuple[int, ...], dim: int) -> None:
    def f(x: Any) -> Any:
        return getattr(lax, name)(x, axes)

    np.testing.assert_array_equal(np.asarray(vmap(f, dim)(X)), loop(f, X, dim))


@pytest.mark.parametrize("dim", [0, 1, 2, 3])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_positions_are_loops(axis: int, dim: int) -> None:
    for name in ("argmax", "argmin"):

        def f(x: Any, name: str = name) -> Any:
            return getattr(lax, name)(x, axis, np.int32)

        np.testing.assert_array_equal(np.asarray(vmap(f, dim)(X)), loop(f, X, dim))


@pytest.mark.parametrize("dim", [0, 1, 2, 3])
@pytest.mark.parametrize("axis", [0, 2])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"])
def test_cumulative_operations_are_loops(name: str, axis: int, dim: int) -> None:
    def f(x: Any) -> Any:
        return getattr(lax, name)(x, axis, reverse=dim % 2 == 0)

    x = X.astype(np.float64)
    np.testing.assert_allclose(np.asarray(vmap(f, dim)(x)), loop(f, x, dim), rtol=1e-12)


@pytest.mark.parametrize("dim", [0, 1, 3])
@pytest.mark.parametrize("axes", [(), (1,), (0, 2)])
def test_a_named_sum_sums_over_the_mapped_dimension_too(axes: tuple[int, ...], dim: int) -> None:
    def f(x: Any) -> Any:
        return lax.reduce_sum(x, axes, axis_names="i")

    out = vmap(f, dim, out_axes=None, axis_name="i")(X)
    expected = loop(lambda x: lax.reduce_sum(x, axes), X, dim).sum(0)
    np.testing.assert_array_equal(np.asarray(out), expected)


def test_a_named_sum_counts_a_value_that_does_not_vary_once_per_index() -> None:
    x = np.arange(3.0)

    def f(_: Any) -> Any:
        return lax.reduce_sum(x, (0,), axis_names=("i",))

    assert float(vmap(f, out_axes=None, axis_name="i")(np.zeros(5))) == 15.0


def test_a_sum_over_one_of_two_axes_varies_over_the_other() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)

    def f(v: Any) -> Any:
        return lax.reduce_sum(v, (0,), axis_names="i")

    inner = vmap(vmap(f, axis_name="j"), axis_name="i", out_axes=None)
    np.testing.assert_array_equal(np.asarray(inner(x)), x.sum((0, 2)))
    outer = vmap(vmap(f, axis_name="i", out_axes=None), axis_name="j")
    np.testing.assert_array_equal(np.asarray(outer(x)), x.sum((1, 2)))
