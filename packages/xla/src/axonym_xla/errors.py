"""The exceptions of the XLA backend.

Whatever XLA itself complains about reaches users as one of these classes, with XLA's own words
behind `__cause__`. Each derives from :class:`XlaError`, so from
:class:`axonym_core.errors.AxonymError`, and from the builtin that Python has for the same mistake.
"""

from __future__ import annotations

from axonym_core import errors
from axonym_core.errors import AxonymError, BackendError, DTypeError

__all__ = [
    "ArgumentError",
    "BufferDTypeError",
    "ClientError",
    "CompilationError",
    "CompileOptionError",
    "DeletedBufferError",
    "DeviceError",
    "ExecutionError",
    "ExportError",
    "OutOfMemoryError",
    "XlaError",
]


class XlaError(AxonymError):
    """The base of the errors of this package."""


class ClientError(XlaError, BackendError):
    """XLA's client could not start, or was to be configured after it had started.

    Causes: ``AXONYM_NUM_CPU_DEVICES`` is no number of devices; the client was configured after
    the first array was made; the process was forked after that. Cure: configure first, before any
    array is made; start processes with the method ``"spawn"``::

        AXONYM_NUM_CPU_DEVICES=four python train.py  # ClientError
        AXONYM_NUM_CPU_DEVICES=4 python train.py  # mended
    """


class DeviceError(XlaError, ValueError):
    """A device does not exist, or belongs to another process or another client.

    Cause: a device that is not one of this process's own was named as the place of an array or of
    a program. Cure: choose one of ``local_devices()``.
    """


class BufferDTypeError(XlaError, DTypeError):
    """XLA has no arrays of this dtype.

    Cause: the data holds strings, objects, dates, records, or floating-point numbers wider than 64
    bits. Cure: convert it first, as with ``array.astype("float32")``.
    """


class ArgumentError(XlaError, TypeError):
    """A function was given something else than it takes: the wrong number, shape, dtype or place.

    The message names the argument by its position, what was expected of it and what was given.
    """


class DeletedBufferError(XlaError, RuntimeError):
    """The data of an array was used after it had been freed.

    Causes: ``array.delete()`` was called; or the array was donated to a compiled function, which
    may have put its result into the same memory. Cure: do not use an array again after donating
    it, or donate less (``donate_argnums``)::

        step = jit(update, donate_argnums=0)
        new = step(params)
        params["w"]  # DeletedBufferError: use new["w"]
    """


class CompilationError(XlaError, BackendError):
    """XLA refused a program, or the program is not the one that was announced.

    Cause: a lowering rule wrote StableHLO that is not well formed. Cure: mend the rule of the
    operation in the message; a rule that is part of Axonym is a bug to be reported.
    """


class CompileOptionError(XlaError, ValueError):
    """An option of the compiler does not exist, or cannot have this value.

    Cure: XLA's options differ between versions of jaxlib; leave the option out, or use one of the
    values in the message.
    """


class ExecutionError(XlaError, BackendError):
    """A compiled program failed while it ran.

    Results are computed asynchronously: the failure may surface where a result is waited for or
    read, not where the program was called.
    """


class OutOfMemoryError(XlaError, errors.OutOfMemoryError):
    """A device has not enough memory for an array or a program.

    Cure: smaller batches, ``lax.scan`` in place of an unrolled loop, or ``donate_argnums`` to reuse
    the memory of arguments.
    """


class ExportError(XlaError, errors.ExportError):
    """An array of this backend cannot be handed to another library in the way that was asked for.

    Causes: the protocol has no such dtype, or the receiver wants the data on another device. Cure:
    convert the array first, or pass it through NumPy.
    """
