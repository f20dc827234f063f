"""What a statistic leaves out, by `where=` or as NaN, takes no part in values and derivatives.

The oracle is the same function of the elements that take part, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym import nn
from axonym.numpy import special

MASK = np.array([True, False, True, True, False, False])
Statistic = Callable[..., Any]


def _over_entries(f: Statistic) -> Statistic:
    """Number from a function with one result for each entry: of those that take part."""

    def total(x: Any, where: Any = True, **options: Any) -> Any:
        out = anp.where(where, f(x, where=where, **options) ** 3, 0.0)
        return ax.lax.psum(out, "i") if options.get("axis") == "i" else anp.sum(out)

    return total


def _weighted(x: Any, where: Any = None, axis: Any = None) -> Any:
    return special.logsumexp(x, axis, b=np.float32(2), where=where)


STATISTICS: dict[str, Statistic] = {
    "sum": anp.sum,
    "prod": anp.prod,
    "mean": anp.mean,
    "var": anp.var,
    "std": anp.std,
    "max": lambda x, **options: anp.max(x, initial=-9.0, **options),
    "min": lambda x, **options: anp.min(x, initial=9.0, **options),
    "nansum": anp.nansum,
    "nanprod": anp.nanprod,
    "nanmean": anp.nanmean,
    "nanvar": anp.nanvar,
    "nanstd": anp.nanstd,
    "nanmax": lambda x, **options: anp.nanmax(x, initial=-9.0, **options),
    "nanmin": lambda x, **options: anp.nanmin(x, initial=9.0, **options),
    "logsumexp": special.logsumexp,
    "weighted logsumexp": _weighted,
    "logmeanexp": nn.logmeanexp,
    "softmax": _over_entries(nn.softmax),
    "log_softmax": _over_entries(nn.log_softmax),
    "standardize": _over_entries(nn.standardize),
}
NAN_STATISTICS: dict[str, Statistic] = {
    "nansum": anp.nansum,
    "nanprod": anp.nanprod,
    "nanmean": anp.nanmean,
    "nanvar": anp.nanvar,
    "nanstd": anp.nanstd,
    "nanmax": anp.nanmax,
    "nanmin": anp.nanmin,
    "nanmedian": anp.nanmedian,
    "nanquantile": lambda x: anp.nanquantile(x, 0.3),
    "nanpercentile": lambda x: anp.sum(anp.nanpercentile(x, np.array([30.0, 60.0], np.float32))),
}


def _derivatives(f: Statistic, x: Any) -> list[Any]:
    """Value, gradient, derivative along ones, and gradient of the gradient's square."""
    ones = np.ones_like(x)
    gradient = ax.grad(f)
    return [
        f(x),
        gradient(x),
        ax.jvp(f, (x,), (ones,))[1],
        ax.grad(lambda v: anp.sum(gradient(v) ** 2))(x),
        ax.jvp(gradient, (x,), (ones,))[1],
    ]


def _agree(actual: list[Any], expected: list[Any], part: Any) -> None:
    for a, b in zip(actual, expected, strict=True):
        a = np.asarray(a)
        if a.ndim:
            np.testing.assert_array_equal(a[~part], 0)
            a = a[part]
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("axis", ["dimension", "name"])
@pytest.mark.parametrize("name", STATISTICS)
def test_hidden_entries_take_no_part(name: str, axis: str) -> None:
    f = STATISTICS[name]
    x = np.array([1.0, np.nan, 3.0, 2.5, np.inf, -np.inf], np.float32)

    def masked(v: Any) -> Any:
        if axis == "dimension":
            return f(v, where=MASK)
        return ax.vmap(lambda a, m: f(a, where=m, axis="i"), axis_name="i")(v, MASK)[0]

    actual = _derivatives(masked, x)
    _agree(actual, _derivatives(f, x[MASK]), MASK)


@pytest.mark.parametrize("name", NAN_STATISTICS)
def test_nan_takes_no_part(name: str) -> None:
    f = NAN_STATISTICS[name]
    x = np.array([1.0, np.nan, 3.0, 2.5, np.nan, np.nan], np.float32)
    _agree(_derivatives(f, x), _derivatives(f, x[MASK]), MASK)


EDGES: dict[str, tuple[Callable[[Any], Any], float]] = {
    "sqrt": (anp.sqrt, -1.0),
    "sqrt at 0": (anp.sqrt, 0.0),
    "log": (anp.log, -2.0),
    "log at 0": (anp.log, 0.0),
    "log1p": (anp.log1p, -1.0),
    "rsqrt": (ax.lax.rsqrt, 0.0),
    "cbrt": (anp.cbrt, 0.0),
    "power": (lambda x: x**0.5, 0.0),
    "reciprocal": (anp.reciprocal, 0.0),
    "x**-2": (lambda x: x**-2, 0.0),
    "arcsin": (lambda x: anp.arcsin(x / 4), 4.0),
    "arccos": (lambda x: anp.arccos(x / 4), -5.0),
    "arccosh": (anp.arccosh, 1.0),
    "arctanh": (lambda x: anp.arctanh(x / 4), 4.0),
    "erfinv": (lambda x: special.erfinv(x / 4), 4.0),
    "gammaln": (special.gammaln, 0.0),
    "digamma": (special.digamma, -1.0),
}


@pytest.mark.parametrize("name", EDGES)
def test_a_function_at_an_edge_of_its_domain_may_be_hidden(name: str) -> None:
    g, edge = EDGES[name]
    x = np.array([1.5, edge, 3.0, 2.5, edge, edge], np.float32)

    def masked(v: Any) -> Any:
        return anp.mean(g(v), where=MASK)

    def chosen(v: Any) -> Any:
        return anp.sum(anp.where(MASK, g(v), 0.0)) / 3

    def apart(v: Any) -> Any:
        return anp.mean(g(v))

    expected = ax.grad(apart)(x[MASK])
    for f in (masked, chosen):
        gradient = ax.grad(f)(x)
        _, along = ax.jvp(f, (x,), (MASK.astype(np.float32),))
        np.testing.assert_array_equal(gradient[~MASK], 0)
        np.testing.assert_allclose(gradient[MASK], expected, rtol=1e-5)
        np.testing.assert_allclose(along, anp.sum(expected), rtol=1e-5)


def test_log_softmax_of_hidden_entries_is_constant() -> None:
    x = np.array([1.0, 2.0, 3.0, 2.5, 0.0, 9.0], np.float32)
    _, tangent = ax.jvp(lambda v: nn.log_softmax(v, where=MASK), (x,), (np.arange(6, dtype="f4"),))
    _, apart = ax.jvp(nn.log_softmax, (x[MASK],), (np.arange(6, dtype="f4")[MASK],))
    np.testing.assert_array_equal(tangent[~MASK], 0)
    np.testing.assert_allclose(tangent[MASK], apart, rtol=1e-5)
