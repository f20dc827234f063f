"""Windows of windows, at starts that lie outside, are where each step alone would put them.

The compiler of jaxlib 0.10 makes one slice of two in a row, by adding their starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from axonym_core import lax, make_jaxpr
from axonym_core.arrays import as_concrete, backends
from axonym_core.settings import config

Data = np.ndarray[Any, Any]

LINE = np.arange(10, dtype=np.float32)
SQUARE = np.arange(24, dtype=np.float32).reshape(4, 6)
PART = np.array([-1, -2], np.float32)
STARTS = [np.int32(i) for i in (-25, -1, 0, 2, 3, 7, 9, 40)]


def box(x: Data, starts: Sequence[int], sizes: Sequence[int]) -> tuple[slice, ...]:
    """Where a window lies: negative starts count from the end, and it is moved inside."""
    wrapped = [int(s) + n if s < 0 else int(s) for s, n in zip(starts, x.shape, strict=True)]
    moved = [min(max(s, 0), n - k) for s, n, k in zip(wrapped, x.shape, sizes, strict=True)]
    return tuple([slice(s, s + k) for s, k in zip(moved, sizes, strict=True)])


def cut(x: Data, starts: Sequence[int], sizes: Sequence[int]) -> Data:
    return x[box(x, starts, sizes)]


def paste(x: Data, part: Data, starts: Sequence[int]) -> Data:
    out = x.copy()
    out[box(x, starts, part.shape)] = part
    return out


def take(x: Data, i: int) -> Data:
    return cut(x, (i,), (1,))[0]


def put(x: Data, i: int, value: float) -> Data:
    """Writes outside are dropped."""
    i = int(i) + len(x) if i < 0 else int(i)
    out = x.copy()
    if 0 <= i < len(x):
        out[i] = value
    return out


def rows(x: Any, f: Callable[[Any], Any]) -> Any:
    return lax.scan(lambda carry, row: (carry, f(row)), 0.0, x)[1]


PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Data], Data]] = {
    "slice of slice": (
        lambda x, a, b: lax.dynamic_slice(lax.dynamic_slice(x, (a,), (4,)), (b,), (1,)),
        lambda x, a, b: cut(cut(x, (a,), (4,)), (b,), (1,)),
        LINE,
    ),
    "two dimensions": (
        lambda x, a, b: lax.dynamic_slice(lax.dynamic_slice(x, (a, b), (2, 4)), (b, a), (1, 2)),
        lambda x, a, b: cut(cut(x, (a, b), (2, 4)), (b, a), (1, 2)),
        SQUARE,
    ),
    "slice of update": (
        lambda x, a, b: lax.dynamic_slice(lax.dynamic_update_slice(x, PART, (a,)), (b,), (3,)),
        lambda x, a, b: cut(paste(x, PART, (a,)), (b,), (3,)),
        LINE,
    ),
    "update of slice": (
        lambda x, a, b: lax.dynamic_update_slice(lax.dynamic_slice(x, (a,), (4,)), PART, (b,)),
        lambda x, a, b: paste(cut(x, (a,), (4,)), PART, (b,)),
        LINE,
    ),
    "update in place": (
        lambda x, a, b: lax.dynamic_update_slice(
            x, lax.dynamic_update_slice(lax.dynamic_slice(x, (a,), (4,)), PART, (b,)), (a,)
        ),
        lambda x, a, b: paste(x, paste(cut(x, (a,), (4,)), PART, (b,)), (a,)),
        LINE,
    ),
    "element of slice": (
        lambda x, a, b: lax.dynamic_slice(x, (a,), (4,)).at[b].get(mode="clip"),
        lambda x, a, b: take(cut(x, (a,), (4,)), b),
        LINE,
    ),
    "write into slice": (
        lambda x, a, b: lax.dynamic_slice(x, (a,), (4,)).at[b].set(9.0),
        lambda x, a, b: put(cut(x, (a,), (4,)), b, 9.0),
        LINE,
    ),
    "slice of written": (
        lambda x, a, b: lax.dynamic_slice(x.at[a].set(9.0), (b,), (4,)),
        lambda x, a, b: cut(put(x, a, 9.0), (b,), (4,)),
        LINE,
    ),
    "in a loop": (
        lambda x, a, b: rows(
            x, lambda row: lax.dynamic_slice(lax.dynamic_slice(row, (a,), (4,)), (b,), (2,))
        ),
        lambda x, a, b: np.stack([cut(cut(row, (a,), (4,)), (b,), (2,)) for row in x]),
        SQUARE,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_program_does_each_step_by_itself(name: str) -> None:
    program, wanted, x = PROGRAMS[name]
    with config.override(backend="xla"):
        compiled = backends.get("xla").compile(make_jaxpr(program)(as_concrete(x), *STARTS[:2]))
        for a, b in product(STARTS, STARTS):
            (got,) = compiled([as_concrete(x), as_concrete(a), as_concrete(b)])
            np.testing.assert_array_equal(np.asarray(got), wanted(x, a, b), err_msg=f"{a}, {b}")


@pytest.mark.parametrize("start", [-25, 0, 3, 6, 40])
def test_known_starts_need_no_operation(start: int) -> None:
    def program(x: Any) -> Any:
        return lax.dynamic_slice(x, (np.int32(start),), (4,))

    with config.override(backend="xla"):
        lowered = backends.get("xla").lower(make_jaxpr(program)(LINE))
        (got,) = lowered.compile()([as_concrete(LINE)])
    assert "clamp" not in lowered.as_text()
    np.testing.assert_array_equal(np.asarray(got), cut(LINE, (start,), (4,)))
