"""What all rests on: settings, the trace that interprets what a thread does, and caches."""

from __future__ import annotations

from .caches import BoundedCache as BoundedCache
from .caches import Entries as Entries
from .caches import PerObject as PerObject
from .caches import exact as exact
from .caches import exact_items as exact_items
from .caches import register_key as register_key
from .configuration import Config as Config
from .configuration import Override as Override
from .configuration import config as config
from .thread_context import context as context
