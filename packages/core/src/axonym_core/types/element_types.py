"""The element types there are, and how one of them is named.

A dtype is a ``numpy.dtype`` (those of ``ml_dtypes`` included) or an :class:`ExtendedDType`, the
type of elements that are no plain numbers, such as PRNG keys. There is *one object* for each, in
native byte order, and :func:`as_dtype` finds it for whatever names a dtype; what no backend has is
an error there and nowhere else.

    >>> as_dtype("bfloat16"), as_dtype(float), as_dtype(np.float64)
    (dtype(bfloat16), dtype('float32'), dtype('float64'))

Users import these names from :mod:`axonym_core.types.dtypes`.
"""

from __future__ import annotations

import difflib
from typing import Any, Final

import ml_dtypes
import numpy as np

from ..errors import DTypeError
from ..settings.configuration import config

__all__ = [
    "ABSTRACT",
    "COMPLEXES",
    "DTYPES",
    "FLOAT8",
    "FLOATS",
    "INEXACT",
    "INTEGERS",
    "INTERNED",
    "SIGNED",
    "DType",
    "ExtendedDType",
    "as_dtype",
    "bfloat16",
    "bool_",
    "canonicalize",
    "complex64",
    "complex128",
    "default_complex_dtype",
    "default_float_dtype",
    "default_int_dtype",
    "default_uint_dtype",
    "extended",
    "float0",
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
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "prng_key",
    "storage_dtype",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

#: A dtype, for annotations.
DType = np.dtype[Any]


class ExtendedDType:
    """The base of dtypes whose elements are opaque: no plain numbers, such as PRNG keys.

    Arrays of them go wherever elements are only moved (reshaped, indexed, joined, selected, carried
    by loops, mapped over), and compare for equality. Arithmetic refuses them. Backends hold an
    element as one number of the dtype ``storage``, whose bits ``lax.bitcast_convert_type`` gives
    and takes.

    A subclass describes one family of them, has a ``name``, compares and hashes by value, and is
    accepted wherever a dtype is. Its attribute ``type``, if it has one, is a subclass of
    :class:`extended`. Extended dtypes never mix with others in promotion, and their
    tangents are of type :data:`float0`.

    Attributes:
        name: What the dtype is called in printed programs, for example ``key<fry>``.
        storage: Dtype in which backends hold the elements.
        reading: What to do for the numbers in an element, for messages.
    """

    __slots__ = ()

    kind = "V"

    name: str
    storage: DType
    reading: str

    @property
    def itemsize(self) -> int:
        """Number of bytes that one element takes."""
        return self.storage.itemsize

    def shown(self, stored: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The numbers to print for elements; ``stored`` is of the dtype ``storage``."""
        return stored

    def __repr__(self) -> str:
        return self.name


def storage_dtype(dtype: Any) -> DType:
    """The dtype in which backends hold elements of ``dtype``: itself, save for extended ones."""
    return dtype.storage if isinstance(dtype, ExtendedDType) else dtype


class extended(np.generic):
    """The scalar type above every extended dtype, for use with :func:`issubdtype`."""


class prng_key(extended):
    """The scalar type of PRNG keys, for use with :func:`issubdtype`."""


bool_: Final[DType] = np.dtype(np.bool_)
int4: Final[DType] = np.dtype(ml_dtypes.int4)
int8: Final[DType] = np.dtype(np.int8)
int16: Final[DType] = np.dtype(np.int16)
int32: Final[DType] = np.dtype(np.int32)
int64: Final[DType] = np.dtype(np.int64)
uint4: Final[DType] = np.dtype(ml_dtypes.uint4)
uint8: Final[DType] = np.dtype(np.uint8)
uint16: Final[DType] = np.dtype(np.uint16)
uint32: Final[DType] = np.dtype(np.uint32)
uint64: Final[DType] = np.dtype(np.uint64)
float8_e3m4: Final[DType] = np.dtype(ml_dtypes.float8_e3m4)
float8_e4m3: Final[DType] = np.dtype(ml_dtypes.float8_e4m3)
float8_e4m3b11fnuz: Final[DType] = np.dtype(ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fn: Final[DType] = np.dtype(ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz: Final[DType] = np.dtype(ml_dtypes.float8_e4m3fnuz)
float8_e5m2: Final[DType] = np.dtype(ml_dtypes.float8_e5m2)
float8_e5m2fnuz: Final[DType] = np.dtype(ml_dtypes.float8_e5m2fnuz)
float8_e8m0fnu: Final[DType] = np.dtype(ml_dtypes.float8_e8m0fnu)
bfloat16: Final[DType] = np.dtype(ml_dtypes.bfloat16)
float16: Final[DType] = np.dtype(np.float16)
float32: Final[DType] = np.dtype(np.float32)
float64: Final[DType] = np.dtype(np.float64)
complex64: Final[DType] = np.dtype(np.complex64)
complex128: Final[DType] = np.dtype(np.complex128)

#: The dtype of the tangents of values that cannot vary smoothly: it has one value and no bytes.
float0: Final[DType] = np.dtype([("float0", np.void, 0)])

FLOAT8: Final = frozenset(
    (
        float8_e3m4,
        float8_e4m3,
        float8_e4m3b11fnuz,
        float8_e4m3fn,
        float8_e4m3fnuz,
        float8_e5m2,
        float8_e5m2fnuz,
        float8_e8m0fnu,
    )
)
#: The signed integers.
SIGNED: Final = frozenset((int4, int8, int16, int32, int64))
#: The integers, signed and unsigned.
INTEGERS: Final = SIGNED | {uint4, uint8, uint16, uint32, uint64}
#: The real floating-point numbers.
FLOATS: Final = FLOAT8 | {bfloat16, float16, float32, float64}
#: The complex numbers.
COMPLEXES: Final = frozenset((complex64, complex128))
#: The real and the complex floating-point numbers: what can be differentiated.
INEXACT: Final = FLOATS | COMPLEXES

#: Every dtype of numbers, by name and in alphabetical order.
DTYPES: Final = {
    dtype.name: dtype for dtype in sorted({bool_} | INTEGERS | INEXACT, key=lambda d: d.name)
}

#: The one object for each dtype: NumPy may have several that are equal, as ``longlong`` may be.
INTERNED: Final[dict[Any, DType]] = {dtype: dtype for dtype in (*DTYPES.values(), float0)}

_names: Final = {**DTYPES, "float0": float0, "bool_": bool_}

_FLOAT_OF_BITS: Final = {32: float32, 64: float64}
_COMPLEX_OF_BITS: Final = {32: complex64, 64: complex128}
_INT_OF_BITS: Final = {32: int32, 64: int64}
_UINT_OF_BITS: Final = {32: uint32, 64: uint64}


def default_float_dtype() -> DType:
    """The floating-point dtype used where none was asked for: float32 unless configured.

    Example:
        >>> default_float_dtype()
        dtype('float32')
    """
    return _FLOAT_OF_BITS[config.default_float_bits]


def default_complex_dtype() -> DType:
    """The complex dtype used where none was asked for: complex64 unless configured.

    Example:
        >>> default_complex_dtype()
        dtype('complex64')
    """
    return _COMPLEX_OF_BITS[config.default_float_bits]


def default_int_dtype() -> DType:
    """The signed integer dtype used where none was asked for: int32 unless configured.

    Example:
        >>> default_int_dtype()
        dtype('int32')
    """
    return _INT_OF_BITS[config.default_int_bits]


def default_uint_dtype() -> DType:
    """The unsigned integer dtype used where none was asked for: uint32 unless configured.

    Example:
        >>> default_uint_dtype()
        dtype('uint32')
    """
    return _UINT_OF_BITS[config.default_int_bits]


#: Scalar types that stand for a kind of dtypes and for no dtype. NumPy takes some as float64.
ABSTRACT: Final[frozenset[type]] = frozenset(
    (
        np.generic,
        np.number,
        np.integer,
        np.signedinteger,
        np.unsignedinteger,
        np.inexact,
        np.floating,
        np.complexfloating,
        np.flexible,
        np.character,
        extended,
        prng_key,
    )
)

# Python's own types, by type and by name, stand for the default dtype of their kind.
_PYTHON_TYPES: Final = {
    bool: lambda: bool_,
    int: default_int_dtype,
    float: default_float_dtype,
    complex: default_complex_dtype,
}
_PYTHON_NAMES: Final = {kind.__name__: kind for kind in _PYTHON_TYPES}


def as_dtype(x: Any, name: str = "dtype") -> DType:
    """Return the dtype that ``x`` names.

    Args:
        x: A dtype; a NumPy or ``ml_dtypes`` scalar type; a name such as ``"bfloat16"`` or
            ``"f4"``; one of Python's ``bool``, ``int``, ``float``, ``complex`` (or their names),
            which stand for the default dtype of their kind; or a class with an attribute
            ``dtype``.
        name: The argument's name, for the error message.

    Returns:
        The one object for that dtype, in native byte order. An :class:`ExtendedDType` is returned
        as it is.

    Raises:
        DTypeError: If there is no such dtype, or it is one that no backend has.

    Example:
        >>> as_dtype("bfloat16"), as_dtype(float), as_dtype(np.float64), as_dtype(">i2")
        (dtype(bfloat16), dtype('float32'), dtype('float64'), dtype('int16'))
    """
    if isinstance(x, np.dtype):
        found = INTERNED.get(x)
        return found if found is not None else _as_native(x, x, name)
    if isinstance(x, str):
        found = _names.get(x)
        if found is not None:
            return found
        x = _PYTHON_NAMES.get(x, x)
    elif isinstance(x, ExtendedDType):
        return x  # type: ignore[return-value]  # rules see it through the interface of np.dtype
    if isinstance(x, type):
        default = _PYTHON_TYPES.get(x)
        if default is not None:
            return default()
        if x in ABSTRACT:
            raise DTypeError(
                f"{name}={x.__name__} is a kind of dtypes and no dtype; name one of that kind, "
                "such as 'float32' for floating."
            )
    elif not isinstance(x, str):
        raise DTypeError(_not_a_dtype(x, name))
    own = getattr(x, "dtype", None)
    if isinstance(own, np.dtype):
        return as_dtype(own, name)
    try:
        dtype = np.dtype(x)
    except (TypeError, ValueError, SyntaxError):
        raise DTypeError(_not_a_dtype(x, name)) from None
    found = INTERNED.get(dtype)
    return found if found is not None else _as_native(dtype, x, name)


#: The same as :func:`as_dtype`: nothing is narrowed on the way.
canonicalize = as_dtype


def _as_native(dtype: DType, given: object, name: str) -> DType:
    """Swap the bytes of a supported dtype, or say why the dtype is not supported."""
    found = INTERNED.get(dtype.newbyteorder("="))
    if found is not None:
        return found
    if dtype.kind == "f" or dtype.kind == "c":
        cure = f"the widest is {'float64' if dtype.kind == 'f' else 'complex128'!r}"
    elif dtype.kind in "OSUTmM":
        cure = "arrays hold booleans and numbers only; encode the values as numbers first"
    elif dtype.names is not None:
        cure = "use one array per field, for example in a dictionary or a dataclass"
    else:
        cure = f"supported are {', '.join(DTYPES)}"
    spelt = repr(given) if isinstance(given, str) else str(dtype)
    raise DTypeError(f"{name}={spelt} is not supported: {cure}.")


def _not_a_dtype(x: object, name: str) -> str:
    if isinstance(x, str):
        near = difflib.get_close_matches(x.lower(), [*_names, *_PYTHON_NAMES], n=1)
        cure = f"did you mean {near[0]!r}?" if near else f"supported are {', '.join(DTYPES)}."
        return f"{name}={x!r} is not a dtype; {cure}"
    if x is None:
        return f"{name}=None names no dtype; give one, such as 'float32'."
    shape = getattr(x, "shape", None)
    if not isinstance(x, type) and shape is not None and hasattr(x, "dtype"):
        return (
            f"{name} must name a dtype; got an array of shape {shape}. "
            f"Pass the array's own attribute: {name}=x.dtype."
        )
    text = repr(x)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return (
        f"{name} must name a dtype; got {text} of type {type(x).__name__}. "
        "Give a dtype, a scalar type or a name, such as 'float32'."
    )
