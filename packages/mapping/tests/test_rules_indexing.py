"""Reading and writing under `vmap` are loops over slices, and stay one gather or one scatter."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.arrays import as_concrete
from axonym_core.settings import config
from axonym_mapping import vmap

RNG = np.random.default_rng(0)
SIZE = 3


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def check_loop(f: Callable[..., Any], *xs: Any, in_axes: tuple[int | None, ...]) -> None:
    def at(x: Any, d: int | None, i: int) -> Any:
        return as_concrete(x if d is None else np.take(x, i, d))

    wanted = [
        np.asarray(f(*[at(x, d, i) for x, d in zip(xs, in_axes, strict=True)])) for i in range(SIZE)
    ]
    out = vmap(f, in_axes)(*[as_concrete(x) for x in xs])
    np.testing.assert_allclose(np.asarray(out), np.stack(wanted), rtol=1e-12)


def batched(shape: tuple[int, ...], dim: int | None, low: int = 0, high: int = 0) -> Any:
    """An operand with the mapped axis at `dim`: floats, or integers from `low` to `high`."""
    full = shape if dim is None else (*shape[:dim], SIZE, *shape[dim:])
    return RNG.integers(low, high, full) if high else RNG.normal(size=full)


def some_mapped(*dims: tuple[int | None, ...]) -> list[tuple[int | None, ...]]:
    """All choices of mapped dimensions in which something is mapped."""
    return [c for c in itertools.product(*dims) if any(d is not None for d in c)]


READS: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, ...]]] = {
    "row": (lambda x, i: x[i], ()),
    "column": (lambda x, i: x[:, i], ()),
    "element": (lambda x, i: x[i, i], ()),
    "rows": (lambda x, i: x[i], (4,)),
    "columns": (lambda x, i: x[:, i], (2, 2)),
    "elements": (lambda x, i: x[i, i[::-1]], (4,)),
    "filled": (lambda x, i: x.at[i].get(mode="fill", fill_value=-1), (4,)),
    "box": (lambda x, i: lax.dynamic_slice(x, (i[0], i[1]), (2, 3)), (2,)),
}


@pytest.mark.parametrize("dims", some_mapped((None, 0, 1, 2), (None, 0)), ids=str)
@pytest.mark.parametrize("name", READS)
def test_reading(name: str, dims: Any) -> None:
    f, shape = READS[name]
    if dims[1] is not None and len(shape) > 0:
        dims = (dims[0], len(shape) - 1)
    x, indices = batched((5, 4), dims[0]), batched(shape, dims[1], -7, 8)
    check_loop(f, x, indices, in_axes=dims)


UPDATES = ["set", "add", "multiply", "min", "max"]


@pytest.mark.parametrize("dims", some_mapped((None, 0, 1), (None, 0), (None, 0, 1)), ids=str)
@pytest.mark.parametrize("update", UPDATES)
def test_writing(update: str, dims: Any) -> None:
    def rows(x: Any, i: Any, v: Any) -> Any:
        return getattr(x.at[i], update)(v)

    def columns(x: Any, i: Any, v: Any) -> Any:
        return getattr(x.at[1:4, i], update)(v, mode="clip")

    x, indices = batched((5, 4), dims[0]), batched((2,), dims[1], -6, 7)
    check_loop(rows, x, indices, batched((2, 4), dims[2]), in_axes=dims)
    check_loop(columns, x, indices, batched((3, 2), dims[2]), in_axes=dims)


@pytest.mark.parametrize("dims", some_mapped((None, 0, 1), (None, 0), (None, 0, 2)), ids=str)
def test_dynamic_update_slices(dims: Any) -> None:
    def f(x: Any, i: Any, v: Any) -> Any:
        return lax.dynamic_update_slice(x, v, (i[0], i[1]))

    x, starts = batched((5, 4), dims[0]), batched((2,), dims[1], -6, 7)
    check_loop(f, x, starts, batched((2, 3), dims[2]), in_axes=dims)


def test_two_mapped_axes_and_batching_dimensions() -> None:
    x, indices = RNG.normal(size=(2, 3, 5)), RNG.integers(0, 5, (3, 4, 2))

    def f(x: Any, i: Any) -> Any:
        return x[i]

    out = vmap(vmap(f, (0, 1)), (1, 0))(x, indices)
    wanted = [[x[a, b][indices[b, :, a]] for a in range(2)] for b in range(3)]
    np.testing.assert_array_equal(np.asarray(out), np.array(wanted))
    out = vmap(vmap(lambda x, i: x.at[i].add(1.0), (0, 1)), (1, 0))(as_concrete(x), indices)
    expected = np.moveaxis(x, 0, 1).copy()
    for b, a in itertools.product(range(3), range(2)):
        np.add.at(expected[b, a], indices[b, :, a], 1.0)
    np.testing.assert_allclose(np.asarray(out), expected)


@pytest.mark.parametrize("dims", list(itertools.product((None, 0), repeat=3)), ids=str)
def test_a_named_scatter_add_sums_over_the_mapped_axis(dims: Any) -> None:
    n = lax.ScatterDimensionNumbers((1,), (0,), (0,))

    def named(x: Any, i: Any, v: Any, _: Any) -> Any:
        return lax.scatter_add(x, i, v, n, axis_names="b")

    def plain(x: Any, i: Any, v: Any) -> Any:
        return np.asarray(lax.scatter_add(x, i, v, n))

    operands = (
        batched((5, 4), dims[0]),
        batched((2, 1), dims[1], -1, 6),
        batched((2, 4), dims[2]),
    )
    rest = np.zeros(SIZE)
    out = vmap(named, (*dims, 0), None, axis_name="b")(*operands, rest)
    wanted = sum(
        [
            plain(*[x if d is None else x[k] for x, d in zip(operands, dims, strict=True)])
            for k in range(SIZE)
        ]
    )
    np.testing.assert_allclose(np.asarray(out), wanted)


def test_a_table_is_not_repeated_and_two_mapped_operands_stay_one_gather() -> None:
    table = ShapeDtypeStruct((100, 8), "float32")
    tokens = ShapeDtypeStruct((SIZE, 4), "int32")
    lookup = make_jaxpr(vmap(lambda t, i: t[i], (None, 0)))(table, tokens)
    assert [e.outvars[0].aval.shape for e in lookup.eqns if e.primitive.name == "gather"] == [
        (SIZE, 4, 8)
    ]
    assert all(e.outvars[0].aval.shape[-2:] != (100, 8) for e in lookup.eqns)
    tables = ShapeDtypeStruct((SIZE, 100, 8), "float32")
    both = make_jaxpr(vmap(lambda t, i: t[i]))(tables, tokens)
    names = [e.primitive.name for e in both.eqns]
    assert names.count("gather") == 1
    assert not {"transpose", "concatenate", "iota"} & set(names)
    (gather,) = [e for e in both.eqns if e.primitive.name == "gather"]
    assert gather.params["dimension_numbers"].operand_batching_dims == (0,)


def test_updates_in_one_place_are_added_up_before_they_are_written() -> None:
    n = lax.ScatterDimensionNumbers((), (0,), (0,))
    program = make_jaxpr(
        vmap(lambda v: lax.scatter_add(np.zeros(5), np.array([[1], [2]]), v, n, axis_names="b"),
             out_axes=None, axis_name="b")
    )(ShapeDtypeStruct((SIZE, 2), "float64"))  # fmt: skip
    (scatter,) = [e for e in program.eqns if e.primitive.name == "scatter_add"]
    assert [v.aval.shape for v in scatter.invars] == [(5,), (2, 1), (2,)]
