"""The XLA backend: StableHLO from traced programs, compiled and run through jaxlib.

`backend` is found by `axonym_core` through the entry point group `axonym.backends`; users seldom
meet it. `lower` shows the program that a jaxpr becomes, `register_lowering` teaches the backend a
new primitive, and the functions about devices say where arrays can be.
"""

from __future__ import annotations

from axonym_core.programs import Jaxpr as _Jaxpr

from . import errors as errors
from ._backend import XlaBackend as XlaBackend
from ._backend import backend as backend
from ._client import configure as configure
from ._client import default_device as default_device
from ._client import device_count as device_count
from ._client import devices as devices
from ._client import is_started as is_started
from ._client import local_device_count as local_device_count
from ._client import local_devices as local_devices
from ._compiled import XlaExecutable as XlaExecutable
from ._compiled import XlaLowered as XlaLowered
from ._executable import MemoryStats as MemoryStats
from .lowering import LoweringContext as LoweringContext
from .lowering import lower_jaxpr as _lower_jaxpr
from .lowering import register_lowering as register_lowering

__all__ = [
    "LoweringContext",
    "MemoryStats",
    "XlaBackend",
    "XlaExecutable",
    "XlaLowered",
    "backend",
    "configure",
    "default_device",
    "device_count",
    "devices",
    "errors",
    "is_started",
    "local_device_count",
    "local_devices",
    "lower",
    "register_lowering",
]


def lower(jaxpr: _Jaxpr, *, platform: str = "cpu") -> str:
    """Write a jaxpr as a StableHLO module.

    Args:
        jaxpr: The program.
        platform: The platform that it is written for: `"cpu"` or another one.

    Returns:
        The text of the module. Arrays that the program closed over are its first arguments.

    Raises:
        AxisNameError: The program varies over named axes.
        BackendError: A primitive has no lowering rule.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> from axonym_core.tracing.staging import make_jaxpr
        >>> print(lower(make_jaxpr(lambda x: lax.sin(x))(np.float32(1.0))))
        module @lambda {
        func.func public @main(%arg0: tensor<f32> loc(unknown)) -> (tensor<f32>) {
        %0 = stablehlo.sine %arg0 : tensor<f32> loc(unknown)
        return %0 : tensor<f32> loc(unknown)
        } loc(unknown)
        } loc(unknown)
        <BLANKLINE>
    """
    return _lower_jaxpr(jaxpr, platform=platform).text
