"""Gradients' jaxprs hold no equation whose results nobody reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym import lax


def dead(jaxpr: Any) -> list[str]:
    """Equations that nobody reads, in a program and in those inside: the plain definition."""
    found = []
    for i, eqn in enumerate(jaxpr.eqns):
        readers = [*jaxpr.outvars, *[a for e in jaxpr.eqns[i + 1 :] for a in e.invars]]
        if not any(v is a for v in eqn.outvars for a in readers):
            found.append(str(eqn))
        for value in eqn.params.values():
            for item in value if isinstance(value, tuple) else (value,):
                inner = getattr(item, "jaxpr", item)
                if isinstance(inner, ax.core.Jaxpr):
                    found += dead(inner)
    return found


def attention(w: Any) -> Any:
    scores = ax.nn.softmax(w @ w.T / 2.0)
    return anp.sum(anp.tanh(scores @ w) ** 2)


def looped(w: Any) -> Any:
    def step(c: Any, x: Any) -> tuple[Any, Any]:
        return anp.sin(c @ w) + x, (anp.sum(c), anp.max(c))

    c, (sums, _) = lax.scan(step, w, np.ones((3, 3, 3), np.float32))
    return anp.sum(c) + anp.sum(sums)


def branched(w: Any) -> Any:
    return lax.cond(w[0, 0] > 0, lambda v: anp.sum(anp.exp(v)), lambda v: anp.prod(v), w)


def called(w: Any) -> Any:
    layer = ax.jit(lambda v: (anp.sin(v) * w, anp.cos(v)))
    return anp.sum(layer(layer(w)[0])[0])


def sorted_and_looked_up(w: Any) -> Any:
    order = anp.argsort(w[:, 0])
    return anp.sum(anp.sort(w, axis=0)[order] * anp.cumsum(w, 0))


@ax.custom_vjp
def ruled(x: Any) -> Any:
    return anp.sin(x)


ruled.defvjp(lambda x: (anp.sin(x), (x, anp.cos(x))), lambda res, ct: (ct * anp.cos(res[0]),))


def with_rules(w: Any) -> Any:
    return anp.sum(ruled(w) * anp.logaddexp(w, 1.0))


LOSSES = [attention, looped, branched, called, sorted_and_looked_up, with_rules]


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_have_no_dead_equations(loss: Callable[[Any], Any]) -> None:
    w = np.linspace(0.1, 0.9, 9, dtype=np.float32).reshape(3, 3)

    one: list[Callable[[Any], Any]] = [
        ax.grad(loss),
        ax.grad(ax.jit(loss)),
        ax.value_and_grad(loss),
        lambda x: ax.jvp(loss, (x,), (x,))[1],
        ax.grad(lambda v: anp.sum(ax.grad(loss)(v) ** 2)),
    ]

    for f in one:
        assert dead(ax.make_jaxpr(f)(w)) == []
        assert dead(ax.make_jaxpr(ax.vmap(f))(np.stack([w, w]))) == []
