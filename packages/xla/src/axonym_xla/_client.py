"""The client: XLA's runtime in this process, with its devices, threads and memory.

There is one per process. It starts at the first use, not at import, so that a program may still
say how many devices it wants, and so that `axonym_distributed` can join a group of processes
before:

    configure(num_cpu_devices=4)  # or the environment variable AXONYM_NUM_CPU_DEVICES
    local_devices()  # starts the client

A client that `jax` may have in the same process is another one: neither sees the other's devices.

The CPU's number of devices is a choice, since they are threads: one by default. More of them serve
to try out programs for several devices on one machine.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Final, NamedTuple, final

from . import _gate, _jaxlib
from ._jaxlib import Device, DeviceList, RawClient, Sharding
from .errors import ClientError, DeviceError

__all__ = [
    "Client",
    "Distributed",
    "Placement",
    "client",
    "configure",
    "default_device",
    "device_count",
    "devices",
    "is_started",
    "local_device_count",
    "local_devices",
    "placement",
]

NUM_CPU_DEVICES: Final = "AXONYM_NUM_CPU_DEVICES"
_MOST_CPU_DEVICES: Final = 1024


class Distributed(NamedTuple):
    """This process's membership of a group of processes.

    Attributes:
        runtime_client: jaxlib's connected client of the group's coordination service.
        process_index: Which of the processes this is.
        process_count: How many there are.
    """

    runtime_client: Any
    process_index: int
    process_count: int


@final
class Placement:
    """What it takes to put something on one device, made once for each.

    Attributes:
        device: The device.
        devices: A list that holds the device alone.
        device_list: The same as jaxlib's own kind of list.
        sharding: The sharding of arrays that are on the device; one object for each device, so
            that `buffer._sharding is placement.sharding` asks whether a buffer is there.
    """

    __slots__ = ("device", "device_list", "devices", "sharding")

    def __init__(self, device: Device) -> None:
        self.device: Final = device
        self.devices: Final[list[Device]] = [device]
        self.device_list: Final[DeviceList] = _jaxlib.new_device_list((device,))
        self.sharding: Final[Sharding] = _jaxlib.sharding_of_one(self.device_list)


@final
class Client:
    """A running client and what is asked of it most.

    Attributes:
        raw: jaxlib's client.
        platform: Kind of platform, as in `"cpu"`.
        devices: Devices of all processes, by number.
        local_devices: Devices of this process, by number.
        default: Where arrays and programs go if nobody says where: the first local device.
    """

    __slots__ = (
        "_by_sharding",
        "_placements",
        "default",
        "devices",
        "local_devices",
        "platform",
        "raw",
    )

    def __init__(self, raw: RawClient) -> None:
        self.raw: Final = raw
        self.platform: Final = raw.platform
        self.devices: Final = tuple(sorted(raw.devices(), key=lambda device: device.id))
        self.local_devices: Final = tuple(sorted(raw.local_devices(), key=lambda device: device.id))
        self._placements: Final = {device: Placement(device) for device in self.local_devices}
        # By identity: `jax` gives shardings an equality and a hash of its own.
        self._by_sharding: Final = {id(p.sharding): p for p in self._placements.values()}
        self.default: Final = self._placements[self.local_devices[0]]

    def placement(self, device: Device | None) -> Placement:
        """The placement of a device of this process (None: the default one).

        Raises:
            DeviceError: It is no such device.
        """
        if device is None:
            return self.default
        try:
            return self._placements[device]
        except (KeyError, TypeError):
            raise DeviceError(self._not_local(device)) from None

    def placement_of(self, sharding: Sharding) -> Placement | None:
        """The placement that a buffer's sharding is of; None where it is not one of this client."""
        return self._by_sharding.get(id(sharding))

    def _not_local(self, device: object) -> str:
        choices = ", ".join(map(repr, self.local_devices))
        if device in self.devices:
            why = "belongs to another process"
        elif hasattr(device, "platform") and hasattr(device, "process_index"):
            why = "belongs to another client (that of another library in this process?)"
        else:
            why = f"is no device, but of type {type(device).__name__}"
        return f"device={device!r} {why}; choose one of local_devices(): {choices}."


