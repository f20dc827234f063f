"""Neural network functions: what `axonym_numpy.nn` holds, and `initializers` for the weights."""

from __future__ import annotations

from axonym_numpy import nn as _nn
from axonym_numpy.nn import *  # noqa: F403  # the namespace is that one, whatever is in it

from . import initializers as initializers

__all__ = ["initializers"]
__all__ += _nn.__all__
