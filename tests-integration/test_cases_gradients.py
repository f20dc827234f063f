"""Programs about gradients from public bug reports, written anew, with the values that are right.

Each test names the reports. Where a report speaks of several things and some of them are not there
yet (Jacobians, checkpointing), the test has the others.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from agreement import same

import axonym as ax
import axonym.numpy as anp
from axonym.scipy.special import logsumexp

INF, NAN = float("inf"), float("nan")

pytestmark = pytest.mark.usefixtures("backend")


# Gradients at edge points


def test_slope_of_powers_at_zero() -> None:
    """jax-ml/jax#12409, jax-ml/jax#7440: NaN for exponent 0."""
    powers = anp.array([0.0, 1.0, 2.0, 3.0])

    def fun(t: Any) -> Any:
        return anp.power(t, powers)

    forward = ax.jvp(fun, (0.0,), (1.0,))[1]
    pull = ax.vjp(fun, 0.0)[1]
    reverse = ax.vmap(lambda row: pull(row)[0])(anp.eye(4))

    same([forward, reverse], [[0.0, 1.0, 0.0, 0.0]] * 2)


def test_guarded_root_is_clean_where_it_is_not_taken() -> None:
    """jax-ml/jax#5798, jax-ml/jax#1052: NaN from the branch that `where` did not take."""

    def root_or_line(t: Any) -> Any:
        safe = anp.where(t > 1, t, 4.0)
        return anp.where(t > 1, anp.sqrt(safe), t)

    slopes = ax.jit(ax.vmap(ax.grad(root_or_line)))(anp.array([-3.0, 0.0, 9.0]))

    same(slopes, [1.0, 1.0, 1 / 6])


def test_logsumexp_with_infinite_entries() -> None:
    """jax-ml/jax#6811, pytorch/pytorch#49724: NaN whenever -inf took part."""
    same(ax.grad(logsumexp)(anp.array([-INF, 1.0])), [0.0, 1.0])
    same(ax.grad(anp.logaddexp, 0)(-INF, 2.0), 0.0)
    same(ax.grad(anp.logaddexp, 1)(-INF, 2.0), 1.0)
    same(logsumexp(anp.array([-INF, -INF])), -INF)


def test_logaddexp_of_infinities_in_vectors() -> None:
    """jax-ml/jax#1624: vectors gave NaN where scalars gave -inf."""
    left = anp.array([-INF, -INF, 1.0, INF])
    right = anp.array([-INF, 3.0, 1.0, -INF])

    same(anp.logaddexp(left, right), np.logaddexp(np.asarray(left), np.asarray(right)))


def test_derivatives_of_sinc_at_zero() -> None:
    """jax-ml/jax#1722, jax-ml/jax#6936: from sin(pi x)/(pi x) = 1 - (pi x)²/6 + (pi x)⁴/120 …"""
    derivatives = [anp.sinc]
    for _ in range(4):
        derivatives.append(ax.grad(derivatives[-1]))

    found = [d(0.0) for d in derivatives]

    same(found, [1.0, 0.0, -(math.pi**2) / 3, 0.0, math.pi**4 / 5])


@pytest.mark.parametrize(
    ("name", "at", "slope"),
    [
        ("log_sigmoid", 0.0, 0.5),
        ("log_sigmoid", -300.0, 1.0),
        ("elu", 300.0, 1.0),
        ("softplus", 900.0, 1.0),
        ("softplus", -900.0, 0.0),
        ("sigmoid", -300.0, 0.0),
        ("silu", -300.0, 0.0),
    ],
)
def test_slopes_of_activations_far_out(name: str, at: float, slope: float) -> None:
    """jax-ml/jax#2140, jax-ml/jax#1538: 0 at 0, NaN for large arguments."""
    same(ax.grad(getattr(ax.nn, name))(at), slope)


def test_statistics_that_skip_nan_have_gradients_that_do() -> None:
    """jax-ml/jax#8128: one NaN made the whole gradient NaN."""
    x = anp.array([NAN, 2.0, 4.0, 9.0])
    kept = np.array([2.0, 4.0, 9.0])
    away, spread = kept - kept.mean(), kept.std()

    same(ax.grad(anp.nanvar)(x), np.r_[0, 2 * away / 3])
    same(ax.grad(anp.nanmean)(x), np.r_[0, np.ones(3) / 3])
    same(ax.grad(anp.nanstd)(x), np.r_[0, away / (3 * spread)])


