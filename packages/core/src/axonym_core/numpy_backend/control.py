"""NumPy evaluation of control flow: Python loops and branches over jaxprs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.control import cond_p, scan_p, stacked, while_p
from ..programs.jaxpr import Jaxpr
from ..types.dtypes import storage_dtype
from .backend import run_jaxpr
from .rules import register_evaluation


def _scan(
    *args: Any,
    jaxpr: Jaxpr,
    length: int,
    reverse: bool,
    num_consts: int,
    num_carry: int,
    unroll: int,
) -> list[Any]:
    consts = args[:num_consts]
    carry = list(args[num_consts : num_consts + num_carry])
    xs = args[num_consts + num_carry :]
    outputs = [
        np.empty(aval.shape, storage_dtype(aval.dtype))
        for aval in [stacked(a, length) for a in jaxpr.out_avals[num_carry:]]
    ]
    for i in reversed(range(length)) if reverse else range(length):
        outs = run_jaxpr(jaxpr, [*consts, *carry, *[x[i] for x in xs]])
        carry = outs[:num_carry]
        for whole, part in zip(outputs, outs[num_carry:], strict=True):
            whole[i] = part
    return [*carry, *outputs]


def _while(
    *args: Any, cond_jaxpr: Jaxpr, body_jaxpr: Jaxpr, cond_consts: int, body_consts: int
) -> list[Any]:
    for_cond = args[:cond_consts]
    for_body = args[cond_consts : cond_consts + body_consts]
    carry = list(args[cond_consts + body_consts :])
    while run_jaxpr(cond_jaxpr, [*for_cond, *carry])[0]:
        carry = run_jaxpr(body_jaxpr, [*for_body, *carry])
    return carry


def _cond(index: Any, *args: Any, branches: tuple[Jaxpr, ...]) -> list[Any]:
    return run_jaxpr(branches[int(index)], args)


register_evaluation(scan_p, _scan)
register_evaluation(while_p, _while)
register_evaluation(cond_p, _cond)
