"""The structure of lowered modules: functions, hidden arguments, donation, names."""

from __future__ import annotations

import re

import numpy as np
import pytest

from axonym_core import lax
from axonym_core.arrays import as_concrete
from axonym_core.errors import AxisNameError, BackendError
from axonym_core.primitives.calls import StagedFunction, custom_vjp_call_p, jit_p
from axonym_core.programs import Primitive
from axonym_core.settings import config
from axonym_core.tracing import make_jaxpr
from axonym_core.types import ShapeDtypeStruct
from axonym_xla import backend, lower, register_lowering
from axonym_xla.lowering import lower_jaxpr

X = ShapeDtypeStruct((3,), "float32")


def staged(fun, *args):
    return make_jaxpr(fun)(*args)


def calling(jaxpr):
    return lambda *args: jit_p.bind(*args, jaxpr=jaxpr, name=jaxpr.name)


def run(jaxpr, *values):
    """Results of a compiled program, as NumPy arrays."""
    args = [
        backend.from_host(np.asarray(v, aval.dtype), aval)
        for v, aval in zip(values, jaxpr.in_avals, strict=True)
    ]
    return [backend.to_host(out.buffer) for out in backend.compile(jaxpr)(args)]


def on_numpy(jaxpr, *values):
    """The same by the NumPy backend."""
    from axonym_core.numpy_backend.backend import run_jaxpr

    return run_jaxpr(
        jaxpr, [np.asarray(v, a.dtype) for v, a in zip(values, jaxpr.in_avals, strict=True)]
    )


def test_every_operation_has_an_unknown_location():
    text = lower(staged(lambda x: lax.mul(lax.sin(x), 2.0), X))

    for line in text.splitlines():
        assert line.endswith(("loc(unknown)", "{")), line


def test_equal_programs_have_equal_texts():
    def one(x):
        return lax.sin(x)

    first = lower(staged(one, X))
    # The same program, traced from another line.
    second = lower(staged(one, X))

    assert first == second


def test_the_module_is_named_after_the_function():
    def update_weights(x):
        return lax.sin(x)

    assert "module @update_weights" in lower(staged(update_weights, X))
    assert "module @lambda" in lower(staged(lambda x: lax.sin(x), X))


def test_unused_arguments_stay_arguments():
    text = lower(staged(lambda x, y: lax.sin(y), X, X))

    assert "@main(%arg0: tensor<3xf32>" in text
    assert "%arg1: tensor<3xf32>" in text


def test_a_called_jaxpr_is_one_private_function():
    inner = staged(lambda x: lax.sin(x), X)
    text = lower(staged(lambda x: calling(inner)(*calling(inner)(x)), X))

    assert text.count("func.func private") == 1
    assert text.count("func.call") == 2
    assert text.count("stablehlo.sine") == 1


def test_a_function_called_from_several_places_is_kept_by_the_compiler():
    inner = staged(lambda x: lax.sin(x), X)
    once = lower(staged(lambda x: calling(inner)(x), X))
    twice = lower(staged(lambda x: calling(inner)(*calling(inner)(x)), X))

    assert "inlineable" not in once
    assert twice.count('mhlo.frontend_attributes = {inlineable = "false"}') == 2


def test_functions_of_one_name_are_told_apart():
    def inner(x):
        return lax.sin(x)

    first, second = staged(inner, X), staged(inner, X)
    text = lower(staged(lambda x: calling(second)(*calling(first)(x)), X))

    assert "private @inner(" in text
    assert "private @inner_1(" in text


def test_a_function_named_main_does_not_collide():
    def main(x):
        return lax.sin(x)

    jaxpr = staged(lambda x: calling(staged(main, X))(x), X)

    np.testing.assert_allclose(run(jaxpr, [0, 1, 2])[0], np.sin([0, 1, 2]), atol=1e-6)


def test_an_empty_function_is_not_called():
    inner = staged(lambda x, y: (y, x), X, X)

    assert "func.call" not in lower(staged(lambda x, y: calling(inner)(x, y), X, X))


