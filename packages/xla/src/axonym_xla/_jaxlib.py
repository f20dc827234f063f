"""The door to jaxlib: the only module of this package that imports it.

jaxlib is written for `jax` and trusts it: it has no stubs, its functions check little, and state
of its C++ side is shared by everybody in the process. What is here is the part of it that works
for a second user beside `jax`, with types:

* Nothing is patched, and no hook or switch of jaxlib is set. In particular the switch for 64-bit
  values, which `jax` owns, is not needed: `put` says explicitly that values keep their width.
* Nothing here imports `jax`. Several C++ functions do so behind one's back, to describe an array
  that they made on their own; those exported here are given a description of every array.
  Of an array's own methods, `unsafe_buffer_pointer`, `_arrays`, `_fully_replicated_shard` and
  `_single_device_array_to_np_array_did_copy` are the ones to keep away from.
* What differs between the supported versions is settled here.

The protocols below say which attributes of jaxlib's classes are used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

__all__ = [
    "HAS_PLAIN_EMITTERS",
    "HEEDS_BARRIERS",
    "VERSION",
    "Buffer",
    "BufferType",
    "CompileOptions",
    "Device",
    "DeviceAssignment",
    "DeviceList",
    "HostBufferSemantics",
    "LoadedExecutable",
    "RawClient",
    "ResultHandler",
    "RuntimeFailure",
    "Sharding",
    "block_until_ready",
    "dlpack_capsule",
    "make_collectives",
    "make_cpu_client",
    "new_compile_options",
    "new_device_assignment",
    "new_device_list",
    "program_types",
    "put",
    "read_any_dtype",
    "result_handler",
    "sharding_of_one",
]

_ACCEPTED = "jaxlib>=0.10,<0.13"


def check_version(found: str | None) -> tuple[int, ...]:
    """Refuse a jaxlib whose behaviour is not known.

    Args:
        found: The version that is installed, or None where there is none.

    Returns:
        Its leading numbers, as in `(0, 12, 0)`.

    Raises:
        ImportError: It is missing, too old or too new.
    """
    if found is None:
        raise ImportError(
            f"axonym-xla needs {_ACCEPTED}, and no jaxlib is installed: "
            f"run `python -m pip install '{_ACCEPTED}'`."
        )
    numbers: list[int] = []
    for part in found.split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    if not (0, 10) <= tuple(numbers[:2]) < (0, 13):
        raise ImportError(
            f"axonym-xla needs {_ACCEPTED}, and jaxlib {found} is installed: "
            f"run `python -m pip install '{_ACCEPTED}'`."
        )
    return tuple(numbers)


try:
    from jaxlib.version import __version__ as _found
except ModuleNotFoundError as _error:
    if _error.name not in ("jaxlib", "jaxlib.version"):
        raise
    check_version(None)

VERSION = check_version(_found)
"""Version of jaxlib, as in `(0, 12, 0, 1)`."""

# XLA reads its log level while it is loaded; without one it reports every device at start-up.
_LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_quiet = _LOG_LEVEL not in os.environ
if _quiet:
    os.environ[_LOG_LEVEL] = "1"
try:
    from jaxlib import _jax  # type: ignore[attr-defined, unused-ignore]  # C++, maybe with stubs
finally:
    if _quiet:
        del os.environ[_LOG_LEVEL]

try:
    from jaxlib import _hlo  # type: ignore[attr-defined]  # C++, and not in every version
except ImportError:  # before 0.10.1 its contents were part of the other module
    _hlo = _jax


class Device(Protocol):
    """A device of a client. Compares and hashes by identity."""

    @property
    def id(self) -> int:
        """Number of the device, unique among all processes."""

    @property
    def process_index(self) -> int:
        """The process that the device belongs to."""

    @property
    def platform(self) -> str:
        """Kind of platform, as in `"cpu"`."""

    @property
    def device_kind(self) -> str:
        """What the vendor calls the device."""

    @property
    def local_hardware_id(self) -> int | None:
        """Number of the device in its process; None where that is another one."""

    @property
    def client(self) -> RawClient:
        """The client that the device belongs to."""


class DeviceList(Protocol):
    """An immutable sequence of devices."""


class Sharding(Protocol):
    """Says which part of an array is where."""


class Aval(Protocol):
    """What jaxlib reads of the description of an array; it never compares it with the data."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""

    @property
    def weak_type(self) -> bool:
        """Whether the dtype yields in promotion."""


