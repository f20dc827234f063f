"""A NumPy-like namespace on traced arrays with named axes.

Functions are NumPy's, with this field's habits: results are 32-bit where nobody asked for more,
reductions take the names of named axes beside dimensions (`sum(x, axis=(0, "batch"))`), and
everything can be traced, differentiated, mapped and compiled. What differs from NumPy is listed in
the package's README.

    >>> x = arange(6.0).reshape(2, 3)
    >>> (x - x.mean(axis=1, keepdims=True)).sum()
    Array(0., dtype=float32)
"""

from __future__ import annotations

from . import linalg as linalg
from . import nn as nn
from . import special as special
from .creation.constants import empty as empty
from .creation.constants import empty_like as empty_like
from .creation.constants import full as full
from .creation.constants import full_like as full_like
from .creation.constants import ones as ones
from .creation.constants import ones_like as ones_like
from .creation.constants import zeros as zeros
from .creation.constants import zeros_like as zeros_like
from .creation.construction import array as array
from .creation.construction import asarray as asarray
from .creation.construction import astype as astype
from .creation.construction import copy as copy
from .creation.construction import from_dlpack as from_dlpack
from .creation.construction import frombuffer as frombuffer
from .creation.dtype_names import bfloat16 as bfloat16
from .creation.dtype_names import bool_ as bool
from .creation.dtype_names import bool_ as bool_
from .creation.dtype_names import can_cast as can_cast
from .creation.dtype_names import cdouble as cdouble
from .creation.dtype_names import complex64 as complex64
from .creation.dtype_names import complex128 as complex128
from .creation.dtype_names import complexfloating as complexfloating
from .creation.dtype_names import csingle as csingle
from .creation.dtype_names import double as double
from .creation.dtype_names import dtype as dtype
from .creation.dtype_names import e as e
from .creation.dtype_names import euler_gamma as euler_gamma
from .creation.dtype_names import finfo as finfo
from .creation.dtype_names import float8_e3m4 as float8_e3m4
from .creation.dtype_names import float8_e4m3 as float8_e4m3
from .creation.dtype_names import float8_e4m3b11fnuz as float8_e4m3b11fnuz
from .creation.dtype_names import float8_e4m3fn as float8_e4m3fn
from .creation.dtype_names import float8_e4m3fnuz as float8_e4m3fnuz
from .creation.dtype_names import float8_e5m2 as float8_e5m2
from .creation.dtype_names import float8_e5m2fnuz as float8_e5m2fnuz
from .creation.dtype_names import float8_e8m0fnu as float8_e8m0fnu
from .creation.dtype_names import float16 as float16
from .creation.dtype_names import float32 as float32
from .creation.dtype_names import float64 as float64
from .creation.dtype_names import floating as floating
from .creation.dtype_names import generic as generic
from .creation.dtype_names import iinfo as iinfo
from .creation.dtype_names import inexact as inexact
from .creation.dtype_names import inf as inf
from .creation.dtype_names import int4 as int4
from .creation.dtype_names import int8 as int8
from .creation.dtype_names import int16 as int16
from .creation.dtype_names import int32 as int32
from .creation.dtype_names import int64 as int64
from .creation.dtype_names import integer as integer
from .creation.dtype_names import isdtype as isdtype
from .creation.dtype_names import isscalar as isscalar
from .creation.dtype_names import issubdtype as issubdtype
from .creation.dtype_names import nan as nan
from .creation.dtype_names import ndarray as ndarray
from .creation.dtype_names import newaxis as newaxis
from .creation.dtype_names import number as number
from .creation.dtype_names import pi as pi
from .creation.dtype_names import promote_types as promote_types
from .creation.dtype_names import result_type as result_type
from .creation.dtype_names import signedinteger as signedinteger
from .creation.dtype_names import single as single
from .creation.dtype_names import uint4 as uint4
from .creation.dtype_names import uint8 as uint8
from .creation.dtype_names import uint16 as uint16
from .creation.dtype_names import uint32 as uint32
from .creation.dtype_names import uint64 as uint64
from .creation.dtype_names import unsignedinteger as unsignedinteger
from .creation.matrices import diag as diag
from .creation.matrices import diagflat as diagflat
from .creation.matrices import diagonal as diagonal
from .creation.matrices import eye as eye
from .creation.matrices import fill_diagonal as fill_diagonal
from .creation.matrices import identity as identity
from .creation.matrices import trace as trace
from .creation.matrices import tri as tri
from .creation.matrices import tril as tril
from .creation.matrices import tril_indices as tril_indices
from .creation.matrices import triu as triu
from .creation.matrices import triu_indices as triu_indices
from .creation.matrices import vander as vander
from .creation.ranges import arange as arange
from .creation.ranges import fromfunction as fromfunction
from .creation.ranges import geomspace as geomspace
from .creation.ranges import indices as indices
from .creation.ranges import ix_ as ix_
from .creation.ranges import linspace as linspace
from .creation.ranges import logspace as logspace
from .creation.ranges import meshgrid as meshgrid
from .elementwise.arithmetic import abs as abs
from .elementwise.arithmetic import absolute as absolute
from .elementwise.arithmetic import add as add
from .elementwise.arithmetic import divide as divide
from .elementwise.arithmetic import divmod as divmod
from .elementwise.arithmetic import fabs as fabs
from .elementwise.arithmetic import float_power as float_power
from .elementwise.arithmetic import floor_divide as floor_divide
from .elementwise.arithmetic import fmod as fmod
from .elementwise.arithmetic import mod as mod
from .elementwise.arithmetic import multiply as multiply
from .elementwise.arithmetic import negative as negative
from .elementwise.arithmetic import positive as positive
from .elementwise.arithmetic import pow as pow
from .elementwise.arithmetic import power as power
from .elementwise.arithmetic import reciprocal as reciprocal
from .elementwise.arithmetic import remainder as remainder
from .elementwise.arithmetic import sign as sign
from .elementwise.arithmetic import square as square
from .elementwise.arithmetic import subtract as subtract
from .elementwise.arithmetic import true_divide as true_divide
from .elementwise.bits import bitwise_and as bitwise_and
from .elementwise.bits import bitwise_count as bitwise_count
from .elementwise.bits import bitwise_invert as bitwise_invert
from .elementwise.bits import bitwise_left_shift as bitwise_left_shift
from .elementwise.bits import bitwise_not as bitwise_not
from .elementwise.bits import bitwise_or as bitwise_or
from .elementwise.bits import bitwise_right_shift as bitwise_right_shift
from .elementwise.bits import bitwise_xor as bitwise_xor
from .elementwise.bits import invert as invert
from .elementwise.bits import left_shift as left_shift
from .elementwise.bits import right_shift as right_shift
from .elementwise.comparisons import allclose as allclose
from .elementwise.comparisons import array_equal as array_equal
from .elementwise.comparisons import array_equiv as array_equiv
from .elementwise.comparisons import equal as equal
from .elementwise.comparisons import greater as greater
from .elementwise.comparisons import greater_equal as greater_equal
from .elementwise.comparisons import isclose as isclose
from .elementwise.comparisons import less as less
from .elementwise.comparisons import less_equal as less_equal
from .elementwise.comparisons import logical_and as logical_and
from .elementwise.comparisons import logical_not as logical_not
from .elementwise.comparisons import logical_or as logical_or
from .elementwise.comparisons import logical_xor as logical_xor
from .elementwise.comparisons import not_equal as not_equal
from .elementwise.complex_numbers import angle as angle
from .elementwise.complex_numbers import conj as conj
from .elementwise.complex_numbers import conjugate as conjugate
from .elementwise.complex_numbers import imag as imag
from .elementwise.complex_numbers import iscomplex as iscomplex
from .elementwise.complex_numbers import iscomplexobj as iscomplexobj
from .elementwise.complex_numbers import isreal as isreal
from .elementwise.complex_numbers import isrealobj as isrealobj
from .elementwise.complex_numbers import real as real
from .elementwise.exponentials import cbrt as cbrt
from .elementwise.exponentials import exp as exp
from .elementwise.exponentials import exp2 as exp2
from .elementwise.exponentials import expm1 as expm1
from .elementwise.exponentials import log as log
from .elementwise.exponentials import log1p as log1p
from .elementwise.exponentials import log2 as log2
from .elementwise.exponentials import log10 as log10
from .elementwise.exponentials import logaddexp as logaddexp
from .elementwise.exponentials import logaddexp2 as logaddexp2
from .elementwise.exponentials import sqrt as sqrt
from .elementwise.extrema import clip as clip
from .elementwise.extrema import fmax as fmax
from .elementwise.extrema import fmin as fmin
from .elementwise.extrema import heaviside as heaviside
from .elementwise.extrema import maximum as maximum
from .elementwise.extrema import minimum as minimum
from .elementwise.floating_point import copysign as copysign
from .elementwise.floating_point import frexp as frexp
from .elementwise.floating_point import isfinite as isfinite
from .elementwise.floating_point import isinf as isinf
from .elementwise.floating_point import isnan as isnan
from .elementwise.floating_point import isneginf as isneginf
from .elementwise.floating_point import isposinf as isposinf
from .elementwise.floating_point import ldexp as ldexp
from .elementwise.floating_point import modf as modf
from .elementwise.floating_point import nan_to_num as nan_to_num
from .elementwise.floating_point import nextafter as nextafter
from .elementwise.floating_point import signbit as signbit
from .elementwise.floating_point import spacing as spacing
from .elementwise.rounding import around as around
from .elementwise.rounding import ceil as ceil
from .elementwise.rounding import fix as fix
from .elementwise.rounding import floor as floor
from .elementwise.rounding import rint as rint
from .elementwise.rounding import round as round
from .elementwise.rounding import trunc as trunc
from .elementwise.trigonometry import acos as acos
from .elementwise.trigonometry import acosh as acosh
from .elementwise.trigonometry import arccos as arccos
from .elementwise.trigonometry import arccosh as arccosh
from .elementwise.trigonometry import arcsin as arcsin
from .elementwise.trigonometry import arcsinh as arcsinh
from .elementwise.trigonometry import arctan as arctan
from .elementwise.trigonometry import arctan2 as arctan2
from .elementwise.trigonometry import arctanh as arctanh
from .elementwise.trigonometry import asin as asin
from .elementwise.trigonometry import asinh as asinh
from .elementwise.trigonometry import atan as atan
from .elementwise.trigonometry import atan2 as atan2
from .elementwise.trigonometry import atanh as atanh
from .elementwise.trigonometry import cos as cos
from .elementwise.trigonometry import cosh as cosh
from .elementwise.trigonometry import deg2rad as deg2rad
from .elementwise.trigonometry import degrees as degrees
from .elementwise.trigonometry import hypot as hypot
from .elementwise.trigonometry import rad2deg as rad2deg
from .elementwise.trigonometry import radians as radians
from .elementwise.trigonometry import sin as sin
from .elementwise.trigonometry import sinc as sinc
from .elementwise.trigonometry import sinh as sinh
from .elementwise.trigonometry import tan as tan
from .elementwise.trigonometry import tanh as tanh
from .joining.concatenation import append as append
from .joining.concatenation import array_split as array_split
from .joining.concatenation import column_stack as column_stack
from .joining.concatenation import concat as concat
from .joining.concatenation import concatenate as concatenate
from .joining.concatenation import dsplit as dsplit
from .joining.concatenation import dstack as dstack
from .joining.concatenation import hsplit as hsplit
from .joining.concatenation import hstack as hstack
from .joining.concatenation import repeat as repeat
from .joining.concatenation import split as split
from .joining.concatenation import stack as stack
from .joining.concatenation import tile as tile
from .joining.concatenation import unstack as unstack
from .joining.concatenation import vsplit as vsplit
from .joining.concatenation import vstack as vstack
from .joining.padding import pad as pad
from .joining.set_operations import intersect1d as intersect1d
from .joining.set_operations import setdiff1d as setdiff1d
from .joining.set_operations import setxor1d as setxor1d
from .joining.set_operations import union1d as union1d
from .linear_algebra.einsum import einsum as einsum
from .linear_algebra.einsum import einsum_path as einsum_path
from .linear_algebra.products import cross as cross
from .linear_algebra.products import dot as dot
from .linear_algebra.products import inner as inner
from .linear_algebra.products import kron as kron
from .linear_algebra.products import matmul as matmul
from .linear_algebra.products import matvec as matvec
from .linear_algebra.products import outer as outer
from .linear_algebra.products import tensordot as tensordot
from .linear_algebra.products import vdot as vdot
from .linear_algebra.products import vecdot as vecdot
from .linear_algebra.products import vecmat as vecmat
from .namespace.namespace_info import __array_namespace_info__ as __array_namespace_info__
from .reductions.cumulative import cumprod as cumprod
from .reductions.cumulative import cumsum as cumsum
from .reductions.cumulative import cumulative_prod as cumulative_prod
from .reductions.cumulative import cumulative_sum as cumulative_sum
from .reductions.cumulative import diff as diff
from .reductions.cumulative import ediff1d as ediff1d
from .reductions.cumulative import gradient as gradient
from .reductions.cumulative import trapezoid as trapezoid
from .reductions.elementary import all as all
from .reductions.elementary import amax as amax
from .reductions.elementary import amin as amin
from .reductions.elementary import any as any
from .reductions.elementary import argmax as argmax
from .reductions.elementary import argmin as argmin
from .reductions.elementary import count_nonzero as count_nonzero
from .reductions.elementary import max as max
from .reductions.elementary import min as min
from .reductions.elementary import prod as prod
from .reductions.elementary import ptp as ptp
from .reductions.elementary import sum as sum
from .selection.index_arithmetic import diag_indices as diag_indices
from .selection.index_arithmetic import diag_indices_from as diag_indices_from
from .selection.index_arithmetic import index_exp as index_exp
from .selection.index_arithmetic import mgrid as mgrid
from .selection.index_arithmetic import ogrid as ogrid
from .selection.index_arithmetic import ravel_multi_index as ravel_multi_index
from .selection.index_arithmetic import s_ as s_
from .selection.index_arithmetic import tril_indices_from as tril_indices_from
from .selection.index_arithmetic import triu_indices_from as triu_indices_from
from .selection.index_arithmetic import unravel_index as unravel_index
from .selection.sets import argwhere as argwhere
from .selection.sets import flatnonzero as flatnonzero
from .selection.sets import isin as isin
from .selection.sets import nonzero as nonzero
from .selection.sets import unique as unique
from .selection.sets import unique_all as unique_all
from .selection.sets import unique_counts as unique_counts
from .selection.sets import unique_inverse as unique_inverse
from .selection.sets import unique_values as unique_values
from .selection.sorting import argpartition as argpartition
from .selection.sorting import argsort as argsort
from .selection.sorting import digitize as digitize
from .selection.sorting import lexsort as lexsort
from .selection.sorting import partition as partition
from .selection.sorting import searchsorted as searchsorted
from .selection.sorting import sort as sort
from .selection.sorting import sort_complex as sort_complex
from .selection.taking import compress as compress
from .selection.taking import put_along_axis as put_along_axis
from .selection.taking import select as select
from .selection.taking import take as take
from .selection.taking import take_along_axis as take_along_axis
from .selection.taking import where as where
from .shapes.rearranging import flip as flip
from .shapes.rearranging import fliplr as fliplr
from .shapes.rearranging import flipud as flipud
from .shapes.rearranging import roll as roll
from .shapes.rearranging import rot90 as rot90
from .shapes.reshaping import atleast_1d as atleast_1d
from .shapes.reshaping import atleast_2d as atleast_2d
from .shapes.reshaping import atleast_3d as atleast_3d
from .shapes.reshaping import broadcast_arrays as broadcast_arrays
from .shapes.reshaping import broadcast_shapes as broadcast_shapes
from .shapes.reshaping import broadcast_to as broadcast_to
from .shapes.reshaping import expand_dims as expand_dims
from .shapes.reshaping import matrix_transpose as matrix_transpose
from .shapes.reshaping import moveaxis as moveaxis
from .shapes.reshaping import ndim as ndim
from .shapes.reshaping import permute_dims as permute_dims
from .shapes.reshaping import ravel as ravel
from .shapes.reshaping import reshape as reshape
from .shapes.reshaping import rollaxis as rollaxis
from .shapes.reshaping import shape as shape
from .shapes.reshaping import size as size
from .shapes.reshaping import squeeze as squeeze
from .shapes.reshaping import swapaxes as swapaxes
from .shapes.reshaping import transpose as transpose
from .statistics.histograms import bincount as bincount
from .statistics.histograms import histogram as histogram
from .statistics.histograms import histogram_bin_edges as histogram_bin_edges
from .statistics.histograms import interp as interp
from .statistics.moments import average as average
from .statistics.moments import corrcoef as corrcoef
from .statistics.moments import cov as cov
from .statistics.moments import mean as mean
from .statistics.moments import std as std
from .statistics.moments import var as var
from .statistics.nan_reductions import nanargmax as nanargmax
from .statistics.nan_reductions import nanargmin as nanargmin
from .statistics.nan_reductions import nancumprod as nancumprod
from .statistics.nan_reductions import nancumsum as nancumsum
from .statistics.nan_reductions import nanmax as nanmax
from .statistics.nan_reductions import nanmean as nanmean
from .statistics.nan_reductions import nanmin as nanmin
from .statistics.nan_reductions import nanprod as nanprod
from .statistics.nan_reductions import nanstd as nanstd
from .statistics.nan_reductions import nansum as nansum
from .statistics.nan_reductions import nanvar as nanvar
from .statistics.quantiles import median as median
from .statistics.quantiles import nanmedian as nanmedian
from .statistics.quantiles import nanpercentile as nanpercentile
from .statistics.quantiles import nanquantile as nanquantile
from .statistics.quantiles import percentile as percentile
from .statistics.quantiles import quantile as quantile
from .statistics.sequences import convolve as convolve
from .statistics.sequences import correlate as correlate
from .statistics.sequences import polyval as polyval
from .statistics.sequences import unwrap as unwrap

