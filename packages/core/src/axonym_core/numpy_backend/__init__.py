"""The NumPy backend: evaluates primitives with NumPy. Complete, plain, and the test oracle.

It needs nothing but NumPy, which makes it the backend of small installations and of teaching, and
the independent check of the compiled backend.
"""

from __future__ import annotations

from .backend import NumpyBackend as NumpyBackend
from .backend import backend as backend
from .rules import evaluation_rules as evaluation_rules
from .rules import register_evaluation as register_evaluation

from . import control, calls, collectives  # noqa: F401, I001
from . import shape  # noqa: F401
from . import contractions, convolutions, random_bits, reductions, sorting  # noqa: F401, I001
from . import elementwise  # noqa: F401
from . import indexing  # noqa: F401
