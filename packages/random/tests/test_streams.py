"""Streams of bits: against the published generator, and the laws that independent streams obey."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import axonym_random as random
from axonym_compile import jit
from axonym_core import lax
from axonym_core.errors import ConcretizationError
from axonym_random.errors import KeyArrayError, RandomDTypeError, RandomShapeError

MASK = 0xFFFFFFFF


def threefry(key: tuple[int, int], counter: tuple[int, int]) -> tuple[int, int]:
    """The generator as its authors describe it, in Python's integers."""
    schedule = (*key, key[0] ^ key[1] ^ 0x1BD11BDA)
    rotations = ((13, 15, 26, 6), (17, 29, 16, 24))
    x = [(c + k) & MASK for c, k in zip(counter, key, strict=True)]
    for group in range(5):
        for by in rotations[group % 2]:
            x[0] = (x[0] + x[1]) & MASK
            x[1] = ((x[1] << by) | (x[1] >> (32 - by))) & MASK
            x[1] ^= x[0]
        x[0] = (x[0] + schedule[(group + 1) % 3]) & MASK
        x[1] = (x[1] + schedule[(group + 2) % 3] + group + 1) & MASK
    return x[0], x[1]


def words(keys: object) -> list[object]:
    return random.key_data(keys).tolist()


def pair(key: object) -> tuple[int, int]:
    first, second = random.key_data(key).tolist()
    return first, second


def test_the_reference_gives_the_published_answers() -> None:
    ones = (MASK, MASK)
    assert threefry((0, 0), (0, 0)) == (0x6B200159, 0x99BA4EFE)
    assert threefry(ones, ones) == (0x1CB996FC, 0xBB002BE7)
    digits_of_pi = (0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3)
    assert threefry(*digits_of_pi) == (0xC4923A9C, 0x483DF7A0)


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (0, [0, 0]),
        (42, [0, 42]),
        (-1, [0, MASK]),
        (2**32 - 1, [0, MASK]),
        (2**32, [1, 0]),
        (2**40 + 5, [256, 5]),
        (2**64 - 1, [MASK, MASK]),
        (-(2**63), [2**31, 0]),
        (np.int32(-2), [0, MASK - 1]),
        (np.int8(-2), [0, MASK - 1]),
        (np.uint64(2**40 + 5), [256, 5]),
        (np.array(3), [0, 3]),
    ],
)
def test_a_seed_is_the_words_of_the_key(seed: object, expected: list[int]) -> None:
    assert words(random.key(seed)) == expected
    assert random.PRNGKey(seed).tolist() == expected


@given(st.integers(0, 2**64 - 1))
@settings(max_examples=25)
def test_split_encrypts_the_position(seed: int) -> None:
    key = random.key(seed)
    assert words(random.split(key, 3)) == [list(threefry(pair(key), (0, i))) for i in range(3)]


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_fold_in_encrypts_the_number(seed: int, data: int) -> None:
    key = random.key(seed)
    assert words(random.fold_in(key, data)) == list(threefry(pair(key), (0, data)))


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_bits_encrypt_the_position(width: int) -> None:
    key = random.key(11)
    drawn = random.bits(key, (2, 3), f"uint{width}")

    both = [threefry(pair(key), (0, i)) for i in range(6)]
    if width == 64:
        expected = [high << 32 | low for high, low in both]
    else:
        expected = [(high ^ low) % 2**width for high, low in both]
    assert drawn.dtype == np.dtype(f"uint{width}")
    assert np.asarray(drawn).ravel().tolist() == expected


def test_known_answers() -> None:
    key = random.key(0)

    assert words(random.split(key)) == [[1797259609, 2579123966], [928981903, 3453687069]]
    assert words(random.fold_in(key, 1)) == [928981903, 3453687069]
    assert random.bits(key, (3,)).tolist() == [4070199207, 4202968722, 1427181096]


def test_raw_keys_give_raw_keys_and_the_same_numbers() -> None:
    raw, typed = random.PRNGKey(3), random.key(3)

    assert random.split(raw, (2, 2)).tolist() == words(random.split(typed, (2, 2)))
    assert random.fold_in(raw, 5).tolist() == words(random.fold_in(typed, 5))
    assert random.bits(raw, (4,)).tolist() == random.bits(typed, (4,)).tolist()
    assert random.bits(np.asarray(raw), (4,)).tolist() == random.bits(typed, (4,)).tolist()
    left, right = random.split(raw)
    assert random.uniform(left).shape == random.uniform(right).shape == ()


