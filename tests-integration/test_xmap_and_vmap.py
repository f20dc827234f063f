"""One map, written with `xmap` and with `vmap`: every transformation of it gives the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym import lax

X, Y = np.arange(3.0) + 1, np.arange(3.0) * 2
Mapped = Callable[..., Any]
scaled = ax.custom_jvp(lambda a: anp.sin(a))
scaled.defjvp(lambda p, t: (anp.sin(p[0]), anp.cos(p[0]) * t[0]))


def add(a: Any, b: Any) -> Any:
    return lax.psum(a, "i") + lax.psum(b, "i")


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "varying": lambda a, b: a * b,
    "partly": lambda a, b: lax.psum(a, "i") * b,
    "unvarying": lambda a, b: lax.psum(a * b, "i"),
    "number": lambda a, b: 2.0,
    "array": lambda a, b: np.ones(2),
    "an argument": lambda a, b: b,
    "index": lambda a, b: lax.axis_index("i") * a,
    "several": lambda a, b: (a, {"s": lax.psum(b, "i")}),
    "tangents": lambda a, b: ax.jvp(lambda t: lax.psum(t * b, "i"), (a,), (a * 0 + 1,)),
    "total gradient": lambda a, b: ax.grad(lambda t: add(t, b), reduce_axes=("i",))(a),
    "own gradient": lambda a, b: ax.grad(lambda t: add(t, b))(a),
    "custom": lambda a, b: scaled(a) * b,
    "loop": lambda a, b: lax.scan(lambda c, _: (add(c, a), c), b * 1.0, None, length=2),
    "branch": lambda a, b: lax.cond(anp.all(b > 0), lambda: add(a, b), lambda: add(b, b)),
    "call": lambda a, b: ax.jit(add)(a, b),
}


def total(tree: Any) -> Any:
    return sum(anp.sum(x * x) for x in ax.tree_util.tree_leaves(tree))


def linearized(m: Mapped) -> Any:
    value, tangents = ax.linearize(m, X, Y)
    return value, tangents(Y, X)


def pulled(m: Mapped) -> Any:
    value, pull = ax.vjp(m, X, Y)
    return pull(ax.tree_util.tree_map(anp.ones_like, value))


TRANSFORMED: dict[str, Callable[[Mapped], Any]] = {
    "call": lambda m: m(X, Y),
    "jit": lambda m: ax.jit(m)(X, Y),
    "jvp": lambda m: ax.jvp(m, (X, Y), (Y, X)),
    "jvp of one": lambda m: ax.jvp(lambda x: m(x, Y), (X,), (Y,)),
    "linearize": linearized,
    "vjp": pulled,
    "grad": lambda m: ax.grad(lambda x, y: total(m(x, y)), (0, 1))(X, Y),
    "second": lambda m: ax.grad(lambda x: total(ax.grad(lambda x: total(m(x, Y)))(x)))(X),
    "vmap": lambda m: ax.vmap(m)(np.stack([X, Y]), np.stack([Y, X])),
    "scan": lambda m: lax.scan(lambda c, _: (c, m(X, c)), Y, None, length=2),
    "types": lambda m: ax.eval_shape(m, X, Y),
    "closure": lambda m: ax.jvp(lambda y: m(X * y, y), (Y,), (X,)),
}


def outcome(run: Callable[[], Any]) -> str:
    try:
        return str(run())
    except ax.errors.AxonymError as error:
        return type(error).__name__


@pytest.mark.parametrize("transformed", TRANSFORMED)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_transformations_of_xmap_and_vmap_agree(name: str, transformed: str) -> None:
    function, run = FUNCTIONS[name], TRANSFORMED[transformed]
    entry = {None: {}, 0: {0: "i"}}
    with ax.config.override(backend="numpy"):
        for in_axes in ((0, 0), (0, None), (None, 0), (None, None)):
            for out_axes in (0, None):
                by_vmap = ax.vmap(function, in_axes, out_axes, axis_name="i", axis_size=3)
                entries = tuple(entry[d] for d in in_axes)
                by_xmap = ax.xmap(function, entries, entry[out_axes], axis_sizes={"i": 3})
                found = [outcome(lambda m=m: run(m)) for m in (by_vmap, by_xmap)]
                assert found[0] == found[1], (in_axes, out_axes)
