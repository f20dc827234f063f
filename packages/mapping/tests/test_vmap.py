"""`vmap`: equals a loop over slices, with any layout of arguments and results; errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_core import lax, make_jaxpr
from axonym_core.errors import AxisNameError, AxonymError, TreeStructureError
from axonym_mapping import MappedAxisError, vmap, xmap

X = np.arange(12.0).reshape(3, 4)


def test_tree_of_axes_is_a_prefix_of_the_arguments() -> None:
    f = lambda tree, y: {"s": tree["a"] + y, "b": tree["b"]}  # noqa: E731
    out = vmap(f, in_axes=({"a": 1, "b": None}, 0), out_axes={"s": 0, "b": None})(
        {"a": X, "b": np.ones(2)}, np.arange(4.0)
    )
    np.testing.assert_array_equal(out["s"], (X + np.arange(4.0)).T)
    np.testing.assert_array_equal(out["b"], np.ones(2))


@given(st.integers(-2, 1), st.integers(-3, 2), st.integers(0, 3))
@settings(max_examples=30)
def test_equals_a_loop_over_slices(in_axis: int, out_axis: int, size: int) -> None:
    x = np.random.default_rng(0).standard_normal((size, size))
    f = lambda row, y: lax.broadcast_in_dim(lax.sin(row), (2, size), (1,)) * y  # noqa: E731
    out = vmap(f, (in_axis, None), out_axis)(x, 2.0)
    rows = np.moveaxis(x, in_axis, 0)
    want = (
        np.stack([np.broadcast_to(np.sin(r), (2, size)) * 2 for r in rows], out_axis)
        if size
        else (np.zeros(np.insert((2, 0), out_axis % 3, 0)))
    )
    np.testing.assert_allclose(out, want)


def test_nested_maps_and_closures_over_mapped_values() -> None:
    y = np.arange(3.0)
    out = vmap(lambda row, y: vmap(lambda x: x * y)(row))(X, y)
    np.testing.assert_array_equal(out, X * y[:, None])


def test_results_that_all_indices_share_are_broadcast_or_returned_once() -> None:
    f = lambda x: 5.0  # noqa: E731
    assert np.asarray(vmap(f)(X)).tolist() == [5.0] * 3
    assert vmap(f, out_axes=None)(X) == 5.0


def test_keyword_arguments_are_mapped_along_dimension_0() -> None:
    np.testing.assert_array_equal(vmap(lambda x, *, y: x * y)(X, y=np.arange(3.0)).shape, (3, 4))


def test_size_from_axis_size_alone() -> None:
    out = vmap(lambda: lax.axis_index("i"), axis_name="i", axis_size=4)()
    assert out.tolist() == [0, 1, 2, 3]


def test_named_axis_is_in_the_type_of_what_varies_over_it() -> None:
    seen = {}

    def f(x: Any, w: Any) -> Any:
        seen["x"], seen["w"], seen["sum"] = (x * 1.0).aval, lax.sin(w).aval, lax.psum(x, "i").aval
        return x * w

    vmap(f, (0, None), axis_name="i")(X, np.ones(4))
    assert str(seen["x"]) == "f64[4;i:3]"
    assert str(seen["w"]) == "f64[4]"
    assert str(seen["sum"]) == "f64[4]"


def test_anonymous_axis_is_in_no_type() -> None:
    seen = []
    vmap(lambda x: [seen.append(dict(x.named_shape)), x][1])(X)
    assert seen == [{}]


def test_program_of_an_unmapped_computation_is_not_repeated() -> None:
    jaxpr = make_jaxpr(vmap(lambda x, w: x + lax.sin(w), (0, None), axis_name="i"))(X, np.ones(4))
    sines = [e for e in jaxpr.eqns if e.primitive.name == "sin"]
    assert [e.outvars[0].aval.shape for e in sines] == [(4,)]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: vmap(3), TypeError, "must be a function"),
        (
            lambda: vmap(lambda x, y: x)(X, np.ones(5)),
            MappedAxisError,
            r"args\[0\] has size 3 along dimension 0; args\[1\] has size 5",
        ),
        (lambda: vmap(lambda x: x, axis_size=2)(X), MappedAxisError, "axis_size=2"),
        (lambda: vmap(lambda x: x, in_axes=None)(X), MappedAxisError, "no argument is mapped"),
        (lambda: vmap(lambda x: x)(1.0), MappedAxisError, r"dimension 0 of args\[0\].*None"),
        (lambda: vmap(lambda x: x, in_axes=2)(X), MappedAxisError, "maps dimension 2"),
        (
            lambda: vmap(lambda x, y: x, in_axes=(0,))(X, X),
            MappedAxisError,
            "1 entries.*2 positional",
        ),
        (lambda: vmap(lambda x: x, in_axes="i")(X), TypeError, r"integers \(dimensions\) and None"),
        (
            lambda: vmap(lambda x: x["a"], in_axes=({"b": 0},))({"a": X}),
            TreeStructureError,
            "in_axes",
        ),
        (lambda: vmap(lambda x: x, out_axes=(0, 0))(X), TreeStructureError, "out_axes"),
        (lambda: vmap(lambda x: x, out_axes=5)(X), MappedAxisError, "dimension 5 of result"),
        (
            lambda: vmap(lambda x: {"a": x}, out_axes=None, axis_name="i")(X),
            MappedAxisError,
            r"result\['a'\] varies over axis 'i'.*lax.psum",
        ),
        (
            lambda: vmap(lambda r: vmap(lambda x: x, axis_name="i")(r), axis_name="i")(X),
            AxisNameError,
            "already in scope.*another axis_name",
        ),
        (
            lambda: vmap(lambda x: lax.psum(x, "j"), axis_name="i")(X),
            AxisNameError,
            "'j' is not in scope",
        ),
        (lambda: lax.psum(X, "i"), AxisNameError, "in scope: none"),
    ],
)
def test_bad_input_is_refused_with_the_mend(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_value_kept_beyond_its_map_is_refused_with_the_place() -> None:
    kept = []
    vmap(lambda x: [kept.append(x), x][1])(X)
    with pytest.raises(TypeError, match="after the transformation that made it had returned"):
        kept[0] + 1.0


def test_branches_under_axes_whose_names_print_alike() -> None:
    x = np.arange(3.0)

    def f(a: Any, b: Any) -> Any:
        return lax.cond(lax.lt(a, 1.0), lambda: lax.add(a, b), lambda: lax.sub(b, a))

    want = [[a + b if a < 1 else b - a for b in x] for a in x]
    for outer, inner in (("1", 1), (1, "1")):
        over_b = vmap(f, (None, 0), axis_name=inner)
        got = vmap(over_b, (0, None), axis_name=outer)(x, x)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("size", [2.0, "2", -2, None])
def test_sizes_of_axes_are_integers_of_0_or_more(size: Any) -> None:
    for call in (
        lambda: vmap(lambda: 1.0, axis_size=size)(),
        lambda: xmap(lambda: 1.0, in_axes=(), out_axes=["i"], axis_sizes={"i": size})(),
        lambda: make_jaxpr(lambda: 1.0, axis_env=[("i", size)])(),
    ):
        with pytest.raises((TypeError, ValueError)) as raised:
            call()
        assert isinstance(raised.value, AxonymError)


@pytest.mark.parametrize("batch_size", [1, 2, 3, 5, 7, 100])
@pytest.mark.parametrize("length", [0, 1, 6])
def test_a_map_in_batches_is_the_map_one_by_one(length: int, batch_size: int) -> None:
    xs = {"a": np.arange(float(length * 2)).reshape(length, 2), "b": np.arange(length)}

    def f(x: Any) -> Any:
        return {"sum": lax.reduce_sum(x["a"], (0,)) * x["b"], "pair": x["a"]}

    batched = lax.map(f, xs, batch_size=batch_size)
    one_by_one = lax.map(f, xs)

    for name in ("sum", "pair"):
        assert batched[name].dtype == one_by_one[name].dtype
        np.testing.assert_array_equal(batched[name], one_by_one[name])


@pytest.mark.parametrize("batch_size", [0, -1, 1.5, True, "2"])
def test_what_is_no_batch_size_is_refused(batch_size: Any) -> None:
    with pytest.raises(ValueError, match="batch_size"):
        lax.map(lambda x: x, np.arange(3), batch_size=batch_size)
