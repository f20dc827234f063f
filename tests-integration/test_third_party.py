"""Primitives of a third party, by public imports only, in every transformation on both backends.

An element-wise one, one that is only expanded, a collective, and one that holds a program and has
rules of its own for everything. The oracles are NumPy and finite differences.
"""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym import extend, lax

XS = np.array([-1.5, -0.2, 0.0, 0.7, 2.0], np.float32)


@pytest.fixture(params=["numpy", "xla"], autouse=True)
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    with ax.config.override(backend=request.param):
        yield request.param


# An element-wise primitive: mapped without a rule.

softsign_p = extend.Primitive("third_party.softsign", lambda x: x, kind="elementwise", cheap=True)


def softsign(x: Any) -> Any:
    return softsign_p.bind(x)


def _lower_softsign(ctx: Any, avals_in: Any, avals_out: Any, x: str) -> str:
    kind = ctx.type(avals_out[0])
    one = ctx.constant(1, avals_out[0])
    size = ctx.op(f"stablehlo.abs {x} : {kind}")
    below = ctx.op(f"stablehlo.add {size}, {one} : {kind}")
    return ctx.op(f"stablehlo.divide {x}, {below} : {kind}")


def _softsign_tangent(t: Any, out: Any, x: Any) -> Any:
    return t * (1.0 - abs(out)) ** 2


extend.register_evaluation(softsign_p, lambda x: x / (1 + abs(x)))
extend.register_lowering(softsign_p, _lower_softsign)
extend.defjvp(softsign_p, _softsign_tangent)

# Two that only say what they expand to.

cubed_p = extend.Primitive("third_party.cubed", lambda x: x, expand=lambda x: x * x * x)


def _minmax(x: Any) -> list[Any]:
    return [anp.min(x, -1), anp.max(x, -1)]


minmax_p = extend.Primitive(
    "third_party.minmax",
    lambda x: (x.update(shape=x.shape[:-1]),) * 2,
    multiple_results=True,
    expand=_minmax,
)

# A collective: what is left of a value without its mean over axes.


def _centred_shape(x: Any, *, axes: tuple[str, ...]) -> Any:
    return x


centred_p = extend.Primitive(
    "third_party.centred",
    _centred_shape,
    linear=extend.ALL,
    uses_axes=lambda params: params["axes"],
    absent={"evaluation": "axes are mapped away", "lowering": "axes are mapped away"},
)


def centred(x: Any, *axes: str) -> Any:
    return centred_p.bind(x, axes=axes)


def _batch_centred(axis: Any, args: Sequence[Any], dims: Sequence[Any], *, axes: Any) -> Any:
    (x,), (dim,) = args, dims
    rest = tuple(a for a in axes if a != axis.name)
    if axis.name not in axes:
        return centred_p.bind(x, axes=axes), dim
    if dim is None:
        return x * 0, None
    if not rest:
        return x - anp.mean(x, dim, keepdims=True), dim
    return x - lax.pmean(anp.mean(x, dim, keepdims=True), rest), dim


# Its matrix is symmetric, whichever way an axis is read.
extend.deflinear(centred_p, lambda reading, ct, x, *, axes: [centred_p.bind(ct, axes=axes)])
extend.register_batching(centred_p, _batch_centred)

# One that mentions an axis, and tells no index anything of the others.

tagged_p = extend.Primitive(
    "third_party.tagged",
    lambda x, *, axes: x,
    linear=extend.ALL,
    uses_axes=lambda params: params["axes"],
    communicates=False,
    absent={"evaluation": "axes are mapped away", "lowering": "axes are mapped away"},
)


def _batch_tagged(axis: Any, args: Sequence[Any], dims: Sequence[Any], *, axes: Any) -> Any:
    rest = tuple(a for a in axes if a != axis.name)
    return (tagged_p.bind(*args, axes=rest) if rest else args[0]), dims[0]


extend.deflinear(tagged_p, lambda reading, ct, x, *, axes: [tagged_p.bind(ct, axes=axes)])
extend.register_batching(tagged_p, _batch_tagged)