def test_children_differ_from_each_other_and_from_their_parent() -> None:
    key = random.key(0)
    family = [key, *random.split(key, 50), *(random.fold_in(left, 7) for left in random.split(key))]

    assert len({pair(k) for k in family}) == len(family)
    assert len({int(random.bits(k)) for k in family}) == len(family)


def test_the_first_children_do_not_depend_on_how_many_there_are() -> None:
    key = random.key(1)
    assert words(random.split(key, 8))[:3] == words(random.split(key, 3))
    assert words(lax.reshape(random.split(key, (2, 4)), (8,))) == words(random.split(key, 8))


def test_folding_in_is_splitting_to_a_place() -> None:
    key = random.key(1)
    assert words(random.fold_in(key, 5)) == words(random.split(key, 6)[5])


def test_folding_in_a_traced_number_gives_the_same_key() -> None:
    key = random.key(1)
    for data in (3, np.int32(3), np.uint8(3), np.array(3, np.int64)):
        assert words(jit(random.fold_in)(key, data)) == words(random.fold_in(key, 3))
    assert words(random.fold_in(key, -1)) == words(random.fold_in(key, np.int32(-1)))


def test_no_keys_and_no_bits_can_be_asked_for() -> None:
    key = random.key(0)

    assert random.split(key, 0).shape == (0,)
    assert list(random.split(key, 0)) == []
    assert random.split(key, (2, 0)).shape == (2, 0)
    assert random.split(key, ()).shape == ()
    assert random.bits(key, (0, 3)).shape == (0, 3)
    assert random.bits(key, 4).shape == (4,)
    assert random.bits(key, [2, np.int64(3)]).shape == (2, 3)


def test_bits_are_balanced_in_every_place() -> None:
    drawn = np.asarray(random.bits(random.key(2), (20000,)))
    for place in range(32):
        ones = int(((drawn >> np.uint32(place)) & np.uint32(1)).sum())
        assert abs(ones - 10000) < 4 * np.sqrt(5000)


def test_streams_of_sibling_keys_are_uncorrelated() -> None:
    left, right = (
        np.asarray(random.uniform(k, (20000,), "float64")) for k in random.split(random.key(3))
    )
    assert abs(np.corrcoef(left, right)[0, 1]) < 4 / np.sqrt(20000)


def test_shapes_that_are_none_are_refused() -> None:
    key = random.key(0)
    with pytest.raises(RandomShapeError, match=r"bits: shape=\(2, -1\) has a negative size"):
        random.bits(key, (2, -1))
    with pytest.raises(RandomShapeError, match=r"split: num=2.5 is no shape"):
        random.split(key, 2.5)
    with pytest.raises(RandomShapeError, match=r"bits: shape='ab' is no shape"):
        random.bits(key, "ab")
    with pytest.raises(RandomShapeError, match="split the keys once more"):
        random.split(key, (2**16, 2**17))


def test_a_traced_shape_is_refused() -> None:
    with pytest.raises(ConcretizationError):
        jit(lambda n: random.bits(random.key(0), (n,)))(3)


@pytest.mark.parametrize("dtype", ["int32", "float32", "bool", "uint4"])
def test_bits_have_an_unsigned_dtype(dtype: str) -> None:
    with pytest.raises(RandomDTypeError, match=f"bits: dtype={dtype} is no dtype of bits"):
        random.bits(random.key(0), (), dtype)


def test_what_cannot_be_folded_in_is_refused() -> None:
    key = random.key(0)
    for data in (1.5, True, "1", None, np.float32(1), [1]):
        with pytest.raises(RandomDTypeError, match=r"fold_in: data is .* has to be an integer"):
            random.fold_in(key, data)
    with pytest.raises(KeyArrayError, match=r"fold_in: data is an array of shape \(3,\).*vmap"):
        random.fold_in(key, np.arange(3))
    with pytest.raises(OverflowError, match="does not fit 32 bits"):
        random.fold_in(key, 2**32)
