"""Arrays of both backends through DLPack: the keywords of the array API standard."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp

GRANTED: list[dict[str, Any]] = [
    {},
    {"stream": None},
    {"max_version": None},
    {"max_version": (0, 8)},
    {"max_version": (1, 0)},
    {"max_version": (2, 0)},
    {"dl_device": (1, 0)},
    {"copy": None},
    {"copy": True},
    {"copy": False, "max_version": (1, 1)},
    {"stream": None, "max_version": (1, 0), "dl_device": (1, 0), "copy": True},
]


class Passing:
    """Hands on what an array gives for certain keywords, whatever the receiver asks for."""

    def __init__(self, x: ax.Array, keywords: dict[str, Any]) -> None:
        self.x = x
        self.keywords = keywords

    def __dlpack__(self, **_: Any) -> Any:
        return self.x.__dlpack__(**self.keywords)

    def __dlpack_device__(self) -> Any:
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("keywords", GRANTED, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128", "bool"])
def test_data_arrives_for_every_keyword(keywords: dict[str, Any], dtype: str, backend: str) -> None:
    data = np.arange(6).reshape(2, 3).astype(dtype)
    got = np.from_dlpack(Passing(anp.asarray(data), keywords))
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, data)


@pytest.mark.parametrize("keywords", [{"copy": True}, {"copy": False}, {"copy": None}, {}], ids=str)
def test_numpy_may_ask_for_any_of_them(keywords: dict[str, Any], backend: str) -> None:
    np.testing.assert_array_equal(np.from_dlpack(anp.arange(3.0), **keywords), [0, 1, 2])


def test_a_copy_has_memory_of_its_own(backend: str) -> None:
    x = anp.arange(3.0)

    def address(copy: bool) -> Any:
        return np.from_dlpack(x, copy=copy).__array_interface__["data"][0]

    assert address(False) == address(False)
    assert address(True) != address(False)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"stream": 1}, "pass stream=None"),
        ({"stream": -1}, "pass stream=None"),
        ({"dl_device": (2, 0)}, "another device"),
        ({"dl_device": 3}, "another device"),
    ],
    ids=str,
)
def test_what_cannot_be_granted_is_refused(
    keywords: dict[str, Any], message: str, backend: str
) -> None:
    with pytest.raises(ax.errors.ExportError, match=message) as caught:
        anp.arange(3.0).__dlpack__(**keywords)
    assert isinstance(caught.value, BufferError)


def test_dtypes_that_the_protocol_lacks_are_refused(backend: str) -> None:
    with pytest.raises(BufferError, match="no arrays of dtype int4"):
        anp.arange(3).astype("int4").__dlpack__()


def test_arrays_move_to_a_device(backend: str) -> None:
    x = anp.arange(3.0)
    assert x.to_device(x.device) is x
    with pytest.raises(TypeError, match="stream must be None"):
        x.to_device(x.device, stream=1)
    with pytest.raises(ax.errors.AxonymError, match="cannot be put on"):
        ax.jit(lambda y: y.to_device(x.device))(x)
    with pytest.raises(ax.errors.AxonymError):
        x.to_device("gpu:7")
