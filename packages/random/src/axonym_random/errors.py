"""The exceptions of random numbers: what is no key, and what no distribution has."""

from __future__ import annotations

from axonym_core.errors import AxonymError, DTypeError, ShapeError

__all__ = [
    "DistributionError",
    "KeyArrayError",
    "KeyTypeError",
    "RandomDTypeError",
    "RandomError",
    "RandomShapeError",
]


class RandomError(AxonymError):
    """Base class of the errors of this package."""


class KeyTypeError(RandomError, TypeError):
    """Something that is no key was used as one, or a key as something that it is not.

    Causes: a seed or a list was passed where a key is needed; a key was used as a number. Cures:
    make a key of a seed with `key`; get the words of a key with `key_data`::

        normal(0, (3,))  # KeyTypeError
        normal(key(0), (3,))  # mended
        key_data(key(0))  # mended
    """


class KeyArrayError(RandomError, ValueError):
    """An array of keys was passed where one key is needed, or the other way round.

    Cure: choose one key, or map the function over all of them::

        normal(split(key(0), 8), (3,))  # KeyArrayError
        vmap(lambda k: normal(k, (3,)))(split(key(0), 8))  # mended: an array of shape (8, 3)
    """


class RandomShapeError(RandomError, ShapeError):
    """A shape has a negative size, or parameters do not fit the shape that was asked for.

    Cure: give a shape to which every parameter broadcasts, or leave the shape out.
    """


class RandomDTypeError(RandomError, DTypeError):
    """A distribution does not exist in a dtype.

    Cause: `normal`, `uniform` and their like make floating-point numbers of 16, 32 or 64 bits,
    `randint` and `bits` integers. Cure: name such a dtype, and convert the result.
    """


class DistributionError(RandomError, ValueError):
    """No distribution has these parameters.

    Causes: an empty range, more draws without replacement than there are elements, probabilities
    for another number of elements. The message names the parameter and the mend.
    """
