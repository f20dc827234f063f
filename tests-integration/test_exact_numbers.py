"""A Python number keeps its 64 bits until it meets an array, whatever it goes through on the way.

Each function below takes an array and a number beside it. The number given as it is, as an argument
of a compiled function, as the carry of a loop, unmapped beside a mapped array, through a branch and
as a primal of `jvp` gives one result, and NumPy gives it too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import axonym as ax
import axonym.numpy as anp
from axonym import lax

Function = Callable[[Any, Any], Any]

WAYS: dict[str, Callable[[Function, Any, Any], Any]] = {
    "jit": lambda f, x, s: ax.jit(f)(x, s),
    "scan": lambda f, x, s: lax.scan(lambda c, _: (c, f(x, c)), s, None, 1)[1][0],
    "while": lambda f, x, s: lax.fori_loop(0, 1, lambda i, c: (c[0], f(x, c[0])), (s, f(x, s)))[1],
    "vmap": lambda f, x, s: ax.vmap(lambda _, t: f(x, t), (0, None))(np.zeros(1), s)[0],
    "cond": lambda f, x, s: lax.cond(True, lambda t: f(x, t), lambda t: f(x, t), s),
    "numpy double": lambda f, x, s: f(x, np.float64(s)),
}

# fmt: off
NAMES = (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "power",
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "maximum",
    "minimum", "fmax", "fmin", "hypot", "arctan2", "logaddexp", "logaddexp2", "copysign",
    "nextafter", "isin", "append", "outer", "kron", "dot", "inner", "full_like", "quantile",
    "nanquantile", "percentile", "nanpercentile",
)
# fmt: on

# Functions of an array and a number, and NumPy's or SciPy's; None where there is none, or it is
# another kind of call.
BESIDE: dict[str, tuple[Function, Function | None]] = {
    name: (getattr(anp, name), getattr(np, name)) for name in NAMES
} | {
    "searchsorted": (anp.searchsorted, np.searchsorted),
    "digitize": (lambda x, s: anp.digitize(s, x), lambda x, s: np.digitize(s, x)),
    "interp": (lambda x, s: anp.interp(s, x, x * 3), lambda x, s: np.interp(s, x, x * 3)),
    "interp left": (
        lambda x, s: anp.interp(x - 5, x, x, left=s),
        lambda x, s: np.interp(x - 5, x, x, left=s),
    ),
    "interp period": (lambda x, s: anp.interp(x, x, x, period=s), None),
    "pad": (
        lambda x, s: anp.pad(x, 2, constant_values=s),
        lambda x, s: np.pad(x, 2, constant_values=s),
    ),
    "pad ramp": (
        lambda x, s: anp.pad(x, 2, "linear_ramp", end_values=s),
        lambda x, s: np.pad(x, 2, "linear_ramp", end_values=s),
    ),
    "gradient": (anp.gradient, np.gradient),
    "trapezoid": (
        lambda x, s: anp.trapezoid(x, dx=s),
        lambda x, s: np.sum((x[1:] + x[:-1]) * s) * x.dtype.type(0.5),
    ),
    "unwrap": (lambda x, s: anp.unwrap(x, period=s), None),
    "polyval": (anp.polyval, np.polyval),
    "ediff1d": (
        lambda x, s: anp.ediff1d(x, to_end=s, to_begin=s),
        lambda x, s: np.ediff1d(x, to_end=s, to_begin=s),
    ),
    "diff": (
        lambda x, s: anp.diff(x, prepend=s, append=s),
        lambda x, s: np.diff(x, prepend=s, append=s),
    ),
    "hstack": (lambda x, s: anp.hstack([x, s]), lambda x, s: np.hstack([x, s])),
    "stack": (lambda x, s: anp.stack([anp.asarray(x)[1], s]), None),
    "vstack": (lambda x, s: anp.vstack([anp.asarray(x)[1], s]), None),
    "concatenate": (
        lambda x, s: anp.concatenate([x, s], axis=None),
        lambda x, s: np.concatenate([x, s], axis=None),
    ),
    "array": (lambda x, s: anp.array([anp.asarray(x)[1], s]), None),
    "asarray": (lambda x, s: anp.asarray([s, 1.0], x.dtype), None),
    "fill_diagonal": (
        lambda x, s: anp.fill_diagonal(x[:4].reshape(2, 2), s, inplace=False),
        None,
    ),
    "put_along_axis": (
        lambda x, s: anp.put_along_axis(x, np.array([1]), s, 0, inplace=False),
        lambda x, s: np.r_[x[:1], [s], x[2:]],
    ),
    "clip": (lambda x, s: anp.clip(x, s, 0.3), lambda x, s: np.clip(x, s, x.dtype.type(0.3))),
    "where": (lambda x, s: anp.where(x > 0.2, x, s), lambda x, s: np.where(x > 0.2, x, s)),
    "select": (
        lambda x, s: anp.select([x > 0.2], [x], s),
        lambda x, s: np.select([x > 0.2], [x], s),
    ),
    "full": (lambda x, s: anp.full((2,), s, x.dtype), lambda x, s: np.full((2,), s)),
    "nan_to_num": (
        lambda x, s: anp.nan_to_num(anp.where(x > 0.2, x, np.nan), nan=s),
        lambda x, s: np.where(x > 0.2, x, s),
    ),
    "isclose": (lambda x, s: anp.isclose(x, s, rtol=0.0, atol=0.0), lambda x, s: x == s),
    "einsum": (lambda x, s: anp.einsum("i,->i", x, s), lambda x, s: x * s),
    "tensordot": (lambda x, s: anp.tensordot(x, s, 0), lambda x, s: x * s),
    "max": (lambda x, s: anp.max(x[:1], initial=s), lambda x, s: np.max(x[:1], initial=s)),
    "sum": (lambda x, s: anp.sum(x[:1], initial=s), lambda x, s: s),
    "heaviside": (lambda x, s: anp.heaviside(x * 0, s), lambda x, s: np.heaviside(x * 0, s)),
    "linspace": (lambda x, s: anp.linspace(0.0, s, 1, dtype=x.dtype), lambda x, s: np.zeros(1)),
    "linspace end": (lambda x, s: anp.linspace(0.0, s, 3, dtype=x.dtype)[-1], lambda x, s: s),
    "geomspace": (lambda x, s: anp.geomspace(s, 3.0, 3, dtype=x.dtype)[0], lambda x, s: s),
    "histogram": (lambda x, s: anp.histogram(x, 1, range=(s, 2.0))[1][0], lambda x, s: s),
    "xlogy": (
        lambda x, s: ax.numpy.special.xlogy(s, x + 1),
        lambda x, s: scipy.special.xlogy(s, x + 1),
    ),
    "logsumexp": (lambda x, s: ax.numpy.special.logsumexp(x, b=s), None),
    "at set": (
        lambda x, s: anp.asarray(x).at[1].set(s),
        lambda x, s: np.r_[x[:1], [s], x[2:]],
    ),
    "at add": (lambda x, s: anp.asarray(x).at[0].add(s)[0], lambda x, s: x[0] + s),
    "at mask": (
        lambda x, s: anp.asarray(x).at[x > 0.2].set(s),
        lambda x, s: np.where(x > 0.2, s, x),
    ),
    "lax.mul": (lax.mul, np.multiply),
    "lax.clamp": (lambda x, s: lax.clamp(s, x, 0.3), None),
    "lax.select": (lambda x, s: lax.select(x > 0.2, x, s), lambda x, s: np.where(x > 0.2, x, s)),
    "lax.pad": (
        lambda x, s: lax.pad(x, s, [(1, 1, 0)]),
        lambda x, s: np.pad(x, 1, constant_values=s),
    ),
    "lax.full": (lambda x, s: lax.full((2,), s, x.dtype), lambda x, s: np.full((2,), s)),
}

# Of a number alone: what the function makes of it eagerly is what it makes of it traced.
ALONE: dict[str, Function] = {
    f"alone: {name}": lambda x, s, f=f: anp.asarray(x) * f(s)  # type: ignore[misc]  # bound at once
    for name, f in {
        "times 2": lambda s: s * 2,
        "by 3": lambda s: s / 3,
        "negated": lambda s: -s,
        "squared": lambda s: s**2,
        "remainder": lambda s: s % 0.03,
        "compared": lambda s: s < 0.1,
        "sin": anp.sin,
        "add": lambda s: anp.add(s, 0.3),
        "power": lambda s: anp.power(s, 2),
        "sum": anp.sum,
        "full": lambda s: anp.full((), s),
        "lax.exp": lax.exp,
        "lax.add": lambda s: lax.add(s, 0.3),
        "lax.broadcast": lambda s: lax.broadcast(s, (1,)),
        "relu": ax.nn.relu,
        "jit": lambda s: ax.jit(lambda t: t * 2)(s),
        "grad": lambda s: ax.grad(lambda t: t * t)(s),
        "cond": lambda s: lax.cond(True, lambda t: t, lambda t: t * 2, s),
        "scan": lambda s: lax.scan(lambda c, _: (c * 2, None), s, None, 2)[0],
        "vmap": lambda s: ax.vmap(lambda _, t: t, (0, None))(np.zeros(1), s),
    }.items()
}


def _ulps(dtype: Any) -> float:
    return 8 * float(np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*BESIDE, *ALONE])
def test_a_number_beside_an_array_is_rounded_once(name: str, dtype: str, backend: str) -> None:
    f, g = BESIDE[name] if name in BESIDE else (ALONE[name], None)
    x = np.array([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.3], dtype)
    eager = np.asarray(f(x, 0.1))
    if g is not None:
        with np.errstate(all="ignore"):
            wanted = np.asarray(g(x, x.dtype.type(0.1)))
        assert eager.dtype.kind == wanted.dtype.kind
        np.testing.assert_allclose(eager, wanted, rtol=_ulps(dtype), atol=_ulps(dtype))
    for way, call in WAYS.items():
        found = np.asarray(call(f, x, 0.1))
        assert found.dtype == eager.dtype, way
        np.testing.assert_allclose(found, eager, rtol=_ulps(dtype), atol=_ulps(dtype), err_msg=way)


@pytest.mark.parametrize("number", [2**40 + 1, -(2**31) - 1, 2**62])
def test_integers_of_64_bits_meet_arrays_of_64_bits(number: int, backend: str) -> None:
    x = np.arange(3)
    for way, call in WAYS.items():
        if way != "numpy double":
            np.testing.assert_array_equal(call(lambda a, n: a + n, x, number), x + number, way)


@pytest.mark.parametrize("number", [0.1, 1e-300, 1e300, float("inf")])
def test_comparisons_with_a_traced_number_are_exact(number: float, backend: str) -> None:
    x = np.array([0.1, 1e-300, 1e300, np.inf, np.nan])
    for way, call in WAYS.items():
        np.testing.assert_array_equal(call(lambda a, s: a == s, x, number), x == number, way)


@pytest.mark.parametrize("entrance", ["grad", "jvp", "vjp", "linearize", "value_and_grad"])
@pytest.mark.parametrize("number", [0.1, np.float64(0.1)], ids=["Python", "NumPy"])
def test_derivatives_by_numbers_stay_exact_and_weak(entrance: str, number: float) -> None:
    x = anp.asarray(np.array([0.1, 0.7]))

    def f(s: Any) -> Any:
        return (x * (s * 3)).sum()

    wanted, slope = np.sum(np.asarray(x) * 0.1 * 3), np.sum(np.asarray(x)) * 3
    if entrance == "grad":
        value, found = f(0.1), ax.grad(f)(number)
    elif entrance == "jvp":
        value, found = ax.jvp(f, (number,), (1.0,))
    elif entrance == "vjp":
        value, pull = ax.vjp(f, number)
        (found,) = pull(1.0)
    elif entrance == "linearize":
        value, push = ax.linearize(f, number)
        found = push(1.0)
    else:
        value, found = ax.value_and_grad(f)(number)
    np.testing.assert_allclose(value, wanted, rtol=1e-14)
    np.testing.assert_allclose(found, slope, rtol=1e-7 if entrance in WEAK else 1e-14)
    assert (found * anp.ones(3, "float16")).dtype == ("float16" if entrance in WEAK else "float64")


WEAK = ("grad", "vjp", "value_and_grad")  # cotangents of the number: of the default width


def test_gradients_keep_the_weak_type() -> None:
    assert (ax.grad(anp.sin)(2.0) * anp.ones(3, "float16")).dtype == "float16"
    value, slope = ax.value_and_grad(anp.sin)(anp.asarray(2.0))
    assert value.weak_type
    assert slope.weak_type


def test_quotients_and_activations_keep_the_weak_type() -> None:
    half, weak = anp.ones(3, "float16"), anp.asarray(7.5)
    for found in (weak // 2, divmod(weak, 2)[1], divmod(weak, 2.0)[0]):
        assert (found * half).dtype == "float16"


def test_results_that_are_numbers_have_the_default_width() -> None:
    for found in (
        ax.jit(lambda s: s * 2)(0.1),
        ax.vmap(lambda _, s: s, (0, None))(np.zeros(2), 0.1),
        lax.scan(lambda c, _: (c, c), 0.1, None, 2)[0],
        lax.cond(True, lambda: 0.1, lambda: 0.2),
        ax.device_put(0.1),
        ax.value_and_grad(lambda s: s * s)(0.1)[0],
    ):
        assert found.dtype == "float32"
        assert found.weak_type
    assert lax.scan(lambda c, _: (c, c), 0.1, None, 2)[1].dtype == "float32"
    assert ax.eval_shape(lambda s: s * 2, 0.1).dtype == "float32"


def test_integers_that_fit_nowhere_overflow_by_type() -> None:
    for call in (
        lambda: anp.array(1000, "uint8"),
        lambda: anp.asarray(2**40),
        lambda: anp.ones(2, "int8") + 300,
        lambda: ax.jit(lambda n: n)(2**70),
        lambda: ax.device_put(2**40),
    ):
        with pytest.raises(OverflowError) as caught:
            call()
        assert isinstance(caught.value, ax.errors.DTypeError)


def test_captured_doubles_of_numpy_are_numbers() -> None:
    c = np.float64(0.1)
    x = anp.ones(2, "float32")
    assert ax.jit(lambda x: x * c)(x).dtype == "float32"
    assert ax.jit(lambda x: (x, c))(x)[1].dtype == "float32"
    assert lax.sin(c).dtype == "float32"
    assert ax.grad(lambda x: (x * c).sum())(x).dtype == "float32"


def test_default_bits_of_64_change_nothing_but_the_default(wide: None) -> None:
    assert ax.jit(lambda s: s * 2)(0.1).dtype == "float64"
    assert float(ax.jit(anp.sin)(0.1)) == float(anp.sin(0.1))
    assert ax.jit(lambda x, s: x * s)(anp.ones(2, "float32"), 0.1).dtype == "float32"
