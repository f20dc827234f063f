"""Programs about jit, trees, NumPy's meaning and devices from public bug reports, written anew.

Each test names the reports. Where a report speaks of several things and some of them are not there
yet (saving), the test has the others.
"""

from __future__ import annotations

import copy
import math
import os
import pickle
import subprocess
import sys
import textwrap
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
from agreement import raised, same

import axonym as ax
import axonym.numpy as anp

INF, NAN = float("inf"), float("nan")

pytestmark = pytest.mark.usefixtures("backend")

on_xla = pytest.mark.parametrize("backend", ["xla"], indirect=True)


# jit


def test_unhashable_static_values_are_refused_every_time() -> None:
    """jax-ml/jax#3701, jax-ml/jax#2813, jax-ml/jax#883: retraced in silence at every call."""
    fun = ax.jit(lambda x, c: x + c[0], static_argnums=1)
    one = anp.ones(3)
    for bad in ([1, 2], [1, 2], np.array([1.0]), one, {"a": 1}):
        with pytest.raises(ValueError, match="hashable"):
            fun(one, bad)

    same(fun(one, (5,)), [6.0] * 3)


def test_wrapping_a_function_again_traces_nothing() -> None:
    """jax-ml/jax#9288, jax-ml/jax#14183: recompiled at every call."""
    traces = []

    def body(x: Any, k: Any = 2, *, shift: Any = 0.0) -> Any:
        traces.append(k)
        return x * k + shift

    x = anp.ones(3)
    for _ in range(5):
        ax.jit(body)(x)
    assert len(traces) == 1

    fun = ax.jit(body, static_argnames=("k",))
    fun(x, 2)
    fun(x, k=2)
    fun(x, k=2, shift=0.0)
    fun(x, shift=0.0, k=2)
    fun(x, k=3)
    assert len(traces) <= 5
    same(fun(x, k=3, shift=1.0), [4.0] * 3)


@on_xla
def test_donated_arrays_are_refused_and_copies_are_not() -> None:
    """jax-ml/jax#9635, jax-ml/jax#9675, jax-ml/jax#3412: a hang; copies that shared the buffer."""
    fun = ax.jit(lambda a, b: a + b, donate_argnums=0)
    x = anp.arange(4.0)
    kept, deep = anp.array(x, copy=True), copy.deepcopy(x)

    same(fun(x, anp.ones(4)), [1.0, 2, 3, 4])
    same([kept, deep], [[0.0, 1, 2, 3]] * 2)
    with pytest.raises(RuntimeError, match="donated"):
        np.asarray(x + 1)
    twice = anp.arange(4.0)
    with pytest.raises((TypeError, ValueError), match="donated"):
        fun(twice, twice)


def test_leaked_value_is_refused_with_name_and_type() -> None:
    """jax-ml/jax#4312, jax-ml/jax#7343, jax-ml/jax#3086: errors about sublevels and None.

    The field's name of the error is an alias here; the class itself is called TracerLeakError.
    """
    box: list[Any] = []

    def leaky_step(x: Any) -> Any:
        box.append(x * 2.0)
        return x + 1

    ax.jit(leaky_step)(anp.ones((3, 5)))

    with pytest.raises(ax.errors.UnexpectedTracerError, match=r"f32\[3,5\].*leaky_step"):
        anp.sin(box[0])


def test_inline_puts_the_equations_into_the_caller() -> None:
    """jax-ml/jax#6584, jax-ml/jax#9298: nested calls hid their equations."""

    def fun(x: Any) -> Any:
        return anp.sin(x) * 2.0

    inlined, called = ax.jit(fun, inline=True), ax.jit(fun)

    def primitives(f: Any) -> list[str]:
        return [str(e.primitive) for e in ax.make_jaxpr(lambda x: f(x) + 1.0)(1.0).eqns]

    slopes = ax.vmap(ax.grad(lambda x: inlined(x) * called(x)))(anp.array([0.0, 0.5]))

    assert "jit" not in primitives(inlined)
    assert "jit" in primitives(called)
    same(slopes, [8 * math.sin(v) * math.cos(v) for v in (0.0, 0.5)])


# Trees, saving


def test_containers_keep_their_places() -> None:
    """jax-ml/jax#15358, jax-ml/jax#4085, jax-ml/jax#24398: order changed; None became a leaf."""
    pair = namedtuple("pair", "b a")
    tree_map = ax.tree_util.tree_map
    tree = {"z": pair(1.0, None), "a": [OrderedDict([("k", 2.0), ("c", 3.0)]), ()]}

    scaled = tree_map(lambda v: v * 10, tree)
    gradient = ax.grad(lambda q: q["z"].b ** 2 + q["a"][0]["c"])(tree)
    moved = ax.jit(lambda q: tree_map(lambda v: v + 1, q))(tree)

    assert isinstance(scaled["z"], pair)
    assert scaled["z"].a is gradient["z"].a is None
    assert list(scaled["a"][0]) == ["k", "c"]
    assert (float(gradient["z"].b), float(moved["a"][0]["c"])) == (2.0, 4.0)
    assert ax.tree_util.tree_leaves({"y": 2, "x": 1}) == ax.tree_util.tree_leaves({"x": 1, "y": 2})
    with pytest.raises(ValueError, match=r"'p'.*'q'"):
        tree_map(lambda a, b: a + b, {"p": 1}, {"q": 1})