def test_closed_over_arrays_are_hidden_leading_arguments():
    with config.override(backend="xla"):
        weights = as_concrete(np.arange(3, dtype=np.float32))
    jaxpr = staged(lambda x: lax.mul(x, weights), X)

    module = lower_jaxpr(jaxpr)

    assert module.constants == (weights,)
    assert "@main(%const0: tensor<3xf32> loc(unknown), %arg0" in module.text
    np.testing.assert_array_equal(run(jaxpr, [1, 2, 3])[0], [0, 2, 6])


def test_closed_over_scalars_are_written_into_the_text():
    with config.override(backend="xla"):
        scale = as_concrete(np.float32(2.5))
    jaxpr = staged(lambda x: lax.mul(x, scale), X)

    module = lower_jaxpr(jaxpr)

    assert module.constants == ()
    np.testing.assert_array_equal(run(jaxpr, [1, 2, 3])[0], [2.5, 5, 7.5])


def test_arrays_that_inner_programs_closed_over_are_passed_through():
    with config.override(backend="xla"):
        weights = as_concrete(np.arange(3, dtype=np.float32))
        others = as_concrete(np.ones(3, np.float32))
    inner = staged(lambda x: lax.mul(x, weights), X)
    middle = staged(lambda x: calling(inner)(lax.add(x, others))[0], X)

    def f(x):
        def body(carry, _):
            return calling(middle)(carry)[0], ()

        carry, _ = lax.scan(body, calling(middle)(x)[0], None, length=2)
        return lax.add(carry, others)

    jaxpr = staged(f, X)

    assert len(lower_jaxpr(jaxpr).constants) == 2
    for out, expected in zip(run(jaxpr, [1, 2, 3]), on_numpy(jaxpr, [1, 2, 3]), strict=True):
        np.testing.assert_allclose(out, expected)


def test_constants_of_another_backend_are_accepted():
    with config.override(backend="numpy"):
        weights = as_concrete(np.arange(3, dtype=np.float32))
    jaxpr = staged(lambda x: lax.mul(x, weights), X)

    np.testing.assert_array_equal(run(jaxpr, [1, 2, 3])[0], [0, 2, 6])


def test_donated_arguments_are_matched_with_results_of_their_type():
    jaxpr = staged(lambda a, b, n: (lax.sin(n), lax.add(a, b)), X, X, np.float32(0))

    text = lower_jaxpr(jaxpr, donated=(True, True, False)).text

    assert "%arg0: tensor<3xf32> {tf.aliasing_output = 1 : i32}" in text
    assert "%arg1: tensor<3xf32> {jax.buffer_donor = true}" in text
    assert "%arg2: tensor<f32> loc" in text


def test_custom_derivative_calls_are_written_in_their_place():
    call = StagedFunction(staged(lambda x: (lax.sin(x),), X))
    jaxpr = staged(
        lambda x: custom_vjp_call_p.bind(x, call=call, fwd=None, bwd=None, num_consts=0), X
    )

    text = lower(jaxpr)

    assert "func.call" not in text
    assert "stablehlo.sine" in text


def test_programs_without_arguments_or_results():
    assert run(staged(lambda: ())) == []
    (out,) = run(staged(lambda: lax.full((2,), 1.5, "float32")))
    np.testing.assert_array_equal(out, [1.5, 1.5])
    assert run(staged(lambda x: (), X), [1, 2, 3]) == []


def test_results_may_be_arguments_literals_and_repeated():
    jaxpr = staged(lambda x: (x, 1.0, x, lax.sin(x)), X)

    first, one, again, _ = run(jaxpr, [1, 2, 3])

    np.testing.assert_array_equal(first, [1, 2, 3])
    np.testing.assert_array_equal(again, [1, 2, 3])
    assert one == np.float32(1)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("length", [0, 1, 7])
