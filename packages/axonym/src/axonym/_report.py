"""The environment report: what a reader of a bug report would ask first.

    $ python -m axonym

It starts the XLA client where that is the default backend, since only that knows the devices, and
says what went wrong where something did: a report is wanted most when something does not work.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import platformdirs

from axonym_core import config
from axonym_core.arrays import backends
from axonym_core.errors import AxonymError

__all__ = ["report", "sections"]

PACKAGES: Final = (
    "axonym",
    "axonym-core",
    "axonym-autodiff",
    "axonym-mapping",
    "axonym-compile",
    "axonym-xla",
    "axonym-distributed",
    "axonym-numpy",
    "axonym-random",
)
DEPENDENCIES: Final = ("numpy", "ml_dtypes", "optree", "opt_einsum", "platformdirs", "jaxlib")
OURS: Final = (
    *(f"AXONYM_{name.upper()}" for name in config.as_dict()),
    "AXONYM_NUM_CPU_DEVICES",
)
_OTHERS: Final = (
    "CUDA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "TF_CPP_MIN_LOG_LEVEL",
    "XLA_FLAGS",
    "XLA_PYTHON_CLIENT_ALLOCATOR",
    "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "XLA_PYTHON_CLIENT_PREALLOCATE",
)
_MOST_DEVICES: Final = 8


def report() -> str:
    """Describe the environment.

    Returns:
        Several sections of lines `name  value`.

    Example:
        >>> "axonym-core" in report()
        True
    """
    blocks = []
    for title, rows in sections().items():
        width = max(map(len, rows), default=0)
        lines = [f"  {name:<{width}}  {value}" for name, value in rows.items()]
        blocks.append("\n".join([title, *lines]))
    return "\n\n".join(blocks)


def sections() -> dict[str, dict[str, str]]:
    """The contents of the report: for each section its names and values.

    Example:
        >>> sections()["System"]["Python"] == platform.python_version()
        True
    """
    return {
        "Packages": {name: _version(name) for name in PACKAGES},
        "Dependencies": {name: _version(name) for name in DEPENDENCIES},
        "System": {
            "Python": platform.python_version(),
            "executable": sys.executable,
            "platform": platform.platform(),
            "CPUs": str(os.cpu_count()),
        },
        "Backends": dict(_backends()),
        "Cache": {"folder": platformdirs.user_cache_dir("axonym", appauthor=False)},
        "Environment variables": _variables(os.environ) or {"(none is set)": ""},
    }


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _backends() -> Iterator[tuple[str, str]]:
    yield "found", ", ".join(backends.names()) or "none"
    try:
        default = backends.current()
        yield "default", default.name
        # A backend need not be able to list its devices.
        devices: Sequence[Any] = getattr(default, "devices", list)()
    except (AxonymError, ImportError) as error:
        yield "error", f"{type(error).__name__}: {error}"
        return
    listed = ", ".join(map(str, devices[:_MOST_DEVICES]))
    more = f", and {len(devices) - _MOST_DEVICES} more" if len(devices) > _MOST_DEVICES else ""
    yield "devices", f"{len(devices)} ({listed}{more})"


def _variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Those that Axonym and XLA read; no values of others, since a report may be published."""
    found = {name: environ[name] for name in (*OURS, *_OTHERS) if name in environ}
    for name in environ:
        if name.upper().startswith("AXONYM_") and name not in OURS:
            near = get_close_matches(name.upper(), OURS, n=1)
            meant = f"did you mean {near[0]}?" if near else f"the known ones are {', '.join(OURS)}"
            found[name] = f"warning: nothing reads this variable; {meant}"
    return dict(sorted(found.items()))
