"""Abstract values: what is known of an array before it is computed.

A `ShapedArray` says shape, dtype, weakness of the dtype, and the *named shape*: over which named
axes the value varies (`docs/named_axes.md`). Avals are interned: equal avals are one object, so
that comparing and hashing them costs one pointer comparison. Shape-rule caches, jit caches and
type checks all rest on that.

    >>> ShapedArray((3, 4), np.dtype("float32"), named_shape={"batch": 8})
    f32[3,4;batch:8]
"""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Iterable, Mapping
from numbers import Real
from types import MappingProxyType
from typing import Any, final

import numpy as np

from ..errors import ArgumentTypeError, AxisNameError, AxonymError, IntegerRangeError, ShapeError
from ..settings.caches import Interned, register_key
from . import dtypes

AxisName = Hashable
Shape = tuple[int, ...]
NamedEntries = tuple[tuple[AxisName, int], ...]

_interned: Interned[ShapedArray] = Interned()
_find = _interned.find

_NUMBERS = frozenset((dtypes.int64, dtypes.float64, dtypes.complex128))
_LARGEST = 2**63 - 1

# Two elements share a byte, so compilers count their bits.
_PACKED = frozenset({dtypes.int4, dtypes.uint4})

_KIND = {"f": "f", "c": "c", "i": "i", "u": "u"}


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Short name of a dtype as it is printed in avals: `f32`, `i8`, `bool`, `bf16`."""
    if dtype.kind in _KIND:
        return f"{_KIND[dtype.kind]}{dtype.itemsize * 8}"
    if dtype == np.bool_:
        return "bool"
    name = dtype.name
    return {"bfloat16": "bf16", "int4": "i4", "uint4": "u4"}.get(name, name.replace("float", "f"))


def _printed(name: AxisName) -> str:
    return name if isinstance(name, str) and name.isidentifier() else repr(name)


def as_integer(value: Any, what: str) -> int:
    """Python integer of an integer of Python or NumPy, or of a concrete 0-d array of integers.

    Args:
        value: The integer.
        what: What it is, to begin the message with.

    Raises:
        ArgumentTypeError: It is no integer.

    Example:
        >>> as_integer(np.int64(3), "axis_size")
        3
    """
    try:
        return int(operator.index(value))
    except TypeError as error:
        if isinstance(error, AxonymError):  # a traced value, which says so itself
            raise
        raise ArgumentTypeError(
            f"{what} must be an integer, got {value!r} of type {type(value).__name__}; "
            "convert it with int()"
        ) from None


def as_size(value: Any, what: str) -> int:
    """Size of a dimension or of an axis as a Python integer.

    Raises:
        ArgumentTypeError: It is no integer.
        ShapeError: It is negative.
    """
    size = value if type(value) is int else as_integer(value, what)
    if size < 0:
        raise ShapeError(f"{what} is {size}, a negative dimension; sizes are 0 or more")
    return size


def as_sizes(shape: Iterable[Any], what: str) -> Shape:
    """Shape as a tuple of Python integers, from a sequence of integers.

    Raises:
        ArgumentTypeError: It is no sequence of integers.
        ShapeError: A size is negative.
    """
    try:
        entries = tuple(shape)
    except TypeError:
        raise ArgumentTypeError(
            f"{what} must be a tuple of integers, got {shape!r} of type {type(shape).__name__}"
        ) from None
    return tuple([as_size(d, f"{what}[{i}]") for i, d in enumerate(entries)])


def _order(name: Any) -> tuple[Any, ...]:
    """Sorting key of axis names: strings by value, then numbers by value, then by type and text.

    Equal names have equal keys, whatever their types.
    """
    if isinstance(name, str):
        return (0, str(name))
    if isinstance(name, Real):
        return (1, name)
    return (2, type(name).__qualname__, repr(name), hash(name))


def _sorted(named_shape: Mapping[AxisName, int]) -> NamedEntries:
    return tuple(sorted(named_shape.items(), key=lambda item: _order(item[0])))


def named_entries(
    named_shape: Mapping[AxisName, int] | Iterable[tuple[AxisName, int]],
) -> NamedEntries:
    """Named shape in its one form: pairs of name and size, in the order of the names.

    Strings come first, by their value, then numbers by theirs, then other names by their type and
    text; the order in which they were given plays no part.

    Raises:
        ArgumentTypeError: It is neither a mapping nor pairs, or a size is no integer.
        AxisNameError: A name is not hashable or occurs twice, or a size is negative.

    Example:
        >>> named_entries({"b": 2, 1: 3, "a": 4})
        (('a', 4), ('b', 2), (1, 3))
    """
    items = named_shape.items() if isinstance(named_shape, Mapping) else named_shape
    found: dict[AxisName, int] = {}
    try:
        pairs = [(name, size) for name, size in items]
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"named_shape must be a dict of axis name to size, got {named_shape!r}"
        ) from None
    for name, size in pairs:
        try:
            if name in found:
                raise AxisNameError(f"named_shape {pairs} has axis {name!r} twice; list it once")
        except TypeError:
            raise AxisNameError(f"axis name {name!r} is not hashable; use a string") from None
        found[name] = as_size(size, f"the size of axis {name!r}")
    return _sorted(found)


@final
class ShapedArray:
    """Shape, dtype, weak type and named axes of a value. Interned and immutable.

    Attributes:
        shape: The positional shape.
        dtype: The element type.
        weak_type: Whether the dtype yields in promotion, as a Python scalar's does.
        named: The named axes as a sorted tuple of `(name, size)`.
        names: The names alone, as a frozenset.
        ndim: Number of positional dimensions.
        size: Number of elements, named axes not counted.
        is_number: Whether it is the type of Python's numbers, 0-d, weak and of 64 bits: a number
            that has not been rounded to the dtype of an array beside it, or to the default one.
    """

    __slots__ = (
        "__weakref__",
        "dtype",
        "is_number",
        "named",
        "names",
        "ndim",
        "shape",
        "size",
        "weak_type",
    )

    shape: Shape
    dtype: np.dtype[Any]
    weak_type: bool
    named: NamedEntries
    names: frozenset[AxisName]
    ndim: int
    size: int
    is_number: bool

    def __new__(
        cls,
        shape: Iterable[int],
        dtype: Any,
        weak_type: bool = False,
        named_shape: Mapping[AxisName, int] | NamedEntries = (),
    ) -> ShapedArray:
        """Return the one aval with these properties.

        Raises:
            ArgumentTypeError: A size is no integer, or `weak_type` no `bool`.
            ShapeError: A size is negative, or the array would be of 2**63 bytes or more.
            AxisNameError: A named axis occurs twice.
            DTypeError: There is no such dtype.
        """
        if type(shape) is not tuple:
            shape = as_sizes(shape, "shape")
        if type(named_shape) is not tuple:
            named_shape = named_entries(named_shape)
        if not isinstance(dtype, np.dtype):
            dtype = dtypes.as_dtype(dtype)
        try:
            reference = _find((shape, dtype, weak_type, named_shape))
        except TypeError:  # something in it is not hashable: the checks say what
            reference = None
        found: ShapedArray | None = None if reference is None else reference()
        # What merely equals an integer (True, 8.0) finds the same aval, and is refused all the
        # same: whether it is must not depend on what was made before.
        if found is not None and found.weak_type is weak_type:
            for d in shape:
                if type(d) is not int:
                    break
            else:
                if not named_shape or all([type(size) is int for _, size in named_shape]):
                    return found
        return _intern(
            as_sizes(shape, "shape"), dtype, _as_bool(weak_type), named_entries(named_shape)
        )

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: avals are shared by everything that has this type."""
        raise AttributeError(f"ShapedArray is immutable; use update({name}=...) for a changed one")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle through the constructor, so that unpickled avals are interned too."""
        return (ShapedArray, (self.shape, self.dtype, self.weak_type, self.named))

    @property
    def named_shape(self) -> Mapping[AxisName, int]:
        """Named axes that the value varies over, as a read-only mapping of name to size."""
        return MappingProxyType(dict(self.named))

    def update(
        self,
        *,
        shape: Shape | None = None,
        dtype: Any = None,
        weak_type: bool | None = None,
        named_shape: Mapping[AxisName, int] | NamedEntries | None = None,
    ) -> ShapedArray:
        """Return the aval that differs in the given properties."""
        return ShapedArray(
            self.shape if shape is None else shape,
            self.dtype if dtype is None else dtype,
            self.weak_type if weak_type is None else weak_type,
            self.named if named_shape is None else named_shape,
        )

    def strip_weak_type(self) -> ShapedArray:
        """Return the aval with a strong dtype."""
        return self.update(weak_type=False) if self.weak_type else self

    def to_tangent(self) -> ShapedArray:
        """Return the aval of tangents: the same shape and names, dtype `float0` for integers."""
        tangent = dtypes.tangent_dtype(self.dtype)
        return self if tangent == self.dtype else self.update(dtype=tangent, weak_type=False)

    def without_axis(self, name: AxisName) -> ShapedArray:
        """Return the aval with one named axis dropped (itself where it has none of that name)."""
        if name not in self.names:
            return self
        return self.update(named_shape=tuple(e for e in self.named if e[0] != name))

    def str_short(self) -> str:
        """Return the printed form, as in `f32[3,4;batch:8]`."""
        dims = ",".join(map(str, self.shape))
        names = ",".join(f"{_printed(n)}:{s}" for n, s in self.named)
        return f"{dtype_name(self.dtype)}[{dims}{';' + names if names else ''}]"

    def __repr__(self) -> str:
        return ("~" if self.weak_type else "") + self.str_short()


register_key(ShapedArray, None)  # there is one for each key already


def _as_bool(weak_type: Any) -> bool:
    if not isinstance(weak_type, bool | np.bool_):
        raise ArgumentTypeError(f"weak_type must be True or False, got {weak_type!r}")
    return bool(weak_type)


def _intern(
    shape: Shape, dtype: np.dtype[Any], weak_type: bool, named_shape: NamedEntries
) -> ShapedArray:
    """The one aval with these properties, which are checked and in their one form."""
    self = object.__new__(ShapedArray)
    # Compilers and NumPy count in 64 bits, also where a dimension of size 0 leaves nothing of it.
    width, unit = (4, "bits") if dtype in _PACKED else (max(dtype.itemsize, 1), "bytes")
    span = width * math.prod([d for d in shape if d])
    if span > _LARGEST:
        raise ShapeError(
            f"an array of shape {shape} and dtype {dtype_name(dtype)} would span {span} {unit}, "
            f"and none can span more than {_LARGEST} (2**63 - 1); use smaller dimensions"
        )
    size = math.prod(shape)
    for slot, value in (
        ("shape", shape),
        ("dtype", dtype),
        ("weak_type", weak_type),
        ("named", named_shape),
        ("names", frozenset(name for name, _ in named_shape)),
        ("ndim", len(shape)),
        ("size", size),
        ("is_number", weak_type and not shape and dtype in _NUMBERS),
    ):
        object.__setattr__(self, slot, value)
    return _interned.first((shape, dtype, weak_type, named_shape), self)


def join_named(a: NamedEntries, b: NamedEntries) -> NamedEntries:
    """Union of two named shapes; sizes of a common name must agree."""
    if a == b or not b:
        return a
    if not a:
        return b
    joined = dict(a)
    for name, size in b:
        if joined.setdefault(name, size) != size:
            raise AxisNameError(
                f"named axis {name!r} has size {joined[name]} in one operand and {size} in "
                "another; a value of another mapping with the same axis name was captured. "
                "Pass it as an argument, or rename one of the axes"
            )
    return _sorted(joined)


def join_all_named(avals: Iterable[ShapedArray]) -> NamedEntries:
    """Union of the named shapes of several avals."""
    named: NamedEntries = ()
    for aval in avals:
        if aval.named:
            named = join_named(named, aval.named)
    return named


class ShapeDtypeStruct:
    """Shape and dtype (and named axes) of an array that need not exist.

    Stands for an array wherever only its type is wanted: `make_jaxpr`, `eval_shape`,
    `linear_transpose`, `jit(f).lower`.

    Args:
        shape: Positional shape.
        dtype: Element type.
        named_shape: Named axes that the value varies over, name to size.
        weak_type: Whether the dtype is weak.

    Raises:
        ArgumentTypeError: A size is no integer, or `weak_type` no `bool`.
        ShapeError: A size is negative.
        AxisNameError: A named axis occurs twice.
        DTypeError: There is no such dtype.

    Example:
        >>> ShapeDtypeStruct((2, 3), "float32")
        ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("_aval",)

    _aval: ShapedArray

    def __init__(
        self,
        shape: Iterable[int],
        dtype: Any,
        *,
        named_shape: Mapping[AxisName, int] | NamedEntries = (),
        weak_type: bool = False,
    ) -> None:
        self._aval = ShapedArray(
            as_sizes(shape, "shape"), dtypes.as_dtype(dtype), _as_bool(weak_type), named_shape
        )

    shape = property(lambda self: self._aval.shape, doc="Positional shape.")
    dtype = property(lambda self: self._aval.dtype, doc="Element type.")
    ndim = property(lambda self: self._aval.ndim, doc="Number of positional dimensions.")
    size = property(lambda self: self._aval.size, doc="Number of elements.")
    named_shape = property(lambda self: self._aval.named_shape, doc="Named axes, name to size.")
    weak_type = property(lambda self: self._aval.weak_type, doc="Whether the dtype is weak.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self._aval is other._aval

    def __hash__(self) -> int:
        return hash(self._aval)

    def __repr__(self) -> str:
        named = f", named_shape={dict(self._aval.named)}" if self._aval.named else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{named})"


