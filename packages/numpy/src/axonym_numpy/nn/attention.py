"""Attention: weighted means of values, weighted by how well keys match a query."""

from __future__ import annotations

import math
from typing import Any

from axonym_core import lax, operators
from axonym_core.arrays import Array
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.operators import number_like, promote_dtypes_inexact

from ..arguments.composites import composite
from ..arguments.operands import array_of, convert
from ..creation.matrices import tri
from ..linear_algebra.einstein_sums import einsum
from ..statistics.moments import wide_enough
from .normalizations import softmax

__all__ = ["dot_product_attention"]


@composite("scale", "is_causal")
def _attend(
    query: Any, key: Any, value: Any, bias: Any, mask: Any, *, scale: float, is_causal: bool
) -> Array:
    groups = query.shape[2] // key.shape[2]
    batch, targets, heads, depth = query.shape
    sources = key.shape[1]
    grouped = lax.reshape(query, (batch, targets, heads // groups, groups, depth))
    logits = einsum("btkgd,bskd->bkgts", grouped, key)
    logits = lax.reshape(logits, (batch, heads, targets, sources))
    logits = convert(logits, wide_enough(logits.dtype))
    logits = lax.mul(logits, number_like(scale, logits.aval))
    if bias is not None:
        logits = operators.add(logits, bias)
    where = mask
    if is_causal:
        causal = tri(targets, sources, dtype=bool)
        where = causal if where is None else operators.bitwise_and(where, causal)
    weights = convert(softmax(logits, -1, where), value.dtype)
    weights = lax.reshape(weights, (batch, heads // groups, groups, targets, sources))
    out = einsum("bkgts,bskd->btkgd", weights, value)
    return lax.reshape(out, (batch, targets, heads, value.shape[-1]))


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
) -> Array:
    """Scaled dot-product attention, with any number of query heads for each key head.

    Args:
        query: Array of shape `(batch, targets, heads, depth)`, or without the batch.
        key: Array of shape `(batch, sources, key_heads, depth)`; `key_heads` divides `heads`.
        value: Array of shape `(batch, sources, key_heads, depth)`.
        bias: Array that broadcasts to `(batch, heads, targets, sources)`, added to the logits.
        mask: Truth values that broadcast to that shape: which sources a target may attend to.
        scale: Factor of the logits; `1 / sqrt(depth)` if None.
        is_causal: Whether a target attends to sources up to its own position only.

    Returns:
        Array of the shape of `query`. A target that may attend to nothing gets 0.

    Raises:
        ShapeError: The shapes do not fit.
        DTypeError: The mask does not hold truth values.

    Example:
        >>> x = lax.full((1, 3, 2, 4), 1.0, "float32")
        >>> dot_product_attention(x, x, x, is_causal=True).shape
        (1, 3, 2, 4)
    """
    q, k, v = [
        array_of("dot_product_attention", x)
        for x in promote_dtypes_inexact("dot_product_attention", query, key, value)
    ]
    single = q.ndim == 3
    if single:
        q, k, v = [lax.reshape(x, (1, *x.shape)) for x in (q, k, v)]
    if not q.ndim == k.ndim == v.ndim == 4:
        raise ShapeError(
            "dot_product_attention: query, key and value have types "
            f"{q.aval}, {k.aval} and {v.aval}; give (batch, length, heads, depth)"
        )
    fits = k.shape[:3] == v.shape[:3] and q.shape[0] == k.shape[0] and q.shape[3] == k.shape[3]
    if not fits or not k.shape[2] or q.shape[2] % k.shape[2]:
        raise ShapeError(
            f"dot_product_attention: query {q.aval}, key {k.aval} and value {v.aval} do not fit: "
            "batch and depth have to be the same, and the heads of key divide those of query"
        )
    if mask is not None:
        mask = array_of("dot_product_attention", mask, "mask")
        if mask.dtype != bool:
            raise DTypeError(
                f"dot_product_attention: mask has type {mask.aval}; give truth values, or add a "
                "bias"
            )
    factor = 1 / math.sqrt(max(q.shape[3], 1)) if scale is None else float(scale)
    out = _attend(q, k, v, bias, mask, scale=factor, is_causal=bool(is_causal))
    return lax.reshape(out, out.shape[1:]) if single else out
