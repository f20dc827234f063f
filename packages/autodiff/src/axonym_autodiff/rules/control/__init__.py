"""Derivatives of control flow: of `scan`, of `while`, of `cond`."""

from __future__ import annotations

from . import branches, scan, while_loop  # noqa: F401  # fills the tables
