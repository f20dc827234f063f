"""Programs from public bug reports about messages, written anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")


def test_sizes_that_differ_are_shown_with_the_names_of_arguments() -> None:
    """jax-ml/jax#10193, jax-ml/jax#705, jax-ml/jax#3877: a bare assertion.

    The message must show both sizes and name the keyword argument.
    """
    tree = {"p": {"w": anp.ones((5, 2))}, "q": anp.ones(7)}

    with pytest.raises(ValueError, match=r"(?s)^(?=.*5)(?=.*7)(?=.*\by\b)"):
        ax.vmap(lambda x, y: x + y)(anp.ones(5), y=anp.ones(7))
    with pytest.raises((ValueError, TypeError)):
        ax.vmap(lambda d, y: y, (None, 0))({"a": 1}, 2.0)
    with pytest.raises(ValueError, match=r"(?s)^(?=.*5)(?=.*7)(?=.*('w'|\.w))"):
        ax.vmap(lambda d: d["p"]["w"].sum() + d["q"])(tree)


@pytest.mark.parametrize(
    ("fun", "axes", "message"),
    [
        (lambda a: a, {"out_axes": (0, 0)}, "out_axes"),
        (lambda a: (a, a), {"out_axes": (0, 1, 0)}, "out_axes"),
        (lambda a: a.sum(), {"out_axes": 1}, "out_axes|out of"),
        (lambda a: a, {"in_axes": 5}, "5"),
    ],
)
def test_which_axes_are_wrong_is_said(fun: Any, axes: Any, message: str) -> None:
    """A mismatch of trees, without saying where.

    jax-ml/jax#3613, jax-ml/jax#18548, jax-ml/jax#9928.

    The message must say which of in_axes/out_axes is meant.
    """
    with pytest.raises((ValueError, TypeError), match=message):
        ax.vmap(fun, **axes)(anp.ones((3, 2)))


def test_axes_that_fit_no_argument_are_refused_by_name() -> None:
    """jax-ml/jax#3613, jax-ml/jax#9928: a dict was "not a prefix", and nobody knew of what."""
    x = anp.ones((3, 2))

    with pytest.raises((ValueError, TypeError), match="in_axes"):
        ax.vmap(lambda a, b, c: a, (0, 0))(x, x, x)
    with pytest.raises((ValueError, TypeError), match="in_axes"):
        ax.vmap(lambda d: d["a"], in_axes={"a": 0})({"a": x})


def test_programs_of_functions_with_static_arguments() -> None:
    """jax-ml/jax#6871: a message about hashing a tracer.

    Showing the program of a compiled function with a static argument works when the argument is
    named static, and says how when it is not.
    """
    f = ax.jit(lambda x, n: x * n if n > 1 else x, static_argnums=1)

    assert "mul" in str(ax.make_jaxpr(f, static_argnums=1)(2.0, 3))
    with pytest.raises((TypeError, ValueError), match="static"):
        ax.make_jaxpr(f)(2.0, 3)


@pytest.mark.parametrize(
    ("fun", "args", "options", "message"),
    [
        (lambda x: x * 2, (np.ones(3, np.float32),), {}, "(?s)^(?=.*3)(?=.*(vjp|sum))"),
        (lambda x: x**2 + 1j * anp.sin(x), (1.0,), {}, "complex|c64|holomorphic"),
        (lambda x: x * 2, (3,), {}, "int|i32|i64"),
        (lambda x: (x, x), (1.0,), {}, ".{20}"),
        (lambda x: None, (1.0,), {}, "None"),
        (lambda n, x: x, (1.0, 2.0), {"argnums": 5}, "5"),
        (lambda x: "a", (1.0,), {}, "."),
    ],
)
def test_what_has_no_gradient_is_refused_with_a_cure(
    fun: Any, args: Any, options: Any, message: str
) -> None:
    """jax-ml/jax#28110, jax-ml/jax#22948: nobody could tell why.

    The message must name the result's shape or type and a cure (sum/mean, vjp; holomorphic for
    complex).
    """
    with pytest.raises((TypeError, ValueError), match=message):
        ax.grad(fun, **options)(*args)
