"""`jvp` and `linearize`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axonym_autodiff import NotDifferentiableError, grad, jvp, linearize
from axonym_autodiff.testing import check_grads
from axonym_core import lax
from axonym_core.errors import ShapeError, TreeStructureError
from axonym_core.types import dtypes


def f(x: Any, y: Any) -> Any:
    return {"p": x * y, "s": lax.sin(x)}


def test_value_and_tangent_have_the_tree_of_the_result() -> None:
    value, tangent = jvp(f, (2.0, 3.0), (1.0, 10.0))
    assert float(value["p"]) == 6.0
    assert float(tangent["p"]) == 23.0
    np.testing.assert_allclose(float(tangent["s"]), np.cos(2.0), rtol=1e-6)


def test_linearize_computes_the_primal_part_once_and_maps_tangents_linearly() -> None:
    calls = []

    def g(x: Any) -> Any:
        calls.append(1)
        return lax.exp(x) * x

    x = np.array([0.5, 1.0])
    value, linear = linearize(g, x)
    np.testing.assert_allclose(value, np.exp(x) * x)
    for t in np.eye(2):
        np.testing.assert_allclose(linear(t), np.exp(x) * (1 + x) * t)
    assert len(calls) == 1


def test_auxiliary_output() -> None:
    g = lambda x: (x * x, x + 1.0)  # noqa: E731
    assert [float(v) for v in jvp(g, (3.0,), (1.0,), has_aux=True)] == [9.0, 6.0, 4.0]
    value, linear, aux = linearize(g, 3.0, has_aux=True)
    assert (float(value), float(linear(1.0)), float(aux)) == (9.0, 6.0, 4.0)


def test_tangents_of_integers_are_float0() -> None:
    zero = np.zeros((), dtypes.float0)
    value, tangent = jvp(
        lambda x, n: x * lax.convert_element_type(n, "float32"), (3.0, 4), (1.0, zero)
    )
    assert (float(value), float(tangent)) == (12.0, 4.0)
    _, tangent = jvp(lambda n: n, (4,), (zero,))
    assert tangent.dtype == dtypes.float0


def test_nested_forward_modes_do_not_mix_their_tangents() -> None:
    # d/dx (x * d/dy (x + y)) = 1: the inner derivative must not see the outer tangent.
    inner = lambda x: jvp(lambda y: x + y, (1.0,), (1.0,))[1]  # noqa: E731
    assert float(jvp(lambda x: x * inner(x), (5.0,), (1.0,))[1]) == 1.0


def test_forward_over_reverse_and_reverse_over_forward_agree() -> None:
    g = lambda x: lax.sin(x) * x  # noqa: E731
    x = np.float64(0.7)
    a = jvp(grad(g), (x,), (np.float64(1),))[1]
    b = grad(lambda y: jvp(g, (y,), (np.float64(1),))[1])(x)
    np.testing.assert_allclose([a, b], 2 * np.cos(0.7) - 0.7 * np.sin(0.7))


def test_checker_on_a_composition() -> None:
    check_grads(lambda x, y: lax.tanh(x) * lax.exp(-y) / (1.0 + x * x), (np.ones(3), np.ones(3)), 2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: jvp(lambda x: x, 1.0, 1.0), TypeError, "primals must be a tuple"),
        (lambda: jvp(lambda x: x, (1.0,), 1.0), TypeError, "tangents must be a tuple"),
        (lambda: jvp(lambda x: x, (1.0,), (1.0, 2.0)), TreeStructureError, "differ in structure"),
        (lambda: jvp(lambda x: x, (np.ones(2),), (np.ones(3),)), ShapeError, r"tangents\[0\]"),
        (
            lambda: jvp(lambda x: x, (np.ones(2),), (np.ones(2, np.float32),)),
            NotDifferentiableError,
            "astype",
        ),
        (lambda: jvp(lambda x: x, (3,), (1,)), NotDifferentiableError, "float0"),
        (lambda: linearize(lambda x: x, 1.0)[1](1.0, 2.0), TreeStructureError, "structure"),
        (lambda: linearize(lambda x: x, 1.0)[1](np.ones(2)), ShapeError, "shape"),
    ],
)
def test_bad_input_is_refused_with_the_mend(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()
