"""Arrays from numbers, lists, NumPy arrays and others; dtype names."""

from __future__ import annotations

import array as python_array
import pickle

import numpy as np
import pytest

import axonym_numpy as anp
from axonym_core import make_jaxpr
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.settings import config
from axonym_numpy.errors import ArgumentError

F32, F64 = np.float32, np.float64


def test_lists_of_python_numbers_get_the_default_dtypes(same):
    same(anp.array([1.5, 2]), [1.5, 2], dtype=F32)
    same(anp.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]], dtype=np.int32)
    same(anp.array([True, False]), [True, False], dtype=bool)
    same(anp.array([1j, 2]), [1j, 2], dtype=np.complex64)
    same(anp.array([]), [], dtype=F32)
    same(anp.array([[], []]), np.zeros((2, 0)), dtype=F32)
    same(anp.array([np.sqrt(2.0), 1]), [2**0.5, 1], dtype=F32)
    same(anp.array(((1, 2), [3, 4])), [[1, 2], [3, 4]], dtype=np.int32)
    with config.override(default_float_bits=64, default_int_bits=64):
        assert anp.array([1.5]).dtype == F64
        assert anp.array([1]).dtype == np.int64
        assert anp.zeros(1).dtype == F64


def test_numpy_data_keeps_its_dtype_and_shares_no_memory(same):
    x = np.arange(3.0)
    y = anp.asarray(x)
    assert y.dtype == F64
    x[0] = 99
    same(y, [0, 1, 2])
    assert anp.array([np.int8(1), np.int8(2)]).dtype == np.int8
    assert anp.array([np.zeros(2), np.ones(2)]).dtype == F64
    assert anp.array(np.zeros(2, ">f4")).dtype == F32


def test_numbers_are_weak_and_asked_for_dtypes_are_not():
    assert anp.asarray(2).weak_type
    assert anp.array(2.5).weak_type
    assert anp.asarray(np.float64(2)).dtype == F32
    assert not anp.asarray(2.5, F32).weak_type
    assert not anp.float64(2.5).weak_type
    assert anp.float64(2.5).dtype == F64
    assert not anp.array([2.5]).weak_type


def test_an_array_is_returned_as_it_is():
    x = anp.ones(3)
    assert anp.asarray(x) is x
    assert anp.asarray(x, "float32") is x
    assert anp.asarray(x, dtype=int).dtype == np.int32
    assert anp.array(x, ndmin=3).shape == (1, 1, 3)


def test_lists_may_hold_arrays_and_traced_values(same):
    x = anp.asarray([1.0, 2.0])
    same(anp.array([x, x]), [[1, 2], [1, 2]], dtype=F32)
    same(anp.array([[x[0], 5.0], [1, x[1]]]), [[1, 5], [1, 2]], dtype=F32)
    same(anp.array([np.ones(2, np.int8), x]), [[1, 1], [1, 2]], dtype=F32)
    jaxpr = make_jaxpr(lambda v: anp.array([v, 2 * v, 0.0]))(1.0)
    assert jaxpr.out_avals[0].shape == (3,)


def test_other_objects_with_data_are_taken(same):
    same(anp.asarray(python_array.array("i", [1, 2])), [1, 2], dtype=np.int32)
    same(anp.asarray(range(3)), [0, 1, 2], dtype=np.int32)
    same(anp.asarray(memoryview(b"\x01\x02")), [1, 2], dtype=np.uint8)
    same(anp.frombuffer(b"\x00\x00\x80\x3f", F32), [1.0])
    same(anp.from_dlpack(np.arange(3.0)), [0, 1, 2], dtype=F64)
    same(np.from_dlpack(anp.ones(2)), [1, 1])
    same(anp.copy(np.ones(2, np.int8)), [1, 1], dtype=np.int8)


