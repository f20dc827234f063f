"""Arrays, and the backends that hold their data."""

from __future__ import annotations

from . import backends as backends
from .arguments import as_dimension as as_dimension
from .arguments import as_dimensions as as_dimensions
from .arguments import as_ints as as_ints
from .array import Array as Array
from .array import ConcreteArray as ConcreteArray
from .array import as_concrete as as_concrete
from .array import is_frozen as is_frozen
from .array import register_method as register_method
from .backends import Backend as Backend
from .backends import Executable as Executable
from .backends import LoweredProgram as LoweredProgram
from .backends import register_backend as register_backend
