"""Compiled programs: from StableHLO text to something that maps buffers to buffers.

    >>> from axonym_xla._buffers import from_host, to_host
    >>> f32 = ((), np.dtype("float32"))
    >>> double = compile_program(
    ...     "func.func @main(%0: tensor<f32>) -> tensor<f32> {"
    ...     "  %1 = stablehlo.add %0, %0 : tensor<f32>"
    ...     "  return %1 : tensor<f32> }",
    ...     [f32],
    ...     [f32],
    ... )
    >>> to_host(double.execute([from_host(np.float32(3))])[0])
    array(6., dtype=float32)

There are two ways to run it. `execute` checks its arguments against the program; XLA itself only
compares sizes. `run` is for callers that know their buffers to be right, which a key in a cache
tells them; it is the shortest way into XLA there is, a closure over two C++ functions and the
makers of the results, which are made once. Whatever goes wrong in it is explained afterwards.

Both return at once, before the results are computed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from . import _client, _jaxlib
from ._buffers import Buffer, BufferAval, GivenUp, buffer_aval, failure, is_buffer
from ._client import Placement
from ._compile_options import compile_options
from ._gate import shut, stop
from ._jaxlib import CompileOptions, Device, ExecuteResults, LoadedExecutable
from .errors import (
    ArgumentError,
    CompilationError,
    CompileOptionError,
    DeletedBufferError,
    XlaError,
)

__all__ = ["Executable", "MemoryStats", "compile_program", "load_program"]

ShapeAndDType = tuple[tuple[int, ...], np.dtype[Any]]
Run = Callable[[Sequence[Buffer]], list[Buffer]]
Start = Callable[[Sequence[Buffer]], ExecuteResults]

FAILURES: Final = (RuntimeError, TypeError, ValueError)
"""What jaxlib may raise when a program is started."""


class MemoryStats(NamedTuple):
    """How much memory a program needs, in bytes.

    Attributes:
        argument_size_in_bytes: Its arguments.
        output_size_in_bytes: Its results.
        alias_size_in_bytes: Results that take over the memory of donated arguments.
        temp_size_in_bytes: Intermediate values: what is needed besides arguments and results.
        generated_code_size_in_bytes: Its machine code, where known.
        peak_memory_in_bytes: XLA's estimate of what is in use at the worst moment.
    """

    argument_size_in_bytes: int
    output_size_in_bytes: int
    alias_size_in_bytes: int
    temp_size_in_bytes: int
    generated_code_size_in_bytes: int
    peak_memory_in_bytes: int


DONATING: Final = threading.RLock()
"""Held while buffers are given up to a program. jaxlib 0.10 crashes the process where one thread
deletes a buffer that another one is handing to a program: of threads that donate the same buffer,
one must be done with it before the next one looks."""


@final
class Executable:
    """A compiled program on one device; made by `compile_program` and `load_program`.

    Attributes:
        in_avals: Shape and dtype of each argument, hidden constants not counted.
        out_avals: Shape and dtype of each result.
        donated: Positions of the arguments whose buffers are deleted by a call.
        run: `run(buffers) -> list of buffers`, the fast way: the buffers must be of `in_avals`
            and on this program's device. A deleted one raises DeletedBufferError, which names its
            position.
        start: XLA's own function that `run` calls, where the program has neither constants nor
            donated arguments; None where it has.
        handlers: Makers of the results: `run(buffers)` is
            `start(buffers).consume_with_handlers(handlers)`, besides the handling of errors.
    """

    __slots__ = (
        "_consts",
        "_place",
        "_raw",
        "donated",
        "handlers",
        "in_avals",
        "out_avals",
        "run",
        "start",
    )

    def __init__(
        self,
        raw: LoadedExecutable,
        place: Placement,
        in_avals: tuple[BufferAval, ...],
        out_avals: tuple[BufferAval, ...],
        donated: tuple[int, ...],
        consts: tuple[Buffer, ...],
    ) -> None:
        self._raw: Final = raw
        self._place: Final = place
        self._consts: Final = consts
        self.in_avals: Final = in_avals
        self.out_avals: Final = out_avals
        self.donated: Final = donated
        makers = {aval: _jaxlib.result_handler(aval, place.sharding) for aval in out_avals}
        self.handlers: Final = [makers[aval] for aval in out_avals]
        self.start: Final[Start | None] = None if consts or donated else raw.execute_sharded
        self.run: Final[Run] = self._make_run()

    def _make_run(self) -> Run:
        start, handlers = self._raw.execute_sharded, self.handlers
        consts, donated, explain = self._consts, self.donated, self.explain

        def run(buffers: Sequence[Buffer]) -> list[Buffer]:
            if shut:
                stop()
            try:
                return start(buffers).consume_with_handlers(handlers)
            except FAILURES as error:
                raise explain(buffers, error) from error

        def run_with_consts(buffers: Sequence[Buffer]) -> list[Buffer]:
            if shut:
                stop()
            try:
                return start((*consts, *buffers)).consume_with_handlers(handlers)
            except FAILURES as error:
                raise explain(buffers, error) from error

        def run_donating(buffers: Sequence[Buffer]) -> list[Buffer]:
            with DONATING:
                results = run_with_consts(buffers) if consts else run(buffers)
                # XLA copies a donated buffer that NumPy arrays share, and leaves it as it is:
                # whether an argument can be used again must not depend on that.
                for i in donated:
                    buffers[i].delete()
            return results

        if donated:
            return run_donating
        return run_with_consts if consts else run

    def execute(self, buffers: Sequence[Buffer]) -> list[Buffer]:
        """Start the program on buffers that may be anything.

        Args:
            buffers: One for each of `in_avals`.

        Returns:
            A buffer for each of `out_avals`; the data follows.

        Raises:
            ArgumentError: The number, a shape, a dtype or a device is another one, or a donated
                buffer is given twice.
            DeletedBufferError: A buffer was deleted or donated.
            ExecutionError: The program failed at once.
        """
        self._check(buffers)
        return self.run(buffers)

    def __call__(self, buffers: Sequence[Buffer]) -> list[Buffer]:
        """The same as `execute`."""
        return self.execute(buffers)

    def _check(self, buffers: Sequence[Buffer]) -> None:
        if len(buffers) != len(self.in_avals):
            raise ArgumentError(
                f"the program takes {len(self.in_avals)} arguments, and {len(buffers)} were given."
            )
        sharding, buffer_type = self._place.sharding, _jaxlib.BufferType
        for i, (buffer, aval) in enumerate(zip(buffers, self.in_avals, strict=True)):
            if (
                type(buffer) is not buffer_type
                or (buffer.aval is not aval and not _equal(buffer.aval, aval))
                or buffer._sharding is not sharding
                or buffer.is_deleted()
            ):
                raise self._refuse(i, buffer)
        if self.donated:
            self.check_donated_once(buffers)

    def check_donated_once(self, buffers: Sequence[Buffer]) -> None:
        """Refuse buffers of which a donated one is given twice.

        Raises:
            ArgumentError: It is, or a constant of the program is donated.
        """
        inputs = (*self._consts, *buffers)
        if len(set(map(id, inputs))) == len(inputs):
            return
        first = len(self._consts)
        for i in self.donated:
            for k, other in enumerate(inputs, -first):
                if other is buffers[i] and k != i:
                    again = (
                        f"given again as argument {k}" if k >= 0 else "a constant of the program"
                    )
                    raise ArgumentError(
                        f"argument {i} is donated and {again}; copy it, or do not donate it."
                    )

    def _refuse(self, i: int, buffer: Any) -> XlaError:
        wanted = f"{self.in_avals[i]} on {self._place.device}"
        if type(buffer) is not GivenUp and not is_buffer(buffer):
            return ArgumentError(
                f"argument {i} must be a buffer of {wanted}; got {type(buffer).__name__}. Make one "
                "with from_host(numpy_array)."
            )
        if type(buffer) is GivenUp or buffer.is_deleted():
            return DeletedBufferError(
                f"argument {i}, of {self.in_avals[i]}, was deleted, or donated to an earlier call; "
                "use that call's result instead, or donate less."
            )
        if not _equal(buffer.aval, self.in_avals[i]):
            given = f"{buffer.aval.dtype}[{','.join(map(str, buffer.aval.shape))}]"
            return ArgumentError(f"argument {i} must be {self.in_avals[i]}; got {given}.")
        place = _client.client().placement_of(buffer._sharding)
        if place is None:
            where = "another XLA client, such as that of `jax`. Convert it to a NumPy array first."
        else:
            where = f"{place.device}. Move it with to_device."
        return ArgumentError(f"argument {i} must be {wanted}; it is on {where}")

    def explain(self, buffers: Sequence[Buffer], error: Exception) -> Exception:
        """Say what was wrong with a call that XLA refused."""
        if isinstance(error, XlaError):
            return error
        try:
            self._check(buffers)
        except XlaError as reason:
            return reason
        for i, const in enumerate(self._consts):
            if const.is_deleted():
                return DeletedBufferError(
                    f"constant {i} of the program, of {const.aval}, was deleted; do not delete or "
                    "donate arrays that a compiled function refers to."
                )
        return failure("a compiled program could not be run", error)

    @property
    def device(self) -> Device:
        """The device that the program runs on."""
        return self._place.device

    @property
    def temp_size_in_bytes(self) -> int:
        """Memory for intermediate values, which is needed besides arguments and results."""
        return self._raw.get_compiled_memory_stats().temp_size_in_bytes

    def memory_stats(self) -> MemoryStats:
        """Sizes of the memory that the program needs."""
        stats = self._raw.get_compiled_memory_stats()
        return MemoryStats(*[getattr(stats, name) for name in MemoryStats._fields])

    def hlo_text(self) -> str:
        """The program after XLA's optimisations, in HLO's text form."""
        return self._raw.get_hlo_text()

    def cost_analysis(self) -> dict[str, Any]:
        """XLA's estimates, such as `flops` and `bytes accessed`."""
        return dict(self._raw.cost_analysis())

    def serialize(self) -> bytes:
        """The compiled program as bytes for `load_program`.

        They hold machine code of this kind of processor and are for the same version of jaxlib
        only; neither is checked when they are loaded.
        """
        return self._raw.serialize()

    def __repr__(self) -> str:
        inside = ", ".join(map(str, self.in_avals))
        out = ", ".join(map(str, self.out_avals))
        return f"Executable(({inside}) -> ({out}))"