def test_bad_data_is_refused_by_place():
    with pytest.raises(TypeError, match=r"a\[1\]\[0\] is a str"):
        anp.array([[1.0], ["x"]])
    with pytest.raises(ShapeError, match=r"a\[0\] has shape \(2,\) and a\[1\] has shape \(1,\)"):
        anp.array([[1, 2], [3]])
    with pytest.raises(ShapeError, match="one shape"):
        anp.array([anp.ones(2), anp.ones(3)])
    with pytest.raises(TypeError, match="NoneType"):
        anp.asarray(None)
    with pytest.raises(DTypeError, match=r"4294967296 does not fit int32.*int64"):
        anp.array([1, 2**32])
    with pytest.raises(DTypeError, match="300 does not fit"):
        anp.asarray(300, "uint8")
    with pytest.raises(DTypeError, match="complex"):
        anp.array([1j], float)
    with pytest.raises(DTypeError, match=r"flaot32.*float32"):
        anp.asarray(1.0, "flaot32")
    with pytest.raises(ArgumentError, match="copy=False"):
        anp.asarray([1.0], copy=False)
    with pytest.raises(ArgumentError, match="traced"):
        make_jaxpr(lambda x: anp.asarray(x, device="cpu:0"))(1.0)


def test_large_integers_fit_where_the_dtype_is_given():
    assert anp.array([2**40], "int64").tolist() == [2**40]
    assert anp.array([2**70], float).dtype == F32


def test_astype_truncates_saturates_and_takes_real_parts(same):
    same(anp.astype(np.array([1.7, -1.7, 300.0]), "int8"), [1, -1, 127])
    same(anp.asarray([1 + 2j]).astype(float), [1.0], dtype=F32)
    same(anp.asarray([0j, 1j]).astype(bool), [False, True])
    assert anp.ones(1, "int8").astype(None).dtype == F32


def test_dtype_names_are_dtypes_everywhere():
    assert np.dtype(anp.float32) == F32
    assert np.zeros(1, anp.int8).dtype == np.int8
    assert anp.zeros(2, anp.bfloat16).dtype == anp.bfloat16
    assert anp.float32 == np.float32
    assert np.dtype("float32") == anp.float32
    assert {anp.float32: 1}[anp.single] == 1
    assert hash(anp.int8) == hash(np.dtype("int8"))
    assert anp.float16(1.5).dtype == np.float16
    assert anp.int32(3).dtype == np.int32
    assert anp.complex64(1 - 2j).dtype == np.complex64
    assert repr(anp.bfloat16) == "<dtype bfloat16>"
    assert anp.issubdtype(anp.bfloat16, anp.floating)
    assert anp.result_type(anp.float16, anp.float32, 1) == F32
    assert anp.finfo(anp.float32).bits == 32
    assert anp.iinfo(anp.int8).max == 127


def test_kinds_of_dtypes_are_those_of_the_array_api():
    assert anp.isdtype(anp.float32, "real floating")
    assert anp.isdtype(np.int8, ("bool", "signed integer"))
    assert not anp.isdtype("uint8", "signed integer")
    assert anp.isdtype("uint8", "numeric")
    assert anp.isdtype("uint8", np.uint8)
    with pytest.raises(ArgumentError, match="real"):
        anp.isdtype("uint8", "real")
    assert anp.can_cast("int8", "float32")
    assert not anp.can_cast(anp.ones(1), "int8")
    assert anp.can_cast("float64", "float32", "same_kind")


def test_arrays_pickle(same):
    x = anp.arange(3.0)
    same(pickle.loads(pickle.dumps(x)), x)


def test_the_namespace_tells_the_array_api_about_itself():
    info = anp.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == F32
    assert "int8" in info.dtypes(kind="signed integer")
    assert "int8" not in info.dtypes(kind="bool")
    assert info.capabilities()["max dimensions"] == 64
    assert info.default_device() in info.devices()
    assert anp.ones(1).__array_namespace__() is anp


def test_a_python_integer_beyond_the_default_dtype_is_refused():
    with pytest.raises(DTypeError, match=r"integer 1099511627776 does not fit int32"):
        anp.asarray(2**40)
    assert anp.asarray(np.int64(2**40)).dtype == np.int64


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)

    with pytest.raises(ShapeError, match="holds itself"):
        anp.asarray(endless)
