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
from .arithmetic import abs as abs
from .arithmetic import absolute as absolute
from .arithmetic import add as add
from .arithmetic import divide as divide
from .arithmetic import divmod as divmod
from .arithmetic import fabs as fabs
from .arithmetic import float_power as float_power
from .arithmetic import floor_divide as floor_divide
from .arithmetic import fmod as fmod
from .arithmetic import mod as mod
from .arithmetic import multiply as multiply
from .arithmetic import negative as negative
from .arithmetic import positive as positive
from .arithmetic import pow as pow
from .arithmetic import power as power
from .arithmetic import reciprocal as reciprocal
from .arithmetic import remainder as remainder
from .arithmetic import sign as sign
from .arithmetic import square as square
from .arithmetic import subtract as subtract
from .arithmetic import true_divide as true_divide
from .bits import bitwise_and as bitwise_and
from .bits import bitwise_count as bitwise_count
from .bits import bitwise_invert as bitwise_invert
from .bits import bitwise_left_shift as bitwise_left_shift
from .bits import bitwise_not as bitwise_not
from .bits import bitwise_or as bitwise_or
from .bits import bitwise_right_shift as bitwise_right_shift
from .bits import bitwise_xor as bitwise_xor
from .bits import invert as invert
from .bits import left_shift as left_shift
from .bits import right_shift as right_shift
from .comparisons import allclose as allclose
from .comparisons import array_equal as array_equal
from .comparisons import array_equiv as array_equiv
from .comparisons import equal as equal
from .comparisons import greater as greater
from .comparisons import greater_equal as greater_equal
from .comparisons import isclose as isclose
from .comparisons import less as less
from .comparisons import less_equal as less_equal
from .comparisons import logical_and as logical_and
from .comparisons import logical_not as logical_not
from .comparisons import logical_or as logical_or
from .comparisons import logical_xor as logical_xor
from .comparisons import not_equal as not_equal
from .complex_numbers import angle as angle
from .complex_numbers import conj as conj
from .complex_numbers import conjugate as conjugate
from .complex_numbers import imag as imag
from .complex_numbers import iscomplex as iscomplex
from .complex_numbers import iscomplexobj as iscomplexobj
from .complex_numbers import isreal as isreal
from .complex_numbers import isrealobj as isrealobj
from .complex_numbers import real as real
from .construction import array as array
from .construction import asarray as asarray
from .construction import astype as astype
from .construction import copy as copy
from .construction import from_dlpack as from_dlpack
from .construction import frombuffer as frombuffer
from .creation import empty as empty
from .creation import empty_like as empty_like
from .creation import full as full
from .creation import full_like as full_like
from .creation import ones as ones
from .creation import ones_like as ones_like
from .creation import zeros as zeros
from .creation import zeros_like as zeros_like
from .cumulative import cumprod as cumprod
from .cumulative import cumsum as cumsum
from .cumulative import cumulative_prod as cumulative_prod
from .cumulative import cumulative_sum as cumulative_sum
from .cumulative import diff as diff
from .cumulative import ediff1d as ediff1d
from .cumulative import gradient as gradient
from .cumulative import trapezoid as trapezoid
from .dtype_names import bfloat16 as bfloat16
from .dtype_names import bool_ as bool
from .dtype_names import bool_ as bool_
from .dtype_names import can_cast as can_cast
from .dtype_names import cdouble as cdouble
from .dtype_names import complex64 as complex64
from .dtype_names import complex128 as complex128
from .dtype_names import complexfloating as complexfloating
from .dtype_names import csingle as csingle
from .dtype_names import double as double
from .dtype_names import dtype as dtype
from .dtype_names import e as e
from .dtype_names import euler_gamma as euler_gamma
from .dtype_names import finfo as finfo
from .dtype_names import float8_e3m4 as float8_e3m4
from .dtype_names import float8_e4m3 as float8_e4m3
from .dtype_names import float8_e4m3b11fnuz as float8_e4m3b11fnuz
from .dtype_names import float8_e4m3fn as float8_e4m3fn
from .dtype_names import float8_e4m3fnuz as float8_e4m3fnuz
from .dtype_names import float8_e5m2 as float8_e5m2
from .dtype_names import float8_e5m2fnuz as float8_e5m2fnuz
from .dtype_names import float8_e8m0fnu as float8_e8m0fnu
from .dtype_names import float16 as float16
from .dtype_names import float32 as float32
from .dtype_names import float64 as float64
from .dtype_names import floating as floating
from .dtype_names import generic as generic
from .dtype_names import iinfo as iinfo
from .dtype_names import inexact as inexact
from .dtype_names import inf as inf
from .dtype_names import int4 as int4
from .dtype_names import int8 as int8
from .dtype_names import int16 as int16
from .dtype_names import int32 as int32
from .dtype_names import int64 as int64
from .dtype_names import integer as integer
from .dtype_names import isdtype as isdtype
from .dtype_names import isscalar as isscalar
from .dtype_names import issubdtype as issubdtype
from .dtype_names import nan as nan
from .dtype_names import ndarray as ndarray
from .dtype_names import newaxis as newaxis
from .dtype_names import number as number
from .dtype_names import pi as pi
from .dtype_names import promote_types as promote_types
from .dtype_names import result_type as result_type
from .dtype_names import signedinteger as signedinteger
from .dtype_names import single as single
from .dtype_names import uint4 as uint4
from .dtype_names import uint8 as uint8
from .dtype_names import uint16 as uint16
from .dtype_names import uint32 as uint32
from .dtype_names import uint64 as uint64
from .dtype_names import unsignedinteger as unsignedinteger
from .einsum import einsum as einsum
from .einsum import einsum_path as einsum_path
from .exponentials import cbrt as cbrt
from .exponentials import exp as exp
from .exponentials import exp2 as exp2
from .exponentials import expm1 as expm1
from .exponentials import log as log
from .exponentials import log1p as log1p
from .exponentials import log2 as log2
from .exponentials import log10 as log10
from .exponentials import logaddexp as logaddexp
from .exponentials import logaddexp2 as logaddexp2
from .exponentials import sqrt as sqrt
from .extrema import clip as clip
from .extrema import fmax as fmax
from .extrema import fmin as fmin
from .extrema import heaviside as heaviside
from .extrema import maximum as maximum
from .extrema import minimum as minimum
from .floating_point import copysign as copysign
from .floating_point import frexp as frexp
from .floating_point import isfinite as isfinite
from .floating_point import isinf as isinf
from .floating_point import isnan as isnan
from .floating_point import isneginf as isneginf
from .floating_point import isposinf as isposinf
from .floating_point import ldexp as ldexp
from .floating_point import modf as modf
from .floating_point import nan_to_num as nan_to_num
from .floating_point import nextafter as nextafter
from .floating_point import signbit as signbit
from .floating_point import spacing as spacing
from .histograms import bincount as bincount
from .histograms import histogram as histogram
from .histograms import histogram_bin_edges as histogram_bin_edges
from .histograms import interp as interp
from .index_arithmetic import diag_indices as diag_indices
from .index_arithmetic import diag_indices_from as diag_indices_from
from .index_arithmetic import index_exp as index_exp
from .index_arithmetic import mgrid as mgrid
from .index_arithmetic import ogrid as ogrid
from .index_arithmetic import ravel_multi_index as ravel_multi_index
from .index_arithmetic import s_ as s_
from .index_arithmetic import tril_indices_from as tril_indices_from
from .index_arithmetic import triu_indices_from as triu_indices_from
from .index_arithmetic import unravel_index as unravel_index
from .joining import append as append
from .joining import array_split as array_split
from .joining import column_stack as column_stack
from .joining import concat as concat
from .joining import concatenate as concatenate
from .joining import dsplit as dsplit
from .joining import dstack as dstack
from .joining import hsplit as hsplit
from .joining import hstack as hstack
from .joining import repeat as repeat
from .joining import split as split
from .joining import stack as stack
from .joining import tile as tile
from .joining import unstack as unstack
from .joining import vsplit as vsplit
from .joining import vstack as vstack
from .matrices import diag as diag
from .matrices import diagflat as diagflat
from .matrices import diagonal as diagonal
from .matrices import eye as eye
from .matrices import fill_diagonal as fill_diagonal
from .matrices import identity as identity
from .matrices import trace as trace
from .matrices import tri as tri
from .matrices import tril as tril
from .matrices import tril_indices as tril_indices
from .matrices import triu as triu
from .matrices import triu_indices as triu_indices
from .matrices import vander as vander
from .namespace_info import __array_namespace_info__ as __array_namespace_info__
from .nan_reductions import nanargmax as nanargmax
from .nan_reductions import nanargmin as nanargmin
from .nan_reductions import nancumprod as nancumprod
from .nan_reductions import nancumsum as nancumsum
from .nan_reductions import nanmax as nanmax
from .nan_reductions import nanmean as nanmean
from .nan_reductions import nanmin as nanmin
from .nan_reductions import nanprod as nanprod
from .nan_reductions import nanstd as nanstd
from .nan_reductions import nansum as nansum
from .nan_reductions import nanvar as nanvar
from .padding import pad as pad
from .products import cross as cross
from .products import dot as dot
from .products import inner as inner
from .products import kron as kron
from .products import matmul as matmul
from .products import matvec as matvec
from .products import outer as outer
from .products import tensordot as tensordot
from .products import vdot as vdot
from .products import vecdot as vecdot
from .products import vecmat as vecmat
from .quantiles import median as median
from .quantiles import nanmedian as nanmedian
from .quantiles import nanpercentile as nanpercentile
from .quantiles import nanquantile as nanquantile
from .quantiles import percentile as percentile
from .quantiles import quantile as quantile
from .ranges import arange as arange
from .ranges import fromfunction as fromfunction
from .ranges import geomspace as geomspace
from .ranges import indices as indices
from .ranges import ix_ as ix_
from .ranges import linspace as linspace
from .ranges import logspace as logspace
from .ranges import meshgrid as meshgrid
from .rearranging import flip as flip
from .rearranging import fliplr as fliplr
from .rearranging import flipud as flipud
from .rearranging import roll as roll
from .rearranging import rot90 as rot90
from .reductions import all as all
from .reductions import amax as amax
from .reductions import amin as amin
from .reductions import any as any
from .reductions import argmax as argmax
from .reductions import argmin as argmin
from .reductions import count_nonzero as count_nonzero
from .reductions import max as max
from .reductions import min as min
from .reductions import prod as prod
from .reductions import ptp as ptp
from .reductions import sum as sum
from .rounding import around as around
from .rounding import ceil as ceil
from .rounding import fix as fix
from .rounding import floor as floor
from .rounding import rint as rint
from .rounding import round as round
from .rounding import trunc as trunc
from .selection import compress as compress
from .selection import put_along_axis as put_along_axis
from .selection import select as select
from .selection import take as take
from .selection import take_along_axis as take_along_axis
from .selection import where as where
from .sequences import convolve as convolve
from .sequences import correlate as correlate
from .sequences import polyval as polyval
from .sequences import unwrap as unwrap
from .set_operations import intersect1d as intersect1d
from .set_operations import setdiff1d as setdiff1d
from .set_operations import setxor1d as setxor1d
from .set_operations import union1d as union1d
from .sets import argwhere as argwhere
from .sets import flatnonzero as flatnonzero
from .sets import isin as isin
from .sets import nonzero as nonzero
from .sets import unique as unique
from .sets import unique_all as unique_all
from .sets import unique_counts as unique_counts
from .sets import unique_inverse as unique_inverse
from .sets import unique_values as unique_values
from .shapes import atleast_1d as atleast_1d
from .shapes import atleast_2d as atleast_2d
from .shapes import atleast_3d as atleast_3d
from .shapes import broadcast_arrays as broadcast_arrays
from .shapes import broadcast_shapes as broadcast_shapes
from .shapes import broadcast_to as broadcast_to
from .shapes import expand_dims as expand_dims
from .shapes import matrix_transpose as matrix_transpose
from .shapes import moveaxis as moveaxis
from .shapes import ndim as ndim
from .shapes import permute_dims as permute_dims
from .shapes import ravel as ravel
from .shapes import reshape as reshape
from .shapes import rollaxis as rollaxis
from .shapes import shape as shape
from .shapes import size as size
from .shapes import squeeze as squeeze
from .shapes import swapaxes as swapaxes
from .shapes import transpose as transpose
from .sorting import argpartition as argpartition
from .sorting import argsort as argsort
from .sorting import digitize as digitize
from .sorting import lexsort as lexsort
from .sorting import partition as partition
from .sorting import searchsorted as searchsorted
from .sorting import sort as sort
from .sorting import sort_complex as sort_complex
from .statistics import average as average
from .statistics import corrcoef as corrcoef
from .statistics import cov as cov
from .statistics import mean as mean
from .statistics import std as std
from .statistics import var as var
from .trigonometry import acos as acos
from .trigonometry import acosh as acosh
from .trigonometry import arccos as arccos
from .trigonometry import arccosh as arccosh
from .trigonometry import arcsin as arcsin
from .trigonometry import arcsinh as arcsinh
from .trigonometry import arctan as arctan
from .trigonometry import arctan2 as arctan2
from .trigonometry import arctanh as arctanh
from .trigonometry import asin as asin
from .trigonometry import asinh as asinh
from .trigonometry import atan as atan
from .trigonometry import atan2 as atan2
from .trigonometry import atanh as atanh
from .trigonometry import cos as cos
from .trigonometry import cosh as cosh
from .trigonometry import deg2rad as deg2rad
from .trigonometry import degrees as degrees
from .trigonometry import hypot as hypot
from .trigonometry import rad2deg as rad2deg
from .trigonometry import radians as radians
from .trigonometry import sin as sin
from .trigonometry import sinc as sinc
from .trigonometry import sinh as sinh
from .trigonometry import tan as tan
from .trigonometry import tanh as tanh

from . import array_methods as array_methods  # isort: skip  # registers methods of arrays

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
