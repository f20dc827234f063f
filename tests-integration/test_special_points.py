"""First and second derivatives at points where a function's formula is of the form 0 * inf.

The oracle is the closed form of each derivative, in the limit from inside the domain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym import nn
from axonym.numpy import special

INF = math.inf
LOG2 = math.log(2)

# Function, point, gradient, Hessian.
Row = tuple[Callable[..., Any], tuple[float, ...], list[float], list[list[float]]]


POWERS = {
    "power": anp.power,
    "pow": anp.pow,
    "float_power": anp.float_power,
    "**": lambda x, y: x**y,
    "lax.pow": ax.lax.pow,
}

POWER_ROWS: list[tuple[tuple[float, float], list[float], list[list[float]]]] = [
    ((4, 0), [0, math.log(4)], [[0, 0.25], [0.25, math.log(4) ** 2]]),
    ((2, 0), [0, LOG2], [[0, 0.5], [0.5, LOG2**2]]),
    ((1, 0), [0, 0], [[0, 1], [1, 0]]),
    ((0, 0), [0, 0], [[0, 0], [0, 0]]),  # 0 ** 0 counts as the constant 1
    ((0, 2), [0, 0], [[2, 0], [0, 0]]),
    ((0, 3), [0, 0], [[0, 0], [0, 0]]),
    ((0, 2.5), [0, 0], [[0, 0], [0, 0]]),
    ((2, 3), [12, 8 * LOG2], [[12, 4 + 12 * LOG2], [4 + 12 * LOG2, 8 * LOG2**2]]),
    ((2, -1), [-0.25, LOG2 / 2], [[0.25, (1 - LOG2) / 4], [(1 - LOG2) / 4, LOG2**2 / 2]]),
    ((INF, -1), [0, 0], [[0, 0], [0, 0]]),
]

ROWS: dict[str, list[Row]] = {
    "xlogy": [
        (special.xlogy, (0, 2), [LOG2, 0], [[0, 0.5], [0.5, 0]]),
        (special.xlogy, (0, 0), [-INF, 0], [[0, INF], [INF, 0]]),
        (special.xlogy, (3, 2), [LOG2, 1.5], [[0, 0.5], [0.5, -0.75]]),
    ],
    "xlog1py": [
        (special.xlog1py, (0, 1), [LOG2, 0], [[0, 0.5], [0.5, 0]]),
        (special.xlog1py, (0, -1), [-INF, 0], [[0, INF], [INF, 0]]),
    ],
    "entr": [
        (special.entr, (0,), [INF], [[-INF]]),
        (special.entr, (1,), [-1], [[-1]]),
        (special.entr, (-1,), [0], [[0]]),
    ],
    "rel_entr": [
        (special.rel_entr, (0, 2), [-INF, 0], [[INF, -0.5], [-0.5, 0]]),
        (special.rel_entr, (2, 2), [1, -1], [[0.5, -0.5], [-0.5, 0.5]]),
        (special.rel_entr, (0, 0), [0, 0], [[0, 0], [0, 0]]),
    ],
    "kl_div": [
        (special.kl_div, (0, 2), [-INF, 1], [[INF, -0.5], [-0.5, 0]]),
        (special.kl_div, (2, 2), [0, 0], [[0.5, -0.5], [-0.5, 0.5]]),
    ],
    "logaddexp": [
        (anp.logaddexp, (0, 0), [0.5, 0.5], [[0.25, -0.25], [-0.25, 0.25]]),
        (anp.logaddexp, (INF, 0), [1, 0], [[0, 0], [0, 0]]),
        (anp.logaddexp, (0, -INF), [1, 0], [[0, 0], [0, 0]]),
    ],
    "logaddexp2": [
        (anp.logaddexp2, (1, 1), [0.5, 0.5], [[LOG2 / 4, -LOG2 / 4], [-LOG2 / 4, LOG2 / 4]])
    ],
    "hypot": [
        (anp.hypot, (3, 4), [0.6, 0.8], [[0.128, -0.096], [-0.096, 0.072]]),
        (anp.hypot, (0, 4), [0, 1], [[0.25, 0], [0, 0]]),
        (anp.hypot, (0, 0), [0, 0], [[0, 0], [0, 0]]),
        (anp.hypot, (INF, 1), [1, 0], [[0, 0], [0, 0]]),
        (anp.hypot, (1, -INF), [0, -1], [[0, 0], [0, 0]]),
    ],
    "arctan2": [
        (anp.arctan2, (0, 1), [1, 0], [[0, -1], [-1, 0]]),
        (anp.arctan2, (1, 0), [0, -1], [[0, 1], [1, 0]]),
        (anp.arctan2, (0, -2), [-0.5, 0], [[0, -0.25], [-0.25, 0]]),
        (anp.arctan2, (INF, 0), [0, 0], [[0, 0], [0, 0]]),
        (anp.arctan2, (0, -INF), [0, 0], [[0, 0], [0, 0]]),
        (anp.arctan2, (0, 0), [0, 0], [[0, 0], [0, 0]]),
    ],
    "sinc": [(anp.sinc, (0,), [0], [[-(math.pi**2) / 3]])],
    "softplus": [
        (nn.softplus, (0,), [0.5], [[0.25]]),
        (nn.softplus, (INF,), [1], [[0]]),
        (nn.softplus, (-INF,), [0], [[0]]),
    ],
    "log_sigmoid": [(nn.log_sigmoid, (0,), [0.5], [[-0.25]])],
    "log": [(anp.log, (0,), [INF], [[-INF]]), (anp.log, (2,), [0.5], [[-0.25]])],
    "log1p": [(anp.log1p, (-1,), [INF], [[-INF]])],
    "sqrt": [(anp.sqrt, (0,), [INF], [[-INF]]), (anp.sqrt, (4,), [0.25], [[-1 / 32]])],
    "cbrt": [(anp.cbrt, (-8,), [1 / 12], [[1 / 144]])],
    "reciprocal": [(anp.reciprocal, (2,), [-0.25], [[0.25]])],
    "self_power": [(lambda x: x**x, (1,), [1], [[2]])],
    "x log x": [
        (lambda x: special.xlogy(x, x), (0,), [-INF], [[INF]]),
        (lambda x: special.xlogy(x, x), (1,), [1], [[1]]),
    ],
    "x**2": [(lambda x: x**2, (0,), [0], [[2]])],
    "x**2.0": [(lambda x: x**2.0, (0,), [0], [[2]])],
    "float_power of 2": [(lambda x: anp.float_power(x, 2), (0,), [0], [[2]])],
    "x**-1": [(lambda x: x**-1, (2,), [-0.25], [[0.25]])],
    "norm": [
        (lambda x, y: anp.linalg.norm(anp.stack([x, y])), (0, 0), [0, 0], [[0, 0], [0, 0]]),
        (lambda x, y: anp.linalg.norm(anp.stack([x, y])), (0, 2), [0, 1], [[0.5, 0], [0, 0]]),
    ],
    "logsumexp": [
        (
            lambda x, y: special.logsumexp(anp.stack([x, y])),
            (0, -INF),
            [1, 0],
            [[0, 0], [0, 0]],
        ),
    ],
}

ALL = [(name, *row) for name, rows in ROWS.items() for row in rows]
ALL += [(name, f, *row) for name, f in POWERS.items() for row in POWER_ROWS]
# With a negative base the derivatives by a whole exponent alone exist.
BY_BASE = [
    (-2.0, 2.0, -4.0, 2.0),
    (-2.0, 0.0, 0.0, 0.0),
    (-2.0, 1.0, 1.0, 0.0),
    (-2, -1, -0.25, -0.25),
]


def _close(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("mapped", [False, True], ids=["plain", "mapped"])
@pytest.mark.parametrize("row", ALL, ids=lambda row: f"{row[0]}{row[2]}")
def test_derivatives_are_the_closed_forms(row: Any, mapped: bool) -> None:
    _, f, point, gradient, hessian = row
    point = tuple(map(np.float32, point))
    n = len(point)
    numbers = tuple(range(n))

    def everything(*x: Any) -> Any:
        reverse = ax.grad(f, numbers)(*x)
        units = [tuple(np.float32(i == k) for i in range(n)) for k in range(n)]
        forward = [ax.jvp(f, x, u)[1] for u in units]
        twice = [ax.grad(lambda *v, i=i: ax.grad(f, i)(*v), numbers)(*x) for i in range(n)]
        mixed = [
            [ax.jvp(lambda *v, i=i: ax.grad(f, i)(*v), x, u)[1] for u in units] for i in range(n)
        ]
        other = [ax.grad(lambda *v, u=u: ax.jvp(f, v, u)[1], numbers)(*x) for u in units]
        return reverse, forward, twice, mixed, other

    if mapped:
        results = ax.vmap(everything)(*[np.full(2, p) for p in point])
        results = ax.tree_util.tree_map(lambda a: a[1], results)
    else:
        results = everything(*[anp.asarray(p) for p in point])
    for first in results[:2]:
        _close(first, gradient)
    for second in results[2:]:
        _close(second, hessian)
        _close(second, np.transpose(second))


@pytest.mark.parametrize("name", POWERS)
@pytest.mark.parametrize("row", BY_BASE, ids=str)
def test_powers_of_negative_bases_by_the_base(name: str, row: tuple[float, ...]) -> None:
    x, y, first, second = map(np.float32, row)
    f = POWERS[name]
    exponent = anp.asarray(y)
    slope = ax.grad(f)
    _close(slope(x, exponent), first)
    _close(ax.jvp(f, (x, exponent), (np.float32(1), np.float32(0)))[1], first)
    _close(ax.grad(slope)(x, exponent), second)
    _close(ax.jvp(slope, (x, exponent), (np.float32(1), np.float32(0)))[1], second)


@pytest.mark.parametrize("name", ["rel_entr", "kl_div"])
def test_relative_entropies_do_not_overflow_in_the_quotient(name: str) -> None:
    f = getattr(special, name)
    p, q = np.float32(1e30), np.float32(1e-30)
    expected = 1e30 * 60 * math.log(10) - (1e30 if name == "kl_div" else 0)
    np.testing.assert_allclose(f(p, q), expected, rtol=1e-6)
    np.testing.assert_allclose(
        f(q, p), 1e30 if name == "kl_div" else -1e-30 * 60 * math.log(10), rtol=1e-6
    )
