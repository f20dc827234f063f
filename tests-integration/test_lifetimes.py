"""What lives how long: NumPy arrays that change while traced, and memory that must stay flat."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym as ax
from axonym import lax
from axonym_core.settings import context
from axonym_core.tracing import eval_trace

# NumPy arrays that change


def changing(x: Any) -> Any:
    """Uses an array, changes it and uses it again."""
    a = np.zeros(3, np.float32)
    y = x + a
    a[:] = 1
    z = y + a
    a[0] = -0.0
    view = a[::2]
    z = lax.concatenate([z, lax.div(np.float32(1), view)], 0)
    a[:] = 7
    return z


def test_each_use_of_a_numpy_array_has_its_values_at_that_time(backend: str) -> None:
    x = np.arange(3, dtype=np.float32)
    want = np.array([1, 2, 3, -np.inf, 1], np.float32)
    for f in (changing, ax.jit(changing), ax.jit(ax.jit(changing))):
        assert np.asarray(f(x)).tolist() == want.tolist()
    mapped = ax.vmap(changing)(np.stack([x, x]))
    assert np.asarray(mapped).tolist() == [want.tolist()] * 2
    assert np.asarray(ax.jvp(changing, (x,), (x,))[0]).tolist() == want.tolist()


def test_gradients_use_the_values_that_numpy_arrays_had(backend: str) -> None:
    def loss(x: Any) -> Any:
        a = np.full(3, 2.0, np.float32)
        y = x * a
        a[:] = 100
        return lax.reduce_sum(y * x, (0,))

    x = np.arange(3, dtype=np.float32)
    for f in (ax.grad(loss), ax.jit(ax.grad(loss)), ax.grad(ax.jit(loss))):
        assert np.asarray(f(x)).tolist() == [0.0, 4.0, 8.0]


def test_a_pullback_keeps_the_arguments_that_it_was_made_with(backend: str) -> None:
    x = np.arange(3, dtype=np.float32)
    for make in (
        lambda: ax.vjp(lambda x: x * x, x)[1],
        lambda: ax.vjp(ax.jit(lambda x: x * x), x)[1],
    ):
        x[:] = [1, 2, 3]
        pullback = make()
        x[:] = 0
        assert np.asarray(pullback(np.ones(3, np.float32))[0]).tolist() == [2.0, 4.0, 6.0]


def test_an_array_that_does_not_change_is_one_constant() -> None:
    a = np.ones(3, np.float32)
    jaxpr = ax.make_jaxpr(lambda x: x + a + a + a)(a)
    assert len(jaxpr.consts) == 1


# Memory


def short_lived_functions() -> None:
    f = ax.jit(lambda x: x + x)
    f(X)
    ax.jit(lambda g, x: g(x), static_argnums=0)(lambda x: x, X)
    by_static(lambda x: x, X)


X = np.ones(2, np.float32)
by_static = ax.jit(lambda g, x: g(x), static_argnums=0)


@ax.custom_vjp
def cubed(x: Any) -> Any:
    return x * x * x


cubed.defvjp(lambda x: (cubed(x), x), lambda x, ct: (3.0 * x * x * ct,))


@ax.custom_jvp
def doubled(x: Any) -> Any:
    return x + x


doubled.defjvp(lambda primals, tangents: (doubled(*primals), tangents[0] * 2.0))


def gradients() -> None:
    x = ax.numpy.asarray(np.float32(2))
    ax.grad(lambda x: lax.sin(x) * cubed(x) + doubled(x))(x)


def gradients_of_compiled() -> None:
    ax.grad(ax.jit(lambda x: lax.sin(x) * cubed(x) + doubled(x)))(np.float32(2))


def control_flow() -> None:
    lax.cond(True, lambda x: x + 1.0, lambda x: x, np.float32(1))
    lax.scan(lambda c, x: (c + x, doubled(c)), np.float32(0), X)
    lax.while_loop(lambda c: c < 3.0, lambda c: c + 1.0, np.float32(0))


def failing_traces() -> None:
    def fails(x: Any) -> Any:
        y = lax.sin(x) * np.ones(2, np.float32)
        raise ValueError(y.aval)

    for transform in (ax.jit, ax.vmap, ax.grad):
        with pytest.raises(ValueError, match="f32"):
            transform(fails)(X)


@pytest.mark.parametrize(
    ("work", "count"),
    [
        (short_lived_functions, 150),
        (gradients, 150),
        (gradients_of_compiled, 30),
        (control_flow, 30),
        (failing_traces, 150),
    ],
)
def test_what_is_done_again_and_again_leaves_memory_flat(
    work: Callable[[], None], count: int
) -> None:
    def objects() -> int:
        gc.collect()
        return len(gc.get_objects())

    with ax.config.override(backend="numpy"):
        for _ in range(10):
            work()
        before = objects()
        for _ in range(count):
            work()
        # Whatever stays is less than one object for each time.
        assert objects() - before < count // 2
    assert context.trace is eval_trace


def test_custom_rules_and_what_they_close_over_die_with_their_function(backend: str) -> None:
    def make() -> tuple[Any, list[Any]]:
        big = ax.numpy.asarray(np.ones(1000, np.float32))

        def fun(x: Any) -> Any:
            return lax.reduce_sum(x * big, (0,))

        rule = ax.custom_vjp(fun)
        rule.defvjp(lambda x: (fun(x), big), lambda r, ct: (r * ct,))
        f = ax.jit(lambda x: rule(x) * 2.0)
        assert float(f(big)) == 2000.0
        assert np.asarray(ax.grad(f)(big)).tolist() == [2.0] * 1000
        assert np.asarray(ax.grad(rule)(big)).tolist() == [1.0] * 1000
        return f, [weakref.ref(v) for v in (big, fun, rule)]

    f, parts = make()
    assert parts[0]() is not None
    del f
    gc.collect()
    assert [part() for part in parts] == [None] * 3