@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_hypot_of_huge_and_tiny_sides(scale: float) -> None:
    """jax-ml/jax#4893: squares overflowed or vanished."""
    a, b = anp.float32(3 * scale), anp.float32(4 * scale)

    same(anp.hypot(a, b) / anp.float32(scale), 5.0, rtol=1e-4)
    same([ax.grad(anp.hypot, k)(a, b) for k in (0, 1)], [0.6, 0.8], rtol=1e-4)


def test_ldexp_of_parts_that_do_not_fit() -> None:
    """jax-ml/jax#11467, jax-ml/jax#28040: gradient 0; infinite though the result is not."""
    same(ax.grad(lambda m: anp.ldexp(m, anp.int32(3)))(1.5), 8.0)
    same(anp.ldexp(anp.float16(0.5), 16), np.float16(32768.0), rtol=1e-3)
    same(anp.ldexp(anp.float32(2.0**-100), 200), np.float32(2.0**100), rtol=1e-3)


def test_two_spellings_of_the_absolute_value_have_one_gradient() -> None:
    """jax-ml/jax#979: they differed by a conjugate."""
    z = anp.complex64(0.6 - 0.8j)
    one = complex(ax.grad(lambda u: anp.abs(u))(z))
    other = complex(ax.grad(lambda u: anp.sqrt(u.real**2 + u.imag**2))(z))

    assert abs(one - other) < 1e-5
    assert abs(abs(one) - 1) < 1e-5
    same(ax.grad(lambda u: u**3, holomorphic=True)(z), 3 * (0.6 - 0.8j) ** 2, rtol=1e-4)


def test_absolute_value_at_zero_has_a_finite_gradient() -> None:
    """jax-ml/jax#10515, jax-ml/jax#10800: NaN for complex numbers."""
    slopes = [
        ax.grad(lambda u: anp.abs(u))(anp.complex64(0)),
        ax.grad(anp.abs)(0.0),
        ax.grad(ax.nn.relu)(0.0),
    ]

    assert all(np.isfinite(np.asarray(s)) for s in slopes)


def test_gradients_of_sorting_go_where_the_values_came_from() -> None:
    """ml-explore/mlx#1428: they went to other columns."""
    x = anp.array([[4.0, 9.0, 1.0, 7.0], [3.0, 2.0, 8.0, 5.0]])

    def top(m: Any) -> Any:
        return (ax.lax.top_k(m, 2)[0] * anp.array([1.0, 10.0])).sum()

    def ordered(m: Any) -> Any:
        return (anp.sort(m, axis=1) * anp.arange(4.0)).sum()

    same(ax.grad(top)(x), [[0, 1.0, 0, 10.0], [0, 0, 1.0, 10.0]])
    same(ax.grad(ordered)(x), [[1.0, 3.0, 0.0, 2.0], [1.0, 0.0, 3.0, 2.0]])


# Custom derivatives, transposition, nesting


def test_custom_vjp_with_an_integer_argument() -> None:
    """jax-ml/jax#7652, jax-ml/jax#4595: an assertion about a dtype the user had never heard of."""

    @ax.custom_vjp
    def pick(v: Any, k: Any) -> Any:
        return v[k] * 2.0

    def backward(saved: Any, ct: Any) -> Any:
        v, k = saved
        return anp.zeros_like(v).at[k].set(7.0 * ct), None

    pick.defvjp(lambda v, k: (pick(v, k), (v, k)), backward)
    v = anp.array([1.0, 4.0, 9.0])

    same(ax.grad(pick)(v, 1), [0.0, 7.0, 0.0])
    same(ax.jit(ax.grad(pick))(v, 2), [0.0, 0.0, 7.0])
    same(ax.vmap(ax.grad(pick), (None, 0))(v, anp.array([0, 2])), [[7.0, 0, 0], [0, 0, 7.0]])


