"""Element-wise operations: the functions of this family, which four modules define.

`arithmetic` computes, `comparisons` compares and works on bits, `conversions` selects and converts,
`functions` has the mathematical functions.
"""

from __future__ import annotations

from .arithmetic import RoundingMethod as RoundingMethod
from .arithmetic import abs as abs
from .arithmetic import add as add
from .arithmetic import ceil as ceil
from .arithmetic import clamp as clamp
from .arithmetic import div as div
from .arithmetic import floor as floor
from .arithmetic import integer_pow as integer_pow
from .arithmetic import max as max
from .arithmetic import min as min
from .arithmetic import mul as mul
from .arithmetic import mul_no_nan as mul_no_nan
from .arithmetic import neg as neg
from .arithmetic import nextafter as nextafter
from .arithmetic import pow as pow
from .arithmetic import reciprocal as reciprocal
from .arithmetic import rem as rem
from .arithmetic import round as round
from .arithmetic import sign as sign
from .arithmetic import square as square
from .arithmetic import sub as sub
from .comparisons import bitwise_and as bitwise_and
from .comparisons import bitwise_not as bitwise_not
from .comparisons import bitwise_or as bitwise_or
from .comparisons import bitwise_xor as bitwise_xor
from .comparisons import eq as eq
from .comparisons import ge as ge
from .comparisons import gt as gt
from .comparisons import is_finite as is_finite
from .comparisons import le as le
from .comparisons import lt as lt
from .comparisons import ne as ne
from .comparisons import population_count as population_count
from .comparisons import shift_left as shift_left
from .comparisons import shift_right_arithmetic as shift_right_arithmetic
from .comparisons import shift_right_logical as shift_right_logical
from .conversions import bitcast_convert_type as bitcast_convert_type
from .conversions import complex as complex
from .conversions import conj as conj
from .conversions import convert_element_type as convert_element_type
from .conversions import copy as copy
from .conversions import imag as imag
from .conversions import real as real
from .conversions import select as select
from .conversions import select_n as select_n
from .conversions import stop_gradient as stop_gradient
from .functions import acos as acos
from .functions import acosh as acosh
from .functions import asin as asin
from .functions import asinh as asinh
from .functions import atan as atan
from .functions import atan2 as atan2
from .functions import atanh as atanh
from .functions import cbrt as cbrt
from .functions import cos as cos
from .functions import cosh as cosh
from .functions import digamma as digamma
from .functions import erf as erf
from .functions import erf_inv as erf_inv
from .functions import erfc as erfc
from .functions import exp as exp
from .functions import exp2 as exp2
from .functions import expm1 as expm1
from .functions import lgamma as lgamma
from .functions import log as log
from .functions import log1p as log1p
from .functions import logistic as logistic
from .functions import polygamma as polygamma
from .functions import rsqrt as rsqrt
from .functions import sin as sin
from .functions import sinh as sinh
from .functions import sqrt as sqrt
from .functions import tan as tan
from .functions import tanh as tanh
