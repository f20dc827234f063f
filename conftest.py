"""Settings of every pytest run in this repository."""

from __future__ import annotations

import os

from hypothesis import settings

# Check every jaxpr that is staged, before any package reads its settings from the environment.
os.environ.setdefault("AXONYM_CHECK", "1")

# A first call may compile, so one example's wall time says nothing: no deadline.
settings.register_profile("axonym", deadline=None, print_blob=True)
settings.load_profile("axonym")
