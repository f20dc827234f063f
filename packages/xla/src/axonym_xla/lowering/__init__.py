"""Lowering: StableHLO text from jaxprs. One module of rules for each family of primitives."""

from __future__ import annotations

# One line for each family; importing it fills the table.
from . import (  # noqa: F401  # fills the tables
    calls,
    contractions,
    control,
    convolutions,
    elementwise,
    indexing,
    random_bits,
    reductions,
    shape,
    sorting,
)
from .module import LoweredModule as LoweredModule
from .module import lower_jaxpr as lower_jaxpr
from .registry import LoweringContext as LoweringContext
from .registry import lowering_rules as lowering_rules
from .registry import register_lowering as register_lowering
