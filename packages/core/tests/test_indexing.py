"""`x[index]` and `x.at[index]` mean what they mean in NumPy, for every kind of index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_core import lax, make_jaxpr
from axonym_core.arrays import Array, as_concrete
from axonym_core.errors import (
    DTypeError,
    IndexingError,
    IndexTypeError,
    NonConcreteBooleanIndexError,
    ShapeError,
)
from axonym_core.programs import eval_jaxpr
from axonym_core.settings import config

NDArray = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def staged(function: Any, *args: Any) -> NDArray:
    """Value of a function that is staged first."""
    (out,) = eval_jaxpr(make_jaxpr(function)(*args), *args)
    return np.asarray(out)


@st.composite
def arrays_and_indices(draw: Any) -> tuple[NDArray, Any]:
    """An array and an index of it; index arrays all broadcast together."""
    shape = tuple(draw(st.lists(st.integers(1, 4), max_size=4)))
    common = draw(st.sampled_from([(), (2,), (3, 1), (2, 3)]))
    items: list[Any] = []
    masked = False
    for n in shape:
        kind = draw(st.sampled_from(["int", "slice", "new", "array", "mask", "end"]))
        if kind == "new":
            items.append(None)
            kind = "int"
        if kind == "end":
            if draw(st.booleans()):
                items.append(Ellipsis)
            break
        if kind == "int":
            items.append(draw(st.integers(-n, n - 1)))
        elif kind == "slice":
            limit = st.none() | st.integers(-n - 1, n + 1)
            step = st.sampled_from([None, 1, -1, 2, -2, 3])
            items.append(slice(draw(limit), draw(limit), draw(step)))
        elif kind == "mask" and not masked and common in ((), (3, 1)):
            masked = True  # a mask's own length must broadcast with the other index arrays
            items.append(np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n))))
        else:
            size = draw(st.sampled_from([common, common[1:], (1,) * len(common)]))
            count = int(np.prod(size))
            values = draw(st.lists(st.integers(-n, n - 1), min_size=count, max_size=count))
            items.append(np.array(values, np.int64).reshape(size))
        if draw(st.integers(0, 9)) == 0:
            items.append(Ellipsis)
            break
    values = np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape)
    return values, tuple(items) if len(items) != 1 else items[0]


def traced_parts(index: Any) -> tuple[list[Any], Any]:
    """Index arrays of an index, and a function that puts others in their places."""
    items = index if isinstance(index, tuple) else (index,)
    places = [
        i for i, item in enumerate(items) if isinstance(item, np.ndarray) and item.dtype != bool
    ]

    def rebuild(parts: Any) -> tuple[Any, ...]:
        new = list(items)
        for i, part in zip(places, parts, strict=True):
            new[i] = part
        return tuple(new)

    return [items[i] for i in places], rebuild


@given(arrays_and_indices())
@settings(max_examples=50)
def test_reading_is_numpys(case: tuple[NDArray, Any]) -> None:
    x, index = case
    try:
        wanted = x[index]
    except IndexError:
        with pytest.raises(IndexingError):
            as_concrete(x)[index]
        return
    np.testing.assert_array_equal(np.asarray(as_concrete(x)[index]), wanted, strict=True)
    arrays, rebuild = traced_parts(index)
    got = staged(lambda x, *parts: x[rebuild(parts)], x, *arrays)
    np.testing.assert_array_equal(got, wanted, strict=True)


@given(arrays_and_indices(), st.sampled_from(["set", "add", "multiply", "min", "max"]))
@settings(max_examples=50)
def test_writing_is_numpys(case: tuple[NDArray, Any], name: str) -> None:
    x, index = case
    try:
        shape = x[index].shape
    except IndexError:
        with pytest.raises(IndexingError):
            as_concrete(x).at[index].set(0)
        return
    values = np.linspace(-30, 30, int(np.prod(shape))).reshape(shape)
    wanted = np.array(x)
    if name == "set":
        wanted[index] = values
    else:
        ufunc = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
        ufunc[name].at(wanted, index, values)
    got = getattr(as_concrete(x).at[index], name)(values)
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-12)
    arrays, rebuild = traced_parts(index)
    update = staged(lambda x, v, *parts: getattr(x.at[rebuild(parts)], name)(v), x, values, *arrays)
    np.testing.assert_allclose(update, wanted, rtol=1e-12)


X = np.arange(24.0).reshape(4, 3, 2)


@pytest.mark.parametrize(
    "index",
    [
        np.s_[()],
        np.s_[...],
        np.s_[3],
        np.s_[-1],
        np.s_[np.int8(-2)],
        np.s_[1:3],
        np.s_[::-1],
        np.s_[3:0:-2, 1],
        np.s_[2:1],
        np.s_[None, 2, None, ..., None],
        np.s_[True],
        np.s_[False],
        np.s_[X[:, 0, 0] > 6],
        np.s_[X > 6],
        np.s_[1, X[0] > 1],
        np.s_[None, X[:, :, 0] > 6],
        np.s_[..., np.array([True, False])],
        np.s_[np.array([[0, 3], [1, 1]]), ..., None],
        np.s_[:, np.array([2, 0]), 1],
        np.s_[np.array([2, 0]), :, 1],
        np.s_[0, :, np.array([1, 0])],
        np.s_[np.array([], np.int32)],
        np.s_[np.array(2)],
        [2, 0],
        [[0, 3], [1, 1]],
        [True, False, True, True],
        ([],),
        np.s_[:, [0]],
        np.s_[[2, 0], :, 1],
        np.s_[0, (2, 1)],
        np.s_[:, [True, False, True]],
        np.s_[[0, 3], ..., [1, 0]],
        np.s_[None, [[1], [2]], [0, 2]],
    ],
    ids=str,
)
def test_reading_and_setting_one_by_one(index: Any) -> None:
    got = as_concrete(X)[index]
    np.testing.assert_array_equal(np.asarray(got), X[index], strict=True)
    wanted = X.copy()
    wanted[index] = -7
    np.testing.assert_array_equal(np.asarray(as_concrete(X).at[index].set(-7)), wanted)


def test_a_row_takes_one_operation_and_the_whole_none() -> None:
    x = as_concrete(X)
    assert x[...] is x
    assert x[:, :] is x
    row = make_jaxpr(lambda x: x[1])(X)
    assert [str(e.primitive) for e in row.eqns] == ["slice", "squeeze"]
    embedding = make_jaxpr(lambda t, i: t[i])(X, np.array([1, 2], np.uint8))
    assert [str(e.primitive) for e in embedding.eqns][-1] == "gather"


def test_traced_integers_count_from_the_end_and_clip() -> None:
    read = make_jaxpr(lambda x, i: x[i])(X, 0)
    for i, wanted in ((2, 2), (-1, 3), (9, 3), (-9, 0)):
        (out,) = eval_jaxpr(read, X, i)
        np.testing.assert_array_equal(np.asarray(out), X[wanted])


def test_entries_of_index_arrays_out_of_bounds_are_clipped_when_read() -> None:
    x = as_concrete(np.arange(5.0))
    for index in (np.array([7, -9, -1]), lax.concatenate([np.array([7, -9, -1])], 0)):
        np.testing.assert_array_equal(np.asarray(x[index]), [4, 0, 4])


def test_entries_of_index_arrays_out_of_bounds_are_dropped_when_written() -> None:
    x = as_concrete(np.zeros(3))
    for index in (np.array([7, -9, -1]), lax.concatenate([np.array([7, -9, -1])], 0)):
        np.testing.assert_array_equal(np.asarray(x.at[index].set(1.0)), [0, 0, 1])
        np.testing.assert_array_equal(np.asarray(x.at[index].add(1.0, mode="clip")), [1, 0, 2])


def test_modes_apply_to_integers_too() -> None:
    x = as_concrete(np.arange(5.0))
    assert float(x.at[9].get(mode="fill", fill_value=-1)) == -1
    assert np.isnan(float(x.at[9].get(mode="fill")))
    assert float(x.at[9].get(mode="clip")) == 4
    assert float(x.at[-9].get(mode="clip")) == 0
    np.testing.assert_array_equal(np.asarray(x.at[9].set(7, mode="drop")), np.arange(5))
    np.testing.assert_array_equal(np.asarray(x.at[-9].set(7, mode="drop")), np.arange(5))
    np.testing.assert_array_equal(np.asarray(x.at[9].set(7, mode="clip")), [0, 1, 2, 3, 7])


def test_narrow_index_dtypes_reach_all_of_a_long_dimension() -> None:
    x = as_concrete(np.arange(1000))
    np.testing.assert_array_equal(np.asarray(x[np.array([-1, 5], np.int8)]), [999, 5])
    traced = lax.concatenate([np.array([-1, 5], np.int8)], 0)
    np.testing.assert_array_equal(np.asarray(x[traced]), [999, 5])
    unsigned = lax.concatenate([np.array([200], np.uint8)], 0)
    np.testing.assert_array_equal(np.asarray(x[unsigned]), [200])


def test_a_traced_mask_may_choose_where_a_scalar_is_written() -> None:
    def clean(x: Any) -> Array:
        return x.at[x > 6].set(0.0).at[x[:, :, 0] < 2].add(1.0).at[x[0] > 3].multiply(2)

    with pytest.raises(IndexingError, match="boolean mask"):
        make_jaxpr(clean)(X)

    def tidy(x: Any) -> Array:
        return x.at[x > 6].set(0.0).at[x[:, :, 0] < 2].add(np.array([1.0, 2.0])).at[x < 1].max(5)

    wanted = X.copy()
    wanted[X > 6] = 0
    wanted[X[:, :, 0] < 2] += [1, 2]
    wanted[X < 1] = np.maximum(wanted[X < 1], 5)
    np.testing.assert_array_equal(staged(tidy, X), wanted)


def test_other_updates() -> None:
    x = as_concrete(np.array([1.0, 2.0, 4.0]))
    index = np.array([2, 2])
    same = np.testing.assert_array_equal
    same(np.asarray(x.at[index].subtract(1)), [1, 2, 2])
    same(np.asarray(x.at[index].divide(2)), [1, 2, 1])
    same(np.asarray(x.at[index].mul(2)), [1, 2, 16])
    same(np.asarray(x.at[1:].power(2)), [1, 4, 16])
    same(np.asarray(x.at[1:].apply(lambda part: part + 1)), [1, 3, 5])
    same(np.asarray(x.at[...].add(1)), [2, 3, 5])
    same(np.asarray(x.at[:].set(np.array([1.0]))), [1, 1, 1])
    assert x.at[0].set(1).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.int8, ml_dtypes.bfloat16, np.complex64, np.bool_])
def test_values_take_the_dtype_of_the_array(dtype: Any) -> None:
    x = as_concrete(np.zeros(3, dtype))
    out = x.at[1].set(True)
    assert out.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(np.asarray(out), np.array([0, 1, 0], dtype))


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (9, IndexingError, r"index 9 is out of bounds for dimension 0 of f64\[4,3,2\].*size 4"),
        ((0, -4), IndexingError, "index -4 is out of bounds for dimension 1"),
        ((0, 1, 1, 0), IndexingError, "too many indices: 4"),
        ((..., ...), IndexingError, "one ellipsis"),
        ([0.5, 1], IndexTypeError, "an array of dtype float64"),
        ((0, [[0, 1], [2]]), IndexTypeError, "its rows must have one length"),
        (1.0, IndexTypeError, r"got 1\.0 of type float"),
        (np.array([1.0]), IndexTypeError, "an array of dtype float64"),
        ("a", IndexTypeError, "got 'a' of type str"),
        (slice(0, 2, 0), IndexingError, "step of a slice must not be zero"),
        (slice(0.5, 2), IndexTypeError, "limits and step"),
        (np.array([True, False]), IndexingError, r"mask of shape \(2,\) does not fit"),
        ((np.arange(3), np.arange(2)), IndexingError, "do not broadcast together"),
    ],
    ids=str,
)
def test_what_is_no_index_is_refused_with_the_reason(index: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message) as reading:
        as_concrete(X)[index]
    assert isinstance(reading.value, IndexError)
    assert isinstance(reading.value, TypeError) == (error is IndexTypeError)
    with pytest.raises(error, match=message):
        as_concrete(X).at[index].set(0)


def test_a_dimension_without_elements_has_no_index_in_bounds() -> None:
    x = as_concrete(np.zeros((0, 2)))
    np.testing.assert_array_equal(np.asarray(x[np.array([], np.int32)]), np.zeros((0, 2)))
    for index in (0, np.array([0]), lax.full((), 0, "int32")):
        with pytest.raises(IndexingError, match="out of bounds"):
            x[index]


def test_a_traced_mask_and_a_traced_slice_are_refused_with_a_cure() -> None:
    with pytest.raises(NonConcreteBooleanIndexError, match=r"axonym\.numpy\.where") as mask:
        make_jaxpr(lambda x: x[x > 3])(X)
    assert "It depends on the argument x of" in str(mask.value)
    with pytest.raises(IndexingError, match="dynamic_slice_in_dim"):
        make_jaxpr(lambda x, i: x[i : i + 2])(X, 1)


def test_values_that_do_not_fit_are_refused() -> None:
    x = as_concrete(X)
    with pytest.raises(ShapeError, match=r"values of shape \(3,\) do not broadcast.*\(3, 2\)"):
        x.at[0].set(np.zeros(3))
    with pytest.raises(DTypeError, match=r"x\.astype\('float64'\)"):
        as_concrete(np.arange(3)).at[0].set(np.float64(0.5))
    with pytest.raises(DTypeError, match="divide needs"):
        as_concrete(np.arange(3)).at[0].divide(2)
    with pytest.raises(IndexingError, match="is not an indexing mode"):
        x.at[0].get(mode="wrap")


def test_assignment_is_refused_with_the_update_to_write() -> None:
    x = as_concrete(X)
    with pytest.raises(TypeError, match=r"x = x\.at\[index\]\.set\(value\)"):
        x[0] = 1
