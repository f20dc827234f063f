"""Threefry gives its published vectors, and keys and bits have the layout that users know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from axonym_core import lax
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.settings import config


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


# Known answers published with Random123 for threefry2x32 with 20 rounds: key, counter, result.
KNOWN_ANSWERS = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("key", "counter", "expected"), KNOWN_ANSWERS)
def test_threefry_gives_the_published_answers(
    key: tuple[int, int], counter: tuple[int, int], expected: tuple[int, int]
) -> None:
    words = lax.threefry2x32(*map(np.uint32, key), *map(np.uint32, counter))
    assert tuple(int(w) for w in words) == expected


def test_threefry_works_on_arrays_and_scalars() -> None:
    keys, counters, expected = (np.array(c, np.uint32).T for c in zip(*KNOWN_ANSWERS, strict=True))
    words = lax.threefry2x32(*keys, *counters)
    np.testing.assert_array_equal(np.stack([np.asarray(w) for w in words]), expected)
    first, _ = lax.threefry2x32(np.uint32(1), np.uint32(2), np.uint32(0), counters[1])
    assert first.shape == (3,)


def test_bits_split_and_fold_in_have_the_known_layout() -> None:
    key = lax.threefry_seed(1701)
    assert lax.threefry_random_bits(key, 32, (5,)).tolist() == [
        1111271205,
        2679469115,
        974515252,
        521976754,
        2127438447,
    ]
    assert lax.threefry_random_bits(key, 8, (3,)).tolist() == [37, 59, 52]
    assert lax.threefry_random_bits(key, 64, (2, 2)).tolist() == [
        [3182764935064573181, 366096495144982249],
        [241365115613244543, 3982329540505020460],
    ]
    assert lax.threefry_split(key, 3).tolist() == [
        [741045208, 1847055613],
        [85238482, 2594297577],
        [56197195, 961309823],
    ]
    assert lax.threefry_fold_in(key, 5).tolist() == [3270721456, 929585804]


@pytest.mark.parametrize("bit_width", [8, 16, 32, 64])
def test_bits_have_the_width_and_shape_asked_for(bit_width: int) -> None:
    bits = lax.threefry_random_bits(lax.threefry_seed(0), bit_width, (2, 0, 3))
    assert bits.dtype == np.dtype(f"uint{bit_width}")
    assert bits.shape == (2, 0, 3)
    assert lax.threefry_random_bits(lax.threefry_seed(0), bit_width, ()).shape == ()


def test_narrow_bits_are_the_low_ones_of_wide_bits() -> None:
    key = lax.threefry_seed(3)
    wide = np.asarray(lax.threefry_random_bits(key, 32, (7,)))
    for width in (8, 16):
        narrow = np.asarray(lax.threefry_random_bits(key, width, (7,)))
        np.testing.assert_array_equal(narrow, wide & (2**width - 1))


def test_an_element_depends_on_its_position_alone() -> None:
    key = lax.threefry_seed(3)
    flat = np.asarray(lax.threefry_random_bits(key, 32, (12,)))
    np.testing.assert_array_equal(lax.threefry_random_bits(key, 32, (3, 4)), flat.reshape(3, 4))


def test_arrays_of_keys_give_what_each_key_gives() -> None:
    keys = lax.threefry_split(lax.threefry_seed(0), (2, 3))
    assert keys.shape == (2, 3, 2)
    flat = np.asarray(keys).reshape(6, 2)

    def each(f: Any) -> np.ndarray[Any, Any]:
        stacked = np.stack([np.asarray(f(k, i)) for i, k in enumerate(flat)])
        return stacked.reshape(2, 3, *stacked.shape[1:])

    data = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(
        lax.threefry_random_bits(keys, 16, (4,)),
        each(lambda k, i: lax.threefry_random_bits(k, 16, (4,))),
    )
    np.testing.assert_array_equal(
        lax.threefry_split(keys, 4), each(lambda k, i: lax.threefry_split(k, 4))
    )
    np.testing.assert_array_equal(
        lax.threefry_fold_in(keys, data), each(lambda k, i: lax.threefry_fold_in(k, i))
    )


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (0, [0, 0]),
        (2**32 - 1, [0, 2**32 - 1]),
        (-1, [0, 2**32 - 1]),
        (2**40 + 3, [256, 3]),
        (-(2**40), [2**32 - 256, 0]),
        (np.int32(-1), [0, 2**32 - 1]),
        (np.int8(-1), [0, 2**32 - 1]),
        (np.uint8(200), [0, 200]),
        (np.int64(-1), [2**32 - 1, 2**32 - 1]),
        (np.uint64(2**40 + 3), [256, 3]),
        (np.array([5, 6], np.int32), [[0, 5], [0, 6]]),
    ],
)
def test_a_key_holds_the_words_of_its_seed(seed: Any, expected: Any) -> None:
    key = lax.threefry_seed(seed)
    assert key.dtype == np.uint32
    assert key.tolist() == expected


def test_negative_data_count_from_2_to_the_32() -> None:
    key = lax.threefry_seed(0)
    expected = lax.threefry_fold_in(key, 2**32 - 1).tolist()
    assert lax.threefry_fold_in(key, -1).tolist() == expected
    assert lax.threefry_fold_in(key, np.int32(-1)).tolist() == expected


KEY = np.zeros(2, np.uint32)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lax.threefry_random_bits(KEY, 24, ()), DTypeError, "bit_width=24"),
        (lambda: lax.threefry_random_bits(KEY, 32, (-1,)), ShapeError, "negative size"),
        (lambda: lax.threefry_random_bits(KEY.astype(int), 32, ()), DTypeError, "key is i64.2."),
        (lambda: lax.threefry_split(np.zeros(3, np.uint32)), ShapeError, "threefry_split: the key"),
        (lambda: lax.threefry_fold_in(KEY, 1.5), DTypeError, "data is ~f64"),
        (lambda: lax.threefry_fold_in(KEY, 2**32), OverflowError, "does not fit 32 bits"),
        (lambda: lax.threefry_seed(2**64), OverflowError, "does not fit 64 bits"),
        (lambda: lax.threefry_seed(1.0), DTypeError, "seed is ~f64"),
        (lambda: lax.threefry2x32(*[np.int32(0)] * 4), DTypeError, "of dtype uint32"),
        (
            lambda: lax.threefry2x32(KEY, np.zeros(3, np.uint32), KEY, KEY),
            ShapeError,
            "of one shape",
        ),
    ],
)
def test_bad_arguments_are_named(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
