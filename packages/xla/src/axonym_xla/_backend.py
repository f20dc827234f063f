"""The backend object: what `axonym_core` asks XLA for.

Operations that nobody compiles (`x + x` at the prompt) are programs of one operation. They are
compiled at the first time that an operation meets certain types and parameters; from then on an
operation costs a look into a dictionary, XLA's own start of a program and an `Array` around the
result, which is why `evaluate` is written the way it is.

The XLA client starts when it is first needed, so that importing this module starts no threads and
`configure` may still be called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final, final

import numpy as np

from axonym_core.arrays import Array, ConcreteArray
from axonym_core.programs import Jaxpr, JaxprEqn, Primitive, Var
from axonym_core.settings import BoundedCache, exact, exact_items
from axonym_core.types import ShapedArray, aval_of, dtypes, host_array

from . import _buffers, _client
from ._buffers import Buffer, GivenUp
from ._compile_options import Effort, OptionValue
from ._compiled import XlaExecutable, XlaLowered, buffer_of, common_device, moved
from ._jaxlib import Device
from .errors import ArgumentError, ExportError

_new = ConcreteArray.__new__

_OPERATIONS_KEPT: Final = 4096
_PROGRAMS_KEPT: Final = 256
_SCALARS_KEPT: Final = 1024

# With so few elements, the time of an operation is that of starting it.
_FEW_ELEMENTS: Final = 256

# XLA shares the memory of NumPy arrays that begin at a multiple of it.
_ALIGNMENT: Final = 64

_NUMBERS: Final = frozenset(
    (
        *(bool, int, float),
        *(np.bool_, np.int8, np.int16, np.int32, np.int64),
        *(np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32, np.float64),
    )
)
"""Types of numbers whose buffers are worth keeping."""


@final
class _Operation:
    """A compiled operation: how to run it, and the types of its results."""

    __slots__ = ("aval", "avals", "run")

    def __init__(
        self,
        run: Callable[[Sequence[Buffer]], list[Buffer]],
        aval: ShapedArray | None,
        avals: Sequence[ShapedArray],
    ) -> None:
        self.run = run
        self.aval = aval  # of the one result, or None where there are several
        self.avals = avals


@final
class XlaBackend:
    """Evaluates and compiles with XLA; implements the `Backend` protocol of `axonym_core`.

    Attributes:
        name: `"xla"`, by which `AXONYM_BACKEND` and `config.backend` choose it.
    """

    __slots__ = ("_one_device", "_operations", "_programs", "_scalars", "name")

    def __init__(self) -> None:
        self.name = "xla"
        self._operations: BoundedCache[_Operation] = BoundedCache(_OPERATIONS_KEPT)
        # Operations with programs inside (loops, branches, calls) are larger and live shorter.
        self._programs: BoundedCache[_Operation] = BoundedCache(_PROGRAMS_KEPT)
        self._scalars: BoundedCache[tuple[ShapedArray, Buffer]] = BoundedCache(_SCALARS_KEPT)
        self._one_device = False  # until it is known that there are no others

    def evaluate(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Apply a primitive to concrete operands.

        Args:
            primitive: The primitive.
            args: Arrays of any backend, NumPy arrays and scalars, Python scalars.
            params: The primitive's static parameters.

        Returns:
            An array, or a list of them where the primitive has multiple results. They are still
            being computed.

        Raises:
            BackendError: The primitive cannot be compiled, or failed at once.
            DeletedBufferError: The data of an operand was deleted or donated.
            DeviceError: Operands are on several devices.
        """
        key: list[Any] = [primitive]
        buffers = []
        for x in args:
            if type(x) is ConcreteArray and x.backend is self:
                key.append(x.aval)
                buffers.append(x.buffer)
            else:
                aval, buffer = self._operand(x)
                key.append(aval)
                buffers.append(buffer)
        if params:
            try:
                key += exact_items(params)
            except TypeError:
                primitive.out_avals(tuple(key[1:]), params)  # says which one is not hashable
                raise
        device = None
        if not self._one_device:
            device = common_device(buffers)
            if device is not None:
                buffers = moved(buffers, device)
            key.append(device)
        operation = self._operations.young.get(tuple(key))
        if operation is None:
            avals = tuple(key[1 : len(args) + 1])
            operation = self._operation(tuple(key), primitive, avals, params, device)
        results = operation.run(buffers)
        only = operation.aval
        if only is None:
            return list(map(ConcreteArray, results, operation.avals, repeat(self)))
        array = _new(ConcreteArray)  # without calling the class, which takes longer
        (array.buffer,) = results
        array.aval = only
        array.backend = self
        return array

    def _operation(
        self,
        key: tuple[Any, ...],
        primitive: Primitive,
        avals: tuple[ShapedArray, ...],
        params: Mapping[str, Any],
        device: Device | None,
    ) -> _Operation:
        """The compiled operation for a key; compiled now if need be."""
        found = self._operations.get(key) or self._programs.get(key)
        if found is not None:
            return found
        out = primitive.out_avals(avals, params)
        out_avals = out if primitive.multiple_results else (out,)
        has_programs = bool(primitive.programs)
        effort: Effort = "quick"
        if has_programs:
            effort = "full"
        elif all(aval.size <= _FEW_ELEMENTS for aval in (*avals, *out_avals)):
            effort = "least"
        invars = [Var(aval) for aval in avals]
        outvars = tuple([Var(aval) for aval in out_avals])
        eqn = JaxprEqn(primitive, tuple(invars), outvars, dict(params))
        jaxpr = Jaxpr(invars, outvars, [eqn])
        compiled = self.lower(jaxpr).compile(device=device, effort=effort)
        one = len(_client.local_devices()) == 1
        if one is not self._one_device:
            self._one_device = one
            key = key[:-1] if one else key
        operation = _Operation(
            compiled.executable.run, None if primitive.multiple_results else out, out_avals
        )
        (self._programs if has_programs else self._operations).put(key, operation)
        return operation

    def _operand(self, x: Any) -> tuple[ShapedArray, Buffer]:
        """Type and buffer of an operand that is not an array of this backend."""
        kind = type(x)
        if kind in _NUMBERS or isinstance(x, float | int):
            aval = aval_of(x)
            # Numbers of one type that are equal are the same, zeros and NaN aside.
            key = (kind, x if x and x == x else exact(x), aval)
            found = self._scalars.get(key)
            if found is None:
                found = (aval, _buffers.from_host(host_array(x, aval.dtype)))
                self._scalars.put(key, found)
            return found
        if isinstance(x, ConcreteArray):
            return x.aval, buffer_of(x, self)
        aval = aval_of(x)
        return aval, _buffers.from_host(host_array(x, aval.dtype))

    def compile(
        self,
        jaxpr: Jaxpr,
        *,
        donated: Sequence[bool] = (),
        device: Device | None = None,
        overrides: Mapping[str, OptionValue] | None = None,
    ) -> XlaExecutable:
        """Compile a jaxpr.

        Args:
            jaxpr: The program; it must not vary over named axes.
            donated: Which arguments' buffers may be reused for results; they are deleted by a
                call.
            device: The device to compile for first (None: the default one).
            overrides: XLA's own options by name.

        Returns:
            A callable that maps a list of arrays to a list of arrays.

        Raises:
            BackendError: The program has an operation that cannot be compiled.
        """
        return self.lower(jaxpr, donated=donated).compile(device=device, overrides=overrides)

    def lower(self, jaxpr: Jaxpr, *, donated: Sequence[bool] = ()) -> XlaLowered:
        """Translate a jaxpr to StableHLO, without compiling it.

        Args:
            jaxpr: The program; it must not vary over named axes.
            donated: Which arguments' buffers may be reused for results.
        """
        return XlaLowered(self, jaxpr, donated)

    def from_host(
        self, value: np.ndarray[Any, Any], aval: ShapedArray, device: Device | None = None
    ) -> ConcreteArray:
        """Copy a NumPy array to a device.

        Args:
            value: The data, of the shape of `aval`; converted to its dtype.
            aval: Type of the array.
            device: The device, one of this process's own (None: the default one).

        Raises:
            ArgumentError: The shape is another one.
            DeviceError: There is no such device.
        """
        if value.shape != aval.shape:
            raise ArgumentError(
                f"from_host: value has shape {value.shape}, and aval={aval} another one; reshape "
                "the value."
            )
        held = dtypes.storage_dtype(aval.dtype)
        if value.dtype != held:
            value = value.astype(held)
        return ConcreteArray(_buffers.from_host(value, device), aval, self)

    def device_put(self, x: Array | np.ndarray[Any, Any], device: Device | None) -> ConcreteArray:
        """Copy an array to a device; it is returned as it is where it is there already.

        Args:
            x: An array of any backend, or a NumPy array.
            device: The device, one of this process's own (None: the default one).

        Raises:
            DeviceError: There is no such device.
        """
        place = _client.placement(device)
        if isinstance(x, ConcreteArray):
            if x.backend is not self:
                return self.from_host(x.backend.to_host(x.buffer), x.aval, place.device)
            if self.device_of(x.buffer) is place.device:
                return x
            return ConcreteArray(_buffers.to_device(x.buffer, place.device), x.aval, self)
        aval = aval_of(x)
        return self.from_host(host_array(x, aval.dtype), aval, place.device)

    def to_host(self, buffer: Buffer) -> np.ndarray[Any, Any]:
        """Return a buffer's data as a read-only NumPy array; waits for it."""
        return _buffers.to_host(buffer)

    def block_until_ready(self, buffer: Buffer) -> None:
        """Wait for a buffer's data."""
        _buffers.block_until_ready(buffer)

    def is_ready(self, buffer: Buffer) -> bool:
        """Whether a buffer's data is there."""
        return _buffers.is_ready(buffer)

    def give_up(self, buffer: Buffer | GivenUp) -> GivenUp:
        """What stands in place of a buffer that an array gives up."""
        return _buffers.give_up(buffer)

    def is_deleted(self, buffer: Buffer | GivenUp) -> bool:
        """Whether a buffer was freed, or donated to a compiled program."""
        return _buffers.is_deleted(buffer)

    def devices(self) -> list[Device]:
        """Devices of all processes."""
        return _client.devices()

    def device_of(self, buffer: Buffer) -> Device:
        """The device that holds a buffer."""
        return _buffers.device_of(buffer)

    def to_dlpack(self, buffer: Buffer, **options: Any) -> Any:
        """DLPack capsule of a buffer; the options are those of `__dlpack__`."""
        return _buffers.to_dlpack(buffer, **options)

    def dlpack_device(self, buffer: Buffer) -> tuple[int, int]:
        """DLPack's device of a buffer."""
        return _buffers.dlpack_device(buffer)

    def from_dlpack(
        self, x: Any, *, device: Device | None = None, copy: bool | None = None
    ) -> ConcreteArray:
        """Take over an array of another library through DLPack.

        Args:
            x: An object with `__dlpack__`, on the CPU.
            device: The device, one of this process's own (None: the default one).
            copy: Whether to copy the data. By default it is shared where that is possible: the
                other library must not write to it then.

        Raises:
            ExportError: `copy=False`, and the data must be copied.
            TypeError: `x` has no `__dlpack__`.
        """
        if not hasattr(x, "__dlpack__"):
            raise ArgumentError(
                f"from_dlpack: x must have a method __dlpack__; got {type(x).__name__}. For data "
                "without it use asarray."
            )
        value = np.from_dlpack(x)
        if copy is False and not _can_share(value):
            raise ExportError(
                "from_dlpack: copy=False, but the data has to be copied: XLA shares row-major "
                f"arrays that begin at a multiple of {_ALIGNMENT} bytes. Leave copy out."
            )
        aval = aval_of(value)
        return ConcreteArray(_buffers.from_host(value, device, copy=bool(copy)), aval, self)

    def __repr__(self) -> str:
        return "XlaBackend()"


def _can_share(value: np.ndarray[Any, Any]) -> bool:
    return bool(value.flags.c_contiguous and value.ctypes.data % _ALIGNMENT == 0)


backend: Final = XlaBackend()
"""The one backend of this process."""
