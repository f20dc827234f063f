"""`lax` functions of two operands broadcast dimensions of size 1, in every transformation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axonym as ax
from axonym import lax
from axonym_core import ShapeDtypeStruct
from axonym_core.errors import ShapeError

FLOAT = ["add", "sub", "mul", "div", "rem", "pow", "max", "min", "atan2", "nextafter", "complex"]
FLOAT += ["mul_no_nan"]
COMPARISON = ["eq", "ne", "lt", "le", "gt", "ge"]
INTEGER = ["bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right_logical"]
INTEGER += ["shift_right_arithmetic"]
SHAPES: list[Any] = [
    ((3, 1), (1, 4)),
    ((1,), (3,)),
    ((1, 3), (2, 3)),
    ((0, 1), (1, 4)),
    ((1, 1), (0, 2)),
    ((2, 1, 3), (1, 4, 1)),
]


def operands(name: str, shapes: Any) -> list[Any]:
    rng = np.random.default_rng(0)
    if name in INTEGER:
        return [rng.integers(0, 9, s).astype(np.int32) for s in shapes]
    if name in COMPARISON:
        return [rng.integers(0, 3, s).astype(np.float32) for s in shapes]
    if name == "polygamma":
        return [np.ones(shapes[0]), rng.random(shapes[1]) + 1]
    return [rng.random(s) + 0.5 for s in shapes]


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("name", [*FLOAT, *COMPARISON, *INTEGER, "polygamma"])
def test_results_are_those_of_operands_broadcast_by_numpy(name: str, shapes: Any) -> None:
    f = getattr(lax, name)
    x, y = operands(name, shapes)
    want = f(*map(np.ascontiguousarray, np.broadcast_arrays(x, y)))
    for call in (f, ax.jit(f)):
        got = call(x, y)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-14)
        turned = f(*map(np.ascontiguousarray, np.broadcast_arrays(y, x)))
        np.testing.assert_allclose(call(y, x), turned, rtol=1e-14)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow", "atan2", "max", "mul_no_nan"])
def test_derivatives_sum_over_what_was_broadcast(name: str) -> None:
    f = getattr(lax, name)
    x, y = operands(name, ((3, 1), (1, 4)))
    weights = np.arange(1.0, 13.0).reshape(3, 4)

    def loss(x: Any, y: Any) -> Any:
        return lax.reduce_sum(lax.mul(f(x, y), weights), (0, 1))

    got = ax.grad(loss, (0, 1))(x, y)
    large = [np.broadcast_to(v, (3, 4)).copy() for v in (x, y)]
    wide = ax.grad(loss, (0, 1))(*large)
    np.testing.assert_allclose(got[0], np.sum(np.asarray(wide[0]), 1, keepdims=True))
    np.testing.assert_allclose(got[1], np.sum(np.asarray(wide[1]), 0, keepdims=True))
    assert [g.shape for g in got] == [(3, 1), (1, 4)]


@pytest.mark.parametrize("in_axes", [(0, 0), (1, None), (None, 2), (2, 1)])
@pytest.mark.parametrize("name", ["sub", "lt", "pow"])
def test_mapped_operands_broadcast_at_each_index(name: str, in_axes: Any) -> None:
    f = getattr(lax, name)
    inner = operands(name, ((5, 3, 1), (5, 1, 4)))
    args = [
        v[0] if d is None else np.moveaxis(v, 0, d) for v, d in zip(inner, in_axes, strict=True)
    ]
    rows = [
        [v[0 if d is None else i] for v, d in zip(inner, in_axes, strict=True)] for i in range(5)
    ]
    want = [np.asarray(f(*map(np.array, np.broadcast_arrays(*row)))) for row in rows]
    np.testing.assert_allclose(ax.vmap(f, in_axes)(*args), want, rtol=1e-14)
    np.testing.assert_allclose(ax.vmap(f, in_axes, axis_name="i")(*args), want, rtol=1e-14)


def test_named_axes_are_joined_beside_broadcasting() -> None:
    x = ShapeDtypeStruct((3, 1), "float32", named_shape={"i": 2})
    y = ShapeDtypeStruct((1, 4), "float32", named_shape={"j": 5})
    jaxpr = ax.make_jaxpr(lax.add, axis_env=[("i", 2), ("j", 5)])(x, y)
    assert str(jaxpr.out_avals[0]) == "f32[3,4;i:2,j:5]"


@pytest.mark.parametrize("shapes", [((3,), (4,)), ((3, 1), (4,)), ((2, 1), (3, 4))])
def test_other_shapes_are_refused(shapes: Any) -> None:
    with pytest.raises(ShapeError, match="one shape"):
        lax.add(*operands("add", shapes))
