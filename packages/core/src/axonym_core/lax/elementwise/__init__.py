"""Element-wise operations: the functions of this family, which four modules define.

`arithmetic` computes, `comparisons` compares and works on bits, `conversions` selects and converts,
`functions` has the mathematical functions.
"""

from __future__ import annotations

from . import arithmetic, comparisons, conversions, functions
from .arithmetic import *  # noqa: F403
from .comparisons import *  # noqa: F403
from .conversions import *  # noqa: F403
from .functions import *  # noqa: F403

__all__: list[str] = []
__all__ += arithmetic.__all__
__all__ += comparisons.__all__
__all__ += conversions.__all__
__all__ += functions.__all__
