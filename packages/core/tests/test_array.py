"""Arrays: attributes, conversions, immutability, pickling, threads."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from axonym_core import Array, ConcreteArray, config, lax, make_jaxpr
from axonym_core.arrays import as_concrete, backends, register_method
from axonym_core.errors import AxonymError, BackendError

VALUES = [
    np.float64(1.5),
    np.arange(6, dtype=np.int8).reshape(2, 3),
    np.zeros((0, 3), np.complex64),
    np.array([np.nan, np.inf, -0.0]),
    np.arange(6.0)[::-2],
    np.ones(3, ml_dtypes.bfloat16),
    np.array([True, False]),
    np.array([2**60], np.int64),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: f"{v.dtype}{v.shape}{v.strides}")
def test_numbers_types_and_attributes_survive(value: Any) -> None:
    x = as_concrete(value)
    assert (x.shape, x.dtype, x.ndim, x.size) == (value.shape, value.dtype, value.ndim, value.size)
    assert (x.nbytes, x.itemsize) == (value.nbytes, value.itemsize)
    np.testing.assert_array_equal(np.asarray(x), value)
    if value.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(np.asarray(x)), np.signbit(value))
    again = pickle.loads(pickle.dumps(x))
    assert again.aval is x.aval
    np.testing.assert_array_equal(np.asarray(again), value)


def test_writing_to_the_numpy_array_does_not_show_and_ours_cannot_be_written() -> None:
    value = np.zeros(64)
    x = as_concrete(value)
    value[:] = 1.0
    assert not np.asarray(x).any()
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x)[0] = 1.0
    with pytest.raises(TypeError, match=r"x.at\[index\].set"):
        x[0] = 1.0
    assert copy.copy(x) is x
    deep = copy.deepcopy([x])[0]
    assert deep is not x  # it outlives the donation of the original
    np.testing.assert_array_equal(deep, x)
    np.array(x)[0] = 5.0


def test_python_conversions() -> None:
    x = as_concrete(np.int32(3))
    assert (int(x), float(x), complex(x), bool(x), [10, 20, 30, 40][x]) == (
        3,
        3.0,
        3 + 0j,
        True,
        40,
    )
    assert (x.item(), as_concrete(np.ones((1, 1))).item()) == (3, 1.0)
    assert as_concrete(np.eye(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert f"{as_concrete(np.float64(1.25)):.1f}" == "1.2"
    assert round(as_concrete(np.float64(1.26)), 1) == 1.3
    with pytest.raises(ValueError, match="ambiguous"):
        bool(as_concrete(np.ones(2)))
    with pytest.raises(TypeError, match="one element"):
        float(as_concrete(np.ones(2)))
    with pytest.raises(TypeError, match="integer"):
        [1, 2][as_concrete(np.float64(1))]
    with pytest.raises(TypeError, match="0-d"):
        len(x)
    with pytest.raises(TypeError, match="0-d"):
        iter(x)
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    assert [float(v) for v in as_concrete(np.arange(3.0))] == [0.0, 1.0, 2.0]


def test_printed_forms() -> None:
    assert repr(as_concrete(np.arange(2))) == "Array([0, 1], dtype=int64)"
    assert repr(lax.add(1.0, 2.0)) == "Array(3., dtype=float32, weak_type=True)"
    assert str(as_concrete(np.arange(2))) == "[0 1]"
    seen = []
    make_jaxpr(lambda x: [seen.append(repr(x)), x][1])(1.0)
    assert seen == ["Traced<~f64[]>"]


def test_concrete_and_traced_values_are_arrays() -> None:
    seen = []
    make_jaxpr(lambda x: [seen.append(isinstance(x, Array)), x][1])(1.0)
    assert seen == [True]
    assert isinstance(as_concrete(1.0), Array)
    assert isinstance(as_concrete(1.0), ConcreteArray)
    assert not isinstance(np.ones(1), Array)


def test_waiting_and_devices() -> None:
    x = as_concrete(np.ones(3)).block_until_ready()
    assert x.is_ready()
    assert not x.is_deleted()
    assert x.devices() == {x.device}


def test_dlpack_exports_the_data() -> None:
    np.testing.assert_array_equal(np.from_dlpack(as_concrete(np.arange(3.0))), np.arange(3.0))


def test_methods_can_be_added_but_not_replaced() -> None:
    register_method("added_by_a_test", lambda self: self.ndim)
    try:
        assert as_concrete(np.ones((1, 1))).added_by_a_test() == 2
        with pytest.raises(AxonymError, match="already"):
            register_method("shape", lambda self: None)
    finally:
        del Array.added_by_a_test  # type: ignore[attr-defined]


def test_backends_are_found_by_name_and_chosen() -> None:
    assert "numpy" in backends.names()
    with config.override(backend="numpy"):
        assert backends.current().name == "numpy"
        assert as_concrete(1.0).backend.name == "numpy"
    with (
        config.override(backend="nothing"),
        pytest.raises(BackendError, match=r"not installed.*numpy"),
    ):
        backends.current()


def test_the_base_class_of_arrays_is_not_constructed() -> None:
    for arguments in ((), (1,), (np.ones(2), "float32")):
        with pytest.raises(TypeError, match="is not constructed directly"):
            Array(*arguments)
