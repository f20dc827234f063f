"""The errors where a traced value has no numbers to give: each says what it was needed for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from ..errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
)

if TYPE_CHECKING:
    from ..arrays.array import Need
    from .trace import Tracer

_KEEP: Final = "Keep it an array (x.astype(...)), or make the argument static"

# By need: the error, what happened, and the mend.
_MESSAGES: Final[dict[Need, tuple[type[Exception], str, str]]] = {
    "array": (
        TracerArrayConversionError,
        "was converted to a NumPy array",
        "Use axonym.numpy functions in place of NumPy's inside transformed functions",
    ),
    "bool": (
        TracerBoolConversionError,
        "was used where Python needs True or False (if, while, and, or, not)",
        "Use lax.cond, lax.while_loop or axonym.numpy.where, or make the argument static",
    ),
    "index": (
        TracerIntegerConversionError,
        "was used as a Python integer (a shape, an index of a list, range)",
        "Shapes and list indices must be known when tracing: make the argument static",
    ),
    "int": (TracerIntegerConversionError, "was converted with int()", _KEEP),
    "float": (ConcretizationTypeError, "was converted with float()", _KEEP),
    "complex": (ConcretizationTypeError, "was converted with complex()", _KEEP),
    "round": (ConcretizationTypeError, "was converted with round()", _KEEP),
}


def refuse_numbers(tracer: Tracer, needed: Need) -> NoReturn:
    """Raise the error for a traced value whose numbers were needed."""
    tracer.require_alive()
    error, happened, mend = _MESSAGES[needed]
    raise error(f"a traced value of type {tracer.aval} {happened}. {tracer.provenance()}{mend}")
