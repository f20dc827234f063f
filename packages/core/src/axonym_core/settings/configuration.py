"""Settings: a handful of typed values, cheap to read and local to a thread when overridden.

The tracing core reads a setting on every operation, so a read has to cost as much as an attribute
and no more. That is why :class:`Config` is a ``threading.local`` whose *class* attributes are the
values for the whole process and whose *instance* attributes, which each thread has for itself, are
the overrides: Python's own attribute lookup then finds the override, if any, before the process's
value, and no line of Python runs.

    >>> from axonym_core.settings.configuration import config
    >>> config.default_float_bits
    32
    >>> with config.override(default_float_bits=64):
    ...     config.default_float_bits
    64
    >>> config.default_float_bits
    32

``config.update(check=True)`` (or ``config.check = True``) changes the value for every thread;
``with config.override(check=True):`` changes it for the current thread and the duration of the
block. Environment variables give the initial values of the process:

=================================  =====================================  =======
variable                           setting                                default
=================================  =====================================  =======
``AXONYM_BACKEND``                 ``backend``                            unset
``AXONYM_CHECK``                   ``check``                              ``0``
``AXONYM_DEFAULT_FLOAT_BITS``      ``default_float_bits``                 ``32``
``AXONYM_DEFAULT_INT_BITS``        ``default_int_bits``                   ``32``
=================================  =====================================  =======

Some settings change what a function traces to. ``config.trace_key`` is the tuple of their current
values; whoever caches traced or compiled programs makes it part of the key.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, Self, final

from ..errors import ConfigError

__all__ = ["Config", "config"]


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}… ({len(text)} characters)"


def _backend(name: str, value: object) -> str | None:
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    raise ConfigError(
        f"{name} must be the name of a backend, such as 'numpy' or 'xla', or None for the "
        f"default; got {value!r}."
    )


def _bits(name: str, value: object) -> int:
    if isinstance(value, int) and value in (32, 64):
        return int(value)
    raise ConfigError(f"{name} must be 32 or 64; got {_shortened(value)}.")


def _flag(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ConfigError(f"{name} must be True or False; got {_shortened(value)}.")


_VALIDATORS: Final[dict[str, Callable[[str, object], Any]]] = {
    "backend": _backend,
    "default_float_bits": _bits,
    "default_int_bits": _bits,
    "check": _flag,
}

#: The settings that change what a function traces to, in the order of ``Config.trace_key``.
_TRACED: Final = ("default_float_bits", "default_int_bits")

#: Those, and what decides on the compiled program.
_DISPATCHED: Final = ("backend", *_TRACED)

_FLAGS: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def _validated(values: Mapping[str, object]) -> dict[str, Any]:
    """Check every name and value before any of them takes effect."""
    result = {}
    for name, value in values.items():
        validate = _VALIDATORS.get(name)
        if validate is None:
            raise ConfigError(
                f"config has no setting {name!r}; the settings are {', '.join(_VALIDATORS)}."
            )
        result[name] = validate(f"config.{name}", value)
    return result


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """The settings that the environment gives; unset and empty variables give none.

    Args:
        environ: Names and values of environment variables.

    Returns:
        The validated settings by name.

    Raises:
        ConfigError: If a variable has a value that its setting cannot take.
    """
    result: dict[str, Any] = {}
    for name, validate in _VALIDATORS.items():
        variable = f"AXONYM_{name.upper()}"
        text = environ.get(variable, "").strip()
        if not text:
            continue
        value: object = text
        if validate is _flag:
            value = _FLAGS.get(text.lower(), text)
        elif validate is _bits:  # written in this one way: neither 064 nor other digits
            value = {"32": 32, "64": 64}.get(text, text)
        result[name] = validate(f"environment variable {variable}", value)
    return result


class Config(threading.local):
    """The settings of the process, with overrides per thread.

    There is one instance, :data:`config`. Reading is plain attribute access.

    Attributes:
        backend: The name of the backend that evaluates and compiles, or None for the default
            (XLA where it is installed, else NumPy).
        default_float_bits: Width, 32 or 64, of the floating-point numbers that creation functions
            and Python scalars give when no dtype is named. Complex numbers have two of them.
        default_int_bits: The same for signed and unsigned integers.
        check: Whether every jaxpr is checked after every transformation. Slow; for tests.
        trace_key: The values of the settings that change what a function traces to. Read-only.
        dispatch_key: Those, and the backend: what a compiled program depends on. Read-only.

    Example:
        >>> with config.override(check=True, backend="numpy"):
        ...     (config.check, config.backend)
        (True, 'numpy')
    """

    backend: str | None = None
    default_float_bits: int = 32
    default_int_bits: int = 32
    check: bool = False
    trace_key: tuple[Any, ...] = (32, 32)
    dispatch_key: tuple[Any, ...] = (None, 32, 32)

    def __setattr__(self, name: str, value: object) -> None:
        """Set a setting for all threads; same as ``update(name=value)``."""
        self.update(**{name: value})

    def __delattr__(self, name: str) -> None:
        """Refuse to delete: a setting always has a value."""
        raise ConfigError(f"config.{name} cannot be deleted; assign a value instead.")

    def update(self, **settings: object) -> None:
        """Change settings for every thread, except where a thread overrides them.

        Args:
            **settings: New values by name. Either all of them take effect or, if one is not
                valid, none.

        Raises:
            ConfigError: If a name is not a setting or a value is not one it can take.
        """
        for name, value in _validated(settings).items():
            setattr(Config, name, value)
        with _lock:
            Config.trace_key = tuple(getattr(Config, name) for name in _TRACED)
            Config.dispatch_key = (Config.backend, *Config.trace_key)

    def override(self, **settings: object) -> Override:
        """Change settings in the current thread for the duration of a ``with`` block.

        Args:
            **settings: New values by name.

        Returns:
            A context manager. It may be used more than once, also nested. One that overrides a
            setting of ``trace_key`` pins the others of it too for the block.

        Raises:
            ConfigError: If a name is not a setting or a value is not one it can take. It is
                raised by the call itself, before the block is entered.
        """
        return Override(self, _validated(settings))

    def as_dict(self) -> dict[str, Any]:
        """The current values, as this thread sees them, by name."""
        return {name: getattr(self, name) for name in _VALIDATORS}

    def __repr__(self) -> str:
        """The current values, as this thread sees them."""
        return f"Config({', '.join(f'{k}={v!r}' for k, v in self.as_dict().items())})"


@final
class Override:
    """The context manager that :meth:`Config.override` returns."""

    __slots__ = ("_config", "_saved", "_settings")

    def __init__(self, config: Config, settings: dict[str, Any]) -> None:
        """Remember validated settings; nothing changes before the block is entered."""
        self._config = config
        self._settings = settings
        # One instance may be entered by several threads, and by one thread several times.
        self._saved = _Saved()

    def __enter__(self) -> Self:
        """Apply the settings to this thread."""
        own = self._config.__dict__
        settings = self._settings
        if not settings.keys().isdisjoint(_DISPATCHED):
            # Pin all of them, so that an update by another thread cannot part them from the keys.
            pinned = {name: getattr(self._config, name) for name in _DISPATCHED} | settings
            trace_key = tuple(pinned[name] for name in _TRACED)
            settings = {
                **pinned,
                "trace_key": trace_key,
                "dispatch_key": (pinned["backend"], *trace_key),
            }
        self._saved.stack.append((settings, dict(own)))
        own.update(settings)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give this thread back what it had."""
        own = self._config.__dict__
        settings, before = self._saved.stack.pop()
        for name in settings:
            if name in before:
                own[name] = before[name]
            else:
                own.pop(name, None)


class _Saved(threading.local):
    """For each thread, what every open block of one override set, and what was there before."""

    def __init__(self) -> None:
        self.stack: list[tuple[dict[str, Any], dict[str, Any]]] = []


_lock = threading.Lock()

#: The settings of this process.
config: Final = Config()
config.update(**_from_environment(os.environ))
