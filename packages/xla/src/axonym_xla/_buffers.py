"""Buffers: data on a device, and the ways between it and NumPy.

A buffer is an object of jaxlib. This module makes buffers of NumPy arrays and reads them back, and
is where everything is checked that C++ does not check: it believes what it is told about the data,
swaps no bytes, and some of its functions crash on a buffer that was deleted.

    >>> buffer = from_host(np.arange(3.0))
    >>> to_host(buffer)
    array([0., 1., 2.])

A buffer holds a copy by default, so that later writes to the NumPy array do not show in it.
Reading shares the buffer's memory where possible; the result cannot be written to and stays valid
when the buffer is deleted or donated.
"""

from __future__ import annotations

from typing import Any, Final, TypeGuard, final

import numpy as np

from . import _client, _gate, _jaxlib, _readback
from ._element_types import MLIR_NAMES, DType, canonical
from ._jaxlib import Buffer, Device, Sharding
from .errors import (
    ArgumentError,
    BufferDTypeError,
    DeletedBufferError,
    ExecutionError,
    ExportError,
    OutOfMemoryError,
    XlaError,
)

__all__ = [
    "Buffer",
    "BufferAval",
    "GivenUp",
    "block_until_ready",
    "buffer_aval",
    "device_of",
    "dlpack_device",
    "from_host",
    "give_up",
    "is_buffer",
    "is_deleted",
    "is_ready",
    "supported_dtypes",
    "to_device",
    "to_dlpack",
    "to_host",
]


@final
class BufferAval:
    """Shape and dtype of a buffer; made by `buffer_aval`, which gives equal ones once.

    Attributes:
        shape: The shape, a tuple of integers.
        dtype: The dtype that the data is held in, one of `supported_dtypes()`.
        weak_type: False; jaxlib asks for it.
    """

    __slots__ = ("dtype", "shape", "weak_type")

    def __init__(self, shape: tuple[int, ...], dtype: DType) -> None:
        self.shape = shape
        self.dtype = dtype
        self.weak_type = False

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"


@final
class GivenUp:
    """Stands in an array for the buffer that it held until it was deleted or donated.

    The buffer itself is freed when nobody uses it any more: another thread may be reading it, or
    handing it to a program, for which C++ would end the process if the data were freed by force.

    Attributes:
        aval: Shape and dtype that the buffer had.
    """

    __slots__ = ("_sharding", "aval")

    def __init__(self, buffer: Buffer) -> None:
        self.aval: Final = buffer.aval
        self._sharding: Final[Sharding] = buffer._sharding


_AVALS_KEPT: Final = 8192
_avals: dict[tuple[tuple[int, ...], DType], BufferAval] = {}


def buffer_aval(shape: tuple[int, ...], dtype: DType) -> BufferAval:
    """The description of a buffer with a shape and a dtype.

    Args:
        shape: The shape.
        dtype: Any dtype that `from_host` takes.

    Raises:
        BufferDTypeError: XLA has no such dtype.

    Example:
        >>> buffer_aval((2, 3), np.dtype("float32"))
        float32[2,3]
    """
    aval = _avals.get((shape, dtype))
    if aval is None:
        held = canonical(dtype)
        if len(_avals) >= _AVALS_KEPT:  # equal avals may be two objects after that
            _avals.clear()
        aval = _avals.setdefault((shape, held), BufferAval(shape, held))
        if dtype == held:
            _avals[shape, dtype] = aval
    return aval


def supported_dtypes() -> list[str]:
    """Names of the dtypes that buffers can have, on every supported version of jaxlib.

    Example:
        >>> "bfloat16" in supported_dtypes()
        True
    """
    return sorted(dtype.name for dtype in MLIR_NAMES)


def is_buffer(x: object) -> TypeGuard[Buffer]:
    """Whether an object is a buffer (arrays of `jax` have the same class)."""
    return type(x) is _jaxlib.BufferType


