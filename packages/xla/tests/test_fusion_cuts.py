"""Long element-wise expressions that several operations read are written to memory once."""

from __future__ import annotations

import numpy as np
import pytest

from axonym_core import lax
from axonym_core.primitives.calls import StagedFunction, custom_jvp_call_p, jit_p
from axonym_core.tracing import make_jaxpr
from axonym_core.types import ShapeDtypeStruct
from axonym_xla.lowering import lower_jaxpr
from axonym_xla.lowering.call_counts import CallCounts
from axonym_xla.lowering.fusion_cuts import MAX_INPUTS, MAX_STEPS

X = ShapeDtypeStruct((8, 16), "float32")


def barriers(fun, *args, platform="cpu"):
    text = lower_jaxpr(make_jaxpr(fun)(*args), platform=platform).text
    return text.count("optimization_barrier")


def sum_of(xs):
    total = xs[0]
    for x in xs[1:]:
        total = lax.add(total, x)
    return total


def steps(x, n):
    for _ in range(n):
        x = lax.sin(x)
    return x


def test_a_long_sum_with_two_readers_is_cut():
    def f(*xs):
        total = sum_of(xs)
        return lax.sin(total), lax.cos(total)

    assert barriers(f, *[X] * MAX_INPUTS) == 1


def test_a_short_sum_is_not_cut():
    def f(*xs):
        total = sum_of(xs)
        return lax.sin(total), lax.cos(total)

    assert barriers(f, *[X] * (MAX_INPUTS - 1)) == 0


def test_many_steps_with_two_readers_are_cut():
    def f(x, n):
        y = steps(x, n)
        return lax.exp(y), lax.cos(y)

    assert barriers(lambda x: f(x, MAX_STEPS), X) == 1
    assert barriers(lambda x: f(x, MAX_STEPS - 1), X) == 0


def test_a_long_expression_with_one_reader_is_not_cut():
    assert barriers(lambda x: lax.exp(steps(x, 5 * MAX_STEPS)), X) == 0


def test_reading_a_value_twice_in_one_operation_is_one_reader():
    def f(x):
        y = steps(x, MAX_STEPS)
        return lax.mul(y, y)

    assert barriers(f, X) == 0


def test_being_returned_counts_as_a_reader():
    def f(x):
        y = steps(x, MAX_STEPS)
        return y, lax.exp(y)

    assert barriers(f, X) == 1


def test_results_of_contractions_are_in_memory():
    def f(x, w):
        y = steps(x, MAX_STEPS - 2)
        y = lax.dot(y, w)
        y = steps(y, MAX_STEPS - 2)
        return lax.exp(y), lax.cos(y)

    assert barriers(f, X, ShapeDtypeStruct((16, 16), "float32")) == 0


def test_what_a_contraction_reads_beside_others_is_written_once():
    def f(x, w):
        y = lax.sin(x)
        return lax.dot(y, w), lax.cos(y)

    def only_the_contraction(x, w):
        return lax.dot(lax.sin(x), w)

    def two_others(x):
        y = lax.sin(x)
        return lax.exp(y), lax.cos(y)

    def transposed(x, w):
        y = lax.transpose(x, (1, 0))
        return lax.dot(w, y), lax.cos(y)

    w = ShapeDtypeStruct((16, 16), "float32")
    assert barriers(f, X, w) == 1
    assert barriers(only_the_contraction, X, w) == 0
    assert barriers(two_others, X) == 0
    assert barriers(transposed, X, w) == 0


def test_what_a_loop_reads_beside_others_is_written_once():
    def f(x):
        y = lax.sin(x)
        return lax.fori_loop(0, 3, lambda i, x: lax.add(x, y), x), lax.cos(y)

    assert barriers(f, X) == 1


def test_unread_operations_are_not_written():
    def f(x, w):
        unread = lax.dot(lax.sin(x), w)
        lax.exp(unread)
        return lax.cos(x)

    text = lower_jaxpr(make_jaxpr(f)(X, ShapeDtypeStruct((16, 16), "float32"))).text

    assert "stablehlo.sine" not in text
    assert "dot_general" not in text


def test_arguments_that_a_function_does_not_read_are_passed_all_the_same():
    inner = make_jaxpr(lambda x, y: lax.sin(y))(X, X)
    jaxpr = make_jaxpr(lambda x: calling(inner)(lax.cos(x), x))(X)

    assert "stablehlo.cosine" in lower_jaxpr(jaxpr).text


def test_a_residual_stream_is_cut_a_bounded_number_of_operations_apart():
    def f(x, *ws):
        for w in ws:
            x = lax.add(x, lax.dot(lax.sin(x), w))
        return x

    layers = 24
    cuts = barriers(f, X, *[ShapeDtypeStruct((16, 16), "float32")] * layers)

    assert layers // MAX_INPUTS <= cuts <= layers


def test_small_operands_cost_nothing_to_read():
    def f(x, *biases):
        for b in biases:
            x = lax.add(x, lax.broadcast_in_dim(b, (8, 16), (1,)))
        return lax.sin(x), lax.cos(x)

    assert barriers(f, X, *[ShapeDtypeStruct((16,), "float32")] * 6) == 0