def _equal(aval: Any, other: BufferAval) -> bool:
    return bool(aval.shape == other.shape and aval.dtype == other.dtype)


def compile_program(
    text: str,
    in_avals: Sequence[ShapeAndDType],
    out_avals: Sequence[ShapeAndDType],
    *,
    donated: Sequence[int] = (),
    consts: Sequence[Buffer] = (),
    device: Device | None = None,
    options: CompileOptions | None = None,
    trusted: bool = False,
) -> Executable:
    """Compile a StableHLO module for one device.

    Args:
        text: The module.
        in_avals: Shape and dtype of each argument.
        out_avals: Shape and dtype of each result.
        donated: Positions of the arguments that are donated: those that have an attribute
            `tf.aliasing_output` or `jax.buffer_donor` in the text.
        consts: Buffers that are passed before the arguments at each call.
        device: The device to run on (None: the default one). The arguments must be there.
        options: From `compile_options` for the same device (None: all defaults).
        trusted: Whether the announced types are right without doubt, as for what `lower_jaxpr` has
            written of these types. Else they are held against the compiled program.

    Returns:
        The executable.

    Raises:
        CompilationError: The module is not well formed, or its `main` is of other types.
        CompileOptionError: `options` holds an override that this version of XLA lacks.
        ArgumentError: One of `consts` is no buffer on the device, or one of `donated` is no
            position of an argument.
        DeletedBufferError: One of `consts` was deleted.
        OutOfMemoryError: XLA ran out of memory.
    """
    if not isinstance(text, str):
        raise ArgumentError(f"text must be a StableHLO module as str; got {type(text).__name__}.")
    place = _client.placement(device)
    options = compile_options(device=place.device) if options is None else options
    try:
        raw = _client.client().raw.compile_and_load(text, place.device_list, options)
    except (_jaxlib.RuntimeFailure, ValueError) as error:
        raise _refused(error) from error
    return _assemble(raw, place, in_avals, out_avals, donated, consts, trusted=trusted)


