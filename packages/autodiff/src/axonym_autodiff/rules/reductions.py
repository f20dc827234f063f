"""Derivatives of reductions and cumulative operations.

Sums are linear. The derivative of a maximum is shared equally by the elements that attain it. That
of a product is written with partial products, never by division, so that zeros do no harm at any
order. Tangents of cumulative operations other than sums are found in logarithmically many steps.

After the step with stride `d`, position `k` holds what the elements `k - 2*d + 1 .. k` give
together. Each step combines every position with the one `d` before it, so that `log2(n)` steps
cover all. The combination is linear in the tangents and made of element-wise operations alone:
what comes out can be transposed, batched and differentiated again.

For a product the pair `(p, t)` of value and tangent combines by the product rule. For a maximum a
position takes over what lies before it only where the running maximum is still the same; ties so
share equally. For a log-sum-exp the weights are logistic functions of the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axonym_core import lax
from axonym_core.extend import instantiate
from axonym_core.primitives import reductions as p
from axonym_core.programs import Primitive
from axonym_core.tracing import Tracer
from axonym_core.types import AxisName, aval_of

from ..rule_tables import Reading, deflinear, defzero, register_jvp
from .contractions import axes_to_sum, read_elementwise


def _kept(ndim: int, axes: Sequence[int]) -> tuple[int, ...]:
    return tuple([i for i in range(ndim) if i not in axes])


def _reduce_sum_transpose(
    reading: Reading,
    ct: Any,
    x: Any,
    *,
    axes: tuple[int, ...],
    axis_names: tuple[AxisName, ...],
) -> list[Any]:
    aval = aval_of(x)
    ct = read_elementwise(reading, ct, axis_names)
    names = axes_to_sum(reading, x, (), axis_names)
    if names:  # x counts once per index of an axis that it does not vary over
        ct = lax.psum(ct, names)
    if axes:
        ct = lax.broadcast_in_dim(ct, aval.shape, _kept(aval.ndim, axes))
    return [ct]


def rounded_once(x: Any) -> Any:
    """A value that is to be compared with its own extreme.

    A compiler that computes it once for the extreme and again for the comparison may round it in
    two ways, and then nothing attains the extreme. Evaluated at once there is only one value.
    """
    return lax.optimization_barrier(x) if isinstance(x, Tracer) else x


def _def_extreme(primitive: Primitive) -> None:
    def jvp(
        primals: Sequence[Any],
        tangents: Sequence[Any],
        *,
        axes: tuple[int, ...],
        axis_names: tuple[AxisName, ...],
    ) -> tuple[Any, Any]:
        x, t = rounded_once(primals[0]), instantiate(tangents[0])
        out = primitive.bind(x, axes=axes, axis_names=axis_names)
        aval, dtype = aval_of(x), aval_of(t).dtype
        if aval.size == 0:  # nothing attains the extreme of nothing, and 0 / 0 is no derivative
            return out, lax.full(aval_of(out).shape, 0, dtype)
        attained = lax.eq(x, lax.broadcast_in_dim(out, aval.shape, _kept(aval.ndim, axes)))
        count = lax.reduce_sum(lax.convert_element_type(attained, dtype), axes, axis_names)
        at_extreme = lax.select(attained, t, dtype.type(0))
        return out, lax.div(lax.reduce_sum(at_extreme, axes, axis_names), count)

    register_jvp(primitive, jvp)


def _reduce_prod_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple[int, ...]
) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    out = p.reduce_prod_p.bind(x, axes=axes)
    t = instantiate(t)
    shape = aval_of(x).shape
    kept = _kept(len(shape), axes)
    size = 1
    for axis in axes:
        size *= shape[axis]
    rest = tuple([shape[i] for i in kept])
    if size == 0:
        return out, lax.full(rest, 0, aval_of(t).dtype)
    order = (*axes, *kept)
    x, t = [lax.reshape(lax.transpose(v, order), (size, *rest)) for v in (x, t)]
    # Multiply the two halves of the elements until one is left, by the product rule each time.
    while size > 1:
        half = size // 2
        x1, x2, x3 = _halves(x, half)
        t1, t2, t3 = _halves(t, half)
        x = lax.mul(x1, x2)
        t = lax.add(lax.mul(t1, x2), lax.mul(x1, t2))
        if size % 2:
            x, t = lax.concatenate([x, x3], 0), lax.concatenate([t, t3], 0)
        size = half + size % 2
    return out, lax.reshape(t, rest)


def _halves(x: Any, half: int) -> tuple[Any, Any, Any]:
    size = aval_of(x).shape[0]
    return (
        lax.slice_in_dim(x, 0, half),
        lax.slice_in_dim(x, half, 2 * half),
        lax.slice_in_dim(x, 2 * half, size) if size % 2 else None,
    )


def _cumsum_transpose(reading: Reading, ct: Any, x: Any, *, axis: int, reverse: bool) -> list[Any]:
    return [lax.cumsum(ct, axis, not reverse)]


def _def_cumulative(primitive: Primitive, tangent: Any) -> None:
    def jvp(
        primals: Sequence[Any], tangents: Sequence[Any], *, axis: int, reverse: bool
    ) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        if tangent is _running_extreme_tangent:
            x = rounded_once(x)
        out = primitive.bind(x, axis=axis, reverse=reverse)
        t = instantiate(t)
        flip = (axis,)
        if reverse:
            flipped = tangent(lax.rev(t, flip), lax.rev(out, flip), lax.rev(x, flip), axis)
            return out, lax.rev(flipped, flip)
        return out, tangent(t, out, x, axis)

    register_jvp(primitive, jvp)


Values = tuple[Any, ...]


def _combined(values: Values, axis: int, combine: Callable[[Values, Values], Values]) -> Values:
    """Combine each position with all before it; `combine(earlier, later)`."""
    size = aval_of(values[0]).shape[axis]
    stride = 1
    while stride < size:
        earlier = tuple([lax.slice_in_dim(v, 0, size - stride, axis=axis) for v in values])
        later = tuple([lax.slice_in_dim(v, stride, size, axis=axis) for v in values])
        combined = combine(earlier, later)
        values = tuple(
            [
                lax.concatenate([lax.slice_in_dim(v, 0, stride, axis=axis), c], axis)
                for v, c in zip(values, combined, strict=True)
            ]
        )
        stride *= 2
    return values


def _product_tangent(t: Any, out: Any, x: Any, axis: int) -> Any:
    """Tangent of `cumprod`: right where factors are zero, since nothing is divided."""

    def combine(earlier: Values, later: Values) -> Values:
        (p1, t1), (p2, t2) = earlier, later
        return lax.mul(p1, p2), lax.add(lax.mul(t1, p2), lax.mul(p1, t2))

    return _combined((x, t), axis, combine)[1]


def _running_extreme_tangent(t: Any, out: Any, x: Any, axis: int) -> Any:
    """Tangent of `cummax` and `cummin`: the mean over the elements that attain the extreme."""
    aval = aval_of(t)
    attained = lax.eq(x, out)
    zero = aval.dtype.type(0)
    count = lax.convert_element_type(attained, aval.dtype)

    def combine(earlier: Values, later: Values) -> Values:
        (m1, t1, n1), (m2, t2, n2) = earlier, later
        same = lax.eq(m1, m2)
        return (
            m2,
            lax.add(t2, lax.select(same, t1, zero)),
            lax.add(n2, lax.select(same, n1, zero)),
        )

    _, total, count = _combined((out, lax.select(attained, t, zero), count), axis, combine)
    return lax.div(total, count)


def _logsumexp_tangent(t: Any, out: Any, x: Any, axis: int) -> Any:
    """Tangent of `cumlogsumexp`: the mean weighted with the exponentials."""

    def combine(earlier: Values, later: Values) -> Values:
        (l1, t1), (l2, t2) = earlier, later
        # Equal infinities have no difference; they share equally as other equal values do.
        infinite = lax.bitwise_and(lax.eq(l1, l2), lax.bitwise_not(lax.is_finite(l1)))
        zero = aval_of(l1).dtype.type(0)
        d = lax.select(infinite, zero, lax.sub(l1, l2))
        first_larger = lax.ge(d, zero)
        smaller = lax.exp(lax.select(first_larger, lax.neg(d), d))
        value = lax.add(lax.select(first_larger, l1, l2), lax.log1p(smaller))
        weighted = lax.add(lax.mul(lax.logistic(d), t1), lax.mul(lax.logistic(lax.neg(d)), t2))
        return value, weighted

    return _combined((x, t), axis, combine)[1]


deflinear(p.reduce_sum_p, _reduce_sum_transpose, sums_named_axes=True)
_def_extreme(p.reduce_max_p)
_def_extreme(p.reduce_min_p)
register_jvp(p.reduce_prod_p, _reduce_prod_jvp)
for _primitive in (p.reduce_and_p, p.reduce_or_p, p.argmax_p, p.argmin_p):
    defzero(_primitive)
deflinear(p.cumsum_p, _cumsum_transpose)
_def_cumulative(p.cumprod_p, _product_tangent)
_def_cumulative(p.cummax_p, _running_extreme_tangent)
_def_cumulative(p.cummin_p, _running_extreme_tangent)
_def_cumulative(p.cumlogsumexp_p, _logsumexp_tangent)