def test_arguments_without_derivative_come_first_in_the_backward_rule() -> None:
    """jax-ml/jax#4617: documentation and behaviour disagreed."""
    seen = []

    @partial(ax.custom_vjp, nondiff_argnums=(0, 2))
    def apply(f: Any, x: Any, tag: str) -> Any:
        return f(x)

    def forward(f: Any, x: Any, tag: str) -> Any:
        seen.append(("forward", callable(f), tag))
        return f(x), x

    def backward(f: Any, tag: str, x: Any, ct: Any) -> Any:
        seen.append(("backward", callable(f), tag))
        return (ct * 100.0,)

    apply.defvjp(forward, backward)

    same(ax.grad(lambda x: apply(anp.sin, x, "hello"))(0.3), 100.0)
    assert seen == [("forward", True, "hello"), ("backward", True, "hello")]


@pytest.mark.parametrize(
    "fun",
    [lambda x: x * x, lambda x: 1.0 / x, lambda x: anp.sin(x)],
    ids=["square", "reciprocal", "sine"],
)
def test_transposing_what_is_not_linear_is_refused_in_words(fun: Any) -> None:
    """jax-ml/jax#13455: a bare assertion."""
    with pytest.raises(TypeError, match="linear") as error:
        ax.linear_transpose(fun, 3.0)(3.0)

    assert not isinstance(error.value, AssertionError)


def test_integers_are_allowed_in_vjp_but_are_no_target_of_grad() -> None:
    """jax-ml/jax#4308: vjp refused any integer argument."""

    def fun(x: Any, k: Any, flag: Any) -> Any:
        return anp.where(flag, x * k, x + k)

    _, pull = ax.vjp(fun, 3.0, 4, True)
    cts = pull(1.0)

    assert len(cts) == 3
    same(cts[0], 4.0)
    same(ax.jvp(lambda x: fun(x, 4, True), (3.0,), (1.0,))[1], 4.0)
    with pytest.raises(TypeError, match="k has dtype int64"):
        ax.grad(fun, 1)(3.0, 4, True)


def test_loops_of_unknown_length_have_forward_mode_and_a_clear_refusal() -> None:
    """jax-ml/jax#2129, jax-ml/jax#1980: a bare assertion deep inside the reverse pass."""

    def step(i: Any, t: Any) -> Any:
        return t * (1.0 + i)

    def dynamic(t: Any, n: Any) -> Any:
        return ax.lax.fori_loop(0, n, step, t)

    slope = ax.jit(lambda t, n: ax.jvp(lambda u: dynamic(u, n), (t,), (1.0,))[1])

    same(slope(3.0, 4), 24.0)
    same(ax.grad(lambda t: ax.lax.fori_loop(0, 4, step, t))(3.0), 24.0)
    with pytest.raises(TypeError, match=r"while_loop.*fori_loop with Python integers"):
        ax.jit(ax.grad(dynamic))(3.0, 4)


def test_products_that_accumulate_in_a_wider_dtype() -> None:
    """jax-ml/jax#10818: a dtype error in the transposed product."""
    numbers = (((0,), (0,)), ((), ()))
    dot = partial(ax.lax.dot_general, dimension_numbers=numbers, preferred_element_type=anp.float32)
    a, b = anp.array([1.0, 2.0], anp.float16), anp.array([3.0, 4.0], anp.float16)

    gradients = ax.grad(dot, (0, 1))(a, b)
    whole = ax.lax.dot_general(
        anp.full(3, 100, anp.int8),
        anp.full(3, 100, anp.int8),
        numbers,
        preferred_element_type=anp.int32,
    )

    assert dot(a, b).dtype == np.float32
    assert gradients[0].dtype == np.float16
    same(gradients, ([3.0, 4.0], [1.0, 2.0]))
    assert int(whole) == 30000


def test_gradient_of_einsum_that_sums_axes_away() -> None:
    """HIPS/autograd#242, HIPS/autograd#384: exceptions in the gradient rules."""
    x = np.random.default_rng(0).normal(size=(2, 3, 2, 4))
    wanted = np.broadcast_to(2 * x.sum((0, 2))[None, :, None, :], x.shape)
    ramp = anp.arange(12.0).reshape(4, 3)

    found = ax.grad(lambda t: anp.sum(anp.einsum("abcd->bd", t) ** 2))(anp.array(x))
    spread = ax.grad(lambda t: anp.sum(anp.broadcast_to(t, (4, 3)) * ramp))(anp.ones(3))

    same(found, wanted, rtol=1e-4)
    same(spread, [18.0, 22.0, 26.0])


