"""The stages of a program: lowered to StableHLO, and compiled.

A compiled program takes and returns arrays, and can tell about itself: the text that XLA made of
it, the memory that it needs, XLA's estimate of its cost. Where a process has several devices it
runs on the one that holds the arguments, and is compiled for that at the first call there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final, final

from axonym_core.arrays import Backend, ConcreteArray
from axonym_core.programs import Jaxpr
from axonym_core.types import ShapedArray

from . import _buffers, _client, _jaxlib
from ._buffers import Buffer
from ._compile_options import Effort, OptionValue, compile_options
from ._executable import DONATING, FAILURES, Executable, MemoryStats, compile_program
from ._gate import shut, stop
from ._jaxlib import Device
from .errors import ArgumentError, DeviceError
from .lowering import lower_jaxpr

Run = Callable[[Sequence[Buffer]], list[Buffer]]
Call = Callable[[Sequence[ConcreteArray]], list[ConcreteArray]]

_new = ConcreteArray.__new__

# References to a buffer that is in one list only, and handed to `sys.getrefcount`.
_ONE_OWNER: Final = 2


def common_device(buffers: Sequence[Buffer]) -> Device | None:
    """The device on which to run an operation on some buffers.

    What is on the default device may be there because nobody said where it should be, so it goes
    to the others. None where there are no buffers, and all places are alike.

    Raises:
        DeviceError: Buffers are on two devices other than the default one.
    """
    found = {_buffers.device_of(buffer) for buffer in buffers}
    if len(found) > 1:
        found.discard(_client.default_device())
    if len(found) > 1:
        names = " and ".join(sorted(map(str, found)))
        raise DeviceError(
            f"operands are on the devices {names}; bring them to one place with device_put."
        )
    return next(iter(found), None)


def moved(buffers: Sequence[Buffer], device: Device) -> list[Buffer]:
    """The buffers, copied to a device where they are on another one."""
    return [
        buffer if _buffers.device_of(buffer) is device else _buffers.to_device(buffer, device)
        for buffer in buffers
    ]


@final
class XlaLowered:
    """A program as StableHLO; made by `XlaBackend.lower`.

    Attributes:
        jaxpr: The program.
        text: The StableHLO module.
        constants: Arrays that the program closed over: the first arguments of the module's `main`.
        donated: Which arguments, not counting the constants, give up their buffers.
    """

    __slots__ = ("backend", "constants", "donated", "jaxpr", "text")

    def __init__(self, backend: Backend, jaxpr: Jaxpr, donated: Sequence[bool] = ()) -> None:
        platform = _client.client().platform
        drops_barriers = platform == "cpu" and not _jaxlib.HEEDS_BARRIERS
        module = lower_jaxpr(
            jaxpr, donated=donated, platform=platform, barriers_as_calls=drops_barriers
        )
        self.backend = backend
        self.jaxpr = jaxpr
        self.text = module.text
        self.constants = module.constants
        self.donated = module.donated

    def as_text(self) -> str:
        """The StableHLO module."""
        return self.text

    def compile(
        self,
        *,
        device: Device | None = None,
        effort: Effort = "full",
        overrides: Mapping[str, OptionValue] | None = None,
    ) -> XlaExecutable:
        """Compile the program.

        Args:
            device: The device to compile for first (None: the default one).
            effort: How much time to spend on making it fast: `"full"`, `"quick"` or `"least"`.
            overrides: XLA's own options by name.
        """
        return XlaExecutable(self, device=device, effort=effort, overrides=overrides)

    def __repr__(self) -> str:
        return f"<{self.jaxpr.name} as StableHLO>"


@final
class XlaExecutable:
    """A compiled program, which maps arrays to arrays; made by `XlaLowered.compile`.

    Attributes:
        lowered: The program as StableHLO.
        jaxpr: The program as a jaxpr.
        executable: The program compiled for the first device, which maps buffers to buffers.
        call: `call(arrays) -> list of arrays`, the fast way: the same as calling this object, but
            the types of the arrays are not checked. It is for callers whose key in a cache vouches
            for them: XLA takes an array of integers for one of floating-point numbers.
    """

    __slots__ = (
        "_by_device",
        "_constants",
        "_effort",
        "_in_avals",
        "_overrides",
        "call",
        "executable",
        "jaxpr",
        "lowered",
    )

    def __init__(
        self,
        lowered: XlaLowered,
        *,
        device: Device | None = None,
        effort: Effort = "full",
        overrides: Mapping[str, OptionValue] | None = None,
    ) -> None:
        client = _client.client()
        backend, jaxpr = lowered.backend, lowered.jaxpr
        self.lowered = lowered
        self.jaxpr = jaxpr
        self._in_avals = list(jaxpr.in_avals)
        self._effort: Effort = effort
        self._overrides = overrides
        self._constants = [buffer_of(array, backend) for array in lowered.constants]
        self._by_device: dict[Device, Executable] = {}
        self.executable = self._compiled_for(client.placement(device).device)
        several = len(client.local_devices) > 1
        run = self._run_anywhere if several else self.executable.run
        self.call: Call = (
            _donating(self.executable, run, jaxpr.out_avals, backend)
            if self.executable.donated
            else _wrapping(run, jaxpr.out_avals, backend)
            if several or self.executable.start is None or len(jaxpr.out_avals) != 1
            else _calling(self.executable, jaxpr.out_avals, backend)
        )

    def _compiled_for(self, device: Device) -> Executable:
        found = self._by_device.get(device)
        if found is None:
            options = compile_options(effort=self._effort, device=device, overrides=self._overrides)
            found = self._by_device[device] = compile_program(
                self.lowered.text,
                [(aval.shape, aval.dtype) for aval in self._in_avals],
                [(aval.shape, aval.dtype) for aval in self.jaxpr.out_avals],
                donated=self.lowered.donated,
                consts=moved(self._constants, device),
                device=device,
                options=options,
                trusted=True,
            )
        return found

    def _run_anywhere(self, buffers: Sequence[Buffer]) -> list[Buffer]:
        device = common_device(buffers) or self.executable.device
        return self._compiled_for(device).run(moved(buffers, device))

    def __call__(self, args: Sequence[ConcreteArray]) -> list[ConcreteArray]:
        """Run on arrays of this backend, one for each argument of the jaxpr.

        The results are still being computed when they are returned.

        Raises:
            ArgumentError: The number of arguments, a shape, a dtype or a backend is another one.
            DeletedBufferError: The data of an argument was deleted or donated.
            ExecutionError: The program failed at once.
        """
        # The avals are interned, so that comparing them compares pointers. XLA would not notice.
        if [a.aval for a in args] != self._in_avals:
            self._check(args)
        return self.call(args)

    def _check(self, args: Sequence[ConcreteArray]) -> None:
        """Refuse arguments whose types differ in more than weakness."""
        if len(args) != len(self._in_avals):
            raise ArgumentError(
                f"{self.jaxpr.name} was compiled for {len(self._in_avals)} arguments, and "
                f"{len(args)} were given."
            )
        for i, (arg, aval) in enumerate(zip(args, self._in_avals, strict=True)):
            if not _alike(arg.aval, aval):
                raise ArgumentError(
                    f"{self.jaxpr.name} was compiled for {self.jaxpr.debug.argument(i)} of type "
                    f"{aval}; got {arg.aval}. Compile it for this type, or convert the argument."
                )

    @property
    def device(self) -> Device:
        """The device for which it was compiled first."""
        return self.executable.device

    def as_text(self) -> str:
        """The program after XLA's optimisations, as HLO text."""
        return self.executable.hlo_text()

    def memory_analysis(self) -> MemoryStats:
        """How much memory the program needs, in bytes: `temp_size_in_bytes` and others."""
        return self.executable.memory_stats()

    def cost_analysis(self) -> dict[str, Any]:
        """XLA's estimates by name, such as `flops` and `bytes accessed`."""
        return self.executable.cost_analysis()

    def serialize(self) -> bytes:
        """The compiled program as bytes, for the same version of jaxlib and kind of processor."""
        return self.executable.serialize()

    def __repr__(self) -> str:
        return f"<{self.jaxpr.name} compiled for {self.device}>"


