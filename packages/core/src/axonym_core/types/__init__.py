"""What is known of a value before it is computed: element types, shapes, named axes."""

from __future__ import annotations

from . import dtypes as dtypes
from .avals import AxisName as AxisName
from .avals import NamedEntries as NamedEntries
from .avals import Shape as Shape
from .avals import ShapedArray as ShapedArray
from .avals import ShapeDtypeStruct as ShapeDtypeStruct
from .avals import as_host as as_host
from .avals import as_integer as as_integer
from .avals import aval_of as aval_of
from .avals import dtype_name as dtype_name
from .avals import host_array as host_array
from .avals import join_all_named as join_all_named
from .avals import join_named as join_named
from .avals import named_entries as named_entries
from .avals import scalar_aval as scalar_aval
from .avals import type_of as type_of
from .axes import AxisEntry as AxisEntry
from .axes import AxisEnv as AxisEnv
from .axes import AxisKind as AxisKind
from .axes import as_axis_names as as_axis_names
from .dtypes import COMPLEXES as COMPLEXES
from .dtypes import DTYPES as DTYPES
from .dtypes import FLOATS as FLOATS
from .dtypes import INEXACT as INEXACT
from .dtypes import INTEGERS as INTEGERS
from .dtypes import SIGNED as SIGNED
from .dtypes import DType as DType
from .dtypes import bool_ as bool_
from .dtypes import default_float_dtype as default_float_dtype
from .python_numbers import python_number as python_number
from .python_numbers import scalar_of as scalar_of
from .python_numbers import settled_aval as settled_aval
