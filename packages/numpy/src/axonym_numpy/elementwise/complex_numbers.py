"""Parts of complex numbers. Real numbers are their own real part."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import math
from typing import Any

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.operators import number_like
from axonym_core.primitives.elementwise import conj_p, imag_p, real_p
from axonym_core.types import COMPLEXES, aval_of

from ..arguments.composites import composite
from ..arguments.operands import array_of, inexact, numeric

__all__ = [
    "angle",
    "conj",
    "conjugate",
    "imag",
    "iscomplex",
    "iscomplexobj",
    "isreal",
    "isrealobj",
    "real",
]


def _is_complex(x: Any) -> bool:
    return aval_of(x).dtype in COMPLEXES


def real(x: Any, /) -> Array:
    """Real part.

    Args:
        x: Array or number.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> real(1 + 2j)
        Array(1., dtype=float32, weak_type=True)
    """
    x = numeric("real", x)
    return real_p.bind(x) if _is_complex(x) else array_of("real", x)


def imag(x: Any, /) -> Array:
    """Imaginary part; 0 for real numbers.

    Args:
        x: Array or number.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> imag(1 + 2j)
        Array(2., dtype=float32, weak_type=True)
    """
    x = numeric("imag", x)
    if _is_complex(x):
        return imag_p.bind(x)
    return lax.full(aval_of(x).shape, 0, aval_of(x).dtype)


def conj(x: Any, /) -> Array:
    """Complex conjugate; real numbers are their own.

    Args:
        x: Array or number.

    Returns:
        Array of the shape and dtype of `x`.

    Example:
        >>> conj(1 + 2j)
        Array(1.-2.j, dtype=complex64, weak_type=True)
    """
    x = numeric("conj", x)
    return conj_p.bind(x) if _is_complex(x) else array_of("conj", x)


conjugate = conj


@composite()
def _angle_of_real(x: Any) -> Array:
    return lax.atan2(lax.full_like(x, 0), x)


def angle(z: Any, deg: bool = False) -> Array:
    """Angle of a complex number with the positive real axis.

    Args:
        z: Array or number.
        deg: Whether to give degrees instead of radians.

    Returns:
        Array of the shape of `z`, in a floating-point dtype.

    Example:
        >>> angle(1j)
        Array(1.571, dtype=float32, weak_type=True)
    """
    z = inexact("angle", z)
    out = lax.atan2(lax.imag(z), lax.real(z)) if _is_complex(z) else _angle_of_real(z)
    return out * (180 / math.pi) if deg else out


def iscomplex(x: Any, /) -> Array:
    """Whether a number has an imaginary part other than 0.

    Args:
        x: Array or number.

    Returns:
        Array of `bool` of the shape of `x`.

    Example:
        >>> iscomplex(1 + 0j)
        Array(False, dtype=bool)
    """
    part = imag(x)
    return lax.ne(part, number_like(0, aval_of(part)))


def isreal(x: Any, /) -> Array:
    """Whether a number has no imaginary part other than 0.

    Args:
        x: Array or number.

    Returns:
        Array of `bool` of the shape of `x`.

    Example:
        >>> isreal(1 + 0j)
        Array(True, dtype=bool)
    """
    part = imag(x)
    return lax.eq(part, number_like(0, aval_of(part)))


def iscomplexobj(x: Any) -> bool:
    """Whether an operand is of a complex dtype.

    Args:
        x: Array or number.

    Example:
        >>> iscomplexobj(1 + 0j)
        True
    """
    return _is_complex(numeric("iscomplexobj", x))


def isrealobj(x: Any) -> bool:
    """Whether an operand is not of a complex dtype.

    Args:
        x: Array or number.

    Example:
        >>> isrealobj(1.0)
        True
    """
    return not iscomplexobj(x)
