"""Lowering: StableHLO text from jaxprs. One module of rules for each family of primitives."""

from __future__ import annotations

from .module import LoweredModule as LoweredModule
from .module import lower_jaxpr as lower_jaxpr
from .registry import LoweringContext as LoweringContext
from .registry import lowering_rules as lowering_rules
from .registry import register_lowering as register_lowering

# One line for each family; importing it fills the table.
from . import calls, control  # noqa: F401
from . import shape  # noqa: F401
from . import contractions, convolutions, random_bits, reductions, sorting  # noqa: F401
from . import elementwise  # noqa: F401
from . import indexing  # noqa: F401
