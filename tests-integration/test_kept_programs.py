"""A program that is kept for a function is used again only where the function gives the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym_core import config

pytestmark = pytest.mark.usefixtures("backend")

X = np.array([1.0, 2.0, 4.0])


def test_programs_depend_on_the_sizes_of_the_axes_in_scope() -> None:
    scaled = ax.jit(lambda x: x * ax.lax.axis_size("i"))

    for n in (2, 3):
        found = ax.vmap(lambda _: scaled(5.0), axis_name="i")(np.zeros(n))
        np.testing.assert_array_equal(found, [5.0 * n] * n)


def test_programs_depend_on_which_axes_are_in_scope() -> None:
    total = ax.jit(lambda x: ax.lax.psum(x, "i"))

    assert float(ax.vmap(lambda _: total(5.0), axis_name="i")(X)[0]) == 15.0
    with pytest.raises(ax.errors.AxonymError, match="'i'"):
        total(5.0)


@pytest.mark.parametrize("setting", ["default_float_bits", "default_int_bits"])
def test_programs_depend_on_the_default_widths(setting: str) -> None:
    kind = "float" if "float" in setting else "int"
    filled = ax.jit(lambda x: anp.full((2,), 3, kind))

    for bits in (32, 64, 32):
        with config.override(**{setting: bits}):
            assert filled(X).dtype == f"{kind}{bits}"


def test_programs_that_hold_values_of_an_open_transformation_are_not_kept() -> None:
    held: list[Any] = []
    summed = ax.jit(lambda x: x + held[0])

    def call(s: Any) -> Any:
        held[:] = [s]
        return summed(1.0)

    np.testing.assert_array_equal(ax.vmap(call)(X), X + 1)
    np.testing.assert_array_equal(ax.vmap(call)(X * 10), X * 10 + 1)
    assert float(ax.grad(call)(3.0)) == 1.0


def test_keyword_calls_have_programs_of_their_own() -> None:
    difference = ax.jit(lambda b, a: b - a)
    one, two = anp.float32(1), anp.float32(2)

    found = [difference(one, two), difference(a=one, b=two), difference(b=one, a=two)]
    found += [difference(one, a=two), difference(one, two)]

    np.testing.assert_array_equal(found, [-1, 1, -1, -1, -1])


def test_left_out_arguments_have_programs_of_their_own() -> None:
    ratio = ax.jit(lambda a=10.0, b=1.0: a / b)
    x = anp.float32(5)

    np.testing.assert_array_equal([ratio(x), ratio(b=x), ratio(a=x), ratio(x, x)], [5, 2, 5, 1])


def test_a_loop_saves_nothing_at_each_step_that_does_not_change() -> None:
    def f(w: Any, xs: Any) -> Any:
        step = lambda c, x: (ax.lax.sin(c) * ax.lax.exp(w) + x, None)  # noqa: E731
        return ax.lax.scan(step, 1.0, xs)[0]

    program = ax.make_jaxpr(ax.grad(f))(np.float32(0.5), np.ones(7, np.float32))

    forward = next(eqn for eqn in program.eqns if eqn.primitive.name == "scan")
    assert len(forward.outvars) == 3  # the state; sine and cosine of each step, but no exponential