def test_keys_that_do_not_compare() -> None:
    """jax-ml/jax#15358, jax-ml/jax#27300: a bare message of the sorting routine."""
    mapped = ax.tree_util.tree_map(lambda v: v + 1, {1: 7, "y": 42})

    assert mapped == {1: 8, "y": 43}


def test_arrays_and_keys_pickle() -> None:
    """jax-ml/jax#8541, jax-ml/jax#35065, jax-ml/jax#12184: bfloat16 and keys did not."""
    narrow = anp.array([1.5, -2.0], dtype=anp.bfloat16)
    weak, key = anp.asarray(2.0), ax.random.key(7)

    def again(x: Any) -> Any:
        return pickle.loads(pickle.dumps(x))

    tree = again({"p": (narrow, [weak])})

    for x in (again(narrow), copy.deepcopy(narrow), tree["p"][0]):
        assert str(x.dtype) == "bfloat16"
        same(x.astype(anp.float32), [1.5, -2.0])
    assert (again(weak) + anp.float16(1)).dtype == (weak + anp.float16(1)).dtype
    same(ax.random.key_data(again(key)), ax.random.key_data(key))


# NumPy semantics


def test_shifts_by_the_width_and_more() -> None:
    """numpy/numpy#10299: undefined behaviour."""
    x, s = np.array([1, -1, 6], np.int32), np.array([32, 40, 33], np.int32)
    u = np.array([1, 200], np.uint8)

    same(anp.left_shift(x, s), np.left_shift(x, s))
    same(anp.right_shift(x, s), np.right_shift(x, s))
    same(anp.right_shift(u, np.uint8(9)), np.right_shift(u, np.uint8(9)))
    same(anp.left_shift(u, np.uint8(1)), np.left_shift(u, np.uint8(1)))
    same(anp.right_shift(np.int8(-128), np.int8(3)), -16)


def test_ranges_end_where_they_should() -> None:
    """jax-ml/jax#3014, jax-ml/jax#145: last point off by one digit; a range of length 1."""
    a, b = np.float32(-1.7320509), np.float32(3.1622777)
    for n in (2, 7, 10, 33, 101):
        points = np.asarray(anp.linspace(a, b, n))
        assert (points[0], points[-1]) == (a, b)

    assert anp.arange(0.0, 1.0, 0.1).shape == (10,)
    same(anp.arange(5, 0, -2), [5, 3, 1])
    assert anp.arange(3, 3).shape == (0,)
    same(anp.linspace(0, 1, 5, endpoint=False), [0, 0.2, 0.4, 0.6, 0.8])
    same(anp.linspace(-3, 3, 4, dtype=int), np.linspace(-3, 3, 4, dtype=int))
    same(anp.linspace(1, 2, 1), [1.0])


def test_medians_and_quantiles_beside_infinities_and_nan() -> None:
    """jax-ml/jax#2446, jax-ml/jax#6444: NaN from 0 * inf; NaN ignored; integers refused."""
    same(anp.median(anp.array([INF, INF, INF])), INF)
    same(anp.median(anp.array([1.0, 2.0, INF])), 2.0)
    same(anp.quantile(anp.array([1.0, NAN, 3.0]), 0.5), NAN)
    same(anp.nanquantile(anp.array([1.0, NAN, 3.0]), 0.5), 2.0)
    same(anp.median(anp.arange(10)), 4.5)
    quarters = anp.percentile(anp.array([4.0, 1.0, 3.0]), anp.array([0.0, 50.0, 100.0]))
    same(quarters, [1.0, 3.0, 4.0])


def test_searching_among_nan() -> None:
    """jax-ml/jax#9107, jax-ml/jax#37822: everything was reported as past the end."""
    hay = np.array([0.0, 1.0, 1.0, 2.5, NAN, NAN], np.float32)
    needles = np.array([-1.0, 0.0, 1.0, 2.6, INF, NAN], np.float32)

    same(anp.searchsorted(hay, needles), np.searchsorted(hay, needles))
    same(anp.searchsorted(hay, needles, side="right"), np.searchsorted(hay, needles, "right"))
    lanes = ax.vmap(lambda v: anp.searchsorted(hay, v))(needles)
    same(lanes, np.searchsorted(hay, needles))
    same(anp.searchsorted(hay[:0], needles), np.zeros(6, int))
    same(anp.searchsorted(anp.array(hay), anp.float32(0)), 0)