from .namespace import array_methods as array_methods  # isort: skip  # registers methods of arrays

# fmt: off
__all__ = [
    "__array_api_version__", "__array_namespace_info__", "abs", "absolute", "acos", "acosh",
    "add", "all", "allclose", "amax", "amin", "angle", "any", "append", "arange", "arccos",
    "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin",
    "argpartition", "argsort", "argwhere", "around", "array", "array_equal", "array_equiv",
    "array_split", "asarray", "asin", "asinh", "astype", "atan", "atan2", "atanh", "atleast_1d",
    "atleast_2d", "atleast_3d", "average", "bfloat16", "bincount", "bitwise_and",
    "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "bool", "bool_", "broadcast_arrays",
    "broadcast_shapes", "broadcast_to", "can_cast", "cbrt", "cdouble", "ceil", "clip",
    "column_stack", "complex64", "complex128", "complexfloating", "compress", "concat",
    "concatenate", "conj", "conjugate", "convolve", "copy", "copysign", "corrcoef", "correlate",
    "cos", "cosh", "count_nonzero", "cov", "cross", "csingle", "cumprod", "cumsum",
    "cumulative_prod", "cumulative_sum", "deg2rad", "degrees", "diag", "diag_indices",
    "diag_indices_from", "diagflat", "diagonal", "diff", "digitize", "divide", "divmod", "dot",
    "double", "dsplit", "dstack", "dtype", "e", "ediff1d", "einsum", "einsum_path", "empty",
    "empty_like", "equal", "euler_gamma", "exp", "exp2", "expand_dims", "expm1", "eye", "fabs",
    "fill_diagonal", "finfo", "fix", "flatnonzero", "flip", "fliplr", "flipud", "float8_e3m4",
    "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "float8_e8m0fnu", "float16", "float32", "float64", "float_power",
    "floating", "floor", "floor_divide", "fmax", "fmin", "fmod", "frexp", "from_dlpack",
    "frombuffer", "fromfunction", "full", "full_like", "generic", "geomspace", "gradient",
    "greater", "greater_equal", "heaviside", "histogram", "histogram_bin_edges", "hsplit",
    "hstack", "hypot", "identity", "iinfo", "imag", "index_exp", "indices", "inexact", "inf",
    "inner", "int4", "int8", "int16", "int32", "int64", "integer", "interp", "intersect1d",
    "invert", "isclose", "iscomplex", "iscomplexobj", "isdtype", "isfinite", "isin", "isinf",
    "isnan", "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "issubdtype", "ix_",
    "kron", "ldexp", "left_shift", "less", "less_equal", "lexsort", "linalg", "linspace", "log",
    "log1p", "log2", "log10", "logaddexp", "logaddexp2", "logical_and", "logical_not",
    "logical_or", "logical_xor", "logspace", "matmul", "matrix_transpose", "matvec", "max",
    "maximum", "mean", "median", "meshgrid", "mgrid", "min", "minimum", "mod", "modf",
    "moveaxis", "multiply", "nan", "nan_to_num", "nanargmax", "nanargmin", "nancumprod",
    "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod",
    "nanquantile", "nanstd", "nansum", "nanvar", "ndarray", "ndim", "negative", "newaxis",
    "nextafter", "nn", "nonzero", "not_equal", "number", "ogrid", "ones", "ones_like", "outer",
    "pad", "partition", "percentile", "permute_dims", "pi", "polyval", "positive", "pow",
    "power", "prod", "promote_types", "ptp", "put_along_axis", "quantile", "rad2deg", "radians",
    "ravel", "ravel_multi_index", "real", "reciprocal", "remainder", "repeat", "reshape",
    "result_type", "right_shift", "rint", "roll", "rollaxis", "rot90", "round", "s_",
    "searchsorted", "select", "setdiff1d", "setxor1d", "shape", "sign", "signbit",
    "signedinteger", "sin", "sinc", "single", "sinh", "size", "sort", "sort_complex", "spacing",
    "special", "split", "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum",
    "swapaxes", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "trace",
    "transpose", "trapezoid", "tri", "tril", "tril_indices", "tril_indices_from", "triu",
    "triu_indices", "triu_indices_from", "true_divide", "trunc", "uint4", "uint8", "uint16",
    "uint32", "uint64", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "unravel_index", "unsignedinteger", "unstack", "unwrap", "vander", "var",
    "vdot", "vecdot", "vecmat", "vsplit", "vstack", "where", "zeros", "zeros_like",
]
# fmt: on

#: Version of the array API standard that the namespace follows.
__array_api_version__ = "2024.12"
