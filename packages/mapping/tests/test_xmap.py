"""`xmap`: named dimensions of arguments and results, in both spellings; errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_core import lax
from axonym_core.errors import AxisNameError
from axonym_mapping import MappedAxisError, vmap, xmap

A = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("entry", "inner"),
    [
        ({0: "i"}, (3, 4)),
        ({-1: "i"}, (2, 3)),
        ({1: "i", 0: "j"}, (4,)),
        (["i", ...], (3, 4)),
        ([None, "i", ...], (2, 4)),
        ([..., "i"], (2, 3)),
        (["i", ..., "j"], (3,)),
        (["i", "j", "k"], ()),
        ([...], (2, 3, 4)),
        ({}, (2, 3, 4)),
    ],
)
def test_named_dimensions_leave_the_shape_and_return_to_their_places(
    entry: Any, inner: Any
) -> None:
    seen = []

    def f(a: Any) -> Any:
        seen.append(a.shape)
        return a

    np.testing.assert_array_equal(xmap(f, in_axes=entry, out_axes=entry)(A), A)
    assert seen == [inner]


@given(st.permutations(["i", "j", "k"]), st.permutations(["i", "j", "k"]))
@settings(max_examples=20)
def test_moving_named_axes_is_a_transposition(before: list[str], after: list[str]) -> None:
    out = xmap(lambda a: a * 2.0, in_axes=list(before), out_axes=list(after))(A)
    np.testing.assert_array_equal(out, 2 * A.transpose([before.index(n) for n in after]))


def test_matrix_product_by_names() -> None:
    a, b = np.random.default_rng(0).standard_normal((2, 3, 3))
    f = xmap(
        lambda x, y: lax.psum(x * y, "k"), in_axes=(["i", "k"], ["k", "j"]), out_axes=["i", "j"]
    )
    np.testing.assert_allclose(f(a, b), a @ b)


def test_result_is_broadcast_along_axes_that_it_does_not_vary_over() -> None:
    f = xmap(lambda x: lax.psum(x, "i"), in_axes={0: "i"}, out_axes={1: "i"})
    np.testing.assert_array_equal(f(A[0]), np.broadcast_to(A[0].sum(0)[:, None], (4, 3)))


def test_trees_of_arguments_and_results() -> None:
    f = xmap(
        lambda p, x: {"y": p["w"] * x, "n": lax.psum(x, "i")},
        in_axes=([...], ["i", ...]),
        out_axes={"y": ["i", ...], "n": [...]},
    )
    out = f({"w": 2.0}, np.arange(3.0))
    np.testing.assert_array_equal(out["y"], [0.0, 2.0, 4.0])
    assert float(out["n"]) == 3.0


def test_axis_that_no_argument_has() -> None:
    out = xmap(lambda: lax.axis_index("i"), in_axes=(), out_axes=["i"], axis_sizes={"i": 3})()
    assert out.tolist() == [0, 1, 2]


def test_xmap_within_vmap_and_vmap_within_xmap() -> None:
    f = xmap(lambda x: lax.psum(x, "i"), in_axes={0: "i"}, out_axes={})
    np.testing.assert_array_equal(vmap(f)(A), A.sum(1))
    g = xmap(
        lambda row: vmap(lambda x: x + lax.psum(x, "i"))(row), in_axes={0: "i"}, out_axes={0: "i"}
    )
    np.testing.assert_array_equal(g(A), A + A.sum(0))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: xmap(lambda x: x, in_axes=["i", ...], out_axes=[...])(A),
            MappedAxisError,
            r"varies over axis 'i', which out_axes.*does not list; reduce it.*or list the axis",
        ),
        (
            lambda: xmap(lambda x, y: x, in_axes=({0: "i"}, {0: "i"}), out_axes={0: "i"})(A, A[0]),
            MappedAxisError,
            r"size 2 in dimension 0 of args\[0\] and size 3 in dimension 0 of args\[1\]",
        ),
        (
            lambda: xmap(lambda x: x, in_axes=["i"], out_axes=["i"])(A),
            MappedAxisError,
            r"3 dimensions, but \['i'\] names 1; end the list with",
        ),
        (
            lambda: xmap(lambda x: x, in_axes={5: "i"}, out_axes={0: "i"})(A),
            MappedAxisError,
            "no dimension 5",
        ),
        (
            lambda: xmap(lambda x: x, in_axes=["i", "i", ...], out_axes=[...]),
            MappedAxisError,
            "twice",
        ),
        (
            lambda: xmap(lambda x: x, in_axes=[..., ...], out_axes=[...]),
            MappedAxisError,
            "more than one",
        ),
        (lambda: xmap(lambda x: x, in_axes=0, out_axes=0), TypeError, "dict of dimension"),
        (
            lambda: xmap(lambda x: x, in_axes={}, out_axes={0: "z"})(A),
            MappedAxisError,
            "names axis 'z', which no argument has",
        ),
        (
            lambda: xmap(lambda x: x, in_axes={0: "i"}, out_axes={0: "i"}, axis_sizes={"i": 7})(A),
            MappedAxisError,
            "axis_sizes says 7",
        ),
        (
            lambda: vmap(xmap(lambda x: x, in_axes={0: "i"}, out_axes={0: "i"}), axis_name="i")(A),
            AxisNameError,
            "already in scope",
        ),
    ],
)
def test_bad_input_is_refused_with_the_mend(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("in_axes", "want"),
    [
        (["i", ...], 33.0),
        ({0: "i"}, 33.0),
        ({np.int64(0): "i"}, 33.0),
        ([{0: "i"}, ["i"], {0: "i"}], 33.0),
        (({0: "i"}, ["i"], None), 63.0),
        ([{0: "i"}, {}, {0: "i"}], 39.0),
    ],
)
def test_one_entry_stands_for_all_arguments_or_a_list_has_one_for_each(
    in_axes: Any, want: float
) -> None:
    a, b = np.arange(6.0).reshape(3, 2), np.arange(3.0)
    f = lambda *xs: sum(  # noqa: E731
        lax.psum(lax.reduce_sum(x, tuple(range(x.ndim))), "i") for x in xs
    )
    assert float(xmap(f, in_axes, {})(a, b, a)) == sum_by_hand(in_axes, (a, b, a)) == want


def sum_by_hand(in_axes: Any, args: Any) -> float:
    """Each index sums what it sees: an argument without the axis is seen by all three."""
    entries = [in_axes] * 3 if in_axes == ["i", ...] or isinstance(in_axes, dict) else in_axes
    return float(sum(x.sum() * (1 if e else 3) for x, e in zip(args, entries, strict=True)))


def test_one_entry_without_names_and_trees_of_arguments() -> None:
    f = lambda x, y: lax.add(x["a"], y[0])  # noqa: E731
    a, b = np.arange(3.0), np.ones(3)
    for nothing in ({}, None, [None]):
        np.testing.assert_array_equal(xmap(f, nothing, nothing)({"a": a}, (b,)), a + b)
    for axes in (["i"], ({"a": ["i"]}, ["i"]), ({"a": {0: "i"}}, ({0: "i"},))):
        np.testing.assert_array_equal(xmap(f, axes, ["i"])({"a": a}, (b,)), a + b)


def test_arguments_by_keyword_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match="got x by keyword; pass every argument by position"):
        xmap(lambda x: x, {0: "i"}, {0: "i"})(x=np.ones(3))
