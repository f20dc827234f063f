"""Derivative rules, one module for each family of primitives; importing it fills the tables."""

from __future__ import annotations

from . import shape  # noqa: F401
from . import contractions, convolutions, random_bits, reductions, sorting  # noqa: F401
from . import calls, collectives, control  # noqa: F401
from . import elementwise  # noqa: F401
from . import indexing  # noqa: F401