# A primitive that holds a program: it is applied to one slice after the other.


def _stacked(aval: Any, length: int) -> Any:
    return aval.update(shape=(length, *aval.shape), weak_type=False)


def _each_shape(*avals: Any, jaxpr: Any, num_consts: int, length: int) -> Any:
    return tuple(_stacked(a, length) for a in jaxpr.out_avals)


each_p = extend.Primitive(
    "third_party.each",
    _each_shape,
    multiple_results=True,
    linear=extend.ALL,
    programs=("jaxpr",),
)


def each(f: Callable[..., Any], consts: Sequence[Any], xs: Sequence[Any]) -> list[Any]:
    """`f(*consts, *slices)` for slices of `xs` along the first dimension, results stacked."""
    avals = [extend.aval_of(x) for x in xs]
    slices = [a.update(shape=a.shape[1:], weak_type=False) for a in avals]
    jaxpr = extend.trace_flat(
        lambda *args: [f(*args)], [*[extend.aval_of(c) for c in consts], *slices]
    )
    return bind_each(jaxpr, consts, xs, avals[0].shape[0])


def bind_each(jaxpr: Any, consts: Sequence[Any], xs: Sequence[Any], length: int) -> list[Any]:
    consts = [*jaxpr.consts, *consts]
    return each_p.bind(*consts, *xs, jaxpr=jaxpr.lifted(), num_consts=len(consts), length=length)


def arranged(jaxpr: Any, order: Sequence[int]) -> Any:
    """A program whose arguments come in another order (constants first, then slices)."""
    return extend.with_results(jaxpr, jaxpr.outvars, [jaxpr.invars[i] for i in order])


def bind_arranged(
    bind: Callable[..., Any], jaxpr: Any, args: Sequence[Any], is_const: Sequence[bool], n: int
) -> Any:
    order = sorted(range(len(args)), key=lambda i: not is_const[i])
    k = sum(is_const)
    values = [args[i] for i in order]
    return bind(arranged(jaxpr, order), values[:k], values[k:], n)


def _evaluate_each(*args: Any, jaxpr: Any, num_consts: int, length: int) -> Any:
    consts, xs = args[:num_consts], args[num_consts:]
    rows = [extend.run_jaxpr(jaxpr, [*consts, *[x[i] for x in xs]]) for i in range(length)]
    return [
        np.stack([row[k] for row in rows]) if rows else np.zeros((0, *a.shape), a.dtype)
        for k, a in enumerate(jaxpr.out_avals)
    ]


def _lower_each(
    ctx: Any, avals_in: Any, avals_out: Any, *args: str, jaxpr: Any, num_consts: int, length: int
) -> list[str]:
    rows = []
    for i in range(length):
        slices = []
        for x, aval in zip(args[num_consts:], avals_in[num_consts:], strict=True):
            one = aval.update(shape=(1, *aval.shape[1:]))
            ranges = ", ".join([f"{i}:{i + 1}", *[f"0:{d}" for d in aval.shape[1:]]])
            part = ctx.op(f"stablehlo.slice {x} [{ranges}] : ({ctx.type(aval)}) -> {ctx.type(one)}")
            to = ctx.type(aval.update(shape=aval.shape[1:]))
            slices.append(ctx.op(f"stablehlo.reshape {part} : ({ctx.type(one)}) -> {to}"))
        rows.append(ctx.inline(jaxpr, *args[:num_consts], *slices))
    outs = []
    for k, (inner, outer) in enumerate(zip(jaxpr.out_avals, avals_out, strict=True)):
        one = ctx.type(inner.update(shape=(1, *inner.shape)))
        parts = [ctx.op(f"stablehlo.reshape {r[k]} : ({ctx.type(inner)}) -> {one}") for r in rows]
        types = ", ".join([one] * length)
        names = ", ".join(parts)
        to = ctx.type(outer)
        outs.append(ctx.op(f"stablehlo.concatenate {names}, dim = 0 : ({types}) -> {to}"))
    return outs


def _nonzero(values: Sequence[Any]) -> tuple[bool, ...]:
    return tuple(not isinstance(v, extend.Zero) for v in values)


