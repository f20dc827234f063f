"""The names that processes had when each was alone on its host. Each warns and says the new one."""

from __future__ import annotations

import warnings

from ._processes import process_count, process_index, process_indices


def _warn(old: str, new: str) -> None:
    message = f"{old}() is deprecated; use {new}()"
    warnings.warn(message, DeprecationWarning, stacklevel=3)  # where the alias is called


def host_id(backend: str | None = None) -> int:
    """Deprecated name of `process_index`.

    Args:
        backend: Name of the platform; None for the one that there is.

    Returns:
        What `process_index(backend)` returns.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     host_id()
        0
    """
    _warn("host_id", "process_index")
    return process_index(backend)


def host_count(backend: str | None = None) -> int:
    """Deprecated name of `process_count`.

    Args:
        backend: Name of the platform; None for the one that there is.

    Returns:
        What `process_count(backend)` returns.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     host_count()
        1
    """
    _warn("host_count", "process_count")
    return process_count(backend)


def host_ids(backend: str | None = None) -> list[int]:
    """Deprecated name of `process_indices`.

    Args:
        backend: Name of the platform; None for the one that there is.

    Returns:
        What `process_indices(backend)` returns.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     host_ids()
        [0]
    """
    _warn("host_ids", "process_indices")
    return process_indices(backend)
