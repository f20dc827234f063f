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
from axonym_core.arrays import as_concrete
from axonym_core.errors import (
    ArgumentTypeError,
    AxisNameError,
    AxonymError,
    DTypeError,
    IntegerRangeError,
    ShapeError,
)
from axonym_core.types import aval_of, host_array, join_all_named, join_named, type_of

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


@pytest.mark.parametrize("exact_first", [False, True])
@pytest.mark.parametrize(
    ("shape", "weak_type", "named_shape", "error"),
    [
        ((8.0, 91), False, (), TypeError),
        ((91, 8.5), False, (), TypeError),
        (("8", 91), False, (), TypeError),
        (([8], 91), False, (), TypeError),
        (91, False, (), TypeError),
        ((91, -1), False, (), ShapeError),
        ((91,), 1, (), TypeError),
        ((91,), None, (), TypeError),
        ((91,), False, {"i": 2.0}, TypeError),
        ((91,), False, {"i": -2}, ShapeError),
        ((91,), False, (("i", 2), ("i", 2)), AxisNameError),
        ((91,), False, (("i", 2.0),), TypeError),
        ((91,), False, [([], 2)], AxisNameError),
        ((91,), False, 3, TypeError),
    ],
)
def test_what_is_no_size_is_refused_whatever_was_made_before(
    shape: Any, weak_type: Any, named_shape: Any, error: Any, exact_first: bool
) -> None:
    kept = []
    if exact_first:
        kept.append(ShapedArray((8, 91), "float32"))
        kept.append(ShapedArray((91,), "float32", True))
        kept.append(ShapedArray((91,), "float32", named_shape={"i": 2}))
    for make in (
        lambda: ShapedArray(shape, "float32", weak_type, named_shape),
        lambda: ShapeDtypeStruct(shape, "float32", weak_type=weak_type, named_shape=named_shape),
    ):
        with pytest.raises(error) as raised:
            make()
        assert isinstance(raised.value, AxonymError)


@pytest.mark.parametrize("make", [ShapedArray, ShapeDtypeStruct])
def test_sizes_are_built_in_integers_whatever_gave_them(make: Any) -> None:
    made = make((True, np.int64(777), np.uint8(5)), "float32", weak_type=np.bool_(True))
    assert [type(d) for d in made.shape] == [int, int, int]
    assert type(made.weak_type) is bool
    named = make((777,), "float32", named_shape={"i": np.int64(3), "j": True}).named_shape
    assert [type(size) for size in named.values()] == [int, int]
    assert [type(d) for d in ShapedArray((1, 777, 5), "float32").shape] == [int, int, int]


@given(st.permutations([1, "1", 2.5, "b", b"b", "a", -1, -2, frozenset((1,)), None]))
def test_the_order_of_names_does_not_depend_on_that_of_insertion(names: Any) -> None:
    entries = [(name, 2) for name in names]
    made = ShapedArray((), "float32", False, tuple(entries))
    assert made is ShapedArray((), "float32", False, dict(entries))
    assert [n for n, _ in made.named][:7] == ["1", "a", "b", -2, -1, 1, 2.5]
    joined: Any = ()
    for name, size in entries:
        joined = join_named(joined, ((name, size),))
    assert joined == made.named
    assert repr(ShapedArray((), "int8", named_shape={1: 2, "1": 3})) == "i8[;'1':3,1:2]"


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
        (1.5, "~f64[]"),
        (3, "~i64[]"),
        (True, "bool[]"),
        (1j, "~c128[]"),
        (np.float64(2), "f64[]"),
        (np.int8(2), "i8[]"),
        (np.zeros((2, 0), np.uint16), "u16[2,0]"),
        (as_concrete(np.zeros(3)), "f64[3]"),
    ],
)
def test_types_of_values(value: Any, text: str) -> None:
    assert repr(aval_of(value)) == text
    assert type_of(value) is aval_of(value)


def test_a_struct_has_a_type_and_is_no_value() -> None:
    struct = ShapeDtypeStruct((2,), "float16")
    assert repr(type_of(struct)) == "f16[2]"
    with pytest.raises(ArgumentTypeError, match="got ShapeDtypeStruct"):
        aval_of(struct)


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


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**70])
def test_python_integers_out_of_range_are_refused_on_the_way_to_a_backend(number: int) -> None:
    message = rf"integer {number} does not fit int64"
    with pytest.raises(IntegerRangeError, match=message):
        as_concrete(number)
    with pytest.raises(OverflowError, match=message):
        host_array(number, aval_of(number).dtype)
    assert host_array(2**63 - 1, aval_of(1).dtype) == 2**63 - 1
