"""Errors of the NumPy-like namespace.

Shapes, dtypes, named axes and indices that do not fit raise the errors of `axonym_core.errors`;
here is what is left: arguments that choose how a function works.
"""

from __future__ import annotations

from axonym_core.errors import AxonymError

__all__ = ["ArgumentError", "NumpyError"]


class NumpyError(AxonymError):
    """Base class of the errors of this package."""


class ArgumentError(NumpyError, ValueError):
    """An argument that chooses how a function works has a value that the function does not know.

    Causes: a misspelt `mode`, `method`, `order` or `ord`; a number of samples below 0; sections
    that do not divide an axis. The message names the argument and the values that it can take.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.quantile(anp.arange(3.0), 0.5, method="liner")
        Traceback (most recent call last):
        ...
        axonym_numpy.errors.ArgumentError: quantile: method='liner' is not known; give one of ...
    """
