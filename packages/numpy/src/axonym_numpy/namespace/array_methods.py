"""Methods and properties of arrays, registered with the core's `Array` when this is imported.

`x.sum(axis)` is `sum(x, axis)`, and so on: a method has the arguments of its function, in the order
in which NumPy's method has them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from axonym_core import lax
from axonym_core.arrays import Array, register_method
from axonym_core.errors import IndexingError

from ..arguments.operands import concrete_of
from ..creation import matrices
from ..creation.construction import astype, copy
from ..elementwise import complex_numbers, extrema, rounding
from ..joining import concatenation
from ..linear_algebra import products
from ..reductions import cumulative, elementary
from ..selection import sets, sorting, taking
from ..shapes import reshaping
from ..statistics import moments, quantiles

__all__: list[str] = []


def _reshape(self: Array, *shape: Any, order: str = "C", copy: bool | None = None) -> Array:
    """`reshape(self, shape)`; sizes may be given one by one."""
    return reshaping.reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def _transpose(self: Array, *axes: Any) -> Array:
    """`transpose(self, axes)`; dimensions may be given one by one."""
    if not axes or axes == (None,):
        return reshaping.transpose(self)
    one = len(axes) == 1 and not isinstance(axes[0], int)
    return reshaping.transpose(self, axes[0] if one else axes)


def _flatten(self: Array, order: str = "C") -> Array:
    """Flat array of the elements in order."""
    return reshaping.ravel(self, order)


def _astype(self: Array, dtype: Any, *, copy: bool = True, device: Any = None) -> Array:
    """Array converted to another dtype."""
    return astype(self, dtype, copy=copy, device=device)


def _view(self: Array, dtype: Any = None) -> Array:
    """The bits of the array, read as numbers of another dtype."""
    if dtype is None:
        return self
    out = lax.bitcast_convert_type(self, dtype)
    if out.ndim == self.ndim + 1 and self.ndim:
        return lax.reshape(out, (*self.shape[:-1], self.shape[-1] * out.shape[-1]))
    return out


def _clip(self: Array, min: Any = None, max: Any = None, out: None = None) -> Array:
    """`clip(self, min, max)`."""
    return extrema.clip(self, min, max, out)


def _take(
    self: Array,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    **options: Any,
) -> Array:
    """`take(self, indices, axis)`; with NumPy's mode ``raise``, indices are known and checked."""
    if mode == "raise":
        host = concrete_of("take", indices, "use another mode than 'raise'")
        n = self.size if axis is None else self.shape[axis]
        beyond = host[(host < -n) | (host >= n)]
        if beyond.size:
            raise IndexingError(
                f"take: index {beyond[0]} is out of bounds for axis={axis} of {self.aval}, which "
                f"has size {n}"
            )
        mode = None
    return taking.take(self, indices, axis, out, mode, **options)


def _copy(self: Array) -> Array:
    """The same values in a new array."""
    return copy(self)


def _namespace(self: Array, *, api_version: str | None = None) -> ModuleType:
    """The module whose functions take this array: `axonym_numpy`."""
    return sys.modules["axonym_numpy"]


def _property(get: Callable[[Array], Any], doc: str) -> property:
    return property(get, doc=doc)


_METHODS: dict[str, Callable[..., Any]] = {
    "all": elementary.all,
    "any": elementary.any,
    "argmax": elementary.argmax,
    "argmin": elementary.argmin,
    "argpartition": sorting.argpartition,
    "argsort": sorting.argsort,
    "astype": _astype,
    "clip": _clip,
    "conj": complex_numbers.conj,
    "conjugate": complex_numbers.conj,
    "copy": _copy,
    "cumprod": cumulative.cumprod,
    "cumsum": cumulative.cumsum,
    "diagonal": matrices.diagonal,
    "dot": products.dot,
    "flatten": _flatten,
    "max": elementary.max,
    "mean": moments.mean,
    "median": quantiles.median,
    "min": elementary.min,
    "nonzero": sets.nonzero,
    "prod": elementary.prod,
    "ptp": elementary.ptp,
    "ravel": reshaping.ravel,
    "repeat": concatenation.repeat,
    "reshape": _reshape,
    "round": rounding.round,
    "searchsorted": sorting.searchsorted,
    "sort": sorting.sort,
    "squeeze": reshaping.squeeze,
    "std": moments.std,
    "sum": elementary.sum,
    "swapaxes": reshaping.swapaxes,
    "take": _take,
    "trace": matrices.trace,
    "transpose": _transpose,
    "var": moments.var,
    "view": _view,
    "__array_namespace__": _namespace,
}

_PROPERTIES: dict[str, property] = {
    "T": _property(reshaping.transpose, "The array with its dimensions reversed."),
    "mT": _property(
        reshaping.matrix_transpose, "The matrices in the last two dimensions, transposed."
    ),
    "real": _property(complex_numbers.real, "Real part."),
    "imag": _property(complex_numbers.imag, "Imaginary part."),
    "flat": _property(reshaping.ravel, "The elements in order, as a flat array."),
}

for _name, _method in _METHODS.items():
    register_method(_name, _method)
for _name, _get in _PROPERTIES.items():
    register_method(_name, _get)
