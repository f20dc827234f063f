"""`Array`, the type of every array value, concrete or traced; `ConcreteArray`, the one with data.

`Array` is what users test against (`isinstance(x, Array)`), and what operators and methods are
defined on; tracers derive from it. A `ConcreteArray` is a buffer of some backend, the aval and the
backend that owns the buffer. Arrays are immutable: nothing writes to their buffers.

Arrays know nothing of what is done with them. Operators and indexing are set by `operators` and
`indexing`, which bind primitives; packages add methods with `register_method` (the NumPy-like one
adds `sum`, `reshape`, …).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError, AxonymError, DTypeError
from ..types import dtypes
from ..types.avals import AxisName, ShapedArray, aval_of, host_array
from . import backends

if TYPE_CHECKING:
    from ..indexing.updates import IndexedUpdates

Need = Literal["array", "bool", "complex", "float", "index", "int", "round"]
"""What numbers may be needed for."""


_METHODS: Final = "axonym_numpy"
"""The package that adds the methods of NumPy's arrays."""


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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: the classes of arrays with data and of tracers say how they are made."""
        raise ArgumentTypeError(
            f"{type(self).__name__} is not constructed directly; make an array with "
            "axonym.numpy.asarray"
        )

    def __getattr__(self, name: str) -> Any:
        """Called for a name that is missing: methods come with a package, imported when needed."""
        if not name.startswith("_") or name == "__array_namespace__":
            if _METHODS in sys.modules or find_spec(_METHODS) is not None:
                import_module(_METHODS)  # waits where another thread imports it
                return object.__getattribute__(self, name)
            raise AttributeError(
                f"an array has no attribute {name!r} here: the methods of NumPy's arrays come with "
                "the package axonym-numpy, which is not installed (pip install axonym-numpy)"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

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
            raise ArgumentTypeError("len() of a 0-d array; it has no dimension to count")
        return self.aval.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.aval.shape:
            raise ArgumentTypeError("iteration over a 0-d array; use .item() or reshape it first")
        return (self[i] for i in range(self.aval.shape[0]))

    if TYPE_CHECKING:  # set from above, by `operators` and `indexing`, which rest on arrays

        def __add__(self, other: Any) -> Array: ...
        def __radd__(self, other: Any) -> Array: ...
        def __sub__(self, other: Any) -> Array: ...
        def __rsub__(self, other: Any) -> Array: ...
        def __mul__(self, other: Any) -> Array: ...
        def __rmul__(self, other: Any) -> Array: ...
        def __truediv__(self, other: Any) -> Array: ...
        def __rtruediv__(self, other: Any) -> Array: ...
        def __floordiv__(self, other: Any) -> Array: ...
        def __rfloordiv__(self, other: Any) -> Array: ...
        def __mod__(self, other: Any) -> Array: ...
        def __rmod__(self, other: Any) -> Array: ...
        def __divmod__(self, other: Any) -> tuple[Array, Array]: ...
        def __rdivmod__(self, other: Any) -> tuple[Array, Array]: ...
        def __pow__(self, other: Any) -> Array: ...
        def __rpow__(self, other: Any) -> Array: ...
        def __matmul__(self, other: Any) -> Array: ...
        def __rmatmul__(self, other: Any) -> Array: ...
        def __and__(self, other: Any) -> Array: ...
        def __rand__(self, other: Any) -> Array: ...
        def __or__(self, other: Any) -> Array: ...
        def __ror__(self, other: Any) -> Array: ...
        def __xor__(self, other: Any) -> Array: ...
        def __rxor__(self, other: Any) -> Array: ...
        def __lshift__(self, other: Any) -> Array: ...
        def __rlshift__(self, other: Any) -> Array: ...
        def __rshift__(self, other: Any) -> Array: ...
        def __rrshift__(self, other: Any) -> Array: ...
        def __neg__(self) -> Array: ...
        def __pos__(self) -> Array: ...
        def __abs__(self) -> Array: ...
        def __invert__(self) -> Array: ...
        def __eq__(self, other: Any) -> Any: ...
        def __ne__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> Array: ...
        def __le__(self, other: Any) -> Array: ...
        def __gt__(self, other: Any) -> Array: ...
        def __ge__(self, other: Any) -> Array: ...
        def __getitem__(self, index: Any) -> Array: ...
        @property
        def at(self) -> IndexedUpdates:
            """Updates of parts; see `axonym_core.indexing`."""

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise ArgumentTypeError(
            "arrays are immutable; instead of x[index] = value write x = x.at[index].set(value)"
        )

    def _host(self, needed: Need) -> np.ndarray[Any, Any]:
        """Data on the host, as a read-only view where possible; waits for it.

        Raises:
            ConcretizationError: There is none; the message says what it was `needed` for.
        """
        raise ArgumentTypeError(f"{type(self).__name__} has no data")

    def _scalar(self, needed: Need) -> Any:
        """The one element, as a NumPy scalar."""
        host = self._host(needed)
        if host.size == 1:
            return host.reshape(())[()]
        if needed == "bool":
            raise ArgumentValueError(
                f"the truth value of an array of shape {host.shape} is ambiguous; use .any() or "
                ".all()"
            )
        raise ArgumentTypeError(f"{needed}() needs an array of one element, got shape {host.shape}")

    def __bool__(self) -> bool:
        return bool(self._scalar("bool"))

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        host = self._host("index")
        if host.ndim != 0 or host.dtype.kind not in "iu":
            raise ArgumentTypeError(
                f"only 0-d integer arrays can be used as an index, got {self.aval}"
            )
        return int(host[()])

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self._scalar("round"), ndigits)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        host = self._host("array")
        if dtype is not None and np.dtype(dtype) != host.dtype:
            if copy is False:
                raise ArgumentValueError(
                    f"converting {host.dtype} to {np.dtype(dtype)} needs a copy; copy=False"
                )
            return host.astype(dtype)
        return host.copy() if copy else host

    def item(self, *index: int) -> Any:
        """Return one element as a Python number.

        Args:
            *index: Which one; may be left out where there is just one.
        """
        return self._host("array").item(*index)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        return self._host("array").tolist()

    def __format__(self, spec: str) -> str:
        return (
            format(self.item(), spec) if spec and not self.aval.shape else format(str(self), spec)
        )


class ConcreteArray(Array):
    """An array whose data lies in a buffer of a backend. Results may still be being computed."""

    __slots__ = ("__weakref__", "aval", "backend", "buffer")

    aval: ShapedArray
    backend: backends.Backend
    buffer: Any

    def __init__(self, buffer: Any, aval: ShapedArray, backend: backends.Backend) -> None:
        self.buffer = buffer
        self.aval = aval
        self.backend = backend

    def _host(self, needed: Need) -> np.ndarray[Any, Any]:
        dtype: Any = self.aval.dtype
        if dtypes.is_extended(dtype):
            raise DTypeError(
                f"the elements of an array of type {self.aval} are no numbers; {dtype.reading}"
            )
        return self.backend.to_host(self.buffer)

    def block_until_ready(self) -> ConcreteArray:
        """Wait until the data is there, and return the array."""
        self.backend.block_until_ready(self.buffer)
        return self

    def is_ready(self) -> bool:
        """Whether the data is there."""
        return self.backend.is_ready(self.buffer)

    def delete(self) -> None:
        """Give up the data; any later use of the array is an error.

        The memory is freed as soon as nothing else uses it, such as another thread, a NumPy array
        that shares it, or a compiled function that refers to the array.
        """
        self.buffer = self.backend.give_up(self.buffer)

    def is_deleted(self) -> bool:
        """Whether the data was given up, or donated to a compiled function."""
        return self.backend.is_deleted(self.buffer)

    @property
    def device(self) -> Any:
        """The device that holds the data."""
        return self.backend.device_of(self.buffer)

    def devices(self) -> set[Any]:
        """The set of devices that hold the data."""
        return {self.backend.device_of(self.buffer)}

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export through DLPack; the receiver must not write to the data.

        Args:
            stream: None: devices have no streams that a receiver could choose.
            max_version: The newest version of the protocol that the receiver knows.
            dl_device: The device on which the receiver wants the data; None for where it is.
            copy: Whether the data is copied; None: where it cannot be shared.

        Raises:
            ExportError: The array cannot be handed over in this way.
        """
        return self.backend.to_dlpack(
            self.buffer, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's `(device_type, device_id)`."""
        return self.backend.dlpack_device(self.buffer)

    def __copy__(self) -> ConcreteArray:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ConcreteArray:
        """Copy the data: a copy must outlive the donation of the original to a program."""
        return self.backend.from_host(self.backend.to_host(self.buffer), self.aval, self.device)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the numbers; the array is restored on the then current backend."""
        return (_restore, (self.backend.to_host(self.buffer).copy(), self.aval))

    def __repr__(self) -> str:
        data = np.array2string(self._shown(), separator=", ", prefix="Array(")
        shape = f", shape={self.shape}" if dtypes.is_extended(self.aval.dtype) else ""
        weak = ", weak_type=True" if self.aval.weak_type else ""
        return f"Array({data}{shape}, dtype={self.aval.dtype.name}{weak})"

    def __str__(self) -> str:
        return str(self._shown())

    def _shown(self) -> np.ndarray[Any, Any]:
        """The numbers to print."""
        stored = self.backend.to_host(self.buffer)
        dtype: Any = self.aval.dtype
        return dtype.shown(stored) if dtypes.is_extended(dtype) else stored


def _restore(stored: np.ndarray[Any, Any], aval: ShapedArray) -> ConcreteArray:
    return backends.current().from_host(stored, aval)


def is_frozen(x: Any) -> bool:
    """Whether nobody can change a value: it is no NumPy array, or one that is not writeable.

    Example:
        >>> is_frozen(np.ones(3)), is_frozen(np.frombuffer(b"abc", "u1")), is_frozen(1.0)
        (False, True, True)
    """
    while isinstance(x, np.ndarray):
        if x.flags.writeable or not isinstance(x.base, np.ndarray | bytes | None):
            return False
        x = x.base
    return True


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