def _jvp_each(
    primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: Any, num_consts: int, length: int
) -> Any:
    mask = _nonzero(tangents)
    n = len(jaxpr.outvars)
    program = extend.jvp_program(jaxpr, mask, (False,) * n)
    is_const = [i < num_consts for i in range(len(primals))]
    args = [*primals, *[t for t, m in zip(tangents, mask, strict=True) if m]]
    is_const += [c for c, m in zip(is_const, mask, strict=True) if m]
    outs = bind_arranged(bind_each, program.jaxpr, args, is_const, length)
    rest = iter(outs[n:])
    return outs[:n], [
        next(rest) if m else extend.Zero(extend.aval_of(o).to_tangent())
        for o, m in zip(outs[:n], program.nonzero, strict=True)
    ]


def _split_each(
    tape: Any, args: Sequence[Any], tangents: Any, *, jaxpr: Any, num_consts: int, length: int
) -> Any:
    differentiate = tangents is not None
    mask = _nonzero(tangents) if differentiate else tuple(tape.is_own(x) for x in args)
    split = extend.split_program(
        jaxpr, mask, (False,) * len(jaxpr.outvars), differentiate=differentiate
    )
    is_const = [i < num_consts for i in range(len(args))]
    known = [differentiate or not m for m in mask]
    primals = [x for x, k in zip(args, known, strict=True) if k]
    primal_const = [c for c, k in zip(is_const, known, strict=True) if k]
    k = sum(primal_const)
    outs = bind_each(split.primal, primals[:k], primals[k:], length)

    def record(program: Any, consts: Sequence[Any], xs: Sequence[Any], n: int) -> Any:
        consts = [*program.consts, *consts]
        params = {"jaxpr": program.lifted(), "num_consts": len(consts), "length": n}
        return tape.record(each_p, (*consts, *xs), params)

    moving = [t for t, m in zip(tangents if differentiate else args, mask, strict=True) if m]
    residual_const = [primal_const[i] for i in split.forwarded] + [False] * split.computed
    linear = bind_arranged(
        record,
        split.linear,
        [*split.residuals(primals, outs), *moving],
        [*residual_const, *[c for c, m in zip(is_const, mask, strict=True) if m]],
        length,
    )
    return outs[: split.known_outs], linear, split.linear_outs


def _transpose_each(
    reading: Any, cts: Any, *args: Any, jaxpr: Any, num_consts: int, length: int
) -> list[Any]:
    linear = tuple(extend.is_linear(x) for x in args)
    one = [
        None if isinstance(c, extend.Zero) else extend.aval_of(c).update(shape=a.shape)
        for c, a in zip(cts, jaxpr.out_avals, strict=True)
    ]
    types = tuple(None if a is None else a.strip_weak_type() for a in one)
    program = extend.transpose_program(jaxpr, linear, types, reading)
    known = [(x, i < num_consts) for i, x in enumerate(args) if not linear[i]]
    given = [(c, False) for c in cts if not isinstance(c, extend.Zero)]
    values, is_const = zip(*known, *given, strict=True)
    outs = iter(bind_arranged(bind_each, program.jaxpr, values, is_const, length))
    found = [next(outs) if m else None for m in program.nonzero]
    rest = iter(found)
    result: list[Any] = []
    for i, is_moving in enumerate(linear):
        ct = next(rest) if is_moving else None
        result.append(anp.sum(ct, 0) if ct is not None and i < num_consts else ct)
    return result


def _batch_each(
    axis: Any, args: Sequence[Any], dims: Any, *, jaxpr: Any, num_consts: int, length: int
) -> Any:
    consts, xs = args[:num_consts], args[num_consts:]
    xs = [
        x if d is None else extend.move_dim(x, d, 1, axis.size)
        for x, d in zip(xs, dims[num_consts:], strict=True)
    ]
    inner = [*dims[:num_consts], *[None if d is None else 0 for d in dims[num_consts:]]]
    program = extend.batch_program(jaxpr, axis, inner)
    outs = bind_each(program.jaxpr, consts, xs, length)
    return outs, [None if d is None else d + 1 for d in program.dims]


