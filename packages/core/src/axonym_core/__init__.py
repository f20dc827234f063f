"""Traced array programs with named axes: primitives, jaxprs, pytrees, arrays, NumPy backend."""

from __future__ import annotations

from . import indexing as indexing
from . import lax as lax
from . import operators as operators
from . import trees as trees
from .arrays.array import Array as Array
from .arrays.array import ConcreteArray as ConcreteArray
from .errors import AxonymError as AxonymError
from .programs.checking import check_jaxpr as check_jaxpr
from .programs.evaluation import eval_jaxpr as eval_jaxpr
from .programs.jaxpr import Jaxpr as Jaxpr
from .programs.primitive import Primitive as Primitive
from .settings.configuration import config as config
from .tracing.staging import eval_shape as eval_shape
from .tracing.staging import make_jaxpr as make_jaxpr
from .tracing.trace import Tracer as Tracer
from .types import dtypes as dtypes
from .types.avals import ShapedArray as ShapedArray
from .types.avals import ShapeDtypeStruct as ShapeDtypeStruct
from .types.axes import AxisEnv as AxisEnv

__all__ = [
    "Array",
    "AxisEnv",
    "AxonymError",
    "ConcreteArray",
    "Jaxpr",
    "Primitive",
    "ShapeDtypeStruct",
    "ShapedArray",
    "Tracer",
    "check_jaxpr",
    "config",
    "dtypes",
    "eval_jaxpr",
    "eval_shape",
    "lax",
    "make_jaxpr",
    "trees",
]
