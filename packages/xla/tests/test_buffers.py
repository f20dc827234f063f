"""Buffers hold what NumPy held, bit by bit, and say so when they no longer do."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from axonym_core.errors import DTypeError
from axonym_xla import _buffers, _client, _jaxlib
from axonym_xla._buffers import Buffer, from_host, to_host
from axonym_xla.errors import (
    ArgumentError,
    BufferDTypeError,
    DeletedBufferError,
    DeviceError,
    ExportError,
    OutOfMemoryError,
)

DTYPES = [np.dtype(name) for name in _buffers.supported_dtypes()]
BITS_USED = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4, "bool": 1}


def any_bits(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Every kind of bit pattern that a dtype has, NaNs and subnormal numbers included."""
    rng = np.random.default_rng(0)
    count = int(np.prod(shape)) * dtype.itemsize
    data = rng.integers(0, 1 << BITS_USED.get(dtype.name, 8), count, np.uint8)
    return data.view(dtype).reshape(shape)


def same_bits(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Zeros at an address that XLA can share."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


def address(x: np.ndarray[Any, Any]) -> int:
    return int(x.__array_interface__["data"][0])


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 2), (7,), (3, 5), (2, 3, 4, 5)])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_and_shape_comes_back_bit_by_bit(
    dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    data = any_bits(shape, dtype)
    buffer = from_host(data)

    assert same_bits(data, to_host(buffer))
    assert (buffer.aval.shape, buffer.aval.dtype) == (shape, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_what_is_read_cannot_be_written(dtype: np.dtype[Any]) -> None:
    data = to_host(from_host(any_bits((3,), dtype)))

    assert not data.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        data[0] = data[1]


@settings(max_examples=40)
@given(st.data())
def test_every_memory_layout_comes_back(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.dtype(t) for t in ("i1", "i4", "f4", "f8", "c16", "?")]))
    x = data.draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0)))
    if x.ndim:
        index = data.draw(hnp.basic_indices(x.shape, allow_ellipsis=True, allow_newaxis=True))
        x = np.asarray(x[index])
        x = x.transpose(data.draw(st.permutations(range(x.ndim))))

    assert same_bits(np.ascontiguousarray(x).reshape(x.shape), to_host(from_host(x)))


