"""Processes and devices of a run.

    >>> import axonym_distributed as distributed
    >>> f"process {distributed.process_index()} of {distributed.process_count()}"
    'process 0 of 1'

The answers come from the XLA client of this process, which the first question starts. Importing
this package starts nothing.
"""

from __future__ import annotations

from . import errors as errors
from ._host_aliases import host_count as host_count
from ._host_aliases import host_id as host_id
from ._host_aliases import host_ids as host_ids
from ._processes import device_count as device_count
from ._processes import devices as devices
from ._processes import local_device_count as local_device_count
from ._processes import local_devices as local_devices
from ._processes import process_count as process_count
from ._processes import process_index as process_index
from ._processes import process_indices as process_indices

__all__ = [
    "device_count",
    "devices",
    "host_count",
    "host_id",
    "host_ids",
    "local_device_count",
    "local_devices",
    "process_count",
    "process_index",
    "process_indices",
]