def test_scan(length, unroll, reverse):
    def f(init, xs, w):
        def body(carry, x):
            carry = lax.add(lax.mul(carry, w), x)
            return carry, (lax.sin(carry), lax.sub(x, carry))

        return lax.scan(body, init, xs, reverse=reverse, unroll=unroll)

    xs = np.random.default_rng(0).normal(size=(length, 3)).astype(np.float32)
    args = [np.ones(3, np.float32), xs, np.float32([0.1, 0.2, 0.3])]
    jaxpr = staged(f, *args)

    for out, expected in zip(run(jaxpr, *args), on_numpy(jaxpr, *args), strict=True):
        assert out.shape == expected.shape
        np.testing.assert_allclose(out, expected, atol=1e-6)


def test_scan_over_nothing_but_a_count():
    jaxpr = staged(lambda x: lax.scan(lambda c, _: (lax.add(c, x), ()), x, None, length=5)[0], X)

    np.testing.assert_array_equal(run(jaxpr, [1, 2, 3])[0], [6, 12, 18])


def test_while_refers_to_values_outside():
    def f(x, limit):
        return lax.while_loop(lambda c: lax.lt(c, limit), lambda c: lax.add(c, x), x)

    jaxpr = staged(f, np.float32(0), np.float32(0))

    np.testing.assert_array_equal(run(jaxpr, 3.0, 10.0)[0], 12.0)


def test_while_with_several_carried_values():
    def f(n):
        def body(state):
            i, a, b = state
            return lax.add(i, np.int32(1)), b, lax.add(a, b)

        return lax.while_loop(
            lambda s: lax.lt(s[0], n), body, (np.int32(0), np.int32(0), np.int32(1))
        )

    jaxpr = staged(f, np.int32(0))

    assert [int(v) for v in run(jaxpr, 10)] == [10, 55, 89]


@pytest.mark.parametrize("index", [0, 1, 2])
def test_cond_picks_a_branch(index):
    def f(i, x):
        return lax.switch(i, [lax.sin, lax.cos, lambda x: lax.mul(x, x)], x)

    jaxpr = staged(f, np.int32(0), X)
    x = np.float32([1, 2, 3])

    expected = [np.sin, np.cos, np.square][index](x)
    np.testing.assert_allclose(run(jaxpr, index, x)[0], expected, atol=1e-6)


def test_calls_inside_of_loops_share_one_function():
    inner = staged(lambda x: lax.sin(x), X)

    def f(x):
        x = calling(inner)(x)[0]
        return lax.fori_loop(0, 3, lambda i, x: calling(inner)(x)[0], x)

    text = lower(staged(f, X))

    assert text.count("stablehlo.sine") == 1
    assert text.count('inlineable = "false"') == 2


def test_names_are_unique_in_a_function():
    def f(x):
        return lax.fori_loop(0, 3, lambda i, x: lax.sin(x), lax.cos(x))

    text = lower(staged(f, X))
    defined = re.findall(r"^(%\w+)(?::\d+)? = ", text, flags=re.MULTILINE)

    assert len(defined) == len(set(defined))


def test_a_primitive_without_a_rule_is_named():
    unknown_p = Primitive("unknown_thing", lambda x: x)

    with pytest.raises(BackendError, match=r"cannot compile unknown_thing.*register_lowering"):
        lower(staged(unknown_p.bind, X))


def test_the_registered_reason_for_a_missing_rule_is_given():
    host_only_p = Primitive("host_only", lambda x: x, absent={"lowering": "it runs on the host"})

    with pytest.raises(BackendError, match=r"host_only: it runs on the host"):
        lower(staged(host_only_p.bind, X))


def test_registered_rules_are_used():
    twice_p = Primitive("twice", lambda x: x)
    register_lowering(
        twice_p,
        lambda ctx, avals_in, avals_out, x: ctx.op(
            f"stablehlo.add {x}, {x} : {ctx.type(avals_out[0])}"
        ),
    )

    np.testing.assert_array_equal(run(staged(twice_p.bind, X), [1, 2, 3])[0], [2, 4, 6])


def test_named_axes_are_refused():
    varying = ShapeDtypeStruct((3,), "float32", named_shape={"batch": 2})
    jaxpr = make_jaxpr(lambda x: lax.sin(x), axis_env=[("batch", 2)])(varying)

    with pytest.raises(AxisNameError, match=r"x of .*f32\[3;batch:2\].*vmap or xmap"):
        lower(jaxpr)
