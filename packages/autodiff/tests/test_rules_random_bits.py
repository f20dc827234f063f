"""Random bits have no derivative, and do not stand in the way of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from axonym_autodiff import grad, jvp
from axonym_core import lax
from axonym_core.settings import config


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def test_random_scales_are_constants() -> None:
    key = lax.threefry_seed(0)

    def f(x: Any) -> Any:
        bits = lax.threefry_random_bits(lax.threefry_split(key)[1], 8, (3,))
        return lax.reduce_sum(lax.mul(x, lax.convert_element_type(bits, x.dtype)), (0,))

    expected = np.asarray(lax.threefry_random_bits(lax.threefry_split(key)[1], 8, (3,)))
    assert grad(f)(np.ones(3)).tolist() == expected.astype(float).tolist()


def test_tangents_of_keys_are_without_content() -> None:
    key = lax.threefry_seed(0)

    def f(x: Any) -> Any:
        words = lax.threefry2x32(key[0], key[1], lax.convert_element_type(x, "uint32"), key[1])
        return words[0]

    bits, tangent = jvp(f, (3.5,), (1.0,))
    assert bits.dtype == np.uint32
    assert np.asarray(tangent).dtype == np.dtype([("float0", "V")])