class Buffer(Protocol):
    """Data on a device: the `ArrayImpl` of jaxlib, of which only these members are used."""

    @property
    def aval(self) -> Aval:
        """The description given when the buffer was made."""

    @property
    def _sharding(self) -> Sharding: ...

    def block_until_ready(self) -> Any:
        """Wait for the data, without the interpreter's lock."""

    def is_ready(self) -> bool:
        """Whether the data is there. In some versions it crashes on a deleted buffer."""

    def delete(self) -> None:
        """Free the data. Nothing happens where it was freed before."""

    def is_deleted(self) -> bool:
        """Whether the data was freed."""

    def clone(self) -> Buffer:
        """A second handle on the same data. In some versions it crashes on a deleted buffer."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


class ResultHandler(Protocol):
    """Makes a buffer of a program's result."""


class ExecuteResults(Protocol):
    """What an execution gave; can be consumed once."""

    def consume_with_handlers(self, handlers: Sequence[ResultHandler], /) -> list[Buffer]:
        """Make a buffer of each result."""


class CompiledMemoryStats(Protocol):
    """Sizes of the memory that a program needs."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    alias_size_in_bytes: int
    temp_size_in_bytes: int
    generated_code_size_in_bytes: int
    peak_memory_in_bytes: int


class LoadedExecutable(Protocol):
    """A compiled program."""

    def execute_sharded(self, arguments: Sequence[Buffer], /) -> ExecuteResults:
        """Start the program. Neither shapes nor dtypes of the arguments are checked in full."""

    def get_compiled_memory_stats(self) -> CompiledMemoryStats:
        """Sizes of its memory."""

    def get_hlo_text(self) -> str:
        """The optimised program."""

    def cost_analysis(self) -> dict[str, Any]:
        """XLA's estimates."""

    def serialize(self) -> bytes:
        """The program's machine code and metadata."""

    def hlo_modules(self) -> list[Any]:
        """The optimised modules, as objects of C++."""


class DebugOptions(Protocol):
    """Part of the options."""

    xla_backend_optimization_level: int


class ExecutableBuildOptions(Protocol):
    """Part of the options."""

    use_spmd_partitioning: bool
    use_shardy_partitioner: bool

    @property
    def debug_options(self) -> DebugOptions:
        """Options of the code generator."""


class DeviceAssignment(Protocol):
    """Which device runs which replica and partition."""


class CompileOptions(Protocol):
    """Options of one compilation."""

    num_replicas: int
    num_partitions: int
    device_assignment: DeviceAssignment | None
    env_option_overrides: list[tuple[str, str | bool | int | float]]

    @property
    def executable_build_options(self) -> ExecutableBuildOptions:
        """The rest of them."""

    def SerializeAsString(self) -> bytes:  # jaxlib spells it so
        """All options as bytes: equal for equal options of one version of jaxlib."""


class RawClient(Protocol):
    """jaxlib's client."""

    @property
    def platform(self) -> str:
        """Kind of platform, as in `"cpu"`."""

    def devices(self) -> list[Device]:
        """Devices of all processes."""

    def local_devices(self) -> list[Device]:
        """Devices of this process."""

    def process_index(self) -> int:
        """Index of this process."""

    def compile_and_load(
        self, program: str, devices: DeviceList, options: CompileOptions, /
    ) -> LoadedExecutable:
        """Compile a StableHLO module."""

    def deserialize_executable(
        self, data: bytes, devices: DeviceList, options: CompileOptions | None, /
    ) -> LoadedExecutable:
        """Load a program that was serialised."""


