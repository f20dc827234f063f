"""Derivatives of `dot_general`: adjoint to the jvp, of the operands' dtypes, fused over axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import grad, jvp, vjp
from axonym_autodiff.rule_tables import Linear, Reading, transpose_rules
from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.primitives.contractions import dot_general_p
from axonym_core.primitives.reductions import reduce_sum_p
from axonym_core.programs import axes_used
from axonym_core.settings import config
from axonym_core.types import type_of

CASES = [
    ((3, 4), (4, 5), (((1,), (0,)), ((), ()))),
    ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
    ((4, 3, 2, 6), (6, 2, 5, 4), (((0, 3), (3, 0)), ((2,), (1,)))),
    ((3,), (3,), (((0,), (0,)), ((), ()))),
    ((3,), (2,), (((), ()), ((), ()))),
    ((5, 2, 3), (2, 5, 4), (((1,), (0,)), ((0,), (1,)))),
    ((2, 3, 4), (4, 3, 2), (((2, 0), (0, 2)), ((1,), (1,)))),
    ((2, 0), (0, 3), (((1,), (0,)), ((), ()))),
]


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


@pytest.mark.parametrize(("lhs_shape", "rhs_shape", "numbers"), CASES)
def test_products_are_bilinear_and_their_transposes_adjoint(
    lhs_shape: Any, rhs_shape: Any, numbers: Any
) -> None:
    rng = np.random.default_rng(0)
    lhs, t_lhs = rng.normal(size=(2, *lhs_shape))
    rhs, t_rhs = rng.normal(size=(2, *rhs_shape))

    def f(a: Any, b: Any) -> Any:
        return lax.dot_general(a, b, numbers)

    out, tangent = jvp(f, (lhs, rhs), (t_lhs, t_rhs))
    np.testing.assert_allclose(
        np.asarray(tangent), np.asarray(f(t_lhs, rhs)) + np.asarray(f(lhs, t_rhs)), rtol=1e-12
    )
    ct = rng.normal(size=out.shape)
    ct_lhs, ct_rhs = vjp(f, lhs, rhs)[1](ct)
    assert (ct_lhs.shape, ct_rhs.shape) == (lhs_shape, rhs_shape)
    np.testing.assert_allclose(
        np.sum(np.asarray(ct_lhs) * t_lhs) + np.sum(np.asarray(ct_rhs) * t_rhs),
        np.sum(np.asarray(tangent) * ct),
        rtol=1e-10,
    )


def test_the_gradient_of_a_weight_needs_no_transposition() -> None:
    x, w = np.ones((7, 3), np.float32), np.ones((3, 5), np.float32)
    jaxpr = make_jaxpr(lambda v: vjp(lambda u: lax.dot(x, u), w)[1](v)[0])(
        np.ones((7, 5), np.float32)
    )
    (last,) = [e for e in jaxpr.eqns if e.outvars[0] in jaxpr.outvars]
    assert last.primitive.name == "dot_general"


@pytest.mark.parametrize(
    ("dtype", "preferred"),
    [(np.float16, np.float32), (np.float32, np.float16), (np.float32, np.float64)],
)
def test_gradients_have_the_dtype_of_the_operands(dtype: Any, preferred: Any) -> None:
    a, b = np.array([1.0, 2.0], dtype), np.array([3.0, 4.0], dtype)

    def dot(x: Any, y: Any) -> Any:
        return lax.dot(x, y, preferred_element_type=preferred)

    assert dot(a, b).dtype == preferred
    ga, gb = grad(dot, (0, 1))(a, b)
    assert (ga.dtype, gb.dtype) == (dtype, dtype)
    assert (ga.tolist(), gb.tolist()) == ([3.0, 4.0], [1.0, 2.0])


# Rules by themselves, on values that vary over axis `i`.

AXIS = [("i", 6)]
COLLECTIVE, ELEMENTWISE = Reading(frozenset("i")), Reading()


def varying(shape: tuple[int, ...], *names: str) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(shape, np.float64, named_shape=dict.fromkeys(names, 6))


def linear(shape: tuple[int, ...], *names: str) -> Linear:
    return Linear(type_of(varying(shape, *names)))


def transposed(reading: Reading, ct: Any, y: Any, w: Linear, names: tuple[str, ...]) -> Any:
    """The program that gives the cotangent of the weight of `y @ w`, summed over `names`."""
    rule = transpose_rules[dot_general_p]

    def run(ct_value: Any, y_value: Any) -> Any:
        return rule(
            reading,
            ct_value,
            y_value,
            w,
            dimension_numbers=(((1,), (0,)), ((), ())),
            precision=None,
            preferred_element_type=None,
            axis_names=names,
        )[1]

    return make_jaxpr(run, axis_env=AXIS)(ct, y)


def names_used(jaxpr: Any) -> list[tuple[str, tuple[str, ...]]]:
    used = [(e.primitive.name, tuple(axes_used(e.primitive, e.params))) for e in jaxpr.eqns]
    return [(name, axes) for name, axes in used if axes]


def test_a_weight_that_does_not_vary_has_its_cotangent_summed_in_the_product() -> None:
    w = linear((3, 5))
    program = transposed(COLLECTIVE, varying((2, 5), "i"), varying((2, 3), "i"), w, ())
    assert names_used(program) == [("dot_general", ("i",))]
    assert str(program.out_avals[0]) == "f64[3,5]"
    assert all("i" not in v.aval.names for e in program.eqns for v in e.outvars)


def test_read_elementwise_each_index_has_its_own_cotangent() -> None:
    program = transposed(
        ELEMENTWISE, varying((2, 5), "i"), varying((2, 3), "i"), linear((3, 5)), ()
    )
    assert names_used(program) == []
    assert str(program.out_avals[0]) == "f64[3,5;i:6]"


@pytest.mark.parametrize("varies", [(), ("i",)])
def test_a_sum_over_an_axis_is_one_value_or_many(varies: tuple[str, ...]) -> None:
    w, y = linear((3, 5), *varies), varying((2, 3), "i")
    # Collectively the sum is one value with one cotangent.
    program = transposed(COLLECTIVE, varying((2, 5)), y, w, ("i",))
    assert names_used(program) == ([] if varies else [("dot_general", ("i",))])
    # Element-wise each index has a copy of the sum, and all copies depend on this operand.
    program = transposed(ELEMENTWISE, varying((2, 5), "i"), y, w, ("i",))
    assert names_used(program) == [("psum", ("i",))]


@pytest.mark.parametrize("varies", [(), ("i",)])
def test_a_named_sum_counts_a_value_that_does_not_vary_once_per_index(
    varies: tuple[str, ...],
) -> None:
    rule, x = transpose_rules[reduce_sum_p], linear((3,), *varies)

    def run(reading: Reading, ct: Any) -> Any:
        jaxpr = make_jaxpr(
            lambda v: rule(reading, v, x, axes=(0,), axis_names=("i",))[0], axis_env=AXIS
        )(ct)
        return names_used(jaxpr), str(jaxpr.out_avals[0])

    collectively = [] if varies else [("psum", ("i",))]
    assert run(COLLECTIVE, varying(())) == (collectively, "f64[3]")
    assert run(ELEMENTWISE, varying((), "i")) == ([("psum", ("i",))], "f64[3]")


def test_the_total_gradient_of_a_dot_holds_nothing_per_index_of_the_weights_size() -> None:
    def loss(w: Any, x: Any) -> Any:
        return lax.reduce_sum(lax.sin(lax.dot(x, w)), (0,))

    w, x = ShapeDtypeStruct((3, 5), np.float64), varying((3,), "i")
    total = make_jaxpr(grad(loss, reduce_axes=("i",)), axis_env=AXIS)(w, x)
    each = make_jaxpr(grad(loss), axis_env=AXIS)(w, x)
    assert str(total.out_avals[0]) == "f64[3,5]"
    assert str(each.out_avals[0]) == "f64[3,5;i:6]"
    large = [v.aval for e in total.eqns for v in e.outvars if v.aval.shape == (3, 5)]
    assert all(not aval.names for aval in large)
