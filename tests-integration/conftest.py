"""What tests of this folder share: the modules beside them, and a choice of backends."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(params=["numpy", "xla"])
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs a test on each of the backends."""
    from axonym_core import config  # some tests run programs only and import nothing of ours

    with config.override(backend=request.param):
        yield request.param


@pytest.fixture
def wide() -> Iterator[None]:
    """Runs a test with 64 bits where no dtype is asked for."""
    from axonym_core import config

    with config.override(default_float_bits=64, default_int_bits=64):
        yield
