"""Programs from public bug reports about dtypes and numbers, written anew."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from agreement import same

import axonym as ax
import axonym.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")


def test_python_numbers_leave_half_precision_alone() -> None:
    """google-deepmind/jmp#47: promoted to float32.

    Python numbers must not change an array's type: float16 stays float16 in eager code, jit, and
    a loop's state.
    """

    def adjust(s: Any, ok: Any) -> Any:
        return anp.where(ok, s * 2.0, s / 2)

    s = anp.float16(8)
    s = anp.asarray(s, anp.float16)
    loop = ax.lax.scan(lambda c, ok: (adjust(c, ok), None), s, anp.array([True, False, True]))[0]
    outs = [
        adjust(s, True),
        ax.jit(adjust)(s, False),
        loop,
        ax.lax.select(anp.array(True), s * 2, s),
    ]
    assert [str(o.dtype) for o in outs] == ["float16"] * 4
    same([float(o) for o in outs], [16.0, 4.0, 16.0, 16.0])


@pytest.mark.usefixtures("wide")
def test_optimiser_step_keeps_the_width_of_its_parameters() -> None:
    """google/flax#924, google-deepmind/optax#1405: silently float64.

    Parameters and their updates must keep float32 (and bfloat16) although the step counter is
    int32 and the decay a Python float.
    """

    def adam(p: Any, g: Any, m: Any, t: Any) -> Any:
        m = 0.9 * m + 0.1 * g
        mh = m / (1 - 0.9**t)
        return (p - 0.001 * mh / (anp.sqrt(mh**2) + 1e-08), m)

    def kinds(dt: Any, t: Any) -> Any:
        p = anp.ones(2, dt)
        return [str(a.dtype) for a in adam(p, p, p * 0, t) + ax.jit(adam)(p, p, p * 0, t)]

    t = anp.array(1, anp.int32)
    assert kinds(anp.float32, t) == ["float32"] * 4
    assert kinds(anp.bfloat16, t) == ["bfloat16"] * 4
    assert kinds(anp.float32, 1) == ["float32"] * 4


@pytest.mark.usefixtures("wide")
def test_tangent_of_an_integer() -> None:
    """jax-ml/jax#4433: there was no ready way to give one.

    D/dx of x*n is n = 5; the integer has no tangent.
    """

    def f(x: Any, n: Any) -> Any:
        return x * n

    z = np.zeros((), ax.dtypes.float0)
    found = [
        ax.jvp(f, (3.0, 5), (1.0, z))[1],
        ax.jvp(ax.jit(f), (3.0, anp.array(5)), (1.0, z))[1],
        ax.grad(f)(3.0, 5),
    ]
    _y, lin = ax.linearize(lambda x: f(x, 5), 3.0)
    found += [lin(2.0), ax.linear_transpose(lin, 3.0)(1.0)[0]]
    wanted = [5.0, 5.0, 5.0, 10.0, 5.0]
    same(found, wanted)


@pytest.mark.usefixtures("wide")
def test_integers_meet_floats_in_where_under_derivatives() -> None:
    """jax-ml/jax#7367: assertion.

    Where the mask holds the divisor is 3: slope 1/3, else 1.
    """

    def f(x: Any, d: Any) -> Any:
        n = ((x > 0) * 3).astype(int) + d * 0
        return anp.sum(x / anp.where(x > 0, n, 1.0))

    x = anp.array([-2.0, 6.0])
    same(ax.grad(f)(x, 1), [1.0, 1 / 3])
    same(ax.jit(ax.grad(f))(x, 1), [1.0, 1 / 3])
    same(ax.jit(lambda a, d: ax.jvp(lambda t: f(t, d), (a,), (anp.ones(2),))[1])(x, 2), 4 / 3)


@pytest.mark.usefixtures("wide")
def test_result_type_does_not_depend_on_compiling() -> None:
    """Float64 inside of jit only.

    jax-ml/jax#732, jax-ml/jax#3903, jax-ml/jax#2004, jax-ml/jax#1830.

    The result type must not depend on jit, and Python numbers are weak: float16/float32 stay.
    """
    h, s = (anp.arange(4, dtype=anp.float16), anp.ones(3, anp.float32))
    fs = [
        lambda a, c: a * c,
        lambda a, c: a + abs(c),
        lambda a, c: anp.exp(a / c**2),
        lambda a, c: a**2 - c,
        lambda a, c: anp.where(a > c, a, c),
        lambda a, c: anp.clip(a, 0, c),
        lambda a, c: anp.power(a, c),
        lambda a, c: sum([a, c, 1, True]),
    ]
    found = [[str(g(a, 0.5).dtype) for f in fs for g in (f, ax.jit(f))] for a in (h, s)]
    loop = ax.lax.while_loop(
        lambda d: d[0] < 2, lambda d: (d[0] + 1, d[1] ** 2 * 0.5), (anp.int32(0), anp.float32(0.5))
    )
    found += [[str(v.dtype) for v in loop]]
    assert found == [["float16"] * 16, ["float32"] * 16, ["int32", "float32"]]


def test_python_nan_is_weak() -> None:
    """jax-ml/jax#11014: result_type and the operation disagreed.

    Python's nan is a weak float: bfloat16 stays, in result_type and in arithmetic.
    """
    x = anp.ones((2, 2), anp.bfloat16)
    assert [
        str(anp.result_type(x, float("nan"))),
        str((x + float("nan")).dtype),
        str((x + np.nan).dtype),
        str(anp.where(x > 0, x, np.nan).dtype),
        str(anp.maximum(x, 1).dtype),
        str(anp.mean(x).dtype),
    ] == ["bfloat16"] * 6


def test_copies_of_bfloat16_arrays_compute() -> None:
    """jax-ml/jax#4651: the copied type broke later operations.

    2 * 1.5 = 3 before and after copying.
    """
    x = anp.array([1.5, -2.0], anp.bfloat16)
    y = copy.deepcopy(x)
    z = pickle.loads(pickle.dumps(x))
    n = np.asarray(x)
    same((x * y).astype(float), [2.25, 4.0])
    same((z + n).astype(float), [3.0, -4.0])
    assert str((x + n).dtype) == "bfloat16"
    assert bool((x == n).all())
    assert hash(y.dtype) == hash(x.dtype)
    assert n.dtype == x.dtype
    assert str(np.asarray(y).dtype) == "bfloat16"


def test_integers_are_named_where_they_have_no_derivative() -> None:
    """jax-ml/jax#25517: two equal types were called inconsistent.

    Integers have no tangents: linearizing at 3 must either treat it as a constant (zero) or say
    that integer inputs are the problem.
    """

    def text(f: Any) -> Any:
        try:
            f()
            return "no error"
        except Exception as e:
            return type(e).__name__ + str(e)

    m = [
        text(lambda: ax.linear_transpose(ax.linearize(lambda x: x**2, 3)[1], 3)(1.0)),
        text(lambda: ax.jvp(lambda x: x * 2.0, (3,), (1,))),
        text(lambda: ax.linearize(lambda x: x**2, 3)[1](1)),
        text(lambda: ax.grad(lambda x: x * 2.0)(3)),
        text(lambda: ax.vjp(lambda x: x * 2.0, 3.0)[1](anp.ones(2))),
    ]

    def word(t: Any) -> Any:
        return "int" in t or "i32" in t or "i64" in t or ("float0" in t) or ("no error" in t)

    assert all(word(t) for t in m[:4])
    assert ("2" in m[4] and "shape" in m[4]) or "f32[2]" in m[4]
    assert not any("Assertion" in t or "Internal" in t for t in m)


def test_integers_that_do_not_fit_are_refused() -> None:
    """Cut silently, or only in compiled code.

    jax-ml/jax#6047, jax-ml/jax#25969, jax-ml/jax#15275.

    NumPy 2 refuses numbers that do not fit the asked type; silent wrap-around gives another
    number.
    """

    zero = anp.zeros((), anp.uint8)

    for make in (
        lambda: anp.array(1000, anp.uint8),
        lambda: anp.array([1, -1], anp.uint32),
        lambda: anp.array(2**63),
        lambda: anp.full((), 300, anp.int8),
        lambda: zero + 300,
        lambda: ax.jit(lambda x: x + 300)(zero),
    ):
        with pytest.raises(OverflowError):
            make()
    assert int(anp.asarray(2**40, anp.int64)) == 2**40
    assert int(anp.array(np.array([300])).astype(anp.uint8)[0]) == 44
