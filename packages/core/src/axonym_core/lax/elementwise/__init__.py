"""Element-wise operations: the functions of this family, which four modules define.

`arithmetic` computes, `comparisons` compares and works on bits, `conversions` selects and converts,
`functions` has the mathematical functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import arithmetic, comparisons, conversions, functions
from .arithmetic import *  # noqa: F403
from .comparisons import *  # noqa: F403
from .conversions import *  # noqa: F403
from .functions import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = [*arithmetic.__all__, *comparisons.__all__, *conversions.__all__, *functions.__all__]
