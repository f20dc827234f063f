"""Dtypes as attributes of the namespace, constants, and questions about dtypes.

`float32` and its kin name a dtype wherever one is expected, and called with a number or an array
they convert it, as NumPy's scalar types do. The result is an array, with the dtype that was asked
for: `float64(2.0)` is strong, where `numpy.float64(2.0)` gives way as a Python number does.

    >>> bfloat16(1.5)
    Array(1.5, dtype=bfloat16)
    >>> np.dtype(int8), np.dtype("int8") == int8
    (dtype('int8'), True)
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from axonym_core.arrays import Array
from axonym_core.types import COMPLEXES, DTYPES, FLOATS, INEXACT, INTEGERS, SIGNED, DType, dtypes

from ..errors import ArgumentError
from .construction import asarray

__all__ = [
    "bfloat16",
    "bool_",
    "can_cast",
    "cdouble",
    "complex64",
    "complex128",
    "complexfloating",
    "csingle",
    "double",
    "dtype",
    "e",
    "euler_gamma",
    "finfo",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "floating",
    "generic",
    "iinfo",
    "inexact",
    "inf",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "integer",
    "isdtype",
    "isscalar",
    "issubdtype",
    "nan",
    "ndarray",
    "newaxis",
    "number",
    "pi",
    "promote_types",
    "result_type",
    "signedinteger",
    "single",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unsignedinteger",
]


class _ScalarType(type):
    """Type of the names of dtypes: equal to the dtype, and callable to convert to it."""

    dtype: DType

    def __call__(cls, x: Any = 0) -> Array:
        return asarray(x, cls.dtype)

    def __eq__(cls, other: object) -> bool:
        return cls is other or bool(cls.dtype == other)

    def __hash__(cls) -> int:
        return hash(cls.dtype)

    def __repr__(cls) -> str:
        return f"<dtype {cls.dtype.name}>"


def _scalar_type(of: DType) -> Any:
    name = "bool_" if of == np.bool_ else of.name
    doc = f"The dtype `{of.name}`; `{name}(x)` converts to it."
    return _ScalarType(name, (), {"dtype": of, "__doc__": doc, "__module__": __name__})


bool_ = _scalar_type(dtypes.bool_)
int4 = _scalar_type(dtypes.int4)
int8 = _scalar_type(dtypes.int8)
int16 = _scalar_type(dtypes.int16)
int32 = _scalar_type(dtypes.int32)
int64 = _scalar_type(dtypes.int64)
uint4 = _scalar_type(dtypes.uint4)
uint8 = _scalar_type(dtypes.uint8)
uint16 = _scalar_type(dtypes.uint16)
uint32 = _scalar_type(dtypes.uint32)
uint64 = _scalar_type(dtypes.uint64)
float8_e3m4 = _scalar_type(dtypes.float8_e3m4)
float8_e4m3 = _scalar_type(dtypes.float8_e4m3)
float8_e4m3b11fnuz = _scalar_type(dtypes.float8_e4m3b11fnuz)
float8_e4m3fn = _scalar_type(dtypes.float8_e4m3fn)
float8_e4m3fnuz = _scalar_type(dtypes.float8_e4m3fnuz)
float8_e5m2 = _scalar_type(dtypes.float8_e5m2)
float8_e5m2fnuz = _scalar_type(dtypes.float8_e5m2fnuz)
float8_e8m0fnu = _scalar_type(dtypes.float8_e8m0fnu)
bfloat16 = _scalar_type(dtypes.bfloat16)
float16 = _scalar_type(dtypes.float16)
float32 = _scalar_type(dtypes.float32)
float64 = _scalar_type(dtypes.float64)
complex64 = _scalar_type(dtypes.complex64)
complex128 = _scalar_type(dtypes.complex128)
single, double, csingle, cdouble = float32, float64, complex64, complex128

# Kinds of dtypes, for `issubdtype`.
generic: Final = np.generic
number: Final = np.number
integer: Final = np.integer
signedinteger: Final = np.signedinteger
unsignedinteger: Final = np.unsignedinteger
inexact: Final = np.inexact
floating: Final = np.floating
complexfloating: Final = np.complexfloating

ndarray: Final = Array
dtype: Final = np.dtype
finfo: Final = dtypes.finfo
iinfo: Final = dtypes.iinfo
issubdtype: Final = dtypes.issubdtype
promote_types: Final = dtypes.promote_types
result_type: Final = dtypes.result_type

pi: Final = math.pi
e: Final = math.e
euler_gamma: Final = 0.5772156649015329
inf: Final = math.inf
nan: Final = math.nan
newaxis: Final = None

_KINDS: Final = {
    "bool": frozenset((dtypes.bool_,)),
    "signed integer": SIGNED,
    "unsigned integer": INTEGERS - SIGNED,
    "integral": INTEGERS,
    "real floating": FLOATS,
    "complex floating": COMPLEXES,
    "numeric": INTEGERS | INEXACT,
}


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind, as the array API defines kinds.

    Args:
        dtype: A dtype, or what names one.
        kind: ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``, ``"real
            floating"``, ``"complex floating"``, ``"numeric"``, a dtype, or a tuple of these.

    Raises:
        ArgumentError: There is no such kind.
        DTypeError: `dtype` names no dtype.

    Example:
        >>> isdtype("bfloat16", "real floating"), isdtype("int8", ("bool", "integral"))
        (True, True)
    """
    found = dtypes.as_dtype(dtype)
    for one in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(one, str) and one in _KINDS:
            if found in _KINDS[one]:
                return True
        elif isinstance(one, str) and one not in DTYPES:
            raise ArgumentError(
                f"isdtype: kind={one!r} is not known; give a dtype or one of "
                f"{', '.join(map(repr, _KINDS))}"
            )
        elif found == dtypes.as_dtype(one, "kind"):
            return True
    return False


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether values of one dtype can be converted to another under a rule of NumPy's.

    Args:
        from_: A dtype, or an array.
        to: A dtype.
        casting: ``"no"``, ``"equiv"``, ``"safe"``, ``"same_kind"`` or ``"unsafe"``.

    Raises:
        DTypeError: An argument names no dtype.

    Example:
        >>> can_cast("int32", "float64"), can_cast("float64", "float32")
        (True, False)
    """
    source = from_.dtype if isinstance(from_, Array) else dtypes.as_dtype(from_, "from_")
    return np.can_cast(source, dtypes.as_dtype(to, "to"), casting=casting)  # type: ignore[arg-type]  # NumPy checks the name


def isscalar(element: Any) -> bool:
    """Whether an object is a number, or an array or NumPy scalar without dimensions.

    Args:
        element: Any object.

    Example:
        >>> isscalar(2.0), isscalar(float32(2)), isscalar([2.0])
        (True, True, False)
    """
    if isinstance(element, Array):
        return not element.ndim
    return bool(np.isscalar(element)) and not isinstance(element, str | bytes)
