"""Moving elements is linear: the tangent moves likewise, and the cotangent moves back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import grad, jvp, linear_transpose, vjp
from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.settings import config

X = np.random.default_rng(0).normal(size=(3, 4, 2))


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def check_linear(f: Callable[..., Any], *xs: Any) -> None:
    """The jvp is the function itself, and the vjp its adjoint."""
    rng = np.random.default_rng(1)
    ts = [rng.normal(size=np.shape(x)) for x in xs]
    out, tangent = jvp(f, xs, tuple(ts))
    np.testing.assert_allclose(np.asarray(out), np.asarray(f(*xs)))
    np.testing.assert_allclose(np.asarray(tangent), np.asarray(f(*ts)) - np.asarray(f(*zeros(xs))))
    ct = rng.normal(size=out.shape)
    back = vjp(f, *xs)[1](ct)
    for x, b in zip(xs, back, strict=True):
        assert b.shape == np.shape(x)
    inner = sum([float(np.sum(np.asarray(b) * t)) for b, t in zip(back, ts, strict=True)])
    np.testing.assert_allclose(inner, np.sum(np.asarray(tangent) * ct), atol=1e-12)


def zeros(xs: Any) -> list[Any]:
    return [np.zeros(np.shape(x)) for x in xs]


MOVES: dict[str, Callable[[Any], Any]] = {
    "broadcast": lambda x: lax.broadcast_in_dim(x, (5, 3, 4, 6, 2), (1, 2, 4)),
    "repeat": lambda x: lax.broadcast_in_dim(x[:, :1], (3, 5, 2), (0, 1, 2)),
    "repeat 0 times": lambda x: lax.broadcast_in_dim(x[:1, :1], (0, 1, 2), (0, 1, 2)),
    "reshape": lambda x: lax.reshape(x, (6, 4)),
    "transpose": lambda x: lax.transpose(x, (2, 0, 1)),
    "squeeze": lambda x: lax.squeeze(lax.expand_dims(x, (0, 2)), (0,)),
    "rev": lambda x: lax.rev(x, (0, 2)),
    "slice": lambda x: lax.slice(x, (0, 1, 0), (3, 4, 2), (2, 2, 1)),
    "empty slice": lambda x: lax.slice(x, (1, 1, 0), (1, 4, 2)),
    "pad": lambda x: lax.pad(x, 1.0, [(1, 2, 0), (0, 1, 2), (3, 0, 1)]),
    "negative pad": lambda x: lax.pad(x, 1.0, [(-1, 2, 0), (-2, -1, 2), (0, -1, 0)]),
    "concatenate": lambda x: lax.concatenate([x, 2 * x, np.ones((3, 1, 2)), x], 1),
    "concatenate once": lambda x: lax.concatenate([np.ones((1, 4, 2)), x], 0),
    "split": lambda x: lax.split(x, (1, 0, 2, 1), 1)[2],
    "barrier": lambda x: lax.optimization_barrier((x, 1.0))[0],
    "row": lambda x: x[1],
    "index": lambda x: x[::-2, None, 1:3],
}


@pytest.mark.parametrize("f", MOVES.values(), ids=MOVES.keys())
def test_derivative_is_the_function_and_its_adjoint(f: Callable[[Any], Any]) -> None:
    check_linear(f, X)


def test_all_parts_of_a_split_come_back_in_one_concatenation() -> None:
    def f(x: Any) -> Any:
        a, _, c = lax.split(x, (1, 1, 2), 1)
        return lax.concatenate([c, 3 * a], 1)

    check_linear(f, X)
    struct = ShapeDtypeStruct(X.shape, "float64")
    program = make_jaxpr(linear_transpose(f, struct))(ShapeDtypeStruct((3, 3, 2), "float64"))
    assert [str(e.primitive) for e in program.eqns].count("concatenate") == 1
    assert "pad" not in str(program)


def test_concatenation_and_padding_of_several_arguments() -> None:
    check_linear(lambda x, y: lax.concatenate([x, y, x], 2), X, X[..., :1])
    value = np.asarray(0.5)
    check_linear(lambda x, v: lax.pad(x, v, [(1, 0, 1), (0, 2, 0), (0, 0, 0)]), X, value)
    check_linear(lambda v: lax.pad(X, v, [(1, 0, 1), (0, -2, 0), (0, 0, 0)]), value)


def test_an_infinite_cotangent_inside_does_not_spoil_that_of_the_padding_value() -> None:
    ct = np.array([1.0, np.inf, 2.0])
    (back,) = vjp(lambda v: lax.pad(np.zeros(1), v, [(1, 1, 0)]), np.asarray(0.0))[1](ct)
    assert float(back) == 3.0


def test_scalars_and_arrays_without_elements() -> None:
    check_linear(lambda x: lax.broadcast_in_dim(x, (2, 3), ()), np.asarray(2.0))
    check_linear(lambda x: lax.reshape(x, (1, 1)), np.asarray(2.0))
    check_linear(lambda x: lax.pad(x, 1.0, [(1, 1, 0), (0, 0, 0)]), np.zeros((0, 2)))
    check_linear(lambda x: lax.concatenate([x, x], 0), np.zeros((0, 2)))


def test_counting_has_no_derivative() -> None:
    def f(x: Any) -> Any:
        return lax.reduce_sum(x * lax.iota("float64", 3), (0,))

    np.testing.assert_array_equal(np.asarray(grad(f)(np.ones(3))), [0, 1, 2])


def test_a_barrier_takes_integers_and_numbers_together() -> None:
    def f(x: Any) -> Any:
        y, n = lax.optimization_barrier((x * x, lax.iota("int32", 3)))
        return lax.reduce_sum(y * lax.convert_element_type(n, y.dtype), (0,))

    np.testing.assert_allclose(np.asarray(grad(f)(np.ones(3))), [0, 2, 4])


def test_cotangents_of_operands_that_vary_less_are_summed_over_collective_axes() -> None:
    table = ShapeDtypeStruct((2,), "float32")
    rows = ShapeDtypeStruct((3,), "float32", named_shape={"b": 4})

    def loss(w: Any, x: Any) -> Any:
        return lax.reduce_sum(lax.concatenate([w, x], 0), (0,))

    total = make_jaxpr(grad(loss, reduce_axes=("b",)), axis_env=[("b", 4)])(table, rows)
    assert not total.out_avals[0].named
    each = make_jaxpr(grad(loss, argnums=(0, 1), reduce_axes=()), axis_env=[("b", 4)])(table, rows)
    assert [a.shape for a in each.out_avals] == [(2,), (3,)]
