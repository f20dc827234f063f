"""Random bits under `vmap` are those that each key gives by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from axonym_core import lax
from axonym_core.settings import config
from axonym_mapping import vmap


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def loop(f: Any, *xs: Any) -> Any:
    return np.stack([np.asarray(f(*row)) for row in zip(*xs, strict=True)])


KEYS = np.random.default_rng(0).integers(0, 2**32, (3, 2), np.uint32)


@pytest.mark.parametrize("bit_width", [8, 32, 64])
@pytest.mark.parametrize("shape", [(), (4,), (2, 0)])
def test_bits_of_many_keys_are_those_of_each(bit_width: int, shape: tuple[int, ...]) -> None:
    def f(key: Any) -> Any:
        return lax.threefry_random_bits(key, bit_width, shape)

    np.testing.assert_array_equal(np.asarray(vmap(f)(KEYS)), loop(f, KEYS))
    np.testing.assert_array_equal(np.asarray(vmap(f, 1)(KEYS.T)), loop(f, KEYS))


def test_many_keys_are_split_and_folded_in_as_each_is() -> None:
    data = np.arange(3, dtype=np.int32)
    np.testing.assert_array_equal(
        np.asarray(vmap(lax.threefry_split)(KEYS)), loop(lax.threefry_split, KEYS)
    )
    np.testing.assert_array_equal(
        np.asarray(vmap(lax.threefry_fold_in)(KEYS, data)),
        loop(lax.threefry_fold_in, KEYS, data),
    )
    np.testing.assert_array_equal(
        np.asarray(vmap(lax.threefry_fold_in, (None, 0))(KEYS[0], data)),
        loop(lambda d: lax.threefry_fold_in(KEYS[0], d), data),
    )
    np.testing.assert_array_equal(
        np.asarray(vmap(lax.threefry_seed)(data)), loop(lax.threefry_seed, data)
    )


def test_counters_may_be_mapped_and_keys_not() -> None:
    counters = np.arange(12, dtype=np.uint32).reshape(4, 3)

    def f(x: Any) -> Any:
        return lax.threefry2x32(KEYS[0, 0], KEYS[0, 1], np.uint32(0), x)[1]

    np.testing.assert_array_equal(np.asarray(vmap(f, 1)(counters)), loop(f, counters.T))
