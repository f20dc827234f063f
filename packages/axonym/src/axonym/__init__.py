"""Composable function transformations on named axes: grad, jit, vmap, xmap on NumPy and XLA.

    >>> import axonym as ax
    >>> import axonym.numpy as anp
    >>> slope = ax.jit(ax.grad(lambda x: anp.sin(x) * x))
    >>> round(float(slope(2.0)), 4)
    0.077

This package re-exports its siblings under the names that users of this field know, and nothing of
it is computed here. Each sibling can be installed and imported alone: `axonym_core`,
`axonym_autodiff`, `axonym_mapping`, `axonym_compile`, `axonym_xla`, `axonym_distributed`,
`axonym_numpy` and `axonym_random`. They are imported when a name of theirs is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ._lazy import lazy as _lazy

if TYPE_CHECKING:
    from axonym._version import __version__ as __version__
    from axonym_autodiff import custom_jvp as custom_jvp
    from axonym_autodiff import custom_vjp as custom_vjp
    from axonym_autodiff import grad as grad
    from axonym_autodiff import jvp as jvp
    from axonym_autodiff import linear_transpose as linear_transpose
    from axonym_autodiff import linearize as linearize
    from axonym_autodiff import value_and_grad as value_and_grad
    from axonym_autodiff import vjp as vjp
    from axonym_compile import CompiledFunction as CompiledFunction
    from axonym_compile import CompiledFunctionCache as CompiledFunctionCache
    from axonym_compile import jit as jit
    from axonym_core import Array as Array
    from axonym_core import ShapeDtypeStruct as ShapeDtypeStruct
    from axonym_core import config as config
    from axonym_core import eval_shape as eval_shape
    from axonym_core import make_jaxpr as make_jaxpr
    from axonym_core.tracing import block_until_ready as block_until_ready
    from axonym_core.tracing import device_get as device_get
    from axonym_core.tracing import device_put as device_put
    from axonym_distributed import device_count as device_count
    from axonym_distributed import devices as devices
    from axonym_distributed import host_count as host_count
    from axonym_distributed import host_id as host_id
    from axonym_distributed import host_ids as host_ids
    from axonym_distributed import local_device_count as local_device_count
    from axonym_distributed import local_devices as local_devices
    from axonym_distributed import process_count as process_count
    from axonym_distributed import process_index as process_index
    from axonym_distributed import process_indices as process_indices
    from axonym_mapping import vmap as vmap
    from axonym_mapping import xmap as xmap

    from . import core as core
    from . import dtypes as dtypes
    from . import errors as errors
    from . import extend as extend
    from . import lax as lax
    from . import nn as nn
    from . import numpy as numpy
    from . import random as random
    from . import scipy as scipy
    from . import stages as stages
    from . import test_util as test_util
    from . import tree as tree
    from . import tree_util as tree_util

_HOMES: Final = {
    "axonym._version": "__version__",
    "axonym_autodiff": (
        "custom_jvp custom_vjp grad jvp linear_transpose linearize value_and_grad vjp"
    ),
    "axonym_compile": "CompiledFunction CompiledFunctionCache jit",
    "axonym_core": "Array ShapeDtypeStruct config eval_shape make_jaxpr",
    "axonym_core.tracing": "block_until_ready device_get device_put",
    "axonym_distributed": (
        "device_count devices host_count host_id host_ids local_device_count local_devices "
        "process_count process_index process_indices"
    ),
    "axonym_mapping": "vmap xmap",
}
_SUBMODULES: Final = (
    "core",
    "dtypes",
    "errors",
    "extend",
    "lax",
    "nn",
    "numpy",
    "random",
    "scipy",
    "stages",
    "test_util",
    "tree",
    "tree_util",
)

if not TYPE_CHECKING:
    __getattr__, __dir__ = _lazy(__name__, _HOMES, _SUBMODULES)

__all__ = [
    "Array",
    "CompiledFunction",
    "CompiledFunctionCache",
    "ShapeDtypeStruct",
    "__version__",
    "block_until_ready",
    "config",
    "core",
    "custom_jvp",
    "custom_vjp",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "dtypes",
    "errors",
    "eval_shape",
    "extend",
    "grad",
    "host_count",
    "host_id",
    "host_ids",
    "jit",
    "jvp",
    "lax",
    "linear_transpose",
    "linearize",
    "local_device_count",
    "local_devices",
    "make_jaxpr",
    "nn",
    "numpy",
    "process_count",
    "process_index",
    "process_indices",
    "random",
    "scipy",
    "stages",
    "test_util",
    "tree",
    "tree_util",
    "value_and_grad",
    "vjp",
    "vmap",
    "xmap",
]
