"""Mapping an element-wise operation is the same as applying it at each index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from axonym_core import lax
from axonym_core.primitives import elementwise as p
from axonym_core.settings import config
from axonym_mapping import vmap
from axonym_mapping.rule_tables import batching_rules


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


N = 3
RNG = np.random.default_rng(0)


def loop(f: Callable[..., Any], args: tuple[Any, ...], axes: tuple[int | None, ...]) -> Any:
    """Results of `f` at each index, stacked."""
    slices = [
        [
            a if d is None else np.asarray(np.take(a, i, axis=d))
            for a, d in zip(args, axes, strict=True)
        ]
        for i in range(N)
    ]
    return np.stack([np.asarray(f(*s)) for s in slices])


def check(f: Callable[..., Any], args: tuple[Any, ...], axes: tuple[int | None, ...]) -> None:
    got = vmap(f, in_axes=axes)(*args)
    np.testing.assert_allclose(np.asarray(got), loop(f, args, axes), rtol=1e-12)


UNARY: dict[str, Callable[[Any], Any]] = {
    "sin": lax.sin,
    "floor": lax.floor,
    "integer_pow": lambda x: lax.integer_pow(x, 3),
    "round": lax.round,
    "convert": lambda x: lax.convert_element_type(x, "int32"),
    "is_finite": lax.is_finite,
    "stop_gradient": lax.stop_gradient,
    "copy": lax.copy,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lax.add,
    "div": lax.div,
    "mul_no_nan": lax.mul_no_nan,
    "pow": lax.pow,
    "max": lax.max,
    "lt": lax.lt,
    "atan2": lax.atan2,
    "complex": lax.complex,
    "select": lambda x, y: lax.select_n(lax.gt(x, 1.0), x, y),
    "clamp": lambda x, y: lax.clamp(0.5, x, y),
}


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", UNARY)
def test_operations_of_one_operand_at_every_position_of_the_axis(name: str, axis: int) -> None:
    shape = [2, 4]
    shape.insert(axis, N)

    check(UNARY[name], (RNG.uniform(0.5, 2.5, shape),), (axis,))


CASES: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int | None, ...]]] = [
    ((N, 2, 4), (N, 2, 4), (0, 0)),
    ((2, N, 4), (N, 2, 4), (1, 0)),
    ((2, 4, N), (2, 4), (2, None)),
    ((2, 4), (2, N, 4), (None, 1)),
    ((N,), (2, 4), (0, None)),
    ((2, 4), (N,), (None, 0)),
    ((N,), (2, 4, N), (0, 2)),
    ((N,), (N,), (0, 0)),
    ((N,), (), (0, None)),
    ((), (N,), (None, 0)),
    ((), (2, N), (None, 1)),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", BINARY)
def test_operations_of_two_operands_of_every_rank(
    name: str, case: tuple[tuple[int, ...], tuple[int, ...], tuple[int | None, ...]]
) -> None:
    x_shape, y_shape, axes = case
    args = (RNG.uniform(0.5, 2.5, x_shape), RNG.uniform(0.5, 2.5, y_shape))

    check(BINARY[name], args, axes)


@pytest.mark.parametrize("axes", [(0, 0, 0), (0, None, None), (None, 0, None), (None, 0, 1)])
def test_a_scalar_condition_that_varies_selects_whole_arrays(
    axes: tuple[int | None, ...],
) -> None:
    which = np.array([1, 0, 1], np.int32)
    x, y = RNG.normal(size=(N, N)), RNG.normal(size=(N, N))
    args = (which if axes[0] == 0 else which[0], x if axes[1] == 0 else x[0], y)
    if axes[2] is None:
        args = (*args[:2], y[0])

    check(lax.select_n, args, axes)


@pytest.mark.parametrize("axis", [0, 1])
def test_bitcasts_divide_and_join_the_last_dimension_of_each_index(axis: int) -> None:
    x = RNG.normal(size=(N, 4) if axis == 0 else (4, N)).astype(np.float32)
    check(lambda v: lax.bitcast_convert_type(v, "uint8"), (x,), (axis,))
    check(lambda v: lax.bitcast_convert_type(v, "int32"), (x,), (axis,))

    parts = RNG.integers(0, 255, (N, 4) if axis == 0 else (4, N)).astype(np.uint8)
    check(lambda v: lax.bitcast_convert_type(v, "uint32"), (parts,), (axis,))


def test_an_unmapped_number_stays_a_number() -> None:
    from axonym_core import make_jaxpr

    jaxpr = make_jaxpr(vmap(lambda x: x * 2.0 + 1.0))(np.ones((N, 2), np.float32))

    assert [str(e.primitive) for e in jaxpr.eqns] == ["mul", "add"]
    assert jaxpr.eqns[0].invars[1].aval.shape == ()


def test_every_element_wise_primitive_has_a_batching_rule() -> None:
    primitives = [v for k, v in vars(p).items() if k.endswith("_p")]

    ruled = [v for v in primitives if v in batching_rules or v.kind == "elementwise"]
    assert [v.name for v in primitives if v not in ruled] == []