def from_host(
    array: np.ndarray[Any, Any] | np.generic, device: Device | None = None, *, copy: bool = True
) -> Buffer:
    """Put a NumPy array on a device.

    Args:
        array: The data, of any shape and memory layout and of any of `supported_dtypes()` in any
            byte order. `float0` becomes `bool`.
        device: The device, one of this process's own (None: the default one).
        copy: Whether the buffer gets memory of its own. If not, it shares the array's where
            that is possible (it is contiguous and lies at a multiple of 64 bytes), and the array
            must not be written to as long as the buffer is in use.

    Returns:
        The buffer, of the array's shape and dtype.

    Raises:
        ArgumentError: `array` is no NumPy array or scalar, or a masked array.
        BufferDTypeError: XLA has no such dtype.
        DeviceError: There is no such device in this process.
        OutOfMemoryError: The device has not enough memory.

    Example:
        >>> data = np.zeros(2)
        >>> buffer = from_host(data)
        >>> data[0] = 1.0
        >>> to_host(buffer)
        array([0., 0.])
    """
    if type(array) is not np.ndarray:
        array = _as_plain(array)
    dtype = array.dtype
    aval = _avals.get((array.shape, dtype)) or buffer_aval(array.shape, dtype)
    if aval.dtype != dtype:
        array = array.astype(aval.dtype) if dtype.names is None else np.zeros(aval.shape, np.bool_)
    place = _client.client().placement(device)
    semantics = _jaxlib.HostBufferSemantics
    try:
        return _jaxlib.put(
            aval,
            place.sharding,
            [array],
            place.devices,
            True,
            copy,
            semantics.IMMUTABLE_ONLY_DURING_CALL if copy else semantics.ZERO_COPY,
            True,
        )
    except _jaxlib.RuntimeFailure as error:
        raise failure("an array could not be put on a device", error) from error


def _as_plain(array: object) -> np.ndarray[Any, Any]:
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentError(
            "array is a masked array, whose mask would be lost; fill it first, as with "
            "array.filled(0)."
        )
    if isinstance(array, (np.ndarray, np.generic)):
        return np.asarray(array)
    raise ArgumentError(
        f"array must be a NumPy array or scalar; got {array!r} of type {type(array).__name__}. "
        "Convert it with numpy.asarray, choosing the dtype."
    )


def to_host(buffer: Buffer) -> np.ndarray[Any, Any]:
    """Wait for a buffer's data and return it.

    Args:
        buffer: The buffer.

    Returns:
        A read-only array of the buffer's shape and dtype. It shares the buffer's memory, except
        for dtypes of less than a byte.

    Raises:
        ArgumentError: `buffer` is none.
        DeletedBufferError: It was deleted or donated.
        ExecutionError: The program that was to compute it failed.

    Example:
        >>> to_host(from_host(np.float32(1.5)))
        array(1.5, dtype=float32)
    """
    if type(buffer) is not _jaxlib.BufferType:
        _check(buffer, "to_host")
    if _gate.shut:
        _gate.stop(buffer)
    try:
        # C++ ends the process where one reads, without having waited, what could not be computed.
        buffer.block_until_ready()
        if buffer.aval.dtype.isbuiltin == 1:
            return np.asarray(memoryview(buffer))
        return _readback.read(buffer)
    except (_jaxlib.RuntimeFailure, BufferError) as error:
        _check(buffer, "to_host")
        raise failure("the data of an array could not be read", error) from error


def to_device(buffer: Buffer, device: Device | None = None) -> Buffer:
    """Copy a buffer to a device, also to the one that it is on.

    Args:
        buffer: The buffer.
        device: The device, one of this process's own (None: the default one).

    Returns:
        Another buffer with the same data.

    Raises:
        ArgumentError: `buffer` is none, or belongs to another client, such as that of `jax`.
        DeletedBufferError: It was deleted or donated.
        DeviceError: There is no such device in this process.
        OutOfMemoryError: The device has not enough memory.

    Example:
        >>> to_host(to_device(from_host(np.arange(2))))
        array([0, 1])
    """
    _check(buffer, "to_device")
    client = _client.client()
    place = client.placement(device)
    if client.placement_of(buffer._sharding) is None:
        raise _foreign("to_device")
    semantics = _jaxlib.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
    shards, devices = [buffer], place.devices
    try:
        return _jaxlib.put(
            buffer.aval, place.sharding, shards, devices, True, True, semantics, True
        )
    except _jaxlib.RuntimeFailure as error:
        _check(buffer, "to_device")
        raise failure("an array could not be copied to a device", error) from error


def block_until_ready(buffer: Buffer) -> None:
    """Wait until a buffer's data is there.

    Raises:
        ArgumentError: `buffer` is none.
        DeletedBufferError: It was deleted or donated.
        ExecutionError: The program that was to compute it failed.
    """
    if type(buffer) is not _jaxlib.BufferType:
        _check(buffer, "block_until_ready")
    if _gate.shut:
        _gate.stop(buffer)
    try:
        buffer.block_until_ready()
    except _jaxlib.RuntimeFailure as error:
        _check(buffer, "block_until_ready")
        raise failure("an array could not be computed", error) from error


def is_ready(buffer: Buffer) -> bool:
    """Whether a buffer's data is there.

    Raises:
        ArgumentError: `buffer` is none.
        DeletedBufferError: It was deleted or donated.
    """
    _check(buffer, "is_ready")
    return buffer.is_ready()


