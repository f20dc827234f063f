"""Which processes a run has, and which devices each of them holds.

All of it is what the XLA client of this process says, so the first call starts the client (see
`axonym_xla.configure`, which has to come before). In a program of one process there is process 0,
and its devices are all there are.

`backend` is the name of the platform that is asked about, as in `"cpu"`; without it the question is
about the one that there is.
"""

from __future__ import annotations

import operator
import warnings

from axonym_xla import _client
from axonym_xla._jaxlib import Device

from .errors import PlatformError, ProcessArgumentError, ProcessIndexError


def _client_of(backend: str | None, function: str) -> _client.Client:
    """The client, if it runs on the platform of that name.

    Raises:
        ProcessArgumentError: `backend` is no name.
        PlatformError: There is no client for the platform.
    """
    if backend is not None and not isinstance(backend, str):
        raise ProcessArgumentError(
            f"{function}: backend must be the name of a platform or None, got {backend!r} of type "
            f"{type(backend).__name__}"
        )
    client = _client.client()
    if backend is not None and backend.lower() not in (client.platform, "xla"):
        raise PlatformError(
            f"{function}: backend={backend!r} has no devices here; there are those of "
            f"{client.platform!r}: name it, or leave backend out"
        )
    return client


def process_index(backend: str | None = None) -> int:
    """Index of this process among those of the run.

    Args:
        backend: Name of the platform; None for the one that there is.

    Returns:
        A number from 0 to `process_count() - 1`: 0 in a program of one process.

    Raises:
        PlatformError: There are no devices of that platform.
        ProcessArgumentError: `backend` is no name.

    Example:
        >>> process_index()
        0
    """
    return _client_of(backend, "process_index").raw.process_index()


def process_count(backend: str | None = None) -> int:
    """Number of processes of the run.

    Args:
        backend: Name of the platform; None for the one that there is.

    Returns:
        The number: 1 in a program of one process.

    Raises:
        PlatformError: There are no devices of that platform.
        ProcessArgumentError: `backend` is no name.

    Example:
        >>> process_count()
        1
    """
    return len(_indices(_client_of(backend, "process_count")))


def process_indices(backend: str | None = None) -> list[int]:
    """Indices of all processes of the run.

    Args:
        backend: Name of the platform; None for the one that there is.

    Returns:
        The numbers in ascending order.

    Raises:
        PlatformError: There are no devices of that platform.
        ProcessArgumentError: `backend` is no name.

    Example:
        >>> process_indices()
        [0]
    """
    return _indices(_client_of(backend, "process_indices"))


def _indices(client: _client.Client) -> list[int]:
    return sorted({device.process_index for device in client.devices})


def devices(backend: str | None = None) -> list[Device]:
    """Devices of all processes.

    Args:
        backend: Name of the platform; None for the one that there is.

    Returns:
        The devices, by number.

    Raises:
        PlatformError: There are no devices of that platform.
        ProcessArgumentError: `backend` is no name.

    Example:
        >>> devices()[0].platform
        'cpu'
    """
    return list(_client_of(backend, "devices").devices)


def device_count(backend: str | None = None) -> int:
    """Number of devices of all processes.

    Args:
        backend: Name of the platform; None for the one that there is.

    Returns:
        The number.

    Raises:
        PlatformError: There are no devices of that platform.
        ProcessArgumentError: `backend` is no name.

    Example:
        >>> device_count() == len(devices())
        True
    """
    return len(_client_of(backend, "device_count").devices)


def local_device_count(backend: str | None = None) -> int:
    """Number of devices of this process.

    Args:
        backend: Name of the platform; None for the one that there is.

    Returns:
        The number.

    Raises:
        PlatformError: There are no devices of that platform.
        ProcessArgumentError: `backend` is no name.

    Example:
        >>> local_device_count() == len(local_devices())
        True
    """
    return len(_client_of(backend, "local_device_count").local_devices)


def local_devices(
    process_index: int | None = None,
    backend: str | None = None,
    host_id: int | None = None,
) -> list[Device]:
    """Devices of one process.

    Args:
        process_index: Index of the process; None for this one.
        backend: Name of the platform; None for the one that there is.
        host_id: Deprecated name of `process_index`.

    Returns:
        The devices, by number. Arrays can be put on those of this process only.

    Raises:
        ProcessIndexError: There is no process of that index.
        PlatformError: There are no devices of that platform.
        ProcessArgumentError: An argument is of another type, or both `process_index` and `host_id`
            are given.

    Example:
        >>> [device.process_index for device in local_devices()][0]
        0
    """
    if host_id is not None:
        if process_index is not None:
            raise ProcessArgumentError(
                "local_devices: process_index and host_id are both given, and mean the same; give "
                "process_index only"
            )
        warnings.warn(
            f"local_devices(host_id={host_id}) is deprecated; use "
            f"local_devices(process_index={host_id})",
            DeprecationWarning,
            stacklevel=2,
        )
        process_index = host_id
    wanted = None if process_index is None else _as_index(process_index)
    client = _client_of(backend, "local_devices")
    if wanted is None:
        return list(client.local_devices)
    if wanted not in _indices(client):
        count = len(_indices(client))
        raise ProcessIndexError(
            f"local_devices: process_index={wanted} is no process of this run, which has {count} "
            f"(process_indices() is {_indices(client)}); leave it out for the devices of this one"
        )
    return [device for device in client.devices if device.process_index == wanted]


def _as_index(value: object) -> int:
    if isinstance(value, str):
        raise ProcessArgumentError(
            f"local_devices: process_index must be a number, got {value!r}; did you mean "
            f"backend={value!r}?"
        )
    try:
        return operator.index(value)  # type: ignore[arg-type]  # it asks what the value is
    except TypeError:
        raise ProcessArgumentError(
            f"local_devices: process_index must be a number, got {value!r} of type "
            f"{type(value).__name__}; take one of process_indices()"
        ) from None
