"""Typed keys: what they are, how they travel, and what they refuse to be."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest

import axonym_random as random
from axonym_compile import jit
from axonym_core import eval_shape, lax, make_jaxpr
from axonym_core.arrays import Array
from axonym_core.errors import AxonymError, DTypeError
from axonym_core.trees import (
    keystr,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
)
from axonym_core.types import ShapeDtypeStruct, dtypes
from axonym_random.errors import KeyArrayError, KeyTypeError, RandomError


def words(keys: object) -> list[object]:
    return random.key_data(keys).tolist()


def test_a_key_has_the_attributes_of_an_array_of_keys() -> None:
    key = random.key(3)
    keys = random.split(key, (2, 3))

    assert (key.shape, key.ndim, key.size, key.nbytes) == ((), 0, 1, 8)
    assert (keys.shape, keys.ndim, keys.size, keys.nbytes) == ((2, 3), 2, 6, 48)
    assert len(keys) == 2
    assert keys.itemsize == 8
    assert dict(keys.named_shape) == {}


def test_the_dtype_is_a_key_type_and_no_number() -> None:
    dtype = random.key(0).dtype

    assert repr(dtype) == "key<fry>"
    assert dtypes.issubdtype(dtype, dtypes.prng_key)
    assert dtypes.issubdtype(dtype, dtypes.extended)
    assert not dtypes.issubdtype(dtype, np.number)
    assert dtypes.is_extended(dtype)
    assert dtype == random.split(random.key(1)).dtype
    assert len({dtype, random.KeyDType()}) == 1


def test_the_printed_key_says_its_words_its_shape_and_its_type() -> None:
    assert repr(random.key(42)) == "Array([ 0, 42], shape=(), dtype=key<fry>)"
    assert "shape=(2,)" in repr(random.split(random.key(0)))


def test_a_traced_key_prints_without_words() -> None:
    seen = []

    def f(key: Array) -> Array:
        seen.append(repr(key))
        return random.bits(key)

    make_jaxpr(f)(random.key(0))

    assert seen == ["Traced<key<fry>[]>"]


def test_an_array_of_keys_is_one_leaf_of_a_tree() -> None:
    keys = random.split(random.key(0), 4)

    (leaf,) = tree_leaves({"rng": keys})
    assert leaf is keys
    assert tree_map(lambda x: x.shape, {"rng": keys}) == {"rng": (4,)}
    assert [keystr(path) for path, _ in tree_leaves_with_path({"rng": keys})] == ["['rng']"]


def test_the_type_of_keys_stands_for_them() -> None:
    keys = random.split(random.key(0), 5)
    like = ShapeDtypeStruct(keys.shape, keys.dtype)

    assert str(make_jaxpr(lambda k: k[0])(like).in_avals[0]) == "key<fry>[5]"
    assert eval_shape(random.key, np.int32(0)) == ShapeDtypeStruct((), keys.dtype)


def test_unpacking_indexing_and_iteration_agree() -> None:
    keys = random.split(random.key(0), 3)
    first, second, third = keys

    assert [words(k) for k in (first, second, third)] == words(keys)
    assert [words(k) for k in keys] == words(keys)
    assert words(keys[1]) == words(second)
    assert words(keys[-1]) == words(third)
    assert words(keys[1:]) == words(keys)[1:]
    assert words(keys[np.array([2, 0])]) == [words(keys)[2], words(keys)[0]]
    assert keys[None].shape == (1, 3)
    assert keys[..., 0].shape == ()


def test_many_keys_are_iterated_over_too() -> None:
    keys = random.split(random.key(0), 70)
    assert [words(k) for k in keys] == words(keys)


def test_rows_of_keys_are_arrays_of_keys() -> None:
    keys = random.split(random.key(0), (2, 3))
    top, bottom = keys
    assert words(top) == words(keys)[0]
    assert words(bottom) == words(keys)[1]


def test_keys_are_reshaped() -> None:
    keys = random.split(random.key(0), 6)

    rows = lax.reshape(keys, (2, 3))

    assert rows.shape == (2, 3)
    assert words(rows[1, 0]) == words(keys)[3]
    assert words(lax.reshape(rows, (6,))) == words(keys)


def test_a_single_key_has_no_length_and_no_items() -> None:
    key = random.key(0)
    with pytest.raises(TypeError, match="0-d"):
        len(key)
    with pytest.raises(TypeError, match="0-d"):
        iter(key)


def test_keys_compare_element_by_element() -> None:
    keys = random.split(random.key(0), 3)

    assert (keys == keys).tolist() == [True, True, True]
    assert (keys != keys).tolist() == [False, False, False]
    assert (keys == keys[1]).tolist() == [False, True, False]
    assert bool(random.key(1) != random.key(2))


@pytest.mark.parametrize("other", [0, np.uint64(0), np.zeros(2, np.uint32)])
def test_keys_compare_with_keys_only(other: object) -> None:
    with pytest.raises(DTypeError, match="keys"):
        random.key(0) == other  # noqa: B015
    with pytest.raises(DTypeError, match="keys"):
        random.key(0) != other  # noqa: B015


def test_a_key_is_no_object_of_another_kind() -> None:
    assert random.key(0) != None  # noqa: E711  # what is no array is not asked for its elements
    assert random.key(0) != "key"


def test_keys_are_no_numbers() -> None:
    key = random.key(0)
    with pytest.raises(TypeError):
        key + 1
    with pytest.raises(TypeError):
        lax.iota("float32", 3) * key
    for convert in (np.asarray, bool, int, float, list, Array.item, Array.tolist):
        with pytest.raises(TypeError, match=r"key_data\(key\) gives the words|0-d"):
            convert(key)
    with pytest.raises(TypeError, match="unhashable"):
        hash(key)
    with pytest.raises(TypeError):
        lax.add(key, key)


def test_keys_are_pickled_and_copied() -> None:
    keys = random.split(random.key(0), 3)

    assert words(pickle.loads(pickle.dumps(keys))) == words(keys)
    assert words(copy.deepcopy(keys)) == words(keys)
    assert words(copy.copy(keys)) == words(keys)


def test_waiting_returns_the_keys() -> None:
    keys = random.split(random.key(0), 3)
    assert keys.block_until_ready() is keys


def test_keys_go_in_and_out_of_compiled_functions() -> None:
    key = random.key(5)
    eager = random.split(random.fold_in(key, 3), 2)
    compiled = jit(lambda k: random.split(random.fold_in(k, 3), 2))(key)

    assert compiled.dtype == key.dtype
    assert words(compiled) == words(eager)


def test_a_key_made_inside_a_compiled_function_is_the_same_key() -> None:
    assert words(jit(lambda: random.key(7))()) == words(random.key(7))
    assert words(jit(random.key)(np.int32(7))) == words(random.key(7))
    assert words(jit(random.PRNGKey)(np.int32(7))) == words(random.key(7))


def test_scan_gives_each_step_its_key_and_carries_one() -> None:
    keys = random.split(random.key(0), 4)

    def step(carry: object, key: object) -> tuple[object, object]:
        return random.fold_in(carry, 1), (random.bits(key), random.bits(carry))

    last, (of_xs, of_carry) = lax.scan(step, random.key(9), keys)

    expected = random.key(9)
    for i in range(4):
        assert int(of_carry[i]) == int(random.bits(expected))
        expected = random.fold_in(expected, 1)
        assert int(of_xs[i]) == int(random.bits(keys[i]))
    assert words(last) == words(expected)


def test_branches_may_return_keys() -> None:
    def chosen(which: object) -> object:
        return lax.cond(which, lambda k: random.fold_in(k, 1), lambda k: k, random.key(0))

    assert words(chosen(np.bool_(False))) == words(random.key(0))
    assert words(jit(chosen)(np.bool_(True))) == words(random.fold_in(random.key(0), 1))


def test_keys_wrap_and_unwrap() -> None:
    keys = random.split(random.key(0), (2, 2))
    data = random.key_data(keys)

    assert (data.shape, data.dtype) == ((2, 2, 2), np.uint32)
    assert words(random.wrap_key_data(data)) == words(keys)
    assert words(random.wrap_key_data(np.asarray(data))) == words(keys)
    assert random.key_data(random.PRNGKey(5)).tolist() == [0, 5]
    assert random.key_impl(keys) == random.key_impl(random.PRNGKey(0)) == "threefry2x32"
    assert random.clone(keys) is keys


def test_the_implementation_can_be_named() -> None:
    for name in ("threefry2x32", "fry"):
        assert words(random.key(1, impl=name)) == words(random.key(1))
    for call in (
        lambda: random.key(1, impl="rbg"),
        lambda: random.PRNGKey(1, impl="rbg"),
        lambda: random.wrap_key_data(random.PRNGKey(1), impl="rbg"),
    ):
        with pytest.raises(RandomError, match=r"impl='rbg' is no generator.*'threefry2x32'"):
            call()


NOT_KEYS = [
    0,
    1.5,
    None,
    "key",
    [0, 1],
    np.uint32(3),
    np.zeros(2, np.int32),
    np.zeros(3, np.uint32),
    np.zeros((), np.uint32),
]


@pytest.mark.parametrize("function", ["split", "bits", "uniform", "normal", "key_data", "key_impl"])
@pytest.mark.parametrize("given", NOT_KEYS, ids=repr)
def test_what_is_no_key_is_refused_by_name(function: str, given: object) -> None:
    with pytest.raises(KeyTypeError, match=f"{function}: key is .*key\\(seed\\)"):
        getattr(random, function)(given)


def test_an_array_of_keys_is_refused_where_one_is_needed() -> None:
    keys = random.split(random.key(0), 3)
    for function in (random.split, random.bits, random.uniform, random.bernoulli):
        with pytest.raises(KeyArrayError, match=r"array of keys of shape \(3,\).*vmap"):
            function(keys)
    with pytest.raises(KeyArrayError, match=r"array of keys of shape \(3,\)"):
        random.normal(random.key_data(keys))
    with pytest.raises(KeyArrayError, match=r"array of keys of shape \(3,\)"):
        random.fold_in(keys, 1)


@pytest.mark.parametrize("seed", [1.5, "1", None, [1], True, np.float32(1)])
def test_what_is_no_seed_is_refused(seed: object) -> None:
    for function in (random.key, random.PRNGKey):
        with pytest.raises(KeyTypeError, match=re.escape(f"{function.__name__}: seed is")):
            function(seed)


def test_seeds_are_single_and_of_64_bits() -> None:
    with pytest.raises(KeyArrayError, match=r"seed is an array of shape \(2,\).*vmap\(key\)"):
        random.key(np.arange(2))
    with pytest.raises(OverflowError, match="does not fit 64 bits"):
        random.key(2**64)


def test_the_errors_are_those_of_the_package_and_of_python() -> None:
    assert issubclass(RandomError, AxonymError)
    assert issubclass(KeyTypeError, TypeError)
    assert issubclass(KeyArrayError, ValueError)