def load_program(
    data: bytes,
    in_avals: Sequence[ShapeAndDType],
    out_avals: Sequence[ShapeAndDType],
    *,
    donated: Sequence[int] = (),
    consts: Sequence[Buffer] = (),
    device: Device | None = None,
) -> Executable:
    """Load a program that `Executable.serialize` wrote.

    Args:
        data: What it returned, from the same version of jaxlib on the same kind of processor.
        in_avals: Shape and dtype of each argument, as when it was compiled.
        out_avals: Shape and dtype of each result, as when it was compiled.
        donated: Positions of the donated arguments.
        consts: Buffers that are passed before the arguments at each call.
        device: The device to run on (None: the default one).

    Returns:
        The executable.

    Raises:
        CompilationError: The data is damaged.
        ArgumentError: One of `consts` is no buffer on the device, or one of `donated` is no
            position of an argument.
    """
    place = _client.placement(device)
    options = compile_options(device=place.device)
    try:
        raw = _client.client().raw.deserialize_executable(data, place.device_list, options)
    except (_jaxlib.RuntimeFailure, ValueError) as error:
        raise CompilationError(f"a serialised program could not be loaded: {error}") from error
    return _assemble(raw, place, in_avals, out_avals, donated, consts)


def _const_aval(i: int, const: Any) -> Any:
    if type(const) is GivenUp:
        raise DeletedBufferError(f"consts[{i}] was deleted or donated.")
    if not is_buffer(const):
        raise ArgumentError(
            f"consts[{i}] must be a buffer; got {type(const).__name__}. Make one with "
            "from_host(numpy_array)."
        )
    return const.aval


