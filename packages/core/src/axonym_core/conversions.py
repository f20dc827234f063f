"""From arrays to NumPy and Python values; and the errors where a tracer has no numbers to give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .array import Array, ConcreteArray
from .errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
)

if TYPE_CHECKING:
    from .trace import Tracer


def to_numpy(x: Array, dtype: Any, copy: bool | None) -> np.ndarray[Any, Any]:
    """Return the data as a NumPy array: a read-only view where possible, a copy on demand."""
    if type(x) is not ConcreteArray:
        raise TracerArrayConversionError(
            _message(x, "was converted to a NumPy array") + "Use axonym.numpy functions in place "
            "of NumPy's inside transformed functions"
        )
    host = x.backend.to_host(x.buffer)
    if dtype is not None and np.dtype(dtype) != host.dtype:
        if copy is False:
            raise ValueError(f"converting {x.dtype} to {np.dtype(dtype)} needs a copy; copy=False")
        return host.astype(dtype)
    return host.copy() if copy else host


def to_scalar(x: Array, kind: str) -> Any:
    """Return the one element of an array as a NumPy scalar, for `bool(x)` and its like."""
    if type(x) is not ConcreteArray:
        if kind == "bool":
            raise TracerBoolConversionError(
                _message(x, "was used where Python needs True or False (if, while, and, or, not)")
                + "Use lax.cond, lax.while_loop or axonym.numpy.where, or make the argument static"
            )
        error = TracerIntegerConversionError if kind == "int" else ConcretizationTypeError
        raise error(
            _message(x, f"was converted with {kind}()")
            + "Keep it an array (x.astype(...)), or make the argument static"
        )
    if x.size != 1:
        if kind == "bool":
            raise ValueError(
                f"the truth value of an array of shape {x.shape} is ambiguous; use .any() or .all()"
            )
        raise TypeError(f"{kind}() needs an array of one element, got shape {x.shape}")
    return to_numpy(x, None, None).reshape(())[()]


def to_index(x: Array) -> int:
    """Return the integer of a 0-d integer array, for `range(x)` or `list[x]`."""
    if type(x) is not ConcreteArray:
        raise TracerIntegerConversionError(
            _message(x, "was used as a Python integer (a shape, an index of a list, range)")
            + "Shapes and list indices must be known when tracing: make the argument static"
        )
    if x.ndim != 0 or x.dtype.kind not in "iu":
        raise TypeError(f"only 0-d integer arrays can be used as an index, got {x.aval}")
    return int(to_numpy(x, None, None)[()])


def _message(x: Array, happened: str) -> str:
    tracer: Tracer = x  # type: ignore[assignment]  # every array that is not concrete is one
    tracer.require_alive()
    origin = tracer.provenance()
    return f"a traced value of type {x.aval} {happened}. {origin}"
