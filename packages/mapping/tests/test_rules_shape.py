"""Moving elements under `vmap` is a loop over slices, wherever the mapped dimension lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.settings import config
from axonym_mapping import vmap

X = np.random.default_rng(0).normal(size=(3, 4, 5, 2))


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def check_loop(f: Callable[..., Any], *xs: Any, in_axes: tuple[int | None, ...]) -> None:
    size = next(np.shape(x)[d] for x, d in zip(xs, in_axes, strict=True) if d is not None)
    slices = [
        f(*[x if d is None else np.take(x, i, d) for x, d in zip(xs, in_axes, strict=True)])
        for i in range(size)
    ]
    for out_axis in (0, -1):
        out = vmap(f, in_axes, out_axis)(*xs)
        wanted = np.stack([np.asarray(s) for s in slices], out_axis)
        np.testing.assert_array_equal(np.asarray(out), wanted, strict=True)


MOVES: dict[str, Callable[[Any], Any]] = {
    "broadcast": lambda x: lax.broadcast_in_dim(x, (7, *x.shape[:2], 6, *x.shape[2:]), (1, 2, 4)),
    "reshape": lambda x: lax.reshape(x, (x.size,)),
    "reshape in part": lambda x: lax.reshape(x, (x.shape[0], x.size // x.shape[0])),
    "reshape with ones": lambda x: lax.reshape(x, (1, *x.shape, 1)),
    "transpose": lambda x: lax.transpose(x, (2, 0, 1)),
    "squeeze": lambda x: lax.squeeze(x[:1, :, -1:], (0, 2)),
    "rev": lambda x: lax.rev(x, (0, 2)),
    "slice": lambda x: lax.slice(x, (0, 1, 0), (2, 2, 2), (2, 1, 1)),
    "pad": lambda x: lax.pad(x, 1.0, [(1, 2, 0), (0, -1, 2), (3, 0, 1)]),
    "split": lambda x: lax.split(x, (1, x.shape[1] - 1), 1)[1],
    "concatenate": lambda x: lax.concatenate([x, x], 1),
    "barrier": lambda x: lax.optimization_barrier((x, 1.0))[0],
    "index": lambda x: x[::-2, None, 1:],
    "row": lambda x: x[-1],
}


@pytest.mark.parametrize("dim", [0, 1, 2, 3])
@pytest.mark.parametrize("f", MOVES.values(), ids=MOVES.keys())
def test_one_operand(f: Callable[[Any], Any], dim: int) -> None:
    check_loop(f, X, in_axes=(dim,))


@pytest.mark.parametrize("in_axes", [(0, 1), (2, None), (None, 0), (None, 2)])
def test_concatenation_of_mapped_and_unmapped_operands(in_axes: Any) -> None:
    def batched(d: int | None, rows: int) -> Any:
        x = np.arange(rows * 3.0).reshape(rows, 3)
        return x if d is None else np.stack([x, x + 10, x + 20], d)

    first, second = batched(in_axes[0], 2), batched(in_axes[1], 4)
    check_loop(lambda x, y: lax.concatenate([x, y, x], 0), first, second, in_axes=in_axes)


@pytest.mark.parametrize("in_axes", [(0, 0), (1, 0), (None, 0), (2, None)])
def test_padding_with_mapped_values(in_axes: Any) -> None:
    x = X[0, :3, :3, :]
    if in_axes[0] is None:
        x = x[0]
    values = np.array([10.0, 20.0, 30.0])[: x.shape[in_axes[0] or 0]]
    value: Any = values if in_axes[1] is not None else values[0]
    ndim = x.ndim - (in_axes[0] is not None)
    padding = [(1, -1, 1)] * ndim
    check_loop(lambda x, v: lax.pad(x, v, padding), x, value, in_axes=in_axes)


def test_the_mapped_dimension_is_not_moved_where_it_may_stay() -> None:
    x = ShapeDtypeStruct((4, 3, 2), "float32")

    def f(x: Any) -> Any:
        y = lax.broadcast_in_dim(lax.reshape(x, (2, 2, 2)), (2, 2, 5, 2), (0, 1, 3))
        return lax.rev(lax.concatenate([y, y], 3), (0,))

    program = make_jaxpr(vmap(f, 1, 2))(x)
    assert "transpose" not in str(program)
    wanted = ShapeDtypeStruct((2, 2, 3, 5, 4), "float32")
    assert program.out_avals[0].shape == wanted.shape


def test_arrays_without_elements() -> None:
    x = np.zeros((3, 0, 2))
    check_loop(lambda x: lax.reshape(x, (2, 0)), x, in_axes=(0,))
    check_loop(lambda x: lax.reshape(x, (2, 0)), np.moveaxis(x, 0, 2), in_axes=(2,))