extend.register_evaluation(each_p, _evaluate_each)
extend.register_lowering(each_p, _lower_each)
extend.register_jvp(each_p, _jvp_each)
extend.register_split(each_p, _split_each)
extend.register_transpose(each_p, _transpose_each, sums_named_axes=True)
extend.register_batching(each_p, _batch_each)


def mixed(w: Any, row: Any, x: Any) -> Any:
    """Body of `each`: shared weights, a slice, a nonlinearity of its own."""
    return anp.sin(w * x) * anp.sum(row) + anp.exp(-x * x)


def swept(w: Any, xs: Any) -> Any:
    """A scalar from a program in a program; with NumPy's functions it is its own oracle."""
    (out,) = each(lambda a, x: mixed(a, anp.stack([x, a]), x), [w], [xs])
    return anp.sum(out * anp.arange(1.0, xs.shape[0] + 1, dtype=out.dtype))


def swept_by_numpy(w: Any, xs: Any) -> Any:
    w, xs = np.float64(w), np.asarray(xs, np.float64)
    values = np.sin(w * xs) * (xs + w) + np.exp(-xs * xs)
    return np.sum(values * np.arange(1, len(xs) + 1))


def slope(f: Callable[[Any], Any], x: Any, h: float = 1e-6) -> Any:
    x = np.asarray(x, np.float64)
    grid = np.eye(x.size).reshape(-1, *x.shape) if x.ndim else np.ones((1,))
    found = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in grid]
    return np.reshape(found, x.shape) if x.ndim else found[0]


def softsign_by_numpy(x: Any) -> Any:
    return x / (1 + np.abs(x))


ELEMENTWISE = [
    (softsign, softsign_by_numpy),
    (lambda x: cubed_p.bind(x), lambda x: x**3),
]


@pytest.mark.parametrize(("f", "oracle"), ELEMENTWISE, ids=["rules", "expanded"])
class TestElementwise:
    def test_values(self, f: Any, oracle: Any) -> None:
        for g in (f, ax.jit(f), ax.vmap(f), ax.jit(ax.vmap(f)), ax.xmap(f, ["i"], ["i"])):
            np.testing.assert_allclose(g(XS), oracle(XS), rtol=1e-6)
        (_, ys) = lax.scan(lambda c, x: (c, f(x)), 0.0, XS)
        np.testing.assert_allclose(ys, oracle(XS), rtol=1e-6)
        for empty in (np.zeros((0,), np.float32), np.zeros((2, 0), np.float32)):
            assert ax.jit(ax.vmap(f))(empty).shape == empty.shape

    def test_derivatives(self, f: Any, oracle: Any) -> None:
        points = XS[[0, 1, 3, 4]]
        wanted = [slope(oracle, x) for x in points]
        for g in (ax.grad(f), ax.jit(ax.grad(f)), ax.grad(ax.jit(f))):
            np.testing.assert_allclose(ax.vmap(g)(points), wanted, rtol=1e-4)
        _, t = ax.jvp(f, (points,), (np.ones_like(points),))
        np.testing.assert_allclose(t, wanted, rtol=1e-4)
        wide = points.astype(np.float64)
        second = [slope(lambda x: slope(oracle, x, 1e-4), x, 1e-4) for x in wide]
        np.testing.assert_allclose(ax.vmap(ax.grad(ax.grad(f)))(wide), second, rtol=1e-3, atol=1e-6)

    def test_mapped_operands_of_any_rank(self, f: Any, oracle: Any) -> None:
        x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)
        for dim in range(3):
            np.testing.assert_allclose(ax.vmap(f, dim, dim)(x), oracle(x), rtol=1e-6)


