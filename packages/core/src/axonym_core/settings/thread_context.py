"""The current trace of each thread. A module of its own, below everything that binds primitives."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..tracing.trace import Trace


class _Context(threading.local):
    """`context.trace` is this thread's current trace; `trace.py` supplies the first one."""

    trace: Trace


context = _Context()
