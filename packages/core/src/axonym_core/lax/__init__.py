"""`lax`: the primitive operations as functions.

They do what they say and no more: operands have equal shapes (or are scalars) and equal dtypes,
and nothing is promoted. `axonym.numpy` and the operators of arrays add broadcasting and promotion.
"""

from __future__ import annotations

from ..primitives.contractions import Precision as Precision
from ..primitives.convolutions import ConvDimensionNumbers as ConvDimensionNumbers
from .collectives import axis_index as axis_index
from .collectives import axis_size as axis_size
from .collectives import pbroadcast as pbroadcast
from .collectives import pmax as pmax
from .collectives import pmean as pmean
from .collectives import pmin as pmin
from .collectives import psum as psum
from .contractions import batch_matmul as batch_matmul
from .contractions import dot as dot
from .contractions import dot_general as dot_general
from .control import cond as cond
from .control import fori_loop as fori_loop
from .control import map as map
from .control import scan as scan
from .control import switch as switch
from .control import while_loop as while_loop
from .convolutions import conv as conv
from .convolutions import conv_dimension_numbers as conv_dimension_numbers
from .convolutions import conv_general_dilated as conv_general_dilated
from .convolutions import conv_transpose as conv_transpose
from .convolutions import conv_with_general_padding as conv_with_general_padding
from .convolutions import padtype_to_pads as padtype_to_pads
from .elementwise import RoundingMethod as RoundingMethod
from .elementwise import abs as abs
from .elementwise import acos as acos
from .elementwise import acosh as acosh
from .elementwise import add as add
from .elementwise import asin as asin
from .elementwise import asinh as asinh
from .elementwise import atan as atan
from .elementwise import atan2 as atan2
from .elementwise import atanh as atanh
from .elementwise import bitcast_convert_type as bitcast_convert_type
from .elementwise import bitwise_and as bitwise_and
from .elementwise import bitwise_not as bitwise_not
from .elementwise import bitwise_or as bitwise_or
from .elementwise import bitwise_xor as bitwise_xor
from .elementwise import cbrt as cbrt
from .elementwise import ceil as ceil
from .elementwise import clamp as clamp
from .elementwise import complex as complex
from .elementwise import conj as conj
from .elementwise import convert_element_type as convert_element_type
from .elementwise import copy as copy
from .elementwise import cos as cos
from .elementwise import cosh as cosh
from .elementwise import digamma as digamma
from .elementwise import div as div
from .elementwise import eq as eq
from .elementwise import erf as erf
from .elementwise import erf_inv as erf_inv
from .elementwise import erfc as erfc
from .elementwise import exp as exp
from .elementwise import exp2 as exp2
from .elementwise import expm1 as expm1
from .elementwise import floor as floor
from .elementwise import ge as ge
from .elementwise import gt as gt
from .elementwise import imag as imag
from .elementwise import integer_pow as integer_pow
from .elementwise import is_finite as is_finite
from .elementwise import le as le
from .elementwise import lgamma as lgamma
from .elementwise import log as log
from .elementwise import log1p as log1p
from .elementwise import logistic as logistic
from .elementwise import lt as lt
from .elementwise import max as max
from .elementwise import min as min
from .elementwise import mul as mul
from .elementwise import mul_no_nan as mul_no_nan
from .elementwise import ne as ne
from .elementwise import neg as neg
from .elementwise import nextafter as nextafter
from .elementwise import polygamma as polygamma
from .elementwise import population_count as population_count
from .elementwise import pow as pow
from .elementwise import real as real
from .elementwise import reciprocal as reciprocal
from .elementwise import rem as rem
from .elementwise import round as round
from .elementwise import rsqrt as rsqrt
from .elementwise import select as select
from .elementwise import select_n as select_n
from .elementwise import shift_left as shift_left
from .elementwise import shift_right_arithmetic as shift_right_arithmetic
from .elementwise import shift_right_logical as shift_right_logical
from .elementwise import sign as sign
from .elementwise import sin as sin
from .elementwise import sinh as sinh
from .elementwise import sqrt as sqrt
from .elementwise import square as square
from .elementwise import stop_gradient as stop_gradient
from .elementwise import sub as sub
from .elementwise import tan as tan
from .elementwise import tanh as tanh
from .indexing import GatherDimensionNumbers as GatherDimensionNumbers
from .indexing import GatherScatterMode as GatherScatterMode
from .indexing import ScatterDimensionNumbers as ScatterDimensionNumbers
from .indexing import dynamic_index_in_dim as dynamic_index_in_dim
from .indexing import dynamic_slice as dynamic_slice
from .indexing import dynamic_slice_in_dim as dynamic_slice_in_dim
from .indexing import dynamic_update_index_in_dim as dynamic_update_index_in_dim
from .indexing import dynamic_update_slice as dynamic_update_slice
from .indexing import dynamic_update_slice_in_dim as dynamic_update_slice_in_dim
from .indexing import gather as gather
from .indexing import scatter as scatter
from .indexing import scatter_add as scatter_add
from .indexing import scatter_max as scatter_max
from .indexing import scatter_min as scatter_min
from .indexing import scatter_mul as scatter_mul
from .random_bits import threefry2x32 as threefry2x32
from .random_bits import threefry_fold_in as threefry_fold_in
from .random_bits import threefry_random_bits as threefry_random_bits
from .random_bits import threefry_seed as threefry_seed
from .random_bits import threefry_split as threefry_split
from .reductions import argmax as argmax
from .reductions import argmin as argmin
from .reductions import cumlogsumexp as cumlogsumexp
from .reductions import cummax as cummax
from .reductions import cummin as cummin
from .reductions import cumprod as cumprod
from .reductions import cumsum as cumsum
from .reductions import reduce_and as reduce_and
from .reductions import reduce_max as reduce_max
from .reductions import reduce_min as reduce_min
from .reductions import reduce_or as reduce_or
from .reductions import reduce_prod as reduce_prod
from .reductions import reduce_sum as reduce_sum
from .shape import broadcast as broadcast
from .shape import broadcast_in_dim as broadcast_in_dim
from .shape import broadcast_shapes as broadcast_shapes
from .shape import broadcasted_iota as broadcasted_iota
from .shape import collapse as collapse
from .shape import concatenate as concatenate
from .shape import expand_dims as expand_dims
from .shape import full as full
from .shape import full_like as full_like
from .shape import index_in_dim as index_in_dim
from .shape import iota as iota
from .shape import optimization_barrier as optimization_barrier
from .shape import pad as pad
from .shape import reshape as reshape
from .shape import rev as rev
from .shape import slice as slice
from .shape import slice_in_dim as slice_in_dim
from .shape import split as split
from .shape import squeeze as squeeze
from .shape import transpose as transpose
from .shape import zeros_like_array as zeros_like_array
from .sorting import sort as sort
from .sorting import sort_key_val as sort_key_val
from .sorting import top_k as top_k

