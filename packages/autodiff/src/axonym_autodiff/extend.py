"""The door for third parties: rules of new primitives."""

from __future__ import annotations

from axonym_core.extend import Zero as Zero
from axonym_core.extend import add_tangents as add_tangents
from axonym_core.extend import instantiate as instantiate

from .rule_tables import Linear as Linear
from .rule_tables import Reading as Reading
from .rule_tables import defjvp as defjvp
from .rule_tables import deflinear as deflinear
from .rule_tables import defzero as defzero
from .rule_tables import is_linear as is_linear
from .rule_tables import register_jvp as register_jvp
from .rule_tables import register_transpose as register_transpose

__all__ = [
    "Linear",
    "Reading",
    "Zero",
    "add_tangents",
    "defjvp",
    "deflinear",
    "defzero",
    "instantiate",
    "is_linear",
    "register_jvp",
    "register_transpose",
]
