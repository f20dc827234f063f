"""What a called or looped function saves for its derivative, and what it computes again."""

from __future__ import annotations

from typing import Any

import numpy as np

from axonym_autodiff import grad
from axonym_autodiff.programs import split_program
from axonym_autodiff.testing import check_grads
from axonym_core import lax, make_jaxpr
from axonym_core.primitives.calls import jit_p

X = np.linspace(-1, 1, 6)


def split(fun: Any, *args: Any) -> Any:
    jaxpr = make_jaxpr(fun)(*args)
    n = len(jaxpr.invars)
    return split_program(jaxpr, (True,) * n, (False,) * len(jaxpr.outvars), differentiate=True)


def cubic(x: Any) -> Any:
    return (x + 0.5 * x * x * x) * (1.0 - x * x)


def gelu(x: Any) -> Any:
    return 0.5 * x * (1.0 + lax.tanh(0.8 * (x + 0.04 * x * x * x)))


def test_cheap_functions_of_the_arguments_are_not_saved() -> None:
    assert split(cubic, X).computed == 0
    assert split(cubic, X).forwarded == (0,)


def test_costly_values_are_saved_once_and_what_follows_is_computed_again() -> None:
    parts = split(gelu, X)
    assert parts.computed == 1
    names = [e.primitive.name for e in parts.linear.eqns]
    assert "tanh" not in names


def test_values_that_need_more_memory_to_compute_again_are_saved() -> None:
    parts = split(lambda x, y: lax.sin(lax.exp(x) + lax.exp(y)), X, X)
    # cos(exp x + exp y), exp x, exp y; not the sum, from which nothing else is computed.
    assert parts.computed == 3


def test_broadcast_of_a_small_array_is_repeated() -> None:
    def f(x: Any, b: Any) -> Any:
        return x * lax.broadcast_in_dim(lax.exp(b), (6,), ())

    parts = split(f, X, np.float64(2))
    assert [v.aval.shape for v in parts.primal.outvars[parts.known_outs :]] == [()]


def test_constants_are_constants_of_the_linear_program() -> None:
    table = np.arange(6.0)
    parts = split(lambda x: cubic(x * table) * table, X)
    assert parts.computed == 0
    assert len(parts.linear.consts) == 1


def test_gradients_are_right_through_calls_and_loops() -> None:
    for f in (cubic, gelu):
        jaxpr = make_jaxpr(f)(X)
        called = lambda x, jaxpr=jaxpr: jit_p.bind(x, jaxpr=jaxpr, name="f")[0]  # noqa: E731
        check_grads(called, (X,), order=2)

        def loop(x: Any, f: Any = f) -> Any:
            return lax.scan(lambda c, y: (f(c) + y, f(c * y)), x, np.ones((3, 6)))

        check_grads(loop, (X,), order=2, atol=1e-5, rtol=1e-5)


def test_a_loop_stacks_one_array_for_a_chain_of_cheap_operations() -> None:
    f = lambda x: lax.reduce_sum(lax.scan(lambda c, _: (cubic(c), None), x, None, 5)[0], (0,))  # noqa: E731
    jaxpr = make_jaxpr(grad(f))(X)
    (forward, _) = [e for e in jaxpr.eqns if e.primitive.name == "scan"]
    assert [v.aval.shape for v in forward.outvars] == [(6,), (5, 6)]