__all__ = [
    "ConvDimensionNumbers",
    "GatherDimensionNumbers",
    "GatherScatterMode",
    "Precision",
    "RoundingMethod",
    "ScatterDimensionNumbers",
    "abs",
    "acos",
    "acosh",
    "add",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "axis_index",
    "axis_size",
    "batch_matmul",
    "bitcast_convert_type",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast",
    "broadcast_in_dim",
    "broadcast_shapes",
    "broadcasted_iota",
    "cbrt",
    "ceil",
    "clamp",
    "collapse",
    "complex",
    "concatenate",
    "cond",
    "conj",
    "conv",
    "conv_dimension_numbers",
    "conv_general_dilated",
    "conv_transpose",
    "conv_with_general_padding",
    "convert_element_type",
    "copy",
    "cos",
    "cosh",
    "cumlogsumexp",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "digamma",
    "div",
    "dot",
    "dot_general",
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
    "eq",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "floor",
    "fori_loop",
    "full",
    "full_like",
    "gather",
    "ge",
    "gt",
    "imag",
    "index_in_dim",
    "integer_pow",
    "iota",
    "is_finite",
    "le",
    "lgamma",
    "log",
    "log1p",
    "logistic",
    "lt",
    "map",
    "max",
    "min",
    "mul",
    "mul_no_nan",
    "ne",
    "neg",
    "nextafter",
    "optimization_barrier",
    "pad",
    "padtype_to_pads",
    "pbroadcast",
    "pmax",
    "pmean",
    "pmin",
    "polygamma",
    "population_count",
    "pow",
    "psum",
    "real",
    "reciprocal",
    "reduce_and",
    "reduce_max",
    "reduce_min",
    "reduce_or",
    "reduce_prod",
    "reduce_sum",
    "rem",
    "reshape",
    "rev",
    "round",
    "rsqrt",
    "scan",
    "scatter",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "select",
    "select_n",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sin",
    "sinh",
    "slice",
    "slice_in_dim",
    "sort",
    "sort_key_val",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stop_gradient",
    "sub",
    "switch",
    "tan",
    "tanh",
    "threefry2x32",
    "threefry_fold_in",
    "threefry_random_bits",
    "threefry_seed",
    "threefry_split",
    "top_k",
    "transpose",
    "while_loop",
    "zeros_like_array",
]