_lock = threading.Lock()
_client: Client | None = None
_num_cpu_devices: int | None = None
_distributed: Distributed | None = None


def configure(
    *, num_cpu_devices: int | None = None, distributed: Distributed | None = None
) -> None:
    """Say what the client shall be like, before it starts.

    Args:
        num_cpu_devices: Number of devices that the CPU is divided into. It goes before the
            environment variable ``AXONYM_NUM_CPU_DEVICES``; without both there is one.
        distributed: The group of processes that this one has joined.

    Raises:
        ClientError: The client has started already, or the number is not from 1 to 1024.
    """
    global _num_cpu_devices, _distributed
    if num_cpu_devices is not None:
        _check_count("num_cpu_devices", num_cpu_devices)
    with _lock:
        if _client is not None:
            raise ClientError(
                "configure() was called after the XLA client had started; call it before the "
                "first array is made and before devices are asked for."
            )
        if num_cpu_devices is not None:
            _num_cpu_devices = num_cpu_devices
        if distributed is not None:
            _distributed = distributed


def _check_count(name: str, count: object) -> int:
    if isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= _MOST_CPU_DEVICES:
        return count
    given = repr(count)
    raise ClientError(
        f"{name} must be a number of devices from 1 to {_MOST_CPU_DEVICES}; got "
        f"{given if len(given) < 60 else given[:50] + '…'}."
    )


def _wanted_count() -> int:
    if _num_cpu_devices is not None:
        return _num_cpu_devices
    text = os.environ.get(NUM_CPU_DEVICES, "").strip()
    if not text:
        return 1
    # Written in one way: neither 04 nor digits of other scripts, nor more than there can be.
    plain = text.isascii() and text.isdecimal() and text[0] != "0" and len(text) < 10
    return _check_count(NUM_CPU_DEVICES, int(text) if plain else text)


def is_started() -> bool:
    """Whether the client runs, so that it is too late to configure it.

    Example:
        >>> is_started() or len(local_devices()) > 0
        True
    """
    return _client is not None


def client() -> Client:
    """The client of this process; starts it at the first call.

    Raises:
        ClientError: It cannot start, or this process was forked from one where it had.
    """
    if _gate.shut:
        _gate.stop()
    found = _client
    return found if found is not None else _start()


def _start() -> Client:
    global _client
    with _lock:
        if _client is not None:
            return _client
        options: dict[str, Any] = {"asynchronous": True, "num_devices": _wanted_count()}
        if _distributed is not None:
            options["distributed_client"] = _distributed.runtime_client
            options["node_id"] = _distributed.process_index
            options["num_nodes"] = _distributed.process_count
        try:
            if _distributed is not None and _distributed.process_count > 1:
                options["collectives"] = _jaxlib.make_collectives(_distributed.runtime_client)
            raw = _jaxlib.make_cpu_client(**options)
        except (_jaxlib.RuntimeFailure, TypeError, ValueError) as error:
            settings = ", ".join(f"{k}={v!r}" for k, v in options.items())
            raise ClientError(f"the XLA client did not start with {settings}: {error}") from error
        _gate.guard()
        _client = Client(raw)
        return _client


def _new_lock_in_child() -> None:
    """A thread that held the lock does not exist in a forked process."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_new_lock_in_child)


def placement(device: Device | None = None) -> Placement:
    """The placement of a device of this process (None: the default one).

    Raises:
        DeviceError: It is no such device.
    """
    return client().placement(device)


def devices() -> list[Device]:
    """Devices of all processes, by number.

    Example:
        >>> devices()[0].platform
        'cpu'
    """
    return list(client().devices)


def local_devices() -> list[Device]:
    """Devices of this process, by number.

    Example:
        >>> [device.process_index for device in local_devices()][0]
        0
    """
    return list(client().local_devices)


def device_count() -> int:
    """Number of devices of all processes.

    Example:
        >>> device_count() == len(devices())
        True
    """
    return len(client().devices)


def local_device_count() -> int:
    """Number of devices of this process.

    Example:
        >>> local_device_count() == len(local_devices())
        True
    """
    return len(client().local_devices)


def default_device() -> Device:
    """Where arrays go if nobody says where: the first device of this process.

    Example:
        >>> default_device() is local_devices()[0]
        True
    """
    return client().default.device
