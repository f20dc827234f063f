from __future__ import annotations

import dataclasses
import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_compile._cache import CompiledFunctionCache, default_cache
from axonym_compile._cache_report import FunctionStatistics, KeyDifference
from axonym_core.errors import AxonymError, ConfigError, RecursiveCallError


def function():
    """A new function object."""
    return lambda x: x


def fail():
    raise AssertionError("made again")


class Boom(Exception):
    pass


def raise_boom():
    raise Boom


def test_an_entry_is_made_once_and_found_again():
    cache, f = CompiledFunctionCache(10), function()
    assert cache.lookup(f, "key", lambda: "program") == "program"
    assert cache.lookup(f, "key", fail) == "program"
    assert cache.get(f, "key") == "program"
    assert cache.get(f, "other", "default") == "default"
    assert cache.size == 1


def test_put_adds_and_replaces():
    cache, f = CompiledFunctionCache(10), function()
    cache.put(f, "key", 1)
    cache.put(f, "key", 2)
    assert cache.get(f, "key") == 2
    assert cache.size == 1


def test_functions_do_not_share_entries_and_none_is_a_value():
    cache, f, g = CompiledFunctionCache(10), function(), function()
    cache.put(f, "key", None)
    cache.put(g, "key", "g")
    assert cache.lookup(f, "key", fail) is None
    assert cache.lookup(g, "key", fail) == "g"


def test_entries_of_a_function_are_one_object_that_sees_the_cache():
    cache, f = CompiledFunctionCache(10), function()
    entries = cache.entries(f)
    assert cache.entries(f) is entries
    cache.put(f, "a", 1)
    entries.put("b", 2)
    assert (entries.get("a"), cache.get(f, "b")) == (1, 2)
    assert entries.lookup("c", lambda: 3) == cache.lookup(f, "c", fail) == 3


# --- capacity


def test_the_least_recently_used_entry_of_all_functions_goes_first():
    cache, f, g = CompiledFunctionCache(3), function(), function()
    cache.put(f, 1, "f1")
    cache.put(g, 1, "g1")
    cache.put(f, 2, "f2")
    assert cache.get(f, 1) == "f1"
    cache.put(g, 2, "g2")
    assert cache.keys(f) == [1, 2]
    assert cache.keys(g) == [2]
    assert cache.lookup(f, 2, fail) == "f2"
    cache.put(g, 3, "g3")
    assert cache.keys(f) == [2]
    assert cache.keys(g) == [3, 2]


functions = [function() for _ in range(3)]
steps = st.lists(
    st.tuples(
        st.sampled_from(["get", "put", "lookup", "clear", "clear all", "resize"]),
        st.integers(0, 2),
        st.integers(0, 3),
    ),
    max_size=60,
)


@given(steps, st.integers(0, 5))
@settings(max_examples=50)
def test_it_agrees_with_an_ordered_list_of_entries(steps, capacity):
    cache = CompiledFunctionCache(capacity)
    model: list[tuple[int, int]] = []  # from the least to the most recently used
    for n, (step, i, key) in enumerate(steps):
        f, place = functions[i], (i, key)
        if step == "get":
            assert cache.get(f, key, "none") == (place if place in model else "none")
            if place in model:
                model.remove(place)
                model.append(place)
        elif step in ("put", "lookup"):
            known = place in model
            if step == "put":
                cache.put(f, key, place)
            else:
                assert cache.lookup(f, key, fail if known else lambda p=place: p) == place
            if known:
                model.remove(place)
            model.append(place)
        elif step == "clear":
            cache.clear(f)
            model = [p for p in model if p[0] != i]
        elif step == "clear all" and n % 3 == 0:
            cache.clear()
            model = []
        elif step == "resize":
            capacity = key
            cache.resize(capacity)
        model = model[max(0, len(model) - capacity) :]
        assert cache.size == len(model)
        for j, g in enumerate(functions):
            assert cache.keys(g) == [k for h, k in reversed(model) if h == j]


def test_resize_evicts_and_none_is_no_bound():
    cache, f = CompiledFunctionCache(None), function()
    for i in range(1000):
        cache.put(f, i, i)
    assert cache.size == 1000
    cache.resize(2)
    assert cache.keys(f) == [999, 998]
    assert cache.capacity == 2
    cache.resize(None)
    cache.put(f, 0, 0)
    assert cache.size == 3


def test_capacity_0_keeps_nothing_and_still_returns_what_was_made():
    cache, f = CompiledFunctionCache(0), function()
    assert cache.lookup(f, "key", lambda: 1) == 1
    assert cache.lookup(f, "key", lambda: 2) == 2
    assert cache.size == 0


