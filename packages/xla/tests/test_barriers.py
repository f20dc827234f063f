"""Barriers as calls, for versions of XLA that drop them."""

from __future__ import annotations

import numpy as np

from axonym_core import lax, make_jaxpr
from axonym_core.arrays import as_concrete, backends
from axonym_core.settings import config
from axonym_xla._compiled import XlaLowered
from axonym_xla._executable import compile_program
from axonym_xla.lowering import lower_jaxpr


def compiled_text(fun, *args):
    with config.override(backend="xla"):
        return XlaLowered(backends.get("xla"), make_jaxpr(fun)(*args)).compile().as_text()


def shifted_and_its_maximum(x):
    """Two operations read the shifted value, each of which the compiler fuses with its making."""
    shift = lax.convert_element_type(lax.iota(np.dtype(np.int32), 3), np.float64) * 0.3137
    y = lax.broadcast_in_dim(x, (3, 8), (1,)) + lax.broadcast_in_dim(shift, (3, 8), (0,))
    y = lax.optimization_barrier(y)
    largest = lax.broadcast_in_dim(lax.reduce_max(y, (0,)), (3, 8), (1,))
    return lax.convert_element_type(lax.eq(y, largest), np.float64)


def test_value_behind_a_barrier_is_computed_once():
    text = compiled_text(shifted_and_its_maximum, np.ones(8))

    assert text.count("f64[3,8]{1,0} add(") == 1


def test_maximum_is_attained_by_what_it_is_the_maximum_of():
    backend = backends.get("xla")
    x = np.random.default_rng(0).uniform(-1, 1, 8)
    program = XlaLowered(backend, make_jaxpr(shifted_and_its_maximum)(x)).compile()
    with config.override(backend="xla"):
        (found,) = program([as_concrete(x)])

    np.testing.assert_array_equal(np.asarray(found).sum(0), np.ones(8))


def test_module_without_barriers_is_the_same():
    jaxpr = make_jaxpr(lambda x: lax.sin(x))(1.0)

    assert lower_jaxpr(jaxpr, barriers_as_calls=True) == lower_jaxpr(jaxpr)


def test_barriers_of_equal_types_share_a_function():
    def fun(x, y):
        x, y = lax.optimization_barrier((x, y))
        a = lax.optimization_barrier(x + 1.0)
        return lax.optimization_barrier(y * 2.0), a

    jaxpr = make_jaxpr(fun)(np.float32(1.0), np.ones(3, np.float32))
    written = lower_jaxpr(jaxpr, barriers_as_calls=True).text

    assert "optimization_barrier" not in written
    assert written.count("func.func private @_barrier") == 3
    assert written.count("func.call @_barrier") == 3


def test_calls_of_the_identity_compute_the_same_in_loops_and_branches():
    def fun(x):
        def body(c, _):
            a, b = lax.optimization_barrier((c * 1.1, c + 2.0))
            chosen = lax.cond(a > b, lambda: lax.optimization_barrier(a), lambda: b * 0.5)
            return chosen, a

        return lax.scan(body, x, None, length=4)

    x = np.float32(1.5)
    jaxpr = make_jaxpr(fun)(x)
    avals = [(a.shape, a.dtype) for a in jaxpr.out_avals]
    with config.override(backend="xla"):
        buffers = [as_concrete(x).buffer]
    results = []
    for as_calls in (False, True):
        text = lower_jaxpr(jaxpr, barriers_as_calls=as_calls).text
        program = compile_program(text, [((), np.dtype(np.float32))], avals)
        results.append([backends.get("xla").to_host(b) for b in program.run(buffers)])

    for plain, called in zip(*results, strict=True):
        np.testing.assert_allclose(called, plain, rtol=1e-6)
