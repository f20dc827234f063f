"""Reading buffers of the dtypes that Python's buffer protocol does not know.

`bfloat16`, the 8-bit floats and the types of less than a byte come out of jaxlib by a function of
its own. Versions before 0.11.1 have it only in a form that imports `jax`, so there:

* Types of one or two bytes go through DLPack as unsigned integers: the data is shared, and stays
  alive for as long as the NumPy array does.
* Types of less than a byte, of which XLA packs several into one, are unpacked by a tiny program,
  compiled once for each shape.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Final, final

import ml_dtypes
import numpy as np

from . import _jaxlib
from ._client import Placement, client
from ._compile_options import compile_options
from ._element_types import MLIR_NAMES, tensor_type
from ._jaxlib import Buffer
from .errors import ArgumentError

__all__ = ["read"]

Array = np.ndarray[Any, Any]

_SUB_BYTE: Final = frozenset(("i2", "i4", "ui2", "ui4", "f4E2M1FN"))


def read(buffer: Buffer) -> Array:
    """Return a buffer's data, read-only. The buffer is there and not deleted."""
    if _jaxlib.read_any_dtype is not None:
        return _jaxlib.read_any_dtype(buffer)[0]
    dtype = buffer.aval.dtype
    array = _unpacked(buffer) if MLIR_NAMES[dtype] in _SUB_BYTE else _shared(buffer)
    array = array.view(dtype)
    array.flags.writeable = False
    return array


class _Capsule:
    """Hands a DLPack capsule to NumPy."""

    __slots__ = ("_capsule",)

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the CPU


def _shared(buffer: Buffer) -> Array:
    """The data as unsigned integers of the same width, in the buffer's own memory."""
    capsule = _jaxlib.dlpack_capsule(buffer)
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    # A tensor begins with: data pointer, device (2 x int32), rank (int32), type code (uint8).
    offset = ctypes.sizeof(ctypes.c_void_p) + 3 * ctypes.sizeof(ctypes.c_int32)
    ctypes.c_uint8.from_address(get_pointer(capsule, b"dltensor") + offset).value = 1  # unsigned
    return np.from_dlpack(_Capsule(capsule))


_unpackers: dict[tuple[int, tuple[int, ...], np.dtype[Any]], Any] = {}
_lock = threading.Lock()


@final
class _Bytes:
    """Description of an unpacked result."""

    __slots__ = ("dtype", "shape", "weak_type")

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.dtype = np.dtype(np.uint8)
        self.weak_type = False


def _unpacked(buffer: Buffer) -> Array:
    """The data with one element in the low bits of each byte, as `ml_dtypes` holds it."""
    place = client().placement_of(buffer._sharding)
    if place is None:
        raise ArgumentError("the buffer belongs to another client; read it with that one's library")
    key = (place.device.id, buffer.aval.shape, buffer.aval.dtype)
    with _lock:
        unpack = _unpackers.get(key)
        if unpack is None:
            unpack = _unpackers[key] = _compile(place, buffer.aval.shape, buffer.aval.dtype)
    executable, handler = unpack
    (result,) = executable.execute_sharded([buffer]).consume_with_handlers([handler])
    return np.asarray(memoryview(result))


def _compile(place: Placement, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    packed = tensor_type(shape, dtype)
    two_bits = MLIR_NAMES[dtype] in ("i2", "ui2")
    unsigned = tensor_type(shape, np.dtype(ml_dtypes.uint2 if two_bits else ml_dtypes.uint4))
    whole = tensor_type(shape, np.dtype(np.uint8))
    text = (
        f"func.func @main(%0: {packed}) -> {whole} {{\n"
        f"%1 = stablehlo.bitcast_convert %0 : ({packed}) -> {unsigned}\n"
        f"%2 = stablehlo.convert %1 : ({unsigned}) -> {whole}\n"
        f"return %2 : {whole}\n}}\n"
    )
    options = compile_options(effort="least", device=place.device)
    executable = client().raw.compile_and_load(text, place.device_list, options)
    return executable, _jaxlib.result_handler(_Bytes(shape), place.sharding)
