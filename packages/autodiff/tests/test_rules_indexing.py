"""Values and derivatives of reading and writing agree, in bounds and out of bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import NotLinearError, grad, jvp, linear_transpose, vjp
from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.arrays import as_concrete
from axonym_core.settings import config

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 3))


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def check_derivatives(f: Callable[..., Any], *xs: Any, h: float = 1e-6) -> None:
    """The jvp is the finite difference; the vjp is its adjoint; second derivatives likewise."""
    rng = np.random.default_rng(1)
    ts = [rng.normal(size=np.shape(x)) for x in xs]

    def moved(k: float) -> Any:
        return np.asarray(f(*[as_concrete(x + k * t) for x, t in zip(xs, ts, strict=True)]))

    out, tangent = jvp(f, xs, tuple(ts))
    np.testing.assert_allclose(np.asarray(out), moved(0))
    numeric = (moved(h) - moved(-h)) / (2 * h)
    np.testing.assert_allclose(np.asarray(tangent), numeric, rtol=1e-6, atol=1e-7)
    ct = rng.normal(size=out.shape)
    back = vjp(f, *xs)[1](ct)
    inner = sum([float(np.sum(np.asarray(b) * t)) for b, t in zip(back, ts, strict=True)])
    np.testing.assert_allclose(inner, np.sum(np.asarray(tangent) * ct), atol=1e-12)

    def directional(*ys: Any) -> Any:
        return jvp(f, ys, tuple(ts))[1]

    _, second = jvp(directional, xs, tuple(ts))
    numeric = (moved(1e-4) - 2 * moved(0) + moved(-1e-4)) / 1e-8
    np.testing.assert_allclose(np.asarray(second), numeric, rtol=1e-4, atol=1e-5)


INDICES = {
    "integer": 1,
    "slice": np.s_[1:3],
    "steps": np.s_[::-2, 1],
    "array": np.array([2, 0, 2, -1]),
    "two arrays": (np.array([[0], [3]]), np.array([2, 1])),
    "separated": (np.array([1, 1]), None, 2),
    "mask": X > 0,
    "out of bounds": np.array([9, 1, -9, -1]),
    "nothing": np.array([], np.int32),
}
MODES = [None, "clip", "fill", "promise_in_bounds"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", INDICES)
def test_reading(name: str, mode: Any) -> None:
    index = INDICES[name]
    check_derivatives(lambda x: x.at[index].get(mode=mode, fill_value=5.0) ** 2, X)
    if name != "mask":
        assert_traced_reading(index, mode)


def assert_traced_reading(index: Any, mode: Any) -> None:
    """The same with index arrays that are operands."""
    items = index if isinstance(index, tuple) else (index,)
    arrays = tuple([as_concrete(i) if isinstance(i, np.ndarray) else i for i in items])
    check_derivatives(lambda x: x.at[arrays].get(mode=mode, fill_value=5.0) ** 2, X)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("update", ["set", "add", "multiply", "min", "max", "divide"])
def test_writing(name: str, mode: Any, update: str) -> None:
    index = INDICES[name]
    if name == "mask":  # written element by element: the index arrays of the mask
        index = np.nonzero(index)
    values = RNG.normal(size=X[np.clip(index, -4, 3) if name == "out of bounds" else index].shape)

    def f(x: Any, v: Any) -> Any:
        return getattr(x.at[index], update)(v, mode=mode)

    if update == "divide":
        values = values + np.sign(values)
    check_derivatives(f, X, values)
    check_derivatives(lambda x: f(x, values) * x, X)
    check_derivatives(lambda v: f(lax.reshape(X, X.shape), v), values)


def test_the_cotangent_of_an_overwritten_update_is_zero() -> None:
    index = np.array([1, 1, 0])

    def f(v: Any) -> Any:
        return lax.reduce_sum(lax.full((3,), 0.0, "float64").at[index].set(v), (0,))

    np.testing.assert_array_equal(np.asarray(grad(f)(np.ones(3))), [0, 1, 1])


def test_a_product_with_zeros_among_its_factors_has_exact_derivatives() -> None:
    index = np.array([0, 0, 1, 1, 1, 2])
    v = np.array([0.0, 3.0, 0.0, 0.0, 5.0, 7.0])
    x = np.array([2.0, 2.0, 0.0])

    def f(x: Any, v: Any) -> Any:
        return lax.reduce_sum(x.at[index].multiply(v), (0,))

    dx, dv = grad(f, argnums=(0, 1))(x, v)
    np.testing.assert_array_equal(np.asarray(dx), [0, 0, 7])
    np.testing.assert_array_equal(np.asarray(dv), [6, 0, 0, 0, 0, 0])


def test_winners_of_a_maximum_share_its_derivative() -> None:
    index = np.array([0, 0, 1])

    def f(x: Any, v: Any) -> Any:
        return lax.reduce_sum(x.at[index].max(v) * np.array([6.0, 10.0, 1.0]), (0,))

    dx, dv = grad(f, argnums=(0, 1))(np.array([3.0, 1.0, 9.0]), np.array([3.0, 3.0, 1.0]))
    np.testing.assert_allclose(np.asarray(dx), [2, 5, 1])
    np.testing.assert_allclose(np.asarray(dv), [2, 2, 5])


@pytest.mark.parametrize("start", [(0, 0), (1, 2), (9, -1)])
def test_dynamic_slices(start: Any) -> None:
    starts = [as_concrete(np.int32(s)) for s in start]
    update = RNG.normal(size=(2, 2))
    check_derivatives(lambda x: lax.dynamic_slice(x, starts, (2, 2)) ** 2, X)
    check_derivatives(lambda x, u: lax.dynamic_update_slice(x, u, starts) ** 2, X, update)
    check_derivatives(lambda u: lax.dynamic_update_slice(X, u, starts), update)


def test_windows_that_overlap_and_batching_dimensions() -> None:
    n = lax.GatherDimensionNumbers((1,), (), (1,), (0,), (0,))
    x = RNG.normal(size=(2, 5))
    for mode in ("clip", "fill"):
        indices = np.array([[1], [7]])
        check_derivatives(
            lambda x, m=mode, i=indices: lax.gather(x, i, n, (1, 3), mode=m, fill_value=0.0), x
        )
    windows = lax.ScatterDimensionNumbers((1,), (), (0,))
    updates = RNG.normal(size=(2, 3))
    indices = np.array([[0], [2]])
    for scatter in (lax.scatter, lax.scatter_add, lax.scatter_mul, lax.scatter_max):
        check_derivatives(
            lambda x, u, s=scatter: s(x, indices, u, windows), RNG.normal(size=6), updates
        )


def test_a_fill_value_has_no_derivative() -> None:
    def f(x: Any) -> Any:
        return lax.reduce_sum(x.at[np.array([0, 9])].get(mode="fill", fill_value=3.0), (0,))

    np.testing.assert_array_equal(np.asarray(grad(f)(np.ones(2))), [1, 0])


def test_a_product_is_not_linear_in_its_updates() -> None:
    def f(v: Any) -> Any:
        return lax.full((3,), 1.0, "float64").at[np.array([0, 0])].multiply(v)

    with pytest.raises(NotLinearError, match=r"cannot transpose scatter_mul .* not linear"):
        linear_transpose(f, ShapeDtypeStruct((2,), "float64"))(np.ones(3))


TABLE = ShapeDtypeStruct((50, 8), "float32")
NAMED = {"b": 4}


def assert_no_table_per_index(program: Any) -> None:
    for eqn in program.eqns:
        for var in eqn.outvars:
            assert not (var.aval.shape == TABLE.shape and var.aval.named), str(eqn)


READS: dict[str, Callable[[Any, Any], Any]] = {
    "rows": lambda table, tokens: table[tokens],
    "row": lambda table, tokens: table[tokens[0]],
    "part of a row": lambda table, tokens: table[tokens[0], 2:5],
    "box": lambda table, tokens: lax.dynamic_slice(table, (tokens[0], tokens[1]), (1, 2)),
    "range": lambda table, tokens: lax.dynamic_slice_in_dim(table, tokens[0], 3),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_the_total_gradient_of_a_table_is_never_one_per_index(read: Any) -> None:
    tokens = ShapeDtypeStruct((6,), "int32", named_shape=NAMED)

    def loss(table: Any, tokens: Any) -> Any:
        rows = read(table, tokens)
        return lax.reduce_sum(rows * rows, tuple(range(rows.ndim)))

    env = [("b", 4)]
    total = make_jaxpr(grad(loss, reduce_axes=("b",)), axis_env=env)(TABLE, tokens)
    assert not total.out_avals[0].named
    assert_no_table_per_index(total)
    each = make_jaxpr(grad(loss, reduce_axes=()), axis_env=env)(TABLE, tokens)
    assert dict(each.out_avals[0].named_shape) == NAMED


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("reduce_axes", [("b",), ()])
def test_types_of_cotangents_of_a_named_scatter_add(mapped: Any, reduce_axes: Any) -> None:
    n = lax.ScatterDimensionNumbers((), (0,), (0,))

    def struct(shape: Any, dtype: str, varies: bool) -> ShapeDtypeStruct:
        return ShapeDtypeStruct(shape, dtype, named_shape=NAMED if varies else {})

    operand, updates = (struct(s, "float32", m) for s, m in zip(((5,), (2,)), mapped, strict=True))
    indices = struct((2, 1), "int32", True)

    def loss(x: Any, u: Any, i: Any) -> Any:
        out = lax.scatter_add(x, i, u, n, axis_names="b")
        assert not out.aval.named
        return lax.reduce_sum(out, (0,))

    program = make_jaxpr(grad(loss, argnums=(0, 1), reduce_axes=reduce_axes), axis_env=[("b", 4)])(
        operand, updates, indices
    )
    for aval, varies in zip(program.out_avals, mapped, strict=True):
        assert not aval.named or varies or not reduce_axes
