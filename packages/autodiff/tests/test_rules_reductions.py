"""Derivatives of reductions and cumulative operations agree with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import grad, jvp, linear_transpose, vjp
from axonym_core import lax
from axonym_core.settings import config

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def directional(f: Callable[[Any], Any], x: Array, t: Array, h: float = 1e-6) -> Array:
    return (np.asarray(f(x + h * t)) - np.asarray(f(x - h * t))) / (2 * h)


def check_first_order(f: Callable[[Any], Any], x: Array) -> None:
    """The jvp is the finite difference, and the vjp its adjoint."""
    rng = np.random.default_rng(1)
    t = rng.normal(size=x.shape)
    out, tangent = jvp(f, (x,), (t,))
    np.testing.assert_allclose(np.asarray(tangent), directional(f, x, t), rtol=1e-6, atol=1e-7)
    ct = rng.normal(size=out.shape)
    (back,) = vjp(f, x)[1](ct)
    assert back.shape == x.shape
    np.testing.assert_allclose(np.sum(np.asarray(back) * t), np.sum(np.asarray(tangent) * ct))


def check_second_order(f: Callable[[Any], Any], x: Array) -> None:
    rng = np.random.default_rng(2)
    t, u = rng.normal(size=x.shape), rng.normal(size=x.shape)

    def first(y: Any) -> Any:
        return jvp(f, (y,), (t,))[1]

    _, second = jvp(first, (x,), (u,))
    np.testing.assert_allclose(np.asarray(second), directional(first, x, u), rtol=1e-5, atol=1e-6)
    ct = rng.normal(size=second.shape)
    (back,) = vjp(first, x)[1](ct)
    np.testing.assert_allclose(
        np.sum(np.asarray(back) * u), np.sum(np.asarray(second) * ct), atol=1e-12
    )


X = np.random.default_rng(0).normal(size=(3, 4, 2))
REDUCTIONS = [lax.reduce_sum, lax.reduce_prod, lax.reduce_max, lax.reduce_min]
CUMULATIVE = [lax.cumsum, lax.cumprod, lax.cummax, lax.cummin, lax.cumlogsumexp]


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("axes", [(), (1,), (0, 2), (0, 1, 2)])
def test_reductions_are_differentiated_right(reduce: Any, axes: tuple[int, ...]) -> None:
    check_first_order(lambda x: reduce(x, axes), X)
    check_second_order(lambda x: lax.sin(reduce(lax.mul(x, x), axes)), X)


@pytest.mark.parametrize("cumulate", CUMULATIVE)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumulative_operations_are_differentiated_right(
    cumulate: Any, axis: int, reverse: bool
) -> None:
    x = np.random.default_rng(0).normal(size=(7, 5))
    check_first_order(lambda y: cumulate(y, axis, reverse), x)
    check_second_order(lambda y: lax.sin(cumulate(lax.mul(y, y), axis, reverse)), x)


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 5, 6])
def test_products_with_zeros_are_differentiated_right(zeros: int, size: int) -> None:
    x = np.arange(2.0, 2.0 + size)
    x[: min(zeros, size)] = 0.0
    for product in (lambda y: lax.reduce_prod(y, (0,)), lax.cumprod):
        check_first_order(product, x)
        check_second_order(product, x)


def test_higher_derivatives_of_a_product_with_two_zeros() -> None:
    def along(s: Any) -> Any:
        t = np.array([1.0, 2.0, 3.0, 4.0])
        return lax.reduce_prod(np.array([0.0, 5.0, 0.0, 7.0]) + s * t, (0,))

    # s (5 + 2s) 3s (7 + 4s) = 105 s^2 + 102 s^3 + 24 s^4
    assert float(grad(grad(along))(0.0)) == pytest.approx(210.0)
    assert float(grad(grad(grad(along)))(0.0)) == pytest.approx(612.0)


@pytest.mark.parametrize("reduce", [lax.reduce_max, lax.reduce_min])
def test_ties_share_equally(reduce: Any) -> None:
    x = np.array([[2.0, 2.0, 2.0, 2.0], [1.0, 5.0, 1.0, 5.0]])
    ties = grad(lambda y: lax.reduce_sum(reduce(y, (1,)), (0,)))(x)
    second = [0, 0.5, 0, 0.5] if reduce is lax.reduce_max else [0.5, 0, 0.5, 0]
    np.testing.assert_array_equal(np.asarray(ties), [[0.25] * 4, second])


def test_ties_of_running_extremes_share_equally() -> None:
    x = np.array([2.0, 2.0, 1.0, 2.0, 3.0])
    t = np.array([1.0, 3.0, 10.0, 5.0, 7.0])
    _, tangent = jvp(lax.cummax, (x,), (t,))
    np.testing.assert_allclose(np.asarray(tangent), [1.0, 2.0, 2.0, 3.0, 7.0])
    _, tangent = jvp(lambda y: lax.cummin(y, 0, True), (-x,), (t,))
    np.testing.assert_allclose(np.asarray(tangent), [7.0, 7.0, 7.0, 7.0, 7.0])


def test_running_extremes_send_each_weight_to_its_winner() -> None:
    x = np.array([4.0, 1.0, 2.0, 7.0, 5.0, 6.0])
    w = np.array([1.0, 10, 100, 1000, 1e4, 1e5])

    def weighted(reverse: bool) -> Any:
        return grad(lambda v: lax.reduce_sum(lax.mul(lax.cummax(v, 0, reverse), w), (0,)))(x)

    assert weighted(False).tolist() == [111.0, 0, 0, 111000, 0, 0]
    assert weighted(True).tolist() == [0, 0, 0, 1111, 0, 110000]


def test_infinite_entries_do_no_harm() -> None:
    x = np.array([-np.inf, 1.0, 2.0])
    assert grad(lambda y: lax.reduce_max(y, (0,)))(x).tolist() == [0.0, 0.0, 1.0]
    _, tangent = jvp(lambda y: lax.reduce_max(y, (0,)), (x,), (np.array([np.inf, 1.0, 3.0]),))
    assert float(tangent) == 3.0
    back = grad(lambda y: lax.reduce_sum(lax.cumlogsumexp(y), (0,)))(x)
    p = 1 / (1 + np.exp(1.0))
    np.testing.assert_allclose(np.asarray(back), [1.0, 1 + p, 1 - p])


def test_cumlogsumexp_of_equal_numbers_is_smooth() -> None:
    check_second_order(lax.cumlogsumexp, np.zeros(4))

    def softplus(s: Any) -> Any:
        return lax.cumlogsumexp(s * np.array([0.0, 1.0]))[1]

    assert float(grad(grad(grad(softplus)))(0.0)) == pytest.approx(0.0, abs=1e-12)
    assert float(grad(grad(grad(grad(softplus))))(0.0)) == pytest.approx(-0.125)


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_empty_reductions_have_zero_derivative(reduce: Any) -> None:
    x = np.zeros((2, 0))
    _, tangent = jvp(lambda y: reduce(y, (1,)), (x,), (x,))
    assert tangent.tolist() == [0.0, 0.0]
    (back,) = vjp(lambda y: reduce(y, (1,)), x)[1](np.ones(2))
    assert back.shape == (2, 0)


@pytest.mark.parametrize("cumulate", CUMULATIVE)
def test_cumulative_operations_on_no_elements(cumulate: Any) -> None:
    x = np.zeros((0, 3))
    assert jvp(cumulate, (x,), (x,))[1].shape == (0, 3)


def test_sums_are_their_own_linear_maps() -> None:
    x = np.ones((2, 3))
    (back,) = linear_transpose(lambda y: lax.reduce_sum(y, (1,)), x)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(np.asarray(back), [[1.0] * 3, [2.0] * 3])
    (back,) = linear_transpose(lambda y: lax.cumsum(y, 1), x)(x)
    np.testing.assert_array_equal(np.asarray(back), [[3.0, 2.0, 1.0]] * 2)


def test_complex_products_are_differentiated_right() -> None:
    x = np.array([1 + 2j, 0j, 3 - 1j])
    t = np.array([1j, 2 - 1j, 1.0 + 0j])
    _, tangent = jvp(lambda y: lax.reduce_prod(y, (0,)), (x,), (t,))
    np.testing.assert_allclose(np.asarray(tangent), x[0] * t[1] * x[2])


def test_positions_and_bitwise_reductions_have_no_derivative() -> None:
    x = np.array([1.0, 3.0, 2.0])

    def by_position(y: Any) -> Any:
        return lax.mul(y[0], lax.convert_element_type(lax.argmax(y, 0, "int32"), y.dtype))

    def by_any(y: Any) -> Any:
        return lax.select(lax.reduce_or(lax.gt(y, 2.0), (0,)), y[0], y[1])

    assert grad(by_position)(x).tolist() == [1.0, 0.0, 0.0]
    assert grad(by_any)(x).tolist() == [1.0, 0.0, 0.0]
