"""Products under `vmap` are loops over slices; named products contract the mapped dimension."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from axonym_core import lax, make_jaxpr
from axonym_core.settings import config
from axonym_mapping import vmap

CASES = [
    ((3, 4), (4, 5), (((1,), (0,)), ((), ()))),
    ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
    ((4, 3, 2, 6), (6, 2, 5, 4), (((0, 3), (3, 0)), ((2,), (1,)))),
    ((3,), (3,), (((0,), (0,)), ((), ()))),
    ((3,), (2,), (((), ()), ((), ()))),
    ((5, 2, 3), (2, 5, 4), (((1,), (0,)), ((0,), (1,)))),
]
SIZE = 3


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def operand(shape: Any, dim: int | None, seed: int) -> Any:
    x = np.random.default_rng(seed).normal(size=(SIZE, *shape))
    return x[0] if dim is None else np.moveaxis(x, 0, dim)


def at(x: Any, dim: int | None, i: int) -> Any:
    return x if dim is None else np.take(x, i, dim)


@pytest.mark.parametrize(("lhs_shape", "rhs_shape", "numbers"), CASES)
@pytest.mark.parametrize("dims", [(0, None), (None, 0), (0, 0), (1, 0), (0, -1), (-1, -1)])
def test_products_are_loops(lhs_shape: Any, rhs_shape: Any, numbers: Any, dims: Any) -> None:
    d1, d2 = (
        d if d is None or d >= 0 else len(s)
        for d, s in zip(dims, (lhs_shape, rhs_shape), strict=True)
    )
    lhs, rhs = operand(lhs_shape, d1, 0), operand(rhs_shape, d2, 1)
    each = np.stack(
        [np.asarray(lax.dot_general(at(lhs, d1, i), at(rhs, d2, i), numbers)) for i in range(SIZE)]
    )
    out = vmap(lambda a, b: lax.dot_general(a, b, numbers), (d1, d2))(lhs, rhs)
    np.testing.assert_allclose(np.asarray(out), each, rtol=1e-12)
    summed = vmap(
        lambda a, b: lax.dot_general(a, b, numbers, axis_names="i"),
        (d1, d2),
        out_axes=None,
        axis_name="i",
    )(lhs, rhs)
    np.testing.assert_allclose(np.asarray(summed), each.sum(0), rtol=1e-10, atol=1e-12)


def test_a_named_product_counts_values_that_do_not_vary_once_per_index() -> None:
    v = np.arange(3.0)
    out = vmap(lambda _: lax.dot(v, v, axis_names="i"), out_axes=None, axis_name="i")(np.zeros(4))
    assert float(out) == 20.0


def test_contracting_the_mapped_axis_is_one_product() -> None:
    x, y = np.ones((7, 3)), np.ones((7, 5))
    outer = (((), ()), ((), ()))
    mapped = vmap(
        lambda a, b: lax.dot_general(a, b, outer, axis_names="i"), axis_name="i", out_axes=None
    )
    jaxpr = make_jaxpr(mapped)(x, y)
    assert [e.primitive.name for e in jaxpr.eqns] == ["dot_general"]
    np.testing.assert_array_equal(np.asarray(mapped(x, y)), x.T @ y)


def test_a_single_varying_operand_is_summed_before_the_product() -> None:
    x, w = np.ones((7, 3)), np.ones((3, 5))
    jaxpr = make_jaxpr(vmap(lambda a: lax.dot(a, w, axis_names="i"), axis_name="i", out_axes=None))(
        x
    )
    assert [e.primitive.name for e in jaxpr.eqns] == ["reduce_sum", "dot_general"]
    assert jaxpr.eqns[1].invars[0].aval.shape == (3,)