@pytest.mark.parametrize("bad", [-1, 2.0, True, "many"])
def test_bad_capacities_are_errors(bad):
    with pytest.raises(ConfigError, match="capacity must be an integer of 0 or more, or None"):
        CompiledFunctionCache(bad)
    cache = CompiledFunctionCache(3)
    with pytest.raises(ConfigError, match=f"got {bad!r}"):
        cache.resize(bad)
    assert cache.capacity == 3


def test_default_cache_is_one_bounded_cache():
    assert default_cache() is default_cache()
    assert default_cache().capacity == 4096


# --- life and death of functions


def test_entries_go_when_the_function_dies():
    cache, f, g = CompiledFunctionCache(10), function(), function()

    class Program:
        pass

    program = Program()
    died = weakref.ref(program)
    cache.put(f, "key", program)
    cache.put(g, "key", "kept")
    del program
    assert died() is not None
    del f
    assert died() is None
    assert cache.size == 1
    assert [row.size for row in cache.statistics().functions] == [1]


def test_entries_outlive_the_handle_as_long_as_the_function_lives():
    cache, f = CompiledFunctionCache(10), function()
    entries = cache.entries(f)
    entries.put("key", 1)
    del entries
    gc.collect()
    assert cache.get(f, "key") == 1


def test_a_new_function_at_the_address_of_a_dead_one_starts_empty():
    cache = CompiledFunctionCache(10)
    for _ in range(50):
        f = function()
        assert cache.get(f, "key") is None
        cache.put(f, "key", "old")
        del f
    assert cache.size == 0


def test_the_cache_keeps_neither_function_nor_itself_alive():
    cache, f = CompiledFunctionCache(10), function()
    entries = cache.entries(f)
    cache.put(f, "key", 1)
    function_died, cache_died = weakref.ref(f), weakref.ref(cache)
    del cache
    gc.collect()
    assert cache_died() is None
    assert entries.lookup("other", lambda: 2) == 2
    entries.put("other", 2)
    del f
    assert function_died() is None


def test_a_handle_of_a_dead_function_keeps_nothing():
    cache, f = CompiledFunctionCache(10), function()
    entries = cache.entries(f)
    del f
    assert entries.lookup("key", lambda: 1) == 1
    entries.put("key", 1)
    assert cache.size == 0


class Model:
    def step(self):
        pass

    def other(self):
        pass


def test_bound_methods_of_one_living_instance_share_their_entries():
    cache, model = CompiledFunctionCache(10), Model()
    cache.put(model.step, "key", 1)
    assert model.step is not model.step
    assert cache.get(model.step, "key") == 1
    assert cache.entries(model.step) is cache.entries(model.step)
    assert cache.get(model.other, "key") is None
    assert cache.get(Model().step, "key") is None
    assert cache.get(Model.step, "key") is None


def test_entries_of_a_bound_method_go_when_its_instance_dies():
    cache, model = CompiledFunctionCache(10), Model()
    cache.put(model.step, "key", 1)
    cache.get(model.step, "key")
    gc.collect()
    assert cache.size == 1
    del model
    assert cache.size == 0
    assert cache.statistics().hits == 1


def test_a_method_whose_instance_and_function_both_die_is_counted_once():
    cache = CompiledFunctionCache(10)

    class Local:
        def step(self):
            pass

    instance = Local()
    cache.put(instance.step, "key", 1)
    cache.get(instance.step, "key")
    del instance, Local
    gc.collect()
    assert (cache.size, cache.statistics().hits) == (0, 1)


def test_equal_callables_are_different_functions():
    @dataclasses.dataclass(frozen=True)
    class Add:
        n: int

        def __call__(self, x):
            return x + self.n

    cache, one, other = CompiledFunctionCache(10), Add(1), Add(1)
    cache.put(one, "key", 1)
    assert one == other
    assert cache.get(other, "key") is None


def test_callables_without_weak_references_are_cached_too():
    class Slotted:
        __slots__ = ()

        def __call__(self):
            pass

        def method(self):
            pass

    cache, f = CompiledFunctionCache(10), Slotted()
    cache.put(f, "key", 1)
    cache.put(f.method, "key", 2)
    assert (cache.get(f, "key"), cache.get(f.method, "key")) == (1, 2)


def test_keys_do_not_stay_behind_when_an_entry_goes():
    class Key:
        pass

    cache, f, g, key = CompiledFunctionCache(10), function(), function(), Key()
    died = weakref.ref(key)
    cache.put(f, key, 1)
    cache.put(g, key, 1)
    del key
    cache.clear(g)
    assert died() is not None
    del f
    assert died() is None


