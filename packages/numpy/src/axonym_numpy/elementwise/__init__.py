"""Functions of one element, or of elements in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import (
    arithmetic,
    bits,
    comparisons,
    complex_numbers,
    exponentials,
    extrema,
    floating_point,
    rounding,
    trigonometry,
)
from .arithmetic import *  # noqa: F403  # each module lists what it shows
from .bits import *  # noqa: F403
from .comparisons import *  # noqa: F403
from .complex_numbers import *  # noqa: F403
from .exponentials import *  # noqa: F403
from .extrema import *  # noqa: F403
from .floating_point import *  # noqa: F403
from .rounding import *  # noqa: F403
from .trigonometry import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = [
        *arithmetic.__all__,
        *bits.__all__,
        *comparisons.__all__,
        *complex_numbers.__all__,
        *exponentials.__all__,
        *extrema.__all__,
        *floating_point.__all__,
        *rounding.__all__,
        *trigonometry.__all__,
    ]
