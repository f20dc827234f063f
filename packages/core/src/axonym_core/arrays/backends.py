"""Backends: who evaluates primitives on concrete arrays and compiles jaxprs.

Backends are found through the entry-point group `axonym.backends`. `AXONYM_BACKEND` or
`config.backend` chooses one; without a choice it is `xla` where that is installed, else `numpy`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from ..errors import BackendError
from ..settings.configuration import config

if TYPE_CHECKING:
    from ..programs.jaxpr import Jaxpr
    from ..programs.primitive import Primitive
    from ..types.avals import ShapedArray
    from .array import ConcreteArray

ENTRY_POINT_GROUP = "axonym.backends"
_PREFERENCE = ("xla", "numpy")


@runtime_checkable
class Executable(Protocol):
    """A compiled jaxpr."""

    def __call__(self, args: Sequence[ConcreteArray]) -> list[ConcreteArray]:
        """Run on concrete arrays, one for each `invar` of the jaxpr."""
        ...

    def call(self, args: Sequence[ConcreteArray]) -> list[ConcreteArray]:
        """The same without a check of the arguments' types, for callers that know them."""
        ...

    def as_text(self) -> str:
        """The compiled program as text."""
        ...

    def memory_analysis(self) -> Any:
        """Memory needs, among them `temp_size_in_bytes`; None where the backend cannot tell."""
        ...

    def cost_analysis(self) -> Any:
        """Estimated operations and bytes; None where the backend cannot tell."""
        ...


class LoweredProgram(Protocol):
    """A jaxpr in a backend's language."""

    def as_text(self) -> str:
        """The program as text."""
        ...

    def compile(self) -> Executable:
        """Compile it."""
        ...


@runtime_checkable
class Backend(Protocol):
    """What the core asks of a backend."""

    name: str

    def evaluate(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Apply a primitive to concrete operands (arrays, NumPy arrays, numbers)."""
        ...

    def compile(self, jaxpr: Jaxpr, *, donated: Sequence[bool] = ()) -> Executable:
        """Compile a jaxpr. `donated` says which arguments' buffers may be reused for results."""
        ...

    def lower(self, jaxpr: Jaxpr, *, donated: Sequence[bool] = ()) -> LoweredProgram:
        """Translate a jaxpr, without compiling it."""
        ...

    def from_host(
        self, value: np.ndarray[Any, Any], aval: ShapedArray, device: Any = None
    ) -> ConcreteArray:
        """Copy a NumPy array to a device (the default one where `None`)."""
        ...

    def to_host(self, buffer: Any) -> np.ndarray[Any, Any]:
        """Return a buffer's data as a read-only NumPy array; waits for it."""
        ...

    def block_until_ready(self, buffer: Any) -> None:
        """Wait for a buffer's data."""
        ...

    def is_ready(self, buffer: Any) -> bool:
        """Whether a buffer's data is there."""
        ...

    def give_up(self, buffer: Any) -> Any:
        """What an array holds from now on in place of a buffer that it gives up.

        The buffer itself is freed when nobody uses it any more, and not before: another thread may
        be reading it.
        """
        ...

    def is_deleted(self, buffer: Any) -> bool:
        """Whether this is no buffer, but what stands in place of one that was given up."""
        ...

    def devices(self) -> Sequence[Any]:
        """The devices of the backend, those of other processes included."""
        ...

    def device_of(self, buffer: Any) -> Any:
        """The device that holds a buffer."""
        ...

    def to_dlpack(
        self,
        buffer: Any,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """DLPack capsule of a buffer; the options are the keywords of `__dlpack__`."""
        ...

    def dlpack_device(self, buffer: Any) -> tuple[int, int]:
        """DLPack's device of a buffer."""
        ...


_loaded: dict[str, Backend] = {}
_registered: dict[str, Backend] = {}
_default_name: str | None = None


def register_backend(backend: Backend) -> None:
    """Make a backend known by its name, besides those found through entry points."""
    _registered[backend.name] = backend
    _loaded[backend.name] = backend


def names() -> list[str]:
    """Names of the backends that are installed or registered."""
    from importlib.metadata import entry_points  # slow to import, seldom needed  # noqa: PLC0415

    found = {entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)}
    return sorted(found | set(_registered))


def _not_installed(name: str) -> str:
    return (
        f"backend {name!r} is not installed (found: {', '.join(names()) or 'none'}); "
        f"install its package, for example `pip install axonym-{name}`, or choose another "
        "with AXONYM_BACKEND or config.backend"
    )


def get(name: str) -> Backend:
    """Return the backend of a name, loading it at first.

    Raises:
        BackendError: There is no such backend.
    """
    backend: Any = _loaded.get(name)
    if backend is None:
        from importlib.metadata import entry_points  # as above  # noqa: PLC0415

        for entry in entry_points(group=ENTRY_POINT_GROUP, name=name):
            backend = entry.load()
            _loaded[name] = backend
            break
        else:
            raise BackendError(_not_installed(name))
    loaded: Backend = backend
    return loaded


def current() -> Backend:
    """Return the backend that evaluates and compiles now."""
    chosen = config.backend
    if chosen is not None:
        found = _loaded.get(chosen)
        return found if found is not None else get(chosen)
    global _default_name
    if _default_name is None:
        available = names()
        _default_name = next((n for n in _PREFERENCE if n in available), None)
        if _default_name is None:
            raise BackendError(
                "no backend is installed; `pip install axonym-core` brings the NumPy backend "
                "(is the installation's metadata intact?)"
            )
    found = _loaded.get(_default_name)
    return found if found is not None else get(_default_name)