def test_a_finaliser_that_uses_the_cache_does_not_hang():
    cache, f = CompiledFunctionCache(1), function()
    seen = []

    class Program:
        def __del__(self):
            cache.put(f, "from finaliser", 1)
            seen.append(cache.lookup(f, "other", lambda: 2))

    cache.put(f, "key", Program())
    cache.put(f, "key 2", 1)
    gc.collect()
    assert seen == [2]
    assert cache.size == 1


# --- clear


def test_clear_of_one_function_or_of_all():
    cache, f, g = CompiledFunctionCache(10), function(), function()
    cache.put(f, "key", 1)
    cache.put(g, "key", 2)
    cache.clear(function())
    assert cache.size == 2
    cache.clear(f)
    assert (cache.size, cache.get(g, "key")) == (1, 2)
    cache.clear()
    assert cache.size == 0
    cache.put(g, "key", 3)
    assert cache.get(g, "key") == 3


def test_what_is_made_during_a_clear_is_returned_and_not_kept():
    cache, f = CompiledFunctionCache(10), function()

    def make():
        cache.clear()
        return "made"

    assert cache.lookup(f, "key", make) == "made"
    assert cache.size == 0
    assert cache.lookup(f, "key", lambda: "made again") == "made again"
    assert cache.size == 1


# --- failures, recursion, threads


def test_a_failed_make_leaves_nothing():
    cache, f = CompiledFunctionCache(10), function()
    with pytest.raises(Boom):
        cache.lookup(f, "key", raise_boom)
    assert cache.size == 0
    assert cache.lookup(f, "key", lambda: 1) == 1


def test_making_an_entry_may_make_others_but_not_itself():
    cache, f, g = CompiledFunctionCache(10), function(), function()

    def make():
        cache.lookup(f, "inner", lambda: 1)
        return cache.lookup(g, "key", lambda: cache.lookup(f, "outer", fail))

    with pytest.raises(RecursiveCallError, match=r"test_cache\..*calls itself with arg") as caught:
        cache.lookup(f, "outer", make)
    assert isinstance(caught.value, AxonymError)
    assert (cache.size, cache.get(f, "inner")) == (1, 1)
    assert cache.lookup(f, "outer", lambda: 2) == 2


def test_threads_that_ask_at_once_get_what_one_of_them_made():
    cache, f = CompiledFunctionCache(10), function()
    made, start = [], threading.Barrier(8)

    def make():
        made.append(threading.get_ident())
        release.wait(0.05)
        return object()

    release = threading.Event()

    def call():
        start.wait()
        return cache.lookup(f, "key", make)

    with ThreadPoolExecutor(8) as pool:
        results = {future.result() for future in [pool.submit(call) for _ in range(8)]}
    assert len(made) == len(results) == 1
    statistics = cache.statistics()
    assert (statistics.hits, statistics.misses) == (7, 1)


def test_when_a_make_fails_the_next_in_line_makes_it():
    cache, f = CompiledFunctionCache(10), function()
    making, go_on = threading.Event(), threading.Event()

    def fail_late():
        making.set()
        go_on.wait()
        raise Boom

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.lookup, f, "key", fail_late)
        making.wait()
        second = pool.submit(cache.lookup, f, "key", lambda: "second")
        go_on.set()
        assert second.result() == "second"
        with pytest.raises(Boom):
            first.result()
    assert cache.get(f, "key") == "second"


def test_two_threads_that_would_wait_for_each_other_get_an_error():
    cache, other_cache = CompiledFunctionCache(10), CompiledFunctionCache(10)
    f, both = function(), threading.Barrier(2)

    def make(its_cache, its_key):
        def inner():
            both.wait()
            return its_cache.lookup(f, its_key, fail)

        return inner

    with ThreadPoolExecutor(2) as pool:
        futures = [
            pool.submit(cache.lookup, f, "a", make(other_cache, "b")),
            pool.submit(other_cache.lookup, f, "b", make(cache, "a")),
        ]
        errors = [future.exception() for future in futures]
    # The one who would have closed the circle gets the error; the other one then tries for
    # itself with a `make` that fails.
    assert {type(error) for error in errors} == {RecursiveCallError, AssertionError}
    assert cache.size == other_cache.size == 0