def _calling(executable: Executable, out_avals: tuple[ShapedArray, ...], backend: Backend) -> Call:
    """Make the function from arrays to arrays of a program with one result on one device.

    It is the dispatch time of `jit`, in which every microsecond counts. So these commonest programs
    start XLA themselves, and make their array without calling its class.
    """
    start, handlers = executable.start, executable.handlers
    assert start is not None
    (aval,) = out_avals
    general = _wrapping(executable.run, out_avals, backend)

    def call_for_one(args: Sequence[ConcreteArray]) -> list[ConcreteArray]:
        if shut:
            stop()
        try:
            (buffer,) = start([a.buffer for a in args]).consume_with_handlers(handlers)
        except FAILURES:
            pass  # an array of another backend, or an error to be explained
        else:
            array = _new(ConcreteArray)
            array.buffer = buffer
            array.aval = aval
            array.backend = backend
            return [array]
        return general(args)

    def call_with_one(args: Sequence[ConcreteArray]) -> list[ConcreteArray]:
        if shut:
            stop()
        (arg,) = args
        try:
            (buffer,) = start((arg.buffer,)).consume_with_handlers(handlers)
        except FAILURES:
            pass  # as above
        else:
            array = _new(ConcreteArray)
            array.buffer = buffer
            array.aval = aval
            array.backend = backend
            return [array]
        return general(args)

    return call_with_one if len(executable.in_avals) == 1 else call_for_one


