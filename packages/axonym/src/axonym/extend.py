"""The doors for third parties: new primitives, their rules, backends and methods of arrays.

A primitive has a shape rule, and in each package that is to know it one rule: evaluation with
NumPy (`register_evaluation`), derivative (`register_jvp`, `register_transpose`), batching
(`register_batching`), lowering to StableHLO (`register_lowering`). They are the functions that the
packages use for their own primitives.

    >>> import numpy as np
    >>> import axonym as ax
    >>> from axonym import extend
    >>> double_p = extend.Primitive("extend_example.double", lambda x: x)
    >>> extend.register_evaluation(double_p, lambda x: 2 * x)
    >>> with ax.config.override(backend="numpy"):
    ...     float(double_p.bind(np.float32(3)))
    6.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ._lazy import lazy as _lazy

if TYPE_CHECKING:
    from axonym_autodiff.extend import Linear as Linear
    from axonym_autodiff.extend import Reading as Reading
    from axonym_autodiff.extend import Zero as Zero
    from axonym_autodiff.extend import add_tangents as add_tangents
    from axonym_autodiff.extend import defjvp as defjvp
    from axonym_autodiff.extend import deflinear as deflinear
    from axonym_autodiff.extend import defzero as defzero
    from axonym_autodiff.extend import instantiate as instantiate
    from axonym_autodiff.extend import is_linear as is_linear
    from axonym_autodiff.extend import register_jvp as register_jvp
    from axonym_autodiff.extend import register_transpose as register_transpose
    from axonym_core import Primitive as Primitive
    from axonym_core.arrays import Backend as Backend
    from axonym_core.arrays import Executable as Executable
    from axonym_core.arrays import register_backend as register_backend
    from axonym_core.arrays import register_method as register_method
    from axonym_core.numpy_backend import register_evaluation as register_evaluation
    from axonym_core.programs import Effect as Effect
    from axonym_mapping.extend import MappedAxis as MappedAxis
    from axonym_mapping.extend import align_elementwise as align_elementwise
    from axonym_mapping.extend import move_dim as move_dim
    from axonym_mapping.extend import move_to_front as move_to_front
    from axonym_mapping.extend import register_batching as register_batching
    from axonym_xla.extend import LoweringContext as LoweringContext
    from axonym_xla.extend import register_lowering as register_lowering

_HOMES: Final = {
    "axonym_autodiff.extend": (
        "Linear Reading Zero add_tangents defjvp deflinear defzero instantiate is_linear "
        "register_jvp register_transpose"
    ),
    "axonym_core": "Primitive",
    "axonym_core.arrays": "Backend Executable register_backend register_method",
    "axonym_core.numpy_backend": "register_evaluation",
    "axonym_core.programs": "Effect",
    "axonym_mapping.extend": (
        "MappedAxis align_elementwise move_dim move_to_front register_batching"
    ),
    "axonym_xla.extend": "LoweringContext register_lowering",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = _lazy(__name__, _HOMES)

__all__ = [
    "Backend",
    "Effect",
    "Executable",
    "Linear",
    "LoweringContext",
    "MappedAxis",
    "Primitive",
    "Reading",
    "Zero",
    "add_tangents",
    "align_elementwise",
    "defjvp",
    "deflinear",
    "defzero",
    "instantiate",
    "is_linear",
    "move_dim",
    "move_to_front",
    "register_backend",
    "register_batching",
    "register_evaluation",
    "register_jvp",
    "register_lowering",
    "register_method",
    "register_transpose",
]