def test_many_threads_keep_size_and_counts_right():
    cache = CompiledFunctionCache(20)
    shared = [function() for _ in range(4)]

    def work(seed):
        for i in range(300):
            key = (seed * 7 + i * i) % 11
            f = shared[(seed + i) % 4]
            assert cache.lookup(f, key, lambda k=key: k) == key
            mortal = function()
            cache.put(mortal, key, key)
            if i % 50 == 0:
                cache.resize(10 + i % 20)
            if i % 97 == 0:
                cache.clear(f)

    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(work, seed) for seed in range(8)]:
            future.result()
    statistics = cache.statistics()
    assert statistics.hits + statistics.misses == 8 * 300
    assert cache.size == sum(len(cache.keys(f)) for f in shared) <= cache.capacity
    assert sum(row.size for row in statistics.functions) == cache.size


# --- statistics and explanations


def test_statistics_count_per_function_and_in_total_also_after_death():
    cache, f, g = CompiledFunctionCache(2), function(), Model()
    for key in (1, 1, 2, 3, 1):
        cache.lookup(f, key, lambda: 0)
    cache.get(g.step, 1)
    before = cache.statistics()
    name = f"{__name__}.function.<locals>.<lambda>"
    assert before.functions == (
        FunctionStatistics(name, hits=1, misses=4, evictions=2, size=2),
        FunctionStatistics(f"{__name__}.Model.step", hits=0, misses=1, evictions=0, size=0),
    )
    assert cache.function_statistics(f) == before.functions[0]
    assert cache.function_statistics(fail).misses == 0
    assert (before.hits, before.misses, before.evictions) == (1, 5, 2)
    assert (before.size, before.capacity) == (2, 2)
    del f
    after = cache.statistics()
    assert (after.hits, after.misses, after.evictions, after.size) == (1, 5, 2, 0)
    assert len(after.functions) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        after.hits = 0


def test_reading_statistics_does_not_change_them():
    cache, f = CompiledFunctionCache(2), function()
    cache.lookup(f, 1, lambda: 0)
    assert cache.statistics() == cache.statistics() == cache.statistics()


def test_statistics_print_as_a_table():
    cache = CompiledFunctionCache(2)
    cache.lookup(fail, 1, lambda: 0)
    lines = str(cache.statistics()).splitlines()
    assert lines[1].split() == ["0", "1", "0", "1", f"{__name__}.fail"]
    assert lines[2].endswith("in total (capacity: 2)")
    assert repr(cache) == "CompiledFunctionCache(capacity=2, size=1)"
    assert "unbounded" in str(CompiledFunctionCache(None).statistics())


def test_explain_finds_the_nearest_key_and_where_it_differs():
    cache, f = CompiledFunctionCache(10), function()
    assert cache.explain(f, ("f32", (3, 4))).reason == "never called"
    cache.put(f, ("f32", (3, 4), "cpu"), 0)
    cache.put(f, ("i32", (9, 9), "gpu"), 0)
    found = cache.explain(f, ("f32", (3, 5), "cpu"))
    assert found.reason == "different"
    assert found.nearest == ("f32", (3, 4), "cpu")
    assert found.differences == (KeyDifference(path=(1, 1), cached=4, given=5),)
    assert cache.explain(f, ("f32", (3, 4), "cpu")).reason == "present"
    longer = cache.explain(f, ("f32", (3, 4, 5), "cpu"))
    assert longer.differences == (KeyDifference((1,), (3, 4), (3, 4, 5)),)


def test_explain_tells_evicted_keys_and_changes_nothing():
    cache, f = CompiledFunctionCache(2), function()
    for key in (1, 2, 3):
        cache.put(f, key, 0)
    before = cache.statistics()
    assert cache.explain(f, 1).reason == "evicted"
    assert cache.explain(f, 2).reason == "present"
    assert cache.explain(f, 7).nearest == 3
    assert cache.statistics() == before
    cache.put(f, 4, 0)
    assert cache.keys(f) == [4, 3]


def test_a_call_in_the_midst_of_an_eviction_finds_the_cache_as_it_is():
    # As when Python runs a finaliser there.
    cache, f, seen = CompiledFunctionCache(2), function(), []

    class Program:
        def __del__(self):
            mortal = function()
            seen.append(cache.lookup(f, "old", fail))
            seen.append(cache.lookup(f, "new", lambda: 2))
            seen.append(cache.lookup(mortal, "key", lambda: 3))
            cache.clear(mortal)

    cache.put(f, "program", Program())
    cache.put(f, "old", 1)
    cache.put(f, "key", 1)
    assert seen == [1, 2, 3]
    assert cache.size <= 2
    assert cache.get(f, "new") in (2, None)
