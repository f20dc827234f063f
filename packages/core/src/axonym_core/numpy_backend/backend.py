"""The backend object: buffers are read-only NumPy arrays, programs are run equation by equation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from ..arrays.array import Array, ConcreteArray
from ..errors import BackendError, ExportError, OutOfMemoryError
from ..programs.jaxpr import Jaxpr, Literal, Var
from ..programs.primitive import Primitive
from ..programs.walking import last_uses
from ..tracing.staging import expanded
from ..types.avals import ShapedArray, aval_of, host_array
from ..types.dtypes import storage_dtype
from .rules import evaluation_rules


@final
class NumpyDevice:
    """The host, as the one device of the NumPy backend."""

    id = 0
    process_index = 0
    platform = "numpy"
    device_kind = "numpy"

    def __repr__(self) -> str:
        return "NumpyDevice()"


DEVICE = NumpyDevice()

_NUMPY_TELLS_READ_ONLY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def _read_only(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    value.flags.writeable = False
    return value


def operand(x: Any) -> np.ndarray[Any, Any]:
    """NumPy array of an operand of a primitive: an array of any backend, or a number."""
    if type(x) is ConcreteArray:
        return x.buffer if x.backend is backend else x.backend.to_host(x.buffer)
    if isinstance(x, np.ndarray):
        # Results may be views of operands, and must not change when the caller writes to his own
        # (which he may, too, where this view of it is read-only).
        return np.array(x)
    return host_array(x, aval_of(x).dtype)


def apply_rule(
    primitive: Primitive, operands: Sequence[np.ndarray[Any, Any]], params: Mapping[str, Any]
) -> Any:
    """Apply a primitive's evaluation rule to NumPy arrays."""
    rule = evaluation_rules.get(primitive)
    if rule is None:
        reason = primitive.why_absent("evaluation") or "no rule is registered for it"
        raise BackendError(f"the NumPy backend cannot evaluate {primitive.name}: {reason}")
    try:
        return rule(*operands, **params)
    except MemoryError as error:
        raise _out_of_memory(error) from error


def _out_of_memory(error: MemoryError) -> OutOfMemoryError:
    return OutOfMemoryError(f"the host has not enough memory: {error}")


