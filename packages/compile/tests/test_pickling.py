"""Copies and pickles of what `jit` makes, and of what it traces."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

from axonym_compile import jit
from axonym_core import check_jaxpr, eval_jaxpr, lax, make_jaxpr
from axonym_core.errors import ConcretizationError

X = np.arange(3, dtype=np.float32)


def double(x: Any, n: int = 2) -> Any:
    return lax.mul(x, np.float32(n))


@partial(jit, static_argnames="n")
def decorated(x: Any, n: int = 2) -> Any:
    return lax.mul(x, np.float32(n))


class Model:
    @staticmethod
    @jit
    def step(x: Any) -> Any:
        return lax.add(x, x)


wrapped = jit(double, static_argnums=1, donate_argnums=0)


@pytest.mark.parametrize(
    "function", [decorated, wrapped, Model.step, jit(double, inline=True)], ids=range(4)
)
def test_compiled_functions_are_copied_and_pickled_as_functions_are(function: Any) -> None:
    assert copy.copy(function) is function
    assert copy.deepcopy({"f": [function]})["f"][0] is function
    restored = pickle.loads(pickle.dumps(function))
    assert restored(X).tolist() == function(X).tolist() == [0.0, 2.0, 4.0]
    assert restored.__name__ == function.__name__
    assert restored.__wrapped__ is function.__wrapped__


def test_a_pickled_wrapper_has_its_options() -> None:
    restored = pickle.loads(pickle.dumps(wrapped))
    assert restored(X, 3).tolist() == restored(X, n=3).tolist() == [0.0, 3.0, 6.0]
    assert restored.trace(X, 3).donated == wrapped.trace(X, 3).donated == (True,)


def test_a_compiled_local_function_cannot_be_pickled_like_the_function_itself() -> None:
    local = jit(lambda x: x)
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        pickle.dumps(local)
    assert copy.deepcopy(local) is local


def program() -> Any:
    closed = jit(lambda x: lax.mul(x, X))(X)

    def fun(x: Any) -> Any:
        y = decorated(decorated(x), n=3)
        total, _ = lax.scan(lambda c, t: (lax.add(c, t), None), np.float32(0), lax.add(y, closed))
        return {"total": total, "y": y}

    return fun


def test_jaxprs_are_pickled_with_what_they_hold_and_copied_as_values() -> None:
    jaxpr = make_jaxpr(program())(X)
    jaxpr.lifted()  # what was derived is not part of it
    restored = pickle.loads(pickle.dumps(jaxpr))
    check_jaxpr(restored)
    assert str(restored) == str(jaxpr)
    for got, want in zip(eval_jaxpr(restored, X), eval_jaxpr(jaxpr, X), strict=True):
        assert np.array_equal(got, want)
    assert copy.copy(jaxpr) is copy.deepcopy(jaxpr) is jaxpr


def test_stages_are_pickled_by_their_program() -> None:
    lowered = jit(program()).lower(X)
    compiled = lowered.compile()
    want = compiled(X)
    again = pickle.loads(pickle.dumps(lowered))
    assert again.as_text() == lowered.as_text()
    for other in (again.compile(), pickle.loads(pickle.dumps(compiled)), copy.deepcopy(compiled)):
        got = other(X)
        assert got.keys() == want.keys()
        assert all(np.array_equal(got[k], want[k]) for k in want)


@pytest.mark.parametrize("transform", [jit, make_jaxpr], ids=["jit", "make_jaxpr"])
def test_traced_values_are_copied_and_refuse_to_be_pickled(transform: Any) -> None:
    def fun(x: Any) -> Any:
        with pytest.raises(ConcretizationError, match=r"f32\[3\] cannot be pickled"):
            pickle.dumps({"x": x})
        assert copy.copy(x) is x
        return lax.add(copy.deepcopy([x])[0], x)

    transform(fun)(X)
    assert jit(fun)(X).tolist() == [0.0, 2.0, 4.0]


def test_a_program_that_holds_traced_values_refuses_to_be_pickled() -> None:
    def outer(y: Any) -> Any:
        inner = make_jaxpr(lambda x: lax.mul(x, y))(X)
        with pytest.raises(ConcretizationError, match="argument y of outer"):
            pickle.dumps(inner)
        return y

    make_jaxpr(outer)(X)
