"""`lax`: the primitive operations as functions.

They do what they say and no more: operands have equal shapes (or are scalars) and equal dtypes,
and nothing is promoted. `axonym.numpy` and the operators of arrays add broadcasting and promotion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import (
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
from .collectives import *  # noqa: F403  # each module lists what it shows
from .contractions import *  # noqa: F403
from .control import *  # noqa: F403
from .convolutions import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .indexing import *  # noqa: F403
from .random_bits import *  # noqa: F403
from .reductions import *  # noqa: F403
from .shape import *  # noqa: F403
from .sorting import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = [
        *collectives.__all__,
        *contractions.__all__,
        *control.__all__,
        *convolutions.__all__,
        *elementwise.__all__,
        *indexing.__all__,
        *random_bits.__all__,
        *reductions.__all__,
        *shape.__all__,
        *sorting.__all__,
    ]
