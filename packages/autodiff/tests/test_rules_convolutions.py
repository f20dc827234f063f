"""Derivatives of convolutions: both transposes are adjoint, whatever the strides and groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_autodiff import grad, jvp, vjp
from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.programs import axes_used
from axonym_core.settings import config


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def check(lhs_shape: Any, rhs_shape: Any, *args: Any, **kwargs: Any) -> None:
    rng = np.random.default_rng(0)
    lhs, t_lhs = rng.normal(size=(2, *lhs_shape))
    rhs, t_rhs = rng.normal(size=(2, *rhs_shape))

    def f(x: Any, k: Any) -> Any:
        return lax.conv_general_dilated(x, k, *args, **kwargs)

    out, tangent = jvp(f, (lhs, rhs), (t_lhs, t_rhs))
    np.testing.assert_allclose(
        np.asarray(tangent),
        np.asarray(f(t_lhs, rhs)) + np.asarray(f(lhs, t_rhs)),
        rtol=1e-10,
        atol=1e-12,
    )
    ct = rng.normal(size=out.shape)
    ct_lhs, ct_rhs = vjp(f, lhs, rhs)[1](ct)
    assert (ct_lhs.shape, ct_rhs.shape) == (lhs.shape, rhs.shape)
    np.testing.assert_allclose(
        np.sum(np.asarray(ct_lhs) * t_lhs), np.sum(np.asarray(f(t_lhs, rhs)) * ct), atol=1e-10
    )
    np.testing.assert_allclose(
        np.sum(np.asarray(ct_rhs) * t_rhs), np.sum(np.asarray(f(lhs, t_rhs)) * ct), atol=1e-10
    )


@given(st.data())
@settings(max_examples=50)
def test_transposes_are_adjoint(data: st.DataObject) -> None:
    small = st.integers(1, 3)
    rank = data.draw(st.integers(0, 2))
    groups = data.draw(st.integers(1, 3))
    which = data.draw(st.sampled_from(["feature", "batch"]))
    feature_groups, batch_groups = (groups, 1) if which == "feature" else (1, groups)
    n, c, o = (data.draw(small) for _ in range(3))
    sizes = [data.draw(st.integers(0, 5)) for _ in range(rank)]
    window = [data.draw(small) for _ in range(rank)]
    strides, ld, rd = ([data.draw(small) for _ in range(rank)] for _ in range(3))
    padding = [(data.draw(st.integers(-2, 3)), data.draw(st.integers(-2, 3))) for _ in range(rank)]
    with config.override(backend="numpy"):
        check(
            (n * batch_groups, c * feature_groups, *sizes),
            (o * groups, c, *window),
            strides,
            padding,
            ld,
            rd,
            feature_group_count=feature_groups,
            batch_group_count=batch_groups,
        )


@pytest.mark.parametrize(
    "numbers", [("NHWC", "HWIO", "NHWC"), ("CHWN", "IHWO", "WNCH"), ("NCHW", "OIHW", "NHWC")]
)
@pytest.mark.parametrize("groups", [{}, {"feature_group_count": 2}, {"batch_group_count": 2}])
def test_transposes_follow_the_dimension_numbers(numbers: Any, groups: Any) -> None:
    sizes = {"N": 2, "C": 4, "H": 5, "W": 6}
    kernel = {"O": 6, "I": 4 // groups.get("feature_group_count", 1), "H": 3, "W": 2}
    check(
        [sizes[d] for d in numbers[0]],
        [kernel[d] for d in numbers[1]],
        (2, 1),
        "SAME",
        dimension_numbers=numbers,
        **groups,
    )


@pytest.mark.parametrize(
    ("dtype", "preferred"), [(np.float16, np.float32), (np.float32, np.float16)]
)
def test_gradients_have_the_dtype_of_the_operands(dtype: Any, preferred: Any) -> None:
    x, k = np.ones((1, 1, 4), dtype), np.ones((1, 1, 2), dtype)

    def total(a: Any, b: Any) -> Any:
        out = lax.conv(a, b, (1,), "VALID", preferred_element_type=preferred)
        return lax.reduce_sum(out, (0, 1, 2))

    gx, gk = grad(total, (0, 1))(x, k)
    assert (gx.dtype, gk.dtype) == (dtype, dtype)
    assert (gx.tolist(), gk.tolist()) == ([[[1.0, 2.0, 2.0, 1.0]]], [[[3.0, 3.0]]])


def test_the_total_gradient_of_a_kernel_is_one_convolution() -> None:
    def loss(k: Any, x: Any) -> Any:
        out = lax.conv(x, k, (1, 1), "SAME")
        return lax.reduce_sum(lax.mul(out, out), (0, 1, 2, 3))

    k = ShapeDtypeStruct((4, 3, 3, 3), np.float32)
    x = ShapeDtypeStruct((1, 3, 8, 8), np.float32, named_shape={"i": 6})
    total = make_jaxpr(grad(loss, reduce_axes=("i",)), axis_env=[("i", 6)])(k, x)
    assert str(total.out_avals[0]) == "f32[4,3,3,3]"
    (last,) = [e for e in total.eqns if axes_used(e.primitive, e.params)]
    assert last.primitive.name == "conv_general_dilated"
    assert all("i" not in v.aval.names for v in last.outvars)
