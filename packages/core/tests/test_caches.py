"""The policy of caches: what keys tell apart, how long entries live, what threads may do."""

from __future__ import annotations

import dataclasses
import enum
import functools
import gc
import struct
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axonym_core import lax
from axonym_core.programs import Jaxpr, Primitive
from axonym_core.settings import config, context
from axonym_core.settings.caches import (
    BoundedCache,
    Entries,
    Interned,
    PerObject,
    exact,
    exact_items,
)
from axonym_core.tracing.staging import make_jaxpr, trace_cached
from axonym_core.trees import tree_structure
from axonym_core.types import ShapedArray


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclasses.dataclass(frozen=True)
class Point:
    x: Any
    y: Any = 0


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    ONE = 1


def nan(payload: int) -> float:
    """A NaN with these bits."""
    return float(struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000000 | payload))[0])


# Values of which no two behave alike, although many are equal in Python.
DISTINCT: list[Any] = [
    *(0, 0.0, -0.0, False, 0j, complex(0.0, -0.0), complex(-0.0, 0.0)),
    *(1, 1.0, True, 1 + 0j, Level.ONE, Colour.RED, 2, "1", b"1", None, ...),
    *(nan(0), nan(1), np.float64(0.0), np.float64(-0.0), np.float32(0.0), np.int64(0), np.int32(0)),
    *(np.bool_(False), np.dtype("float32"), np.dtype("int32"), np.float32, np.int32),
    *(len, np.sin, dataclasses, Point, exact),
    *(ShapedArray((), np.dtype("float32")), ShapedArray((), np.dtype("float32"), True)),
    *(tree_structure((1,)), tree_structure([1])),
]


def _keys(value: Any) -> list[Any]:
    """The value in each kind of container."""
    return [value, (value,), ((value,), 1), Pair(value, 1), frozenset((value,)), Point(value)]


def test_values_that_behave_differently_have_different_keys() -> None:
    keys = [exact(key) for value in DISTINCT for key in _keys(value)]
    again = [exact(key) for value in DISTINCT for key in _keys(value)]
    assert keys == again
    assert [hash(k) for k in keys] == [hash(k) for k in again]
    assert len(set(keys)) == len(keys)


nested = st.recursive(
    st.sampled_from(DISTINCT),
    lambda inner: st.one_of(st.lists(inner, max_size=3).map(tuple), st.builds(Pair, inner, inner)),
    max_leaves=5,
)