_scalar_avals: dict[type, ShapedArray] = {
    # A Python bool is as strong as np.bool_: there is only one boolean dtype.
    bool: ShapedArray((), dtypes.bool_),
    int: ShapedArray((), dtypes.int64, True),
    float: ShapedArray((), dtypes.float64, True),
    complex: ShapedArray((), dtypes.complex128, True),
}
_generic_avals: dict[np.dtype[Any], ShapedArray] = {}


def scalar_aval(kind: type) -> ShapedArray:
    """Weakly typed 0-d aval of a Python scalar type: with all its bits."""
    return _scalar_avals[kind]


def aval_of(x: Any) -> ShapedArray:
    """Aval of an array, tracer, NumPy array or scalar, Python scalar, or another library's array.

    Raises:
        TypeError: `x` is none of these, or a masked array.
    """
    aval = getattr(x, "aval", None)
    if type(aval) is ShapedArray:
        return aval
    if isinstance(x, np.generic):
        dtype = x.dtype
        found = _generic_avals.get(dtype)
        if found is None:
            found = _generic_avals[dtype] = ShapedArray((), dtypes.as_dtype(dtype))
        return found
    if isinstance(x, np.ndarray):
        if type(x) is not np.ndarray and isinstance(x, np.ma.MaskedArray):
            raise ArgumentTypeError(
                f"a masked array of shape {x.shape} would lose its mask; fill what it hides, "
                "x.filled(0), and pass the mask as where=~x.mask"
            )
        return ShapedArray(x.shape, dtypes.as_dtype(x.dtype))
    found = _scalar_avals.get(type(x))
    if found is not None:
        return found
    if isinstance(x, bool | int | float | complex):
        base = next(k for k in (bool, int, float, complex) if isinstance(x, k))
        return scalar_aval(base)
    return aval_of(array_of_other_library(x))


