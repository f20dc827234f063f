"""Cases of the collectives, under an axis of three indices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from axonym import lax
from rule_cases.case import Case, complexes, spaced, whole


def _nothing(*operands: Any) -> None:
    """They mean nothing without the axis."""


def _reductions() -> Iterator[Case]:
    for name, word in (("psum", np.sum), ("pmax", np.max), ("pmin", np.min)):

        def fun(x: Any, name: str = name) -> Any:
            return getattr(lax, name)(x, "i")

        def positional(x: Any, word: Any = word) -> Any:
            return word(x, axis=0).astype(x.dtype)

        operands = [spaced((2, 3)), spaced((4,)).astype("f4"), spaced(()), whole((3,))]
        if name == "psum":
            operands += [complexes((2,)), spaced((3,)).astype(ml_dtypes.bfloat16)]
        for x in operands:
            smooth = x.dtype != ml_dtypes.bfloat16
            size = (
                3 if name == "psum" else 2
            )  # differences share a tie of two equally, not of three
            yield Case(
                *(name, fun, _nothing, (x,), "", (), smooth, name == "psum", None, 8.0),
                *(positional, False, size),
            )


def _others() -> Iterator[Case]:
    def product(x: Any, y: Any) -> Any:
        return lax.psum(x * y, "i")

    yield Case(
        "psum",
        product,
        _nothing,
        (spaced((3,)), spaced((3,), seed=1)),
        "of a product",
        positional=lambda x, y: (x * y).sum(0),
        varies=False,
        loose=8,
    )

    def weighted(x: Any) -> Any:
        return x * lax.convert_element_type(lax.axis_index("i"), x.dtype)

    def places(x: Any) -> Any:
        return x * np.arange(3.0).reshape(3, *[1] * (x.ndim - 1))

    for x in (spaced((2, 2)), spaced(())):
        yield Case(
            "axis_index", weighted, _nothing, (x,), "as a factor", positional=places, varies=True
        )
    x = spaced((2, 3))

    def vary(x: Any) -> Any:
        return lax.pbroadcast(x, {"i": 3})

    yield Case(
        "pbroadcast",
        lambda x: vary(lax.psum(x, "i")),
        _nothing,
        (x,),
        "of a sum",
        positional=lambda x: np.stack([x.sum(0)] * 3),
        varies=True,
        loose=8,
    )


def _in_groups() -> Iterator[Case]:
    groups = [[0, 2], [1, 3]]
    for name, word in (("psum", np.sum), ("pmax", np.max), ("pmin", np.min)):

        def fun(x: Any, name: str = name) -> Any:
            return getattr(lax, name)(x, "i", axis_index_groups=groups)

        def positional(x: Any, word: Any = word) -> Any:
            out = np.empty_like(x)
            for group in groups:
                out[group] = word(x[group], axis=0)
            return out

        for x in (spaced((2, 3)), spaced((4,)).astype("f4"), whole((5,))):
            yield Case(
                *(f"grouped_{name}", fun, _nothing, (x,), "", (), True, name == "psum", None, 8.0),
                *(positional, True, 4),
            )


CASES = [*_reductions(), *_others(), *_in_groups()]
