"""Derivatives of random bits: none, they are integers made of integers."""

from __future__ import annotations

from axonym_core.primitives.random_bits import random_bits_p, threefry2x32_p

from ..rule_tables import defzero

defzero(threefry2x32_p)
defzero(random_bits_p)
