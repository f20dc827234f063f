"""What the array API wants to know of a namespace: its dtypes, devices and capabilities."""

from __future__ import annotations

from typing import Any, final

from axonym_core.arrays import backends
from axonym_core.types import dtypes

from ..creation.dtype_names import isdtype

__all__ = ["__array_api_version__", "__array_namespace_info__"]

__array_api_version__ = "2024.12"

_STANDARD = ("bool", *[f"{k}{n}" for k in ("int", "uint") for n in (8, 16, 32, 64)])
_STANDARD = (*_STANDARD, "float32", "float64", "complex64", "complex128")


@final
class NamespaceInfo:
    """Answers of `__array_namespace_info__()`, as the array API standard defines them."""

    __slots__ = ()

    def capabilities(self) -> dict[str, Any]:
        """Optional features: no result's shape depends on numbers while a program is traced."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """The device on which arrays are made."""
        return self.devices()[0]

    def devices(self) -> list[Any]:
        """The devices of the current backend."""
        return list(backends.current().devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Dtypes that are used where none is asked for."""
        return {
            "real floating": dtypes.default_float_dtype(),
            "complex floating": dtypes.default_complex_dtype(),
            "integral": dtypes.default_int_dtype(),
            "indexing": dtypes.default_int_dtype(),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Dtypes of the array API standard, by name, of a kind or of several."""
        found = {name: dtypes.as_dtype(name) for name in _STANDARD}
        return {k: d for k, d in found.items() if kind is None or isdtype(d, kind)}


def __array_namespace_info__() -> NamespaceInfo:
    """Facts about the namespace, as the array API standard asks for them.

    Example:
        >>> __array_namespace_info__().default_dtypes()["integral"]
        dtype('int32')
    """
    return NamespaceInfo()
