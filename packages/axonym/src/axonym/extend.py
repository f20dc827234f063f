"""The doors for third parties: new primitives, their rules, backends and methods of arrays.

A primitive has a shape rule and facts (`Primitive`), and in each package that is to know it one
rule: evaluation with NumPy (`register_evaluation`), derivative (`register_jvp`,
`register_transpose`), batching (`register_batching`), lowering to StableHLO
(`register_lowering`). They are the functions that the packages use for their own primitives.

    >>> import numpy as np
    >>> import axonym as ax
    >>> from axonym import extend
    >>> double_p = extend.Primitive("extend_example.double", lambda x: x)
    >>> extend.register_evaluation(double_p, lambda x: 2 * x)
    >>> with ax.config.override(backend="numpy"):
    ...     float(double_p.bind(np.float32(3)))
    6.0

Where what it does can be said with other operations, `expand` is all that it needs:

    >>> cube_p = extend.Primitive("extend_example.cube", lambda x: x, expand=lambda x: x * x * x)
    >>> float(ax.jit(ax.grad(cube_p.bind))(2.0))
    12.0

A primitive that holds programs, as `scan` does, names the parameters that hold them
(`Primitive(programs=...)`). Its rules apply to them `jvp_program`, `split_program` (in a rule set
with `register_split`), `transpose_program`, `batch_program`, `run_jaxpr` and
`LoweringContext.inline`.

Names are global, for programs are pickled by them: begin those of your primitives with the name of
your package. A module that is reloaded defines its primitives anew, and with them their rules;
programs that were staged before hold the old ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ._lazy import lazy as _lazy

if TYPE_CHECKING:
    from axonym_autodiff.extend import JvpProgram as JvpProgram
    from axonym_autodiff.extend import Linear as Linear
    from axonym_autodiff.extend import Reading as Reading
    from axonym_autodiff.extend import SplitProgram as SplitProgram
    from axonym_autodiff.extend import TapeTrace as TapeTrace
    from axonym_autodiff.extend import TransposedProgram as TransposedProgram
    from axonym_autodiff.extend import Zero as Zero
    from axonym_autodiff.extend import add_tangents as add_tangents
    from axonym_autodiff.extend import defjvp as defjvp
    from axonym_autodiff.extend import deflinear as deflinear
    from axonym_autodiff.extend import defzero as defzero
    from axonym_autodiff.extend import instantiate as instantiate
    from axonym_autodiff.extend import is_linear as is_linear
    from axonym_autodiff.extend import jvp_program as jvp_program
    from axonym_autodiff.extend import register_jvp as register_jvp
    from axonym_autodiff.extend import register_linearization as register_linearization
    from axonym_autodiff.extend import register_split as register_split
    from axonym_autodiff.extend import register_transpose as register_transpose
    from axonym_autodiff.extend import split_program as split_program
    from axonym_autodiff.extend import tangent_aval as tangent_aval
    from axonym_autodiff.extend import transpose_program as transpose_program
    from axonym_core import Primitive as Primitive
    from axonym_core.arrays import Backend as Backend
    from axonym_core.arrays import Executable as Executable
    from axonym_core.arrays import register_backend as register_backend
    from axonym_core.arrays import register_method as register_method
    from axonym_core.extend import conform_results as conform_results
    from axonym_core.numpy_backend import register_evaluation as register_evaluation
    from axonym_core.numpy_backend import run_jaxpr as run_jaxpr
    from axonym_core.programs import ALL as ALL
    from axonym_core.programs import Effect as Effect
    from axonym_core.programs import ProgramHolder as ProgramHolder
    from axonym_core.programs import equations as equations
    from axonym_core.programs import interpret as interpret
    from axonym_core.programs import map_programs as map_programs
    from axonym_core.programs import needed_equations as needed_equations
    from axonym_core.programs import programs_in as programs_in
    from axonym_core.programs import with_results as with_results
    from axonym_core.tracing import trace_flat as trace_flat
    from axonym_core.types import aval_of as aval_of
    from axonym_mapping.extend import BatchedProgram as BatchedProgram
    from axonym_mapping.extend import MappedAxis as MappedAxis
    from axonym_mapping.extend import align_elementwise as align_elementwise
    from axonym_mapping.extend import batch_program as batch_program
    from axonym_mapping.extend import move_dim as move_dim
    from axonym_mapping.extend import move_to_front as move_to_front
    from axonym_mapping.extend import register_batching as register_batching
    from axonym_xla.extend import LoweringContext as LoweringContext
    from axonym_xla.extend import register_lowering as register_lowering

_HOMES: Final = {
    "axonym_autodiff.extend": (
        "JvpProgram Linear Reading SplitProgram TapeTrace TransposedProgram Zero "
        "add_tangents defjvp deflinear defzero instantiate is_linear jvp_program "
        "register_jvp register_linearization register_split register_transpose split_program "
        "tangent_aval transpose_program"
    ),
    "axonym_core": "Primitive",
    "axonym_core.arrays": "Backend Executable register_backend register_method",
    "axonym_core.extend": "conform_results",
    "axonym_core.numpy_backend": "register_evaluation run_jaxpr",
    "axonym_core.programs": (
        "ALL Effect ProgramHolder equations interpret map_programs needed_equations "
        "programs_in with_results"
    ),
    "axonym_core.tracing": "trace_flat",
    "axonym_core.types": "aval_of",
    "axonym_mapping.extend": (
        "BatchedProgram MappedAxis align_elementwise batch_program move_dim move_to_front "
        "register_batching"
    ),
    "axonym_xla.extend": "LoweringContext register_lowering",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = _lazy(__name__, _HOMES)

__all__ = [
    "ALL",
    "Backend",
    "BatchedProgram",
    "Effect",
    "Executable",
    "JvpProgram",
    "Linear",
    "LoweringContext",
    "MappedAxis",
    "Primitive",
    "ProgramHolder",
    "Reading",
    "SplitProgram",
    "TapeTrace",
    "TransposedProgram",
    "Zero",
    "add_tangents",
    "align_elementwise",
    "aval_of",
    "batch_program",
    "conform_results",
    "defjvp",
    "deflinear",
    "defzero",
    "equations",
    "instantiate",
    "interpret",
    "is_linear",
    "jvp_program",
    "map_programs",
    "move_dim",
    "move_to_front",
    "needed_equations",
    "programs_in",
    "register_backend",
    "register_batching",
    "register_evaluation",
    "register_jvp",
    "register_linearization",
    "register_lowering",
    "register_method",
    "register_split",
    "register_transpose",
    "run_jaxpr",
    "split_program",
    "tangent_aval",
    "trace_flat",
    "transpose_program",
    "with_results",
]