def test_a_primitive_of_several_results_that_is_only_expanded() -> None:
    x = np.array([[3.0, 1.0, 2.0], [5.0, 4.0, 6.0]], np.float32)

    def spread(row: Any) -> Any:
        low, high = minmax_p.bind(row)
        return high - low

    for f in (spread, ax.jit(spread), ax.jit(ax.vmap(spread)), ax.xmap(spread, ["i", ...], ["i"])):
        np.testing.assert_allclose(f(x), [2.0, 2.0])
    gradient = [[1.0, -1.0, 0.0], [0.0, -1.0, 1.0]]
    for g in (ax.vmap(ax.grad(spread)), ax.jit(ax.vmap(ax.grad(ax.jit(spread))))):
        np.testing.assert_allclose(g(x), gradient)
    _, ys = lax.scan(lambda c, row: (c + 1, spread(row)), 0, x)
    np.testing.assert_allclose(ys, [2.0, 2.0])
    assert "third_party.minmax" in str(ax.make_jaxpr(spread)(x))


class TestCollective:
    def test_values(self) -> None:
        x = np.arange(12.0, dtype=np.float32).reshape(3, 4) ** 2

        def f(v: Any) -> Any:
            return centred(v, "i")

        for g in (ax.vmap(f, axis_name="i"), ax.xmap(f, ["i", ...], ["i", ...])):
            for h in (g, ax.jit(g)):
                np.testing.assert_allclose(h(x), x - x.mean(0), rtol=1e-5)
        both = ax.vmap(ax.vmap(lambda v: centred(v, "i", "j"), axis_name="j"), axis_name="i")
        np.testing.assert_allclose(both(x), x - x.mean(), rtol=1e-5)

    def test_inside_of_loops_and_calls(self) -> None:
        x = np.arange(3.0, dtype=np.float32)

        def f(v: Any) -> Any:
            step = ax.jit(lambda c, _: (c + centred(c, "i"), None))
            return lax.scan(step, v, None, length=2)[0]

        wanted = x + 3 * (x - 1)
        np.testing.assert_allclose(ax.jit(ax.vmap(f, axis_name="i"))(x), wanted)

    def test_gradients_in_both_readings(self) -> None:
        x = np.array([0.5, -1.0, 2.0, 0.1], np.float32)
        w = np.float32(0.7)

        def f(w: Any, v: Any) -> Any:
            return anp.sin(centred(w * v * v, "i")) * v

        def outputs(ws: Any) -> Any:
            y = ws * np.asarray(x, np.float64) ** 2
            return np.sin(y - y.mean()) * x

        total = ax.vmap(ax.grad(f, reduce_axes=("i",)), (None, 0), None, axis_name="i")(w, x)
        np.testing.assert_allclose(total, slope(lambda s: np.sum(outputs(s)), float(w)), rtol=1e-4)
        own = ax.vmap(ax.grad(f), (None, 0), axis_name="i")(w, x)
        wanted = slope(lambda ws: np.sum(outputs(ws)), np.full(4, w, np.float64))
        np.testing.assert_allclose(own, wanted, rtol=1e-4)
        tangent = ax.vmap(
            lambda v: ax.jvp(lambda s: f(s, v), (w,), (np.float32(1),))[1], axis_name="i"
        )(x)
        np.testing.assert_allclose(tangent, slope_of_all(outputs, float(w)), rtol=1e-4)

    def test_a_branch_whose_condition_is_mapped_reads_the_others(self) -> None:
        x = np.array([-1.0, 3.0, 4.0], np.float32)

        def f(v: Any) -> Any:
            return lax.cond(v > 0, lambda: centred(v, "i"), lambda: v)

        np.testing.assert_allclose(ax.vmap(f, axis_name="i")(x), [-1.0, 1.0, 2.0])


def test_a_branch_that_only_mentions_an_axis_keeps_infinities_out_of_gradients() -> None:
    def f(w: Any, x: Any) -> Any:
        return lax.cond(x > 0, lambda: tagged_p.bind(1.0 / (w * x), axes=("i",)), lambda: 0.0)

    x = np.array([0.0, 1.0, 2.0], np.float32)
    for g in (f, ax.jit(f)):
        own = ax.vmap(ax.grad(g), (None, 0), axis_name="i")(1.0, x)
        np.testing.assert_allclose(own, [0.0, -1.0, -0.5])
        total = ax.grad(g, reduce_axes=("i",))
        np.testing.assert_allclose(ax.vmap(total, (None, 0), None, axis_name="i")(1.0, x), -1.5)