def type_of(x: Any) -> ShapedArray:
    """Aval of an array, as `aval_of`, or of a `ShapeDtypeStruct`, where only the type is wanted."""
    return x._aval if isinstance(x, ShapeDtypeStruct) else aval_of(x)


def is_of_other_library(x: Any) -> bool:
    """Whether `x` is an array of another library, one with `__array__` or `__dlpack__`."""
    kind = type(x)
    return kind is not type and (hasattr(kind, "__array__") or hasattr(kind, "__dlpack__"))


def array_of_other_library(x: Any) -> np.ndarray[Any, Any]:
    """NumPy array of an array of another library (`jax`, `torch`, …), without a copy if possible.

    Raises:
        ArgumentTypeError: It is no array, or one that NumPy cannot read.
    """
    if not is_of_other_library(x):
        raise ArgumentTypeError(
            f"expected an array or a number, got {type(x).__name__}: {_shortened(x)}; "
            "convert it first, for example with axonym.numpy.asarray"
        )
    try:
        array = np.asarray(x) if hasattr(type(x), "__array__") else np.from_dlpack(x)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise ArgumentTypeError(
            f"an array of type {type(x).__name__} of another library could not be read: {error}; "
            "give a NumPy array of it"
        ) from error
    return array


def as_host(x: Any) -> Any:
    """The NumPy array of an array of another library; anything else passes."""
    if isinstance(x, np.ndarray | np.generic) or type(getattr(x, "aval", None)) is ShapedArray:
        return x
    return array_of_other_library(x) if is_of_other_library(x) else x


def _shortened(x: Any) -> str:
    text = repr(x)
    return text if len(text) <= 80 else text[:77] + "..."


def host_array(x: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """NumPy array of a NumPy array or a number, in the dtype of its aval.

    Raises:
        IntegerRangeError: A Python integer is out of the dtype's range.

    Example:
        >>> host_array(3, aval_of(3).dtype)
        array(3)
    """
    if not isinstance(x, np.ndarray | np.generic | bool | int | float | complex):
        x = array_of_other_library(x)
    try:
        return np.asarray(x, dtype)
    except OverflowError:
        raise IntegerRangeError(
            f"the integer {x} does not fit {dtype}, the dtype of Python integers here; make it an "
            "array with a dtype of its own, for example with numpy.uint64, or a float"
        ) from None
