"""The version of the distribution that is installed; read when it is first asked for."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

__version__: Final = version("axonym")