class _Semantics(Protocol):
    IMMUTABLE_ONLY_DURING_CALL: Any
    ZERO_COPY: Any


RuntimeFailure: type[RuntimeError] = _jax.JaxRuntimeError
"""What jaxlib raises; the message starts with a status code."""

BufferType: type[Any] = _jax.ArrayImpl
"""The class of every buffer."""

HostBufferSemantics: _Semantics = _jax.HostBufferSemantics

make_cpu_client: Callable[..., RawClient] = _jax.get_tfrt_cpu_client
make_collectives: Callable[..., Any] = _jax.make_gloo_tcp_collectives
new_compile_options: Callable[[], CompileOptions] = _jax.CompileOptions
new_device_assignment: Callable[[Any], DeviceAssignment] = _jax.DeviceAssignment.create
new_device_list: Callable[[tuple[Device, ...]], DeviceList] = _jax.DeviceList
block_until_ready: Callable[[Sequence[Buffer]], None] = _jax.batched_block_until_ready

put: Callable[..., Buffer] = _jax.batched_device_put
"""`put(aval, sharding, shards, devices, committed, force_copy, semantics, enable_x64)`."""

HAS_PLAIN_EMITTERS: bool = VERSION < (0, 11, 1)
"""Whether the code generator for fusions that doubles the time to compile small programs can be
switched off (later versions have no other one)."""

HEEDS_BARRIERS: bool = VERSION >= (0, 11, 1)
"""Whether XLA's compiler for the CPU keeps optimization barriers until it has fused operations
(earlier versions drop them first)."""

read_any_dtype: Callable[[Buffer], tuple[np.ndarray[Any, Any], bool]] | None = getattr(
    _jax.ArrayImpl, "_to_np_array_did_copy", None
)
"""Reads buffers of every dtype; None in versions that can't without `jax`."""

_SKIP_CHECKS = (True,) if "_skip_checks" in (_jax.array_result_handler.__doc__ or "") else ()


def result_handler(aval: Aval, sharding: Sharding) -> ResultHandler:
    """Make the handler of one result, which can be used again and again."""
    handler: ResultHandler = _jax.array_result_handler(aval, sharding, True, *_SKIP_CHECKS)
    return handler


Types = list[tuple[tuple[int, ...], np.dtype[Any]]]


def program_types(program: LoadedExecutable) -> tuple[Types, Types]:
    """Shapes and dtypes of the parameters and of the results of a compiled program.

    Raises:
        ValueError: One of them is no array.
    """
    (module,) = program.hlo_modules()
    shape = _hlo.XlaComputation(module.as_serialized_hlo_module_proto()).program_shape()
    result = shape.result_shape()
    return _types(shape.parameter_shapes()), _types(
        result.tuple_shapes() if result.is_tuple() else [result]
    )


def _types(shapes: Sequence[Any]) -> Types:
    for i, shape in enumerate(shapes):
        if not shape.is_array():
            raise ValueError(f"number {i} is {shape}, no array")
    return [(tuple(shape.dimensions()), np.dtype(shape.numpy_dtype())) for shape in shapes]


def dlpack_capsule(buffer: Buffer) -> Any:
    """Make a DLPack capsule of a buffer that is there and not deleted.

    The capsule holds a second handle on the data. With the buffer's own one in it, deleting the
    buffer while the receiver is still alive would end the process.
    """
    return _jax.buffer_to_dlpack_managed_tensor(buffer.clone())


def sharding_of_one(devices: DeviceList) -> Sharding:
    """Sharding of an array that is on one device as a whole.

    The class made for that, `SingleDeviceSharding`, works only after `jax` has patched it.
    """
    sharding: Sharding = _jax.GSPMDSharding(devices, _hlo.HloSharding.replicate())
    return sharding
