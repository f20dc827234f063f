"""Batching of element-wise operations: they are applied to the larger arrays.

Operands of several ranks are aligned first (`align_elementwise`): the mapped axis goes to one
place, and a rank-0 operand that has it becomes an array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from axonym_core.avals import aval_of
from axonym_core.primitive import Primitive
from axonym_core.primitives import elementwise as p

from ..rule_tables import (
    Dim,
    MappedAxis,
    defbroadcasting,
    defvectorized,
    move_to_front,
    register_batching,
)

_ONE_OPERAND: Final[tuple[Primitive, ...]] = (
    p.neg_p,
    p.sign_p,
    p.abs_p,
    p.integer_pow_p,
    p.square_p,
    p.exp_p,
    p.exp2_p,
    p.expm1_p,
    p.log_p,
    p.log1p_p,
    p.sqrt_p,
    p.rsqrt_p,
    p.cbrt_p,
    p.sin_p,
    p.cos_p,
    p.tan_p,
    p.asin_p,
    p.acos_p,
    p.atan_p,
    p.sinh_p,
    p.cosh_p,
    p.tanh_p,
    p.asinh_p,
    p.acosh_p,
    p.atanh_p,
    p.logistic_p,
    p.erf_p,
    p.erfc_p,
    p.erf_inv_p,
    p.lgamma_p,
    p.digamma_p,
    p.floor_p,
    p.ceil_p,
    p.round_p,
    p.is_finite_p,
    p.not_p,
    p.population_count_p,
    p.convert_element_type_p,
    p.real_p,
    p.imag_p,
    p.conj_p,
    p.stop_gradient_p,
    p.copy_p,
)

_SEVERAL_OPERANDS: Final[tuple[Primitive, ...]] = (
    p.add_p,
    p.sub_p,
    p.mul_p,
    p.mul_no_nan_p,
    p.div_p,
    p.rem_p,
    p.pow_p,
    p.max_p,
    p.min_p,
    p.atan2_p,
    p.nextafter_p,
    p.polygamma_p,
    p.complex_p,
    p.eq_p,
    p.ne_p,
    p.lt_p,
    p.le_p,
    p.gt_p,
    p.ge_p,
    p.and_p,
    p.or_p,
    p.xor_p,
    p.shift_left_p,
    p.shift_right_arithmetic_p,
    p.shift_right_logical_p,
    p.select_n_p,
    p.clamp_p,
)


def _batch_bitcast(
    axis: MappedAxis, args: Sequence[Any], dims: Sequence[Dim], *, new_dtype: Any
) -> tuple[Any, Dim]:
    # The last dimension may be divided or joined, so the mapped axis must not be it.
    (x,), (dim,) = args, dims
    if aval_of(x).dtype.itemsize == new_dtype.itemsize:
        return p.bitcast_convert_type_p.bind(x, new_dtype=new_dtype), dim
    x = move_to_front(x, dim, axis.size)
    return p.bitcast_convert_type_p.bind(x, new_dtype=new_dtype), 0


for _primitive in _ONE_OPERAND:
    defvectorized(_primitive)
for _primitive in _SEVERAL_OPERANDS:
    defbroadcasting(_primitive)
register_batching(p.bitcast_convert_type_p, _batch_bitcast)
