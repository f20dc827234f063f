"""Tangents of sorted arrays are permuted as the arrays are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import grad, jvp, vjp
from axonym_core import lax
from axonym_core.settings import config


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


@pytest.mark.parametrize("dimension", [0, 1, 2])
@pytest.mark.parametrize("num_keys", [1, 2])
def test_tangents_go_with_their_elements(dimension: int, num_keys: int) -> None:
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2, (3, 4, 5)).astype(np.float64)
    values = rng.normal(size=(3, 4, 5))
    t_keys, t_values = rng.normal(size=(2, 3, 4, 5))

    def f(k: Any, v: Any) -> Any:
        return lax.sort((k, v), dimension, num_keys=num_keys)

    (k, v), (tk, tv) = jvp(f, (keys, values), (t_keys, t_values))
    order = np.argsort(keys, dimension, kind="stable")
    if num_keys == 2:
        order = np.lexsort((values, keys), dimension)
    for got, x in ((k, keys), (v, values), (tk, t_keys), (tv, t_values)):
        np.testing.assert_array_equal(np.asarray(got), np.take_along_axis(x, order, dimension))
    cts = tuple(rng.normal(size=(2, 3, 4, 5)))
    back = vjp(f, keys, values)[1](cts)
    np.testing.assert_allclose(
        sum(np.sum(np.asarray(b) * t) for b, t in zip(back, (t_keys, t_values), strict=True)),
        sum(np.sum(np.asarray(t) * c) for t, c in zip((tk, tv), cts, strict=True)),
    )


def test_integer_operands_have_no_tangent() -> None:
    x = np.array([3.0, 1.0, 2.0])

    def f(y: Any) -> Any:
        values, where = lax.sort((y, np.arange(3, dtype=np.int32)))
        return lax.reduce_sum(lax.mul(values, lax.convert_element_type(where, y.dtype)), (0,))

    # sorted: 1, 2, 3 from positions 1, 2, 0
    assert grad(f)(x).tolist() == [0.0, 1.0, 2.0]


def test_gradients_of_the_largest_and_of_sorted_rows() -> None:
    x = np.array([[4.0, 9.0, 1.0, 7.0], [3.0, 2.0, 8.0, 5.0]])

    def top(m: Any) -> Any:
        return lax.reduce_sum(lax.mul(lax.top_k(m, 2)[0], np.array([[1.0, 10.0]] * 2)), (0, 1))

    def ordered(m: Any) -> Any:
        weights = np.broadcast_to(np.arange(4.0), (2, 4))
        return lax.reduce_sum(lax.mul(lax.sort(m, 1), weights), (0, 1))

    assert grad(top)(x).tolist() == [[0, 1.0, 0, 10.0], [0, 0, 1.0, 10.0]]
    assert grad(ordered)(x).tolist() == [[1.0, 3.0, 0.0, 2.0], [1.0, 0.0, 3.0, 2.0]]


def test_sorting_is_differentiated_twice() -> None:
    x = np.array([3.0, 1.0, 2.0])

    def f(y: Any) -> Any:
        s = lax.sort(y)
        return lax.mul(lax.mul(s[0], s[0]), s[2])

    def first(y: Any) -> Any:
        return grad(f)(y)[1]

    assert grad(f)(x).tolist() == [1.0, 6.0, 0.0]
    assert grad(first)(x).tolist() == [2.0, 6.0, 0.0]


def test_top_k_of_none_has_zero_gradient() -> None:
    x = np.ones(3)
    (back,) = vjp(lambda y: lax.top_k(y, 0)[0], x)[1](np.zeros(0))
    assert back.tolist() == [0.0, 0.0, 0.0]