def _wrapping(run: Run, out_avals: tuple[ShapedArray, ...], backend: Backend) -> Call:
    """Make the function from arrays to arrays of one from buffers to buffers."""
    backends = repeat(backend)

    def call(args: Sequence[ConcreteArray]) -> list[ConcreteArray]:
        buffers = [a.buffer if a.backend is backend else buffer_of(a, backend) for a in args]
        return list(map(ConcreteArray, run(buffers), out_avals, backends))

    return call


def _donating(
    executable: Executable, run: Run, out_avals: tuple[ShapedArray, ...], backend: Backend
) -> Call:
    """Make the function from arrays to arrays of a program that takes over some of their buffers.

    The arrays give these buffers up first, so that no other thread finds them any more. Where one
    has found a buffer before and is using it, that goes on, and the program gets a copy.
    """
    donated, backends = executable.donated, repeat(backend)

    def call(args: Sequence[ConcreteArray]) -> list[ConcreteArray]:
        with DONATING:
            buffers = [a.buffer if a.backend is backend else buffer_of(a, backend) for a in args]
            for i in donated:
                if args[i].backend is backend:
                    args[i].buffer = _buffers.give_up(buffers[i])
        try:
            for i in donated:
                if sys.getrefcount(buffers[i]) > _ONE_OWNER and _buffers.is_buffer(buffers[i]):
                    executable.check_donated_once(buffers)
                    buffers[i] = _buffers.to_device(buffers[i], _buffers.device_of(buffers[i]))
            return list(map(ConcreteArray, run(buffers), out_avals, backends))
        except BaseException:
            for i in donated:
                if args[i].backend is backend and not _buffers.is_deleted(buffers[i]):
                    args[i].buffer = buffers[i]
            raise

    return call


def buffer_of(array: ConcreteArray, backend: Backend) -> Buffer:
    """The buffer of an array, converted where it is one of another backend."""
    if array.backend is backend:
        buffer: Buffer = array.buffer
        return buffer
    return _buffers.from_host(array.backend.to_host(array.buffer))


def _alike(given: ShapedArray, wanted: ShapedArray) -> bool:
    return given.shape == wanted.shape and given.dtype == wanted.dtype
