"""Compiled gathers, scatters and dynamic slices give what the NumPy backend gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from axonym_core import lax, make_jaxpr
from axonym_core.arrays import as_concrete, backends
from axonym_core.errors import InternalError
from axonym_core.primitives.indexing import scatter_add_p
from axonym_core.settings import config
from axonym_xla.lowering import lower_jaxpr

RNG = np.random.default_rng(0)


def plain(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same numbers in a dtype in which NumPy compares NaN with NaN."""
    return x.astype(np.float64) if x.dtype == ml_dtypes.bfloat16 else x


def same(f: Callable[..., Any], *args: Any, exact: bool = True) -> None:
    """Both backends agree on a program that returns an array or a list of them."""
    results = []
    for name in ("xla", "numpy"):
        with config.override(backend=name):
            program = make_jaxpr(f)(*args)
            outs = backends.current().compile(program)([as_concrete(a) for a in args])
            results.append([np.asarray(out) for out in outs])
    for got, wanted in zip(*results, strict=True):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        if exact:
            np.testing.assert_array_equal(plain(got), plain(wanted))
        else:
            np.testing.assert_allclose(got, wanted, rtol=1e-6)


# indices shape, collapsed dims, index map, offset dims, window, batching dims; operand (3, 5, 4)
CASES = {
    "one window": ((3,), (), (0, 1, 2), (0, 1, 2), (2, 3, 1), (), ()),
    "one row": ((1,), (1,), (1,), (0, 1), (3, 1, 4), (), ()),
    "scalar index": ((), (0,), (0,), (0, 1), (1, 5, 4), (), ()),
    "rows": ((4, 1), (0,), (0,), (1, 2), (1, 5, 4), (), ()),
    "elements": ((2, 2, 3), (0, 1, 2), (2, 0, 1), (), (1, 1, 1), (), ()),
    "windows in front": ((6, 2), (2,), (1, 2), (0, 1), (3, 2, 1), (), ()),
    "batching": ((2, 3, 1), (1,), (1,), (2,), (1, 1, 4), (0,), (1,)),
    "two batchings": ((4, 3, 1), (), (1,), (1,), (1, 2, 1), (0, 2), (1, 0)),
    "no component": ((2, 0), (), (), (1, 2, 3), (3, 5, 4), (), ()),
    "no index": ((0, 1), (0,), (0,), (1, 2), (1, 5, 4), (), ()),
}


def numbers_of(case: str) -> tuple[Any, ...]:
    shape, collapsed, index_map, offset, window, batching, indices_batching = CASES[case]
    numbers = lax.GatherDimensionNumbers(offset, collapsed, index_map, batching, indices_batching)
    return shape, numbers, window


@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds"])
@pytest.mark.parametrize("case", CASES)
def test_gather(case: str, mode: str) -> None:
    shape, numbers, window = numbers_of(case)
    x = RNG.normal(size=(3, 5, 4)).astype(np.float32)

    def reads(x: Any, *indices: Any) -> Any:
        return [lax.gather(x, i, numbers, window, mode=mode) for i in indices]

    same(reads, x, *[RNG.integers(-3, 8, shape) for _ in range(3)])


SCATTERS = [lax.scatter, lax.scatter_add, lax.scatter_mul, lax.scatter_min, lax.scatter_max]


@pytest.mark.parametrize("mode", ["clip", "drop"])
@pytest.mark.parametrize("case", CASES)
def test_scatter(case: str, mode: str) -> None:
    shape, numbers, window = numbers_of(case)
    x = RNG.normal(size=(3, 5, 4))
    indices = RNG.integers(-3, 8, shape)
    with config.override(backend="numpy"):
        like = lax.gather(x, indices, numbers, window, mode="clip")
    updates = RNG.normal(size=like.shape)
    n = lax.ScatterDimensionNumbers(*numbers)

    def writes(x: Any, i: Any, u: Any) -> Any:
        return [scatter(x, i, u, n, mode=mode) for scatter in SCATTERS]

    same(writes, x, indices, updates, exact=False)