def slope_of_all(f: Callable[[Any], Any], x: float, h: float = 1e-6) -> Any:
    return (f(x + h) - f(x - h)) / (2 * h)


class TestProgramInside:
    xs = np.array([0.3, -0.8, 1.1], np.float32)
    w = np.float32(0.6)

    def test_values(self) -> None:
        wanted = swept_by_numpy(self.w, self.xs)
        for f in (swept, ax.jit(swept)):
            np.testing.assert_allclose(f(self.w, self.xs), wanted, rtol=1e-5)

    @pytest.mark.parametrize("wrap", [lambda f: f, ax.jit], ids=["eager", "jit"])
    def test_derivatives(self, wrap: Any) -> None:
        w, xs = self.w, self.xs
        by_w = slope(lambda v: swept_by_numpy(v, xs), w)
        by_xs = slope(lambda v: swept_by_numpy(w, v), xs)
        for f in (swept, ax.jit(swept)):
            gw, gx = wrap(ax.grad(f, argnums=(0, 1)))(w, xs)
            np.testing.assert_allclose(gw, by_w, rtol=1e-4)
            np.testing.assert_allclose(gx, by_xs, rtol=1e-4)
            t = wrap(lambda a, b, f=f: ax.jvp(f, (a, b), (a, b))[1])(w, xs)
            np.testing.assert_allclose(t, by_w * w + by_xs @ xs, rtol=1e-4)

    def test_second_derivatives(self) -> None:
        w, xs = np.array(self.w, np.float64), self.xs.astype(np.float64)
        gradient = ax.grad(swept)

        second = ax.grad(gradient)(w, xs)
        wanted = slope(lambda v: np.float64(gradient(np.asarray(v), xs)), w)
        np.testing.assert_allclose(second, wanted, rtol=1e-6)
        _, forward = ax.jvp(lambda v: gradient(v, xs), (w,), (np.ones(()),))
        np.testing.assert_allclose(forward, wanted, rtol=1e-6)

    @pytest.mark.parametrize("name", [None, "i"])
    def test_mapped(self, name: str | None) -> None:
        ws = np.array([0.6, -0.4], np.float32)
        batch = np.stack([self.xs, self.xs[::-1] * 2])
        wanted = [swept_by_numpy(a, b) for a, b in zip(ws, batch, strict=True)]
        np.testing.assert_allclose(ax.vmap(swept, axis_name=name)(ws, batch), wanted, rtol=1e-5)
        shared = ax.jit(ax.vmap(swept, (None, 1), axis_name=name))(self.w, batch.T)
        np.testing.assert_allclose(shared, [swept_by_numpy(self.w, b) for b in batch], rtol=1e-5)
        own = ax.vmap(ax.grad(swept), (None, 0), axis_name=name)(self.w, batch)
        np.testing.assert_allclose(
            own, [slope(lambda v, b=b: swept_by_numpy(v, b), self.w) for b in batch], rtol=1e-4
        )

    def test_total_gradient_over_a_named_axis(self) -> None:
        batch = np.stack([self.xs, self.xs[::-1] * 2])
        by_w = slope(lambda v: sum(swept_by_numpy(v, b) for b in batch), self.w)

        for f in (swept, ax.jit(swept)):
            gradient = ax.grad(f, reduce_axes=("i",))
            for g in (
                ax.vmap(gradient, (None, 0), None, axis_name="i"),
                ax.xmap(gradient, in_axes=([...], ["i", ...]), out_axes=[...]),
            ):
                np.testing.assert_allclose(g(self.w, batch), by_w, rtol=1e-4)
                np.testing.assert_allclose(ax.jit(g)(self.w, batch), by_w, rtol=1e-4)

    def test_collectives_inside(self) -> None:
        def f(xs: Any) -> Any:
            (out,) = each(lambda x: centred(x * x, "i") * softsign(x), [], [xs])
            return anp.sum(out)

        x = np.array([[0.3, -0.8], [1.1, 0.4], [2.0, 0.1]], np.float32)

        def outputs(v: Any) -> Any:
            v = np.asarray(v, np.float64)
            return np.sum((v**2 - (v**2).mean(0)) * softsign_by_numpy(v), 1)

        np.testing.assert_allclose(ax.vmap(f, axis_name="i")(x), outputs(x), rtol=1e-4)
        gradient = ax.jit(ax.vmap(ax.grad(f), axis_name="i"))(x)
        np.testing.assert_allclose(
            gradient, slope(lambda v: np.sum(outputs(v)), x), rtol=1e-4, atol=1e-6
        )

    def test_inside_of_other_programs(self) -> None:
        def looped(w: Any) -> Any:
            return lax.scan(lambda c, x: (c + swept(w, x), None), 0.0, np.stack([self.xs] * 2))[0]

        def branched(w: Any) -> Any:
            return lax.cond(w > 0, swept, lambda a, b: a, w, self.xs)

        twice = slope(lambda v: 2 * swept_by_numpy(v, self.xs), self.w)
        np.testing.assert_allclose(ax.grad(looped)(self.w), twice, rtol=1e-4)
        np.testing.assert_allclose(ax.jit(ax.grad(branched))(self.w), twice / 2, rtol=1e-4)
        over = ax.vmap(ax.grad(branched))(np.array([0.6, -0.6], np.float32))
        np.testing.assert_allclose(over, [twice / 2, 1.0], rtol=1e-4)

    def test_linear_programs_are_transposed(self) -> None:
        m = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)

        def apply(v: Any) -> Any:
            return each(lambda a, row: anp.sum(a * row), [v], [m])[0]

        (back,) = ax.linear_transpose(apply, np.zeros(2, np.float32))(np.ones(3, np.float32))
        np.testing.assert_allclose(back, m.sum(0))
        (back,) = ax.linear_transpose(ax.jit(apply), np.zeros(2, np.float32))(
            np.ones(3, np.float32)
        )
        np.testing.assert_allclose(back, m.sum(0))

    def test_no_steps_and_one(self) -> None:
        one = self.xs[:1]
        np.testing.assert_allclose(swept(self.w, one), swept_by_numpy(self.w, one), rtol=1e-5)
        np.testing.assert_allclose(
            ax.grad(swept)(self.w, one),
            slope(lambda v: swept_by_numpy(v, one), self.w),
            rtol=1e-4,
        )


