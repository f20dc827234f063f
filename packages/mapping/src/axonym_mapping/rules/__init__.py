"""Batching rules, one module for each family of primitives; importing it fills the table."""

from __future__ import annotations

from . import (  # noqa: F401  # fills the tables
    calls,
    collectives,
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
