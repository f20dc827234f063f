"""Avals: interned, immutable, printed with names; types of values."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axonym_core import ShapedArray, ShapeDtypeStruct
from axonym_core.array import as_concrete
from axonym_core.avals import aval_of, host_array, join_all_named, join_named
from axonym_core.errors import AxisNameError, DTypeError, ShapeError

NAMES = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 5))


def test_equal_avals_are_one_object_also_after_pickling_and_copying() -> None:
    a = ShapedArray((3, 4), "float32", named_shape={"j": 2, "i": 8})
    b = ShapedArray([3, np.int64(4)], np.float32, False, {"i": 8, "j": 2})
    assert a is b
    assert pickle.loads(pickle.dumps(a)) is a
    assert copy.deepcopy(a) is a


@pytest.mark.parametrize(
    ("aval", "text"),
    [
        (ShapedArray((3, 4), "float32", named_shape={"batch": 8}), "f32[3,4;batch:8]"),
        (ShapedArray((), "int8"), "i8[]"),
        (ShapedArray((0,), bool), "bool[0]"),
        (ShapedArray((), ml_dtypes.bfloat16), "bf16[]"),
        (ShapedArray((), "complex64", named_shape={"b": 1, "a": 2}), "c64[;a:2,b:1]"),
        (ShapedArray((2,), "uint32", True), "~u32[2]"),
    ],
)
def test_printed_form(aval: ShapedArray, text: str) -> None:
    assert repr(aval) == text


def test_avals_cannot_be_changed() -> None:
    aval = ShapedArray((3,), "float32")
    with pytest.raises(AttributeError, match="immutable; use update"):
        aval.shape = (4,)
    assert aval.update(shape=(4,)) is ShapedArray((4,), "float32")
    with pytest.raises(ShapeError, match="negative"):
        ShapedArray((-1,), "float32")


def test_tangents_of_integers_have_dtype_float0_and_the_same_names() -> None:
    aval = ShapedArray((2,), "int32", named_shape={"i": 3}).to_tangent()
    assert aval.dtype.name.startswith("void") or "float0" in str(aval.dtype)
    assert aval.names == {"i"}
    real = ShapedArray((2,), "float64")
    assert real.to_tangent() is real


@given(NAMES, NAMES)
def test_join_is_the_union_and_refuses_sizes_that_differ(a: Any, b: Any) -> None:
    left, right = ShapedArray((), bool, False, a).named, ShapedArray((), bool, False, b).named
    if any(a[n] != b[n] for n in a.keys() & b.keys()):
        with pytest.raises(AxisNameError, match="has size"):
            join_named(left, right)
    else:
        assert dict(join_named(left, right)) == {**a, **b}
        assert join_named(left, right) == join_named(right, left)
        both = [ShapedArray((), bool, False, x) for x in (a, b)]
        assert join_all_named(both) == join_named(left, right)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.5, "~f32[]"),
        (3, "~i32[]"),
        (True, "bool[]"),
        (1j, "~c64[]"),
        (np.float64(2), "f64[]"),
        (np.int8(2), "i8[]"),
        (np.zeros((2, 0), np.uint16), "u16[2,0]"),
        (as_concrete(np.zeros(3)), "f64[3]"),
        (ShapeDtypeStruct((2,), "float16"), "f16[2]"),
    ],
)
def test_types_of_values(value: Any, text: str) -> None:
    assert repr(aval_of(value)) == text


@pytest.mark.parametrize("value", ["text", None, [1, 2], object()])
def test_what_is_no_array_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="expected an array or a number"):
        aval_of(value)


def test_struct_compares_by_type_and_checks_its_dtype() -> None:
    assert ShapeDtypeStruct((2,), "float32") == ShapeDtypeStruct([2], np.float32)
    assert ShapeDtypeStruct((2,), "float32") != ShapeDtypeStruct(
        (2,), "float32", named_shape={"i": 2}
    )
    with pytest.raises(DTypeError):
        ShapeDtypeStruct((2,), "float33")


@pytest.mark.parametrize("number", [2**40, -(2**31) - 1, 2**70])
def test_python_integers_out_of_range_are_refused_on_the_way_to_a_backend(number: int) -> None:
    message = rf"integer {number} does not fit int32"
    with pytest.raises(DTypeError, match=message):
        as_concrete(number)
    with pytest.raises(DTypeError, match=message):
        host_array(number, aval_of(number).dtype)
    assert host_array(2**31 - 1, aval_of(1).dtype) == 2**31 - 1
