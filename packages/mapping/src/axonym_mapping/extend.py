"""The door for third parties: batching rules of new primitives."""

from __future__ import annotations

from .rule_tables import MappedAxis as MappedAxis
from .rule_tables import align_elementwise as align_elementwise
from .rule_tables import move_dim as move_dim
from .rule_tables import move_to_front as move_to_front
from .rule_tables import register_batching as register_batching

__all__ = [
    "MappedAxis",
    "align_elementwise",
    "move_dim",
    "move_to_front",
    "register_batching",
]
