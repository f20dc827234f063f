"""For packages that add to the XLA backend: what it takes to lower a primitive of one's own.

A lowering rule writes StableHLO text through a `LoweringContext`:

    >>> from axonym_core.programs.primitive import Primitive
    >>> double_p = Primitive("xla_example.double", lambda x: x)
    >>> def lower_double(ctx, avals_in, avals_out, x):
    ...     return ctx.op(f"stablehlo.add {x}, {x} : {ctx.type(avals_out[0])}")
    >>> register_lowering(double_p, lower_double)

The text must be valid in every supported version of jaxlib. A rule may be for one platform only,
`register_lowering(double_p, rule, platform="cuda")`; there it goes before the rule for all.
"""

from __future__ import annotations

from ._compile_options import compile_options as compile_options
from ._executable import Executable as Executable
from ._executable import compile_program as compile_program
from .lowering.constants import dense as dense
from .lowering.constants import splat as splat
from .lowering.module import LoweredModule as LoweredModule
from .lowering.module import lower_jaxpr as lower_jaxpr
from .lowering.registry import LoweringContext as LoweringContext
from .lowering.registry import LoweringRule as LoweringRule
from .lowering.registry import lowering_rules as lowering_rules
from .lowering.registry import register_lowering as register_lowering
from .lowering.structure import Argument as Argument
from .lowering.structure import Function as Function
from .lowering.structure import Module as Module
from .lowering.types import element_type as element_type
from .lowering.types import tensor_type as tensor_type

__all__ = [
    "Argument",
    "Executable",
    "Function",
    "LoweredModule",
    "LoweringContext",
    "LoweringRule",
    "Module",
    "compile_options",
    "compile_program",
    "dense",
    "element_type",
    "lower_jaxpr",
    "lowering_rules",
    "register_lowering",
    "splat",
    "tensor_type",
]
