"""The checker of derivatives finds planted faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axonym_autodiff import custom_jvp, custom_vjp
from axonym_autodiff.testing import check_grads
from axonym_core import lax


def test_a_right_rule_passes() -> None:
    check_grads(
        lambda t: lax.sin(t["x"]) * t["y"], ({"x": np.ones(3), "y": 2.0 * np.ones(3)},), order=2
    )


def test_a_wrong_forward_rule_is_found() -> None:
    @custom_jvp
    def f(x: Any) -> Any:
        return lax.sin(x)

    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
    with pytest.raises(AssertionError, match="forward mode, order 1"):
        check_grads(f, (np.float64(0.3),))


def test_a_wrong_backward_rule_is_found() -> None:
    @custom_vjp
    def f(x: Any) -> Any:
        return lax.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * 1.01 * lax.cos(x),))
    with pytest.raises(AssertionError, match="reverse mode, order 1"):
        check_grads(f, (np.float64(0.3),), modes=("rev",))


def test_a_wrong_second_derivative_is_found() -> None:
    @custom_jvp
    def f(x: Any) -> Any:
        return lax.sin(x)

    f.defjvp(
        lambda primals, tangents: (
            f(*primals),
            tangents[0] * lax.stop_gradient(lax.cos(primals[0])),
        )
    )
    check_grads(f, (np.float64(0.3),), order=1)
    with pytest.raises(AssertionError, match="order 2"):
        check_grads(f, (np.float64(0.3),), order=2)
