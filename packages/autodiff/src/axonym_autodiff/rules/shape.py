"""Derivatives of the primitives that move elements: all of them are linear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core import lax
from axonym_core.extend import Zero, instantiate
from axonym_core.primitives import shape as p
from axonym_core.types import ShapedArray, aval_of

from ..rule_tables import Reading, deflinear, defzero, is_linear, register_jvp, register_transpose

Shape = tuple[int, ...]


def zero_scalar(aval: ShapedArray) -> Any:
    """Scalar zero of an aval's dtype."""
    return aval.dtype.type(0)


def _broadcast_in_dim(
    reading: Reading, ct: Any, x: Any, *, shape: Shape, broadcast_dimensions: Shape
) -> list[Any]:
    own = aval_of(x).shape
    kept = dict(zip(broadcast_dimensions, own, strict=True))
    repeated = tuple([d for d, n in enumerate(shape) if kept.get(d) != n])
    if repeated:
        ct = lax.reduce_sum(ct, repeated)
    return [lax.reshape(ct, own)]


def _reshape(reading: Reading, ct: Any, x: Any, **params: Any) -> list[Any]:
    return [lax.reshape(ct, aval_of(x).shape)]


def _transpose(reading: Reading, ct: Any, x: Any, *, permutation: Shape) -> list[Any]:
    inverse = sorted(range(len(permutation)), key=permutation.__getitem__)
    return [lax.transpose(ct, tuple(inverse))]


def _rev(reading: Reading, ct: Any, x: Any, *, dimensions: Shape) -> list[Any]:
    return [lax.rev(ct, dimensions)]


def _slice(
    reading: Reading,
    ct: Any,
    x: Any,
    *,
    start_indices: Shape,
    limit_indices: Shape,
    strides: Shape,
) -> list[Any]:
    config = []
    for size, n, start, step in zip(
        aval_of(x).shape, aval_of(ct).shape, start_indices, strides, strict=True
    ):
        covered = (n - 1) * step + 1 if n else 0
        config.append((start, size - start - covered, step - 1))
    return [lax.pad(ct, zero_scalar(aval_of(ct)), config)]


def _split(reading: Reading, cts: Sequence[Any], x: Any, *, sizes: Shape, axis: int) -> list[Any]:
    return [lax.concatenate([instantiate(ct) for ct in cts], axis)]


def _concatenate(reading: Reading, ct: Any, *xs: Any, dimension: int) -> list[Any]:
    sizes = tuple([aval_of(x).shape[dimension] for x in xs])
    wanted = [is_linear(x) for x in xs]
    if sum(wanted) > 1:
        parts = lax.split(ct, sizes, dimension)
        return [part if w else None for part, w in zip(parts, wanted, strict=True)]
    out: list[Any] = []
    start = 0
    for size, w in zip(sizes, wanted, strict=True):
        out.append(lax.slice_in_dim(ct, start, start + size, axis=dimension) if w else None)
        start += size
    return out


def _pad(
    reading: Reading, ct: Any, x: Any, padding_value: Any, *, padding_config: p.PaddingConfig
) -> list[Any]:
    aval = aval_of(x)
    zero = zero_scalar(aval_of(ct))
    ct_x = ct_value = None
    if is_linear(x):
        trimmed = lax.pad(ct, zero, [(-low, -high, 0) for low, high, _ in padding_config])
        ct_x = lax.slice(
            trimmed,
            (0,) * aval.ndim,
            aval_of(trimmed).shape,
            tuple([interior + 1 for _, _, interior in padding_config]),
        )
    if is_linear(padding_value):
        # Not `sum(ct) - sum(ct_x)`: an infinity in ct_x would leave NaN.
        inside = lax.pad(lax.full(aval.shape, True, bool), False, padding_config)
        outside = lax.select(inside, lax.full(aval_of(ct).shape, 0, aval_of(ct).dtype), ct)
        ct_value = lax.reduce_sum(outside, tuple(range(aval.ndim)))
    return [ct_x, ct_value]


def _pad_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, padding_config: p.PaddingConfig
) -> tuple[Any, Any]:
    out = p.pad_p.bind(*primals, padding_config=padding_config)
    t, t_value = tangents
    if type(t_value) is Zero:
        t_value = zero_scalar(t_value.aval)
    tangent = p.pad_p.bind(instantiate(t), t_value, padding_config=padding_config)
    return out, tangent


def _barrier_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    outs = p.optimization_barrier_p.bind(*primals)
    return outs, _barrier_nonzero(tangents)


def _barrier_nonzero(values: Sequence[Any]) -> list[Any]:
    """Put those values behind a barrier that are not symbolic zeros."""
    through = iter(p.optimization_barrier_p.bind(*[v for v in values if type(v) is not Zero]))
    return [v if type(v) is Zero else next(through) for v in values]


def _barrier_transpose(reading: Reading, cts: Sequence[Any], *xs: Any) -> list[Any]:
    return [ct if type(ct) is not Zero else None for ct in _barrier_nonzero(cts)]


deflinear(p.broadcast_in_dim_p, _broadcast_in_dim)
deflinear(p.reshape_p, _reshape)
deflinear(p.squeeze_p, _reshape)
deflinear(p.transpose_p, _transpose)
deflinear(p.rev_p, _rev)
deflinear(p.slice_p, _slice)
deflinear(p.split_p, _split)
deflinear(p.concatenate_p, _concatenate)
deflinear(p.pad_p, _pad)
register_jvp(p.pad_p, _pad_jvp)  # a scalar zero for a constant padding value
register_jvp(p.optimization_barrier_p, _barrier_jvp)
register_transpose(p.optimization_barrier_p, _barrier_transpose)
defzero(p.iota_p)
