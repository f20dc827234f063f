"""What programs are made of: jaxprs, their types, primitives, tracers.

>>> import axonym as ax
>>> jaxpr = ax.make_jaxpr(lambda x: x + 1)(2.0)
>>> ax.core.check_jaxpr(jaxpr)
>>> [float(y) for y in ax.core.eval_jaxpr(jaxpr, 3.0)]
[4.0]
"""

from __future__ import annotations

from axonym_core import AxisEnv as AxisEnv
from axonym_core import ConcreteArray as ConcreteArray
from axonym_core import Jaxpr as Jaxpr
from axonym_core import Primitive as Primitive
from axonym_core import ShapedArray as ShapedArray
from axonym_core import Tracer as Tracer
from axonym_core import check_jaxpr as check_jaxpr
from axonym_core import eval_jaxpr as eval_jaxpr
from axonym_core.programs import Atom as Atom
from axonym_core.programs import JaxprEqn as JaxprEqn
from axonym_core.programs import Literal as Literal
from axonym_core.programs import Var as Var

__all__ = [
    "Atom",
    "AxisEnv",
    "ConcreteArray",
    "Jaxpr",
    "JaxprEqn",
    "Literal",
    "Primitive",
    "ShapedArray",
    "Tracer",
    "Var",
    "check_jaxpr",
    "eval_jaxpr",
]
