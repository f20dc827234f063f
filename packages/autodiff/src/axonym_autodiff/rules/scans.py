"""Tangents of cumulative operations, as scans in logarithmically many steps.

After the step with stride `d`, position `k` holds what the elements `k - 2*d + 1 .. k` give
together. Each step combines every position with the one `d` before it, so that `log2(n)` steps
cover all. The combination is linear in the tangents and made of element-wise operations alone:
what comes out can be transposed, batched and differentiated again.

For a product the pair `(p, t)` of value and tangent combines by the product rule. For a maximum a
position takes over what lies before it only where the running maximum is still the same; ties so
share equally. For a log-sum-exp the weights are logistic functions of the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from axonym_core import lax
from axonym_core.types import aval_of

Values = tuple[Any, ...]


def _scan(values: Values, axis: int, combine: Callable[[Values, Values], Values]) -> Values:
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


def scan_product_tangent(t: Any, out: Any, x: Any, axis: int) -> Any:
    """Tangent of `cumprod`: right where factors are zero, since nothing is divided."""

    def combine(earlier: Values, later: Values) -> Values:
        (p1, t1), (p2, t2) = earlier, later
        return lax.mul(p1, p2), lax.add(lax.mul(t1, p2), lax.mul(p1, t2))

    return _scan((x, t), axis, combine)[1]


def scan_extreme_tangent(t: Any, out: Any, x: Any, axis: int) -> Any:
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

    _, total, count = _scan((out, lax.select(attained, t, zero), count), axis, combine)
    return lax.div(total, count)


def scan_logsumexp_tangent(t: Any, out: Any, x: Any, axis: int) -> Any:
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

    return _scan((x, t), axis, combine)[1]
