"""Arrays of one backend given to the other are converted, wherever they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym import lax
from axonym_core import config
from axonym_core.arrays import backends

X = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
Y = np.array([4.0, 1.0, 2.0, 3.0], np.float32)


def custom(a: Any, b: Any) -> Any:
    f = ax.custom_vjp(lambda x: x * b)
    f.defvjp(lambda x: (x * b, b), lambda b, ct: (ct * b,))
    return ax.grad(lambda x: anp.sum(f(x)))(a)


def mapped(a: Any, b: Any) -> Any:
    return ax.xmap(lambda x, y: x * y, in_axes=(["i"], ["i"]), out_axes=["i"])(a, b)


def ahead(a: Any, b: Any) -> Any:
    types = [ax.ShapeDtypeStruct(x.shape, x.dtype) for x in (a, b)]
    return ax.jit(lambda x, y: x - y).lower(*types).compile()(a, b)


USES: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "operator": (lambda a, b: a - b, X - Y),
    "one operand": (lambda a, b: lax.neg(a), -X),
    "numpy array": (lambda a, b: Y + a, X + Y),
    "function": (lambda a, b: anp.concatenate([a, b]), np.concatenate([X, Y])),
    "method": (lambda a, b: (a * b).sum(), np.sum(X * Y)),
    "slice": (lambda a, b: a[1:3], X[1:3]),
    "index": (lambda a, b: b[a.astype("int32") - 1], Y),
    "update": (lambda a, b: b.at[0].set(a[2]), np.array([3.0, 1.0, 2.0, 3.0])),
    "updates": (lambda a, b: a.at[1:3].add(b[:2]), np.array([1.0, 6.0, 4.0, 4.0])),
    "jit": (lambda a, b: ax.jit(lambda x, y: x - y)(a, b), X - Y),
    "jit of one": (lambda a, b: ax.jit(lambda x: x * 2)(a), X * 2),
    "jit with two results": (lambda a, b: ax.jit(lambda x, y: (x, x - y))(a, b)[1], X - Y),
    "tree": (lambda a, b: ax.jit(lambda t: t["a"] - t["b"][0])({"a": a, "b": [b]}), X - Y),
    "keyword": (lambda a, b: ax.jit(lambda x, y: x - y)(y=a, x=b), Y - X),
    "constant": (lambda a, b: ax.jit(lambda x: x - b)(a), X - Y),
    "constants only": (lambda a, b: ax.jit(lambda: a - b)(), X - Y),
    "scalar constant": (lambda a, b: ax.jit(lambda x: x - a[3])(b), Y - 4),
    "donated": (lambda a, b: ax.jit(lambda x, y: x - y, donate_argnums=0)(a + 0, b), X - Y),
    "ahead of time": (ahead, X - Y),
    "device_put": (lambda a, b: ax.device_put({"a": a, "b": b})["a"], X),
    "to a device": (lambda a, b: ax.device_put(a, backends.current().devices()[0]), X),
    "to_device": (lambda a, b: a.to_device(backends.current().devices()[0]), X),
    "cond": (lambda a, b: lax.cond(a[0] > 2, lax.add, lax.sub, a, b), X - Y),
    "closed over by cond": (lambda a, b: lax.cond(b[0] > 2, lambda: a - b, lambda: a), X - Y),
    "scan": (lambda a, b: lax.scan(lambda c, x: (c + x, c), a[0], b)[1], [1.0, 5.0, 6.0, 8.0]),
    "closed over by scan": (
        lambda a, b: lax.scan(lambda c, x: (c + x * a, None), b, X)[0],
        Y + X * X.sum(),
    ),
    "while": (lambda a, b: lax.while_loop(lambda c: c[0] < 9, lambda c: c + b, a), X + 2 * Y),
    "grad": (lambda a, b: ax.grad(lambda x: anp.sum(x * b))(a), Y),
    "jitted grad": (lambda a, b: ax.jit(ax.grad(lambda x: anp.sum(x * b)))(a), Y),
    "jvp": (lambda a, b: ax.jvp(lambda x: x * b, (a,), (b,))[1], Y * Y),
    "vjp": (lambda a, b: ax.vjp(lambda x: x * b, a)[1](b)[0], Y * Y),
    "custom rule": (custom, Y),
    "vmap": (lambda a, b: ax.vmap(lambda x, y: x * y)(a, b), X * Y),
    "xmap": (mapped, X * Y),
}


@pytest.mark.parametrize("others", ["both", "one"])
@pytest.mark.parametrize(("made", "used"), [("numpy", "xla"), ("xla", "numpy")])
@pytest.mark.parametrize("use", USES)
def test_arrays_of_another_backend_are_converted(
    use: str, made: str, used: str, others: str
) -> None:
    with ax.config.override(backend=made):
        a = anp.asarray(X)
        b = anp.asarray(Y)
    f, wanted = USES[use]
    with ax.config.override(backend=used):
        got = f(a, b if others == "both" else anp.asarray(Y))
        assert got.backend.name == used
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(a), X)  # and it is still there


def test_a_compiled_function_takes_both_kinds_in_turn() -> None:
    f = ax.jit(lambda x, y: x - y)
    arrays = []
    for name in ("numpy", "xla"):
        with ax.config.override(backend=name):
            arrays.append(anp.asarray(X))
    for name in ("xla", "numpy", "xla"):
        with ax.config.override(backend=name):
            for a in arrays:
                for b in arrays:
                    got = f(a, b)
                    assert got.backend.name == name
                    np.testing.assert_array_equal(np.asarray(got), np.zeros(4))


def test_arrays_that_are_put_on_a_device_belong_to_its_backend() -> None:
    with config.override(backend="numpy"):
        here = anp.asarray(np.arange(3.0))
    with config.override(backend="xla"):
        there = ax.device_put(here, ax.devices()[0])

        assert there.backend.name == "xla"
        np.testing.assert_array_equal(there + 1, np.arange(3.0) + 1)
