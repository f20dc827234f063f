"""Fixtures of this package's tests."""

from __future__ import annotations

import numpy as np
import pytest

from axonym_core.settings import config


@pytest.fixture(autouse=True)
def _numpy_backend():
    """Everything here runs on the NumPy backend: it is the one this package can count on."""
    with config.override(backend="numpy"):
        yield


@pytest.fixture(scope="session")
def same():
    """Compare a result with NumPy's: shape, values and, if wanted, dtype."""

    def compare(got, want, *, rtol=2e-6, atol=1e-7, dtype=None):
        got_host, want_host = np.asarray(got), np.asarray(want)
        assert got_host.shape == want_host.shape
        if dtype is not None:
            assert got_host.dtype == np.dtype(dtype)
        if got_host.dtype.kind in "biu" and want_host.dtype.kind in "biu":
            np.testing.assert_array_equal(got_host, want_host)
        else:
            wide = np.complex128 if "c" in got_host.dtype.kind + want_host.dtype.kind else float
            np.testing.assert_allclose(
                got_host.astype(wide), want_host.astype(wide), rtol=rtol, atol=atol
            )

    return compare
