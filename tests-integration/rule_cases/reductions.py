"""Cases of reductions and cumulative operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from axonym import lax
from rule_cases.case import Case, complexes, spaced, truths, whole

NAN, INF = np.nan, np.inf
AXES = [(0,), (1,), (0, 2), (0, 1, 2), ()]


def _reductions() -> Iterator[Case]:
    x = spaced((2, 3, 2), -2.0, 2.6)
    for axes in AXES:
        for name, word in (("sum", np.sum), ("prod", np.prod), ("max", np.max), ("min", np.min)):

            def fun(x: Any, name: str = name, axes: Any = axes) -> Any:
                return getattr(lax, f"reduce_{name}")(x, axes)

            def reference(x: Any, word: Any = word, axes: Any = axes) -> Any:
                return (
                    word(x, axis=axes)
                    if x.dtype.kind in "fc"
                    else word(x, axis=axes, dtype=x.dtype)
                    if word in (np.sum, np.prod)
                    else word(x, axis=axes)
                )

            linear = ((0,),) if name == "sum" else ()
            label = f"over {axes}"
            yield Case(f"reduce_{name}", fun, reference, (x,), label, linear, loose=8)
            if axes == (0, 2):
                yield Case(
                    f"reduce_{name}", fun, reference, (x.astype("f4"),), label, linear, loose=8
                )
                yield Case(f"reduce_{name}", fun, reference, (whole((2, 3, 2)),), label)
                half = x.astype(ml_dtypes.bfloat16)
                yield Case(f"reduce_{name}", fun, reference, (half,), label, linear, smooth=False)
                if name in ("sum", "prod"):
                    yield Case(
                        f"reduce_{name}",
                        fun,
                        reference,
                        (complexes((2, 3, 2)),),
                        label,
                        linear,
                        loose=8,
                    )
                    yield Case(
                        f"reduce_{name}",
                        fun,
                        reference,
                        (np.zeros((2, 3, 0)),),
                        "of nothing",
                        linear,
                    )
                    holes = np.where(np.arange(12).reshape(2, 3, 2) % 5 == 1, 0.0, x)
                    yield Case(
                        f"reduce_{name}", fun, reference, (holes,), "with zeros", linear, loose=8
                    )
        for name, bits in (("and", np.all), ("or", np.any)):

            def of_bits(x: Any, name: str = name, axes: Any = axes) -> Any:
                return getattr(lax, f"reduce_{name}")(x, axes)

            def bitwise(x: Any, bits: Any = bits, axes: Any = axes) -> Any:
                return bits(x, axis=axes)

            yield Case(f"reduce_{name}", of_bits, bitwise, (truths((2, 3, 2)),), f"over {axes}")
    numbers = whole((3, 4), 1, 14)
    yield Case(
        "reduce_and",
        lambda x: lax.reduce_and(x, (0,)),
        lambda x: np.bitwise_and.reduce(x, 0),
        (numbers,),
    )
    yield Case(
        "reduce_or",
        lambda x: lax.reduce_or(x, (1,)),
        lambda x: np.bitwise_or.reduce(x, 1),
        (numbers,),
    )
    for name, word in (("max", np.max), ("min", np.min)):

        def along(x: Any, name: str = name) -> Any:
            return getattr(lax, f"reduce_{name}")(x, (1,))

        def best(x: Any, word: Any = word) -> Any:
            return word(x, axis=1)

        ties = np.array([[3.0, 3.0, 1.0], [2.0, 5.0, 2.0], [0.0, 1.0, 7.0]])
        yield Case(f"reduce_{name}", along, best, (ties,), "with ties", twice=False)
        special = np.array([[NAN, 1.0, 2.0], [INF, -INF, 0.0], [-0.0, 0.0, -0.0]])
        yield Case(f"reduce_{name}", along, best, (special,), "at special points", smooth=False)


def _positions() -> Iterator[Case]:
    for name, word in (("argmax", np.argmax), ("argmin", np.argmin)):
        for axis in (0, 1):

            def fun(x: Any, name: str = name, axis: int = axis) -> Any:
                return getattr(lax, name)(x, axis, np.int32)

            def reference(x: Any, word: Any = word, axis: int = axis) -> Any:
                return word(x, axis=axis)

            yield Case(name, fun, reference, (spaced((3, 4)),), f"along {axis}")
            yield Case(name, fun, reference, (whole((3, 4), 0, 3),), f"along {axis}, with ties")
            special = np.array([[NAN, 1.0, NAN], [INF, -INF, 0.0], [-0.0, 0.0, -0.0]])
            yield Case(name, fun, reference, (special,), f"along {axis}, special", smooth=False)


def _cumulative() -> Iterator[Case]:
    words = {
        "cumsum": np.add,
        "cumprod": np.multiply,
        "cummax": np.maximum,
        "cummin": np.minimum,
        "cumlogsumexp": np.logaddexp,
    }
    for name, word in words.items():
        for axis in (0, 1):
            for reverse in (False, True):

                def fun(x: Any, name: str = name, axis: int = axis, reverse: bool = reverse) -> Any:
                    return getattr(lax, name)(x, axis=axis, reverse=reverse)

                def reference(
                    x: Any, word: Any = word, axis: int = axis, reverse: bool = reverse
                ) -> Any:
                    turned = np.flip(x, axis) if reverse else x
                    dtype = {} if word is np.logaddexp else {"dtype": x.dtype}
                    out = word.accumulate(turned, axis=axis, **dtype) if x.size else x
                    return np.flip(out, axis) if reverse else out

                linear = ((0,),) if name == "cumsum" else ()
                label = f"along {axis}" + ", from the end" * reverse
                yield Case(name, fun, reference, (spaced((4, 3)),), label, linear, loose=20)
                if axis == 0:
                    yield Case(
                        name,
                        fun,
                        reference,
                        (spaced((5, 2)).astype("f4"),),
                        label,
                        linear,
                        loose=20,
                    )
                    if name != "cumlogsumexp":
                        yield Case(name, fun, reference, (whole((5, 2)),), label)
                    yield Case(name, fun, reference, (np.zeros((0, 2)),), label, linear)
                    yield Case(name, fun, reference, (spaced((1, 2)),), label, linear)
                if name == "cumprod" and axis == 0:
                    holes = np.array([[2.0, 0.0], [0.0, 1.5], [3.0, 0.0]])
                    yield Case(name, fun, reference, (holes,), f"{label}, with zeros", loose=20)
    special = np.array([-INF, -INF, 0.0, INF, 1.0])
    yield Case(
        "cumlogsumexp",
        lax.cumlogsumexp,
        np.logaddexp.accumulate,
        (special,),
        "at infinities",
        smooth=False,
    )
    special = np.array([1.0, NAN, 2.0, -INF])
    yield Case("cummax", lax.cummax, np.maximum.accumulate, (special,), "beside NaN", smooth=False)
    yield Case("cummin", lax.cummin, np.minimum.accumulate, (special,), "beside NaN", smooth=False)


def _over_names() -> Iterator[Case]:
    yield Case(
        *("reduce_sum", lambda x: lax.reduce_sum(x, (0,), axis_names=("i",)), lambda x: None),
        *((spaced((2, 3)),), "over a name", (), True, True, None, 8.0),
        *(lambda x: x.sum((0, 1)), False),
    )


CASES = [*_reductions(), *_positions(), *_cumulative(), *_over_names()]
