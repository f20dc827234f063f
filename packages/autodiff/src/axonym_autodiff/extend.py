"""The door for third parties: rules of new primitives, programs in programs included."""

from __future__ import annotations

from axonym_core.extend import Zero as Zero
from axonym_core.extend import add_tangents as add_tangents
from axonym_core.extend import instantiate as instantiate

from .programs import JvpProgram as JvpProgram
from .programs import SplitProgram as SplitProgram
from .programs import TransposedProgram as TransposedProgram
from .programs import jvp_program as jvp_program
from .programs import split_program as split_program
from .programs import tangent_aval as tangent_aval
from .programs import transpose_program as transpose_program
from .rule_tables import Linear as Linear
from .rule_tables import Reading as Reading
from .rule_tables import defjvp as defjvp
from .rule_tables import deflinear as deflinear
from .rule_tables import defzero as defzero
from .rule_tables import is_linear as is_linear
from .rule_tables import register_jvp as register_jvp
from .rule_tables import register_linearization as register_linearization
from .rule_tables import register_transpose as register_transpose
from .tape import TapeTrace as TapeTrace
from .tape import register_split as register_split

__all__ = [
    "JvpProgram",
    "Linear",
    "Reading",
    "SplitProgram",
    "TapeTrace",
    "TransposedProgram",
    "Zero",
    "add_tangents",
    "defjvp",
    "deflinear",
    "defzero",
    "instantiate",
    "is_linear",
    "jvp_program",
    "register_jvp",
    "register_linearization",
    "register_split",
    "register_transpose",
    "split_program",
    "tangent_aval",
    "transpose_program",
]
