"""For authors of transformations: the machinery of control flow below `lax`.

`lax.scan` and its kin take Python functions. What they bind, and what the rules of transformations
bind again, are jaxprs: these functions find the types that carries and branches have in common.
"""

from __future__ import annotations

from .lax.control import bind_cond as bind_cond
from .lax.control import bind_scan as bind_scan
from .lax.control import bind_while as bind_while
from .lax.control import conform_results as conform_results
from .lax.control import scan_flat as scan_flat
from .lax.control import with_all_consts as with_all_consts
from .lax.mapped_branches import Takers as Takers
from .lax.mapped_branches import chosen_along as chosen_along
from .lax.mapped_branches import counted_if as counted_if
from .lax.mapped_branches import guard as guard
from .lax.mapped_branches import select_branch as select_branch
from .lax.reductions import axes_in_scope as axes_in_scope
from .lax.symbolic_zeros import Zero as Zero
from .lax.symbolic_zeros import add_tangents as add_tangents
from .lax.symbolic_zeros import instantiate as instantiate
from .lax.symbolic_zeros import returned_tangent as returned_tangent
