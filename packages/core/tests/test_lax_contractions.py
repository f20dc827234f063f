"""`dot_general` and its common cases give what einsum gives."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_core import ShapeDtypeStruct, lax, make_jaxpr
from axonym_core.errors import ConfigError, DTypeError, ShapeError
from axonym_core.settings import config

Array = np.ndarray[Any, Any]
MATMUL = (((1,), (0,)), ((), ()))


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def einsum(lhs: Array, rhs: Array, dimension_numbers: Any) -> Array:
    (c1, c2), (b1, b2) = dimension_numbers
    letters = iter(string.ascii_letters)
    left, right = [next(letters) for _ in lhs.shape], [next(letters) for _ in rhs.shape]
    for i, j in zip((*c1, *b1), (*c2, *b2), strict=True):
        right[j] = left[i]
    out = [left[i] for i in b1]
    out += [c for i, c in enumerate(left) if i not in (*c1, *b1)]
    out += [c for j, c in enumerate(right) if j not in (*c2, *b2)]
    return np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", lhs, rhs)


CASES = [
    ((3, 4), (4, 5), MATMUL),
    ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
    ((4, 3, 2, 6), (6, 2, 5, 4), (((0, 3), (3, 0)), ((2,), (1,)))),
    ((3,), (3,), (((0,), (0,)), ((), ()))),
    ((3,), (2,), (((), ()), ((), ()))),
    ((5, 2, 3), (2, 5, 4), (((1,), (0,)), ((0,), (1,)))),
    ((0, 3), (3, 2), MATMUL),
    ((2, 0), (0, 3), MATMUL),
]


@pytest.mark.parametrize(("lhs_shape", "rhs_shape", "numbers"), CASES)
@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.int32])
def test_dot_general_is_the_einsum(
    lhs_shape: Any, rhs_shape: Any, numbers: Any, dtype: Any
) -> None:
    rng = np.random.default_rng(0)
    lhs = (rng.normal(size=lhs_shape) * 5).astype(dtype)
    rhs = (rng.normal(size=rhs_shape) * 5).astype(dtype)
    out = lax.dot_general(lhs, rhs, numbers)
    assert out.dtype == dtype
    np.testing.assert_allclose(np.asarray(out), einsum(lhs, rhs, numbers), rtol=1e-12)


@given(st.data())
@settings(max_examples=50)
def test_dot_general_of_any_dimensions_is_the_einsum(data: st.DataObject) -> None:
    sizes = st.integers(0, 3)
    batch, contracting = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))
    shared = [data.draw(sizes) for _ in range(batch + contracting)]
    shapes, numbers = [], []
    for _ in range(2):
        free = [data.draw(sizes) for _ in range(data.draw(st.integers(0, 2)))]
        ndim = len(shared) + len(free)
        order = data.draw(st.permutations(range(ndim)))
        shape = [0] * ndim
        for position, size in zip(order, shared + free, strict=True):
            shape[position] = size
        shapes.append(shape)
        numbers.append((tuple(order[batch : batch + contracting]), tuple(order[:batch])))
    rng = np.random.default_rng(0)
    lhs, rhs = (rng.normal(size=s) for s in shapes)
    dims = ((numbers[0][0], numbers[1][0]), (numbers[0][1], numbers[1][1]))
    with config.override(backend="numpy"):
        out = lax.dot_general(lhs, rhs, dims)
    np.testing.assert_allclose(np.asarray(out), einsum(lhs, rhs, dims), rtol=1e-9, atol=1e-12)


def test_products_are_accumulated_in_32_bits() -> None:
    ones = np.ones(4000, ml_dtypes.bfloat16)
    out = lax.dot(ones, ones)
    assert out.dtype == ml_dtypes.bfloat16
    assert float(out) == float(ml_dtypes.bfloat16(4000))


@pytest.mark.parametrize(
    ("dtype", "preferred", "expected"),
    [
        (np.int8, np.int32, 30000),
        (np.int8, np.float32, 30000),
        (np.uint8, np.uint32, 30000),
        (np.float16, np.float32, 30000),
        (np.float32, np.float16, 30000),
    ],
)
def test_preferred_element_type_is_that_of_the_result(
    dtype: Any, preferred: Any, expected: float
) -> None:
    x = np.full(3, 100, dtype)
    out = lax.dot(x, x, preferred_element_type=preferred)
    assert out.dtype == preferred
    assert float(out) == expected


def test_integers_wrap_in_their_own_dtype() -> None:
    x = np.full(3, 100, np.int8)
    assert int(lax.dot(x, x)) == int(np.int64(30000).astype(np.int8))


def test_booleans_multiply_to_any_of_both() -> None:
    a = np.array([[True, False], [True, True]])
    assert lax.dot(a, a).tolist() == [[True, False], [True, True]]


def test_dot_of_vectors_and_matrices() -> None:
    v, m = np.arange(3.0), np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(lax.dot(v, m), v @ m)
    np.testing.assert_array_equal(lax.dot(m.T, v), m.T @ v)
    np.testing.assert_array_equal(lax.dot(v, v), v @ v)


def test_batch_matmul_multiplies_each_pair() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 5, 3, 4)), rng.normal(size=(2, 5, 4, 6))
    np.testing.assert_allclose(np.asarray(lax.batch_matmul(a, b)), a @ b, rtol=1e-12)


def test_negative_dimensions_count_from_the_end() -> None:
    a, b = np.ones((2, 3)), np.ones((3, 4))
    assert lax.dot_general(a, b, (([-1], [-2]), ((), ()))).shape == (2, 4)


def test_strided_operands_are_read_right() -> None:
    a = np.arange(24.0).reshape(4, 6)[::-1, ::2]
    np.testing.assert_array_equal(lax.dot(a, a.T), a @ a.T)


def test_a_named_product_varies_over_what_is_not_summed() -> None:
    x = ShapeDtypeStruct((3,), np.float32, named_shape={"i": 4, "j": 2})
    w = ShapeDtypeStruct((3, 5), np.float32)
    jaxpr = make_jaxpr(
        lambda a, b: lax.dot(a, b, axis_names=("i",)), axis_env=[("i", 4), ("j", 2)]
    )(x, w)
    assert str(jaxpr.out_avals[0]) == "f32[5;j:2]"


@pytest.mark.parametrize(
    "precision", [None, "highest", lax.Precision.HIGH, ("float32", None), [lax.Precision.HIGH] * 2]
)
def test_precision_is_accepted_in_its_spellings(precision: Any) -> None:
    assert float(lax.dot(np.ones(2), np.ones(2), precision=precision)) == 2.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lax.dot(np.ones((2, 3)), np.ones((2, 3))), ShapeError, "dot: lhs f64.2,3."),
        (lambda: lax.dot(np.ones((2, 2, 2)), np.ones(2)), ShapeError, "vectors and matrices"),
        (
            lambda: lax.dot_general(np.ones((2, 3)), np.ones((4, 5)), MATMUL),
            ShapeError,
            "contracting dimension 1 of lhs f64.2,3. has size 3, but dimension 0 of rhs",
        ),
        (
            lambda: lax.dot_general(np.ones(2), np.ones(2), (((1,), (0,)), ((), ()))),
            ShapeError,
            "name dimension 1 of lhs as a contracting",
        ),
        (
            lambda: lax.dot_general(np.ones(2), np.ones(2), (((0,), (0,)), ((0,), (0,)))),
            ShapeError,
            "use a dimension of lhs twice",
        ),
        (
            lambda: lax.dot_general(np.ones(2), np.ones(2), (((0,), ()), ((), ()))),
            ShapeError,
            "belong together in pairs",
        ),
        (lambda: lax.dot_general(np.ones(2), np.ones(2), "ij,jk"), ShapeError, "not of the form"),
        (
            lambda: lax.dot(np.ones(2, np.float32), np.ones(2, np.int32)),
            DTypeError,
            "lhs is float32 and rhs is int32",
        ),
        (
            lambda: lax.dot(np.ones(2), np.ones(2), preferred_element_type=np.int32),
            DTypeError,
            "preferred_element_type=int32 is of another kind",
        ),
        (
            lambda: lax.dot(np.ones(2, int), np.ones(2, int), preferred_element_type=np.int8),
            DTypeError,
            "narrower",
        ),
        (
            lambda: lax.dot(np.ones(2, int), np.ones(2, int), preferred_element_type=np.uint64),
            DTypeError,
            "being signed",
        ),
        (lambda: lax.dot(np.ones(2), np.ones(2), precision="best"), ConfigError, "'best'"),
        (lambda: lax.dot(np.ones(2), np.ones(2), precision=("high",)), ConfigError, "1 entries"),
        (lambda: lax.batch_matmul(np.ones(2), np.ones(2)), ShapeError, "batch_matmul: lhs"),
    ],
)
def test_bad_arguments_are_named(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
