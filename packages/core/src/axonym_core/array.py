"""`Array`, the type of every array value, concrete or traced; `ConcreteArray`, the one with data.

`Array` is what users test against (`isinstance(x, Array)`), and what operators and methods are
defined on; tracers derive from it. A `ConcreteArray` is a buffer of some backend, the aval and the
backend that owns the buffer. Arrays are immutable: nothing writes to their buffers.

Packages add methods with `register_method` (the NumPy-like package adds `sum`, `reshape`, …),
so that the core needs to know only operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .avals import AxisName, ShapedArray, aval_of, host_array
from .errors import AxonymError

if TYPE_CHECKING:
    from .backends import Backend
    from .index_updates import IndexedUpdates


class Array:
    """An n-dimensional array of one dtype that may vary over named axes.

    Not constructed directly: `axonym.numpy.asarray` and the functions of the library make arrays.
    Concrete arrays and tracers are both instances.

    Attributes:
        aval: Shape, dtype, weak type and named shape.
    """

    __slots__ = ()
    # Larger than NumPy's: `ndarray + Array` calls our reflected operator.
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]  # equality is element-wise

    aval: ShapedArray

    @property
    def shape(self) -> tuple[int, ...]:
        """Positional shape."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Number of positional dimensions."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """Number of elements (at one index of each named axis)."""
        return self.aval.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.aval.size * self.aval.dtype.itemsize

    @property
    def weak_type(self) -> bool:
        """Whether the dtype yields in promotion, as that of a Python scalar does."""
        return self.aval.weak_type

    @property
    def named_shape(self) -> Mapping[AxisName, int]:
        """Named axes that the value varies over, name to size."""
        return self.aval.named_shape

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("len() of a 0-d array; it has no dimension to count")
        return self.aval.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.aval.shape:
            raise TypeError("iteration over a 0-d array; use .item() or reshape it first")
        return (self[i] for i in range(self.aval.shape[0]))

    def __add__(self, other: Any) -> Array:
        return operators.add(self, other)

    def __radd__(self, other: Any) -> Array:
        return operators.add(other, self)

    def __sub__(self, other: Any) -> Array:
        return operators.subtract(self, other)

    def __rsub__(self, other: Any) -> Array:
        return operators.subtract(other, self)

    def __mul__(self, other: Any) -> Array:
        return operators.multiply(self, other)

    def __rmul__(self, other: Any) -> Array:
        return operators.multiply(other, self)

    def __truediv__(self, other: Any) -> Array:
        return operators.true_divide(self, other)

    def __rtruediv__(self, other: Any) -> Array:
        return operators.true_divide(other, self)

    def __floordiv__(self, other: Any) -> Array:
        return operators.floor_divide(self, other)

    def __rfloordiv__(self, other: Any) -> Array:
        return operators.floor_divide(other, self)

    def __mod__(self, other: Any) -> Array:
        return operators.remainder(self, other)

    def __rmod__(self, other: Any) -> Array:
        return operators.remainder(other, self)

    def __divmod__(self, other: Any) -> tuple[Array, Array]:
        return operators.divide_with_remainder(self, other)

    def __rdivmod__(self, other: Any) -> tuple[Array, Array]:
        return operators.divide_with_remainder(other, self)

    def __pow__(self, other: Any) -> Array:
        return operators.power(self, other)

    def __rpow__(self, other: Any) -> Array:
        return operators.power(other, self)

    def __matmul__(self, other: Any) -> Array:
        return operators.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Array:
        return operators.matmul(other, self)

    def __and__(self, other: Any) -> Array:
        return operators.bitwise_and(self, other)

    def __rand__(self, other: Any) -> Array:
        return operators.bitwise_and(other, self)

    def __or__(self, other: Any) -> Array:
        return operators.bitwise_or(self, other)

    def __ror__(self, other: Any) -> Array:
        return operators.bitwise_or(other, self)

    def __xor__(self, other: Any) -> Array:
        return operators.bitwise_xor(self, other)

    def __rxor__(self, other: Any) -> Array:
        return operators.bitwise_xor(other, self)

    def __lshift__(self, other: Any) -> Array:
        return operators.left_shift(self, other)

    def __rlshift__(self, other: Any) -> Array:
        return operators.left_shift(other, self)

    def __rshift__(self, other: Any) -> Array:
        return operators.right_shift(self, other)

    def __rrshift__(self, other: Any) -> Array:
        return operators.right_shift(other, self)

    def __neg__(self) -> Array:
        return operators.negative(self)

    def __pos__(self) -> Array:
        return self

    def __abs__(self) -> Array:
        return operators.absolute(self)

    def __invert__(self) -> Array:
        return operators.invert(self)

    def __eq__(self, other: Any) -> Any:
        return operators.equal(self, other)

    def __ne__(self, other: Any) -> Any:
        return operators.not_equal(self, other)

    def __lt__(self, other: Any) -> Array:
        return operators.less(self, other)

    def __le__(self, other: Any) -> Array:
        return operators.less_equal(self, other)

    def __gt__(self, other: Any) -> Array:
        return operators.greater(self, other)

    def __ge__(self, other: Any) -> Array:
        return operators.greater_equal(self, other)

    def __getitem__(self, index: Any) -> Array:
        return indexing.getitem(self, index)

    @property
    def at(self) -> IndexedUpdates:
        """Updates of parts, `x.at[index].set(value)` and its kin; each returns a new array."""
        return indexing.updates_of(self)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise TypeError(
            "arrays are immutable; instead of x[index] = value write x = x.at[index].set(value)"
        )

    def __bool__(self) -> bool:
        return bool(conversions.to_scalar(self, "bool"))

    def __int__(self) -> int:
        return int(conversions.to_scalar(self, "int"))

    def __float__(self) -> float:
        return float(conversions.to_scalar(self, "float"))

    def __complex__(self) -> complex:
        return complex(conversions.to_scalar(self, "complex"))

    def __index__(self) -> int:
        return conversions.to_index(self)

    def __round__(self, ndigits: int | None = None) -> Any:
        rounded = round(conversions.to_scalar(self, "round"), ndigits)
        return rounded

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return conversions.to_numpy(self, dtype, copy)

    def item(self, *index: int) -> Any:
        """Return one element as a Python number.

        Args:
            *index: Which one; may be left out where there is just one.
        """
        return conversions.to_numpy(self, None, None).item(*index)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        return conversions.to_numpy(self, None, None).tolist()

    def __format__(self, spec: str) -> str:
        return (
            format(self.item(), spec) if spec and not self.aval.shape else format(str(self), spec)
        )