def same(a: Any, b: Any) -> bool:
    """Whether two values are the same, by an independent definition."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float | complex | np.generic):
        return np.asarray(a).tobytes() == np.asarray(b).tobytes()
    return bool(a == b and hash(a) == hash(b))  # np.dtype('float32') == 'float32'


@given(nested, nested)
def test_values_find_each_other_s_entries_exactly_where_they_are_the_same(a: Any, b: Any) -> None:
    assert (exact(b) in {exact(a): 1}) == same(a, b)


def test_names_are_part_of_the_key_of_named_values() -> None:
    assert exact_items({"a": 1, "b": 2}) != exact_items({"b": 1, "a": 2})
    assert exact_items({"a": 1}) != exact_items({"b": 1})
    assert exact_items({"a": (1, 2)}) != exact_items({"a": (1, 2.0)})
    assert exact_items({"a": 1.0}) == exact_items({"a": 1.0})


@pytest.mark.parametrize("bad", [[1], (1, [2]), {"a": 1}, np.ones(2), (np.ones(2),), Point([1])])
def test_what_is_not_hashable_has_no_key(bad: Any) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        exact(bad)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=200))
def test_a_bounded_cache_has_what_was_used_last_and_is_bounded(
    steps: list[tuple[bool, int]],
) -> None:
    cache: BoundedCache[int] = BoundedCache(10)
    used: list[int] = []
    for put, key in steps:
        found = cache.get(key)
        assert found == key if key in used[-5:] else found in (None, key)
        if put or found is not None:
            cache.put(key, key)
            used = [k for k in used if k != key] + [key]
        assert len(cache) <= 10 + 1


class Thing:
    pass


def made_things() -> list[Callable[[], Any]]:
    """Ways to make an object that is compared by identity."""
    return [
        Thing,
        lambda: lambda: None,
        lambda: functools.partial(print),
        lambda: make_jaxpr(lambda x: lax.sin(x))(1.0),
    ]


@pytest.mark.parametrize("make", made_things(), ids=["object", "function", "partial", "jaxpr"])
def test_no_key_keeps_an_object_alive_and_its_entry_goes_with_it(make: Callable[[], Any]) -> None:
    cache: BoundedCache[Any] = BoundedCache(100)
    thing, value = make(), Thing()
    died, value_died = weakref.ref(thing), weakref.ref(value)
    cache.put(("key", (exact(thing), 1)), value)
    cache.put(("key", (exact(thing), 2)), 2)
    del value
    assert cache.get(("key", (exact(thing), 1))) is value_died()
    del thing
    gc.collect()
    assert (died(), value_died(), len(cache)) == (None, None, 0)


def test_a_method_is_keyed_by_its_instance_and_function() -> None:
    class Model:
        def step(self) -> None: ...

    one, other = Model(), Model()
    assert exact(one.step) == exact(one.step)
    assert exact(one.step) != exact(other.step)
    died = weakref.ref(one)
    entries: Entries[int] = Entries()
    entries.put(exact(one.step), 1)
    del one
    assert died() is None
    assert not entries


def test_replacing_an_entry_keeps_its_watch() -> None:
    entries: Entries[int] = Entries()
    thing = Thing()
    entries.put(exact(thing), 1)
    entries.put(exact(thing), 2)
    assert entries.first(exact(thing), 3) == 2
    assert list(entries.values()) == [2]
    del thing
    assert not entries


def test_a_value_per_object_is_by_identity_and_goes_with_the_object() -> None:
    @dataclasses.dataclass(frozen=True)
    class Add:
        n: float

        def __call__(self, x: float) -> float:
            return x + self.n

    values: PerObject[str] = PerObject()
    one, other = Add(0.0), Add(0.0)
    assert values.first(one, "one") == values.first(one, "again") == "one"
    assert one == other
    assert values.get(other) is None
    assert values.first(one.__call__, "method") == "method"
    assert values.get(one.__call__) == "method"
    assert sorted(values) == ["method", "one"]
    del one
    gc.collect()
    assert list(values) == []
    with pytest.raises(TypeError, match="weak reference"):
        values.first(1, "number")


# --- what uses it


def test_shape_rules_are_cached_by_name_type_and_bits() -> None:
    def shape(x: ShapedArray, *, a: Any, b: Any) -> ShapedArray:
        seen.append((a, b))
        return x.update(shape=(len(seen),))

    seen: list[Any] = []
    primitive = Primitive("test_caches_shape", shape)
    x = ShapedArray((), np.dtype("float32"))
    calls: list[dict[str, Any]] = [
        *({"a": 2.0, "b": 5.0}, {"b": 2.0, "a": 5.0}),
        *({"a": v, "b": 1} for v in (0, 0.0, -0.0, False, (0,), (0.0,), (-0.0,), (False,))),
    ]
    first = [primitive.out_avals((x,), p) for p in calls]
    assert len(set(first)) == len(calls)
    assert [primitive.out_avals((x,), p) for p in calls] == first
    assert primitive.out_avals((x,), {"b": 5.0, "a": 2.0}).shape != first[1].shape


def test_zeros_of_both_signs_fill_differently(backend: str) -> None:
    x = np.ones(3, np.float32)
    for fill in (0.0, -0.0, 0, np.float32(-0.0), np.float32(0.0)):
        out = lax.pad(x, np.float32(fill), ((0, 1, 0),))
        assert np.signbit(np.asarray(out)[3]) == np.signbit(np.float32(fill))


@pytest.fixture(params=["numpy", "xla"])
def backend(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip(f"axonym_{request.param}" if request.param == "xla" else "numpy")
    with config.override(backend=request.param):
        yield request.param


def test_a_shape_rule_cache_keeps_no_program_and_no_function() -> None:
    def shape(x: ShapedArray, *, f: Any) -> ShapedArray:
        return x

    primitive = Primitive("test_caches_weak", shape)
    x = ShapedArray((), np.dtype("float32"))
    program: Jaxpr | None = make_jaxpr(lambda x: x)(1.0)
    function = lambda: None  # noqa: E731
    died = weakref.ref(program), weakref.ref(function)
    primitive.out_avals((x,), {"f": (program, 1)})
    primitive.out_avals((x,), {"f": function})
    assert len(primitive._cache) == 2
    del program, function
    gc.collect()
    assert [d() for d in died] == [None, None]
    assert len(primitive._cache) == 0


def _traced(fun: Any, *, key: Any = ()) -> Any:
    x = ShapedArray((), np.dtype("float32"))
    return trace_cached(fun, tree_structure(((1.0,), {})), (x,), key=key).jaxpr


def test_staged_programs_depend_on_everything_that_they_were_staged_under() -> None:
    def fun(x: Any) -> Any:
        return lax.full((), 1), x

    plain = _traced(fun)
    assert _traced(fun) is plain
    assert _traced(fun, key="other") is not plain
    with config.override(default_int_bits=64):
        assert _traced(fun) is not plain
    inside: list[Any] = []
    env = make_jaxpr(
        lambda x: (inside.append(_traced(fun)), inside.append(_traced(fun)), x)[2],
        axis_env=[("i", 3)],
    )
    env(1.0)
    assert inside[0] is inside[1] is not plain
    assert _traced(fun) is plain


def test_callables_that_are_equal_are_staged_each_for_itself() -> None:
    @dataclasses.dataclass(frozen=True)
    class Scale:
        by: float

        def __call__(self, x: Any) -> Any:
            return lax.div(x, np.float32(self.by))

        def twice(self, x: Any) -> Any:
            return self(self(x))

    one, other = Scale(0.0), Scale(-0.0)
    assert one == other
    assert _traced(one) is _traced(one) is not _traced(other)
    assert _traced(one.twice) is _traced(one.twice) is not _traced(other.twice)


def test_a_program_that_holds_tracers_is_not_kept() -> None:
    programs: list[Any] = []

    def outer(y: Any) -> Any:
        programs.append(_traced(fun(y)))
        programs.append(_traced(closed[0]))
        return y

    closed: list[Any] = []

    def fun(y: Any) -> Any:
        closed.append(lambda x: lax.mul(x, y))
        return closed[0]

    make_jaxpr(outer)(1.0)
    assert programs[0] is not programs[1]
    assert context.trace.alive


# --- threads


def test_interning_gives_one_object_also_to_threads() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for round_ in range(60):
            start = threading.Barrier(4)

            def make(round_: int = round_, start: threading.Barrier = start) -> list[Any]:
                start.wait()
                dtype = np.dtype("float32")
                return [ShapedArray((n, 7, round_), dtype) for n in range(20)]

            with ThreadPoolExecutor(4) as pool:
                made = [f.result() for f in [pool.submit(make) for _ in range(4)]]
            for avals in zip(*made, strict=True):
                assert len({id(a) for a in avals}) == 1
    finally:
        sys.setswitchinterval(interval)


def test_interning_replaces_what_died_meanwhile() -> None:
    class Key:
        """Lets go of the object that is there just when somebody looks for its key."""

        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            owners.clear()
            return True

    interned: Interned[Thing] = Interned()
    owners = [interned.first(Key(), Thing())]
    new = Thing()
    assert interned.first(Key(), new) is new
    assert interned.get(Key()) is new
    assert len(interned) == 1


def test_a_second_object_of_a_key_is_never_given_out() -> None:
    interned: Interned[Thing] = Interned()
    made = [Thing() for _ in range(3)]
    assert {id(interned.first("key", thing)) for thing in made} == {id(made[0])}


def test_a_bounded_cache_survives_threads_that_evict() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    cache: BoundedCache[int] = BoundedCache(8)

    def work(seed: int) -> None:
        for i in range(3000):
            key = (seed * 31 + i * 7) % 40
            found = cache.get(key)
            assert found in (None, key)
            cache.put(key, key)

    try:
        with ThreadPoolExecutor(6) as pool:
            for future in [pool.submit(work, seed) for seed in range(6)]:
                future.result()
    finally:
        sys.setswitchinterval(interval)
    assert len(cache) <= 8 + 12