scaled_p = extend.Primitive("third_party.scaled", lambda x, s: x, linear=(0,))
extend.register_transpose(scaled_p, lambda reading, ct, x, s: [scaled_p.bind(ct, s), None])


def test_a_primitive_is_linear_only_in_the_operands_that_it_names() -> None:
    with pytest.raises(ax.errors.NotLinearError, match=r"third_party\.scaled"):
        ax.linear_transpose(lambda s: scaled_p.bind(1.0, s), 1.0)(1.0)


def test_names_are_kept_apart_and_pickled() -> None:
    with pytest.raises(ax.errors.PrimitiveNameError, match="axonym_core"):
        extend.Primitive("sin", lambda x: x)
    assert pickle.loads(pickle.dumps(softsign_p)) is softsign_p


def test_a_module_is_reloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        "from axonym import extend\n"
        "half_p = extend.Primitive('reloaded.half', lambda x: x, expand=lambda x: x * {})\n"
    )
    path = tmp_path / "third_party_reloaded.py"
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "third_party_reloaded", raising=False)
    path.write_text(source.format(0.5))
    module: Any = importlib.import_module("third_party_reloaded")
    old = module.half_p
    assert float(ax.jit(old.bind)(3.0)) == 1.5
    path.write_text(source.format(0.25))
    importlib.reload(module)
    assert float(ax.jit(module.half_p.bind)(3.0)) == 0.75
    assert pickle.loads(pickle.dumps(old)) is module.half_p
    (tmp_path / "another.py").write_text(source.format(1.0))
    with pytest.raises(ax.errors.PrimitiveNameError, match="third_party_reloaded"):
        importlib.import_module("another")
