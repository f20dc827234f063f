"""Loops, branches, calls and collectives over a mapped axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axonym_core import lax, make_jaxpr
from axonym_core.primitives.calls import custom_jvp_call_p, custom_vjp_call_p, jit_p
from axonym_core.tracing import trace_tree
from axonym_core.trees import tree_flatten, tree_unflatten
from axonym_core.types import aval_of
from axonym_mapping import vmap

SIZES = (1, 2, 3, 5)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("called", [True, False])
def test_collectives_of_mapped_and_shared_values(size: int, called: bool) -> None:
    x = np.random.default_rng(size).standard_normal((size, 4))

    def f(x: Any, w: Any) -> Any:
        both = {"x": x, "w": w}
        sums, means = lax.psum(both, "i"), lax.pmean(both, "i")
        return sums, means, lax.pmax(both, "i"), lax.pmin(both, "i"), lax.axis_index("i")

    function = (lambda x, w: _call(f, x, w)) if called else f
    mapped = vmap(function, (0, None), (None, None, None, None, 0), axis_name="i")
    sums, means, highest, lowest, index = mapped(x, np.float64(2))
    np.testing.assert_allclose(sums["x"], x.sum(0))
    np.testing.assert_allclose(means["x"], x.mean(0))
    np.testing.assert_allclose(highest["x"], x.max(0))
    np.testing.assert_allclose(lowest["x"], x.min(0))
    assert (float(sums["w"]), float(means["w"])) == (2.0 * size, 2.0)
    assert (float(highest["w"]), float(lowest["w"])) == (2.0, 2.0)
    assert index.tolist() == list(range(size))


def _call(f: Any, *args: Any) -> Any:
    """A staged call, as `jit` makes it."""
    leaves, tree = tree_flatten((args, {}))
    traced = trace_tree(f, tree, [aval_of(x) for x in leaves])
    outs = jit_p.bind(*traced.jaxpr.consts, *leaves, jaxpr=traced.jaxpr.lifted(), name="f")
    return tree_unflatten(traced.out_tree, outs)


def test_two_axes_are_summed_in_one_or_in_turn() -> None:
    x = np.arange(6.0).reshape(2, 3)
    for axes, want in ((("i", "j"), x.sum()), (("j", "i"), x.sum())):
        f = vmap(
            vmap(lambda x, axes=axes: lax.psum(x, axes), out_axes=None, axis_name="j"),
            out_axes=None,
            axis_name="i",
        )
        assert float(f(x)) == want
    partial = vmap(vmap(lambda x: lax.psum(x, "i"), axis_name="j"), out_axes=None, axis_name="i")
    np.testing.assert_array_equal(partial(x), x.sum(0))


def test_index_over_two_axes_is_row_major() -> None:
    f = vmap(vmap(lambda x: lax.axis_index(("i", "j")), axis_name="j"), axis_name="i")
    assert f(np.zeros((2, 3))).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_psum_of_a_python_number_is_a_python_number() -> None:
    sizes = []
    vmap(lambda x: [sizes.append(lax.psum(1, "i")), x][1], axis_name="i")(np.zeros(5))
    assert sizes == [5]
    assert type(sizes[0]) is int


def test_psum_counts_booleans() -> None:
    x = np.array([True, False, True])
    assert int(vmap(lambda b: lax.psum(b, "i"), out_axes=None, axis_name="i")(x)) == 2


def scan_by_hand(f: Any, c: Any, xs: Any) -> Any:
    ys = []
    for x in xs:
        c, y = f(c, x)
        ys.append(np.asarray(y))
    return np.asarray(c), np.stack(ys)


@pytest.mark.parametrize("c_mapped", [True, False])
@pytest.mark.parametrize("x_mapped", [True, False])
@pytest.mark.parametrize("w_mapped", [True, False])
@pytest.mark.parametrize("axis_name", [None, "i"])
def test_scan_equals_the_loop_at_each_index(
    c_mapped: bool, x_mapped: bool, w_mapped: bool, axis_name: Any
) -> None:
    random = np.random.default_rng(0)
    c, xs, w = (
        random.standard_normal((3, 4)),
        random.standard_normal((3, 5, 4)),
        random.standard_normal((3, 4)),
    )
    body = lambda w: lambda c, x: (lax.tanh(c * w + x), c * w)  # noqa: E731
    dims = (0 if c_mapped else None, 0 if x_mapped else None, 0 if w_mapped else None)
    args = [
        a if m else a[0] for a, m in zip((c, xs, w), (c_mapped, x_mapped, w_mapped), strict=True)
    ]
    if not any((c_mapped, x_mapped, w_mapped)):
        return
    out, ys = vmap(lambda c, xs, w: lax.scan(body(w), c, xs), dims, axis_name=axis_name)(*args)
    for i in range(3):
        pick = [a[i] if m else a for a, m in zip(args, (c_mapped, x_mapped, w_mapped), strict=True)]
        want, want_ys = scan_by_hand(body(pick[2]), pick[0], pick[1])
        np.testing.assert_allclose(out[i], want)
        np.testing.assert_allclose(ys[i], want_ys)


def test_scan_with_a_collective_in_its_body_has_an_unmapped_carry() -> None:
    x = np.array([1.0, 10.0, 100.0])
    f = lambda x: lax.scan(lambda c, _: (c + lax.psum(x, "i"), c), 0.0, None, length=2)  # noqa: E731
    total, history = vmap(f, out_axes=None, axis_name="i")(x)
    assert float(total) == 222.0
    assert history.tolist() == [0.0, 111.0]


def test_while_runs_every_index_its_own_number_of_steps() -> None:
    x = np.array([2.0, 3.0, 50.0, 1000.0], np.float32)
    f = lambda x: lax.while_loop(lambda s: s < 100.0, lambda s: s * x, x)  # noqa: E731
    assert vmap(f)(x).tolist() == [128.0, 243.0, 2500.0, 1000.0]
    assert vmap(f, axis_name="i")(x).tolist() == [128.0, 243.0, 2500.0, 1000.0]


def test_while_with_an_unmapped_condition_stays_a_plain_loop() -> None:
    f = lambda x, n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2.0), (0, x))[1]  # noqa: E731
    x = np.array([1.0, 3.0])
    assert vmap(f, (0, None))(x, 4).tolist() == [16.0, 48.0]
    jaxpr = make_jaxpr(vmap(f, (0, None)))(x, 4)
    (loop,) = [e for e in jaxpr.eqns if e.primitive.name == "while"]
    assert loop.params["cond_jaxpr"].out_avals[0].shape == ()
    assert not any(e.primitive.name == "select_n" for e in loop.params["body_jaxpr"].eqns)


def test_while_whose_condition_is_a_collective() -> None:
    f = lambda x: lax.while_loop(lambda s: lax.psum(s, "i") < 100.0, lambda s: s * 2.0, x)  # noqa: E731
    out = vmap(f, axis_name="i")(np.array([1.0, 3.0]))
    assert out.tolist() == [32.0, 96.0]


@pytest.mark.parametrize("axis_name", [None, "i"])
def test_cond_with_mapped_and_unmapped_condition(axis_name: Any) -> None:
    f = lambda p, x, y: lax.cond(p, lambda x: (x, y * 2), lambda x: (-x, y), x)  # noqa: E731
    x, p = np.arange(3.0), np.array([True, False, True])
    a, b = vmap(f, (0, 0, None), axis_name=axis_name)(p, x, 5)
    assert a.tolist() == [0.0, -1.0, 2.0]
    assert b.tolist() == [10, 5, 10]
    a, b = vmap(f, (None, 0, None), (0, None), axis_name=axis_name)(True, x, 5)
    assert a.tolist() == [0.0, 1.0, 2.0]
    assert int(b) == 10


def test_switch_over_three_branches_with_mapped_index() -> None:
    f = lambda i, x: lax.switch(i, [lambda x: x, lambda x: x * 10, lambda x: 0 * x], x)  # noqa: E731
    assert vmap(f)(np.array([2, 0, 1, 9]), np.array([1.0, 2.0, 3.0, 4.0])).tolist() == [0, 2, 30, 0]


def test_custom_calls_keep_their_rules_and_shared_results() -> None:
    call = lambda x, w: [x * w, w + 1.0]  # noqa: E731
    jvp = lambda consts, primals, tangents: (call(*primals), tangents)  # noqa: E731
    f = lambda x, w: tuple(custom_jvp_call_p.bind(x, w, call=call, jvp=jvp, num_consts=0))  # noqa: E731
    x = np.arange(3.0)
    out, shared = vmap(f, (0, None), (0, None), axis_name="i")(x, np.array(2.0))
    assert out.tolist() == [0.0, 2.0, 4.0]
    assert float(shared) == 3.0
    jaxpr = make_jaxpr(vmap(f, (0, None)))(x, np.array(2.0))
    assert [e.primitive.name for e in jaxpr.eqns] == ["custom_jvp_call"]


def test_backward_rule_over_a_map_sums_over_the_axis_for_shared_arguments() -> None:
    fwd = lambda consts, args: ([args[0] * args[1]], args)  # noqa: E731
    bwd = lambda res, cts: [cts[0] * res[1], cts[0] * res[0]]  # noqa: E731
    f = lambda x, w: custom_vjp_call_p.bind(  # noqa: E731
        x, w, call=lambda x, w: [x * w], fwd=fwd, bwd=bwd, num_consts=0
    )[0]
    jaxpr = make_jaxpr(vmap(f, (0, None)))(np.arange(3.0), np.float64(2))
    (eqn,) = jaxpr.eqns
    outs, residuals = eqn.params["fwd"]((), (np.arange(3.0), np.float64(2)))
    x_ct, w_ct = eqn.params["bwd"](residuals, [np.ones(3)])
    assert np.asarray(outs[0]).tolist() == [0.0, 2.0, 4.0]
    assert np.asarray(x_ct).tolist() == [2.0, 2.0, 2.0]
    assert float(w_ct) == 3.0


def test_same_program_over_the_same_axis_is_mapped_once() -> None:
    jaxpr = make_jaxpr(lambda x: lax.sin(x))(np.array(1.0))
    f = lambda x: jit_p.bind(jit_p.bind(x, jaxpr=jaxpr, name="f")[0], jaxpr=jaxpr, name="f")[0]  # noqa: E731
    staged = make_jaxpr(vmap(f))(np.ones(3))
    first, second = staged.eqns
    assert first.params["jaxpr"] is second.params["jaxpr"]