def _assemble(
    raw: LoadedExecutable,
    place: Placement,
    in_avals: Sequence[ShapeAndDType],
    out_avals: Sequence[ShapeAndDType],
    donated: Sequence[int],
    consts: Sequence[Buffer],
    *,
    trusted: bool = False,
) -> Executable:
    inside = tuple([buffer_aval(shape, dtype) for shape, dtype in in_avals])
    out = tuple([buffer_aval(shape, dtype) for shape, dtype in out_avals])
    if any(not 0 <= i < len(inside) for i in donated):
        raise ArgumentError(f"donated={tuple(donated)} is out of range of {len(inside)} arguments.")
    hidden = [_const_aval(i, const) for i, const in enumerate(consts)]
    if not trusted:
        _check_types(raw, (*hidden, *inside), out)
    for i, const in enumerate(consts):
        if const._sharding is not place.sharding:
            raise ArgumentError(
                f"consts[{i}] is not on {place.device}, where the program runs; move it with "
                "to_device."
            )
        if const.is_deleted():
            raise DeletedBufferError(f"consts[{i}] was deleted or donated.")
    return Executable(raw, place, inside, out, tuple(donated), tuple(consts))


def _check_types(
    raw: LoadedExecutable, parameters: Sequence[Any], results: Sequence[BufferAval]
) -> None:
    """Hold what the caller says about a program against what XLA knows.

    XLA does not compare: with a wrong announcement, results would be arrays of a wrong shape.
    """
    try:
        found = _jaxlib.program_types(raw)
    except ValueError as error:
        raise CompilationError(f"the program's main must map arrays to arrays: {error}") from error
    for what, said, types in zip(
        ("parameters", "results"), (parameters, results), found, strict=True
    ):
        if [(aval.shape, aval.dtype) for aval in said] != types:
            known = ", ".join([str(buffer_aval(*kind)) for kind in types])
            raise CompilationError(
                f"the program's main has the {what} ({known}), and "
                f"({', '.join(map(_described, said))}) were announced (constants first)."
            )


def _described(aval: Any) -> str:
    return str(buffer_aval(aval.shape, aval.dtype))


def _refused(error: Exception) -> XlaError:
    text = str(error)
    if "No such compile option" in text or "While setting option" in text:
        return CompileOptionError(f"XLA refused an option of the compiler: {text}")
    if "RESOURCE_EXHAUSTED" in text:
        return failure("a program could not be compiled", error)
    return CompilationError(f"XLA refused the program: {text}")
