"""A NumPy-like namespace on traced arrays with named axes.

Functions are NumPy's, with this field's habits: results are 32-bit where nobody asked for more,
reductions take the names of named axes beside dimensions (`sum(x, axis=(0, "batch"))`), and
everything can be traced, differentiated, mapped and compiled. What differs from NumPy is listed in
the package's README.

    >>> x = arange(6.0).reshape(2, 3)
    >>> (x - x.mean(axis=1, keepdims=True)).sum()
    Array(0., dtype=float32)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import (
    creation,
    elementwise,
    joining,
    linalg,
    linear_algebra,
    namespace,
    nn,
    reductions,
    selection,
    shapes,
    special,
    statistics,
)
from .creation import *  # noqa: F403  # each room lists what it shows
from .creation.dtype_names import bool_ as bool
from .elementwise import *  # noqa: F403
from .joining import *  # noqa: F403
from .linear_algebra import *  # noqa: F403
from .namespace import *  # noqa: F403
from .reductions import *  # noqa: F403
from .selection import *  # noqa: F403
from .shapes import *  # noqa: F403
from .statistics import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = [
        "bool",
        "linalg",
        "nn",
        "special",
        *creation.__all__,
        *elementwise.__all__,
        *joining.__all__,
        *linear_algebra.__all__,
        *namespace.__all__,
        *reductions.__all__,
        *selection.__all__,
        *shapes.__all__,
        *statistics.__all__,
    ]
