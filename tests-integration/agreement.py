"""Comparing what was found with what is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def same(found: Any, wanted: Any, rtol: float = 2e-5, atol: float = 1e-6) -> None:
    """Compare nested lists of arrays: structure, shapes and numbers, NaN equal to NaN; words."""
    if isinstance(wanted, list | tuple) and isinstance(found, list | tuple):
        assert len(found) == len(wanted)
        for f, w in zip(found, wanted, strict=True):
            same(f, w, rtol, atol)
    elif isinstance(wanted, str):
        assert found == wanted
    else:
        f, w = np.asarray(found), np.asarray(wanted)
        assert f.shape == w.shape
        np.testing.assert_allclose(f, w, rtol=rtol, atol=atol)


def raised(run: Callable[[], Any]) -> str:
    """Name of the class of built-in errors that a call raises, or `nothing`."""
    try:
        run()
    except (TypeError, ValueError, IndexError) as error:
        return next(k.__name__ for k in (IndexError, TypeError, ValueError) if isinstance(error, k))
    return "nothing"
