"""Axes without an index, and operands without elements: shapes as of a loop, derivatives too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym import lax

pytestmark = pytest.mark.usefixtures("backend")

F, INT, BOOL = np.float64, np.int32, np.bool_
Operand = tuple[type, tuple[int, ...]]


def f(*shape: int) -> Operand:
    return F, shape


def i(*shape: int) -> Operand:
    return INT, shape


def operations(n: int) -> dict[str, tuple[Callable[..., Any], list[Operand]]]:
    """An operation of each family; `n` is a size in its operands, 0 among others."""
    mask = (BOOL, (n, 2))
    return {
        "add": (lax.add, [f(n, 2), f(n, 2)]),
        "select": (lax.select, [mask, f(n, 2), f(n, 2)]),
        "clamp": (lax.clamp, [f(), f(n, 2), f()]),
        "bits": (lambda x: lax.bitcast_convert_type(x, np.uint32), [f(n, 2)]),
        "broadcast": (lambda x: lax.broadcast_in_dim(x, (4, n), (1,)), [f(n)]),
        "reshape": (lambda x: lax.reshape(x, (x.size,)), [f(n, 2)]),
        "concatenate": (lambda x, y: lax.concatenate([x, y], 0), [f(n, 2), f(2, 2)]),
        "pad": (lambda x, v: lax.pad(x, v, [(1, 2, 1)]), [f(n), f()]),
        "slice": (lambda x: lax.slice(x, (0,), (n,), (2,)), [f(n)]),
        "reduce": (lambda x: lax.reduce_max(x, (1,)), [f(n, 2)]),
        "product": (lambda x: lax.reduce_prod(x, (0,)), [f(n, 2)]),
        "argmax": (lambda x: lax.argmax(x, 1, np.int32), [f(n, 2)]),
        "cumprod": (lambda x: lax.cumprod(x, 0), [f(n, 2)]),
        "dot": (lax.dot, [f(2, n), f(n, 3)]),
        "batched dot": (anp.matmul, [f(n, 2, 3), f(n, 3, 2)]),
        "sort": (lambda x: lax.sort(x, 0), [f(n, 2)]),
        "sort pairs": (lambda x, y: lax.sort((x, y), 0), [f(n, 2), f(n, 2)]),
        "top_k": (lambda x: lax.top_k(x, 1), [f(n, 2)]),
        "top_k of none": (lambda x: lax.top_k(x, 0), [f(2, n)]),
        "median": (lambda x: anp.median(x, axis=1), [f(n, 3)]),
        "take": (lambda x, k: anp.take(x, k, axis=0), [f(3, 2), i(n)]),
        "take rows of": (lambda x, k: anp.take(x, k, axis=0), [f(3, n), i(2)]),
        "take_along_axis": (lambda x, k: anp.take_along_axis(x, k, 1), [f(n, 3), i(n, 2)]),
        "index": (lambda x, k: x[k], [f(3, n), i()]),
        "set": (lambda x, k, v: x.at[k].set(v), [f(3, 2), i(n), f(n, 2)]),
        "add at": (lambda x, k, v: x.at[k].add(v), [f(3, n), i(2), f(2, n)]),
        "max at": (lambda x, k, v: x.at[k].max(v), [f(3, n), i(2), f(2, n)]),
        "dynamic_slice": (lambda x, k: lax.dynamic_slice(x, (k, k), (1, n)), [f(3, n), i()]),
        "dynamic_update_slice": (
            lambda x, u, k: lax.dynamic_update_slice(x, u, (k, 0)),
            [f(3, n), f(1, n), i()],
        ),
        "convolution": (
            lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"),
            [f(n, 2, 5), f(1, 2, 3)],
        ),
        "grouped convolution": (
            lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", feature_group_count=2),
            [f(n, 2, 5), f(2, 1, 3)],
        ),
        "cond": (lambda p, x: lax.cond(p[0], lambda: x * 2, lambda: x + 1), [(BOOL, (1,)), f(n)]),
        "scan": (
            lambda c, xs: lax.scan(lambda c, x: (c * x, c + x), c, xs),
            [f(2), f(n, 2)],
        ),
        "while": (
            lambda x, k: lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0], c[1] + 1), (x, k)),
            [f(n), i()],
        ),
        "jit": (ax.jit(lambda x: x * 2), [f(n, 2)]),
        "weak": (lambda x: (x * 0 + 1, 2.0), [f(n)]),
    }


def arrays(operands: list[Operand], lead: tuple[int, ...] = ()) -> list[Any]:
    rng = np.random.default_rng(0)
    return [
        np.array(rng.random((*lead, *shape)) * 2 + (dtype is F) * 0.5, dtype)
        for dtype, shape in operands
    ]


def shapes(tree: Any) -> list[tuple[int, ...]]:
    return [np.shape(leaf) for leaf in ax.tree_util.tree_leaves(tree)]


def loss(function: Callable[..., Any]) -> Callable[..., Any]:
    def of(*args: Any) -> Any:
        leaves = ax.tree_util.tree_leaves(function(*args))
        real = [anp.asarray(x) for x in leaves if np.dtype(anp.asarray(x).dtype).kind == "f"]
        return sum([anp.sum(x * x) for x in real], start=anp.zeros((), F))

    return of


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("name", operations(0))
def test_mapped_over_no_index_shapes_are_those_of_one_index(name: str, n: int) -> None:
    function, operands = operations(n)[name]
    single = [anp.asarray(x) for x in arrays(operands)]
    one = shapes(function(*single))
    floats = tuple(k for k, (dtype, _) in enumerate(operands) if dtype is F)
    grad = ax.grad(loss(function), floats)
    loops = name == "while"
    if not loops:
        assert shapes(grad(*single)) == [single[k].shape for k in floats]
    count = len(operands)
    for mapped in {(True,) * count, *[tuple(k == j for j in range(count)) for k in range(count)]}:
        args = [
            np.zeros((0, *x.shape), x.dtype) if m else x
            for x, m in zip(single, mapped, strict=True)
        ]
        axes = tuple(0 if m else None for m in mapped)
        for axis_name in (None, "i"):
            out = ax.vmap(function, axes, axis_name=axis_name)(*args)
            assert shapes(out) == [(0, *s) for s in one]
        if not loops:
            each = ax.vmap(grad, axes, axis_name="i")(*args)
            assert shapes(each) == [(0, *single[k].shape) for k in floats]
            losses = ax.vmap(loss(function), axes)
            total = ax.grad(lambda *a, f=losses: anp.sum(f(*a)), floats)(*args)
            assert shapes(total) == [args[k].shape for k in floats]
            for g, k in zip(total, floats, strict=True):
                if not mapped[k]:
                    np.testing.assert_array_equal(g, np.zeros(g.shape))


@pytest.mark.parametrize(("size", "n"), [(1, 1), (2, 0), (2, 1)])
@pytest.mark.parametrize("name", operations(0))
def test_mapped_over_few_indices_results_are_those_of_a_loop(name: str, n: int, size: int) -> None:
    function, operands = operations(n)[name]
    args = arrays(operands, (size,))
    rows = [function(*[anp.asarray(np.array(x[k])) for x in args]) for k in range(size)]
    got = ax.vmap(function, axis_name="i")(*args)
    for leaf, *wanted in zip(*[ax.tree_util.tree_leaves(t) for t in (got, *rows)], strict=True):
        np.testing.assert_allclose(leaf, np.stack([np.asarray(w) for w in wanted]), rtol=1e-12)


def test_collectives_over_no_index_are_those_of_no_elements() -> None:
    x = np.zeros((0, 3))
    total = ax.vmap(lambda r: lax.psum(r, "i"), axis_name="i", out_axes=None)(x)
    np.testing.assert_array_equal(total, np.zeros(3))
    most = ax.vmap(lambda r: lax.pmax(r, "i"), axis_name="i", out_axes=None)(x)
    np.testing.assert_array_equal(most, np.full(3, -np.inf))
    loss = lambda w, r: lax.psum(anp.sum(w * r), "i")  # noqa: E731
    grad = ax.vmap(ax.grad(loss, reduce_axes=("i",)), (None, 0), out_axes=None, axis_name="i")(
        anp.ones(3), x
    )
    np.testing.assert_array_equal(grad, np.zeros(3))


def test_results_over_no_index_have_the_types_of_the_others() -> None:
    def f(x: Any, y: Any) -> Any:
        return ax.vmap(lambda x, y: (x[y], lax.add(x, 1.0), lax.psum(x, "j")), axis_name="k")(x, y)

    x = ax.ShapeDtypeStruct((0, 3), np.float32, named_shape={"j": 2})
    y = ax.ShapeDtypeStruct((0, 1), np.int32)
    types = ax.make_jaxpr(f, axis_env=[("j", 2)])(x, y).out_avals
    assert [str(t) for t in types] == ["f32[0,1;j:2]", "f32[0,3;j:2]", "f32[0,3]"]