def run_jaxpr(jaxpr: Jaxpr, args: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """Run a jaxpr on NumPy arrays."""
    jaxpr = expanded(jaxpr, ("numpy", len(evaluation_rules)), _has_no_rule)
    env: dict[Var, Any] = {
        var: operand(c) for var, c in zip(jaxpr.constvars, jaxpr.consts, strict=True)
    }
    env.update(zip(jaxpr.invars, args, strict=True))

    def read(atom: Any) -> Any:
        return operand(atom.val).astype(atom.aval.dtype) if type(atom) is Literal else env[atom]

    last_use = last_uses(jaxpr)
    for i, eqn in enumerate(jaxpr.eqns):
        out = apply_rule(eqn.primitive, [read(a) for a in eqn.invars], eqn.params)
        for var, value in zip(
            eqn.outvars, out if eqn.primitive.multiple_results else (out,), strict=True
        ):
            env[var] = conform(value, var.aval)
        for atom in eqn.invars:  # free what nothing reads any more
            if type(atom) is Var and last_use.get(atom) == i:
                env.pop(atom, None)
    return [read(a) for a in jaxpr.outvars]


def _has_no_rule(primitive: Primitive) -> bool:
    return primitive not in evaluation_rules


def conform(value: Any, aval: ShapedArray) -> np.ndarray[Any, Any]:
    """Array of a rule's result; a result of another type than the shape rule's is our fault."""
    array = np.asarray(value)
    if array.dtype != storage_dtype(aval.dtype) or array.shape != aval.shape:
        raise BackendError(
            f"NumPy evaluation gave {array.dtype}{list(array.shape)} where the shape rule says "
            f"{aval}; the evaluation rule of the primitive is at fault"
        )
    return array


@final
class NumpyExecutable:
    """A jaxpr, run equation by equation."""

    __slots__ = ("jaxpr",)

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.jaxpr = jaxpr

    def __call__(self, args: Sequence[ConcreteArray]) -> list[ConcreteArray]:
        """Run on concrete arrays."""
        return self.call(args)

    def call(self, args: Sequence[ConcreteArray]) -> list[ConcreteArray]:
        """Run on concrete arrays of the types that the jaxpr was staged for."""
        outs = run_jaxpr(self.jaxpr, [operand(a) for a in args])
        return [wrap(o, aval) for o, aval in zip(outs, self.jaxpr.out_avals, strict=True)]

    def compile(self) -> NumpyExecutable:
        """Return itself: a jaxpr is NumPy's program already."""
        return self

    def as_text(self) -> str:
        """The jaxpr."""
        return str(self.jaxpr)

    def memory_analysis(self) -> None:
        """Return None: nothing is known ahead of the run."""

    def cost_analysis(self) -> None:
        """Return None: nothing is known ahead of the run."""


def wrap(value: Any, aval: ShapedArray) -> ConcreteArray:
    """Concrete array of an evaluation result."""
    array = conform(value, aval)
    if array.flags.writeable:
        # A result that is a view of an operand must not make the operand's owner read-only.
        array = _read_only(array.view())
    return ConcreteArray(array, aval, backend)


@final
class NumpyBackend:
    """Evaluates with NumPy on the host; implements the `Backend` protocol."""

    name = "numpy"

    def evaluate(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Apply a primitive to concrete operands."""
        avals = tuple([a.aval if isinstance(a, Array) else aval_of(a) for a in args])
        out_avals = primitive.out_avals(avals, params)
        out = apply_rule(primitive, [operand(a) for a in args], params)
        if primitive.multiple_results:
            return [wrap(o, aval) for o, aval in zip(out, out_avals, strict=True)]
        return wrap(out, out_avals)

    def compile(self, jaxpr: Jaxpr, *, donated: Sequence[bool] = ()) -> NumpyExecutable:
        """Return a callable that runs the jaxpr. Donation has no effect."""
        return NumpyExecutable(jaxpr)

    def lower(self, jaxpr: Jaxpr, *, donated: Sequence[bool] = ()) -> NumpyExecutable:
        """Return the program as it is."""
        return NumpyExecutable(jaxpr)

    def from_host(
        self, value: np.ndarray[Any, Any], aval: ShapedArray, device: Any = None
    ) -> ConcreteArray:
        """Copy a NumPy array."""
        if device is not None and device is not DEVICE:
            raise BackendError(f"the NumPy backend has one device, {DEVICE}; got {device}")
        try:
            copied = np.array(value, dtype=storage_dtype(aval.dtype), copy=True, order="C")
        except MemoryError as error:
            raise _out_of_memory(error) from error
        return ConcreteArray(_read_only(copied), aval, self)

    def to_host(self, buffer: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the (read-only) buffer itself."""
        return buffer

    def block_until_ready(self, buffer: np.ndarray[Any, Any]) -> None:
        """Do nothing: evaluation is synchronous."""

    def is_ready(self, buffer: np.ndarray[Any, Any]) -> bool:
        """Return True: evaluation is synchronous."""
        return True

    def give_up(self, buffer: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the buffer: NumPy arrays are freed by Python."""
        return buffer

    def is_deleted(self, buffer: np.ndarray[Any, Any]) -> bool:
        """Return False: NumPy arrays are freed by Python."""
        return False

    def devices(self) -> list[NumpyDevice]:
        """The host, as the one device."""
        return [DEVICE]

    def device_of(self, buffer: np.ndarray[Any, Any]) -> NumpyDevice:
        """The host."""
        return DEVICE

    def to_dlpack(
        self,
        buffer: np.ndarray[Any, Any],
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """DLPack capsule of a buffer, for the keywords of `__dlpack__`.

        Buffers are read-only, which only receivers of version 1 of the protocol can be told: others
        get a copy.

        Raises:
            ExportError: The buffer cannot be handed over in this way.
        """
        if stream is not None:
            raise ExportError(f"__dlpack__: stream={stream!r} on the host; pass stream=None")
        if dl_device is not None and dl_device != self.dlpack_device(buffer):
            raise ExportError(
                f"__dlpack__: dl_device={dl_device!r} is another device than the array's, "
                f"{self.dlpack_device(buffer)}; copy the array there with the other library"
            )
        knows = max_version is not None and max_version >= (1, 0) and _NUMPY_TELLS_READ_ONLY
        if copy is False and not knows:
            raise ExportError(
                "__dlpack__: copy=False, but the receiver cannot be told that the data is "
                "read-only (by max_version=(1, 0) or more); leave copy out"
            )
        try:
            if copy or not knows:
                return buffer.copy().__dlpack__()
            return buffer.__dlpack__(max_version=max_version)
        except BufferError as error:
            raise ExportError(
                f"__dlpack__: DLPack has no arrays of dtype {buffer.dtype}; convert the array "
                "first, as with astype('float32')"
            ) from error

    def dlpack_device(self, buffer: np.ndarray[Any, Any]) -> tuple[int, int]:
        """DLPack's CPU device."""
        return buffer.__dlpack_device__()


backend = NumpyBackend()