def test_gradients_of_cumulative_operations_in_both_directions() -> None:
    """pytorch/pytorch#26637: the weight of later positions was lost."""
    x = anp.array([4.0, 1.0, 2.0, 7.0, 5.0, 6.0])
    weight = anp.array([1.0, 10, 100, 1000, 1e4, 1e5])

    def of(fun: Any, reverse: bool) -> Any:
        return ax.grad(lambda v: (fun(v, reverse=reverse) * weight).sum())(x)

    same(of(ax.lax.cummax, False), [111.0, 0, 0, 111000, 0, 0])
    same(of(ax.lax.cummax, True), [0, 0, 0, 1111, 0, 110000])
    same(of(ax.lax.cumsum, True), [1.0, 11, 111, 1111, 11111, 111111])


def test_updates_out_of_range_follow_the_mode() -> None:
    """jax-ml/jax#14095, jax-ml/jax#21708: the mode seemed to have no effect."""
    zeros = anp.zeros(3)
    outside = anp.array([-4, 3])

    same(zeros.at[anp.array([-1])].add(1.0, mode="drop"), [0, 0, 1.0])
    same(zeros.at[outside].add(1.0, mode="drop"), [0, 0, 0.0])
    same(zeros.at[outside].add(1.0, mode="clip"), [1.0, 0, 1.0])
    same(anp.arange(3.0).at[anp.array([7])].get(mode="fill", fill_value=-5.0), [-5.0])
    same(zeros.at[anp.array([2, 0, 2])].add(anp.array([1.0, 2.0, 4.0])), [2.0, 0, 5.0])


def test_indexing_and_gradients_of_empty_arrays() -> None:
    """jax-ml/jax#13656, jax-ml/jax#11125: reverse mode raised an error about sizes of slices."""
    empty = anp.zeros(0)

    def fun(u: Any) -> Any:
        return empty.at[anp.arange(1)].add(u, mode="drop")

    _, pull = ax.vjp(fun, anp.ones(1))

    assert ax.jvp(fun, (anp.ones(1),), (anp.ones(1),))[1].shape == (0,)
    same(pull(anp.zeros(0))[0], [0.0])
    assert ax.grad(lambda v: v.sum())(empty).shape == (0,)
    taken = anp.take_along_axis(anp.zeros((0, 0)), anp.ones((1, 1), int), axis=-1)
    assert taken.shape == (0, 1)


def test_bounded_loop_whose_lanes_end_at_different_steps() -> None:
    """patrick-kidger/equinox#408: lanes that had finished went on changing."""

    def bounded(going: Any, body: Any, start: Any, most: int) -> Any:
        def step(state: Any, _: Any) -> Any:
            return ax.lax.cond(going(state), body, lambda s: s, state), None

        return ax.lax.scan(step, start, None, length=most)[0]

    def first_power(t: Any) -> Any:
        return bounded(lambda s: s < 50.0, lambda s: s * t, t, 20)

    ts = anp.array([2.0, 3.0, 7.5])

    same(ax.vmap(first_power)(ts), [64.0, 81.0, 56.25])
    same(ax.vmap(ax.grad(first_power))(ts), [6 * 2.0**5, 4 * 3.0**3, 2 * 7.5])


def test_second_derivative_of_a_recurrence() -> None:
    """jax-ml/jax#10497: dead-code elimination dropped equations that were needed."""

    def plain(t: float) -> float:
        c, total = t, 0.0
        for _ in range(4):
            c, total = math.sin(c) * t, total + c * c
        return c + total

    def run(t: Any) -> Any:
        c, ys = ax.lax.scan(lambda c, _: (anp.sin(c) * t, c * c), t, None, length=4)
        return c + ys.sum()

    h = 1e-4
    wanted = (plain(0.9 + h) - 2 * plain(0.9) + plain(0.9 - h)) / h**2
    at = anp.array(0.9, anp.float64)

    same(ax.grad(ax.grad(run))(at), wanted, rtol=1e-5, atol=1e-5)
    same(ax.grad(ax.jit(ax.grad(ax.jit(run))))(at), wanted, rtol=1e-5, atol=1e-5)
