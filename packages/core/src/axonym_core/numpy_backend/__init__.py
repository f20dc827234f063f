"""The NumPy backend: evaluates primitives with NumPy. Complete, plain, and the test oracle.

It needs nothing but NumPy, which makes it the backend of small installations and of teaching, and
the independent check of the compiled backend.
"""

from __future__ import annotations

from . import (  # noqa: F401  # noqa: F401, I001
    calls,
    collectives,
    contractions,
    control,
    convolutions,
    elementwise,
    indexing,
    random_bits,
    reductions,
    shape,
    sorting,
)
from .backend import NumpyBackend as NumpyBackend
from .backend import backend as backend
from .backend import run_jaxpr as run_jaxpr
from .rules import evaluation_rules as evaluation_rules
from .rules import register_evaluation as register_evaluation
