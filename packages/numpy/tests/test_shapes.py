"""Shapes, joining, cutting, rearranging and padding against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import axonym_numpy as anp
from axonym_core import ShapeDtypeStruct, make_jaxpr
from axonym_core.errors import ConcretizationError, ShapeError
from axonym_numpy.errors import ArgumentError

F32 = np.float32
X = np.arange(24, dtype=F32).reshape(2, 3, 4)
STRIDED = np.arange(48, dtype=F32).reshape(4, 3, 4)[::-2, :, ::-1]


@pytest.mark.parametrize("x", [X, STRIDED, X[:0]], ids=["plain", "strided", "empty"])
def test_shape_functions_agree_with_numpy(same, x):
    calls = {
        "reshape": [
            ((x.size,),),
            ((3, -1) if x.size else (3, 0),),
            (x.shape,),
            ((-1,),) if x.size else ((0,),),
        ],
        "ravel": [()],
        "transpose": [(), ((2, 0, 1),), ((-1, 0, 1),)],
        "swapaxes": [(0, 2), (-1, 1), (1, 1)],
        "moveaxis": [(0, -1), ((0, 1), (2, 0)), (2, 0)],
        "rollaxis": [(2,), (0, 3), (1, 2), (0, 2)],
        "expand_dims": [(0,), ((0, -1),), (-1,), ((1, 3),)],
        "flip": [(), (0,), ((0, 2),), (-1,)],
        "flipud": [()],
        "fliplr": [()],
        "rot90": [(), (2,), (-1,), (3, (1, 2)), (0,)],
        "roll": [(1,), (-5, 0), (7, 2), ((1, 2), (0, 2)), (2, (0, 1)), ((1, 2), 1)],
        "tile": [(2,), ((2, 1, 3),), ((2, 1, 1, 2),), (0,)],
        "repeat": [(2,), (3, 1), (0, 0), (np.array([1, 0, 2]), 1)],
        "atleast_3d": [()],
        "squeeze": [()],
    }
    for name, variants in calls.items():
        for args in variants:
            same(getattr(anp, name)(x, *args), getattr(np, name)(x, *args), dtype=F32)


def test_order_f_reads_and_fills_the_first_dimension_fastest(same):
    same(anp.reshape(X, (4, 6), "F"), np.reshape(X, (4, 6), "F"))
    same(anp.ravel(X, "F"), np.ravel(X, "F"))
    with pytest.raises(ArgumentError, match="order='Q'"):
        anp.reshape(X, -1, "Q")


def test_shapes_are_told(same):
    assert anp.shape(X) == (2, 3, 4)
    assert anp.ndim(2.0) == 0
    assert anp.size(X, (0, 2)) == 8
    assert anp.broadcast_shapes((2, 1), 3, ()) == (2, 3)
    same(anp.broadcast_to(np.arange(3), (2, 3)), [[0, 1, 2]] * 2)
    same(anp.matrix_transpose(X), np.matrix_transpose(X))
    same(anp.permute_dims(X, (2, 1, 0)), X.T)
    for rank in (1, 2, 3):
        for x in (np.float32(1), np.ones(2), np.ones((2, 3)), X):
            name = f"atleast_{rank}d"
            same(getattr(anp, name)(x), getattr(np, name)(x))
    got = anp.broadcast_arrays(np.ones((2, 1)), 1.0)
    assert [g.shape for g in got] == [(2, 1), (2, 1)]
    assert len(anp.atleast_1d(1, 2)) == 2


def test_shape_errors_say_what_was_given():
    with pytest.raises(ShapeError, match=r"\(2, 3, 4\) \(24 elements\).*\(5, -1\)"):
        anp.reshape(X, (5, -1))
    with pytest.raises(ShapeError, match=r"24|reshape"):
        anp.reshape(X, (5, 5))
    with pytest.raises(ShapeError, match="transpose"):
        anp.transpose(X, (0, 1))
    with pytest.raises(ShapeError, match="size 3"):
        anp.squeeze(X, 1)
    with pytest.raises(ShapeError, match="twice"):
        anp.expand_dims(X, (0, 0))
    with pytest.raises(ShapeError, match="broadcast"):
        anp.broadcast_to(X, (2, 3))
    with pytest.raises(ShapeError, match="destination"):
        anp.moveaxis(X, (0, 1), 0)
    with pytest.raises(TypeError, match="reshape: shape"):
        anp.reshape(X, (2.5,))


def test_joining_agrees_with_numpy(same):
    a, b = np.ones((2, 3), F32), np.zeros((2, 3), np.int8)
    for axis in (0, 1, -1, None):
        same(anp.concatenate([a, b], axis), np.concatenate([a, b], axis), dtype=F32)
    for axis in (0, 1, 2, -1, -3):
        same(anp.stack([a, b], axis), np.stack([a, b], axis), dtype=F32)
    for name in ("vstack", "hstack", "dstack", "column_stack"):
        for arrays in ([a, b], [a[0], b[0]], [a[0], a[1], a[0]]):
            same(getattr(anp, name)(arrays), getattr(np, name)(arrays))
    same(anp.vstack([1.0, 2.0]), [[1], [2]])
    same(anp.concatenate(X, 0), np.concatenate(X, 0))
    same(anp.concatenate([a[:0], a]), a)
    same(anp.append(a, b, 0), np.append(a, b, 0))
    same(anp.append(a, 5), np.append(a, 5))
    assert anp.concatenate([b, b], dtype="float64").dtype == np.float64
    same(anp.concat([a, b], axis=1), np.concatenate([a, b], 1))
    same(anp.unstack(X, axis=1)[2], X[:, 2])
    assert anp.unstack(X[:0]) == ()
    with pytest.raises(ArgumentError, match="empty"):
        anp.concatenate([])
    with pytest.raises(ShapeError, match="0-d"):
        anp.concatenate([1.0, 2.0])
    with pytest.raises(ShapeError, match=r"\(2, 3\).*\(3,\)"):
        anp.stack([a, a[0]])
    with pytest.raises(ShapeError):
        anp.concatenate([a, X])
    with pytest.raises(TypeError, match="list or tuple"):
        anp.stack(5)


def test_cutting_agrees_with_numpy(same):
    for name, args in (
        ("split", (3, 1)),
        ("split", ([1, 2], 2)),
        ("split", ([0, 2, 9, -1], 2)),
        ("split", ([3, 1], 2)),
        ("array_split", (5, 2)),
        ("array_split", (2, 1)),
        ("vsplit", (2,)),
        ("hsplit", ([1],)),
        ("dsplit", (2,)),
    ):
        got, want = getattr(anp, name)(X, *args), getattr(np, name)(X, *args)
        assert len(got) == len(want)
        for x, y in zip(got, want, strict=True):
            same(x, y)
    same(anp.hsplit(X[0, 0], 2)[1], X[0, 0, 2:])
    with pytest.raises(ArgumentError, match="array_split"):
        anp.split(X, 5, 2)
    with pytest.raises(ArgumentError, match="0"):
        anp.array_split(X, 0)
    with pytest.raises(ShapeError, match="3 dimensions"):
        anp.dsplit(X[0], 2)


def test_repeat_takes_counts_and_a_length(same):
    x = np.array([1, 2, 3])
    same(anp.repeat(x, np.array([2, 0, 1])), [1, 1, 3])
    same(anp.repeat(x, 2, total_repeat_length=4), [1, 1, 2, 2])
    same(anp.repeat(x, 2, total_repeat_length=8), [1, 1, 2, 2, 3, 3, 3, 3])
    same(anp.repeat(5, 3), [5, 5, 5])
    with pytest.raises(ShapeError, match="2 numbers of repeats"):
        anp.repeat(x, np.array([1, 2]))
    with pytest.raises(ArgumentError, match="negative"):
        anp.repeat(x, -1)
    counts = ShapeDtypeStruct((3,), "int32")
    with pytest.raises(ConcretizationError, match="total_repeat_length"):
        make_jaxpr(lambda r: anp.repeat(x, r))(counts)
    jaxpr = make_jaxpr(lambda r: anp.repeat(x, r, total_repeat_length=4))(counts)
    assert jaxpr.out_avals[0].shape == (4,)


MODES = ["edge", "reflect", "symmetric", "wrap"]


@pytest.mark.parametrize("mode", [*MODES, "maximum", "minimum", "mean", "linear_ramp"])
@pytest.mark.parametrize("width", [0, 1, (2, 1), ((1, 0), (3, 7)), ((0, 0), (9, 5))])
def test_padding_agrees_with_numpy(same, mode, width):
    x = np.arange(12, dtype=F32).reshape(3, 4) ** 2
    same(anp.pad(x, width, mode), np.pad(x, width, mode), rtol=1e-5, dtype=F32)
    if mode in MODES:
        n = x.astype(np.int32)
        same(anp.pad(n, width, mode), np.pad(n, width, mode), dtype=np.int32)
    if mode in ("reflect", "symmetric") and width in (1, (2, 1)):
        want = np.pad(x, width, mode, reflect_type="odd")
        same(anp.pad(x, width, mode, reflect_type="odd"), want)


def test_constant_padding_takes_values_for_each_side(same):
    x = np.arange(4, dtype=F32).reshape(2, 2)
    same(anp.pad(x, 1), np.pad(x, 1))
    same(anp.pad(x, 1, constant_values=5), np.pad(x, 1, constant_values=5))
    values = ((1, 2), (3, 4))
    same(anp.pad(x, 1, constant_values=values), np.pad(x, 1, constant_values=values))
    same(anp.pad(x, 1, constant_values=anp.asarray(values)), np.pad(x, 1, constant_values=values))
    same(anp.pad(x, 1, constant_values=anp.asarray(3.0)), np.pad(x, 1, constant_values=3))
    same(anp.pad(x[:0], 1), np.pad(x[:0], 1))
    same(anp.pad(x, {-1: (1, 2)}), np.pad(x, ((0, 0), (1, 2))))
    assert anp.pad(x, 1, "empty").shape == (4, 4)
    same(anp.pad(np.array([True]), 1), [False, True, False])
    same(anp.pad(x, 2, "linear_ramp", end_values=9), np.pad(x, 2, "linear_ramp", end_values=9))


def test_padding_errors_say_what_to_do():
    x = np.ones((2, 2), F32)
    with pytest.raises(ArgumentError, match="mode='wrp'"):
        anp.pad(x, 1, "wrp")
    with pytest.raises(ArgumentError, match="negative width"):
        anp.pad(x, -1)
    with pytest.raises(ShapeError, match="2 dimensions"):
        anp.pad(x, ((1, 1),) * 3)
    with pytest.raises(ShapeError, match="nothing to repeat"):
        anp.pad(x[:0], 1, "edge")
    with pytest.raises(TypeError, match="integers"):
        anp.pad(x, 1.5)


@settings(max_examples=50)
@given(
    st.integers(1, 6),
    st.integers(0, 15),
    st.integers(0, 15),
    st.sampled_from(MODES),
)
def test_repeating_modes_agree_for_any_width(n, low, high, mode):
    x = np.arange(n) * 3
    np.testing.assert_array_equal(
        np.asarray(anp.pad(x, (low, high), mode)), np.pad(x, (low, high), mode)
    )


def test_roll_by_a_traced_shift_has_a_slice(same):
    jaxpr = make_jaxpr(lambda s: anp.roll(X, s, 2))(3)
    assert "dynamic" in str(jaxpr) or "gather" in str(jaxpr)
    with pytest.raises(ShapeError, match="differ in length"):
        anp.roll(X, (1, 2, 3), (0, 1))
    with pytest.raises(TypeError):
        anp.roll(X, 1.5, 0)
