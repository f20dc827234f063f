"""Operators of arrays, and the promotion of what they are given."""

from __future__ import annotations

from .array_operators import *  # noqa: F403  # add, multiply, …: the module's list
from .promotion import PYTHON_SCALARS as PYTHON_SCALARS
from .promotion import WEAK_SCALARS as WEAK_SCALARS
from .promotion import as_array as as_array
from .promotion import broadcast_args as broadcast_args
from .promotion import is_arraylike as is_arraylike
from .promotion import is_number as is_number
from .promotion import join_types as join_types
from .promotion import match_scalars as match_scalars
from .promotion import number_like as number_like
from .promotion import promote_args as promote_args
from .promotion import promote_args_inexact as promote_args_inexact
from .promotion import promote_dtypes as promote_dtypes
from .promotion import promote_dtypes_inexact as promote_dtypes_inexact
from .promotion import returned as returned
from .promotion import scalar_of as scalar_of
from .promotion import settled as settled
from .promotion import strong as strong
