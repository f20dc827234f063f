"""Arrays of other libraries are taken wherever arrays are; what only looks like one is refused."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym import lax
from axonym.errors import AxonymError

X = np.array([[1.0, 2.0, 4.0], [0.5, 3.0, 8.0]], np.float32)

pytestmark = pytest.mark.usefixtures("backend")


class WithArray:
    """As an array of a library that NumPy can read, with an `aval` of its own (`jax` has one)."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self.aval = SimpleNamespace(shape=data.shape, dtype=data.dtype, weak_type=False)
        self.shape = data.shape
        self.dtype = data.dtype
        self.ndim = data.ndim

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._data if dtype is None else self._data.astype(dtype)


class WithDlpack:
    """As a tensor that is only exported through DLPack, of a dtype that NumPy does not know."""

    dtype = "some.float32"

    def __init__(self, data: Any) -> None:
        self._data = data

    @property
    def shape(self) -> Any:
        return self._data.shape

    def __dlpack__(self, **options: Any) -> Any:
        return self._data.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._data.__dlpack_device__()


def of_jax(data: Any) -> Any:
    return pytest.importorskip("jax.numpy").asarray(data)


KINDS: dict[str, Callable[[Any], Any]] = {
    "array": WithArray,
    "dlpack": WithDlpack,
    "jax": of_jax,
    "matrix": lambda x: x.view(np.matrix),
    "subclass": lambda x: x.view(np.memmap),
}


def loss(x: Any) -> Any:
    return anp.sum(anp.sin(x) * x)


custom = ax.custom_jvp(lambda x: anp.sin(x))
custom.defjvp(lambda p, t: (anp.sin(p[0]), anp.cos(p[0]) * t[0]))

ENTRANCES: dict[str, Callable[[Any], Any]] = {
    "operator": lambda x: anp.ones((2, 3), np.float32) * x,
    "reflected operator": lambda x: anp.ones((2, 3), np.float32).__rmul__(x),
    "lax": lax.sin,
    "lax of two": lambda x: lax.add(x, x),
    "lax beside a number": lambda x: lax.mul(x, 2.0),
    "lax shape": lambda x: lax.reshape(x, (6,)),
    "lax reduction": lambda x: lax.reduce_sum(x, (0,)),
    "lax.select": lambda x: lax.select(anp.ones((2, 3), bool), x, x),
    "anp": anp.sin,
    "anp of two": lambda x: anp.add(x, 1),
    "anp.where": lambda x: anp.where(x, x, 0),
    "anp.sum": lambda x: anp.sum(x, axis=0),
    "anp.asarray": anp.asarray,
    "anp.array": anp.array,
    "anp.stack": lambda x: anp.stack([x, x]),
    "anp.concatenate": lambda x: anp.concatenate([x, x]),
    "anp.matmul": lambda x: anp.matmul(x, np.ones((3, 2), np.float32)),
    "anp.einsum": lambda x: anp.einsum("ij->j", x),
    "anp.zeros_like": anp.zeros_like,
    "anp.sort": anp.sort,
    "anp.mean": anp.mean,
    "at": lambda x: anp.zeros((2, 3), np.float32).at[:].set(x),
    "device_put": ax.device_put,
    "jit": lambda x: ax.jit(lambda y: y * 2)(x),
    "jit of a constant": lambda x: ax.jit(lambda y: lax.mul(y, x))(np.ones((2, 3), np.float32)),
    "make_jaxpr": lambda x: str(ax.make_jaxpr(anp.sin)(x)),
    "eval_shape": lambda x: ax.eval_shape(anp.sin, x),
    "grad": lambda x: ax.grad(loss)(x),
    "value_and_grad": lambda x: ax.value_and_grad(loss)(x),
    "jvp": lambda x: ax.jvp(loss, (x,), (x,)),
    "vjp": lambda x: ax.vjp(lambda y: anp.sin(y), x)[1](x),
    "linearize": lambda x: ax.linearize(loss, x)[1](x),
    "vmap": lambda x: ax.vmap(lambda y: y * 2)(x),
    "vmap of a shared one": lambda x: ax.vmap(lambda y, z: y + anp.sum(z), (0, None))(X, x),
    "xmap": lambda x: ax.xmap(lambda y: lax.psum(y, "i"), ["i", ...], [...])(x),
    "scan over": lambda x: lax.scan(lambda c, y: (c, y * 2), 0.0, x),
    "scan carry": lambda x: lax.scan(lambda c, y: (c * 2, y), x, np.ones(2)),
    "map": lambda x: lax.map(lambda y: y * 2, x),
    "cond": lambda x: lax.cond(True, lambda y: y * 2, lambda y: y, x),
    "while": lambda x: lax.while_loop(lambda c: lax.reduce_sum(c, (0, 1)) < 99, lambda c: c * 2, x),
    "fori": lambda x: lax.fori_loop(0, 2, lambda i, c: c * 2, x),
    "custom rule": lambda x: ax.grad(lambda y: anp.sum(custom(y)))(x),
    "result": lambda x: ax.jit(lambda y: (y, x))(np.float32(1)),
    "nn": lambda x: ax.nn.softmax(x),
    "random": lambda x: ax.random.permutation(ax.random.key(0), x),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_an_array_of_another_library_gives_what_a_numpy_array_gives(
    entrance: str, kind: str
) -> None:
    run = ENTRANCES[entrance]
    want, got = run(X), run(KINDS[kind](X))
    for w, g in zip(*map(ax.tree_util.tree_leaves, (want, got)), strict=True):
        if isinstance(w, str | ax.ShapeDtypeStruct):
            assert w == g
        else:
            assert np.asarray(w).dtype == np.asarray(g).dtype
            np.testing.assert_array_equal(np.asarray(w), np.asarray(g))


OBJECT = "object with aval"
HOSTILE: dict[str, Callable[[], Any]] = {
    "mock": mock.Mock,
    "magic mock": mock.MagicMock,
    OBJECT: lambda: SimpleNamespace(aval=anp.asarray(X).aval, shape=(2, 3)),
    "struct": lambda: ax.ShapeDtypeStruct((2, 3), "float32"),
    "masked": lambda: np.ma.masked_array(X, X > 2),
    "text": lambda: "text",
    "class": lambda: np.ndarray,
    "array class": lambda: ax.Array,
    "texts": lambda: np.array(["a", "b"]),
    "objects": lambda: np.array([None, {}], dtype=object),
}
TAKING_TYPES = ("make_jaxpr", "eval_shape", "anp.zeros_like")


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("entrance", sorted(ENTRANCES.keys() - TAKING_TYPES))
def test_what_is_no_array_is_refused_with_an_error_of_the_library(entrance: str, kind: str) -> None:
    run, value = ENTRANCES[entrance], HOSTILE[kind]()
    if entrance == "operator" and kind != "masked":
        run = anp.ones((2, 3), np.float32).__mul__  # Python asks the other operand afterwards
    if entrance.endswith("operator") and not isinstance(value, np.ndarray) and kind != OBJECT:
        assert run(value) is NotImplemented
    else:
        with pytest.raises(AxonymError):
            run(value)
