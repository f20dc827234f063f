"""The linear map of `linearize` takes tangents that vary over axes that the point does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym as ax
from axonym import lax


def of_while(w: Any) -> Any:
    return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * s[1] * 0.9), (0, w))[1]


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "while": of_while,
    "scan": lambda w: lax.scan(lambda c, _: (c * c * 0.9, None), w, None, length=3)[0],
    "cond": lambda w: lax.cond(w > 0, lambda x: x * x, lambda x: x, w),
    "compiled while": ax.jit(of_while),
    "while in a branch": lambda w: lax.cond(w > 0, of_while, lambda x: x, w),
}


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_tangents_may_vary_over_further_axes(name: str, backend: str) -> None:
    function = FUNCTIONS[name]
    with ax.config.override(backend=backend):
        w = ax.numpy.asarray(np.array(0.8))
        tangents = np.array([1.0, 2.0, -1.0])

        mapped = ax.vmap(lambda t: ax.linearize(function, w)[1](t), axis_name="i")(tangents)

        step = 1e-6
        up, down = (float(function(ax.numpy.asarray(np.array(0.8 + s)))) for s in (step, -step))
        np.testing.assert_allclose(mapped, (up - down) / (2 * step) * tangents, rtol=1e-6)
