"""Moving trees of arrays between the host and devices, and waiting for them.

>>> import numpy as np
>>> params = device_put({"w": np.zeros(3, np.float32)})
>>> block_until_ready(params)
{'w': Array([0., 0., 0.], dtype=float32)}
>>> device_get(params)
{'w': array([0., 0., 0.], dtype=float32)}
"""

from __future__ import annotations

from typing import Any

from ..arrays import backends
from ..arrays.array import Array, ConcreteArray, register_method
from ..errors import ArgumentTypeError, ConcretizationError
from ..trees.operations import tree_leaves, tree_map
from ..types import dtypes
from ..types.avals import aval_of, host_array
from ..types.python_numbers import settled
from .trace import Tracer

__all__ = ["block_until_ready", "device_get", "device_put"]


def device_put(x: Any, device: Any = None) -> Any:
    """Put a tree of arrays on a device of the current backend.

    Args:
        x: Tree of arrays, NumPy arrays and numbers.
        device: The device; None for the backend's default one, where arrays that are on one of its
            devices already stay where they are.

    Returns:
        Tree of arrays. Data that is there already is not copied, other data is.

    Raises:
        ConcretizationError: A traced value is to be put on a particular device.
        TypeError: A leaf is neither an array nor a number.
        BackendError: The backend has no such device.
    """
    backend = backends.current()

    def put(leaf: Any) -> Any:
        if isinstance(leaf, Tracer):
            leaf.require_alive()
            if device is None:
                return settled(leaf)
            raise ConcretizationError(
                f"device_put: a traced value of type {leaf.aval} has no place of its own, so it "
                f"cannot be put on {device}. {leaf.provenance()}Put arguments on the device before "
                "the call, or results after it"
            )
        if isinstance(leaf, ConcreteArray):
            here = leaf.backend is backend
            if here and (device is None or backend.device_of(leaf.buffer) == device):
                return leaf
            host = leaf.backend.to_host(leaf.buffer)
        else:
            leaf = settled(leaf)
            host = host_array(leaf, aval_of(leaf).dtype)
        return backend.from_host(host, aval_of(leaf), device)

    return tree_map(put, x)


def _to_device(x: Array, device: Any, /, *, stream: Any = None) -> Any:
    """Return the array on a device; itself where it is there already.

    Args:
        x: The array.
        device: The device, one of those of the current backend.
        stream: None: the devices have no streams that one could choose.

    Raises:
        ConcretizationError: The array is a traced value.
        BackendError: The backend has no such device.
        ArgumentTypeError: `stream` is not None.
    """
    if stream is not None:
        raise ArgumentTypeError(f"to_device: stream must be None; got {stream!r}")
    return device_put(x, device)


register_method("to_device", _to_device)


def device_get(x: Any) -> Any:
    """Fetch a tree of arrays to the host; waits for them.

    Args:
        x: Tree of arrays. Other leaves are returned as they are.

    Returns:
        Tree of NumPy arrays, which may be read-only views of the data. Arrays of an extended dtype,
        such as keys, are returned as they are: NumPy has no such arrays.

    Raises:
        TracerArrayConversionError: A leaf is a traced value.
    """

    def get(leaf: Any) -> Any:
        opaque = not isinstance(leaf, Array) or dtypes.is_extended(leaf.aval.dtype)
        return leaf if opaque else leaf.__array__()

    return tree_map(get, x)


def block_until_ready(x: Any) -> Any:
    """Wait until all arrays of a tree are computed.

    Args:
        x: Tree of arrays. Traced values and other leaves are passed over.

    Returns:
        The tree.

    Raises:
        AxonymError: The computation of one of them failed.
    """
    for leaf in tree_leaves(x):
        if isinstance(leaf, ConcreteArray):
            leaf.block_until_ready()
    return x
