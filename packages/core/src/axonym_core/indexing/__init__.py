"""Indexing: `x[index]` and `x.at[index]`, for every index that NumPy takes."""

from __future__ import annotations

from . import getitem as getitem
from .updates import IndexedUpdate as IndexedUpdate
from .updates import IndexedUpdates as IndexedUpdates
