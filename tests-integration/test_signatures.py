"""Parameters of every public function beside those of the library that the function comes from.

Every difference stands with its reason in a row of `docs/signatures.md`; every row is about one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.nn
import jax.random
import jax.scipy.special
import jax.tree_util
import numpy as np
import pytest
import scipy.special
from signatures import Difference, differences, parameters_of, read_rows

import axonym as ax
from axonym import lax, nn, random, tree_util
from axonym import numpy as anp

PAGE = Path(__file__).parents[1] / "docs" / "signatures.md"
PAIRS: dict[str, tuple[Any, Any]] = {
    "numpy": (anp, np),
    "numpy.ndarray": (ax.Array, np.ndarray),
    "numpy.linalg": (anp.linalg, np.linalg),
    "scipy.special": (anp.special, scipy.special),
    "jax": (ax, jax),
    "jax.numpy": (anp, jax.numpy),
    "jax.numpy.linalg": (anp.linalg, jax.numpy.linalg),
    "jax.scipy.special": (anp.special, jax.scipy.special),
    "jax.nn": (nn, jax.nn),
    "jax.lax": (lax, jax.lax),
    "jax.random": (random, jax.random),
    "jax.tree_util": (tree_util, jax.tree_util),
}
ROWS = read_rows(PAGE)


def functions_of(module: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in sorted(getattr(module, "__all__", None) or dir(module)):
        function = getattr(module, name)
        if callable(function) and not isinstance(function, type) and not name.startswith("_"):
            yield name, function


def found(prefix: str) -> list[Difference]:
    module, reference = PAIRS[prefix]
    out: list[Difference] = []
    for name, function in functions_of(module):
        ours, theirs = parameters_of(function), parameters_of(getattr(reference, name, None))
        if ours is not None and theirs is not None:
            out += differences(f"{prefix}.{name}", ours, theirs)
    return out


@pytest.mark.parametrize("prefix", PAIRS)
def test_every_difference_has_a_reason(prefix: str) -> None:
    unexplained = [d for d in found(prefix) if not any(row.covers(d) for row in ROWS)]
    assert unexplained == []


def test_every_row_is_about_a_difference() -> None:
    if f"NumPy {np.__version__[:3]} and jax {jax.__version__}" not in PAGE.read_text():
        pytest.skip("the page lists differences from other versions")
    everything = [d for prefix in PAIRS for d in found(prefix)]
    assert [row for row in ROWS if not any(row.covers(d) for d in everything)] == []
    assert all(row.reason for row in ROWS)


def test_a_shifted_argument_is_found() -> None:
    def ours(a: Any, axis: Any = None, dtype: Any = None, ddof: int = 0) -> None: ...
    def theirs(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0
    ) -> None: ...

    a, b = parameters_of(ours), parameters_of(theirs)
    assert a is not None
    assert b is not None
    kinds = {(d.parameter, d.kind) for d in differences("f", a, b)}
    assert kinds == {("ddof", "moved"), ("out", "left out")}
