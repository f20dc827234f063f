"""The exceptions of questions about processes and devices."""

from __future__ import annotations

from axonym_core.errors import AxonymError, BackendError

__all__ = ["DistributedError", "PlatformError", "ProcessArgumentError", "ProcessIndexError"]


class DistributedError(AxonymError):
    """Base class of the errors of this package."""


class PlatformError(DistributedError, BackendError):
    """There are no devices of the platform that was asked for.

    Cause: `backend` names another platform than the one that the XLA client runs on. Cure: use the
    name in the message, or leave `backend` out::

        devices("gpu")  # PlatformError where there is only a CPU
        devices()  # mended
    """


class ProcessIndexError(DistributedError, ValueError):
    """There is no process of this index.

    Cause: the number is negative, or not below `process_count()`. Cure: take one of
    `process_indices()`::

        local_devices(1)  # ProcessIndexError in a program of one process
        local_devices(0)  # mended
    """


class ProcessArgumentError(DistributedError, TypeError):
    """An argument is of another type than the function takes, or is given twice.

    Causes: the name of a platform where the index of a process is expected; `host_id` beside
    `process_index`, whose old name it is::

        local_devices("cpu")  # ProcessArgumentError
        local_devices(backend="cpu")  # mended
    """