class ConcreteArray(Array):
    """An array whose data lies in a buffer of a backend. Results may still be being computed."""

    __slots__ = ("__weakref__", "aval", "backend", "buffer")

    aval: ShapedArray
    backend: Backend
    buffer: Any

    def __init__(self, buffer: Any, aval: ShapedArray, backend: Backend) -> None:
        self.buffer = buffer
        self.aval = aval
        self.backend = backend

    def block_until_ready(self) -> ConcreteArray:
        """Wait until the data is there, and return the array."""
        self.backend.block_until_ready(self.buffer)
        return self

    def is_ready(self) -> bool:
        """Whether the data is there."""
        return self.backend.is_ready(self.buffer)

    def delete(self) -> None:
        """Free the buffer now; any later use of the array is an error."""
        self.backend.delete(self.buffer)

    def is_deleted(self) -> bool:
        """Whether the buffer was freed or donated to a compiled function."""
        return self.backend.is_deleted(self.buffer)

    @property
    def device(self) -> Any:
        """The device that holds the data."""
        return self.backend.device_of(self.buffer)

    def devices(self) -> set[Any]:
        """The set of devices that hold the data."""
        return {self.backend.device_of(self.buffer)}

    def __dlpack__(self, **options: Any) -> Any:
        """Export through DLPack, without a copy where the backend allows it."""
        return self.backend.to_dlpack(self.buffer, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's `(device_type, device_id)`."""
        return self.backend.dlpack_device(self.buffer)

    def __copy__(self) -> ConcreteArray:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        """Copy the data: a copy must outlive the donation of the original to a program."""
        from .primitives.elementwise import copy_p  # primitives, on which it rests, import arrays

        return copy_p.bind(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the numbers; the array is restored on the then current backend."""
        return (_restore, (conversions.to_numpy(self, None, True), self.aval.weak_type))

    def __repr__(self) -> str:
        data = np.array2string(
            conversions.to_numpy(self, None, None), separator=", ", prefix="Array("
        )
        weak = ", weak_type=True" if self.aval.weak_type else ""
        return f"Array({data}, dtype={self.aval.dtype.name}{weak})"

    def __str__(self) -> str:
        return str(conversions.to_numpy(self, None, None))


def _restore(value: np.ndarray[Any, Any], weak_type: bool) -> ConcreteArray:
    aval = ShapedArray(value.shape, value.dtype, weak_type)
    return backends.current().from_host(value, aval)


def as_concrete(x: Any) -> ConcreteArray:
    """Put a NumPy array or a number on the current backend; concrete arrays pass.

    The data is copied: later writes to a NumPy array do not show.

    Raises:
        DTypeError: A Python integer does not fit the dtype of Python integers.
    """
    if type(x) is ConcreteArray:
        return x
    aval = aval_of(x)
    return backends.current().from_host(host_array(x, aval.dtype), aval)


def register_method(name: str, method: Callable[..., Any] | property) -> None:
    """Add a method or property to every array (concrete and traced).

    Args:
        name: Attribute name.
        method: Function whose first parameter is the array, or a property.

    Raises:
        AxonymError: The name exists already.
    """
    if name in Array.__dict__:
        raise AxonymError(f"Array has an attribute {name!r} already; register another name")
    setattr(Array, name, method)


# Operators bind primitives, which lie above arrays; they are reached when called.
from . import backends, conversions, indexing, operators  # noqa: E402