def give_up(buffer: Buffer | GivenUp) -> GivenUp:
    """What to put in the place of a buffer so that it is freed as soon as nobody uses it.

    Raises:
        ArgumentError: `buffer` is none.

    Example:
        >>> is_deleted(give_up(from_host(np.zeros(3))))
        True
    """
    if type(buffer) is GivenUp:
        return buffer
    if not is_buffer(buffer):
        raise _not_a_buffer(buffer, "give_up")
    return GivenUp(buffer)


def is_deleted(buffer: Buffer | GivenUp) -> bool:
    """Whether a buffer was deleted or donated.

    Raises:
        ArgumentError: `buffer` is none.

    Example:
        >>> is_deleted(from_host(np.zeros(3)))
        False
    """
    if type(buffer) is GivenUp:
        return True
    if not is_buffer(buffer):
        raise _not_a_buffer(buffer, "is_deleted")
    return buffer.is_deleted()


def device_of(buffer: Buffer | GivenUp) -> Device:
    """The device that a buffer is on, or was on.

    Raises:
        ArgumentError: `buffer` is none, or belongs to another client, such as that of `jax`.

    Example:
        >>> device_of(from_host(np.zeros(3))).platform
        'cpu'
    """
    if type(buffer) is not GivenUp and not is_buffer(buffer):
        raise _not_a_buffer(buffer, "device_of")
    place = _client.client().placement_of(buffer._sharding)
    if place is None:
        raise _foreign("device_of")
    return place.device


def dlpack_device(buffer: Buffer | GivenUp) -> tuple[int, int]:
    """DLPack's kind and number of the device that a buffer is on.

    Raises:
        ArgumentError: `buffer` is none, or belongs to another client.

    Example:
        >>> dlpack_device(from_host(np.zeros(3)))
        (1, 0)
    """
    device_of(buffer)
    return (1, 0)  # all of the CPU's devices share one memory


def to_dlpack(
    buffer: Buffer,
    *,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Hand a buffer to another library by DLPack; the arguments are those of `__dlpack__`.

    Args:
        buffer: The buffer.
        stream: None: the CPU has no streams.
        max_version: The newest version of the protocol that the receiver knows. The capsule is of
            the first version, which every receiver knows.
        dl_device: The device on which the receiver wants the data; None or the CPU.
        copy: Whether the data is copied for the receiver. If not, it shares the buffer's memory
            and must not write to it.

    Returns:
        A capsule of type `dltensor`.

    Raises:
        ArgumentError: `buffer` is none.
        DeletedBufferError: It was deleted or donated.
        ExportError: The protocol lacks the dtype, or another device is wanted.

    Example:
        >>> type(to_dlpack(from_host(np.zeros(3)))).__name__
        'PyCapsule'
    """
    _check(buffer, "to_dlpack")
    here = dlpack_device(buffer)
    if dl_device is not None and dl_device != here:
        raise ExportError(
            f"__dlpack__: dl_device={dl_device!r} is another device than the array's, {here}; "
            "copy the array there with the other library."
        )
    if stream is not None:
        raise ExportError(
            f"__dlpack__: stream={stream!r} is not possible on the CPU; pass stream=None."
        )
    if copy:
        buffer = to_device(buffer, device_of(buffer))
    block_until_ready(buffer)
    try:
        return _jaxlib.dlpack_capsule(buffer)
    except (_jaxlib.RuntimeFailure, RuntimeError, BufferError) as error:
        raise ExportError(
            f"__dlpack__: DLPack has no arrays of dtype {buffer.aval.dtype}; convert the array "
            "first, as with astype('float32')."
        ) from error


def failure(what: str, error: Exception) -> XlaError:
    """Translate an exception of jaxlib that did not come from a wrong argument."""
    text = f"{what}: {error}"
    if "RESOURCE_EXHAUSTED" in text or "ut of memory" in text:
        return OutOfMemoryError(text)
    if "Unknown NumPy dtype" in text:
        return BufferDTypeError(text)
    return ExecutionError(text)


def _check(buffer: Any, where: str) -> None:
    """Refuse what is no buffer, or a buffer without data: C++ may crash on those."""
    here = is_buffer(buffer)
    if not here and type(buffer) is not GivenUp:
        raise _not_a_buffer(buffer, where)
    if not here or buffer.is_deleted():
        raise DeletedBufferError(
            f"{where}: the data of this array of {buffer.aval} was deleted, or donated to a "
            "compiled function; use that function's result instead, or donate less."
        )


def _not_a_buffer(x: object, where: str) -> ArgumentError:
    return ArgumentError(
        f"{where}: expected a buffer of the XLA backend; got {x!r} of type {type(x).__name__}. "
        "Make one with from_host(numpy_array)."
    )


def _foreign(where: str) -> ArgumentError:
    return ArgumentError(
        f"{where}: the buffer belongs to another XLA client, such as that of `jax`; convert it to "
        "a NumPy array first."
    )
