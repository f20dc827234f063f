"""Collectives: operations that refer to named axes.

Applied to an operand that does not vary over the axis, each means what it would for `n` equal
copies: `psum` multiplies by `n`, `pmax` is the operand itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..programs.primitive import ALL, Primitive
from ..types.avals import AxisName, ShapedArray, join_named

_NEVER_EVALUATED = "named axes are mapped away before anything is evaluated"


def _axes(params: Mapping[str, Any]) -> Sequence[AxisName]:
    axes: tuple[AxisName, ...] = params["axes"]
    return axes


def _drop(x: ShapedArray, *, axes: tuple[AxisName, ...]) -> ShapedArray:
    return x.update(named_shape=tuple(e for e in x.named if e[0] not in axes), weak_type=False)


def _reduction(name: str) -> Primitive:
    return Primitive(
        name,
        _drop,
        linear=ALL if name == "psum" else (),
        uses_axes=_axes,
        absent={
            "evaluation": _NEVER_EVALUATED,
            "lowering": _NEVER_EVALUATED,
        },
    )


psum_p = _reduction("psum")
pmax_p = _reduction("pmax")
pmin_p = _reduction("pmin")


def _grouped_shape(
    x: ShapedArray, *, axis: AxisName, size: int, groups: tuple[tuple[int, ...], ...]
) -> ShapedArray:
    return x.update(named_shape=join_named(x.named, ((axis, size),)), weak_type=False)


def _grouped_reduction(name: str) -> Primitive:
    return Primitive(
        name,
        _grouped_shape,
        linear=ALL if name == "grouped_psum" else (),
        uses_axes=lambda params: (params["axis"],),
        absent={
            "evaluation": _NEVER_EVALUATED,
            "lowering": _NEVER_EVALUATED,
        },
    )


# Reductions among the indices of each of several groups, which together are all indices of the
# axis: the result varies over it.
grouped_psum_p = _grouped_reduction("grouped_psum")
grouped_pmax_p = _grouped_reduction("grouped_pmax")
grouped_pmin_p = _grouped_reduction("grouped_pmin")


def _pbroadcast_shape(x: ShapedArray, *, named: tuple[tuple[AxisName, int], ...]) -> ShapedArray:
    return x.update(named_shape=join_named(x.named, named))


# Makes a value that does not vary over axes one that does, each index holding a copy.
pbroadcast_p = Primitive(
    "pbroadcast",
    _pbroadcast_shape,
    linear=ALL,
    uses_axes=lambda params: [name for name, _ in params["named"]],
    communicates=False,
    absent={"evaluation": _NEVER_EVALUATED, "lowering": _NEVER_EVALUATED},
)


def _axis_index_shape(*, axis: AxisName, size: int) -> ShapedArray:
    return ShapedArray((), np.dtype(np.int32), False, ((axis, size),))


axis_index_p = Primitive(
    "axis_index",
    _axis_index_shape,
    uses_axes=lambda params: (params["axis"],),
    communicates=False,
    absent={
        "evaluation": _NEVER_EVALUATED,
        "lowering": _NEVER_EVALUATED,
        "jvp": "it has no operand",
        "transpose": "it has no operand",
    },
)
