"""Traced array programs with named axes: primitives, jaxprs, pytrees, arrays, NumPy backend."""

from __future__ import annotations

from . import tree_util as tree_util
from .array import Array as Array
from .array import ConcreteArray as ConcreteArray
from .avals import ShapedArray as ShapedArray
from .avals import ShapeDtypeStruct as ShapeDtypeStruct
from .axes import AxisEnv as AxisEnv
from .config import config as config
from .errors import AxonymError as AxonymError
from .jaxpr import Jaxpr as Jaxpr
from .jaxpr_checking import check_jaxpr as check_jaxpr
from .jaxpr_evaluation import eval_jaxpr as eval_jaxpr
from .primitive import Primitive as Primitive
from .staging import eval_shape as eval_shape
from .staging import make_jaxpr as make_jaxpr
from .trace import Tracer as Tracer

from . import lax as lax  # isort: skip  # binds primitives, so it comes after all of the above

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
    "eval_jaxpr",
    "eval_shape",
    "lax",
    "make_jaxpr",
    "tree_util",
]