def test_the_cut_comes_before_an_enlarging_broadcast():
    def f(b):
        y = lax.broadcast_in_dim(steps(b, MAX_STEPS), (8, 16), (1,))
        return lax.exp(y), lax.cos(y)

    jaxpr = make_jaxpr(f)(ShapeDtypeStruct((16,), "float32"))

    assert "optimization_barrier %15 : tensor<16xf32>" in lower_jaxpr(jaxpr).text


def test_other_platforms_are_left_alone():
    def f(*xs):
        total = sum_of(xs)
        return lax.sin(total), lax.cos(total)

    assert barriers(f, *[X] * 8, platform="gpu") == 0


def test_small_programs_are_not_cut():
    def mlp(x, *ws):
        for w in ws:
            h = lax.dot(x, w)
            x = lax.mul(lax.mul(h, 0.5), lax.add(lax.tanh(lax.mul(h, 0.8)), 1.0))
        return x

    assert barriers(mlp, X, *[ShapeDtypeStruct((16, 16), "float32")] * 4) == 0


def calling(jaxpr):
    return lambda *args: jit_p.bind(*args, jaxpr=jaxpr, name=jaxpr.name)


def custom(jaxpr):
    call = StagedFunction(jaxpr)
    return lambda *args: custom_jvp_call_p.bind(*args, call=call, jvp=None, num_consts=0)


@pytest.mark.parametrize("wrap", [calling, custom])
def test_calls_that_the_compiler_inlines_are_looked_through(wrap):
    half = MAX_STEPS // 2
    inner = wrap(make_jaxpr(lambda x: lax.sin(steps(x, half)))(X))

    def f(x):
        (y,) = inner(steps(x, half))
        return lax.exp(y), lax.cos(y)

    def reads_twice_inside(x):
        y = steps(x, MAX_STEPS)
        return wrap(make_jaxpr(lambda y: (lax.exp(y), lax.cos(y)))(X))(y)

    assert barriers(f, X) == 1
    assert barriers(reads_twice_inside, X) == 1


def test_functions_that_the_compiler_keeps_are_ends_of_expressions():
    inner = calling(make_jaxpr(lambda x: steps(x, MAX_STEPS - 1))(X))

    def f(x):
        (y,) = inner(x)
        (z,) = inner(y)
        return lax.exp(z), lax.cos(z)

    assert barriers(f, X) == 0


def test_loop_bodies_are_cut_too():
    def body(x):
        y = steps(x, MAX_STEPS)
        return lax.add(lax.exp(y), lax.cos(y))

    def f(x):
        return lax.fori_loop(0, 3, lambda i, x: body(x), x)

    assert barriers(f, X) == 1


def test_calls_are_counted_once_per_place():
    inner = make_jaxpr(lambda x: lax.sin(x))(X)
    outer = make_jaxpr(lambda x: calling(inner)(*calling(inner)(x)))(X)
    once = make_jaxpr(lambda x: calling(outer)(x))(X)
    several = make_jaxpr(lambda x: calling(outer)(*calling(outer)(x)))(X)

    assert CallCounts(once).of(outer) == 1
    assert CallCounts(once).of(inner) == 2
    assert CallCounts(several).of(outer) == 2
    assert CallCounts(several).of(inner) == 2


def test_a_body_that_is_inlined_twice_makes_its_calls_twice():
    inner = make_jaxpr(lambda x: lax.sin(x))(X)
    body = make_jaxpr(lambda x: calling(inner)(x))(X)
    program = make_jaxpr(lambda x: custom(body)(*custom(body)(x)))(X)

    assert CallCounts(program).of(inner) == 2


def test_the_cost_of_the_analysis_is_bounded_per_operation():
    # Each value is read by the two next: without limits the expressions would grow without end.
    def f(a, b):
        for _ in range(400):
            a, b = b, lax.add(lax.mul(a, b), 0.5)
        return a, b

    jaxpr = make_jaxpr(f)(X, X)
    text = lower_jaxpr(jaxpr).text

    assert len(text) < 400 * len(jaxpr.eqns)
    assert text.count("optimization_barrier") <= len(jaxpr.eqns) / 4


def test_cuts_do_not_change_results():
    from axonym_xla import backend

    rng = np.random.default_rng(0)
    xs = [rng.normal(size=(8, 16)).astype(np.float32) for _ in range(6)]

    def f(*xs):
        total = sum_of(xs)
        return lax.sin(total), lax.cos(total)

    jaxpr = make_jaxpr(f)(*xs)
    args = [backend.from_host(x, v) for x, v in zip(xs, jaxpr.in_avals, strict=True)]
    sines, cosines = backend.compile(jaxpr)(args)

    total = np.sum(xs, 0)
    np.testing.assert_allclose(backend.to_host(sines.buffer), np.sin(total), atol=1e-6)
    np.testing.assert_allclose(backend.to_host(cosines.buffer), np.cos(total), atol=1e-6)
