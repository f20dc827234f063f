"""Compiled random bits are those of the NumPy backend, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axonym_core import lax
from axonym_core.settings import config
from axonym_core.tracing import make_jaxpr
from axonym_xla.lowering import lower_jaxpr

KEY = np.array([0x13198A2E, 0x03707344], np.uint32)
KEYS = np.random.default_rng(0).integers(0, 2**32, (2, 3, 2), np.uint32)


def agree(f: Any, *args: Any) -> None:
    with config.override(backend="xla"):
        compiled = f(*args)
    with config.override(backend="numpy"):
        expected = f(*args)
    assert (compiled.dtype, compiled.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(np.asarray(compiled), np.asarray(expected))


@pytest.mark.parametrize("bit_width", [8, 16, 32, 64])
@pytest.mark.parametrize("shape", [(), (5,), (2, 0), (3, 4)])
@pytest.mark.parametrize("key", [KEY, KEYS])
def test_bits(key: Any, bit_width: int, shape: tuple[int, ...]) -> None:
    agree(lambda k: lax.threefry_random_bits(k, bit_width, shape), key)


@pytest.mark.parametrize("key", [KEY, KEYS])
def test_keys_made_of_keys(key: Any) -> None:
    agree(lambda k: lax.threefry_split(k, (3, 2)), key)
    agree(lambda k: lax.threefry_fold_in(k, 7), key)
    agree(lambda k: lax.threefry_fold_in(k, np.full(k.shape[:-1], -5, np.int32)), key)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64])
def test_keys_made_of_seeds(dtype: Any) -> None:
    info = np.iinfo(dtype)
    agree(lax.threefry_seed, np.array([0, 1, info.max, info.min], dtype))


def test_threefry_gives_a_published_answer() -> None:
    counter = np.array([0x243F6A88, 0x85A308D3], np.uint32)
    with config.override(backend="xla"):
        words = lax.threefry2x32(*KEY, *counter)
    assert [int(w) for w in words] == [0xC4923A9C, 0x483DF7A0]


def test_counters_beyond_32_bits_have_a_high_word() -> None:
    # Too large to run: the positions are counted in 64 bits.
    jaxpr = make_jaxpr(lambda k: lax.threefry_random_bits(k, 8, (2**17, 2**16)))(KEY)
    assert "tensor<8589934592xui64>" in lower_jaxpr(jaxpr).text
    jaxpr = make_jaxpr(lambda k: lax.threefry_random_bits(k, 8, (2**16, 2**16)))(KEY)
    assert "xui64" not in lower_jaxpr(jaxpr).text
