"""What has effects is done exactly as often as its program says.

The primitives are a third party's: they count how often they are evaluated, on the NumPy backend.
The oracle is the number of times that Python would do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym import extend, lax

COUNT = extend.Effect("count")
ORDER = extend.Effect("order", ordered=True)

seen: list[float] = []


def _remember(x: Any, **_: Any) -> Any:
    seen.append(float(np.sum(x)))
    return x


def _identity_with(name: str, effect: extend.Effect) -> extend.Primitive:
    """The identity, which also remembers what it was given."""
    primitive = extend.Primitive(name, lambda x: x, cheap=True, effects=[effect])

    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return primitive.bind(*primals), tangents[0]

    def batch(axis: Any, args: Sequence[Any], dims: Sequence[Any]) -> tuple[Any, Any]:
        return primitive.bind(*args), dims[0]

    extend.register_evaluation(primitive, _remember)
    extend.register_jvp(primitive, jvp)
    extend.register_batching(primitive, batch)
    return primitive


count_p = _identity_with("test_effects.count", COUNT)
order_p = _identity_with("test_effects.order", ORDER)


def count(x: Any) -> Any:
    return count_p.bind(x)


def _lower_count(ctx: Any, avals_in: Any, avals_out: Any, x: str) -> str:
    kind = ctx.type(avals_out[0])
    return ctx.op(
        f"stablehlo.custom_call @count_it({x}) {{has_side_effect = true}} : ({kind}) -> {kind}"
    )


extend.register_lowering(count_p, _lower_count)
extend.register_lowering(order_p, _lower_count)


@pytest.fixture(autouse=True)
def _on_numpy() -> Iterator[None]:
    seen.clear()
    with ax.config.override(backend="numpy"):
        yield


def ignored(x: Any) -> Any:
    count(x)
    return x * 2.0


def loop(x: Any) -> Any:
    """Four steps, one evaluation in each, of a value that the steps share."""

    def step(c: Any, _: Any) -> tuple[Any, Any]:
        return c * anp.sin(count(x)), None

    return lax.scan(step, 1.0, None, length=4)[0]


def loop_of_constants(x: Any) -> Any:
    """Four steps, each evaluating on a constant of the loop, which the derivative needs."""

    def step(c: Any, _: Any) -> tuple[Any, Any]:
        return c * count(anp.float32(3.0)), None

    return lax.scan(step, x, None, length=4)[0]


def whilst(x: Any) -> Any:
    return lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, count(s[1]) * 2.0), (0, x))[1]


def in_the_condition(x: Any) -> Any:
    return lax.while_loop(lambda s: count(s) < 10.0, lambda s: s + 3.0, x)


def branch(x: Any) -> Any:
    return lax.cond(True, lambda v: count(count(v)), lambda v: v, x)


def twice_called(x: Any) -> Any:
    inner = ax.jit(lambda v: anp.sin(count(v)))
    return inner(inner(x))


def recomputed(x: Any) -> Any:
    """A cheap value that the derivative needs: it is saved, not computed again."""
    return ax.jit(lambda v: anp.exp(count(v * 3.0)) * v)(x)


PROGRAMS: list[tuple[Callable[[Any], Any], int]] = [
    (count, 1),
    (ignored, 1),
    (loop, 4),
    (loop_of_constants, 4),
    (branch, 2),
    (twice_called, 2),
    (recomputed, 1),
]
LOOPS = [(whilst, 5), (in_the_condition, 4)]


@pytest.mark.parametrize(("f", "times"), PROGRAMS + LOOPS)
def test_as_often_as_written(f: Callable[[Any], Any], times: int) -> None:
    f(1.0)
    assert len(seen) == times
    seen.clear()
    jitted = ax.jit(f)
    jitted(1.0)
    assert len(seen) == times
    jitted(1.0)
    assert len(seen) == 2 * times


@pytest.mark.parametrize(("f", "times"), PROGRAMS)
@pytest.mark.parametrize("wrap", [lambda g: g, ax.jit], ids=["eager", "jit"])
def test_once_under_gradients(f: Callable[[Any], Any], times: int, wrap: Any) -> None:
    wrap(ax.grad(f))(1.0)
    assert len(seen) == times
    seen.clear()
    wrap(ax.grad(ax.jit(f)))(1.0)
    assert len(seen) == times
    seen.clear()
    wrap(lambda x: ax.jvp(f, (x,), (1.0,)))(1.0)
    assert len(seen) == times
    seen.clear()
    wrap(lambda x: ax.linearize(f, x)[1](1.0))(1.0)
    assert len(seen) == times
    seen.clear()
    wrap(ax.grad(ax.grad(f)))(1.0)
    assert len(seen) == times


@pytest.mark.parametrize(("f", "times"), PROGRAMS + LOOPS[:1])
@pytest.mark.parametrize("name", [None, "i"])
def test_once_on_all_values_of_a_map(f: Callable[[Any], Any], times: int, name: Any) -> None:
    xs = np.arange(1.0, 4.0, dtype=np.float32)
    ax.vmap(f, axis_name=name)(xs)
    assert len(seen) == times
    seen.clear()
    ax.jit(ax.vmap(f, axis_name=name))(xs)
    assert len(seen) == times
    if (f, times) in PROGRAMS:
        seen.clear()
        ax.vmap(ax.grad(f), axis_name=name)(xs)
        assert len(seen) == times


def test_once_over_an_axis_without_indices() -> None:
    assert ax.vmap(count)(np.zeros((0, 2), np.float32)).shape == (0, 2)
    assert seen == [0.0]


@pytest.mark.parametrize(("f", "times"), PROGRAMS)
def test_in_each_step_of_an_enclosing_loop(f: Callable[[Any], Any], times: int) -> None:
    lax.scan(lambda c, x: (c, f(x)), 0.0, np.ones(3, np.float32))
    assert len(seen) == 3 * times
    seen.clear()
    ax.grad(lambda w: lax.scan(lambda c, x: (c + f(x * w), None), 0.0, np.ones(3, "f4"))[0])(1.0)
    assert len(seen) == 3 * times


def test_the_gradient_of_a_program_with_effects_is_right() -> None:
    x = np.float32(1.5)

    np.testing.assert_allclose(ax.grad(loop)(x), 4 * np.sin(x) ** 3 * np.cos(x), rtol=1e-5)
    np.testing.assert_allclose(ax.grad(recomputed)(x), np.exp(3 * x) * (1 + 3 * x), rtol=1e-5)


def test_order_is_kept() -> None:
    def f(x: Any) -> Any:
        order_p.bind(x)
        y = order_p.bind(x * 2.0)
        ax.jit(lambda v: order_p.bind(v * 2.0))(y)
        return order_p.bind(x - 1.0)

    for g in (f, ax.jit(f), ax.grad(f), ax.jit(ax.grad(f))):
        seen.clear()
        g(1.0)
        assert seen == [1.0, 2.0, 4.0, 0.0]


@pytest.mark.parametrize("name", [None, "i"])
@pytest.mark.parametrize("wrap", [lambda g: g, ax.jit], ids=["eager", "jit"])
def test_a_branch_with_effects_has_no_mapped_condition(name: Any, wrap: Any) -> None:
    def f(x: Any) -> Any:
        return lax.cond(x > 1.0, count, lambda v: v, x)

    for g in (f, ax.grad(f), lambda x: ax.jvp(f, (x,), (1.0,))[1]):
        with pytest.raises(ax.errors.EffectError, match="count"):
            wrap(ax.vmap(g, axis_name=name))(np.arange(3.0))
    assert seen == []


def test_a_loop_with_effects_has_no_mapped_condition() -> None:
    with pytest.raises(ax.errors.EffectError, match="count"):
        ax.vmap(in_the_condition)(np.arange(3.0))
    assert seen == []


def test_a_while_loop_with_effects_is_not_run_again_for_its_derivative() -> None:
    ax.jvp(whilst, (1.0,), (1.0,))
    assert len(seen) == 5
    seen.clear()
    with pytest.raises(ax.errors.EffectError, match="count"):
        ax.linearize(whilst, 1.0)
    assert seen == []


def test_what_is_known_of_a_linear_program_is_not_run_again_to_transpose_it() -> None:
    program = ax.make_jaxpr(lambda a, x: count(a) * x)(2.0, 1.0)

    with pytest.raises(ax.errors.EffectError, match="count"):
        extend.transpose_program(program, (False, True), program.out_avals, extend.Reading())
    (back,) = ax.linear_transpose(lambda x: ax.jit(lambda a, v: count(a) * v)(2.0, x), 1.0)(3.0)
    assert float(back) == 6.0
    assert seen == [2.0]


def test_programs_know_and_print_their_effects() -> None:
    def f(x: Any) -> Any:
        return lax.cond(x > 0.0, lambda v: count(v), lambda v: ax.jit(order_p.bind)(v), x)

    program = ax.make_jaxpr(f)(1.0)

    assert program.effects == {COUNT, ORDER}
    assert ax.make_jaxpr(anp.sin)(1.0).effects == frozenset()
    assert str(program).splitlines()[-1].strip() == "in (d,) with effects count, order }"


def test_effects_reach_the_compiler_although_nobody_reads_the_result() -> None:
    def f(x: Any) -> Any:
        count(x + 1.0)
        ax.jit(ignored)(x)
        return lax.fori_loop(0, 3, lambda i, v: (count(v), v * 2.0)[1], x)

    with ax.config.override(backend="xla"):
        text = ax.jit(f).lower(1.0).as_text()

    assert text.count("custom_call @count_it") == 3


def test_the_compiler_is_not_given_what_must_keep_an_order() -> None:
    with (
        ax.config.override(backend="xla"),
        pytest.raises(ax.errors.BackendError, match=r"keeps no order among .* effect order"),
    ):
        ax.jit(order_p.bind).lower(1.0).as_text()
