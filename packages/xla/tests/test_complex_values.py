"""Functions of complex numbers at zeros of both signs, infinities, NaN, and next to them.

Both backends are compared with NumPy's functions, which follow C99 (Annex G). C99 leaves some signs
open, beside NaN, and NumPy's `expm1`, `log1p` and `sign` are not exact everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axonym_core import config, lax

FUNCTIONS = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "abs": np.abs,
    "sign": np.sign,
    "conj": np.conj,
    "neg": np.negative,
}
"""Functions of `lax`, and NumPy's."""

DTYPES = {np.dtype("c8"): np.float32, np.dtype("c16"): np.float64}


def plane(dtype: Any) -> Any:
    limits = np.finfo(DTYPES[dtype])
    large, small = float(limits.max) * 0.9, float(limits.tiny) * 4
    line = [0.0, 0.5, 1.0, 2.0, 3.0, np.inf, np.nan, large, small]
    line += [-v for v in line]
    return np.array([complex(a, b) for a in line for b in line], dtype)


def inexact_in_numpy(name: str, z: Any) -> Any:
    """Where NumPy's own value is not the function's: infinite, NaN or 0 too early."""
    large = 0.1 * float(np.finfo(DTYPES[z.dtype]).max)
    big = (np.abs(z.real) > large) & (np.abs(z.imag) > large) & np.isfinite(z)
    if name == "expm1":
        return (z.imag == 0) & ((z.real > 100) | np.isnan(z.real))
    if name == "log1p":  # nor does it look at numbers next to 0
        return big | ((np.abs(z) < 1e-30) & (z != 0))
    return big if name == "sign" else np.zeros(z.shape, bool)


def agrees(got: Any, want: Any, other: Any, scale: Any, tiny: float) -> Any:
    """Where one part is as wanted: equal with its sign, or close; signs are free beside NaN."""
    equal = (got == want) & (np.signbit(got) == np.signbit(want))
    free = np.isnan(other) & np.isclose(np.abs(got), np.abs(want), rtol=1e-6)
    close = np.abs(got - want) <= 1e-5 * scale
    close &= np.isfinite(want) & ((want != 0) | (scale == 0))
    flushed = (np.abs(want) < tiny) & (np.abs(got) <= tiny)
    return equal | free | close | flushed | (np.isnan(got) & np.isnan(want))


@pytest.mark.parametrize("backend", ["xla", "numpy"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_special_values_are_those_of_numpy(name: str, dtype: Any, backend: str) -> None:
    z = plane(dtype)
    z = z[~inexact_in_numpy(name, z)]
    want = FUNCTIONS[name](z)
    with config.override(backend=backend):
        got = np.asarray(getattr(lax, name)(z))
    assert got.dtype == want.dtype
    tiny = float(np.finfo(DTYPES[dtype]).tiny)
    a, b, c, d = [v.astype(np.float64) for v in (got.real, got.imag, want.real, want.imag)]
    size = np.hypot(np.where(np.isfinite(c), c, 0), np.where(np.isfinite(d), d, 0))
    wrong = ~(agrees(a, c, d, size, tiny) & agrees(b, d, c, size, tiny))
    assert [(complex(z[i]), got[i], want[i]) for i in np.flatnonzero(wrong)] == []
