"""What holds for a thread: its settings, and the trace that interprets what it does."""

from __future__ import annotations

from .configuration import Config as Config
from .configuration import Override as Override
from .configuration import config as config
from .thread_context import context as context
