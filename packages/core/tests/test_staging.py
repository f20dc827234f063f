"""Staging: what is recorded, constants, printing, checking, evaluating, leaks."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axonym_core import (
    Jaxpr,
    ShapedArray,
    ShapeDtypeStruct,
    check_jaxpr,
    eval_jaxpr,
    eval_shape,
    lax,
    make_jaxpr,
)
from axonym_core.arrays import as_concrete
from axonym_core.errors import (
    JaxprTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    TracerLeakError,
)
from axonym_core.primitives.collectives import psum_p
from axonym_core.programs import JaxprEqn, Primitive, Var
from axonym_core.tracing import clear_traces, trace_cached
from axonym_core.trees import tree_structure


def test_equations_are_recorded_in_order_and_printed() -> None:
    jaxpr = make_jaxpr(lambda x, y: (lax.sin(x) * y, 1.0))(np.ones(3), np.ones(3))
    assert str(jaxpr) == (
        "{ lambda ; a:f64[3] b:f64[3]. let\n"
        "    c:f64[3] = sin a\n"
        "    d:f64[3] = mul c b\n"
        "  in (d, 1.0:f32[]) }"
    )


@given(st.lists(st.sampled_from(["sin", "add", "mul", "neg"]), max_size=8), st.integers(0, 9))
def test_evaluating_a_jaxpr_equals_calling_the_function(ops: list[str], seed: int) -> None:
    x = np.random.default_rng(seed).standard_normal(4)

    def f(x: Any) -> Any:
        first = x
        for op in ops:
            x = (
                {"sin": lax.sin, "neg": lax.neg}[op](x)
                if op in ("sin", "neg")
                else getattr(lax, op)(x, first)
            )
        return x

    jaxpr = make_jaxpr(f)(x)
    check_jaxpr(jaxpr)
    np.testing.assert_array_equal(eval_jaxpr(jaxpr, x)[0], f(x))
    again = make_jaxpr(lambda x: eval_jaxpr(jaxpr, x)[0])(x)
    assert str(again) == str(jaxpr)


def test_arrays_closed_over_are_constants_and_kept_once() -> None:
    big = np.ones(3)
    array = as_concrete(np.arange(3.0))
    jaxpr = make_jaxpr(lambda x: x + big + array + big)(np.ones(3))
    assert len(jaxpr.consts) == 2
    lifted = jaxpr.lifted()
    assert lifted is jaxpr.lifted()
    np.testing.assert_array_equal(
        eval_jaxpr(lifted, *jaxpr.consts, np.ones(3))[0], eval_jaxpr(jaxpr, np.ones(3))[0]
    )


def test_changing_a_numpy_array_afterwards_does_not_change_the_program() -> None:
    big = np.ones(3)
    jaxpr = make_jaxpr(lambda x: x + big)(np.ones(3))
    big[:] = 100.0
    assert eval_jaxpr(jaxpr, np.ones(3))[0].tolist() == [2.0] * 3


def test_static_arguments_and_shapes_of_results() -> None:
    jaxpr, shape = make_jaxpr(lambda x, n: [x] * n, static_argnums=1, return_shape=True)(1.0, 3)
    assert len(jaxpr.outvars) == 3
    assert [s.shape for s in shape] == [()] * 3
    out = eval_shape(lambda t: {"y": t["x"] * 2}, {"x": ShapeDtypeStruct((2, 3), "float32")})
    assert out == {"y": ShapeDtypeStruct((2, 3), "float32")}


def test_named_axes_in_types_of_programs() -> None:
    x = ShapeDtypeStruct((3,), "float32", named_shape={"i": 4})
    w = ShapeDtypeStruct((3,), "float32")
    jaxpr = make_jaxpr(
        lambda x, w: (x * w, lax.psum(x, "i"), lax.psum(w, "i")), axis_env=[("i", 4)]
    )(x, w)
    assert [str(a) for a in jaxpr.out_avals] == ["f32[3;i:4]", "f32[3]", "f32[3]"]
    assert jaxpr.axes_used == {"i"}


def test_types_of_loops_settle_by_themselves() -> None:
    x = ShapeDtypeStruct((), "float32", named_shape={"i": 4})
    f = lambda x: lax.scan(lambda c, _: (c + x, c), 0, None, length=3)  # noqa: E731
    jaxpr = make_jaxpr(f, axis_env=[("i", 4)])(x)
    assert [str(a) for a in jaxpr.out_avals] == ["f32[;i:4]", "f32[3;i:4]"]
    check_jaxpr(jaxpr)
    g = lambda x: lax.cond(x > 0, lambda: x, lambda: 0)  # noqa: E731
    assert str(make_jaxpr(g, axis_env=[("i", 4)])(x).out_avals[0]) == "f32[;i:4]"
    h = lambda x: lax.while_loop(lambda s: s < x, lambda s: s + 1, 0.0)  # noqa: E731
    assert str(make_jaxpr(h, axis_env=[("i", 4)])(x).out_avals[0]) == "~f32[;i:4]"


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda x: 1.0 if x else 2.0, TracerBoolConversionError, "lax.cond"),
        (lambda x: float(x), TypeError, r"float\(\)"),
        (lambda x: np.sin(x), TypeError, "NumPy"),
        (lambda x: np.asarray(x), TracerArrayConversionError, "axonym.numpy"),
        (
            lambda x: range(lax.convert_element_type(x, "int32")),
            TracerIntegerConversionError,
            "static",
        ),
    ],
)
def test_numbers_that_are_not_there_yet(use: Any, error: type, message: str) -> None:
    def doubled(unused: Any, x: Any) -> Any:
        return use(x * 2.0)

    with pytest.raises(error, match=message) as caught:
        make_jaxpr(doubled)(1.0, 2.0)
    if error is not TypeError or "float" in message:
        assert "argument x of doubled" in str(caught.value)
        assert "test_staging.py" in str(caught.value)
    assert "unused" not in str(caught.value)


def test_leaked_value_is_refused_with_the_place_where_it_was_made() -> None:
    kept = []
    make_jaxpr(lambda x: [kept.append(x * 2.0), x][1])(1.0)
    with pytest.raises(TracerLeakError, match=r"test_staging.py:\d+.*Return it"):
        kept[0] + 1.0
    with pytest.raises(TracerLeakError, match="had returned"):
        make_jaxpr(lambda y: y + kept[0])(1.0)
    with pytest.raises(TracerLeakError, match="had returned"):
        bool(kept[0])


def test_value_used_in_another_thread_is_refused() -> None:
    errors: list[Exception] = []

    def work(x: Any) -> None:
        try:
            x + 1.0
        except TracerLeakError as error:
            errors.append(error)

    def f(x: Any) -> Any:
        thread = threading.Thread(target=work, args=(x,))
        thread.start()
        thread.join()
        return x

    make_jaxpr(f)(1.0)
    assert len(errors) == 1
    assert "another thread" in str(errors[0])


def test_inner_program_takes_outer_values_as_constants() -> None:
    def f(x: Any) -> Any:
        return lax.scan(lambda c, _: (c * x, None), 1.0, None, length=2)[0]

    jaxpr = make_jaxpr(f)(3.0)
    (loop,) = [e for e in jaxpr.eqns if e.primitive.name == "scan"]
    assert loop.params["num_consts"] == 1
    assert float(eval_jaxpr(jaxpr, 3.0)[0]) == 9.0


def test_checker_finds_planted_faults() -> None:
    a, b = Var(ShapedArray((), "float32")), Var(ShapedArray((), "float32"))
    wrong = Var(ShapedArray((2,), "float32"))
    sin = make_jaxpr(lax.sin)(np.float32(1)).eqns[0].primitive
    with pytest.raises(JaxprTypeError, match="before its definition"):
        check_jaxpr(Jaxpr([], [b], [JaxprEqn(sin, (a,), (b,), {})]))
    with pytest.raises(JaxprTypeError, match="defined twice"):
        check_jaxpr(Jaxpr([a], [a], [JaxprEqn(sin, (a,), (a,), {})]))
    with pytest.raises(JaxprTypeError, match="the shape rule says"):
        check_jaxpr(Jaxpr([a], [wrong], [JaxprEqn(sin, (a,), (wrong,), {})]))
    with pytest.raises(JaxprTypeError, match="as a result"):
        check_jaxpr(Jaxpr([a], [b], []))
    varies = Var(ShapedArray((), "float32", named_shape={"i": 2}))
    with pytest.raises(JaxprTypeError, match="the shape rule says"):
        check_jaxpr(
            Jaxpr(
                [varies],
                [varies],
                [JaxprEqn(psum_p, (varies,), (Var(varies.aval),), {"axes": ("i",)})],
            )
        )


def test_same_function_and_types_give_the_same_program_until_the_function_dies() -> None:
    def f(x: Any) -> Any:
        return x * 2

    tree = tree_structure(((0,), {}))
    avals = (ShapedArray((), "float32"),)
    first = trace_cached(f, tree, avals)
    assert trace_cached(f, tree, avals) is first
    assert trace_cached(f, tree, (ShapedArray((1,), "float32"),)) is not first
    alive = weakref.ref(first.jaxpr)
    del first, f
    gc.collect()
    assert alive() is None
    clear_traces()


def test_parameters_must_be_hashable() -> None:
    p = Primitive("test_unhashable", lambda x, *, sizes: x)
    with pytest.raises(JaxprTypeError, match=r"'sizes' of primitive test_unhashable.*tuples"):
        make_jaxpr(lambda x: p.bind(x, sizes=[1]))(1.0)


def test_a_leaked_argument_names_the_function_that_it_was_an_argument_of() -> None:
    leaked = []

    def keep(x: Any) -> Any:
        leaked.append(x)
        return x

    make_jaxpr(keep)(1.0)
    with pytest.raises(TracerLeakError, match=r"\(made in keep\)"):
        _ = leaked[0] + 1.0
