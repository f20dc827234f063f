"""`jit`: results, keys, static and donated arguments, calls under transformations, stages."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from axonym_compile import (
    ArgumentError,
    CompiledFunctionCache,
    StaticArgumentError,
    jit,
    library_jit,
)
from axonym_core import Array, ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.arrays import as_concrete
from axonym_core.errors import ShapeError, TreeStructureError
from axonym_core.trees import register_pytree_node_class


def counting(fun: Any, **options: Any) -> tuple[Any, list[int]]:
    """A compiled function in a cache of its own, and the list that grows when it is traced."""
    traces: list[int] = []

    def counted(*args: Any, **kwargs: Any) -> Any:
        traces.append(1)
        return fun(*args, **kwargs)

    return jit(counted, cache=CompiledFunctionCache(64), **options), traces


def test_result_equals_that_of_the_function_on_trees() -> None:
    f = jit(lambda tree, y: {"sum": tree["a"] + y, "rest": (tree["b"], 2.0)})
    out = f({"a": np.arange(3), "b": None}, y=np.int64(4))
    assert out["sum"].tolist() == [4, 5, 6]
    assert out["rest"][0] is None
    assert float(out["rest"][1]) == 2.0


def test_equal_types_are_traced_once_and_others_anew() -> None:
    f, traces = counting(lambda x: x + x)
    x = as_concrete(np.ones(3, np.float32))
    f(x)
    f(x)
    f(np.zeros(3, np.float32))
    assert len(traces) == 1
    f(np.zeros(4, np.float32))
    f(np.zeros(3, np.float64))
    assert len(traces) == 3


def test_wrapping_the_same_function_again_shares_the_programs() -> None:
    traces = []

    def fun(x: Any) -> Any:
        traces.append(1)
        return x * x

    cache = CompiledFunctionCache(4)
    jit(fun, cache=cache)(3.0)
    jit(fun, cache=cache)(4.0)
    assert len(traces) == 1
    assert cache.statistics().hits == 1


def test_python_scalars_are_weak_and_arrays_are_not() -> None:
    f = jit(lambda x: x + np.ones((), np.float16))
    assert f(1.0).dtype == np.float16
    assert f(np.float32(1)).dtype == np.float32


def test_numpy_float64_scalars_are_weak_as_in_operators_and_arrays_are_not() -> None:
    f = lambda x, y: x * y  # noqa: E731
    x = np.ones(2, np.float32)
    for scalar in (np.float64(2), 2.0):
        assert jit(f)(x, scalar).dtype == f(as_concrete(x), scalar).dtype == np.float32
    assert jit(f)(x, np.array(2.0)).dtype == np.float64
    assert jit(f)(x, np.complex128(2j)).dtype == np.complex64


def test_explicit_64_bit_values_stay_64_bit() -> None:
    f = jit(lambda x: x + 1)
    assert f(np.int64(2**40)).dtype == np.int64
    assert int(f(np.int64(2**40))) == 2**40 + 1


@pytest.mark.parametrize("value", [1, True, 1.0, 0.0, -0.0])
def test_static_arguments_that_are_equal_but_differ_have_their_own_programs(value: Any) -> None:
    def fun(x: Any, c: Any) -> Any:
        return lax.full((), np.float64(np.copysign(1.0, c))), type(c).__name__ == "bool"

    def plain(x: Any, c: Any) -> Any:
        sign, is_bool = fun(x, c)
        return sign, np.bool_(is_bool)

    f = jit(plain, static_argnums=1)
    for other in (1, True, 1.0, 0.0, -0.0):
        f(2.0, other)
    sign, is_bool = f(2.0, value)
    assert float(sign) == np.copysign(1.0, value)
    assert bool(is_bool) == (type(value) is bool)


def test_static_arguments_by_name_and_position_complete_each_other() -> None:
    g = jit(lambda x, n=2: [x] * n, static_argnames="n")
    assert len(g(1.0, 3)) == 3
    assert len(g(1.0, n=4)) == 4
    h = jit(lambda x, n: [x] * n, static_argnums=-1)
    assert len(h(1.0, 2)) == 2
    assert len(h(1.0, n=2)) == 2


def test_unhashable_static_argument_names_the_argument_and_the_mend() -> None:
    f = jit(lambda x, shape: lax.full(shape, x), static_argnames="shape")
    with pytest.raises(
        StaticArgumentError, match=r"static argument 'shape'.*tuple instead of a list"
    ):
        f(1.0, shape=[2, 3])


def test_static_argument_that_does_not_exist_is_refused_when_decorating() -> None:
    with pytest.raises(StaticArgumentError, match="static_argnames has 'm'"):
        jit(lambda x, n: x, static_argnames="m")
    with pytest.raises(StaticArgumentError, match="static_argnums has 5"):
        jit(lambda x, n: x, static_argnums=5)
    with pytest.raises(StaticArgumentError, match="must be integers"):
        jit(lambda x, n: x, static_argnums="n")  # type: ignore[arg-type]


def test_argument_that_is_no_array_is_named() -> None:
    f = jit(lambda params, mode: params)
    with pytest.raises(ArgumentError, match=r"mode is a str \('train'\).*static_argnames"):
        f({"w": 1.0}, "train")
    with pytest.raises(ArgumentError, match=r"params\['w'\] is a object"):
        f({"w": object()}, 1.0)


def test_result_that_is_no_array_is_named() -> None:
    with pytest.raises(TypeError, match=r"returned a str at result\['b'\]"):
        jit(lambda x: {"a": x, "b": "text"})(1.0)


def test_traced_value_in_python_control_flow_is_refused_with_the_argument() -> None:
    def choose(x: Any, y: Any) -> Any:
        return x if y > 0 else -x

    with pytest.raises(TypeError, match=r"argument y of choose.*lax.cond") as caught:
        jit(choose)(1.0, 2.0)
    assert "argument x" not in str(caught.value)


def test_nested_call_is_one_equation_with_the_same_jaxpr_each_time() -> None:
    layer = jit(lambda x: lax.sin(x))
    jaxpr = make_jaxpr(lambda x: layer(layer(x)))(np.float32(1))
    assert [e.primitive.name for e in jaxpr.eqns] == ["jit", "jit"]
    assert jaxpr.eqns[0].params["jaxpr"] is not None
    assert jaxpr.eqns[0].params["jaxpr"] is jaxpr.eqns[1].params["jaxpr"]


def test_inline_splices_the_equations() -> None:
    layer = jit(lambda x: lax.sin(x), inline=True)
    jaxpr = make_jaxpr(lambda x: layer(layer(x)))(np.float32(1))
    assert [e.primitive.name for e in jaxpr.eqns] == ["sin", "sin"]
    assert library_jit(lambda x: x)(1.0) is not None


def test_closure_over_a_traced_value_becomes_an_operand() -> None:
    def outer(x: Any, y: Any) -> Any:
        return jit(lambda z: z * x)(y)

    assert float(jit(outer)(3.0, 4.0)) == 12.0
    assert float(jit(outer)(5.0, 4.0)) == 20.0


def test_methods_can_be_compiled() -> None:
    @register_pytree_node_class
    class Line:
        def __init__(self, slope: Any) -> None:
            self.slope = slope

        def tree_flatten(self) -> tuple[tuple[Any], None]:
            return (self.slope,), None

        @classmethod
        def tree_unflatten(cls, aux: None, children: tuple[Any]) -> Line:
            return cls(*children)

        @jit
        def at(self, x: Any) -> Any:
            return self.slope * x

    assert float(Line(2.0).at(3.0)) == 6.0


def test_exception_in_tracing_leaves_no_program_and_no_open_trace() -> None:
    attempts = []

    def fun(x: Any) -> Any:
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("first attempt")
        return x

    f = jit(fun, cache=CompiledFunctionCache(4))
    with pytest.raises(ValueError, match="first attempt"):
        f(1.0)
    assert float(f(1.0)) == 1.0
    assert float(lax.add(1.0, 2.0)) == 3.0


def test_function_and_constants_are_freed_with_the_wrapper() -> None:
    def make() -> tuple[Any, tuple[Any, Any]]:
        constant = as_concrete(np.ones(1000))

        def fun(x: Any) -> Any:
            return x + constant

        return jit(fun), (weakref.ref(fun), weakref.ref(constant))

    f, alive = make()
    f(np.ones(1000))
    assert all(r() is not None for r in alive)
    del f
    gc.collect()
    assert [r() for r in alive] == [None, None]


def test_capacity_bounds_the_programs_of_all_functions() -> None:
    cache = CompiledFunctionCache(3)
    f, g = (jit(fun, cache=cache) for fun in (lambda x: x + 1, lambda x: x * 2))
    for n in range(5):
        f(np.ones(n))
        g(np.ones(n))
    assert cache.size == 3


def test_explain_names_what_differs() -> None:
    f = jit(lambda x: x, cache=CompiledFunctionCache(8))
    f(np.ones(3, np.float32))
    assert "f32[4]" in str(f.explain(np.ones(4, np.float32)))


def test_stages_give_text_and_an_executable_that_checks_its_arguments() -> None:
    f = jit(lambda x, n: x * n, static_argnames="n")
    lowered = f.lower(ShapeDtypeStruct((2,), "float32"), n=3)
    assert lowered.as_text()
    compiled = lowered.compile()
    assert compiled(np.ones(2, np.float32)).tolist() == [3.0, 3.0]
    with pytest.raises(ShapeError, match=r"argument 0|x of type f32\[2\]"):
        compiled(np.ones(3, np.float32))
    with pytest.raises(TreeStructureError, match="structure"):
        compiled(np.ones(2, np.float32), np.ones(2, np.float32))
    assert f.eval_shape(ShapeDtypeStruct((2,), "float32"), n=2) == ShapeDtypeStruct((2,), "float32")


def test_concurrent_first_calls_compile_once() -> None:
    f, traces = counting(lambda x: x + 1)
    x = as_concrete(np.ones(3))
    results: list[Array] = []
    threads = [threading.Thread(target=lambda: results.append(f(x))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(traces) == 1
    assert [r.tolist() for r in results] == [[2.0] * 3] * 8


def test_donation_by_position_and_name_keeps_the_result_right() -> None:
    f = jit(lambda state, x: {"s": state["s"] + x}, donate_argnums=0)
    g = jit(lambda state, x: {"s": state["s"] + x}, donate_argnames="state")
    for h in (f, g):
        state = {"s": as_concrete(np.ones(3, np.float32))}
        for _ in range(3):
            state = h(state, np.float32(2))
        assert state["s"].tolist() == [7.0] * 3


def test_decorator_form_without_a_function() -> None:
    @jit(static_argnames="n")
    def power(x: Any, n: int) -> Any:
        """Doc."""
        return x**n

    assert float(power(2.0, n=3)) == 8.0
    assert power.__doc__ == "Doc."
    with pytest.raises(TypeError, match="fun must be a function"):
        jit(3)  # type: ignore[call-overload]
