"""The program of a total gradient, and the acceptance examples of named axes.

The gradient of a shared weight over a collective axis is one contraction: nowhere in its program is
there a value of the weight's shape for each index of the axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import (
    custom_jvp,
    custom_vjp,
    grad,
    jvp,
    linear_transpose,
    value_and_grad,
    vjp,
)
from axonym_compile import jit
from axonym_core import Jaxpr, ShapedArray, ShapeDtypeStruct, config, lax, make_jaxpr
from axonym_core.programs import programs_in
from axonym_core.types import type_of
from axonym_mapping import vmap, xmap

BATCH = 8


def all_types(jaxpr: Jaxpr) -> Iterator[ShapedArray]:
    """Types of all values of a program and of the programs in it."""
    yield from (v.aval for v in (*jaxpr.constvars, *jaxpr.invars))
    for eqn in jaxpr.eqns:
        yield from (v.aval for v in eqn.outvars)
        for inner in programs_in(eqn.primitive, eqn.params):
            yield from all_types(inner)


def shared(*shape: int) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(shape, np.float32)


def each(*shape: int, dtype: Any = np.float32) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(shape, dtype, named_shape={"batch": BATCH})


def total_gradient(loss: Callable[..., Any], *types: ShapeDtypeStruct) -> Jaxpr:
    gradient = grad(loss, reduce_axes=("batch",))
    jaxpr: Jaxpr = make_jaxpr(gradient, axis_env=[("batch", BATCH)])(*types)
    return jaxpr


def with_batch_dimension(jaxpr: Jaxpr, weight: tuple[int, ...]) -> list[ShapedArray]:
    """Types of values that vary over the batch and are at least as large as the weight."""
    size = int(np.prod(weight))
    return [a for a in all_types(jaxpr) if "batch" in a.names and a.size >= size]


def total(x: Any) -> Any:
    return lax.reduce_sum(x, tuple(range(x.ndim)))


def dense(w: Any, x: Any) -> Any:
    return total(lax.tanh(lax.dot(x, w)))


def two_layers(w: Any, x: Any) -> Any:
    hidden = lax.tanh(lax.dot(x, w))
    return total(lax.sin(lax.dot(hidden, w)))


def embedding(table: Any, tokens: Any) -> Any:
    return total(lax.tanh(table[tokens]))


def convolution(kernel: Any, image: Any) -> Any:
    out = lax.conv(lax.expand_dims(image, (0,)), kernel, (1, 1), "SAME")
    return total(lax.tanh(out))


def layer_norm(bias: Any, x: Any) -> Any:
    mean = lax.reduce_sum(x, (0,)) / 16.0
    centred = x - lax.broadcast(mean, (16,))
    scale = lax.rsqrt(lax.reduce_sum(centred * centred, (0,)) / 16.0 + 1e-5)
    return total(lax.sin(centred * lax.broadcast(scale, (16,)) + bias))


def attention(w: Any, x: Any) -> Any:
    keys = lax.dot(x, w)
    scores = lax.dot_general(keys, x, (((1,), (1,)), ((), ())))
    return total(lax.dot(lax.tanh(scores), x))


def tokens_one_by_one(w: Any, x: Any) -> Any:
    return total(vmap(lambda token: lax.tanh(lax.dot(token, w)))(x))


# name: (loss, type of the weight, type of the data)
LOSSES: dict[str, tuple[Callable[..., Any], ShapeDtypeStruct, ShapeDtypeStruct]] = {
    "dot": (dense, shared(24, 16), each(24)),
    "dot of matrices": (dense, shared(24, 16), each(3, 24)),
    "two layers": (two_layers, shared(16, 16), each(16)),
    "embedding": (embedding, shared(50, 16), each(5, dtype=np.int32)),
    "embedding of one": (embedding, shared(50, 16), each(dtype=np.int32)),
    "conv": (convolution, shared(8, 4, 3, 3), each(4, 5, 5)),
    "attention": (attention, shared(32, 32), each(4, 32)),
    "vmap inside": (tokens_one_by_one, shared(24, 16), each(3, 24)),
}


def scanned(loss: Callable[..., Any]) -> Callable[..., Any]:
    """The loss in each step of a loop over which the weight is constant."""

    def fun(w: Any, x: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            return lax.sin(carry) + loss(w, x), None

        return lax.scan(step, np.float32(0.0), None, length=3)[0]

    return fun


def stepwise(loss: Callable[..., Any]) -> Callable[..., Any]:
    """The loss with a part of the weight per step: the weight is scanned."""

    def fun(w: Any, x: Any) -> Any:
        def step(carry: Any, k: Any) -> Any:
            return carry + loss(w * k, x), None

        return lax.scan(step, np.float32(0.0), np.arange(3, dtype=np.float32))[0]

    return fun


def branched(loss: Callable[..., Any]) -> Callable[..., Any]:
    """The loss in a branch that each example chooses for itself."""

    def fun(w: Any, x: Any) -> Any:
        first = lax.convert_element_type(total(x), np.float32)
        return lax.cond(first > 0, lambda w, x: loss(w, x), lambda w, x: np.float32(0.0), w, x)

    return fun


AROUND: dict[str, Callable[[Any], Any]] = {
    "plain": lambda loss: loss,
    "jit": jit,
    "scan": scanned,
    "jit in scan": lambda loss: scanned(jit(loss)),
    "scan in jit": lambda loss: jit(scanned(loss)),
    "cond": branched,
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", LOSSES)
def test_no_value_per_example_has_the_size_of_the_weight(name: str, around: str) -> None:
    loss, w, x = LOSSES[name]

    jaxpr = total_gradient(AROUND[around](loss), w, x)

    assert with_batch_dimension(jaxpr, w.shape) == []
    assert jaxpr.out_avals == (type_of(w),)


def test_weight_scaled_in_each_step_is_never_copied_per_example() -> None:
    jaxpr = total_gradient(stepwise(dense), shared(24, 16), each(24))

    assert with_batch_dimension(jaxpr, (24, 16)) == []


def test_gradient_of_a_bias_is_summed_at_once() -> None:
    """A bias meets the activations element by element: their cotangent is summed where it is."""
    jaxpr = total_gradient(layer_norm, shared(16), each(16))

    assert jaxpr.out_avals == (type_of(shared(16)),)
    assert [e.primitive.name for e in jaxpr.eqns].count("psum") == 1


def test_without_reduce_axes_each_example_has_its_own() -> None:
    jaxpr = make_jaxpr(grad(dense), axis_env=[("batch", BATCH)])(shared(24, 16), each(24))

    assert jaxpr.out_avals[0].names == {"batch"}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", LOSSES)
def test_total_is_the_gradient_of_the_summed_loss(name: str, around: str) -> None:
    loss, w, x = LOSSES[name]
    loss = AROUND[around](loss)
    rng = np.random.default_rng(3)
    weight = rng.normal(size=w.shape).astype(np.float32) / 4
    data = (
        rng.integers(0, 50, (BATCH, *x.shape)).astype(np.int32)
        if x.dtype == np.int32
        else rng.normal(size=(BATCH, *x.shape)).astype(np.float32)
    )

    with config.override(backend="numpy"):
        fun = grad(loss, reduce_axes=("batch",))
        found = vmap(fun, (None, 0), None, axis_name="batch")(weight, data)
        batched = vmap(loss, (None, 0))
        wanted = grad(lambda w: lax.reduce_sum(batched(w, data), (0,)))(weight)

    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4)


# The acceptance examples.

BACKENDS = ["numpy", "xla"]
XS = np.array([0.0, 1.0, 2.0], np.float32)


def over_i(fun: Callable[..., Any], how: str, out: str) -> Callable[..., Any]:
    """Map a function of a shared number and a vector over axis `i`, by vmap or xmap."""
    if how == "vmap":
        return vmap(fun, (None, 0), 0 if out == "i" else None, axis_name="i")
    return xmap(fun, ({}, {0: "i"}), {0: "i"} if out == "i" else {})


def product(w: Any, x: Any) -> Any:
    return lax.psum(w * x, "i")


def square_and_sum(w: Any, x: Any) -> Any:
    return w**2 + lax.psum(w * x, "i")


WRAPPED: dict[str, Callable[[Any], Any]] = {
    "plain": lambda f: f,
    "jit": jit,
    "scan": lambda f: (
        lambda w, x: lax.scan(lambda c, _: (f(w, x), None), np.float32(0.0), None, length=2)[0]
    ),
    "fori_loop": lambda f: lambda w, x: lax.fori_loop(0, 2, lambda _, c: f(w, x), np.float32(0.0)),
    "cond": lambda f: lambda w, x: lax.cond(w < 100.0, f, lambda w, x: w * 0.0, w, x),
    "switch": lambda f: lambda w, x: lax.switch(1, [lambda w, x: w * 0.0, f], w, x),
    "jit of scan": lambda f: jit(WRAPPED["scan"](f)),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("how", ["vmap", "xmap"])
@pytest.mark.parametrize("wrapping", WRAPPED)
def test_each_index_differentiates_the_sum_of_all_copies(
    wrapping: str, how: str, backend: str
) -> None:
    fun = WRAPPED[wrapping](product)
    with config.override(backend=backend):
        outside = jit(over_i(grad(fun), how, "i"))(np.float32(1.0), XS)
        plain = over_i(grad(fun), how, "i")(1.0, XS)

    np.testing.assert_allclose(plain, [0.0, 3.0, 6.0])
    np.testing.assert_allclose(outside, [0.0, 3.0, 6.0])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("how", ["vmap", "xmap"])
@pytest.mark.parametrize("wrapping", WRAPPED)
def test_total_gradient_of_a_sum_is_unmapped_and_equals_the_jvp(
    wrapping: str, how: str, backend: str
) -> None:
    fun = WRAPPED[wrapping](product)
    with config.override(backend=backend):
        total = over_i(grad(fun, reduce_axes=("i",)), how, "")(1.0, XS)
        tangent = over_i(lambda w, x: jvp(lambda w: fun(w, x), (w,), (1.0,))[1], how, "")(1.0, XS)

    assert float(total) == float(tangent) == 3.0


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("how", ["vmap", "xmap"])
@pytest.mark.parametrize("wrapping", WRAPPED)
def test_square_and_sum_at_five_is_121_in_total(wrapping: str, how: str, backend: str) -> None:
    fun = WRAPPED[wrapping](square_and_sum)
    xs = np.array([1.0, 10.0, 100.0], np.float32)
    with config.override(backend=backend):
        value, total = over_i(lambda w, x: value_and_grad(fun, reduce_axes="i")(w, x), how, "")(
            5.0, xs
        )
        compiled = jit(over_i(grad(fun, reduce_axes="i"), how, ""))(np.float32(5.0), xs)

    assert float(value) == 580.0
    assert float(total) == float(compiled) == 121.0


# PAINS 1: all ways to the same total.


def finite_difference(fun: Callable[[float], float], at: float) -> float:
    step = 1e-6
    return (fun(at + step) - fun(at - step)) / (2 * step)


def global_program(w: float) -> float:
    """The program of all lanes by hand: a mean, a sum and a nonlinearity between them."""
    inner = sum(np.sin(w * x) for x in (0.3, 1.0, 2.0))
    return float(np.tanh(inner / 3) + w * inner)


def lane(w: Any, x: Any) -> Any:
    s = lax.sin(w * x)
    return lax.tanh(lax.pmean(s, "i")) + w * lax.psum(s, "i")


@custom_jvp
def marked(w: Any, x: Any) -> Any:
    return lane(w, x)


@marked.defjvp
def _marked_jvp(primals: Any, tangents: Any) -> Any:
    return jvp(lane, primals, tangents)


WAYS: dict[str, Callable[[Any], Any]] = {
    **{k: (lambda f, k=k: WRAPPED[k](f)) for k in ("plain", "jit", "scan", "cond")},
    "custom_jvp": lambda f: marked,
}


@pytest.mark.parametrize("way", WAYS)
def test_total_gradient_is_that_of_the_global_scalar_program(way: str) -> None:
    fun = WAYS[way](lane)
    xs = np.array([0.3, 1.0, 2.0])
    if way == "scan":  # its loop carries float32 numbers
        xs = xs.astype(np.float32)
    wanted = finite_difference(global_program, 0.7)
    with config.override(backend="numpy"):
        w = xs.dtype.type(0.7)

        def pulled(w: Any, x: Any) -> Any:
            out, f_vjp = vjp(lambda w: fun(w, x), w, reduce_axes=("i",))
            return f_vjp(np.ones((), out.dtype))[0]

        gradient = vmap(grad(fun, reduce_axes="i"), (None, 0), None, axis_name="i")(w, xs)
        by_vjp = vmap(pulled, (None, 0), None, axis_name="i")(w, xs)

    np.testing.assert_allclose(gradient, wanted, rtol=2e-6)
    np.testing.assert_allclose(by_vjp, wanted, rtol=2e-6)


def test_of_two_axes_the_named_one_alone_is_reduced() -> None:
    xs = np.arange(6.0).reshape(2, 3)

    def loss(w: Any, x: Any) -> Any:
        return (w * x) ** 2

    with config.override(backend="numpy"):
        rows = vmap(
            vmap(grad(loss, reduce_axes="j"), (None, 0), None, axis_name="j"),
            (None, 0),
            axis_name="i",
        )(np.float64(2.0), xs)
        columns = xmap(grad(loss, reduce_axes="i"), ({}, {0: "i", 1: "j"}), {0: "j"})(
            np.float64(2.0), xs
        )

    np.testing.assert_allclose(rows, (4 * xs**2).sum(1))
    np.testing.assert_allclose(columns, (4 * xs**2).sum(0))


def test_linear_transpose_agrees_with_vjp() -> None:
    scale = np.array([1.0, 3.0])

    def fun(w: Any, x: Any) -> Any:
        return scale * lax.broadcast(w * x, (2,))

    def pair(x: Any) -> Any:
        w = np.float64(2.0)
        _, f_vjp = vjp(lambda w: fun(w, x), w, reduce_axes="i")
        transpose = linear_transpose(lambda w: fun(w, x), w, reduce_axes="i")
        ct = np.array([1.0, 10.0]) * lax.broadcast(x, (2,))
        return f_vjp(ct)[0], transpose(ct)[0]

    with config.override(backend="numpy"):
        both = vmap(pair, out_axes=None, axis_name="i")(np.array([1.0, 2.0]))

    assert [float(b) for b in both] == [155.0, 155.0]


def test_cotangents_of_a_custom_vjp_are_summed_over_collective_axes_only() -> None:
    @custom_vjp
    def scaled(w: Any, x: Any) -> Any:
        return w * x

    scaled.defvjp(lambda w, x: (scaled(w, x), (w, x)), lambda r, ct: (ct * r[1] * 7.0, ct * r[0]))
    xs = np.array([1.0, 2.0, 4.0])
    for fun in (scaled, jit(scaled)):
        with config.override(backend="numpy"):
            each_own = vmap(grad(fun), (None, 0), axis_name="i")(np.float64(3.0), xs)
            total = vmap(grad(fun, reduce_axes="i"), (None, 0), None, axis_name="i")(
                np.float64(3.0), xs
            )

        np.testing.assert_allclose(each_own, 7.0 * xs)
        assert float(total) == 49.0


def test_value_summed_over_an_axis_may_be_returned_unmapped_from_control_flow() -> None:
    """PAINS 2: loops, branches and custom rules keep track of what still varies."""
    xs = np.array([1.0, 2.0, 4.0])

    @custom_jvp
    def summed(v: Any) -> Any:
        return lax.psum(v, "i")

    summed.defjvp(lambda p, t: (summed(*p), lax.psum(t[0], "i")))

    def fun(x: Any) -> Any:
        s = lax.psum(x, "i")
        a = lax.fori_loop(0, 2, lambda k, c: c + s, s)
        b = lax.cond(s > 0, lambda v: v * 2.0, lambda v: v, s)
        c = lax.while_loop(lambda v: v < 100.0, lambda v: v * 2.0, s)
        return a, b, c, summed(x), jit(lambda v: lax.pmax(v, "i"))(x), lax.psum(1, "i") * s

    with config.override(backend="numpy"):
        outs = vmap(fun, out_axes=None, axis_name="i")(xs)

    assert [float(o) for o in outs] == [21.0, 14.0, 112.0, 7.0, 4.0, 21.0]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_collectives_mean_the_same_under_every_map(size: int) -> None:
    """PAINS 3: one oracle for vmap, nested vmap and xmap, on mapped and unmapped operands."""
    rng = np.random.default_rng(size)
    x = rng.normal(size=(size, 2))
    collectives = {
        "psum": (lax.psum, lambda v: v.sum(0), lambda v: v * size),
        "pmean": (lax.pmean, lambda v: v.mean(0), lambda v: v),
        "pmax": (lax.pmax, lambda v: v.max(0), lambda v: v),
        "pmin": (lax.pmin, lambda v: v.min(0), lambda v: v),
    }
    for collective, of_mapped, of_shared in collectives.values():

        def fun(v: Any, u: Any, collective: Any = collective) -> Any:
            return collective(v, "i"), collective(u, "i"), lax.axis_index("i") + 0 * v

        with config.override(backend="numpy"):
            nested = vmap(
                vmap(fun, (0, None), (None, None, 0), axis_name="i"), (1, None), axis_name="j"
            )(x, 3.0)
            named = xmap(fun, ({0: "i", 1: "j"}, {}), ({0: "j"}, {0: "j"}, {0: "j", 1: "i"}))(
                x, 3.0
            )
        for found in (nested, named):
            np.testing.assert_allclose(found[0], of_mapped(x))
            np.testing.assert_allclose(found[1], np.full(2, of_shared(3.0)))
            np.testing.assert_allclose(found[2], np.tile(np.arange(size), (2, 1)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("reduce_axes", [(), ("i",)])
def test_branch_that_is_not_taken_has_no_say_in_the_gradient(
    reduce_axes: tuple[str, ...], backend: str
) -> None:
    """PAINS 8: its derivative is infinite where it is not taken, and 0 * inf would be NaN."""
    xs = np.array([4.0, 0.0, -1.0], np.float32)
    taken = np.array([True, False, False])

    def fun(w: Any, x: Any, here: Any) -> Any:
        return lax.cond(
            here, lambda w, x: lax.sqrt(x) * w + lax.log(w), lambda w, x: w * x * x, w, x
        )

    def both(w: Any, x: Any, here: Any) -> Any:
        return grad(fun, (0, 1), reduce_axes=reduce_axes)(w, x, here)

    out = None if reduce_axes else 0
    with config.override(backend=backend):
        for of in (both, jit(both)):
            of_w, of_x = vmap(of, (None, 0, 0), (out, 0), axis_name="i")(1.0, xs, taken)
            np.testing.assert_allclose(of_x, [0.25, 0.0, -2.0])
            np.testing.assert_allclose(of_w, 4.0 if reduce_axes else [3.0, 0.0, 1.0])
            # No index takes the logarithm of zero.
            of_w, _ = vmap(of, (None, 0, 0), (out, 0), axis_name="i")(0.0, xs, taken & False)
            np.testing.assert_allclose(of_w, 17.0 if reduce_axes else [16.0, 0.0, 1.0])
        outside = grad(
            lambda w: lax.reduce_sum(vmap(fun, (None, 0, 0), axis_name="i")(w, xs, taken), (0,))
        )
        np.testing.assert_allclose(outside(1.0), 4.0)


def test_sum_in_a_branch_reads_the_lanes_that_took_another() -> None:
    """Every index evaluates all branches of a mapped condition, and is there for the sum in one."""
    xs = np.array([1.0, 2.0, 4.0])
    taken = np.array([True, False, True])

    def fun(x: Any, here: Any) -> Any:
        return lax.cond(here, lambda v: lax.psum(v * v, "i"), lambda v: v * 3.0, x)

    def total(values: Any) -> Any:
        return lax.reduce_sum(vmap(fun, axis_name="i")(values, taken), (0,))

    with config.override(backend="numpy"):
        values = vmap(fun, axis_name="i")(xs, taken)
        inside = vmap(grad(fun), axis_name="i")(xs, taken)
        tangents = vmap(lambda x, t: jvp(lambda v: fun(v, t), (x,), (1.0,))[1], axis_name="i")
        outside = grad(total)(xs)

        np.testing.assert_allclose(values, [21.0, 6.0, 21.0])
        np.testing.assert_allclose(outside, 2 * 2 * xs + np.array([0.0, 3.0, 0.0]))
        np.testing.assert_allclose(inside, outside)
        np.testing.assert_allclose(tangents(xs, taken), [14.0, 3.0, 14.0])
