"""Programs: primitives, and the jaxprs that are made of them."""

from __future__ import annotations

from . import source_info as source_info
from .checking import check_jaxpr as check_jaxpr
from .effects import Effect as Effect
from .effects import Effects as Effects
from .effects import names_of as names_of
from .effects import require_none as require_none
from .evaluation import eval_jaxpr as eval_jaxpr
from .jaxpr import Atom as Atom
from .jaxpr import Jaxpr as Jaxpr
from .jaxpr import JaxprEqn as JaxprEqn
from .jaxpr import Literal as Literal
from .jaxpr import ProgramHolder as ProgramHolder
from .jaxpr import Var as Var
from .jaxpr import axes_used as axes_used
from .jaxpr import effects_of as effects_of
from .jaxpr import map_programs as map_programs
from .jaxpr import programs_in as programs_in
from .naming import DebugInfo as DebugInfo
from .naming import debug_info as debug_info
from .primitive import ALL as ALL
from .primitive import Kind as Kind
from .primitive import Primitive as Primitive
from .primitive import registry as registry
from .source_info import SourceInfo as SourceInfo
from .walking import bind_equation as bind_equation
from .walking import equations as equations
from .walking import independent_of as independent_of
from .walking import interpret as interpret
from .walking import needed_equations as needed_equations
from .walking import with_results as with_results
