"""Operators of arrays mean what NumPy's mean, on either side of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_core import ShapeDtypeStruct, make_jaxpr
from axonym_core.arrays import Array, as_concrete
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.settings import config


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


ARITHMETIC = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]


def equal(actual: Any, expected: Any) -> None:
    assert isinstance(actual, Array)
    np.testing.assert_array_equal(np.asarray(actual), expected)


@pytest.mark.parametrize("op", [*ARITHMETIC, *COMPARISONS, operator.pow])
def test_binary_operators_of_floats_equal_numpy(op: Callable[[Any, Any], Any]) -> None:
    x = np.array([[1.5, -2.0, 7.25], [0.5, 3.0, -1.0]])
    y = np.array([2.0, -0.5, 3.0])
    with np.errstate(all="ignore"):
        expected = op(x, y)

    equal(op(as_concrete(x), as_concrete(y)), expected)
    equal(op(as_concrete(x), y), expected)
    equal(op(x, as_concrete(y)), expected)


@pytest.mark.parametrize("op", [*BITS, *ARITHMETIC[:3], *ARITHMETIC[4:], *COMPARISONS])
def test_binary_operators_of_integers_equal_numpy(op: Callable[[Any, Any], Any]) -> None:
    for dtype in (np.int32, np.uint8):
        x = np.array([1, 17, 100, 3], dtype)
        y = np.array([3, 2, 1, 0], dtype)
        with np.errstate(all="ignore"):
            expected = op(x, y)

        out = op(as_concrete(x), as_concrete(y))

        equal(out, expected)
        assert out.dtype == expected.dtype


@pytest.mark.parametrize("op", [operator.floordiv, operator.mod])
@given(
    x=st.floats(width=64) | st.sampled_from([0.0, -0.0, 1.0, -1.0]),
    y=st.floats(width=64) | st.sampled_from([0.0, 2.0, -3.0]),
)
@settings(max_examples=50)
def test_floor_division_of_floats_equals_numpy(
    op: Callable[[Any, Any], Any], x: float, y: float
) -> None:
    with config.override(backend="numpy"), np.errstate(all="ignore"):
        expected = op(np.float64(x), np.float64(y))
        actual = op(as_concrete(np.array([x])), as_concrete(np.array([y])))

        np.testing.assert_array_equal(np.asarray(actual)[0], expected)


@pytest.mark.parametrize("op", [operator.floordiv, operator.mod])
@given(x=st.integers(-128, 127), y=st.integers(-128, 127))
@settings(max_examples=50)
def test_floor_division_of_integers_equals_numpy(
    op: Callable[[Any, Any], Any], x: int, y: int
) -> None:
    with config.override(backend="numpy"), np.errstate(all="ignore"):
        expected = op(np.array([x], np.int8), np.array([y], np.int8))

        equal(
            op(as_concrete(np.array([x], np.int8)), as_concrete(np.array([y], np.int8))), expected
        )
        if y:
            equal(op(as_concrete(np.array([x], np.int8)), y), expected)


def test_division_of_integers_gives_the_default_float() -> None:
    x = as_concrete(np.array([1, 2], np.int64))

    assert (x / x).dtype == np.float32
    assert (x / 2).dtype == np.float32
    assert (2 / x).tolist() == [2.0, 1.0]
    with config.override(default_float_bits=64):
        assert (x / x).dtype == np.float64


def test_numbers_on_either_side_keep_the_dtype() -> None:
    x = as_concrete(np.array([1.0, 2.0], np.float16))

    for out in (x + 1, 1 + x, x * 2.5, 2.5 - x, x / 3, x**2, 2.0**x, x // 2, x % 2, 7 % x):
        assert out.dtype == np.float16
    assert (x * np.float64(2)).dtype == np.float16
    assert (np.float64(2) * x).dtype == np.float16
    assert (x * np.float32(2)).dtype == np.float32
    assert (x * 1j).dtype == np.complex64


def test_integers_with_numbers_promote_as_the_lattice_says() -> None:
    x = as_concrete(np.array([1, 2], np.int8))

    assert (x + 1).dtype == np.int8
    assert (x + 1.5).dtype == np.float32
    assert (x + 1.5).weak_type
    assert (x + True).dtype == np.int8
    with pytest.raises(DTypeError, match="the integer 1000 does not fit int8"):
        x + 1000


def test_numpy_arrays_and_scalars_on_the_left_hand_over() -> None:
    x = as_concrete(np.array([1.0, 2.0], np.float32))
    y = np.array([3.0, 4.0], np.float32)

    for op in (*ARITHMETIC, *COMPARISONS, operator.pow, operator.matmul):
        equal(op(y, x), op(y, np.asarray(x)))
    equal(np.float32(2) * x, [2.0, 4.0])
    equal(np.int32(2) + x, [3.0, 4.0])
    equal(np.array(2.0, np.float32) - x, [1.0, 0.0])


def test_numpy_functions_take_arrays() -> None:
    x = as_concrete(np.array([1.0, 2.0], np.float32))

    np.testing.assert_allclose(np.sin(x), np.sin(np.asarray(x)))  # type: ignore[call-overload]


def test_powers_with_python_integers_multiply() -> None:
    x = ShapeDtypeStruct((2,), "float32")

    assert [str(e.primitive) for e in make_jaxpr(lambda v: v**3)(x).eqns] == ["integer_pow"]
    assert [str(e.primitive) for e in make_jaxpr(lambda v: v**2.5)(x).eqns] == ["pow"]
    n = as_concrete(np.array([1, 2, -3], np.int32))
    equal(n**3, [1, 8, -27])
    equal(n ** np.int8(2), [1, 4, 9])
    equal(2 ** as_concrete(np.array([0, 1, 3], np.int32)), [1, 2, 8])
    equal(as_concrete(np.array([2.0, 4.0], np.float32)) ** -1, [0.5, 0.25])


def test_integers_have_no_negative_powers() -> None:
    x = as_concrete(np.array([1, 2], np.int32))

    with pytest.raises(DTypeError, match=r"integers have no negative powers, got i32\[2\] \*\* -1"):
        x**-1


def test_truth_values_add_as_or_and_multiply_as_and() -> None:
    x = np.array([True, True, False, False])
    y = np.array([True, False, True, False])
    a, b = as_concrete(x), as_concrete(y)

    for op in (operator.add, operator.mul, operator.and_, operator.or_, operator.xor):
        equal(op(a, b), op(x, y))
        assert op(a, b).dtype == np.bool_
    equal(~a, ~x)
    assert abs(a) is a
    with pytest.raises(DTypeError, match=r"use x \^ y"):
        a - b
    with pytest.raises(DTypeError, match="use ~x"):
        operator.neg(a)


def test_right_shifts_follow_the_sign_of_the_type() -> None:
    equal(as_concrete(np.array([-8], np.int8)) >> 1, [-4])
    equal(as_concrete(np.array([248], np.uint8)) >> 1, [124])
    equal(1 << as_concrete(np.array([0, 3], np.int32)), [1, 8])


def test_complex_numbers_compare_by_real_then_imaginary_part() -> None:
    x = np.array([1 + 2j, 1 + 2j, 1 + 2j, 0j])
    y = np.array([1 + 3j, 1 + 2j, 0 + 9j, 1j])

    for op in COMPARISONS:
        equal(op(as_concrete(x), as_concrete(y)), op(x, y))


def test_complex_numbers_have_no_floor_division() -> None:
    x = as_concrete(np.ones(2, np.complex64))

    with pytest.raises(DTypeError, match="floor_divide: complex numbers have no quotient"):
        x // x


def test_unary_operators_equal_numpy() -> None:
    x = np.array([1.5, -2.0])

    equal(-as_concrete(x), -x)
    equal(abs(as_concrete(x)), abs(x))
    equal(+as_concrete(x), x)
    equal(~as_concrete(np.array([5, -1], np.int8)), [-6, 0])
    quotient, remainder = divmod(as_concrete(x), 2.0)
    equal(quotient, x // 2)
    equal(remainder, x % 2)


@pytest.mark.parametrize("other", [None, "text", [1.0, 2.0], {}, object()])
def test_operands_of_other_kinds_are_left_to_python(other: Any) -> None:
    x = as_concrete(np.ones(2))

    assert (x == other) is False
    assert (x != other) is True
    for op in (*ARITHMETIC, operator.pow, operator.matmul, operator.lt, operator.and_, divmod):
        # Sequences are repeated by what is an index: Python asks that of the array at last.
        with pytest.raises(TypeError, match=r"unsupported operand|not supported between|an index"):
            op(x, other)


def test_shapes_that_do_not_broadcast_are_refused_by_name() -> None:
    with pytest.raises(ShapeError, match=r"multiply: operands of shapes \(2,\), \(3,\)"):
        as_concrete(np.ones(2)) * as_concrete(np.ones(3))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((6, 1, 2, 3), (5, 3, 4)),
        ((6, 5, 2, 3), (1, 5, 3, 4)),
        ((1, 2, 3), (5, 3, 4)),
        ((3,), (5, 3, 4)),
        ((5, 2, 3), (3,)),
        ((1, 5, 2, 3), (6, 1, 3, 4)),
        ((1, 1, 2, 3), (1, 5, 3, 4)),
        ((2, 0), (0, 3)),
        ((0, 2, 3), (3, 4)),
    ],
)
def test_matmul_equals_numpy(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(-9, 9, a).astype(np.float64), rng.integers(-9, 9, b).astype(np.float64)

    equal(as_concrete(x) @ as_concrete(y), x @ y)


def test_matmul_repeats_no_operand() -> None:
    jaxpr = make_jaxpr(operator.matmul)(
        ShapeDtypeStruct((2, 3), "float32"), ShapeDtypeStruct((5, 3, 4), "float32")
    )

    assert [str(e.primitive) for e in jaxpr.eqns] == ["dot_general", "transpose"]


def test_matmul_of_truth_values_is_a_disjunction() -> None:
    x = np.array([[True, False], [False, False]])

    equal(as_concrete(x) @ as_concrete(x), x @ x)


def test_matmul_refuses_what_does_not_fit() -> None:
    x = as_concrete(np.ones((2, 3)))

    with pytest.raises(ShapeError, match="matmul: operands need one dimension or more"):
        x @ 2.0
    with pytest.raises(ShapeError, match=r"last dimension of the left operand \(3\)"):
        x @ x
    with pytest.raises(ShapeError, match=r"batch dimensions \(2,\) and \(3,\) do not broadcast"):
        as_concrete(np.ones((2, 2, 2))) @ as_concrete(np.ones((3, 2, 2)))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x + x, ["add"]),
        (lambda x: x * 2.0, ["mul"]),
        (lambda x: 1 - x, ["sub"]),
        (lambda x: x / 3, ["div"]),
        (lambda x: x < 0, ["lt"]),
        (lambda x: x * np.float64(3), ["mul"]),
        (lambda x: x % 2, ["rem", "lt", "add", "select_n"]),
        (lambda x: x + np.zeros((1,), np.float32), ["broadcast_in_dim", "add"]),
    ],
)
def test_operators_trace_to_few_equations(
    function: Callable[[Any], Any], expected: list[str]
) -> None:
    jaxpr = make_jaxpr(function)(ShapeDtypeStruct((2,), "float32"))

    assert [str(e.primitive) for e in jaxpr.eqns] == expected