@pytest.mark.parametrize(
    "dtype",
    [np.bool_, np.int8, np.uint32, np.float16, ml_dtypes.bfloat16, np.float64, np.complex64],
    ids=lambda d: np.dtype(d).name,
)
def test_every_dtype_is_read_and_written(dtype: Any) -> None:
    x = np.arange(6).reshape(3, 2).astype(dtype)
    indices = np.array([[2], [7], [0]])
    rows = lax.GatherDimensionNumbers((1,), (0,), (0,))

    def reads_and_writes(x: Any, i: Any) -> Any:
        filled = lax.gather(x, i, rows, (1, 2), mode="fill")
        return [filled, x[1], x.at[np.array([1, 5])].set(True)]

    same(reads_and_writes, x, indices)


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64],
    ids=lambda d: np.dtype(d).name,
)  # fmt: skip
def test_indices_of_every_dtype(dtype: Any) -> None:
    x = np.arange(1000.0)
    indices = np.array([[3], [np.iinfo(dtype).max], [np.iinfo(dtype).min]], dtype)
    single = lax.GatherDimensionNumbers((), (0,), (0,))

    def reads(x: Any, i: Any) -> Any:
        gathers = [lax.gather(x, i, single, (1,), mode=mode) for mode in ("clip", "fill")]
        return [*gathers, x[i[:, 0]], x[i[1, 0]], lax.dynamic_slice(x, (i[1, 0],), (5,))]

    same(reads, x, indices)


@pytest.mark.parametrize("start", [(0, 0), (1, 2), (9, -1), (-9, 3)])
def test_dynamic_slices(start: Any) -> None:
    x = RNG.normal(size=(4, 5))
    starts = np.array(start, np.int32)
    update = np.zeros((2, 3))

    def both(x: Any, u: Any, s: Any) -> Any:
        return [lax.dynamic_slice(x, s, (2, 3)), lax.dynamic_update_slice(x, u, s)]

    same(both, x, update, starts)


def test_dynamic_slices_of_scalars() -> None:
    def both(x: Any, u: Any) -> Any:
        return [lax.dynamic_slice(x, (), ()), lax.dynamic_update_slice(x, u, ())]

    same(both, np.float32(2), np.float32(3))


INDICES = [
    *(np.s_[1], np.s_[-1, 2], np.s_[1:3], np.s_[::-2, 1], np.s_[..., 0], np.s_[1:1]),
    *(np.array([2, 0, 2, -1]), (np.array([[0], [3]]), np.array([2, 1])), np.array([9, -9])),
    *((slice(1, 3), np.array([0, 0])), np.array([], np.int32), (None, np.array([1]), None, 2)),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing(index: Any) -> None:
    x = np.arange(20.0).reshape(4, 5)

    def all_of_it(x: Any) -> Any:
        update = x.at[index]
        return [x[index], update.set(3.0), update.add(3.0), update.multiply(3.0), update.max(9.0)]

    same(all_of_it, x)
    wanted = x[np.clip(index, -4, 3) if isinstance(index, np.ndarray) else index]
    with config.override(backend="xla"):  # evaluated, without staging
        np.testing.assert_array_equal(np.asarray(as_concrete(x)[index]), wanted)


def test_rows_share_one_compiled_operation() -> None:
    with config.override(backend="xla"):
        x = as_concrete(np.arange(35.0).reshape(7, 5))
        first = [float(x[i][0]) for i in range(2)]
        backend: Any = backends.current()
        before = len(backend._operations)
        rest = [float(x[i][0]) for i in range(2, 7)]
        ranges = [np.asarray(x[i : i + 2]).shape for i in range(5)]
        assert len(backend._operations) <= before + 1
    assert first + rest == [0, 5, 10, 15, 20, 25, 30]
    assert ranges == [(2, 5)] * 5


def test_one_window_is_a_dynamic_slice_and_many_are_one_gather() -> None:
    x = np.ones((4, 5), np.float32)

    def text(f: Any, *args: Any) -> str:
        return lower_jaxpr(make_jaxpr(f)(*args)).text

    row = text(lambda x, i: x[i], x, 1)
    assert "dynamic_slice" in row
    assert "gather" not in row
    update = text(lambda x, i: x.at[i].add(1.0), x, 1)
    assert "dynamic_update_slice" in update
    assert "stablehlo.scatter" not in update
    assert text(lambda x, i: x[i], x, np.array([1, 2])).count('"stablehlo.gather"') == 1


def test_a_named_axis_does_not_reach_the_compiler() -> None:
    program = make_jaxpr(
        lambda x: scatter_add_p.bind(
            x,
            np.array([[0]]),
            np.ones(1),
            dimension_numbers=lax.ScatterDimensionNumbers((), (0,), (0,)),
            indices_are_sorted=False,
            unique_indices=False,
            mode=lax.GatherScatterMode.CLIP,
            axis_names=("b",),
        )
    )(np.ones(3))
    with pytest.raises(InternalError, match="named axes"):
        lower_jaxpr(program)
