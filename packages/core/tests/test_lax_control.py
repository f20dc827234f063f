"""Control flow: values, types of carries and branches, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axonym_core import lax, make_jaxpr
from axonym_core.errors import DTypeError, ShapeError, TreeStructureError


@given(st.integers(0, 5), st.booleans(), st.integers(1, 3))
def test_scan_is_a_loop(length: int, reverse: bool, unroll: int) -> None:
    xs = np.arange(2.0 * length).reshape(length, 2)
    c, ys = lax.scan(lambda c, x: (c * 2 + x, c), np.zeros(2), xs, reverse=reverse, unroll=unroll)
    want, out = np.zeros(2), np.zeros((length, 2))
    for i in reversed(range(length)) if reverse else range(length):
        out[i] = want
        want = want * 2 + xs[i]
    np.testing.assert_array_equal(c, want)
    np.testing.assert_array_equal(ys, out)
    assert ys.shape == (length, 2)


def test_scan_on_trees_and_without_inputs_or_outputs() -> None:
    c, ys = lax.scan(lambda c, x: ({"n": c["n"] + x["a"]}, None), {"n": 0}, {"a": np.arange(4)})
    assert int(c["n"]) == 6
    assert ys is None
    c, ys = lax.scan(lambda c, _: (c + 1, {"c": c}), 0, None, length=3)
    assert (int(c), ys["c"].tolist()) == (3, [0, 1, 2])


@pytest.mark.parametrize("start", [0, 0.0, np.float32(0)])
def test_python_numbers_in_the_carry_take_the_dtype_of_the_body(start: Any) -> None:
    c, _ = lax.scan(lambda c, x: (c + x, None), start, np.ones(3, np.float32))
    assert c.dtype == np.float32
    assert float(c) == 3.0
    nested, _ = lax.scan(
        lambda c, x: (lax.scan(lambda d, y: (d + y * x, None), c, np.ones(2))[0], None),
        0,
        np.ones(3),
    )
    assert nested.dtype == np.float64


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: lax.scan(lambda c, x: c, 0.0, np.ones(3)),
            TreeStructureError,
            r"pair \(carry, y\)",
        ),
        (
            lambda: lax.scan(lambda c, x: ((c, c), x), 0.0, np.ones(3)),
            TreeStructureError,
            "goes in as",
        ),
        (
            lambda: lax.scan(
                lambda c, x: ({"a": c["a"] + np.ones(2)}, x), {"a": np.ones(())}, np.ones(3)
            ),
            ShapeError,
            r"carry\['a'\].*f64\[\].*f64\[2\]",
        ),
        (
            lambda: lax.scan(lambda c, x: (c + x, x), np.float32(0), np.ones(3)),
            DTypeError,
            r"goes in as f32\[\] and comes out as f64\[\].*astype",
        ),
        (
            lambda: lax.scan(lambda c, x: (c, x), 0, (np.ones(3), np.ones(4))),
            ShapeError,
            r"xs\[0\]: 3, xs\[1\]: 4",
        ),
        (lambda: lax.scan(lambda c, x: (c, x), 0, np.ones(3), length=4), ShapeError, "length: 4"),
        (lambda: lax.scan(lambda c, x: (c, x), 0, None), ShapeError, "pass length="),
        (lambda: lax.scan(lambda c, x: (c, x), 0, 1.0), ShapeError, "0-d"),
        (lambda: lax.scan(lambda c, x: (c, x), 0, None, length=-1), ShapeError, "negative"),
        (lambda: lax.while_loop(lambda s: s, lambda s: s, 1.0), TypeError, "0-d boolean"),
        (
            lambda: lax.while_loop(lambda s: s < 1, lambda s: (s, s), 1.0),
            TreeStructureError,
            "state",
        ),
        (lambda: lax.cond(np.ones(2), lambda: 1, lambda: 2), TypeError, "0-d"),
        (lambda: lax.cond(True, 1, lambda: 2), TypeError, "must be functions"),
        (lambda: lax.cond(True, lambda: (1, 2), lambda: 2), TreeStructureError, "structure"),
        (
            lambda: lax.cond(True, lambda: {"a": np.ones(2)}, lambda: {"a": np.ones(3)}),
            TypeError,
            r"false_fun.*true_fun.*result\['a'\]: f64\[3\] and f64\[2\]",
        ),
        (lambda: lax.switch(1.0, [lambda: 1, lambda: 2]), TypeError, "0-d integer"),
        (lambda: lax.switch(1, []), ValueError, "at least one"),
        (lambda: lax.fori_loop(0.0, 3, lambda i, c: c, 0), DTypeError, "must be integers"),
    ],
)
def test_bad_input_is_refused_with_the_mend(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_while_and_fori_with_traced_and_python_bounds() -> None:
    assert int(lax.while_loop(lambda n: n < 100, lambda n: n * 2, 3)) == 192
    for bounds in ((2, 5), (np.int32(2), np.int32(5))):
        assert int(lax.fori_loop(*bounds, lambda i, c: c + i, 0)) == 9
    assert int(lax.fori_loop(5, 2, lambda i, c: c + i, 7)) == 7
    jaxpr = make_jaxpr(lambda n: lax.fori_loop(0, n, lambda i, c: c + 1.0, 0.0))(3)
    assert [e.primitive.name for e in jaxpr.eqns].count("while") == 1


def test_branches_close_over_values_of_their_own() -> None:
    def f(i: Any, x: Any, y: Any) -> Any:
        return lax.switch(i, [lambda z: z * x, lambda z: z + y * x, lambda z: z], 2.0)

    jaxpr = make_jaxpr(f)(0, 3.0, 5.0)
    (eqn,) = [e for e in jaxpr.eqns if e.primitive.name == "cond"]
    assert len({b.in_avals for b in eqn.params["branches"]}) == 1
    assert [float(f(i, 3.0, 5.0)) for i in (0, 1, 2, 7, -1)] == [6.0, 17.0, 2.0, 2.0, 6.0]


def test_only_the_chosen_branch_is_run() -> None:
    def f(x: Any) -> Any:
        return lax.cond(
            x > 0, lambda: lax.while_loop(lambda s: s < 1e30, lambda s: s * 10, x), lambda: x
        )

    assert float(f(-1.0)) == -1.0


def test_numbers_as_conditions_and_weak_branches() -> None:
    assert float(lax.cond(3, lambda: 1.0, lambda: 2.0)) == 1.0
    out = lax.cond(False, lambda: np.float32(1), lambda: 2)
    assert (out.dtype, float(out)) == (np.float32, 2.0)


def test_map_applies_to_each_slice() -> None:
    out = lax.map(lambda t: t["a"] * t["b"], {"a": np.arange(3.0), "b": np.ones((3, 2))})
    np.testing.assert_array_equal(out, np.arange(3.0)[:, None] * np.ones((3, 2)))


def test_body_is_staged_once_for_the_same_function() -> None:
    calls = []

    def body(c: Any, x: Any) -> Any:
        calls.append(1)
        return c + x, c

    for _ in range(3):
        lax.scan(body, np.zeros(()), np.ones(3))
    assert len(calls) == 1
