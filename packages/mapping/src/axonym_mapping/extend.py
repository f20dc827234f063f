"""The door for third parties: batching rules of new primitives, programs in programs included."""

from __future__ import annotations

from .batching import BatchedProgram as BatchedProgram
from .batching import batch_program as batch_program
from .rule_tables import MappedAxis as MappedAxis
from .rule_tables import align_elementwise as align_elementwise
from .rule_tables import move_dim as move_dim
from .rule_tables import move_to_front as move_to_front
from .rule_tables import register_batching as register_batching

__all__ = [
    "BatchedProgram",
    "MappedAxis",
    "align_elementwise",
    "batch_program",
    "move_dim",
    "move_to_front",
    "register_batching",
]
