"""Moving trees of arrays, and waiting for them."""

from __future__ import annotations

import numpy as np
import pytest

from axonym_core import config, lax, make_jaxpr
from axonym_core.arrays import ConcreteArray, backends
from axonym_core.errors import (
    BackendError,
    ConcretizationError,
    DTypeError,
    TracerArrayConversionError,
    TracerLeakError,
)
from axonym_core.tracing import block_until_ready, device_get, device_put

TREE = {"w": np.arange(6, dtype=np.float64).reshape(2, 3), "n": (3, np.int8(4)), "none": None}


@pytest.fixture(autouse=True)
def _on_numpy() -> object:
    with config.override(backend="numpy"):
        yield


def test_there_and_back_again() -> None:
    put = device_put(TREE)

    assert all(type(x) is ConcreteArray for x in (put["w"], *put["n"]))
    assert put["none"] is None
    assert put["w"].dtype == np.float64
    assert put["n"][1].dtype == np.int8
    back = device_get(put)
    assert type(back["w"]) is np.ndarray
    assert back["w"].tolist() == TREE["w"].tolist()
    assert back["n"] == (3, 4)


def test_data_is_copied_from_numpy_and_not_from_arrays() -> None:
    x = np.zeros(3)
    put = device_put(x)
    x[:] = 1

    assert put.tolist() == [0, 0, 0]
    assert device_put(put) is put
    assert device_put(put, put.device) is put


def test_a_device_can_be_named() -> None:
    device = backends.get("numpy").devices()[0]
    assert device_put(np.zeros(3), device).device is device
    with pytest.raises(BackendError, match="one device"):
        device_put(np.zeros(3), "somewhere")


def test_what_is_no_array_is_refused_or_returned() -> None:
    with pytest.raises(TypeError, match="expected an array or a number, got str"):
        device_put("text")
    assert device_get({"a": "text", "b": 1}) == {"a": "text", "b": 1}
    assert block_until_ready({"a": "text", "b": 1}) == {"a": "text", "b": 1}


def test_waiting_returns_the_tree() -> None:
    put = device_put(TREE)
    assert block_until_ready(put) is put


def test_traced_values_stay_where_they_are() -> None:
    make_jaxpr(lambda x: block_until_ready(device_put({"x": x})["x"]))(1.0)
    with pytest.raises(ConcretizationError, match=r"traced value of type .* cannot be put on"):
        make_jaxpr(lambda x: device_put(x, "cpu"))(1.0)
    with pytest.raises(TracerArrayConversionError):
        make_jaxpr(device_get)(1.0)


def test_leaked_values_are_refused() -> None:
    leaked = []
    make_jaxpr(lambda x: leaked.append(x) or x)(1.0)
    with pytest.raises(TracerLeakError):
        device_put(leaked[0])


def test_device_put_refuses_python_integers_out_of_range() -> None:
    with pytest.raises(DTypeError, match=r"integer 1099511627776 does not fit int32"):
        device_put({"n": 2**40})


def test_results_do_not_change_with_a_numpy_array_seen_through_a_read_only_view() -> None:
    x = np.zeros(3)
    result = lax.reshape(np.broadcast_to(x, (2, 3)), (3, 2))
    x[:] = 1.0
    np.testing.assert_array_equal(result, np.zeros((3, 2)))
    lax.neg(np.broadcast_arrays(x, np.ones((2, 1)))[0])  # nor does NumPy warn of such a view