LAYOUTS: dict[str, Callable[[Any], np.ndarray[Any, Any]]] = {
    "negative strides": lambda x: x[::-1, ::-2],
    "by columns": np.asfortranarray,
    "transposed": lambda x: x.T,
    "broadcast": lambda x: np.broadcast_to(x[0], (3, 6)),
    "big-endian": lambda x: x.astype(">f8"),
    "overlapping": lambda x: np.lib.stride_tricks.sliding_window_view(x[0], 3),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_odd_memory_layouts_come_back(layout: str) -> None:
    data = LAYOUTS[layout](np.arange(24.0).reshape(4, 6))
    read = to_host(from_host(data))

    np.testing.assert_array_equal(read, data)
    assert read.dtype == data.dtype.newbyteorder("=")


def test_data_at_odd_addresses_comes_back() -> None:
    records = np.zeros(5, [("a", "i1"), ("b", "f8")])
    records["b"] = np.arange(5.0)

    np.testing.assert_array_equal(to_host(from_host(records["b"])), np.arange(5.0))


@pytest.mark.parametrize("dtype", [np.longlong, np.ulonglong, np.intc, np.long])
def test_c_types_are_the_dtypes_of_their_width(dtype: Any) -> None:
    buffer = from_host(np.arange(3, dtype=dtype))

    assert to_host(buffer).dtype == np.dtype(dtype)
    assert buffer.aval is from_host(np.arange(3).astype(buffer.aval.dtype)).aval


@pytest.mark.parametrize("value", [2**53 + 1, -(2**63), 2**63 - 1])
def test_64_bits_are_not_narrowed(value: int) -> None:
    assert int(to_host(from_host(np.int64(value)))) == value
    assert float(to_host(from_host(np.float64(1 + 2**-52)))) == 1 + 2**-52


def test_numpy_scalars_are_arrays_without_dimensions() -> None:
    assert to_host(from_host(np.float16(1.5))).shape == ()
    assert to_host(from_host(ml_dtypes.bfloat16(1.5))) == 1.5
    assert to_host(from_host(np.bool_(True))).dtype == np.bool_


def test_subclasses_are_taken_for_their_data() -> None:
    class Labelled(np.ndarray[Any, Any]):
        pass

    assert to_host(from_host(np.arange(3).view(Labelled))).tolist() == [0, 1, 2]


def test_float0_is_held_as_truth_values() -> None:
    tangent = np.zeros((2, 3), [("float0", np.void, 0)])

    assert same_bits(to_host(from_host(tangent)), np.zeros((2, 3), bool))
    assert same_bits(to_host(from_host(tangent)), np.zeros((2, 3), bool))


@pytest.mark.parametrize("make", [np.zeros, aligned], ids=["anywhere", "aligned"])
@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_a_buffer_does_not_see_later_writes(make: Any, size: int) -> None:
    data = make((size,), np.float32)
    buffer = from_host(data)
    data[:] = 1

    assert not to_host(buffer).any()


def test_without_a_copy_memory_is_shared() -> None:
    data = aligned((100,), np.float32)
    buffer = from_host(data, copy=False)

    assert address(to_host(buffer)) == address(data)


def test_shared_memory_is_kept_alive() -> None:
    data = aligned((1000,), np.float64)
    data[:] = np.arange(1000)
    buffer = from_host(data, copy=False)
    del data
    np.ones(2000)

    np.testing.assert_array_equal(to_host(buffer), np.arange(1000))


def test_without_a_copy_other_layouts_are_right_too() -> None:
    data = np.arange(12.0).reshape(3, 4)[::-1, 1:]

    np.testing.assert_array_equal(to_host(from_host(data, copy=False)), data)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e4m3fn", "bool", "complex64"])
def test_reading_shares_the_buffers_memory(dtype: str) -> None:
    buffer = from_host(any_bits((64,), np.dtype(dtype)))

    assert address(to_host(buffer)) == address(to_host(buffer))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_what_was_read_outlives_the_buffer(dtype: np.dtype[Any]) -> None:
    data = any_bits((1000,), dtype)
    buffer = from_host(data)
    read = to_host(buffer)
    buffer.delete()
    del buffer
    [from_host(np.ones(1000)) for _ in range(20)]

    assert same_bits(read, data)


USES: dict[str, Callable[[Buffer], Any]] = {
    "to_host": to_host,
    "to_device": _buffers.to_device,
    "block_until_ready": _buffers.block_until_ready,
    "is_ready": _buffers.is_ready,
    "to_dlpack": _buffers.to_dlpack,
}


@pytest.mark.parametrize("use", USES)
def test_using_a_deleted_buffer_is_an_error(use: str) -> None:
    buffer = from_host(np.zeros((2, 3), np.float32))
    buffer.delete()

    with pytest.raises(DeletedBufferError, match=rf"{use}: .* float32\[2,3\] was deleted"):
        USES[use](buffer)


def test_deleting_twice_is_fine() -> None:
    buffer = from_host(np.zeros(3))
    assert not _buffers.is_deleted(buffer)
    buffer.delete()
    buffer.delete()

    assert _buffers.is_deleted(buffer)


@pytest.mark.parametrize("x", [None, 1.0, np.zeros(3), "text", [1, 2]], ids=repr)
@pytest.mark.parametrize("use", [*USES, "give_up", "is_deleted", "device_of", "dlpack_device"])
def test_what_is_no_buffer_is_refused(use: str, x: Any) -> None:
    with pytest.raises(ArgumentError, match=rf"expected a buffer .* of type {type(x).__name__}"):
        getattr(_buffers, use)(x)


@pytest.mark.parametrize(
    "data",
    [
        np.array(["a", "b"]),
        np.array([b"a"]),
        np.array([None, 1], object),
        np.array(["2020-01-01"], "datetime64[D]"),
        np.array([1], "timedelta64[s]"),
        np.zeros(3, np.longdouble),
        np.zeros(3, np.clongdouble),
        np.zeros(3, [("x", "f4")]),
        np.zeros(3, "V4"),
        np.zeros(3, ml_dtypes.float6_e2m3fn),
    ],
    ids=lambda data: str(data.dtype),
)
def test_other_dtypes_are_refused(data: np.ndarray[Any, Any]) -> None:
    with pytest.raises(
        BufferDTypeError, match=r"XLA has no arrays of dtype .*; convert .* float32"
    ):
        from_host(data)
    with pytest.raises(DTypeError):
        from_host(data[:0])


@pytest.mark.parametrize("data", [1, 2.5, True, [1, 2], "text", None, range(3)], ids=repr)
def test_what_is_no_numpy_array_is_refused(data: Any) -> None:
    with pytest.raises(
        ArgumentError, match=r"array must be a NumPy array or scalar; got .* Convert"
    ):
        from_host(data)


def test_masks_are_not_lost_silently() -> None:
    with pytest.raises(ArgumentError, match=r"array is a masked array.*filled"):
        from_host(np.ma.masked_array([1.0, 2.0], [False, True]))


def test_more_memory_than_there_is_is_a_memory_error() -> None:
    with pytest.raises(OutOfMemoryError, match="could not be put on a device: RESOURCE_EXHAUSTED"):
        from_host(np.broadcast_to(np.zeros(1), (1 << 45,)))
    assert issubclass(OutOfMemoryError, MemoryError)


def test_a_wrong_device_is_refused() -> None:
    with pytest.raises(DeviceError, match="is no device"):
        from_host(np.zeros(3), "gpu:0")  # type: ignore[arg-type]  # that is the test


def test_buffers_move_between_devices() -> None:
    program = """
        import numpy as np
        from axonym_xla import _buffers, _client
        from axonym_xla._buffers import from_host, to_device, to_host, device_of
        first, second, third = _client.local_devices()
        x = from_host(np.arange(5, dtype=np.int64) << 40, second)
        y = to_device(x, third)
        z = to_device(y)
        x.delete()
        i4 = np.dtype(_buffers.buffer_aval((), np.dtype("int4")).dtype)
        nibbles = from_host(np.arange(-3, 4).astype(i4), third)
        print(device_of(y) is third, device_of(z) is first, device_of(x) is second)
        print(to_host(y).tolist() == to_host(z).tolist() == [k << 40 for k in range(5)])
        for x in nibbles, to_device(nibbles):
            print(to_host(x).astype(int).tolist())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "AXONYM_NUM_CPU_DEVICES": "3"},
        check=False,
    )
    nibbles = "[-3, -2, -1, 0, 1, 2, 3]"
    assert done.stdout.splitlines() == ["True True True", "True", nibbles, nibbles], done.stderr


def test_a_copy_on_the_same_device_has_memory_of_its_own() -> None:
    buffer = from_host(np.arange(3.0))
    other = _buffers.to_device(buffer)
    buffer.delete()

    np.testing.assert_array_equal(to_host(other), np.arange(3.0))


def test_a_buffer_of_another_client_can_be_read_only() -> None:
    other = _client.Client(_jaxlib.make_cpu_client(num_devices=1))
    semantics = _jaxlib.HostBufferSemantics.ZERO_COPY
    aval = _buffers.buffer_aval((3,), np.dtype("f4"))
    place = other.default
    foreign = _jaxlib.put(
        aval, place.sharding, [np.zeros(3, "f4")], place.devices, True, True, semantics, True
    )

    for use in _buffers.device_of, _buffers.to_device, _buffers.to_dlpack:
        with pytest.raises(ArgumentError, match=r"belongs to another XLA client.*NumPy"):
            use(foreign)
    assert to_host(foreign).tolist() == [0, 0, 0]


def test_ready_data_is_ready() -> None:
    buffer = from_host(np.zeros(3))
    _buffers.block_until_ready(buffer)

    assert _buffers.is_ready(buffer)


class Exporter:
    """What an array does with a buffer when another library asks for it."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer

    def __dlpack__(self, **options: Any) -> Any:
        return _buffers.to_dlpack(self.buffer, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _buffers.dlpack_device(self.buffer)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u2", "c16", "?"])
@pytest.mark.parametrize("shape", [(), (0, 3), (4, 5)])
def test_dlpack_shares_memory(dtype: str, shape: tuple[int, ...]) -> None:
    data = any_bits(shape, np.dtype(dtype))
    buffer = from_host(data)
    received = np.from_dlpack(Exporter(buffer))

    assert same_bits(received, data)
    assert not data.size or address(received) == address(to_host(buffer))


@pytest.mark.parametrize("keep", ["array", "capsule"])
def test_what_was_exported_outlives_the_buffer(keep: str) -> None:
    buffer = from_host(np.arange(1000.0))
    kept = np.from_dlpack(Exporter(buffer)) if keep == "array" else _buffers.to_dlpack(buffer)
    buffer.delete()
    del buffer
    [from_host(np.ones(1000)) for _ in range(20)]

    assert keep == "capsule" or same_bits(kept, np.arange(1000.0))


def test_dlpack_copies_if_asked() -> None:
    buffer = from_host(np.arange(100.0))
    received = np.from_dlpack(Exporter(buffer), copy=True)

    assert address(received) != address(to_host(buffer))
    np.testing.assert_array_equal(received, np.arange(100.0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dl_device": (2, 0)}, r"dl_device=\(2, 0\) is another device than the array's, \(1, 0\)"),
        ({"stream": 1}, "stream=1 is not possible on the CPU"),
    ],
)
def test_dlpack_refuses_other_devices(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ExportError, match=message):
        _buffers.to_dlpack(from_host(np.zeros(3)), **options)


def test_dlpack_has_no_nibbles() -> None:
    with pytest.raises(ExportError, match="DLPack has no arrays of dtype int4"):
        _buffers.to_dlpack(from_host(np.zeros(3, ml_dtypes.int4)))


def test_equal_descriptions_are_one_object() -> None:
    aval = _buffers.buffer_aval((2, 3), np.dtype("f4"))

    assert _buffers.buffer_aval((2, 3), np.dtype("float32")) is aval
    assert _buffers.buffer_aval((2, 3), np.dtype(">f4")) is aval
    assert from_host(np.zeros((2, 3), "f4")).aval is aval
    assert repr(aval) == "float32[2,3]"


def test_the_table_of_descriptions_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_buffers, "_AVALS_KEPT", 10)
    for n in range(100):
        _buffers.buffer_aval((n, 2, n), np.dtype("f4"))

    assert len(_buffers._avals) <= 11
    assert to_host(from_host(np.ones((2, 2), "f4"))).tolist() == [[1, 1], [1, 1]]


def test_threads_do_not_disturb_each_other() -> None:
    errors: list[Any] = []
    barrier = threading.Barrier(4)

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        barrier.wait()
        for dtype in DTYPES:
            data = any_bits((seed + 1, int(rng.integers(1, 9))), dtype)
            for _ in range(5):
                if not same_bits(to_host(from_host(data)), data):
                    errors.append((seed, dtype))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
