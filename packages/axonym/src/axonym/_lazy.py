"""Names that are imported when they are first used.

The umbrella names everything in nine packages, and a program uses a part of it; the compiler alone
takes longer to load than all the rest. So modules here say *where* each name is, for Python, and
import it under `TYPE_CHECKING`, for type checkers. A name that was used once is an ordinary
attribute of its module from then on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def lazy(
    module: str, homes: Mapping[str, str], submodules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make `__getattr__` and `__dir__` of a module whose names live elsewhere.

    Args:
        module: Name of the module.
        homes: For each module that names live in, the names, separated by spaces.
        submodules: Names of submodules of the module itself.

    Returns:
        The two functions.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}
    inside = frozenset(submodules)

    def getattribute(name: str) -> Any:
        home = home_of.get(name)
        if home is not None:
            value = getattr(import_module(home), name)
        elif name in inside:
            value = import_module(f"{module}.{name}")
        else:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        setattr(sys.modules[module], name, value)
        return value

    def directory() -> list[str]:
        return sorted({*vars(sys.modules[module]), *home_of, *inside})

    return getattribute, directory