def test_reductions_of_nothing() -> None:
    """jax-ml/jax#2899, jax-ml/jax#5719, jax-ml/jax#26555: 2147483647; -inf for norms."""
    empty, flat = anp.zeros((0,)), anp.zeros((0, 3))

    assert raised(lambda: anp.argmax(empty)) == "ValueError"
    assert raised(lambda: anp.max(empty)) == "ValueError"
    same([anp.sum(empty), anp.prod(empty)], [0.0, 1.0])
    assert anp.bincount(anp.zeros((0,), int)).shape == (0,)
    same(anp.dot(flat.T, flat), np.zeros((3, 3)))
    same([anp.linalg.norm(flat), anp.linalg.norm(flat, ord=2)], [0.0, 0.0])
    same(anp.sum(flat, axis=0), [0.0] * 3)
    same(anp.concatenate([empty, anp.ones(2)]), [1.0, 1.0])


def test_masked_reductions_and_their_gradients() -> None:
    """pytorch/pytorch#49724, jax-ml/jax#17070: NaN where masked entries took part."""
    x = anp.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    kept = np.array([[True, False, True], [False, False, True]])

    def entropy(logits: Any) -> Any:
        p = ax.nn.softmax(logits, where=kept[0])
        return -anp.sum(anp.where(kept[0], p * anp.log(anp.where(kept[0], p, 1.0)), 0.0))

    same(anp.sum(x, axis=1, where=kept), [4.0, 6.0])
    same(anp.mean(x, axis=1, where=kept), [2.0, 6.0])
    same(anp.max(x, axis=1, where=kept, initial=-9.0), [3.0, 6.0])
    same(anp.var(x, axis=1, where=kept), [1.0, 0.0])
    same(ax.grad(entropy)(anp.array([0.0, 50.0, 0.0])), [0.0, 0.0, 0.0])


KEYS = [
    np.s_[::-2, 1],
    np.s_[3:0:-1],
    np.s_[np.array([True, False, True, True]), 2],
    np.s_[..., np.array([True, False])],
    np.s_[None, np.array([True, False, True, True])],
    np.s_[np.array([True, False, True, True]), :, 1],
    np.s_[-1:-4:-2, ::-1],
    np.s_[np.array([[0, 3], [1, 1]]), ..., None],
]


@pytest.mark.parametrize("number", range(len(KEYS)))
def test_indexing_as_numpy_does(number: int) -> None:
    """jax-ml/jax#7329, jax-ml/jax#9050, jax-ml/jax#18542: masks were refused, or not checked."""
    x = np.arange(24.0).reshape(4, 3, 2)

    same(anp.array(x)[KEYS[number]], x[KEYS[number]])


def test_bad_indices_and_updates() -> None:
    """jax-ml/jax#7329, jax-ml/jax#9050, jax-ml/jax#18542."""
    x = np.arange(24.0).reshape(4, 3, 2)
    ours, mask = anp.array(x), np.array([True, False, True, True])

    assert raised(lambda: ours[np.array([True, False])]) == "IndexError"
    assert raised(lambda: ours[0, 1, 1, 0]) == "IndexError"
    assert raised(lambda: ours[1.0]) in ("IndexError", "TypeError")
    assert raised(lambda: ax.jit(lambda v: v[v > 3])(ours)) in ("IndexError", "TypeError")

    wanted = x.copy()
    wanted[mask, 2] = -1
    wanted[::-2] *= 10
    same(ours.at[mask, 2].set(-1).at[::-2].multiply(10), wanted)

    weight = anp.array([[1.0, 2.0], [3.0, 4.0]])
    slope = np.zeros_like(x)
    slope[3, 1], slope[1, 1] = [1, 2], [3, 4]
    same(ax.grad(lambda v: (v[::-2, 1] * weight).sum())(ours), slope)


# Devices


@on_xla
def test_local_devices_refuses_by_name() -> None:
    """jax-ml/jax#10391: '<=' not supported between instances of 'int' and 'str'."""
    everything = ax.local_devices()

    assert ax.local_devices(backend="cpu") == ax.local_devices(0) == everything
    assert ax.local_devices(process_index=0, backend="cpu") == everything
    for bad in (7, -1):
        with pytest.raises(ValueError, match="process_index"):
            ax.local_devices(bad)
    with pytest.raises((TypeError, ValueError), match="backend"):
        ax.local_devices("cpu")
    with pytest.raises((TypeError, ValueError, RuntimeError), match="no_such"):
        ax.local_devices(backend="no_such")


@on_xla
def test_aliases_of_process_functions_point_to_the_new_names() -> None:
    """jax-ml/jax#9903, google/flax#1522: users were unsure which name replaces which."""
    program = textwrap.dedent("""
        import warnings
        import axonym as ax

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert ax.host_id() == ax.process_index() == 0
            assert ax.host_count() == ax.process_count() == 1
            assert list(ax.host_ids()) == [0]
            assert ax.local_devices(host_id=0) == ax.local_devices(process_index=0)
        text = " ".join(str(w.message) for w in caught)
        assert all(w.category is DeprecationWarning for w in caught)
        assert "process_index" in text and "process_count" in text
        assert all(d.process_index == 0 for d in ax.devices())
        assert ax.device_count() == ax.local_device_count() == 3
    """)
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "AXONYM_NUM_CPU_DEVICES": "3"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert run.returncode == 0, run.stderr
